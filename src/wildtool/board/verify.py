"""Verifies a submission: a bundle and the passport beside it. Everything is judged again from the recorded replies, and
compared with what the passport claims."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import file_digest
from math import isclose
from pathlib import Path
from typing import Any

from wildtool.board.passport import PASSPORT_SUFFIX, passport, rules_digest
from wildtool.check.answers import RawAnswer, read_raw_answer
from wildtool.engine.record.bundle import BUNDLE_SUFFIX, unpack_bundle
from wildtool.engine.record.reader import LoggedReply, LogReader
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.score.results import ScoreResult, open_results
from wildtool.engine.score.score import prepare_judging
from wildtool.engine.score.verdict_table import duckdb_error, forget_database, relation, verdicts_path
from wildtool.errors import DataError, RecordError, UsageError
from wildtool.json_codec import REPLY_LIMITS, as_object, as_objects, loads_within

AGAIN_SUFFIX = ".again.bundle.zip"
"""What the name of a bundle ends with in which the keeper of a board asked the model again."""
MOST_NAMED = 50
"""Ids that one problem names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What came of verifying one submission."""

    bundle: Path
    problems: tuple[str, ...]
    """Why it is refused; empty if it holds."""
    remarks: tuple[str, ...] = ()
    """What readers should know, and what refuses nothing."""
    result: ScoreResult | None = None
    """The numbers as they were recomputed; None if they could not be."""
    passport: Mapping[str, Any] | None = None
    """As recomputed; None likewise."""

    @property
    def name(self) -> str:
        return self.bundle.name.removesuffix(BUNDLE_SUFFIX)


def passport_of(bundle: Path) -> Path:
    """Where the passport of a bundle lies."""
    return bundle.with_name(bundle.name.removesuffix(BUNDLE_SUFFIX) + PASSPORT_SUFFIX)


def bundle_digest(bundle: Path) -> str:
    with bundle.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def verify(bundle: Path, *, data: str | None = None) -> Verification:
    """Verifies one submission; what is wrong with it is a problem, never an exception.

    Args: data: where the benchmark's data are; None for where the benchmark finds them.
    """
    if not bundle.is_file():
        return Verification(bundle=bundle, problems=("there is no such file",))
    claims, problems = _claims(bundle)
    try:
        folder = unpack_bundle(bundle)
        profile = as_object(claims.get("rules")).get("profile")
        return _recomputed(
            bundle, folder, claims, problems, profile if isinstance(profile, str) else None, data
        )
    except (RecordError, DataError, UsageError, OSError) as error:
        return Verification(bundle=bundle, problems=(*problems, str(error)))


def _claims(bundle: Path) -> tuple[Mapping[str, Any], list[str]]:
    """The passport beside a bundle, and what is wrong with it or with the bundle as a file."""
    place = passport_of(bundle)
    try:
        claims = as_object(loads_within(place.read_bytes(), REPLY_LIMITS))
    except FileNotFoundError:
        return {}, [
            f"{place.name}: there is no passport beside the bundle; make both by `wildtool submit prepare`"
        ]
    except (OSError, ValueError) as error:
        return {}, [f"{place.name}: no passport ({error})"]
    claimed, digest = as_object(claims.get("bundle")).get("sha256"), bundle_digest(bundle)
    if claimed == digest:
        return claims, []
    return claims, [f"{bundle.name}: its SHA-256 is {digest}, and the passport says {claimed}"]


def _recomputed(
    bundle: Path,
    folder: Path,
    claims: Mapping[str, Any],
    problems: list[str],
    profile: str | None,
    data: str | None,
) -> Verification:
    before = _verdicts_before(folder, profile)
    with open_results(folder, profile, data=data, again=True) as (result, table):
        now = _verdicts(table)
    replies = _compare_replies(folder)
    problems = [
        *problems,
        *result.remarks,
        *missing_units(folder, result, now, data),
        *_different_verdicts(before, now),
        *replies.problems,
        *_different_numbers(claims, result),
    ]
    remarks = list(replies.remarks)
    rules = as_object(claims.get("rules")).get("sha256")
    if claims and rules != rules_digest(result):
        remarks.append(
            "the rules have changed since it was submitted; its numbers are those of today's rules"
        )
    if result.evidence.failed:
        remarks.append(f"{result.evidence.failed} units ended in failed calls and count as not right")
    own = passport(result)
    findings = own["endpoint"]["findings"]
    remarks += [f"endpoint: {each['problem']} (defect {each['defect']})" for each in findings]
    return Verification(
        bundle=bundle, problems=tuple(problems), remarks=tuple(remarks), result=result, passport=own
    )


_Verdicts = Mapping[tuple[str, str, int], str]
"""Outcomes by item, unit and repeat."""


def _verdicts(table: Path) -> _Verdicts:
    rows = relation([table]).project("item, unit, repeat, outcome").fetchall()
    return {(item, unit, repeat): outcome for item, unit, repeat, outcome in rows}


def _verdicts_before(folder: Path, profile: str | None) -> _Verdicts:
    """The verdicts that the bundle holds; none where its table cannot be read."""
    try:
        return _verdicts(verdicts_path(folder, profile or read_run(folder)["identity"]["profile"]))
    except (OSError, duckdb_error()):
        forget_database()
        return {}


def missing_units(folder: Path, result: ScoreResult, verdicts: _Verdicts, data: str | None) -> Iterator[str]:
    """What of the benchmark the run left out, by ids: items outside its scope, and units that were never played."""
    selection = prepare_judging(folder, profile=result.profile, data=data).selection
    ids = {item.id for item in selection.items()}
    complete = replace(selection, limit=None, ids=(), sample=None)
    outside = [item.id for item in complete.items() if item.id not in ids]
    if outside:
        yield f"{_counted(len(outside), 'item')} left out of the run: {_named(outside)}"
    unplayed = [
        f"{item}/{unit}" + (f" (repeat {repeat})" if repeat else "")
        for (item, unit, repeat), outcome in verdicts.items()
        if outcome == "unplayed"
    ]
    if unplayed:
        yield f"{_counted(len(unplayed), 'unit')} not played: {_named(unplayed)}"


def _different_verdicts(before: _Verdicts, now: _Verdicts) -> Iterator[str]:
    other = [f"{item}/{unit}" for (item, unit, n), was in before.items() if now.get((item, unit, n)) != was]
    if other:
        yield f"{_counted(len(other), 'unit')} judged otherwise than the bundle says: {_named(other)}"


@dataclass(frozen=True, slots=True)
class _ReplyComparison:
    """What came of comparing recorded messages with their raw answers."""

    problems: tuple[str, ...]
    remarks: tuple[str, ...]


def _compare_replies(folder: Path) -> _ReplyComparison:
    """Compares each reply's message with what its raw answer says. Those that were changed on the way are left out, as
    are answers in other protocols."""
    replies = compared = 0
    places: list[str] = []
    with LogReader(folder, check_all=True) as reader:
        for item, repeat in reader.jobs():
            for unit, steps in reader.log(item, repeat).items():
                for number, came in steps.items():
                    if not isinstance(came, LoggedReply):
                        continue
                    replies += 1
                    if not came.reply.raw or came.reply.changes:
                        continue
                    answer = read_raw_answer("run", {}, came.reply.raw.encode("utf-8", "replace"))
                    recorded = replace(answer, message=came.reply.message)
                    compared += not answer.failure
                    if not answer.failure and _meaning(answer) != _meaning(recorded):
                        places.append(f"{item}/{unit} step {number}")
    different = f"{_counted(len(places), 'reply', 'replies')} not as the raw answer says: {_named(places)}"
    partly = (
        f"{compared:,} of {replies:,} replies were compared with their raw answers; the others have none, were changed "
        "on the way, or are in another protocol"
    )
    return _ReplyComparison((different,) if places else (), (partly,) if compared < replies else ())


def _meaning(answer: RawAnswer) -> tuple[object, ...]:
    return answer.text, [(call.name, call.arguments) for call in answer.calls]


def _different_numbers(claims: Mapping[str, Any], result: ScoreResult) -> Iterator[str]:
    """Claimed numbers that are not the recomputed ones, and missing claims."""
    if not claims:
        return
    claimed = {
        (each.get("group"), each.get("name")): each.get("value") for each in as_objects(claims.get("numbers"))
    }
    for metric in result.metrics:
        value = metric.value
        claim: Any = claimed.get((metric.group, metric.name), "nothing")
        # The record rounds times.
        tolerance = 1e-4 if metric.kind == "mean" else 0.0
        if value is None or not isinstance(claim, int | float):
            agrees = claim == value
        else:
            agrees = isclose(claim, value, abs_tol=1e-9, rel_tol=tolerance)
        if not agrees:
            yield f"{metric.group}, {metric.name}: the passport says {claim}, the replies give {value}"


def _counted(count: int, noun: str, plural: str = "") -> str:
    return f"1 {noun} is" if count == 1 else f"{count:,} {plural or noun + 's'} are"


def _named(ids: list[str]) -> str:
    """The first ids, by items; a unit's repeats once each."""
    every = list(Counter(ids))
    more = f" and {len(every) - MOST_NAMED:,} more" if len(every) > MOST_NAMED else ""
    return ", ".join(every[:MOST_NAMED]) + more
