"""The command `review quick`: own cases, or failures of a run, in the terminal."""

import os
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from wildtool.cli.command import arg, opt
from wildtool.errors import DataError, UsageError
from wildtool.terminal import print_out
from wildtool_review.commands.bad_cases import is_run, read_bad_cases
from wildtool_review.commands.keys import typed_keys
from wildtool_review.commands.options import READER_OPTION

if TYPE_CHECKING:
    from wildtool_review.drafts.quick import QuickReview

_KEYS = "k keep   r reject   e edit   n next   b back   u undo   q quit"


def quick(
    file: Path = arg(
        "FILE|RUN",
        "Own cases, such as drafts of `wildtool review import`; or a run of which failures were drawn.",
        show_default=False,
    ),
    out: Path | None = opt("-o FILE", "File of kept cases, beside FILE (default: NAME.kept.yaml)."),
    reader: str | None = READER_OPTION,
) -> None:
    """Keep or reject own cases in the terminal, one key a case; or label failures of a run.

    \b
    Examples:
      wildtool review quick cases.yaml
      wildtool review quick cases.yaml -o shop.yaml
      wildtool review quick runs/wild-mini --reader ann

    FILE is not changed. Each decision is saved at once, and the same command continues at the next undecided case. A
    rejected case is skipped in the file of kept cases. What `wildtool data lint` would refuse is not kept: `e` opens the
    case in $EDITOR, and keeps it as you leave it.

    Failures of a run were drawn by `wildtool review start RUN --failed`. Each reader labels them without seeing what
    others say, and `wildtool review stats RUN` shows shares and agreement. `wildtool review RUN` is the same in the
    browser.
    """
    from wildtool.outputs import sole_writer
    from wildtool_review.drafts.quick import open_quick_review

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        is_run(file)  # a folder above runs is refused first
        command = f"wildtool review {shlex.quote(str(file))}"
        raise UsageError(f"review quick asks for keys, so it needs a terminal; in the browser: `{command}`")
    if is_run(file):
        if out is not None:
            raise UsageError("--out is about own cases; labels of failures are kept in the folder of the run")
        read_bad_cases(file, reader)
        return
    if reader is not None:
        raise UsageError("--reader is about failures of a run; give the folder of one")
    review = open_quick_review(file, out)
    with sole_writer(review.out):
        _Keys(review).run()
    kept, open_ = len(review.decided) - review.rejected, len(review.undecided)
    print_out(f"{review.out}: {kept} kept, {review.rejected} rejected, {open_} undecided")
    if kept:
        print_out(f"wildtool run {shlex.quote(str(review.out))} --model baseline/gold")


@dataclass(slots=True)
class _Keys:
    """A review that is steered by keys."""

    review: "QuickReview"
    at: str = ""
    """The id of the case that is shown; empty once nothing is undecided."""
    typed: dict[str, str] = field(default_factory=dict[str, str])
    """By id what was typed in the editor and could not be kept."""

    def run(self) -> None:
        """Shows cases and takes keys until the person quits."""
        self.at = next(iter(self.review.undecided), next(iter(self.review.drafts)))
        self._show()
        actions = {
            "k": self._keep,
            "r": self._reject,
            "e": self._edit,
            "n": lambda: self._move(1),
            "b": lambda: self._move(-1),
            "u": self._undo,
        }
        for key in typed_keys():
            if key == "q":
                return
            if key not in actions or not (self.at or key in ("b", "u")):
                print_out(_KEYS)
                continue
            try:
                actions[key]()
            except (UsageError, DataError) as error:
                print_out(f"  {error}")
                print_out(_KEYS)

    def _keep(self) -> None:
        self.review.keep(self.at, self.review.shown(self.at))
        self._go_on("kept")

    def _reject(self) -> None:
        self.review.reject(self.at)
        self._go_on("rejected")

    def _edit(self) -> None:
        """Opens the case in the editor, and keeps it as it is left there."""
        before = self.typed.get(self.at) or self._edited_text()
        after = _text_from_editor(before)
        if after == before:
            print_out("  nothing was changed")
            print_out(_KEYS)
            return
        self.typed[self.at] = after
        self.review.keep(self.at, _case_of_text(after))
        self.typed.pop(self.at)
        self._go_on("kept as edited")

    def _edited_text(self) -> str:
        from wildtool_review.drafts.case_drafts import case_as_yaml
        from wildtool_review.drafts.quick import review_notes

        case = self.review.shown(self.at)
        # What is longest comes last.
        ordered = {key: case[key] for key in sorted(case, key=lambda key: key == "tools")}
        notes = "".join(f"# {line}\n" for note in review_notes(case) for line in note.splitlines())
        return f"{notes}{case_as_yaml(ordered)}"

    def _undo(self) -> None:
        undone = self.review.undo()
        print_out(f"  undone: {undone}" if undone else "  nothing was decided since the start")
        self.at = undone or self.at
        self._show()

    def _move(self, step: int) -> None:
        ids = [*self.review.drafts]
        place = ids.index(self.at) + step if self.at else len(ids) - 1
        if 0 <= place < len(ids):
            self.at = ids[place]
        else:
            print_out("  this is the last case" if step > 0 else "  this is the first case")
        self._show()

    def _go_on(self, said: str) -> None:
        """Says what was decided, and shows the next undecided case: behind this one, else from the start."""
        print_out(f"  {said}: {self.at}")
        ids, left = [*self.review.drafts], set(self.review.undecided)
        place = ids.index(self.at)
        self.at = next((id_ for id_ in (*ids[place:], *ids[:place]) if id_ in left), "")
        self._show()

    def _show(self) -> None:
        from wildtool.sanitize import escape_text
        from wildtool_review.drafts.quick import case_lines, review_notes

        review = self.review
        total = len(review.drafts)
        print_out()
        if not self.at:
            print_out(f"all {total} cases are decided: u undo   b back   q quit")
            return
        choice = review.choice(self.at)
        place = [*review.drafts].index(self.at) + 1
        decided = f" ({choice})" if choice else ""
        print_out(f"{place} of {total}, {len(review.undecided)} undecided: {escape_text(self.at)}{decided}")
        case = review.shown(self.at)
        for line in (*case_lines(case), *(f"! {note}" for note in review_notes(case))):
            for part in line.splitlines() or [""]:
                print_out(f"  {escape_text(part)}")
        print_out(_KEYS)


def _text_from_editor(text: str) -> str:
    """A text as a person leaves it in their editor. Raises UsageError if there is no editor, or it fails."""
    from wildtool.children import run_in_terminal
    from wildtool.temporary import temporary_folder

    command = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not command:
        raise UsageError("no editor is named: set EDITOR, such as `export EDITOR=nano`")
    with temporary_folder() as place:
        path = Path(place) / "case.yaml"
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
        try:
            status = run_in_terminal([*shlex.split(command), str(path)])
            edited = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise UsageError(f"the editor {command!r} (EDITOR) cannot be used: {error}") from error
    if status:
        raise UsageError(f"the editor {command!r} ended with status {status}; nothing is changed")
    return edited


def _case_of_text(text: str) -> dict[str, object]:
    """The case that was edited. Raises UsageError for a text that is none."""
    from wildtool.json_codec import as_object
    from wildtool.own_cases.reading import read_case_document

    document = read_case_document(Path("case.yaml"), text)
    if document.faults:
        fault = document.faults[0]
        raise UsageError(f"not kept: line {fault.line}: {fault.message}; e opens it again")
    if len(document.records) != 1 or not as_object(document.records[0].value):
        raise UsageError("not kept: expected one case; e opens it again")
    return dict(as_object(document.records[0].value))
