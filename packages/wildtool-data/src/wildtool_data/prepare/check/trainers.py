"""What trainers do with the records of a file: which they drop, change or cut, and where they stop.

The rules about rows were compared with the trainers' own code, run without a model: LLaMA-Factory 0.9.5's converter and
its default, Llama 3 and Qwen formatters on 18,000 damaged records; TRL 1.16.0's conversion; Axolotl 0.19.0's
`chat_template` up to the chat template. Lengths, and verl 0.9.1's `MultiTurnSFTDataset`, were read in their code.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from wildtool import json_codec
from wildtool.findings import Finding, fault
from wildtool.json_codec import as_list, as_object, as_objects
from wildtool_data.prepare.check.rows import RowForm
from wildtool_data.prepare.check.rules import EMPTY_CALLS, check_record, record_kind

Effect = Literal["stops", "drops", "changes", "cuts"]
"""The run ends; the record is left out; the model learns something else; the end of the record is lost."""


def trainer_note(effect: Effect, message: str, field: str = "") -> Finding:
    """What a trainer does with a record, or with every record of a form; the effect is the rule."""
    return fault(effect, message, field, "note")


@dataclass(frozen=True, slots=True)
class Trainer:
    """A program that trains on records."""

    title: str
    evidence: str
    """How its rules are known."""
    cutoff: int
    """Tokens of a record that it keeps by default."""
    too_long: Finding
    """What it does with a longer record."""
    foreign_form: RowForm
    """The form that it does not read as it is."""
    of_form: Finding
    """What it does with every record of that form."""
    of_record: Callable[[Mapping[str, Any], RowForm, list[Finding]], Iterator[Finding]]
    """What it does with one record, given the findings of the rules."""
    not_parquet: Finding | None = None
    """What it does with every record of a file that is not Parquet; None where that makes no difference."""

    def of_file(self, form: RowForm, parquet: bool) -> Iterator[Finding]:
        """What it does with every record of a file."""
        if self.not_parquet is not None and not parquet:
            yield self.not_parquet
        if form == self.foreign_form:
            yield self.of_form


# LLaMA-Factory ------------------------------------------------------------------------------------------

_DROPPED = frozenset({"S04", "S05", "S06", "S07"})
_LLAMA_EFFECTS: Mapping[str, Effect] = {
    **dict.fromkeys(("S01", "S02", "S03", "S08", "S09", "S10", "S17"), "stops"),
    "S15": "changes",
}


def _llama_record(row: Mapping[str, Any], form: RowForm, findings: list[Finding]) -> Iterator[Finding]:
    if form == "messages":
        yield from _weights(row)
        return
    if any(finding.rule == "S03" for finding in findings):
        # The order of turns is looked at before their texts are.
        emptied = [
            {"from": str(as_object(t).get("from")), "value": "x"} for t in as_list(row.get("conversations"))
        ]
        order = check_record({**row, "conversations": emptied}, record_kind(row))
        findings = [finding for finding in order if finding.rule in _DROPPED] or findings
    dropped = [finding for finding in findings if finding.rule in _DROPPED]
    for finding in dropped or findings:
        if finding.rule in _DROPPED or (finding.rule == "S02" and row.get("conversations") == []):
            yield trainer_note("drops", finding.message, finding.field)
        elif finding.rule == "S09" and _json(str(row.get("tools") or "[]")) in ([], {}):
            continue  # nothing is in there, in whatever form
        elif finding.rule == "S08" and finding.message.endswith(EMPTY_CALLS):
            yield trainer_note("changes", "an empty list of calls teaches an empty call", finding.field)
        elif effect := _LLAMA_EFFECTS.get(finding.rule):
            yield trainer_note(effect, finding.message, finding.field)
        elif finding.rule == "S19":
            yield _llama_pair(row, finding)
    turns = as_list(row.get("conversations"))
    first = as_object(turns[0]) if turns else {}
    if first.get("from") == "system" and row.get("system"):
        yield trainer_note("changes", "the first turn replaces the column system", "system")


def _llama_pair(row: Mapping[str, Any], finding: Finding) -> Finding:
    """What becomes of a pair whose reply is no turn of the model."""
    reply = row.get(finding.field)
    role = as_object(reply).get("from")
    if not isinstance(reply, dict):
        return trainer_note("drops", finding.message, finding.field)
    if role in ("human", "observation", "system"):
        return trainer_note("changes", f"trains on the words of {role} as the reply", finding.field)
    return trainer_note("stops", finding.message, finding.field)


def _weights(row: Mapping[str, Any]) -> Iterator[Finding]:
    for k, message in enumerate(as_list(row.get("messages"))):
        if as_object(message).get("weight") == 0:
            yield trainer_note("changes", "weight 0 is not read: the message is learned", f"messages[{k}]")


# TRL ----------------------------------------------------------------------------------------------------


def _trl_record(row: Mapping[str, Any], form: RowForm, findings: list[Finding]) -> Iterator[Finding]:
    if form == "sharegpt" and row.get("system"):
        yield trainer_note("changes", "the column system is not read", "system")
    yield from _tools_text(row)
    if "preferred_output" in row:
        yield trainer_note("stops", "expects prompt, chosen and rejected", "preferred_output")
    yield from _weights(row)
    for place, message in _messages(row):
        if any(isinstance(_arguments(call), str) for call in as_list(message.get("tool_calls"))):
            message_ = "arguments are a text: most chat templates quote it again"
            yield trainer_note("changes", message_, place)


def _tools_text(row: Mapping[str, Any]) -> Iterator[Finding]:
    """TRL and Axolotl read tools that are a text as JSON."""
    tools = row.get("tools")
    if isinstance(tools, str) and not isinstance(_json(tools), list):
        problem = "an empty text" if not tools else "no JSON text of a list"
        yield trainer_note("stops", f"tools is {problem}; leave the column out, or write []", "tools")


# verl ---------------------------------------------------------------------------------------------------


def _verl_record(row: Mapping[str, Any], form: RowForm, findings: list[Finding]) -> Iterator[Finding]:
    if form == "sharegpt":
        return
    if isinstance(row.get("tools"), str):
        yield trainer_note("stops", "tools is a text, expected is a list", "tools")
    yield from _weights(row)
    before = ""
    for place, message in _messages(row):
        if "content" not in message:
            yield trainer_note("stops", "a message has no content; write null or an empty text", place)
        if message.get("role") == before == "tool":
            yield trainer_note(
                "stops",
                "several results in a row: each message is rendered alone, and templates that join results give other"
                " tokens then (unless ignore_input_ids_mismatch is set)",
                place,
            )
        before = str(message.get("role"))


# Axolotl ------------------------------------------------------------------------------------------------


def _axolotl_record(row: Mapping[str, Any], form: RowForm, findings: list[Finding]) -> Iterator[Finding]:
    yield from _tools_text(row)
    yield from _weights(row)
    for place, message in _messages(row):
        for call in as_list(message.get("tool_calls")):
            arguments = _arguments(call)
            if isinstance(arguments, str) and _json(arguments) is _NOTHING:
                yield trainer_note("stops", "the arguments of a call are no JSON", place)
        if (
            message.get("role") == "assistant"
            and not message.get("content")
            and not message.get("tool_calls")
        ):
            yield trainer_note("changes", "an empty reply is not learned", place)


# What they share ----------------------------------------------------------------------------------------

_NOTHING = object()


def _json(text: str) -> Any:
    try:
        return json_codec.loads(text)
    except ValueError:
        return _NOTHING


def _messages(row: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every message of a row with its place."""
    for name in ("messages", "prompt", "chosen", "rejected"):
        for k, message in enumerate(as_objects(row.get(name))):
            yield f"{name}[{k}]", message


def _arguments(call: Any) -> Any:
    return as_object(as_object(call).get("function")).get("arguments")


_LENGTHS_READ = "run on rows; lengths read in its code"
TRAINERS: Mapping[str, Trainer] = {
    "llama-factory": Trainer(
        "LLaMA-Factory",
        f"0.9.5, {_LENGTHS_READ}",
        2048,
        trainer_note("cuts", "what is beyond the cut-off is left out, late calls first"),
        "messages",
        trainer_note(
            "changes",
            "reads messages as `formatting: openai`, which quotes argument texts twice, joins parallel results and drops"
            " results at the end; convert with --to sharegpt",
        ),
        _llama_record,
    ),
    "trl": Trainer(
        "TRL",
        f"1.16.0, {_LENGTHS_READ}",
        1024,
        trainer_note("cuts", "the end is cut off; a record without anything learned left is dropped"),
        "sharegpt",
        trainer_note(
            "changes",
            "renames from and value to role and content, but human, gpt, function_call and observation keep their names,"
            " which chat templates do not know; calls stay texts; convert with --to trl",
        ),
        _trl_record,
    ),
    "verl": Trainer(
        "verl",
        "0.9.1, read in its code",
        1024,
        trainer_note("stops", "a record is longer than max_length (truncation: error)"),
        "sharegpt",
        trainer_note("stops", "reads the column messages; convert with --to verl"),
        _verl_record,
        trainer_note("stops", "reads Parquet files only; convert with --to verl"),
    ),
    "axolotl": Trainer(
        "Axolotl",
        f"0.19.0, {_LENGTHS_READ}",
        512,
        trainer_note("drops", "longer than sequence_len"),
        "sharegpt",
        trainer_note(
            "changes",
            "needs field_messages: conversations and message_property_mappings for from and value; the roles"
            " function_call and observation keep their names, and calls are not learned, since roles_to_train is"
            " assistant; convert with --to openai",
        ),
        _axolotl_record,
    ),
}
"""By the names of `--trainer`."""
