"""What came between a model and its numbers: one remark for each thing, with the option that corrects it."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wildtool.engine.score.formatting import counted, first_names
from wildtool.engine.score.reply_signs import (
    CALL_DUE,
    CALL_FOR_TEXT,
    CUT_AT,
    EMPTY,
    ENCODED_TWICE,
    EQUAL_IDS,
    EVERY_TOOL,
    FINGERPRINT,
    FIRST_RIGHT,
    IN_REASONING,
    INVENTED,
    MODEL,
    NAMELESS,
    NEVER_CALLED,
    NO_ID,
    OBJECT_ARGUMENTS,
    REPLIES,
    SAME_CALL,
    STOPPED,
    TEXT_DUE,
    TEXT_FOR_CALL,
    UNREAD,
)
from wildtool.evidence import Evidence
from wildtool.json_codec import as_object
from wildtool.models.token_usage import token_usage
from wildtool.reply_ends import LONGER_CONTEXT, MORE_CONTEXT, OVERFLOWED, End
from wildtool.sanitize import ellipsize, single_line
from wildtool.types import Reply

ABSENT, WITHOUT_VERDICT = "absent", "without a verdict"
MISSING_SIGNS = frozenset({ABSENT, WITHOUT_VERDICT})
"""Signs of remarks on units that have no verdict."""
CONTEXT_END = "context end"
RETRY = "run the same command again"
_VIEW = "see them with `wildtool view`"
_CHECK = "`wildtool check` quotes such replies of the endpoint"
_NATIVE_ADVICE = "--tool-format NAME (auto, or one of `wildtool list formats`), or a server that reads calls"
_LONGEST = 60
_MARK = re.compile(r"<[|｜]?[A-Za-z_][^<>\s=]{0,30}[=>]|\[[A-Z_]{3,20}\]|```|\bAction\b")
"""How calls in text begin in most formats."""
_MOST_NAMES = 3
_STOPPED = {
    STOPPED[End.CUT]: ("{} cut off at a token limit", "--max-tokens"),
    STOPPED[End.FILTERED]: ("{} filtered by the provider", ""),
    STOPPED[End.REFUSED]: ("{} refused by the provider", ""),
    STOPPED[End.MALFORMED]: ("{} ended by a call that the provider could not read", "--tool-format auto"),
    STOPPED[End.UNFINISHED]: ("{} not finished by the provider", RETRY),
    STOPPED[End.UNKNOWN]: ("{} ended for no known reason, so some may be cut off", ""),
    EMPTY: ("{} empty", _VIEW),
    IN_REASONING: ("{} with a call that the server left in the reasoning", _CHECK),
    NAMELESS: ("{} with tool_calls that name no function", _VIEW),
    OBJECT_ARGUMENTS: ("{} with arguments as objects, where a JSON text is the rule", _CHECK),
    ENCODED_TWICE: ("{} with arguments that are encoded twice", _CHECK),
    NO_ID: ("{} with calls that have no id", _CHECK),
    EQUAL_IDS: ("{} with several calls of one id", _CHECK),
    SAME_CALL: ("{} with the same call twice", _CHECK),
    INVENTED: ("{} with results that the model invented", ""),
    EVERY_TOOL: ("{} with calls of every offered tool", _VIEW),
}
"""By sign the words for replies of that kind, and the option."""


@dataclass(frozen=True, slots=True)
class FailureKind:
    """Units that failed calls of one kind left unfinished."""

    kind: str
    units: int
    example: str
    """The message of one of them."""


@dataclass(frozen=True, slots=True)
class TrustRemark:
    """One thing that a reader must know before relying on the numbers of a run."""

    sign: str
    """What it is about, the same for every run."""
    count: int
    of: int
    text: str
    option: str
    """What corrects it; empty where nothing does."""

    def __str__(self) -> str:
        return f"{self.text}: {self.option}" if self.option else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictTotals:
    """What the verdicts of a run add up to, apart from its evidence."""

    absent: int = 0
    """Units that were planned and that the numbers leave out, as a replies file of some items does."""
    correct: int = 0
    signs: Mapping[str, int] = field(default_factory=dict[str, int])
    """Of all replies (`reply_signs`), with their numbers."""
    calls: int = 0
    """Calls that were read in all replies."""
    credited: int = 0
    """Correct units with calls written as text, which some rules take for a question, a refusal or chat."""
    answered: int = 0
    """Units with replies."""
    with_tokens: int = 0
    """Units whose prompt tokens are known."""
    max_tokens: int | None = None
    """The limit of tokens that was sent with each request; None for none."""
    format: str = ""
    """The format in which calls were read from text; empty for native calls."""


def trust_remarks(
    evidence: Evidence, totals: VerdictTotals, failed: Sequence[FailureKind] = (), retry: str = RETRY
) -> Iterable[TrustRemark]:
    """The remarks on a run, the gravest first; none for one that went well.

    Args:
        evidence: of the whole run.
        failed: what ended the failed units.
        retry: what completes the run; empty where nothing does.
    """
    signs, absent = totals.signs, totals.absent
    held = evidence.units - absent
    if absent:
        text = f"only {held} of {evidence.units} units are here; the numbers are of these"
        yield TrustRemark(ABSENT, absent, evidence.units, text, "")
    if missing := evidence.missing - absent:
        low, high = (100 * right / held for right in (totals.correct, totals.correct + missing))
        text = (
            f"{_missing_units(evidence, missing, held, failed)} and count as not right: {low:.1f} % correct, at most "
            f"{high:.1f} %"
        )
        overflowed = sum(kind.units for kind in failed if OVERFLOWED in kind.example)
        option = f"{MORE_CONTEXT}, then {retry}" if overflowed and retry else retry
        yield TrustRemark(WITHOUT_VERDICT, missing, held, text, option)
    replies = signs.get(REPLIES, 0)
    cut_short = _cut_short(signs, totals.max_tokens)
    if cut_short:
        text = f"{_of(cut_short, replies)} cut off before --max-tokens, where the context ended"
        yield TrustRemark(CONTEXT_END, cut_short, replies, text, LONGER_CONTEXT)
    for sign, (words, option) in _STOPPED.items():
        if count := signs.get(sign, 0) - (cut_short if sign == STOPPED[End.CUT] else 0):
            yield TrustRemark(sign, count, replies, words.format(_of(count, replies)), option)
    formats = {sign.removeprefix(UNREAD): n for sign, n in signs.items() if sign.startswith(UNREAD)}
    if count := sum(formats.values()):
        first = max(formats, key=formats.__getitem__)
        by = f"{totals.format} did not" if totals.format else "no format"
        text = f"{_of(count, replies)} have calls written as text that {by} read"
        text += f"; {totals.credited} units with them count as right" if totals.credited else ""
        option = _VIEW if totals.format else f"--tool-format {first or 'auto'}"
        yield TrustRemark("unread calls", count, replies, text, option)
    elif not totals.calls and signs.get(NEVER_CALLED):
        text = f"no call in {counted(replies, 'reply', 'replies')}, although tools were offered"
        text += f" in the format {totals.format}" if totals.format else ""
        option = _VIEW if totals.format else _NATIVE_ADVICE
        yield TrustRemark(NEVER_CALLED, replies, replies, text, option)
    elif (count := signs.get(TEXT_FOR_CALL, 0)) > (due := signs.get(CALL_DUE, 0)) / 2:
        right = signs.get(FIRST_RIGHT, 0)
        text = f"{count} of {counted(due, 'unit', 'units')} where a call was expected began without one"
        text += f"; first call right in {right}"
        yield TrustRemark(TEXT_FOR_CALL, count, due, text, "")
    if (count := signs.get(CALL_FOR_TEXT, 0)) > (due := signs.get(TEXT_DUE, 0)) / 2:
        text = f"{count} of {counted(due, 'unit', 'units')} where a text was expected began with a call"
        yield TrustRemark(CALL_FOR_TEXT, count, due, text, "")
    for start, noun in ((MODEL, "models"), (FINGERPRINT, "system fingerprints")):
        names = Counter({sign.removeprefix(start): n for sign, n in signs.items() if sign.startswith(start)})
        if len(names) > 1:
            shown = [ellipsize(single_line(name), _LONGEST) for name, _ in names.most_common()]
            listing = first_names(shown, _MOST_NAMES)
            yield TrustRemark(noun, len(names), replies, f"{len(names)} {noun} answered ({listing})", "")
    counted_replies, answered = totals.with_tokens, totals.answered
    if 0 < counted_replies < answered:
        text = f"prompt tokens are known for {counted_replies} of {answered} units"
        yield TrustRemark("prompt tokens", counted_replies, answered, text, "")


def _cut_short(signs: Mapping[str, int], max_tokens: int | None) -> int:
    """Replies that a limit ended before the one that was sent: only the context can."""
    if max_tokens is None:
        return 0
    lengths = {sign.removeprefix(CUT_AT): n for sign, n in signs.items() if sign.startswith(CUT_AT)}
    return sum(count for tokens, count in lengths.items() if int(tokens) < max_tokens)


def token_limit(settings: Mapping[str, Any]) -> int | None:
    """The limit of tokens of each reply, from the settings of the model under test; None where none was sent."""
    extra = as_object(settings.get("extra_body"))
    limits = (extra.get("max_tokens"), extra.get("max_completion_tokens"), settings.get("max_tokens"))
    return next((limit for limit in limits if isinstance(limit, int)), None)


def early_remark(sign: str, reply: Reply, settings: Mapping[str, Any]) -> str:
    """A remark on a sign that one of the first replies of a run shows.

    Args:
        settings: of the model under test.
    """
    if sign == INVENTED:
        return "a reply holds results that the model invented"
    if sign == STOPPED[End.CUT] and 0 < token_usage(reply.usage).completion < (token_limit(settings) or 0):
        return f"a reply was cut off before --max-tokens, where the context ended: {LONGER_CONTEXT}"
    if not sign.startswith(UNREAD):
        words, option = _STOPPED[sign]
        subject = "a reply" if words.startswith("{} with") else "a reply was"
        return words.format(subject) + (f": {option}" if option else "")
    content: object = reply.message.get("content")
    mark = _MARK.search(content) if isinstance(content, str) else None
    remark = f"writes {mark[0] if mark else 'calls'} as text"
    if set_format := settings.get("format"):
        return f"{remark} that {set_format} did not read"
    return f"{remark}: try --tool-format {sign.removeprefix(UNREAD) or 'auto'}"


def _missing_units(evidence: Evidence, missing: int, held: int, failed: Sequence[FailureKind]) -> str:
    """How many of the units that a table holds lack a verdict, and why."""
    kinds = (
        failure_summary(failed)
        if len(failed) > 1
        else "".join(single_line(failure.kind, _LONGEST) for failure in failed)
    )
    if evidence.failed == missing:
        return f"{missing} of {held} units failed ({kinds})"
    if not evidence.failed:
        return f"{missing} of {held} units were not played"
    reason = f"{evidence.failed} failed: {kinds}; {missing - evidence.failed} not played"
    return f"{missing} of {held} units are without a verdict ({reason})"


def _of(count: int, replies: int) -> str:
    return f"{count} of {counted(replies, 'reply', 'replies')}"


def failure_summary(failed: Iterable[FailureKind]) -> str:
    """Kinds of failed calls with the units each of them ended."""
    every = list(failed)
    kinds = ", ".join(f"{single_line(error.kind, _LONGEST)} ({error.units})" for error in every[:3])
    return f"{kinds} and {len(every) - 3} more kinds" if len(every) > 3 else kinds


def failure_example(failed: Sequence[FailureKind]) -> str:
    """The message of the first failed call."""
    return single_line(failed[0].example.removeprefix(f"{failed[0].kind}: "), 300)
