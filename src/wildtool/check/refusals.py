"""Requests that the protocol allows and the endpoint refused, and what in them explains that.

A probe differs from its neighbours in few things. What a refused request holds and no accepted one does is suspect, and
the fewest suspects that explain all refusals are named.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from wildtool.check.answers import Answers, RawAnswer
from wildtool.check.defects import DefectKind
from wildtool.check.features import (
    FEATURES,
    WITHOUT_LIMIT,
    features_of,
    reasoning_goes_back,
    tool_count,
    tool_kilobytes,
)
from wildtool.check.follow_ups import DIAGNOSES
from wildtool.check.histories import ASKING, ENDING
from wildtool.check.ledger import Ledger
from wildtool.check.limits import LIMITS
from wildtool.episode import reasoning_fields
from wildtool.reply_ends import OVERFLOWED

_MAY_BE_REFUSED = ("unknown role", "history, malformed call", *DIAGNOSES)
"""Probes that are not sound, or whose refusal another rule judges."""
_HISTORIES = (*ASKING, *ENDING, "history, system message between")
_LIMITS = {probe.name for family in LIMITS for probe in family}
_TOOLS, _SIZE = "tools", "kB of tools"
_MEASURES = {_TOOLS: tool_count, _SIZE: tool_kilobytes}
"""By their words, what endpoints limit."""
_RANKS = {feature.words: rank for rank, feature in enumerate(FEATURES)}


@dataclass(frozen=True, slots=True)
class Suspect:
    """What may explain a refusal."""

    rank: int
    """The plainer, the lower."""
    kind: DefectKind
    """Of the defect."""
    words: str


def check_refusals(answers: Answers, ledger: Ledger) -> None:
    """Applies after all other rules: what they explain is not looked at."""
    explained = {
        (answer.probe, answer.streamed)
        for finding in ledger.findings
        if finding.kind != DefectKind.ERROR_WITH_STATUS_200
        for answer in finding.answers
    }
    accepted = [answer for group in answers.values() for answer in group if not answer.failure]
    if not accepted:
        return
    refused: list[RawAnswer] = []
    for name, group in answers.items():
        if name in _MAY_BE_REFUSED or name.startswith("load "):
            continue
        for answer in group:
            if not answer.unusable or (answer.probe, answer.streamed) in explained:
                continue
            if any(other.streamed == answer.streamed and not other.failure for other in group):
                ledger.remark(f"A request failed and was answered when sent again: {answer.failure}")
            elif OVERFLOWED in answer.failure:
                _note_overflow(answer, ledger)
            else:
                refused.append(answer)
    _explain(refused, accepted, ledger)
    _note_what_passed(answers, ledger)
    _note_what_says_nothing(answers, ledger)


def _note_what_says_nothing(answers: Answers, ledger: Ledger) -> None:
    """Requests that came too late or too often, which is no defect and leaves classes untested."""
    every = [answer for group in answers.values() for answer in group]
    late = sum(answer.timed_out for answer in every)
    if late:
        ledger.remark(f"Requests that were not answered in time: {late}; --timeout gives them longer.")
    limited = sum(answer.rate_limited for answer in every)
    if limited:
        ledger.remark(f"Requests that a rate limit refused again and again: {limited}; lower --concurrency.")


def _note_overflow(answer: RawAnswer, ledger: Ledger) -> None:
    """So many tools fit into no context of this model: a size, and no defect. A run's own requests have to fit."""
    if answer.probe in _LIMITS:
        ledger.remark(f"{answer.probe} exceed the context of the model: {answer.failure}")
    else:
        ledger.add(DefectKind.RUN_REQUEST_REFUSED, "a request exceeds the context of the model", answer)


def _explain(refused: Sequence[RawAnswer], accepted: Sequence[RawAnswer], ledger: Ledger) -> None:
    accepted_words = {feature.words for answer in accepted for feature in features_of(answer.sent)}
    most = {
        words: max((measure(answer.sent) for answer in accepted), default=0)
        for words, measure in _MEASURES.items()
    }
    unexplained = [(answer, {*_suspects(answer, accepted_words, most)}) for answer in refused]
    while any(suspects for _, suspects in unexplained):
        counts = Counter(suspect for _, suspects in unexplained for suspect in suspects)
        suspect = min(counts, key=lambda each: (-counts[each], each.rank, each.words))
        guilty = [answer for answer, suspects in unexplained if suspect in suspects]
        ledger.add(suspect.kind, _words(suspect, guilty, most), *guilty)
        unexplained = [(answer, suspects) for answer, suspects in unexplained if suspect not in suspects]
    for answer, _ in unexplained:
        ledger.add(
            DefectKind.RUN_REQUEST_REFUSED,
            f"refused, though each part of it is accepted elsewhere: {answer.probe}",
            answer,
        )


def _suspects(answer: RawAnswer, accepted_words: set[str], most: Mapping[str, int]) -> Iterable[Suspect]:
    for feature in features_of(answer.sent):
        if feature.words not in accepted_words:
            rank = _RANKS.get(feature.words, len(_RANKS))
            yield Suspect(rank, feature.kind, feature.words)
    for words, measure in _MEASURES.items():
        if measure(answer.sent) > most[words]:
            yield Suspect(len(_RANKS), DefectKind.MANY_TOOLS_REFUSED, words)


def _words(suspect: Suspect, guilty: Sequence[RawAnswer], most: Mapping[str, int]) -> str:
    if suspect.words not in _MEASURES:
        return suspect.words
    smallest = min(_MEASURES[suspect.words](answer.sent) for answer in guilty)
    return f"{smallest} {suspect.words} are refused, {most[suspect.words]} are accepted"


def _note_what_passed(answers: Answers, ledger: Ledger) -> None:
    def all_accepted(names: Iterable[str]) -> bool:
        groups = [answers.get(name, ()) for name in names]
        return bool(groups) and all(group and not any(a.failure for a in group) for group in groups)

    if all_accepted(_HISTORIES):
        ledger.passed(DefectKind.HISTORY_REFUSED)
    if all_accepted(family[0].name for family in LIMITS):
        ledger.passed(DefectKind.MANY_TOOLS_REFUSED)
    if _all_reasoning_goes_back(answers):
        ledger.passed(DefectKind.REASONING_IN_HISTORY)
    runs = [name for name, group in answers.items() if any(WITHOUT_LIMIT.is_in(a.sent) for a in group)]
    if all_accepted(runs):
        ledger.passed(DefectKind.RUN_REQUEST_REFUSED)


def _all_reasoning_goes_back(answers: Answers) -> bool:
    """Whether calls were accepted without reasoning, and with each kind of reasoning that came from the endpoint."""
    every = [answer for group in answers.values() for answer in group if not answer.failure]
    accepted_words = {feature.words for answer in every for feature in features_of(answer.sent)}
    came = {key for answer in every for key in reasoning_fields(answer.message)}
    has_called = any(answer.calls for answer in every)
    may_be_demanded = [feature for feature in FEATURES if feature.kind == DefectKind.REASONING_IN_HISTORY]
    sent_back = [reasoning_goes_back(key) for key in came]
    return has_called and accepted_words >= {feature.words for feature in (*may_be_demanded, *sent_back)}
