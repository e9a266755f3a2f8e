"""Rules for what the tool simulator returns (T1 to T9) and for the texts of a session (A1 to A11, C1 to C4)."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from wildtool.benchmarks.wildtoolbench.grounding import SearchText
from wildtool.findings import Finding, fault
from wildtool.json_codec import as_list, as_object, as_objects, values_inside
from wildtool.toolcall.schema_check import argument_faults, shorten
from wildtool.toolcall.text.numerals import numbers_in
from wildtool_data.make.core.parsing import Action, RefusedReplyError, read_object
from wildtool_data.make.core.plan import Lang
from wildtool_data.make.sessions.rules.failures import (
    language_faults,
    length_faults,
    loop_faults,
    refusal_faults,
    unfaithful_faults,
)

MAX_RESULT_CHARACTERS = 6_000
"""Characters of one result as JSON."""
MAX_USER_TEXT_CHARACTERS = 3_000
"""Characters of what a user says."""
LASTING_FIELDS = ("name", "title", "author", "artist", "city", "country", "currency")
"""Fields of an entity that no call changes."""

_HOLLOW = re.compile(
    r"\.{3}|…|\b(?:placeholder|lorem ipsum|to be filled)\b|<[a-z_ ]+>|\b(?:foo|xxx+)\b", re.IGNORECASE
)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_MARKER = re.compile(
    r"^[^\S\n]*+(?:user|planner|tool|agent|assistant|checker|system|用户|助手|工具)\s*[:：]"
    r"|```json|\"?(?:actions|tool_calls|thought)\"?\s*:",
    re.IGNORECASE | re.MULTILINE,
)
_ID_KEY = re.compile(r"(?:^|_)id$|[a-z]Id$|ID$", re.ASCII)
KnownEntities = Mapping[str, Mapping[str, Any]]
"""What is known of each id: its lasting fields."""


def parse_tool_results(
    text: str,
    actions: Sequence[Action],
    *,
    lang: Lang,
    entities: KnownEntities,
    returns: Mapping[str, Mapping[str, Any]],
) -> tuple[list[Any], list[Finding]]:
    """The results in a simulator's reply, one an action, with the rules they break. Raises RefusedReplyError."""
    observations = read_object(text, "T1").get("observations")
    if not isinstance(observations, list):
        raise RefusedReplyError(fault("T1", "`observations` must be a list."))
    rows = as_objects(observations)
    if len(rows) != len(actions):
        message = f"{len(actions)} calls were made, and {len(rows)} results are given."
        raise RefusedReplyError(fault("T2", message))
    results: list[Any] = []
    faults: list[Finding] = []
    for k, (row, action) in enumerate(zip(rows, actions, strict=True)):
        if not isinstance(row.get("status_code"), int) or row.get("response") in (None, "", [], {}):
            faults.append(fault("T3", f"observations[{k}] must have a status_code and a response."))
            continue
        response = row["response"]
        faults += result_faults(k, row["status_code"], response, lang, entities, returns.get(action.name))
        results.append(response)
    return results, faults


def result_faults(
    k: int,
    status: int,
    response: Any,
    lang: Lang,
    entities: KnownEntities,
    returns: Mapping[str, Any] | None,
) -> Iterator[Finding]:
    """What is wrong with one result."""
    text = json.dumps(response, ensure_ascii=False)
    if _HOLLOW.search(text):
        yield fault("T4", f"observations[{k}] is cut short or holds a placeholder; give concrete data.")
    # Their own characters, keys too: in JSON most control characters are escaped.
    strings = (part for value in values_inside(response) for part in (value, *as_object(value)))
    yield from control_character_faults("\n".join(part for part in strings if isinstance(part, str)), "T4")
    if not 200 <= status < 300:
        yield fault("T5", f"observations[{k}] has status {status}, but the call follows its definition.")
    for name, fields in entities_in(response):
        for field, value in fields.items():
            if field in entities.get(name, {}) and entities[name][field] != value:
                was = entities[name][field]
                yield fault(
                    "T6", f"{field} of {shorten(name)} was {shorten(was)} and is now {shorten(value)}."
                )
    if lang == "en" and _CHINESE.search(text):
        yield fault("T7", f"observations[{k}] is not in English.")
    if len(text) > MAX_RESULT_CHARACTERS:
        yield fault("T8", f"observations[{k}] has {len(text)} characters, at most {MAX_RESULT_CHARACTERS}.")
    for path, message in argument_faults(response, returns) if returns else ():
        yield fault("T9", f"observations[{k}].{path}: {message}.")


def entities_in(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The ids in a result with their lasting fields."""
    for row in map(as_object, values_inside(value)):
        ids = _ids_of(row)
        if len(ids) == 1:
            yield ids[0], {key: row[key] for key in LASTING_FIELDS if isinstance(row.get(key), str)}


def _ids_of(row: Mapping[str, Any]) -> list[str]:
    return [str(v) for key, v in row.items() if _ID_KEY.search(key) and isinstance(v, str | int)]


def question_faults(text: str, parameters: Iterable[str], lang: Lang) -> Iterator[Finding]:
    """What is wrong with the assistant's question."""
    yield from assistant_faults(text, lang)
    yield from refusal_faults(text, user=False)
    for name in parameters:
        # A plain word is no identifier.
        if re.search(r"_|[a-z][A-Z]", name) and name in text:
            yield fault("A1", f"The question shows the user the parameter name {name}; say what is meant.")


def assistant_faults(text: str, lang: Lang) -> Iterator[Finding]:
    """What is wrong with any text of the assistant."""
    if not text:
        yield fault("A2", "The text is empty.")
    elif _MARKER.search(text):
        yield fault("A2", "Write what the user reads and nothing else: no role name, no JSON, no plan.")
    yield from control_character_faults(text, "A2")
    yield from language_faults(text, lang)
    yield from length_faults(text)
    yield from loop_faults(text)


def answer_faults(
    text: str, results: Sequence[Any], passages: Sequence[SearchText], lang: Lang
) -> Iterator[Finding]:
    """What is wrong with the final answer."""
    yield from assistant_faults(text, lang)
    yield from refusal_faults(text, user=False)
    if results:
        yield from unfaithful_faults(text, results, passages)
    for result in results:
        missing = [name for name in _listed_ids(result) if name not in text]
        if missing:
            yield fault(
                "A3", f"Keep the ids of listed items, later requests refer to them: {', '.join(missing[:5])}."
            )
    numbers = {number for passage in passages for number in passage.numbers}
    unseen = sorted(n for n in numbers_in(text) if n not in numbers and n > 12)
    if results and unseen:
        yield fault("A4", f"{unseen[0]} stands in no result.", level="warning")


def user_faults(text: str, tools: Iterable[str], lang: Lang) -> Iterator[Finding]:
    """What is wrong with any text of the user."""
    if not text:
        yield fault("A2", "The text is empty.")
    if len(text) > MAX_USER_TEXT_CHARACTERS:
        yield fault("C1", f"{len(text)} characters; a user writes at most {MAX_USER_TEXT_CHARACTERS}.")
    tool_names = [tool for tool in tools if re.search(rf"(?<!\w){re.escape(tool)}(?!\w)", text)]
    if any(re.search(r"_|[a-z][A-Z]", tool) for tool in tool_names):
        yield fault("A5", f"A user does not know the tool's name {tool_names[0]}.")
    if _MARKER.search(text):
        yield fault("A5", "Write what the user says and nothing else: no role name, no JSON, no plan.")
    if text and lang == "zh" and not _CHINESE.search(text):
        yield fault("C2", "The text is not in Chinese.")
    elif lang == "en" and len(_CHINESE.findall(text)) > 8:
        yield fault("C2", "The text is not in English.")
    else:
        yield from language_faults(text, lang)
    yield from refusal_faults(text, user=True)
    yield from loop_faults(text)
    yield from control_character_faults(text, "C1")


def vague_faults(text: str) -> Iterator[Finding]:
    """What hints that a vague reply gives what was asked for."""
    if re.search(r"\d{2}", text):
        yield fault("A6", "A vague reply gives no value.", level="warning")


def control_character_faults(text: str, rule: str) -> Iterator[Finding]:
    """Characters that no text holds."""
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffd\ud800-\udfff]", text):
        yield fault(rule, "The text holds control characters.")


def _listed_ids(result: Any) -> Iterator[str]:
    """The ids of the items of lists of at least two, not deeper than one key."""
    for entries in as_object(result).values() if isinstance(result, dict) else [result]:
        if len(as_list(entries)) > 1:
            for row in as_objects(entries):
                yield from _ids_of(row)[:1]
