"""Verifies a submission: a bundle and the passport beside it. Everything is judged again from the recorded replies, and
compared with what the passport claims."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import file_digest
from math import isclose
from pathlib import Path
from typing import Any

from wildtool.board.coverage import Coverage, coverage_of
from wildtool.board.passport import PASSPORT_SUFFIX, passport, rules_digest
from wildtool.board.replies import ReplyCheck, check_replies
from wildtool.board.wording import counted_are, id_list
from wildtool.engine.record.bundle import BUNDLE_SUFFIX, holds_bundle, unpack_bundle
from wildtool.engine.record.reader import LogReader
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.registry import names_in
from wildtool.engine.score.results import ScoreResult, open_results
from wildtool.engine.score.score import prepare_judging
from wildtool.engine.score.table_stamp import DamagedTableError, read_stamp
from wildtool.engine.score.verdict_table import (
    duckdb_error,
    forget_database,
    relation,
    unpacked_size,
    verdicts_path,
)
from wildtool.errors import RecordError, UsageError, WildtoolError
from wildtool.interrupts import raise_interrupt
from wildtool.json_codec import REPLY_LIMITS, as_object, as_objects, loads_within
from wildtool.sanitize import single_line
from wildtool.temporary import lasting_files

AGAIN_SUFFIX = ".again.bundle.zip"
"""What the name of a bundle ends with in which the keeper of a board asked the model again."""
RECOMPUTED = "recomputed"
"""Mark of a submission whose every reply has its raw answer and its request."""
AS_SUBMITTED = "as submitted"
"""Mark of any other submission that holds."""
_LONGEST_LINE = 5_000
"""Characters of what is said of one submission."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What came of verifying one submission."""

    bundle: Path
    problems: tuple[str, ...]
    """Why it is refused; empty if it holds."""
    doubts: tuple[str, ...] = ()
    """Why its replies are its submitter's word; empty if each has its raw answer and its request."""
    remarks: tuple[str, ...] = ()
    """What readers should know, and what refuses nothing."""
    result: ScoreResult | None = None
    """The numbers as they were recomputed; None if they could not be."""
    passport: Mapping[str, Any] | None = None
    """As recomputed; None likewise."""
    coverage: Coverage | None = None
    """What of the benchmark's data it has; None likewise."""
    raw_digests: Mapping[str, int] = field(default_factory=dict[str, int])
    """How often each raw answer of the model under test occurs, by its SHA-256."""

    @property
    def name(self) -> str:
        return self.bundle.name.removesuffix(BUNDLE_SUFFIX)

    @property
    def endpoint(self) -> list[str]:
        """What the recorded raw answers show of the endpoint."""
        findings = as_objects(as_object(as_object(self.passport).get("endpoint")).get("findings"))
        return [f"{each['problem']} (defect {each['defect']})" for each in findings]

    @property
    def refusal(self) -> str:
        """Why it is refused, on one line."""
        return single_line("; ".join(self.problems), _LONGEST_LINE)

    @property
    def mark(self) -> str:
        """What was done with a submission that holds. One reply in doubt marks all of it."""
        return AS_SUBMITTED if self.doubts else RECOMPUTED


def submissions_in(folder: Path) -> list[Path]:
    """The bundles of the submissions in a folder at any depth, sorted; the keeper's own runs beside them are none. Raises
    UsageError where there is none."""
    bundles = [
        file
        for file in lasting_files(folder, "*.zip")
        if not file.name.endswith(AGAIN_SUFFIX) and holds_bundle(file)
    ]
    if not bundles:
        raise UsageError(f"{folder}: holds no submission; make one by `wildtool board submit RUN`")
    return bundles


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
    problems: list[str] = []
    try:
        claims, problems = _claims(bundle)
        folder = unpack_bundle(bundle)
        claimed = as_object(claims.get("rules")).get("profile")
        profile = names_in(read_run(folder)).now(claimed) if isinstance(claimed, str) else None
        return _recomputed(bundle, folder, claims, problems, profile, data)
    except Exception as error:  # noqa: BLE001 - a stranger's file must not end the board of all others
        return Verification(bundle=bundle, problems=(*problems, what_failed(error)))


def what_failed(error: Exception) -> str:
    """What is said of a stranger's file that ended in an error. Raises KeyboardInterrupt for a stop."""
    raise_interrupt(error)
    if isinstance(error, WildtoolError | OSError):
        return str(error)
    return (
        f"wildtool failed on it ({type(error).__name__}: {error}); please report this as a bug, with the file"
    )


def _claims(bundle: Path) -> tuple[Mapping[str, Any], list[str]]:
    """The passport beside a bundle, and what is wrong with it or with the bundle as a file."""
    place = passport_of(bundle)
    try:
        claims = as_object(loads_within(place.read_bytes(), REPLY_LIMITS))
    except FileNotFoundError:
        return {}, [
            f"{place.name}: there is no passport beside the bundle; make both by `wildtool board submit`"
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
    job = prepare_judging(folder, profile=profile, data=data)
    _check_repeats(folder, job.run_json["scope"]["repeats"])
    units = sum(len(item.units) for item, _ in job.selection.jobs())
    if not units:
        raise RecordError("its scope selects no item of the data; make the submission again from the run")
    before = _verdicts_before(verdicts_path(folder, job.run_info.profile_in_run), units)
    with open_results(folder, profile, data=data, again=True) as (result, table):
        now = _verdicts(table)
    replies = check_replies(folder, job)
    coverage = coverage_of(result, job.selection)
    problems = [
        *problems,
        *result.remarks,
        *coverage.problems,
        *_unplayed_units(now),
        *_different_verdicts(before, now),
        *replies.problems,
        *_different_numbers(claims, result),
    ]
    own = passport(result)
    return Verification(
        bundle=bundle,
        problems=tuple(problems),
        doubts=(*replies.doubts, *_failed_units(result)),
        remarks=tuple(_remarks(claims, result, replies)),
        result=result,
        coverage=coverage,
        passport=own,
        raw_digests=replies.raw_digests,
    )


def _check_repeats(folder: Path, repeats: int) -> None:
    """Raises RecordError for a run that says that it has more repeats than its record: a number alone must not decide
    how much there is to judge."""
    with LogReader(folder) as reader:
        recorded = 1 + max((repeat for _, repeat in reader.jobs()), default=0)
    if repeats > recorded:
        raise RecordError(
            f"run.json says that each item was run {repeats:,} times, and the record holds {recorded:,}; make the "
            "submission again from the run, once it is complete"
        )


def _remarks(claims: Mapping[str, Any], result: ScoreResult, replies: ReplyCheck) -> Iterator[str]:
    """What readers should know, and what refuses nothing."""
    if claims and as_object(claims.get("rules")).get("sha256") != rules_digest(result):
        yield "the rules have changed since it was submitted; its numbers are those of today's rules"
    served = [name for name in replies.served if name]
    if served and served != [result.model]:
        yield f"its raw answers say that they are of {id_list(served)}"


_Verdicts = Mapping[tuple[str, str, int], str]
"""Outcomes by item, unit and repeat."""


def _verdicts(table: Path) -> _Verdicts:
    rows = relation([table]).project("item, unit, repeat, outcome").fetchall()
    return {(item, unit, repeat): outcome for item, unit, repeat, outcome in rows}


_LARGEST_TABLE = 1 << 30
"""Bytes that a table in a bundle says that it has when it is unpacked."""


def _verdicts_before(table: Path, units: int) -> _Verdicts:
    """The verdicts that the bundle holds; none where it has no table. Of a table of more rows than the run has units so
    many are read that one of them is no unit of it, or occurs twice.

    Raises RecordError where the table cannot be read.
    """
    if not table.exists():
        return {}
    columns = "CAST(item AS VARCHAR), CAST(unit AS VARCHAR), CAST(repeat AS BIGINT), CAST(outcome AS VARCHAR)"
    try:
        read_stamp(table)
        if unpacked_size(table) > _LARGEST_TABLE:
            raise OSError("it is too large")
        rows = relation([table]).limit(units + 1).project(columns).fetchall()
    except (OSError, DamagedTableError, duckdb_error()) as error:
        forget_database()
        raise RecordError(
            f"{table.name}: the verdicts of the bundle cannot be read ({error}); export it again"
        ) from error
    verdicts = {(item, unit, repeat): outcome for item, unit, repeat, outcome in rows}
    if len(verdicts) < len(rows):
        raise RecordError(f"{table.name}: a unit has several verdicts; export the bundle again")
    return verdicts


def _unplayed_units(verdicts: _Verdicts) -> Iterator[str]:
    """The units that were never played, by ids."""
    unplayed = [
        f"{item}/{unit}" + (f" (repeat {repeat})" if repeat else "")
        for (item, unit, repeat), outcome in verdicts.items()
        if outcome == "unplayed"
    ]
    if unplayed:
        yield f"{counted_are(len(unplayed), 'unit')} not played: {id_list(unplayed)}"


def _failed_units(result: ScoreResult) -> Iterator[str]:
    """That some units have no verdict of their own. The record alone says why."""
    if failed := result.evidence.failed:
        units = "1 unit" if failed == 1 else f"{failed:,} units"
        yield f"{units} ended in failed calls, of which there is no raw answer, and count as not right"


def _different_verdicts(before: _Verdicts, now: _Verdicts) -> Iterator[str]:
    other = [
        f"{item}/{unit}"
        for (item, unit, repeat), was in before.items()
        if now.get((item, unit, repeat), "no unit of the run") != was
    ]
    if other:
        yield f"{counted_are(len(other), 'unit')} judged otherwise than the bundle says: {id_list(other)}"


def _different_numbers(claims: Mapping[str, Any], result: ScoreResult) -> Iterator[str]:
    """Claimed numbers that are not the recomputed ones, and missing claims."""
    if not claims:
        return
    claimed = {
        (str(each.get("group")), str(each.get("name"))): each.get("value")
        for each in as_objects(claims.get("numbers"))
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
            yield f"{metric.group}, {metric.name}: the passport says {single_line(claim)}, the replies give {value}"
