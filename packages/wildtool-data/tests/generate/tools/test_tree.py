"""The tree of domains: what comes along, what is read, how it grows; and documents cut into passages."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from long import a_fiftieth_of
from wildtool.errors import DataError
from wildtool.types import Reply, Transcript
from wildtool_data.make.core.roles import ScriptResult, replay_script
from wildtool_data.make.tools import documents
from wildtool_data.make.tools import tree as tree_module
from wildtool_data.make.tools.documents import PASSAGE_CHARACTERS, DocumentPassage, mine_script, passages
from wildtool_data.make.tools.script import NodeProposal
from wildtool_data.make.tools.tree import SEED_TREE_FILE, DomainTree, read_tree, seed_tree

DOMAINS = ("technology", "finance", "entertainment", "society", "health", "culture", "environment", "other")


def test_the_tree_that_comes_along_has_the_published_domains_in_both_languages():
    tree = seed_tree("en")
    assert tuple(node.name for node in tree.children("")) == DOMAINS
    assert len(tree.places()) == len(seed_tree("zh").places()) == 68
    assert all(
        len(row["name"]) == 2 and len(set(map(len, row["below"]))) == 1
        for row in json.loads(SEED_TREE_FILE.read_text("utf-8"))
    )
    assert all("\u4e00" <= node.name[0] <= "\u9fff" for node in seed_tree("zh").nodes.values())


def test_a_tree_grows_below_what_is_there_and_keeps_it():
    tree = DomainTree().with_nodes([("", "Sea", "file")])
    more = tree.with_nodes(
        [
            ("sea", "Boats", "attempt 1"),
            ("SEA", "x", "y"),
            ("", "SEA", "again"),
            ("sea/boats", "hire  a/boat", "z"),
        ]
    )
    assert [(n.id, n.depth, n.source) for n in more.nodes.values()] == [
        ("sea", 1, "file"), ("sea/boats", 2, "attempt 1"), ("sea/boats/hire a boat", 3, "z")
    ]  # fmt: skip
    assert more.path("sea/boats/hire a boat") == ("Sea", "Boats", "hire a boat")
    assert len(tree.nodes) == 1


def test_nothing_grows_below_a_function():
    tree = DomainTree().with_nodes([("", "a", ""), ("a", "b", ""), ("a/b", "c", ""), ("a/b/c", "d", "")])
    assert "a/b/c/d" not in tree.nodes


def read(tmp_path: Path, value: Any) -> DomainTree:
    path = tmp_path / "tree.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return read_tree(path)


NODES = [
    {"name": "sea", "parent": ""},
    {"name": "boats", "parent": "sea"},
    {"name": "hire a boat", "parent": "sea/boats"},
    {"name": "fish", "parent": "sea"},
]


@pytest.mark.parametrize(
    "value",
    [
        {"sea": {"boats": ["hire a boat"], "fish": {}}},
        {"sea": {"boats": {"hire a boat": None}, "fish": []}},
        NODES,
        {"nodes": NODES},
    ],
)
def test_a_tree_is_read_as_objects_or_as_nodes(tmp_path: Path, value: Any):
    assert set(read(tmp_path, value).nodes) == {"sea", "sea/boats", "sea/boats/hire a boat", "sea/fish"}


def test_a_list_of_domains_is_a_tree(tmp_path: Path):
    assert [node.name for node in read(tmp_path, ["sea", "land"]).places()] == ["sea", "land"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("{", "not JSON"),
        ("{}", "holds no domain"),
        ("7", "expected an object or a list"),
        ({"sea": 7}, "below sea: expected an object"),
        ({"sea": ["x" * 61]}, "is too long"),
        ({"sea": [7]}, "below sea: the name '7' must be a text"),
        ({"sea": {"\u0007": []}}, "cannot be shown"),
        ({"a": {"b": {"c": {"d": {}}}}}, "nothing deeper"),
        ([{"name": "boats", "parent": "sea"}], "node 0: the parent 'sea' must stand before it"),
        ("[" * 100_000, "not JSON"),
    ],
)  # fmt: skip
def test_what_is_no_tree_is_refused_with_the_place(tmp_path: Path, value: Any, said: str):
    with pytest.raises(DataError, match=said) as caught:
        read(tmp_path, value)
    assert "tree.json" in str(caught.value)


def test_a_tree_has_a_limit_of_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tree_module, "MAX_TREE_NODES", 3)
    tree = read(tmp_path, {"sea": {"boats": ["hire a boat"]}})
    assert list(tree.nodes) == ["sea", "sea/boats", "sea/boats/hire a boat"]
    assert list(tree.with_nodes([("sea", "fish", "")]).nodes) == list(tree.nodes)
    with pytest.raises(DataError) as refused:
        read(tmp_path, {"sea": {"boats": ["hire a boat", "sail it"]}})
    assert str(refused.value) == f"{tmp_path / 'tree.json'}: holds too many nodes; at most 3"


def test_documents_are_cut_between_paragraphs(tmp_path: Path):
    path = tmp_path / "manual.md"
    paragraphs = [f"Paragraph {k}. " + "word " * 200 for k in range(12)]
    path.write_text("\n\n".join(paragraphs))
    parts = passages([path], ("en", "zh"))
    assert [p.lang for p in parts] == ["en"] * (len(parts) // 2) + ["zh"] * (len(parts) // 2)
    assert all(p.text.startswith("Paragraph") and len(p.text) <= PASSAGE_CHARACTERS for p in parts)
    assert (
        "".join(" ".join(p.text.split()) + " " for p in parts if p.lang == "en").split()
        == " ".join(paragraphs).split()
    )


@settings(max_examples=a_fiftieth_of(500), deadline=None)
@given(st.text(alphabet="ab \n", max_size=40).map(lambda text: text * 300))
def test_no_word_of_a_document_is_lost(tmp_path_factory: pytest.TempPathFactory, text: str):
    path = tmp_path_factory.mktemp("documents") / "manual.md"
    path.write_text(text)
    if not text.strip():
        with pytest.raises(DataError, match="holds no text"):
            passages([path], ("en",))
        return
    parts = passages([path], ("en",))
    assert "".join("".join(part.text.split()) for part in parts) == "".join(text.split())
    assert all(len(part.text) <= PASSAGE_CHARACTERS for part in parts)


@pytest.mark.parametrize(
    ("content", "said"), [(b"", "holds no text"), (b"\xff\xfe\x00a", "UTF-8"), (b"a\0b", "no text; save it")]
)
def test_what_is_no_text_is_refused(tmp_path: Path, content: bytes, said: str):
    path = tmp_path / "manual.pdf"
    path.write_bytes(content)
    with pytest.raises(DataError, match=said):
        passages([path], ("en",))


def test_a_document_has_a_limit_of_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "manual.md"
    path.write_text("é" * 600)
    monkeypatch.setattr(documents, "MAX_DOCUMENT_BYTES", 1200)
    assert [part.text for part in passages([path], ("en",))] == ["é" * 600]
    monkeypatch.setattr(documents, "MAX_DOCUMENT_BYTES", 1199)
    with pytest.raises(DataError) as refused:
        passages([path], ("en",))
    assert str(refused.value) == f"{path}: is larger than 1,199 bytes; give the parts that matter"


def test_what_a_reader_says_of_a_passage_becomes_nodes_or_a_loss_that_names_it():
    passage = DocumentPassage("manual.md", 3, "en", "Boats are let by the hour.")

    def mined(*replies: str) -> ScriptResult[tuple[NodeProposal, ...]] | None:
        said = Transcript(tuple(Reply({"content": reply}) for reply in replies))
        return replay_script(mine_script(passage), said)

    request = next(mine_script(passage))
    assert (request.role, json.loads(request.messages[1]["content"])) == ("reader", {"passage": passage.text})
    assert mined("{}", json.dumps({"domains": [{"name": "Sea"}]})) == ScriptResult(
        (("", "Sea"),), counters={"requests": 2, "reader asked": 2, "reader refused M1": 1}
    )
    lost = mined("{}", "{}", "{}")
    message = "`domains` must be a list; an empty one where the passage is about none."
    assert lost == ScriptResult(
        None,
        "reader M1",
        f"manual.md, passage 3: reader: M1: {message}",
        counters={"requests": 3, "reader asked": 3, "reader refused M1": 3},
    )
    assert mined("{}", "{}") is None


def test_a_missing_document_is_named(tmp_path: Path):
    with pytest.raises(DataError, match=r"nowhere\.md"):
        passages([tmp_path / "nowhere.md"], ("en",))
