"""Items out of finished sessions: the first task of each, which needs no conversation, as it is or made imperfect.

A task that asks for what is missing gives an incomplete item (its text and the question's parameters); one call taken
away gives an irrelevant item; a value in the text put wrong gives an error item; other calls stay as they are.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from wildtool.benchmarks.wildtoolbench.data import ASK, VIRTUAL, GoldNode, Session, read_records, read_session
from wildtool.errors import DataError, UsageError
from wildtool.toolcall.schema import as_schema, member_schemas
from wildtool_data.make.core.parsing import Action, strings_in
from wildtool_data.make.core.plan import Lang
from wildtool_data.make.items.item import (
    DialogueTurn,
    GeneratedItem,
    MissingParameters,
    Utterance,
    WrongValue,
)
from wildtool_data.make.items.plan import ITEM_KINDS, ItemPlan
from wildtool_data.make.items.procedural_wording import DOUBTS, wrong_value
from wildtool_data.make.items.tool_catalog import can_be_violated, chinese_noun
from wildtool_data.make.procedural.guess_semantics import guess_kind, noun_of
from wildtool_data.make.procedural.sessions import RECORD_KEY_PREFIXES
from wildtool_data.make.procedural.wording import Wording

KINDS_BY_TASK_TYPE: Mapping[str, tuple[str, ...]] = {
    "Clarify": ("incomplete",),
    "Single-Tool": ("single", "error", "irrelevant"),
    "Parallel Multi-Tool": ("parallel",),
}
"""What a task of each type can become."""
_DERIVED = "derived:"


@dataclass(frozen=True, slots=True)
class _Task:
    """The first task of a session with what belongs to it."""

    session: Session
    plan: ItemPlan
    calls: tuple[Action, ...]
    questions: tuple[GoldNode, ...]
    functions: Mapping[str, Mapping[str, Any]]
    """All tools of the session by name."""

    @property
    def text(self) -> str:
        return self.session.tasks[0].text


def items_from_sessions(
    path: Path, items: int, shares: Mapping[str, int], seed: str, langs: Sequence[Lang]
) -> Iterator[GeneratedItem]:
    """Items of a session file in its order, at most `items`; nothing is checked yet.

    Raises:
        DataError: for a file that cannot be read, or that holds no task of a wanted kind.
        UsageError: for kinds that no session gives.
    """
    able = [kind for kinds in KINDS_BY_TASK_TYPE.values() for kind in kinds]
    if unable := [kind for kind in shares if kind not in able]:
        raise UsageError(f"sessions give no items of the kind {unable[0]}; they give {', '.join(able)}")
    counts = dict.fromkeys(shares, 0)
    index = 0
    for number, record in read_records(path):
        session = read_session(record, f"{path}:{number}")
        if session.lang not in langs or index >= items:
            continue
        item = _item(session, record, index, shares, counts, seed)
        if item is not None:
            counts[item.plan.kind] += 1
            index += 1
            yield item
    if not index:
        raise DataError(f"{path}: no session begins with a task that gives an item of {', '.join(shares)}")


def _item(
    session: Session,
    record: Mapping[str, Any],
    index: int,
    shares: Mapping[str, int],
    counts: Mapping[str, int],
    seed: str,
) -> GeneratedItem | None:
    """The item that the first task becomes: of the kinds that it allows the one that is furthest behind its share."""
    kinds = [kind for kind in KINDS_BY_TASK_TYPE.get(session.tasks[0].type, ()) if kind in shares]
    for kind in sorted(kinds, key=lambda kind: (counts[kind] / shares[kind], kind)):
        task = _task(session, record, _plan(session, index, kind, seed))
        item = _BUILDERS[kind](task) if task.calls else None
        if item is not None:
            return item
    return None


def _plan(session: Session, index: int, kind: str, seed: str) -> ItemPlan:
    try:
        date = datetime.fromisoformat(session.date[:10])
    except ValueError:
        date = datetime(2025, 1, 1)
    lang = cast(Lang, session.lang)
    name = f"{seed}/{index}"
    return ItemPlan(index, name, kind, lang, date, True, ITEM_KINDS[kind].candidates[1], 1, "", "", "")


def _task(session: Session, record: Mapping[str, Any], plan: ItemPlan) -> _Task:
    nodes = session.tasks[0].nodes
    gold_steps = cast(list[list[dict[str, Any]]], record[f"{RECORD_KEY_PREFIXES[plan.lang]}_answer_list"])
    calls = [
        Action(node.name, node.arguments, _derived(as_schema(row.get("grounding"))))
        for node, row in zip(nodes, gold_steps[0], strict=True)
        if node.name not in VIRTUAL
    ]
    functions = {tool["function"]["name"]: tool["function"] for tool in session.tools}
    questions = tuple(node for node in nodes if node.name == ASK)
    return _Task(session, plan, tuple(calls), questions, functions)


def _derived(marks: Mapping[str, Any]) -> dict[str, str]:
    """Values that follow from what is said, with the reason; other marks count for nothing here."""
    return {
        path: reason.removeprefix(_DERIVED).strip()
        for path, reason in marks.items()
        if isinstance(reason, str) and reason.startswith(_DERIVED)
    }


def _irrelevant(task: _Task) -> GeneratedItem | None:
    removed = task.functions.get(task.calls[0].name)
    if removed is None or len(task.functions) < 2:
        return None
    return _full_item(task, task.text, removed_tool=removed)


def _incomplete(task: _Task) -> GeneratedItem | None:
    if not task.questions:
        return None
    arguments = task.questions[0].arguments
    names = strings_in(as_schema(arguments).get("missing_required_parameters"))
    mended: list[Utterance] = []
    for node in task.questions:
        mended += [Utterance("assistant", str(node.observation)), Utterance("user", node.user_input or "")]
    fault = MissingParameters(str(as_schema(arguments).get("tool_name")), tuple(dict.fromkeys(names)))
    return _full_item(task, task.text, fault=fault, correction=tuple(mended))


def _error(task: _Task) -> GeneratedItem | None:
    """The text with one of its values replaced by one that breaks the definition."""
    call, draw = task.calls[0], task.plan.stream("error")
    properties = member_schemas(as_schema(task.functions.get(call.name, {}).get("parameters")))
    for name in sorted(call.arguments, key=lambda _: draw.random()):
        schema, right = properties.get(name, {}), call.arguments[name]
        text = str(right)
        if not can_be_violated(schema) or task.text.count(text) != 1:
            continue
        wrong = wrong_value(right, schema, task.plan.lang, draw)
        if wrong is not None:
            fault, lang = WrongValue(call.name, name, wrong), task.plan.lang
            noun = (chinese_noun(schema) if lang == "zh" else "") or noun_of(name, guess_kind(name, schema))
            doubt = draw.choice(DOUBTS[lang]).format(noun=noun, value=fault.text)
            reply = Wording(draw, lang).phrase("reply", value=text)
            mended = (Utterance("assistant", doubt), Utterance("user", reply))
            return _full_item(task, task.text.replace(text, fault.text), fault=fault, correction=mended)
    return None


def _full_item(task: _Task, text: str, **more: Any) -> GeneratedItem:
    """An item with some of the session's tools, the called ones among them unless one was removed."""
    draw = task.plan.stream("tools")
    called_names = {call.name for call in task.calls}
    uncalled = [
        name for name in task.functions
        if not any(name in other or other in name for other in called_names)
    ]  # fmt: skip
    order = [] if "removed_tool" in more else [name for name in task.functions if name in called_names]
    room = max(task.plan.candidates - len(order), 0)
    offered = [*order, *draw.sample(uncalled, min(room, len(uncalled)))]
    draw.shuffle(offered)
    turn = DialogueTurn((Utterance("user", text),), task.calls)
    return GeneratedItem(task.plan, tuple(task.functions[name] for name in offered), (turn,), **more)


_BUILDERS: Mapping[str, Callable[[_Task], GeneratedItem | None]] = {
    "single": lambda task: _full_item(task, task.text),
    "parallel": lambda task: _full_item(task, task.text),
    "irrelevant": _irrelevant,
    "incomplete": _incomplete,
    "error": _error,
}
