"""What people read in a review's pages is there in English and Chinese, also what the server answers."""

import ast
import json
import pickle
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, get_args

import pytest

import wildtool
import wildtool_data
import wildtool_review
from review.made_sets import TEXT, edit, project
from review.server.served import served
from wildtool.benchmarks.wildtoolbench.data import SUBTYPES, TASK_TYPES
from wildtool.benchmarks.wildtoolbench.lint.rules import SESSION_RULES, STRICT_RULES
from wildtool.errors import StorageError, UsageError
from wildtool.toolcall.compare import compare_arguments
from wildtool_data.pointers import Change
from wildtool_review.figures import review_figures
from wildtool_review.history import REASON_CODES
from wildtool_review.log import ENTRY_KINDS
from wildtool_review.people import ROLES
from wildtool_review.replies.deviations import DeviationKind
from wildtool_review.replies.proposals import Proposal
from wildtool_review.state import QUEUES, STAGES

ROOT = Path(wildtool.__file__).parent
REVIEW = Path(wildtool_review.__file__).parent
ASSETS = REVIEW / "server" / "assets"
ASKED = {
    "wildtool_review/journal": {"verify", "restore"},
    "wildtool_review/team": {"add_person", "revoke_person"},
    "wildtool_review/project": {"__init__", "create", "open", "import_items"},
    "wildtool_review/history": set[str](),
    "wildtool_review/proposed": set[str](),
    "wildtool_review/restore": set[str](),
    "wildtool_data/pointers": set[str](),
    "wildtool_review/rounds": set[str](),
    "wildtool_review/server/operations": set[str](),
    "wildtool_review/server/bodies": set[str](),
    "wildtool_review/server/cases": set[str](),
    "wildtool_review/server/pages": set[str](),
    "wildtool_review/server/steps": set[str](),
    "wildtool_review/server/regeneration": set[str](),
    "wildtool_review/server/app": {"check", "tls"},
    "report/server/access": {"resolve", "listening_socket"},
}
"""Modules whose errors pages show, with those of their functions that only commands call."""
PLACES = {each.__name__: Path(each.__file__).parent.parent for each in (wildtool_data, wildtool_review)}


def module_text(module: str) -> str:
    """The text of a module below `wildtool`, or of another package."""
    return (PLACES.get(module.partition("/")[0], ROOT) / f"{module}.py").read_text("utf-8")


ERRORS = {"UsageError", "DataError", "StorageError"}


def pairs(found: list[tuple[str, str]]) -> dict[str, str]:
    assert len(dict(found)) == len(found), sorted(
        key for key, _ in found if [k for k, _ in found].count(key) > 1
    )
    return dict(found)


def chinese() -> dict[str, str]:
    """The page's own words, by their English."""
    text = (ASSETS / "words.js").read_text("utf-8").partition("const CHINESE = ")[2].partition("\n};")[0]
    return json.loads(text.rstrip().rstrip(",") + "}", object_pairs_hook=pairs)


CHINESE = chinese()
RULE_MODULES = (
    "benchmarks/wildtoolbench/lint/rules",
    "toolcall/schema_check",
)
"""Modules that yield what is wrong with a session: its place, and a message."""
DATA = re.compile(r"\{\d\}(?:(?:: | for )\{\d\})*")
"""Messages that say nothing by themselves."""


def messages() -> dict[str, str]:
    text = (
        (ASSETS / "messages.js")
        .read_text("utf-8")
        .partition("export const MESSAGES = ")[2]
        .partition("\n};")[0]
    )
    return json.loads(text.rstrip().rstrip(",") + "}", object_pairs_hook=pairs)


def template(node: ast.AST) -> str:
    """A text of the source, with numbers for its values; empty for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr):
        return ""
    places = count()
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else f"{{{next(places)}}}" for part in node.values
    )


@pytest.mark.parametrize("module", RULE_MODULES)
def test_what_rules_say_has_a_chinese_text(module: str):
    tree = ast.parse(module_text(module))
    yielded = (
        node.value.elts
        for node in ast.walk(tree)
        if isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple)
    )
    said = {text for pair in yielded if len(pair) == 2 and (text := template(pair[1])) and " " in text}
    assert said
    length = "expected 4 tasks, found {0} (Q33)"  # no finding of a review
    assert [one for one in said - messages().keys() - {length} if not DATA.fullmatch(one)] == []


REASON_MODULES = {
    "benchmarks/wildtoolbench/error_classes": 11,
    "benchmarks/wildtoolbench/fixed/episode": 4,
    "wildtool_review/replies/rejudge": 4,
}
"""Modules that say why a recorded answer is wrong or not judged, with how many texts each has at least."""


def chinese_of(message: str) -> str | None:
    """The pattern by which the pages know a message, as `messages.js` finds it."""
    known = messages()
    if message in known:
        return message
    for text in known:
        parts = [re.escape(part) for part in re.split(r"\{\d\}", text)]
        if len(parts) > 1 and re.fullmatch("(.*?)".join(parts), message, re.DOTALL):
            return text
    return None


@pytest.mark.parametrize(("module", "least"), REASON_MODULES.items())
def test_why_an_answer_is_wrong_has_a_chinese_text(module: str, least: int):
    tree = ast.parse(module_text(module))
    reasons = {
        text
        for node in ast.walk(tree)
        if isinstance(node, ast.Return | ast.Call)
        for value in (
            node.args[1:2]
            if isinstance(node, ast.Call)
            else node.value.elts[1:2]
            if isinstance(node.value, ast.Tuple)
            else []
        )
        if " " in (text := template(value)) and not DATA.fullmatch(text)
    }
    assert len(reasons) >= least
    values = {f"{{{k}}}": f"v{k}" for k in range(5)}
    filled = [re.sub(r"\{\d\}", lambda hole: values[hole[0]], text) for text in reasons]
    assert [message for message in filled if chinese_of(message) is None] == []


@pytest.mark.parametrize("kind", get_args(DeviationKind))
def test_what_models_do_instead_has_a_chinese_text(kind: DeviationKind):
    change = Change("/x", 1, 2)
    for changes in ((), (change,)):
        proposal = Proposal("s0", "0", kind, "/a/city", ["Rome"], "Milan", ("m", "n"), 3, 0, changes, 2, 0)
        pattern = chinese_of(proposal.sentence)
        assert pattern is not None
        assert ("accepted" in pattern) == bool(changes)
        head = proposal.sentence.partition("; accepted")[0]
        assert (chinese_of(head) or "").startswith("{0} of {1} models ")
        assert chinese_of(head) != "{0} of {1} models {2}"


@pytest.mark.parametrize(
    ("gold", "value"), [("Rome", "Milan"), (1, 2), ([1], [1, 2]), ({"a": 1}, {}), ({}, {"a": 1}), (1, "x")]
)
def test_how_values_differ_has_a_chinese_text(gold: Any, value: Any):
    for schema in ({}, {"enum": [gold]}):
        parameters = {"properties": {"p": schema}, "required": ["p"]}
        differences = compare_arguments({"p": gold}, {"p": value}, parameters)
        assert differences
        assert [one.message for one in differences if chinese_of(f"f: {one.message}") is None] == []


def test_names_of_rules_stages_and_figures_have_a_chinese_text(tmp_path: Path):
    known = {**messages(), **CHINESE}
    rules = [*SESSION_RULES.rules, *STRICT_RULES.rules, "graph", "duplicate", "rules"]
    review = project(tmp_path, people="ann bob")
    figures = [one.name for one in review_figures(review) if one.group in ("agreement", "stop rule")]
    assert [
        one for one in (*rules, *figures, *TASK_TYPES, *SUBTYPES, *ENTRY_KINDS[:14]) if one not in known
    ] == []


def outside(tree: ast.AST, functions: set[str]) -> Iterator[ast.AST]:
    """Everything but the inside of some functions."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.FunctionDef) and node.name in functions):
            yield node
            yield from outside(node, functions)


def said(module: str) -> Iterator[tuple[int, ast.expr]]:
    """Line and text of each error that a module makes, and of its plain refusals."""
    for node in outside(ast.parse(module_text(module)), ASKED[module]):
        if not isinstance(node, ast.Call):
            continue
        own = isinstance(node.func, ast.Attribute) and node.func.attr == "__init__" and node.args
        if own or (isinstance(node.func, ast.Name) and node.func.id in ERRORS):
            yield node.lineno, node.args[0]
        yield from ((node.lineno, one.value) for one in node.keywords if one.arg == "text")


@pytest.mark.parametrize("module", ASKED)
def test_every_message_of_the_server_has_a_chinese_text(module: str):
    for line, text in said(module):
        if isinstance(text, ast.Call) and isinstance(text.func, ast.Name) and text.func.id == "unknown_name":
            continue  # pages offer only known names
        assert isinstance(text, ast.Constant), f"{module}:{line}: put values beside the text, not into it"
        assert str(text.value).strip() in CHINESE, f"{module}:{line}"


def test_every_text_of_the_pages_has_a_chinese_one():
    own = "\n".join(path.read_text("utf-8") for path in ASSETS.glob("*.js"))
    html = "\n".join(path.read_text("utf-8") for path in ASSETS.glob("*.html"))
    texts = [*re.findall(r'\bt\("([^"]*)"', own), *re.findall(r"data-t>([^<]*)<", html)]
    assert len(texts) > 150
    words = [*texts, *QUEUES, *STAGES, *ROLES, *REASON_CODES.values()]
    assert [text for text in words if text not in CHINESE] == []


def test_a_text_and_its_translation_have_the_same_values():
    holes = re.compile(r"\{\d\}")
    both = {**CHINESE, **messages()}
    assert [
        text for text, other in both.items() if set(holes.findall(text)) != set(holes.findall(other))
    ] == []


def test_an_error_keeps_its_text_and_values_also_from_another_process():
    error = pickle.loads(pickle.dumps(UsageError("{0} of {1}", "{x}", 2)))
    assert (str(error), error.text, error.values) == ("{x} of 2", "{0} of {1}", ("{x}", 2))
    assert str(UsageError("a set {0} of braces")) == "a set {0} of braces"


async def test_a_refusal_has_its_text_and_values_beside_the_message(tmp_path: Path):
    review = project(tmp_path)
    edit(review, "owner", "s0", "New?")
    async with served(review) as pages:
        seen = (await pages.item("s0"))["seen"]
        answer = await pages.post("decide", id="s0", seen=seen, choice="approve")
        assert await answer.json() == {
            "problem": "an earlier task or the twin was changed: check task 2 again before you approve",
            "text": "an earlier task or the twin was changed: check task {0} again before you approve",
            "values": ["2"],
        }
        old = await (await pages.post("edit", id="s0", seen="old", field=TEXT, text="x")).json()
        assert (old["text"], old["values"]) == (
            "{0} has changed since you read it; compare, and save again",
            ["s0"],
        )


async def test_what_fails_before_somebody_is_known_is_answered_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    review = project(tmp_path)

    def full(*_: Any) -> Any:
        raise StorageError("the database does not answer")

    async with served(review) as pages:
        with monkeypatch.context() as patch:
            patch.setattr(review, "refresh", full)
            answer = await pages.get("review")
            told = await answer.json()
        assert (answer.status, told["values"]) == (507, ["the database does not answer"])
        long = await pages.post("remark", id="s0", note="x" * 9_000_000)
        assert (long.status, (await long.text()).strip()) == (413, "This is too long to be saved.")
