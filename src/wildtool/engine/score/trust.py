"""What came between a model and its numbers: one remark for each thing, with the option that corrects it."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wildtool.engine.score.formatting import counted, first_names
from wildtool.engine.score.reply_signs import (
    ADAPTED,
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
    LEGACY,
    MODEL,
    NAMELESS,
    NEVER_CALLED,
    NO_ID,
    OBJECT_ARGUMENTS,
    REASONING_LEFT_OUT,
    REPLIES,
    SAME_CALL,
    STOPPED,
    TEXT_DUE,
    TEXT_FOR_CALL,
    UNREAD,
)
from wildtool.errors import BLOCKED_PROMPT, NOT_RECORDED
from wildtool.evidence import Evidence
from wildtool.json_codec import as_object
from wildtool.models.token_usage import token_usage
from wildtool.reply_ends import LONGER_CONTEXT, MORE_CONTEXT, OVERFLOWED, End, remedy_in
from wildtool.sanitize import ellipsize, single_line
from wildtool.types import Reply

ABSENT, WITHOUT_VERDICT = "absent", "without a verdict"
MISSING_SIGNS = frozenset({ABSENT, WITHOUT_VERDICT})
"""Signs of remarks on units that have no verdict."""
CONTEXT_END = "context end"
ONE_ERROR = "one error"
"""Sign of a remark that nearly all units that needed a call have the same error."""
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
    IN_REASONING: ("{} with a call that the server left in the reasoning", _VIEW),
    LEGACY: ("{} with a call under the retired `function_call`, which is not read", _CHECK),
    NAMELESS: ("{} with tool_calls that name no function", _VIEW),
    OBJECT_ARGUMENTS: ("{} with arguments as objects, where a JSON text is the rule", _CHECK),
    ENCODED_TWICE: ("{} with arguments that are encoded twice", _VIEW),
    NO_ID: ("{} with calls that have no id", _CHECK),
    EQUAL_IDS: ("{} with several calls of one id", _CHECK),
    SAME_CALL: ("{} with the same call twice", _VIEW),
    INVENTED: ("{} with results that the model invented", ""),
    EVERY_TOOL: ("{} with calls of every offered tool", _VIEW),
}
"""By sign the words for replies of that kind, and the option."""
_ADAPTED = {
    ADAPTED["empty-reasoning-added"]: "an empty reasoning in each earlier reply without one",
    ADAPTED["thought-signature-added"]: "a placeholder for each missing thought signature",
    ADAPTED["parallel-calls-split"]: "parallel calls one after another",
    REASONING_LEFT_OUT: "no reasoning in earlier replies",
}
"""By sign what an endpoint was sent that refused the history as it is."""
_WITHOUT_CALL = frozenset({EMPTY, IN_REASONING, LEGACY, *STOPPED.values()} - {STOPPED[End.UNKNOWN]})
"""Signs of replies that say themselves why no call was read."""
_MOST_OF = 0.9
"""Share of the units that needed a call from which one kind of mistake says more of the endpoint than of the model."""
_FEWEST_UNITS = 8


_FINAL_KINDS = frozenset({BLOCKED_PROMPT, NOT_RECORDED})
"""Failures that no other try changes."""


@dataclass(frozen=True, slots=True)
class FailureKind:
    """Units that failed calls of one kind left unfinished."""

    kind: str
    units: int
    example: str
    """The message of one of them."""

    @property
    def is_passing(self) -> bool:
        """Whether another try may change it."""
        return self.kind not in _FINAL_KINDS and not remedy_in(self.example)


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
    mistakes: Mapping[str, int] = field(default_factory=dict[str, int])
    """By class the errors of units whose first right answer is a call."""


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
        yield TrustRemark(WITHOUT_VERDICT, missing, held, text, _completing(failed, retry))
    replies = signs.get(REPLIES, 0)
    cut_short = _cut_short(signs, totals.max_tokens)
    if cut_short:
        text = f"{_of(cut_short, replies)} cut off before --max-tokens, where the context ended"
        yield TrustRemark(CONTEXT_END, cut_short, replies, text, LONGER_CONTEXT)
    for sign, (words, option) in _STOPPED.items():
        if count := signs.get(sign, 0) - (cut_short if sign == STOPPED[End.CUT] else 0):
            yield TrustRemark(sign, count, replies, words.format(_of(count, replies)), option)
    for sign, words in _ADAPTED.items():
        if count := signs.get(sign, 0):
            text = f"{count} of {counted(replies, 'request', 'requests')} sent with {words}, which the endpoint demands"
            yield TrustRemark(sign, count, replies, text, "")
    formats = {sign.removeprefix(UNREAD): n for sign, n in signs.items() if sign.startswith(UNREAD)}
    if count := sum(formats.values()):
        first = max(formats, key=formats.__getitem__)
        by = f"{totals.format} did not" if totals.format else "no format"
        text = f"{_of(count, replies)} have calls written as text that {by} read"
        text += f"; {totals.credited} units with them count as right" if totals.credited else ""
        option = _VIEW if totals.format else f"--tool-format {first or 'auto'}"
        yield TrustRemark("unread calls", count, replies, text, option)
    else:
        yield from _without_calls(totals)
    if (count := signs.get(CALL_FOR_TEXT, 0)) > (due := signs.get(TEXT_DUE, 0)) / 2:
        text = f"{count} of {counted(due, 'unit', 'units')} where a text was expected began with a call"
        yield TrustRemark(CALL_FOR_TEXT, count, due, text, "")
    for start, noun in ((MODEL, "models"), (FINGERPRINT, "system fingerprints")):
        names = Counter({sign.removeprefix(start): n for sign, n in signs.items() if sign.startswith(start)})
        if len(names) > 1:
            labels = [ellipsize(single_line(name), _LONGEST) for name, _ in names.most_common()]
            listing = first_names(labels, _MOST_NAMES)
            yield TrustRemark(noun, len(names), replies, f"{len(names)} {noun} answered ({listing})", "")
    counted_replies, answered = totals.with_tokens, totals.answered
    if 0 < counted_replies < answered:
        text = f"prompt tokens are known for {counted_replies} of {answered} units"
        yield TrustRemark("prompt tokens", counted_replies, answered, text, "")


def _without_calls(totals: VerdictTotals) -> Iterable[TrustRemark]:
    """What is wrong with the calls of a run without any that stayed in a text; one remark at most. A reply that another
    remark counts as empty, cut off or the like is not counted again."""
    signs = totals.signs
    replies, due = signs.get(REPLIES, 0), signs.get(CALL_DUE, 0)
    counted_already = sum(signs.get(sign, 0) for sign in _WITHOUT_CALL)
    texts = signs.get(TEXT_FOR_CALL, 0) - counted_already
    error, count = max(totals.mistakes.items(), key=lambda each: each[1], default=("", 0))
    if not totals.calls and signs.get(NEVER_CALLED, 0) > counted_already:
        remaining = replies - counted_already
        text = f"no call in {'the other ' if counted_already else ''}{counted(remaining, 'reply', 'replies')}"
        text += ", although tools were offered"
        text += f" in the format {totals.format}" if totals.format else ""
        option = _VIEW if totals.format else _NATIVE_ADVICE
        yield TrustRemark(NEVER_CALLED, remaining, replies, text, option)
    elif texts > due / 2:
        text = f"{texts} of {counted(due, 'unit', 'units')} where a call was expected began without one"
        text += f"; first call right in {signs.get(FIRST_RIGHT, 0)}"
        yield TrustRemark(TEXT_FOR_CALL, texts, due, text, "")
    elif due >= _FEWEST_UNITS and count >= _MOST_OF * due:
        text = f"{count} of {due} units that needed a call have one error ({single_line(error, _LONGEST)}); the endpoint "
        text += "or the format is the likelier cause"
        yield TrustRemark(ONE_ERROR, count, due, text, "`wildtool check` tests the endpoint")


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
    if sign in _ADAPTED:
        return f"the endpoint refuses the history as it is, so it gets {_ADAPTED[sign]}"
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


def _completing(failed: Sequence[FailureKind], retry: str) -> str:
    """What brings the units that failed to an end; empty where nothing does."""
    steps = remedies_of(failed)
    if any(OVERFLOWED in kind.example for kind in failed):
        steps.append(MORE_CONTEXT)
    return ", then ".join(["; ".join(steps), *([retry] if retry else [])] if steps else [retry])


def remedies_of(failed: Iterable[FailureKind]) -> list[str]:
    """What must be done for calls that an endpoint refuses for good, each once."""
    return list(dict.fromkeys(filter(None, (remedy_in(kind.example) for kind in failed))))


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
