"""What came between a model and its numbers: one remark for each thing, with the option that corrects it."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wildtool.advice import REFUSED_FOR_GOOD, Advice
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
    IN_TEXT_TOO,
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
from wildtool.errors import BLOCKED_PROMPT, NOT_RECORDED, TOOLS_MISSING
from wildtool.evidence import Evidence
from wildtool.json_codec import as_object
from wildtool.models.http.deltas import (
    ARGUMENTS_REPEATED,
    IDS_CHANGE,
    INDEX_AS_TEXT,
    NAME_IN_PIECES,
    NAME_REPEATED,
    NO_INDEX,
    SHARED_INDEX,
    UNCLEAR_CALLS,
)
from wildtool.models.token_usage import token_usage
from wildtool.reply_ends import OVERFLOWED, End, remedy_in, without_remedy
from wildtool.sanitize import ellipsize, single_line
from wildtool.types import STREAM_CHANGE, Reply

ABSENT, WITHOUT_VERDICT = "absent", "without a verdict"
MISSING_SIGNS = frozenset({ABSENT, WITHOUT_VERDICT})
"""Signs of remarks on units that have no verdict."""
CONTEXT_END = "context end"
IMPORTED = "imported"
"""Kind of a failed call that an imported file holds, which nothing here can send again."""
_ANSWERED_ALIKE = frozenset(
    {
        BLOCKED_PROMPT,
        NOT_RECORDED,
        TOOLS_MISSING,
        IMPORTED,
        "unsendable request",
        "prompt too long",
        "no gold",
    }
)
"""Kinds of failed calls that end the same way each time."""
_REFUSED = frozenset({"http 400", "http 413", "http 422"})
"""Kinds of failed calls whose request the endpoint does not take."""
ONE_ERROR = "one error"
"""Sign of a remark that nearly all units that needed a call have the same error."""
_LONGEST = 60
_MARK = re.compile(r"<[|｜]?[A-Za-z_][^<>\s=]{0,30}[=>]|\[[A-Z_]{3,20}\]|```|\bAction\b")
"""How calls in text begin in most formats."""
_MOST_NAMES = 3
_STOPPED = {
    STOPPED[End.CUT]: ("{} cut off at a token limit", Advice.MORE_TOKENS),
    STOPPED[End.FILTERED]: ("{} filtered by the provider", ""),
    STOPPED[End.REFUSED]: ("{} refused by the provider", ""),
    STOPPED[End.MALFORMED]: (
        "{} ended by a call that the provider could not read",
        Advice.RUN_IN_AUTO_FORMAT,
    ),
    STOPPED[End.UNFINISHED]: ("{} not finished by the provider", Advice.SAME_COMMAND),
    STOPPED[End.UNKNOWN]: ("{} ended for no known reason, so some may be cut off", ""),
    EMPTY: ("{} empty", Advice.VIEW),
    IN_REASONING: ("{} with a call that the server left in the reasoning", Advice.CHECK),
    LEGACY: ("{} with a call under the retired `function_call`, which is not read", Advice.CHECK),
    NAMELESS: ("{} with tool_calls that name no function", Advice.VIEW),
    OBJECT_ARGUMENTS: ("{} with arguments as objects, where a JSON text is the rule", Advice.CHECK),
    ENCODED_TWICE: ("{} with arguments that are encoded twice", Advice.CHECK),
    NO_ID: ("{} with calls that have no id", Advice.CHECK),
    EQUAL_IDS: ("{} with several calls of one id", Advice.CHECK),
    SAME_CALL: ("{} with the same call twice", Advice.CHECK),
    IN_TEXT_TOO: (
        "{} with the same call in `tool_calls` and in the text, where it is not read",
        Advice.CHECK,
    ),
    INVENTED: ("{} with results that the model invented", ""),
    EVERY_TOOL: ("{} with calls of every offered tool", Advice.VIEW),
    f"{STREAM_CHANGE}{INDEX_AS_TEXT}": (
        "{} streamed with the index of a call as a text, read as a number",
        "",
    ),
    f"{STREAM_CHANGE}{NO_INDEX}": ("{} streamed with calls without an index, read by id and order", ""),
    f"{STREAM_CHANGE}{SHARED_INDEX}": ("{} streamed with several calls at one index, read as several", ""),
    f"{STREAM_CHANGE}{NAME_REPEATED}": ("{} streamed with the name of a call repeated, read once", ""),
    f"{STREAM_CHANGE}{NAME_IN_PIECES}": ("{} streamed with the name of a call in pieces, joined", ""),
    f"{STREAM_CHANGE}{IDS_CHANGE}": (
        "{} streamed with another id in each piece of a call, read as one call",
        "",
    ),
    f"{STREAM_CHANGE}{ARGUMENTS_REPEATED}": ("{} streamed with arguments sent again, read once", ""),
    f"{STREAM_CHANGE}{UNCLEAR_CALLS}": (
        "{} streamed with pieces that may be of either of two calls",
        Advice.VIEW,
    ),
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


@dataclass(frozen=True, slots=True)
class FailureKind:
    """Units that failed calls of one kind left unfinished."""

    kind: str
    units: int
    example: str
    """The message of one of them."""

    @property
    def is_refusal(self) -> bool:
        """Whether the endpoint does not take the request as it is, whatever its length."""
        return self.kind in _REFUSED and not self.overflowed and Advice.SERVER_PARSER not in self.example

    @property
    def is_final(self) -> bool:
        """Whether the same request would fail in the same way again."""
        return self.kind in _ANSWERED_ALIKE or self.is_refusal or bool(remedy_in(self.example))

    @property
    def overflowed(self) -> bool:
        return OVERFLOWED in self.example


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
    """Units whose tokens of prompt, or of replies if fewer, are known; 0 where no endpoint counts them."""
    max_tokens: int | None = None
    """The limit of tokens that was sent with each request; None for none."""
    addresses: Mapping[str, str] = field(default_factory=dict[str, str])
    """Where the model gave its replies, each address with the time of the first start there."""
    format: str = ""
    """The format in which calls were read from text; empty for native calls."""
    read_again: bool = False
    """Whether recorded replies were read again in that format, which sent nothing."""
    imported: bool = False
    """Whether the replies came from elsewhere, so that no command of ours made them."""
    mistakes: Mapping[str, int] = field(default_factory=dict[str, int])
    """By class the errors of units whose first right answer is a call."""


def trust_remarks(
    evidence: Evidence,
    totals: VerdictTotals,
    failed: Sequence[FailureKind] = (),
    retry: str = Advice.SAME_COMMAND,
) -> Iterable[TrustRemark]:
    """The remarks on a run, the gravest first; none for one that went well.

    Args:
        evidence: of the whole run.
        failed: what ended the failed units.
        retry: what completes the run; empty where nothing does.
    """
    yield from _without_verdict(evidence, totals, failed, retry)
    in_texts = list(_calls_in_texts(totals))
    yield from in_texts
    yield from _odd_replies(totals)
    if not in_texts:
        # After the remarks on single replies, which it does not count again.
        yield from _without_calls(totals)
    signs = totals.signs
    if (count := signs.get(CALL_FOR_TEXT, 0)) > (due := signs.get(TEXT_DUE, 0)) / 2:
        text = f"{count} of {counted(due, 'unit', 'units')} where a text was expected began with a call"
        yield TrustRemark(CALL_FOR_TEXT, count, due, text, "")
    yield from _what_answered(totals)
    counted_replies, answered = totals.with_tokens, totals.answered
    if 0 < counted_replies < answered:
        text = f"tokens are known for {counted_replies} of {answered} units"
        yield TrustRemark("prompt tokens", counted_replies, answered, text, "")


def _without_verdict(
    evidence: Evidence, totals: VerdictTotals, failed: Sequence[FailureKind], retry: str
) -> Iterable[TrustRemark]:
    """The remarks on units that are not here, failed or were not played."""
    absent = totals.absent
    held = evidence.units - absent
    if absent:
        text = f"only {held} of {evidence.units} units are here; the numbers are of these"
        yield TrustRemark(ABSENT, absent, evidence.units, text, "")
    if missing := evidence.missing - absent:
        text = _missing_units(evidence, missing, held, failed)
        if missing == held:
            text += ", so nothing was measured"
        else:
            low, high = (100 * right / held for right in (totals.correct, totals.correct + missing))
            text += f" and count as not right: {low:.1f} % correct, at most {high:.1f} %"
        yield TrustRemark(WITHOUT_VERDICT, missing, held, text, completing(failed, retry))


def _odd_replies(totals: VerdictTotals) -> Iterable[TrustRemark]:
    """The remarks on single replies that were cut off, empty or the like, and on requests that were adapted."""
    signs, replies = totals.signs, totals.signs.get(REPLIES, 0)
    cut_short = _cut_short(signs, totals.max_tokens)
    if cut_short:
        text = f"{_of(cut_short, replies)} cut off before --max-tokens, where the context ended"
        yield TrustRemark(CONTEXT_END, cut_short, replies, text, _for_run(Advice.LONGER_CONTEXT_RUN, totals))
    for sign, (words, option) in _STOPPED.items():
        if count := signs.get(sign, 0) - (cut_short if sign == STOPPED[End.CUT] else 0):
            yield TrustRemark(
                sign, count, replies, words.format(_of(count, replies)), _for_run(option, totals)
            )
    for sign, words in _ADAPTED.items():
        if count := signs.get(sign, 0):
            text = f"{count} of {counted(replies, 'request', 'requests')} sent with {words}, which the endpoint demands"
            yield TrustRemark(sign, count, replies, text, "")


def _what_answered(totals: VerdictTotals) -> Iterable[TrustRemark]:
    """The remarks on several models, systems or addresses that answered."""
    signs, replies = totals.signs, totals.signs.get(REPLIES, 0)
    for start, noun in ((MODEL, "models"), (FINGERPRINT, "system fingerprints")):
        names = Counter({sign.removeprefix(start): n for sign, n in signs.items() if sign.startswith(start)})
        if len(names) > 1:
            labels = [ellipsize(single_line(name), _LONGEST) for name, _ in names.most_common()]
            listing = first_names(labels, _MOST_NAMES)
            yield TrustRemark(noun, len(names), replies, f"{len(names)} {noun} answered ({listing})", "")
    if (count := len(totals.addresses)) > 1:
        starts = [f"{address} from {_minute(time)}" for address, time in totals.addresses.items()]
        text = f"replies from {count} addresses: {first_names(starts, _MOST_NAMES)}"
        yield TrustRemark("addresses", count, replies, text, "")


def _minute(time: str) -> str:
    """A time of a record, such as 2026-11-29T12:01:07+00:00, without what is finer than a minute."""
    return time[:16].replace("T", " ")


def _calls_in_texts(totals: VerdictTotals) -> Iterable[TrustRemark]:
    """The remark on calls in texts that nothing read, or that were read again."""
    signs, replies = totals.signs, totals.signs.get(REPLIES, 0)
    formats = {sign.removeprefix(UNREAD): n for sign, n in signs.items() if sign.startswith(UNREAD)}
    if count := sum(formats.values()):
        by = f"{totals.format} did not" if totals.format else "no format"
        text = f"{_of(count, replies)} have calls written as text that {by} read"
        text += f"; {totals.credited} units with them count as right" if totals.credited else ""
        yield TrustRemark("unread calls", count, replies, text, _reading(formats, totals))
    elif totals.read_again and (due := signs.get(CALL_DUE, 0)):
        right = signs.get(FIRST_RIGHT, 0)
        text = (
            f"read as {totals.format}, {right} of {counted(due, 'unit', 'units')} begin with the right call"
        )
        yield TrustRemark(FIRST_RIGHT, right, due, text, "")


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
        native = f"{Advice.READING_SERVER}, or {Advice.RUN_IN_AUTO_FORMAT}"
        option = Advice.VIEW if totals.format or totals.imported else native
        yield TrustRemark(NEVER_CALLED, remaining, replies, text, option)
    elif texts > due / 2:
        text = f"{texts} of {counted(due, 'unit', 'units')} where a call was expected began without one"
        text += f"; first call right in {signs.get(FIRST_RIGHT, 0)}"
        yield TrustRemark(TEXT_FOR_CALL, texts, due, text, "")
    elif due >= _FEWEST_UNITS and count >= _MOST_OF * due and count > counted_already:
        text = f"{count} of {due} units that needed a call have one error ({single_line(error, _LONGEST)}); the endpoint "
        text += "or the format is the likelier cause"
        yield TrustRemark(ONE_ERROR, count, due, text, _for_run(Advice.TEST, totals))


def _reading(formats: Mapping[str, int], totals: VerdictTotals) -> str:
    """What reads calls that are written as text. The record comes first: to read it costs no call, and a run in a format
    sends another prompt.

    Args:
        formats: of these calls with the number of replies; an empty one for calls that no format reads.
    """
    known = {name: count for name, count in formats.items() if name and name != totals.format}
    if totals.format and not totals.read_again:
        return Advice.VIEW
    if not known:
        return Advice.VIEW if totals.format or totals.imported else Advice.RUN_IN_AUTO_FORMAT
    name = max(known, key=known.__getitem__)
    read = Advice.READ_AGAIN.format(format=name)
    return read if totals.imported else f"{read}; {Advice.RUN_IN_FORMAT.format(format=name)}"


def _for_run(option: str, totals: VerdictTotals) -> str:
    """An option, where there is a command that made the replies and that can be given again."""
    return option if option in (Advice.VIEW, "") or not totals.imported else ""


def completing(failed: Sequence[FailureKind], retry: str = Advice.SAME_COMMAND) -> str:
    """What completes a run with failed calls: the same command only where it can be answered otherwise.

    Args:
        failed: what ended the failed units.
        retry: what completes the run; empty where nothing does.
    """
    if not retry:
        return lasting_advice(failed)
    if any(kind.overflowed for kind in failed):
        retry = f"{Advice.LONGER_CONTEXT}, then {retry}; or {Advice.FEWER_TOKENS}"
    remedies = remedies_of(failed)
    return f"{retry}; for what would fail again: {'; '.join(remedies)}" if remedies else retry


def lasting_advice(final: Sequence[FailureKind]) -> str:
    """What to do about calls that fail in the same way each time; empty where nothing was sent that could change."""
    refused = REFUSED_FOR_GOOD if any(kind.is_refusal for kind in final) else ""
    return "; ".join(remedies_of(final)) or refused


def remedies_of(failed: Iterable[FailureKind]) -> list[str]:
    """What must be done for calls that an endpoint refuses for good, each once."""
    return list(dict.fromkeys(filter(None, (remedy_in(kind.example) for kind in failed))))


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
        return (
            f"a reply was cut off before --max-tokens, where the context ended: {Advice.LONGER_CONTEXT_RUN}"
        )
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
    if not (format_ := sign.removeprefix(UNREAD)):
        return f"{remark}: {Advice.RUN_IN_AUTO_FORMAT}"
    return (
        f"{remark}: {Advice.READ_AGAIN.format(format=format_)}; {Advice.RUN_IN_FORMAT.format(format=format_)}"
    )


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
    """The message of the first failed call, without the remedy, which lines of their own name."""
    return single_line(without_remedy(failed[0].example.removeprefix(f"{failed[0].kind}: ")), 300)
