"""Parts of `review start`, `quick`, `stats` and `merge` that are about failures of a run."""

import getpass
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.engine.score.formatting import counted, first_names
from wildtool.errors import UsageError
from wildtool.terminal import print_err, print_out, single_line
from wildtool_review.commands.keys import typed_keys

if TYPE_CHECKING:
    from wildtool.engine.record.case_labels import CaseKey, LabelledCases
    from wildtool_review.bad_cases.reading import RunCases

DEFAULT_LABELS = "toleap"
_NO_BUNDLE = "labels are kept in the folder of a run, and this is a bundle; give the folder"
_KEYS = "1, 2, … label   t note   s save   n next   b back   q quit"


def is_run(place: Path) -> bool:
    """Whether a place is the folder of one run. Raises UsageError for a folder above runs, which is no set either, and
    for a bundle."""
    from wildtool.engine.record.bundle import holds_bundle

    if holds_bundle(place):
        raise UsageError(f"{place}: {_NO_BUNDLE}")
    if (place / "run.json").is_file() or not place.is_dir():
        return place.is_dir()
    from wildtool.engine.score.results import folders_below

    runs = [str(folder.relative_to(place)) for folder in folders_below(place)]
    if runs:
        raise UsageError(f"{place} holds runs; name one: {first_names(runs, 5)}")
    return False


def refuse_options(options: Mapping[str, Any]) -> None:
    """Raises UsageError for an option that only reviews of sets have. Args: options: by name what was given."""
    for name, value in options.items():
        if value is not None and value is not False:
            hint = "; who reads is --reader NAME" if name == "as" else ""
            raise UsageError(f"--{name} is about the review of a set, and not about failures of a run{hint}")


def start_bad_cases(
    place: Path, labels: str | None, sample: int | None, seed: str, profile: str | None
) -> None:
    """Draws failures of each run at or below a folder for people to read, and prints what was drawn."""
    from wildtool.engine.record.bundle import is_unpacked
    from wildtool.engine.score.results import run_folders
    from wildtool_review.bad_cases.label_sets import label_set
    from wildtool_review.bad_cases.reading import NothingToReadError, start_reading

    chosen = label_set(labels or DEFAULT_LABELS)
    folders = run_folders(place)
    read: Path | None = None
    for folder in folders:
        if is_unpacked(folder):
            raise UsageError(f"{place}: {_NO_BUNDLE}")
        try:
            cases = start_reading(folder, chosen, size=sample, seed=seed, profile=profile)
        except NothingToReadError as error:
            if len(folders) == 1:
                raise
            print_err(str(error))
            continue
        proposed = sum(map(bool, cases.proposals.values()))
        print_out(
            f"{folder}: {len(cases.proposals):,} of {counted(cases.failures, 'failure')} under {cases.profile} to read, "
            f"{proposed:,} with a label that a rule proposes"
        )
        read = read or folder
    if read is not None:
        word = shlex.quote(str(read))
        print_out(f"wildtool review {word} --reader NAME   in the browser")
        print_out(f"wildtool review quick {word} --reader NAME   in the terminal")


def print_bad_case_stats(folder: Path, *, as_json: bool) -> None:
    """Prints shares of labels, agreement of readers, and how often they kept what a rule proposed."""
    import json
    from dataclasses import asdict

    from wildtool.terminal.tables import print_metrics
    from wildtool_review.bad_cases.reading import reading_figures

    cases = started(folder)
    metrics = reading_figures(cases)
    if as_json:
        print(json.dumps([asdict(metric) for metric in metrics], indent=1))
        return
    print_metrics(metrics)
    for line in _progress(cases):
        print_out(line)


def _progress(cases: "LabelledCases") -> Sequence[str]:
    by_case = cases.by_case.values()
    lines = [
        f"{single_line(reader)} has read {sum(reader in said for said in by_case):,} of {len(cases.proposals):,} cases"
        for reader in cases.readers
    ]
    return lines or [f"nobody has read any of the {counted(len(cases.proposals), 'case')} yet"]


def started(folder: Path) -> "LabelledCases":
    """The failures of a run that people read. Raises UsageError if none were drawn."""
    from wildtool.engine.record.case_labels import labels_of_run

    cases = labels_of_run(folder)
    if cases is None:
        command = f"wildtool review start {shlex.quote(str(folder))} --failed"
        raise UsageError(f"{folder}: no failures were drawn yet; draw some: `{command}`")
    return cases


def read_bad_cases(folder: Path, reader: str | None) -> None:
    """Lets a person label the failures of a run, one after the other, by keys."""
    from wildtool_review.bad_cases.reading import RunCases

    cases = started(folder)
    name = reader or login_name()
    with RunCases(folder, cases.profile) as run:
        _Labelling(run, cases, name).run()
    for line in _progress(started(folder)):
        print_out(line)


def login_name() -> str:
    """The name of a reader who gives none. Raises UsageError if the user has none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise UsageError("this user has no login name; say who reads: --reader NAME") from None


@dataclass(slots=True)
class _Labelling:
    """One reader's way through the cases. What other readers said is not shown."""

    run_cases: "RunCases"
    cases: "LabelledCases"
    reader: str
    place: int = 0
    given: list[str] = field(default_factory=list[str])
    """Labels of the case that is shown, as they are chosen now."""
    note: str = ""
    saved: dict["CaseKey", tuple[tuple[str, ...], str]] = field(
        default_factory=dict["CaseKey", tuple[tuple[str, ...], str]]
    )
    """By case the labels and the note that count."""

    @property
    def keys(self) -> list["CaseKey"]:
        return [*self.cases.proposals]

    def run(self) -> None:
        """Shows cases and takes keys until the person quits."""
        for case, said in self.cases.by_case.items():
            if self.reader in said:
                self.saved[case] = said[self.reader].labels, said[self.reader].note
        self._open(self._next_unread(0))
        from wildtool_review.bad_cases.label_sets import LABEL_KEYS

        numbered = dict(zip(LABEL_KEYS, self.cases.labels, strict=False))
        for key in typed_keys():
            if key == "q":
                return
            if key in numbered:
                self._toggle(numbered[key])
            elif key == "t":
                self._take_note()
            elif key == "s":
                self._save()
            elif key in ("n", "b"):
                self._open(max(0, min(len(self.keys) - 1, self.place + (1 if key == "n" else -1))))
            else:
                print_out(_KEYS)

    def _take_note(self) -> None:
        try:
            self.note = input("note: ").strip()
        except (KeyboardInterrupt, EOFError):
            print_out("  the note stays as it was")
        self._print_choice()

    def _next_unread(self, place: int) -> int:
        order = [*range(place, len(self.keys)), *range(place)]
        return next((at for at in order if self.keys[at] not in self.saved), place % len(self.keys))

    def _toggle(self, name: str) -> None:
        if name in self.given:
            self.given.remove(name)
        else:
            self.given.append(name)
        self._print_choice()

    def _save(self) -> None:
        from wildtool.engine.score.label_metrics import NO_LABEL
        from wildtool_review.bad_cases.reading import save_reading

        case = self.keys[self.place]
        said = save_reading(self.run_cases.folder, self.cases, self.reader, case, self.given, self.note)
        self.saved[case] = said.labels, said.note
        print_out(f"  saved: {', '.join(map(single_line, said.labels)) or NO_LABEL}")
        if len(self.saved) == len(self.keys):
            print_out(f"all {len(self.keys):,} cases are read")
        self._open(self._next_unread(self.place + 1))

    def _open(self, place: int) -> None:
        """Shows a case with what was saved of it, or else what a rule proposes."""
        from wildtool_review.bad_cases.label_sets import LABEL_KEYS
        from wildtool_review.bad_cases.reading import bad_case_lines

        self.place = place
        case = self.keys[place]
        proposed = self.cases.proposals[case]
        labels, self.note = self.saved.get(case, (proposed, ""))
        self.given = [*labels]
        print_out()
        state = "saved" if case in self.saved else f"{len(self.keys) - len(self.saved):,} unread"
        print_out(f"{place + 1:,} of {len(self.keys):,}, {state}: {single_line(str(case))}")
        for line in bad_case_lines(self.run_cases.read(case)):
            for part in line.splitlines() or [""]:
                print_out(f"  {part}")
        for key, (name, about) in zip(LABEL_KEYS, self.cases.labels.items(), strict=False):
            rule = " (a rule proposes it)" if name in proposed else ""
            print_out(f"  {key} {single_line(name)}: {single_line(about, 1000)}{rule}")
        self._print_choice()

    def _print_choice(self) -> None:
        chosen = ", ".join(map(single_line, self.given)) or "none"
        note = f"; note: {single_line(self.note)}" if self.note else ""
        print_out(f"  labels: {chosen}{note}")
        print_out(_KEYS)
