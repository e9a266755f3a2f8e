"""TaskBench: what each profile makes of a plan, the faults that `fixed` corrects, data and their faults, the command."""

import json
import shutil
from copy import deepcopy
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.taskbench.plan_build import (
    CHAIN,
    RESOURCE_TOOLS,
    SINGLE,
    TIMED,
    label,
    link,
    node,
    plan,
    prompt_program,
    timed,
    write_data,
)
from long import a_fiftieth_of
from wildtool.benchmarks.taskbench import PARTS, TASKBENCH, originals
from wildtool.benchmarks.taskbench.data import DOMAINS, ToolPlan, label_file
from wildtool.benchmarks.taskbench.originals import read_texts
from wildtool.benchmarks.taskbench.rules import SCORINGS
from wildtool.benchmarks.taskbench.scores import PlanScores
from wildtool.declared import lint
from wildtool.engine.score.audit import audit_profile
from wildtool.errors import DataError
from wildtool.trace import Trace
from wildtool.types import Item, Reply, Transcript

PROFILES = tuple(TASKBENCH.profiles)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("taskbench"))


@pytest.fixture(scope="module")
def items(folder: Path) -> dict[str, Item]:
    return {item.id: item for item in TASKBENCH.load(TASKBENCH.data.locate(str(folder)))}


def score(profile: str, item: Item, reply: Any) -> PlanScores:
    text = reply if isinstance(reply, str) else json.dumps(reply)
    return SCORINGS[profile].score(text, item.data.gold, item.data.library)


def f1(profile: str, item: Item, reply: Any) -> dict[str, float]:
    found = score(profile, item, reply)
    return {part: found.f1(getattr(found, part)) for part in PARTS}


RIGHT = dict.fromkeys(PARTS, 1.0)


# Faults ----------------------------------------------------------------------------------------------


def test_one_tool_has_no_links_to_miss(items: dict[str, Item]) -> None:
    item = items["huggingface/one"]
    assert f1("toleap", item, SINGLE)["edge"] == 0
    assert f1("fixed", item, SINGLE) == RIGHT


def test_links_are_references_and_not_the_order_of_nodes(items: dict[str, Item]) -> None:
    item = items["huggingface/three"]
    turned = plan(
        [CHAIN["task_nodes"][0], node("Caption Maker", "<node-2>"), node("Photo Painter", "<node-0>")]
    )
    assert f1("toleap", item, turned)["edge"] == 0
    assert f1("fixed", item, turned) == RIGHT


def test_links_without_references_are_missed(items: dict[str, Item]) -> None:
    loose = plan([node(one["task"], "a red boat") for one in CHAIN["task_nodes"]])
    assert f1("toleap", items["huggingface/three"], loose)["edge"] == 1
    assert f1("fixed", items["huggingface/three"], loose)["edge"] == 0


def test_links_are_compared_whatever_their_order(items: dict[str, Item]) -> None:
    item = items["dailylifeapis/timed"]
    turned = {**TIMED, "task_links": TIMED["task_links"][::-1]}
    assert f1("toleap", item, turned)["edge"] == 0
    assert f1("original", item, turned)["edge"] == 1
    assert f1("fixed", item, turned)["edge"] == 1


def test_a_wrong_link_that_keeps_the_pairs_is_caught(items: dict[str, Item]) -> None:
    item = items["dailylifeapis/timed"]
    wrong = {**TIMED, "task_links": [link("book_ferry", "set_alarm"), link("set_alarm", "set_alarm")]}
    assert f1("toleap", item, wrong)["edge"] == 1
    assert f1("fixed", item, wrong)["edge"] == 0


def test_a_repeated_tool_counts_twice(items: dict[str, Item]) -> None:
    item = items["dailylifeapis/timed"]
    twice = deepcopy(TIMED)
    twice["task_nodes"].append(twice["task_nodes"][0])
    assert f1("toleap", item, twice)["node"] == f1("original", item, twice)["node"] == 1
    assert f1("fixed", item, twice)["node"] == pytest.approx(6 / 7)


@pytest.mark.parametrize(("gold", "reply"), [("9:00", "'9:00'"), ("9:00", " 9:00 ")])
def test_quotes_and_blanks_around_a_value_do_not_count(items: dict[str, Item], gold: str, reply: str) -> None:
    quoted = json.loads(json.dumps(TIMED).replace(json.dumps(gold), json.dumps(reply)))
    assert f1("toleap", items["dailylifeapis/timed"], quoted)["value"] < 1
    assert f1("fixed", items["dailylifeapis/timed"], quoted) == RIGHT


def test_brackets_before_the_plan_do_not_hide_it(items: dict[str, Item]) -> None:
    text = f"[1] The plan {{in JSON}}: {json.dumps(CHAIN)}"
    assert f1("toleap", items["huggingface/three"], text)["node"] == 0
    assert f1("fixed", items["huggingface/three"], text) == RIGHT


@pytest.mark.parametrize("steps", [None, [1.5], [{"step": 1}], [None]])
def test_steps_that_raise_cost_only_the_steps(items: dict[str, Item], steps: Any) -> None:
    broken = {**CHAIN, "task_steps": steps}
    found = score("toleap", items["huggingface/three"], broken)
    assert (found.raised, found.node.f1) == ("TypeError", 0)
    assert f1("fixed", items["huggingface/three"], broken) == RIGHT


def test_steps_in_one_text_are_read_as_words(items: dict[str, Item]) -> None:
    joined = {**CHAIN, "task_steps": "\n".join(CHAIN["task_steps"])}
    assert score("toleap", items["huggingface/three"], joined).rouge_1 < 0.2
    assert score("fixed", items["huggingface/three"], joined).rouge_1 == 1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("www.site.au", "text"),
        ("https://site.au/boat.PNG", "image"),
        ("notes.movie", "text"),
        ("see photo.jpg, please", "image"),
        ("'song.mp3'", "audio"),
    ],
)
def test_the_kind_of_a_file_is_the_end_of_its_name(items: dict[str, Item], text: str, kind: str) -> None:
    item = items["huggingface/one"]
    names = [argument[1] for argument in _names(item, text)]
    assert names == [kind]


def _names(item: Item, text: str) -> list[tuple[str, str]]:
    from wildtool.benchmarks.taskbench.data import ToolPlan
    from wildtool.benchmarks.taskbench.fixed import plan_parts

    return plan_parts(ToolPlan([], [node("Photo Finder", text)], []), item.data.library)[2]


def test_the_original_leaves_out_what_it_cannot_read(items: dict[str, Item]) -> None:
    assert score("original", items["huggingface/three"], "no plan").counts == (False, False, False)
    broken = plan([node("Photo Finder", 'the "red" boat')])
    assert score("original", items["huggingface/one"], broken).counts == (False, False, False)
    assert score("fixed", items["huggingface/one"], broken).fault == ""


def with_label(item: Item, gold: dict[str, Any]) -> Item:
    parts = ToolPlan(*(gold.get(f"task_{part}") for part in ("steps", "nodes", "links")))
    return replace(item, data=replace(item.data, gold=parts))


ODD_LABELS = {
    "first argument null": plan([node("Photo Finder", None), node("Photo Painter", "<node-0>")]),
    "reference to nowhere": plan([node("Photo Finder", "<node-9>"), node("Photo Painter", "a")]),
    "arguments null": plan([{"task": "Photo Finder", "arguments": None}]),
    "no arguments": plan([{"task": "Photo Finder"}]),
    "name is a number": plan([node(5, "a")]),
    "name is a list": plan([node(["Photo Finder"], "a")]),
    "no name": plan([{"arguments": ["a"]}], steps=["x"]),
    "no nodes": plan([]),
    "steps of objects": plan([node("Photo Finder", "a")], steps=[{"step": "x"}]),
}
ODD_LINKS = ([["a", "b"]], [None], ["a - b"], [{"source": "a"}], [{"source": ["a"], "target": "b"}])


@pytest.mark.parametrize("name", ODD_LABELS)
def test_an_odd_label_is_left_out_by_the_original(items: dict[str, Item], name: str) -> None:
    item = with_label(items["huggingface/three"], ODD_LABELS[name])
    counted = name == "no nodes", name == "no nodes"
    assert score("original", item, CHAIN).counts == (name != "steps of objects", *counted)


def test_an_argument_that_cannot_be_read_is_the_one_before_it_again(items: dict[str, Item]) -> None:
    item = with_label(
        items["huggingface/three"], plan([node("Photo Finder", "a"), node("Photo Painter", "<node-x>")])
    )
    again = plan([node("Photo Finder", "a"), node("Photo Painter", "a")])
    assert f1("original", item, again) == RIGHT
    assert f1("toleap", item, again)["value"] == f1("fixed", item, again)["value"] == 0.5


@pytest.mark.parametrize(
    ("gold", "raised"),
    [
        (plan([node("Photo Finder", None)]), "AttributeError"),
        (plan([{"task": "Photo Finder", "arguments": None}]), "TypeError"),
        (plan([node("Photo Finder", "a")], steps=[{"step": "x"}]), "TypeError"),
    ],
)
def test_an_odd_label_raises_in_toleap(items: dict[str, Item], gold: dict[str, Any], raised: str) -> None:
    found = score("toleap", with_label(items["huggingface/three"], gold), CHAIN)
    assert (found.raised, found.node.hits, found.rouge_1) == (raised, 0, 0)


@pytest.mark.parametrize("links", ODD_LINKS)
def test_links_of_another_form_raise_in_the_original(items: dict[str, Item], links: list[Any]) -> None:
    item = items["dailylifeapis/timed"]
    raised = "KeyError" if links == [{"source": "a"}] else "TypeError"
    assert score("original", item, {**TIMED, "task_links": links}).raised == raised
    assert score("original", with_label(item, {**TIMED, "task_links": links}), TIMED).raised == raised
    assert score("toleap", item, {**TIMED, "task_links": links}).raised == ""


def test_of_pairs_of_links_only_the_ends_that_meet_must_be_there(items: dict[str, Item]) -> None:
    item = items["dailylifeapis/timed"]
    ends = [{"source": "book_ferry"}, {"target": "set_alarm"}]
    assert f1("toleap", item, {**TIMED, "task_links": ends})["edge"] == 1


@pytest.mark.parametrize("steps", [{"1": "Call Photo Finder"}, {"step": "Call Photo Finder"}])
def test_steps_as_an_object_raise_in_toleap(items: dict[str, Item], steps: Any) -> None:
    assert score("toleap", items["huggingface/one"], {**SINGLE, "task_steps": steps}).raised == "KeyError"
    assert score("toleap", items["huggingface/one"], {**SINGLE, "task_steps": {}}).raised == ""
    assert score("fixed", items["huggingface/one"], {**SINGLE, "task_steps": steps}).rouge_1 > 0.5


# Any reply -------------------------------------------------------------------------------------------

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("<node-0>"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["task", "name", "value", "arguments", "source", "target"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)
plans = st.fixed_dictionaries({}, optional={f"task_{part}": values for part in ("steps", "nodes", "links")})
texts = st.text() | plans.map(json.dumps) | values.map(json.dumps) | st.text('{}[]"\\,:<node-0> task_')


@pytest.mark.parametrize("profile", PROFILES)
@settings(max_examples=a_fiftieth_of(2_000), deadline=None)
@given(reply=texts | st.none() | st.integers())
def test_any_reply_gets_a_verdict(items: dict[str, Item], profile: str, reply: Any) -> None:
    rules = TASKBENCH.rules(profile)
    for item in items.values():
        episode = rules.episode(item, "0")
        episode.advance({"role": "assistant", "content": reply})
        check = rules.verdict(episode, item, "0")
        assert 0 <= (check.score or 0) <= 1
        assert bool(check.error) != check.correct


def test_a_reply_nested_too_deeply_is_unreadable(items: dict[str, Item]) -> None:
    deep = '{"task_steps": [], "task_nodes": ' + "[" * 100_000 + "]" * 100_000 + "}"
    for profile in PROFILES:
        assert score(profile, items["huggingface/one"], deep).fault


# Audit and data --------------------------------------------------------------------------------------


def test_fixed_accepts_every_gold_plan_and_catches_every_mistake(folder: Path) -> None:
    found = audit_profile(TASKBENCH, TASKBENCH.data.locate(str(folder)), "fixed")
    assert found.passed
    assert {kill.kind for kill in found.kills} >= {"link turned round", "node repeated", "argument renamed"}


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("mode", ["audit", "lint and show"])
def test_no_odd_label_ends_a_command(folder: Path, tmp_path: Path, profile: str, mode: str) -> None:
    shutil.copytree(folder, tmp_path / "data")
    labels = {
        "huggingface": ODD_LABELS,
        "dailylifeapis": {str(links): {**TIMED, "task_links": links} for links in ODD_LINKS},
    }
    for domain, odd in labels.items():
        lines = (json.dumps(label(name, "chain", gold)) for name, gold in odd.items())
        (tmp_path / "data" / f"data_{domain}" / "data.json").write_text("\n".join(lines), "utf-8")
    source = TASKBENCH.data.locate(str(tmp_path / "data"))
    if mode == "audit":
        found = audit_profile(TASKBENCH, source, profile)
        assert bool(found.wrong_gold) == (profile != "fixed")
        assert all(wrong.why for wrong in found.wrong_gold)
        return
    assert {finding.where for finding in lint(TASKBENCH, source)}
    for item in TASKBENCH.load(source):
        reply = Reply({"role": "assistant", "content": item.data.gold.as_json()})
        trace = TASKBENCH.rules(profile).trace(item, "0", Transcript((reply,)))
        assert {call.status for call in trace.gold} <= {"done"}


@pytest.mark.parametrize("profile", ["toleap", "original"])
def test_what_the_others_miss_is_explained(folder: Path, profile: str) -> None:
    found = audit_profile(TASKBENCH, TASKBENCH.data.locate(str(folder)), profile)
    assert all(wrong.why.startswith("Q") for wrong in found.wrong_gold)
    assert all(survivor.why for survivor in found.survivors)
    assert {wrong.item for wrong in found.wrong_gold} == (
        {"huggingface/one"} if profile == "toleap" else set()
    )


def test_the_graph_is_in_the_prompt_of_its_mode(items: dict[str, Item]) -> None:
    def prompt(mode: str) -> str:
        request = TASKBENCH.in_mode(mode).rules("toleap").episode(items["huggingface/three"], "0").request()
        assert request is not None and not request.tools
        return request.messages[0]["content"]

    assert "Photo Finder -> Photo Painter" in prompt("graph")
    assert "Photo Finder -> Photo Painter" not in prompt("chat")
    for mode in TASKBENCH.modes:
        assert "Please do three." in prompt(mode)
        assert '"id": "Caption Maker"' in prompt(mode)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("type", "tree", "field type: expected one of single, chain, dag"),
        ("tool_nodes", "[", "field tool_nodes: not JSON"),
        ("tool_nodes", "[3]", r"field tool_nodes\[0\]: expected an object, found a number"),
        ("instruction", None, "field instruction: expected a text"),
        ("id", None, "field id: expected a text"),
    ],
)
def test_a_fault_in_a_label_is_named(
    folder: Path, tmp_path: Path, field: str, value: Any, message: str
) -> None:
    record = json.loads((folder / "data_huggingface" / "data.json").read_text("utf-8").splitlines()[0])
    file = folder / "data_huggingface" / f"{tmp_path.name}.jsonl"
    file.write_text(json.dumps({**record, field: value}), "utf-8")
    with pytest.raises(DataError, match=message):
        list(TASKBENCH.load(TASKBENCH.data.locate(str(file))))


def test_a_broken_label_is_named_where_it_is_read(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "data")
    labels = label_file(tmp_path / "data", "huggingface")
    assert labels is not None
    labels.write_text(labels.read_text("utf-8") + "\nno label\n", "utf-8")
    items = TASKBENCH.load(TASKBENCH.data.locate(str(tmp_path / "data")))
    assert next(items).id == "huggingface/one"
    with pytest.raises(DataError, match=r"data\.json:\d+: not a JSON object"):
        list(items)


def test_labels_in_the_older_layout_are_read(folder: Path, items: dict[str, Item]) -> None:
    file = folder / "data_huggingface" / "older.jsonl"
    older = {"id": "three", "type": "chain", "user_request": "Please do three.", **CHAIN}
    file.write_text(json.dumps(older), "utf-8")
    (item,) = TASKBENCH.load(TASKBENCH.data.locate(str(file)))
    known = items["huggingface/three"]
    assert (item.id, item.data.gold, item.data.request) == (known.id, known.data.gold, known.data.request)


def test_missing_labels_say_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path))
    with pytest.raises(DataError, match="wildtool data pull taskbench --from FOLDER"):
        TASKBENCH.data.locate(None)
    with pytest.raises(DataError, match="tools of huggingface are not at hand"):
        file = tmp_path / "my_huggingface.jsonl"
        file.write_text("", "utf-8")
        list(TASKBENCH.load(TASKBENCH.data.locate(str(file))))
    with pytest.raises(DataError, match="which domain is it of"):
        other = tmp_path / "labels.jsonl"
        other.write_text("", "utf-8")
        list(TASKBENCH.load(TASKBENCH.data.locate(str(other))))
    with pytest.raises(DataError, match="huggingface"):
        TASKBENCH.data.locate(str(tmp_path), "hugingface")


@pytest.mark.parametrize(
    ("domain", "gold", "rule"),
    [
        ("huggingface", plan([node("Photo Printer", "a")]), "unknown tool"),
        ("huggingface", plan([node("Photo Finder", "<node-0>")]), "reference"),
        ("huggingface", plan([node("Photo Finder", "<node-4>")]), "reference"),
        ("huggingface", plan([node("Photo Finder", "<output_of_X>")]), "reference"),
        ("huggingface", plan([node("Photo Finder", 3)]), "argument"),
        ("huggingface", plan([node("Photo Finder", "a")], steps=[]), "steps"),
        ("huggingface", plan([node("Photo Finder", "a")], [link("Photo Finder", "X")]), "link"),
        ("dailylifeapis", plan([node("set_alarm", {"name": "hour", "value": "8"})]), "unknown parameter"),
        ("dailylifeapis", plan([timed("set_alarm", {"at": 8})]), "value"),
    ],
)
def test_lint_finds_what_rules_stumble_over(
    folder: Path, tmp_path: Path, domain: str, gold: Any, rule: str
) -> None:
    file = folder / f"data_{domain}" / f"{tmp_path.name}.jsonl"
    file.write_text(json.dumps(label("odd", "single", gold)), "utf-8")
    (found,) = lint(TASKBENCH, TASKBENCH.data.locate(str(file)))
    assert (found.rule, found.where) == (rule, f"{file}: {domain}/odd")


def test_lint_of_sound_labels_finds_nothing(folder: Path) -> None:
    assert list(lint(TASKBENCH, TASKBENCH.data.locate(str(folder)))) == []


def shown(items: dict[str, Item], text: Any) -> Trace:
    item = items["dailylifeapis/timed"]
    reply = Reply({"role": "assistant", "content": text})
    return TASKBENCH.rules("fixed").trace(item, "0", Transcript((reply,)))


def test_a_trace_has_the_nodes_of_the_label_with_their_links(items: dict[str, Item]) -> None:
    trace = shown(items, json.dumps(TIMED))
    assert [(call.name, call.deps, call.status) for call in trace.gold] == [
        ("book_ferry", (), "done"),
        ("send_text", (0,), "done"),
        ("set_alarm", (1,), "done"),
    ]
    assert trace.steps[0].fulfilled == (0, 1, 2)
    assert not trace.differences


def test_a_trace_says_which_argument_differs_and_which_tool_is_missing(items: dict[str, Item]) -> None:
    trace = shown(items, json.dumps(plan([timed("book_ferry", "10:00"), timed("set_alarm", "8:00")])))
    assert [call.status for call in trace.gold] == ["wrong", "missed", "done"]
    (difference,) = trace.differences
    assert (difference.where, difference.expected, difference.found) == (
        "book_ferry[0].value",
        "9:00",
        "10:00",
    )


@pytest.mark.parametrize("text", [None, "", "no plan", '{"task_nodes": [[], 3, {"task": {}}]}', 7])
def test_any_reply_can_be_shown(items: dict[str, Item], text: Any) -> None:
    assert {call.status for call in shown(items, text).gold} == {"missed"}


# The original prompt ---------------------------------------------------------------------------------

TEXTS: dict[str, Any] = {
    "heading": "TOOLS\n",
    "resource": "Plan {it}.",
    "temporal": "Plan it in time.",
    "between": " -",
    "example": (" ASKED ", " PLANNED "),
    "closing": " NOW {{user_request}}!",
}


@pytest.fixture
def checkout(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the repository's folder with a program of other texts, which count as the pinned ones here."""
    home = tmp_path / "JARVIS" / "taskbench"
    shutil.copytree(folder, home)
    (home / "inference.py").write_text(prompt_program(TEXTS), "utf-8")
    files = {"inference.py": read_texts(home / "inference.py").digest}
    for domain in DOMAINS:
        place = home / f"data_{domain}"
        place.mkdir(exist_ok=True)
        lines = [{"id": "three", "user_request": "Could you do three?"}] if domain == "huggingface" else []
        (place / "user_requests.json").write_text("\n".join(map(json.dumps, lines)), "utf-8")
        files[domain] = sha256((place / "user_requests.json").read_bytes()).hexdigest()
    monkeypatch.setattr(originals, "PROMPTS", replace(originals.PROMPTS, sha256=files.pop("inference.py")))
    monkeypatch.setattr(originals, "_REQUEST_DIGESTS", files)
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "cache"))
    tools = [*home.rglob("tool_desc.json"), *home.rglob("graph_desc.json")]
    digests = {str(path.relative_to(home)): sha256(path.read_bytes()).hexdigest() for path in tools}
    monkeypatch.setattr(type(TASKBENCH), "data", replace(TASKBENCH.data, files=digests))
    return home


def sent(data: Path, mode: str, id_: str = "huggingface/three") -> str:
    benchmark = TASKBENCH.in_mode(mode)
    benchmark = benchmark.in_original_prompts(None) or benchmark
    (item,) = (item for item in benchmark.load(benchmark.data.locate(str(data))) if item.id == id_)
    request = benchmark.rules("toleap").episode(item, "0").request()
    assert request is not None
    return request.messages[0]["content"]


def test_the_original_prompt_is_pulled_and_sent_as_each_original_does(checkout: Path, tmp_path: Path) -> None:
    TASKBENCH.data.pull(file=checkout.parent, mirror=None, report=print)
    tools = "".join(json.dumps(tool) + "\n" for tool in RESOURCE_TOOLS)
    assert sent(checkout, "chat") == f"TOOLS\n{tools}Plan {{it}}. NOW Please do three.!"
    assert sent(checkout, "completion") == sent(checkout, "chat")
    assert sent(checkout, "authors") == f"TOOLS\n{tools}Plan {{it}}. NOW Could you do three?!"
    timed_tools = sent(checkout, "authors", "dailylifeapis/timed").splitlines()[1]
    assert json.loads(timed_tools)["parameters"] == ["time"]
    # The tool graph is no mode of the originals.
    assert TASKBENCH.in_mode("graph").in_original_prompts(None) is None


def test_examples_are_labels_of_the_data(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    TASKBENCH.data.pull(file=checkout, mirror=None, report=print)
    monkeypatch.setattr(originals, "EXAMPLES", {"huggingface": ("three", "one"), "dailylifeapis": ("timed",)})
    shown = [
        json.dumps({f"task_{part}": gold[f"task_{part}"] for part in ("steps", "nodes")})
        for gold in (SINGLE, CHAIN)
    ]
    labels = checkout / "data_huggingface" / "data.json"
    lines = [json.loads(line) for line in labels.read_text("utf-8").splitlines()]
    lines = [line | ({"user_request": "Label's own."} if line["id"] == "three" else {}) for line in lines]
    labels.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    # An example has the request of its label, not the one that the authors ask it with.
    examples = f" - ASKED Please do one. PLANNED {shown[0]} ASKED Label's own. PLANNED {shown[1]}"
    assert sent(checkout, "authors-2").endswith(f"Plan {{it}}.{examples} NOW Could you do three?!")
    monkeypatch.setattr(originals, "EXAMPLES", {"huggingface": ("gone",), "dailylifeapis": ()})
    with pytest.raises(DataError, match="examples gone are not among the labels"):
        sent(checkout, "authors-1")


def test_a_program_of_another_shape_or_with_other_texts_is_refused(checkout: Path) -> None:
    program = checkout / "inference.py"
    program.write_text(prompt_program({**TEXTS, "resource": "Plan badly."}), "utf-8")
    with pytest.raises(DataError, match="not the pinned file"):
        TASKBENCH.data.pull(file=checkout, mirror=None, report=print)
    program.write_text("def main(): tool_string = 3\n", "utf-8")
    with pytest.raises(DataError, match="not put together as expected"):
        TASKBENCH.data.pull(file=checkout, mirror=None, report=print)


def test_labels_without_the_program_keep_our_wording(checkout: Path) -> None:
    said: list[str] = []
    (checkout / "inference.py").unlink()
    TASKBENCH.data.pull(file=checkout, mirror=None, report=said.append)
    assert TASKBENCH.in_original_prompts(None) is None
    assert any("does not hold the original prompt" in line for line in said)
    (checkout / "data_huggingface" / "user_requests.json").unlink()
    with pytest.raises(DataError, match=r"no user_requests\.json"):
        sent(checkout, "authors")
