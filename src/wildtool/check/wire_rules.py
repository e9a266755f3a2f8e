"""Rules that any answer can break, whatever was requested."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from wildtool.check.answers import MARKUP, THOUGHTS, RawAnswer, ReceivedCall
from wildtool.check.defects import DefectKind
from wildtool.check.ledger import Ledger
from wildtool.episode import reasoning_fields
from wildtool.json_codec import as_list, as_object, as_objects, loads
from wildtool.models.http.deltas import (
    ARGUMENTS_REPEATED,
    IDS_CHANGE,
    NAME_IN_PIECES,
    NAME_REPEATED,
    SHARED_INDEX,
    number_of_index,
)

CLOSINGS = ("}", "]}", '"}', "}}", '"]}')
"""What may be missing at the end of arguments."""
MOST_READ = 8_000
"""Characters of a text in which arguments are looked for."""
SOME_TOKENS = 5
"""Of a reply that cannot have been empty when it was written."""
ODD_PIECES = {
    NAME_REPEATED: "a later delta has the name of the call again",
    NAME_IN_PIECES: "the name of a call comes in pieces",
    ARGUMENTS_REPEATED: "a later delta has arguments again that came before",
}
"""By what is odd about the deltas of a stream, how it is told."""
OWN_RULES = ("cut", "long text", "long list", "deep nesting")
"""Probes with rules for broken JSON in `probe_rules`."""


def check_wire(answers: Iterable[RawAnswer], ledger: Ledger) -> None:
    """Applies the rules to all answers."""
    every = list(answers)
    for answer in every:
        if answer.error_inside:
            ledger.add(
                DefectKind.ERROR_WITH_STATUS_200, f"HTTP 200 with the error {answer.failure[:120]!r}", answer
            )
        elif answer.raw:
            ledger.passed(DefectKind.ERROR_WITH_STATUS_200)
        if answer.failure:
            continue
        _check_finish(answer, ledger)
        _check_texts(answer, ledger)
        _check_usage(answer, ledger)
        _check_empty(answer, ledger)
        if not answer.calls or answer.finish == "length":
            continue
        if _check_pieces(answer, ledger):
            _check_ids(answer, ledger)
            _check_indexes(answer, ledger)
            for call in answer.calls:
                _check_arguments(call, answer, ledger)
    _check_cached_tokens(every, ledger)


def _check_finish(answer: RawAnswer, ledger: Ledger) -> None:
    if answer.probe == "cut":
        return  # has a rule for its finish reason
    names_tool = isinstance(answer.sent.get("tool_choice"), dict)
    if answer.calls and answer.finish not in ("tool_calls", "length"):
        if names_tool and answer.finish == "stop":
            # OpenAI's own API does so, hence no defect.
            ledger.remark("With a named tool_choice the finish reason is `stop`, as at OpenAI.")
        else:
            ledger.add(
                DefectKind.FINISH_REASON_DENIES_CALLS,
                f"calls, and the finish reason {answer.finish!r}",
                answer,
            )
    elif answer.finish == "length" and answer.calls and _is_far_from_limit(answer):
        if all(isinstance(call.values, dict) for call in answer.calls):
            ledger.add(
                DefectKind.FINISH_REASON_DENIES_CALLS,
                "calls, and the finish reason 'length' far below the limit",
                answer,
            )
        else:
            tokens = answer.tokens("completion_tokens")
            ledger.add(
                DefectKind.LONG_ARGUMENTS_CUT,
                f"a call is cut after {tokens} tokens at a limit of {_limit(answer)}",
                answer,
            )
    elif answer.calls:
        ledger.passed(DefectKind.FINISH_REASON_DENIES_CALLS)
    if answer.finish == "tool_calls" and not answer.calls and not _lost_without_arguments(answer):
        ledger.add(
            DefectKind.FINISH_REASON_WITHOUT_CALL, "the finish reason `tool_calls`, and no call", answer
        )
    elif answer.calls:
        ledger.passed(DefectKind.FINISH_REASON_WITHOUT_CALL)


def _limit(answer: RawAnswer) -> int:
    """The limit of tokens that was sent; 0 for none."""
    return answer.sent.get("max_tokens") or answer.sent.get("max_completion_tokens") or 0


def _is_far_from_limit(answer: RawAnswer) -> bool:
    """Whether a reply has less than half of the tokens that it may have."""
    tokens = answer.tokens("completion_tokens")
    return tokens is not None and tokens < _limit(answer) / 2


def _check_empty(answer: RawAnswer, ledger: Ledger) -> None:
    if not answer.complete:
        return
    if answer.calls or answer.text.strip() or reasoning_fields(answer.message):
        ledger.passed(DefectKind.EMPTY_REPLY)
        return
    if answer.finish == "tool_calls":
        return  # has its own number
    hidden = as_object(answer.usage.get("completion_tokens_details")).get("reasoning_tokens")
    tokens = (answer.tokens("completion_tokens") or 0) - (hidden if isinstance(hidden, int) else 0)
    if tokens >= SOME_TOKENS:
        ledger.add(DefectKind.EMPTY_REPLY, f"an empty reply of {tokens} tokens", answer)


def _lost_without_arguments(answer: RawAnswer) -> bool:
    """Whether defect 1 may say better why no call came."""
    return answer.streamed and answer.probe in ("no arguments", "schema no properties")


def _check_texts(answer: RawAnswer, ledger: Ledger) -> None:
    names = [str(as_object(tool.get("function")).get("name")) for tool in answer.sent.get("tools", ())]
    choice = answer.sent.get("tool_choice")
    if mark := THOUGHTS.search(answer.text):
        ledger.add(DefectKind.REASONING_LEAKS, f"{mark[0]} in the text", answer)
        return
    if answer.reasoning:
        ledger.passed(DefectKind.REASONING_LEAKS)
    if answer.calls:
        ledger.passed(DefectKind.CALLS_AS_TEXT)
        if _is_call(answer.text, [call.name for call in answer.calls]):
            ledger.add(DefectKind.SAME_CALL_TWICE, "the same call in the text and in `tool_calls`", answer)
    elif choice == "none":
        return
    elif _is_call(answer.text, names):
        ledger.add(DefectKind.CALLS_AS_TEXT, "a call in the text, and none in `tool_calls`", answer)
    elif isinstance(as_object(answer.message.get("function_call")).get("name"), str):
        ledger.add(
            DefectKind.CALLS_AS_TEXT,
            "a call under the retired `function_call`, and none in `tool_calls`",
            answer,
        )
    elif _has_arguments(answer):
        ledger.add(DefectKind.CALLS_AS_TEXT, "the arguments of a call in the text, and no call", answer)
    elif answer.probe != "reasoning" and not answer.text.strip() and _is_call(answer.reasoning, names):
        ledger.add(DefectKind.CALLS_AS_TEXT, "a call in the reasoning, and none in `tool_calls`", answer)


def _is_call(text: str, names: Sequence[str]) -> bool:
    return MARKUP.search(text) is not None and any(name in text for name in names)


def _has_arguments(answer: RawAnswer) -> bool:
    """Whether a text has a JSON object with the very parameters of an offered tool."""
    texts = [answer.text[match.start() :] for match in re.finditer(r"\{", answer.text[:MOST_READ])]
    for text in texts:
        try:
            value: object = json.JSONDecoder().raw_decode(text)[0]
        except (ValueError, RecursionError):
            continue
        keys = as_object(value).keys()
        for tool in as_objects(answer.sent.get("tools")):
            schema = as_object(as_object(tool.get("function")).get("parameters"))
            required = as_list(schema.get("required"))
            if required and {*required} <= keys <= as_object(schema.get("properties")).keys():
                return True
    return False


def _check_usage(answer: RawAnswer, ledger: Ledger) -> None:
    if answer.streamed and "stream_options" not in answer.sent:
        return
    prompt, completion = answer.tokens("prompt_tokens"), answer.tokens("completion_tokens")
    if prompt is None or completion is None:
        ledger.add(DefectKind.USAGE_WRONG, "no usage", answer)
        return
    cached = answer.cached_tokens
    total = answer.tokens("total_tokens")
    if not prompt or (not completion and (answer.calls or answer.text)):
        ledger.add(
            DefectKind.USAGE_WRONG, f"usage of {prompt} prompt and {completion} completion tokens", answer
        )
    elif cached > prompt:
        ledger.add(DefectKind.USAGE_WRONG, "more cached tokens than prompt tokens", answer)
    elif total is not None and (total < prompt + completion or 0 < total - prompt - completion == cached):
        ledger.add(DefectKind.USAGE_WRONG, "total tokens are not those of prompt and completion", answer)
    else:
        ledger.passed(DefectKind.USAGE_WRONG)


def _check_cached_tokens(answers: Sequence[RawAnswer], ledger: Ledger) -> None:
    """A request that is sent again has the same number of prompt tokens, cached or not."""
    counts: Mapping[str, list[tuple[int, int, RawAnswer]]] = defaultdict(list)
    for answer in answers:
        cached = answer.cached_tokens
        if (prompt := answer.tokens("prompt_tokens")) is not None:
            counts[repr(answer.sent)].append((prompt, cached, answer))
    for group in counts.values():
        fewest = min(prompt for prompt, _, _ in group)
        for prompt, cached, answer in group:
            if cached and prompt - fewest == cached:
                ledger.add(DefectKind.USAGE_WRONG, "cached tokens are added to the prompt tokens", answer)


def _check_pieces(answer: RawAnswer, ledger: Ledger) -> bool:
    """Whether the calls of a stream can be told apart, so that other rules may look at them."""
    found = [problem for name, problem in ODD_PIECES.items() if name in answer.oddities]
    for problem in found:
        ledger.add(DefectKind.NAME_OR_ARGUMENTS_REPEATED, problem, answer)
    if answer.deltas and not found and not answer.ambiguous:
        ledger.passed(DefectKind.NAME_OR_ARGUMENTS_REPEATED)
    return not answer.ambiguous


def _check_ids(answer: RawAnswer, ledger: Ledger) -> None:
    ids = [call.id for call in answer.calls]
    if not all(isinstance(each, str) and each for each in ids):
        ledger.add(DefectKind.IDS_WRONG, "a call without an id", answer)
    elif len(set(ids)) < len(ids):
        ledger.add(DefectKind.IDS_WRONG, "two calls with one id", answer)
    elif IDS_CHANGE in answer.oddities:
        ledger.add(DefectKind.IDS_WRONG, "another id in a later delta of a call", answer)
    elif not all(delta.get("id") for delta in _first_deltas(answer)):
        ledger.add(DefectKind.IDS_WRONG, "no id in the first delta of a call", answer)
    else:
        ledger.passed(DefectKind.IDS_WRONG)


def _first_deltas(answer: RawAnswer) -> list[Mapping[str, Any]]:
    """The deltas that begin calls of a stream: one of several calls at one index is told by its id."""
    begun: set[tuple[str, Any]] = set()
    first: list[Mapping[str, Any]] = []
    for delta in answer.deltas:
        index, id_ = repr(delta.get("index")), delta.get("id")
        is_new = not any(place == index for place, _ in begun) or (id_ and (index, id_) not in begun)
        if as_object(delta.get("function")).get("name") and is_new:
            begun.add((index, id_))
            first.append(delta)
    return first


def _check_indexes(answer: RawAnswer, ledger: Ledger) -> None:
    if not answer.deltas:
        return
    indexes = [delta.get("index") for delta in answer.deltas]
    texts = [index for index in indexes if isinstance(index, str)]
    numbers = [index for index in map(number_of_index, indexes) if isinstance(index, int)]
    if texts:
        ledger.add(DefectKind.INDEX_WRONG, f"`index` is the text {texts[0][:9]!r}", answer)
    elif len(numbers) < len(indexes):
        ledger.add(DefectKind.INDEX_WRONG, "a delta of a call without `index`", answer)
        return
    elif min(numbers) > 0:
        ledger.add(DefectKind.INDEX_WRONG, f"the first call has the index {min(numbers)}", answer)
    else:
        ledger.passed(DefectKind.INDEX_WRONG)
    merged = any(re.search(r"\}\s*\{", str(call.arguments)) and call.values is None for call in answer.calls)
    if merged or SHARED_INDEX in answer.oddities:
        ledger.add(DefectKind.SAME_INDEX, "several calls with one `index`", answer)
    elif len(answer.calls) > 1:
        ledger.passed(DefectKind.SAME_INDEX)


def _check_arguments(call: ReceivedCall, answer: RawAnswer, ledger: Ledger) -> None:
    arguments = call.arguments
    if not isinstance(arguments, str):
        kind = {"NoneType": "null or missing", "dict": "an object", "list": "a list"}.get(
            type(arguments).__name__
        )
        ledger.add(
            DefectKind.ARGUMENTS_NO_JSON_TEXT, f"`arguments` is {kind or type(arguments).__name__}", answer
        )
    elif not arguments and not (answer.streamed and expects_values(call, answer)):
        ledger.add(DefectKind.ARGUMENTS_NO_JSON_TEXT, "`arguments` is an empty text", answer)
    elif call.values is None and answer.probe not in OWN_RULES:
        if ends_wrong(arguments):
            ledger.add(
                DefectKind.BRACES_UNBALANCED, "the JSON of a call is right after its end is corrected", answer
            )
        elif answer.probe == "optional integers":
            ledger.add(DefectKind.OPTIONAL_INTEGERS_MALFORMED, "the arguments are not JSON", answer)
        elif not re.search(r"\}\s*\{", arguments):
            ledger.add(DefectKind.BRACES_UNBALANCED, "the arguments are not JSON", answer)
    elif isinstance(call.values, str) and _is_object(call.values):
        ledger.add(DefectKind.ARGUMENTS_ENCODED_TWICE, "`arguments` is the JSON text of a JSON text", answer)
    elif arguments:
        ledger.passed(
            DefectKind.ARGUMENTS_NO_JSON_TEXT,
            DefectKind.BRACES_UNBALANCED,
            DefectKind.ARGUMENTS_ENCODED_TWICE,
        )


def expects_values(call: ReceivedCall, answer: RawAnswer) -> bool:
    """Whether the called tool requires arguments."""
    for tool in answer.sent.get("tools", ()):
        function = as_object(tool.get("function"))
        if function.get("name") == call.name:
            return bool(as_object(function.get("parameters")).get("required"))
    return False


def ends_wrong(arguments: str) -> bool:
    """Whether a text is a JSON object but for brackets missing or added at its end."""
    text = arguments.rstrip()
    candidates = [text + closing for closing in CLOSINGS]
    candidates += [text[:-count] for count in (1, 2) if text[-count:] in ("}", "}}", "]", "]}", '"}')]
    return any(_is_object(candidate) for candidate in candidates)


def _is_object(text: str) -> bool:
    try:
        return isinstance(loads(text), dict)
    except ValueError:
        return False
