"""Fresh values for sessions that models may have memorised: entities are replaced consistently; structure stays.

Years move to one with the same calendar, so that weekdays, `tomorrow` and `this month` stay right; amounts of money are
multiplied by one number, so that sums, halves and differences stay right; names, places, titles, ids and contacts get new
ones of their kind. Times, quantities, words and enum members stay. A session whose rewriting leaves any doubt is refused.
"""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from wildtool.benchmarks.wildtoolbench.data import language_prefixes, read_records, read_session
from wildtool.benchmarks.wildtoolbench.lint import lint_records
from wildtool.errors import DataError
from wildtool.generate.core.dedup import NEAR_DUPLICATE_SCORE
from wildtool.generate.refresh.entities import UnclearError
from wildtool.generate.refresh.rewrite import Rewriter
from wildtool.json_codec import as_object
from wildtool.toolcall.text.similarity import NearDuplicateIndex, fold_text

_FIELDS = ("env_info", "tasks", "answer_list")
_DRAWS = 8
"""Draws of new values until no text is nearly one of another session."""


@dataclass(frozen=True, slots=True)
class UnchangedSession:
    """A session that was not rewritten, and why."""

    item: str
    reason: str


def refresh_session(record: Mapping[str, Any], seed: str) -> dict[str, Any]:
    """The session with fresh values, without the other texts that models proposed: those have the old values.

    Raises:
        UnclearError: with a place and a value whose role is unclear.
    """
    made = copy.deepcopy(dict(record))
    if "made_by" in made:
        made["made_by"] = {k: v for k, v in as_object(made["made_by"]).items() if k != "candidates"}
    for prefix in language_prefixes(record):
        names = [f"{prefix}_{name}" for name in _FIELDS if f"{prefix}_{name}" in record]
        if "answer_list" in record and f"{prefix}_answer_list" not in record:
            names.append("answer_list")
        draw = Random(f"{seed}/{record.get('id')}/{prefix}")
        rewriter = Rewriter(record, prefix, names, draw)
        for name in names:
            made[name] = rewriter.rewritten(record[name], "")
        rewriter.check({name: made[name] for name in names})
    _check_findings(record, made)
    return made


def refresh_file(
    path: Path, seed: str, refused: list[UnchangedSession], *, skip_unclear: bool
) -> Iterator[dict[str, Any]]:
    """The rewritten sessions of a file.

    Args:
        refused: gets the sessions that `skip_unclear` leaves out.

    Raises:
        DataError: for a file that is no session file, or a session in which the role of a value is unclear.
    """
    apart = _TextDeduplicator()
    for number, record in read_records(path):
        for prefix in language_prefixes(record) or [None]:
            # Says what is wrong with a record that is no session.
            read_session(record, f"{path}:{number}", prefix)
        try:
            yield apart.refreshed(record, seed)
        except UnclearError as unclear:
            if not skip_unclear:
                raise DataError(
                    f"{path}:{number}: {record.get('id')}: {unclear}; correct it, or leave such sessions out "
                    "with --skip-unclear"
                ) from unclear
            refused.append(UnchangedSession(str(record.get("id")), str(unclear)))


class _TextDeduplicator:
    """Keeps rewritten texts of a file distinct if the old ones were: new names could make two alike."""

    def __init__(self) -> None:
        self._old, self._new = (NearDuplicateIndex(NEAR_DUPLICATE_SCORE) for _ in range(2))

    def refreshed(self, record: Mapping[str, Any], seed: str) -> dict[str, Any]:
        """The session with fresh values; drawn again, a few times, if a text nearly repeats an earlier one.

        Raises:
            UnclearError: for a text that is so each time, or a value whose role is unclear.
        """
        old = _user_texts(record)
        alike = [self._old.first_near(text) is not None for text in old]
        near: list[str] = []
        for attempt in range(_DRAWS):
            made = refresh_session(record, f"{seed}/{attempt}" if attempt else seed)
            new = _user_texts(made)
            near = [
                text
                for text, known in zip(new, alike, strict=True)
                if not known and self._new.first_near(text) is not None
            ]
            if not near:
                for remembered, texts in ((self._old, old), (self._new, new)):
                    for text in texts:
                        remembered.add(text)
                return made
        raise UnclearError("a user text", near[0], "rewritten, it is nearly one of another session")


def _user_texts(record: Mapping[str, Any]) -> list[str]:
    """What users say in all languages of a session, as texts are compared."""
    return [
        fold_text(str(text)) for prefix in language_prefixes(record) for text in record[f"{prefix}_tasks"]
    ]


def _check_findings(old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Raises UnclearError if the rewritten session breaks a rule that the old one kept."""
    before = sum(1 for _ in lint_records([(1, dict(old))], "", balanced=False))
    after = list(lint_records([(1, dict(new))], "", balanced=False))
    if len(after) > before:
        raise UnclearError(after[0].where.split(" ", 2)[-1], "", f"rewritten, {after[0].message[:80]}")
