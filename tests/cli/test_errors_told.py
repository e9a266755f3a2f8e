"""What an exception becomes that ends a command: a message that says what to do, and an exit status."""

import errno

import pytest

from wildtool.cli.command import report_error, run_to_status
from wildtool.errors import DataError, StorageError, UsageError

MEMORY = "raise the limit (`ulimit -v`, the container's), or give less data; finished files are complete"
FULL = "could not be written (No space left); everything else is intact. Make room, then run the same command again."
PLACE = "check its permissions, or name another place"
REPORT = "Please report this, with your command and its output with WILDTOOL_DEBUG=1. All recorded replies are intact.\n"


def noted(error: Exception, *notes: str) -> Exception:
    for note in notes:
        error.add_note(note)
    return error


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (UsageError("give a run"), 2, "wildtool: give a run\n"),
        (noted(DataError("odd"), "b", "c"), 2, "wildtool: odd\nwildtool: b\nwildtool: c\n"),
        (StorageError("full"), 3, "wildtool: full\n"),
        (OSError(errno.ENOSPC, "No space left", "a/b"), 3, f"wildtool: a/b: {FULL}\n"),
        (OSError(errno.ENOSPC, "No space left"), 3, f"wildtool: output: {FULL}\n"),
        (
            PermissionError(errno.EACCES, "Permission denied", "a/b"),
            2,
            f"wildtool: a/b: cannot be read or written (Permission denied); {PLACE}\n",
        ),
        (
            OSError(errno.ENAMETOOLONG, "Too long"),
            2,
            f"wildtool: cannot be read or written (Too long); {PLACE}\n",
        ),
        (
            FileNotFoundError(errno.ENOENT, "No usable temporary directory found"),
            2,
            f"wildtool: cannot be read or written (No usable temporary directory found); {PLACE}\n",
        ),
        (MemoryError(), 3, f"wildtool: not enough memory; {MEMORY}\n"),
        *(
            (error, 3, f"wildtool: not enough memory ({error}); {MEMORY}\n")
            for error in (
                OSError(errno.ENOMEM, "No memory", "a"),
                RuntimeError("can't start new thread"),
                ImportError("libx.so: failed to map segment from shared object"),
                ImportError("x: cannot allocate memory in static TLS block"),
                ValueError("Out of Memory Error"),
            )
        ),
    ],
)
def test_what_a_user_can_mend_is_told_in_a_line(
    error: Exception, status: int, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report_error(error) == status
    assert capsys.readouterr() == ("", text)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (KeyError("x"), "KeyError: 'x'"),
        (
            FileNotFoundError(errno.ENOENT, "No such file", "a"),
            "FileNotFoundError: [Errno 2] No such file: 'a'",
        ),
        (OSError("no number"), "OSError: no number"),
        (OSError(errno.EIO, "temporary directory"), f"OSError: [Errno {errno.EIO}] temporary directory"),
    ],
)
def test_a_fault_of_ours_is_told_with_its_place_and_where_to_report(
    error: Exception, words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> int:
        raise error

    line = fail.__code__.co_firstlineno + 1
    text = f"wildtool: internal error: {words} ({__file__}:{line})\n{REPORT}"
    monkeypatch.delenv("WILDTOOL_DEBUG", raising=False)
    assert run_to_status(fail) == 1
    assert capsys.readouterr() == ("", text)
    monkeypatch.setenv("WILDTOOL_DEBUG", "1")
    assert run_to_status(fail) == 1
    out, err = capsys.readouterr()
    assert (out, err.startswith("Traceback (most recent call last):\n"), err.endswith(f"\n{text}")) == (
        "",
        True,
        True,
    )


def test_ctrl_c_is_told_and_ends_with_130(capsys: pytest.CaptureFixture[str]) -> None:
    def stop() -> int:
        raise KeyboardInterrupt

    assert run_to_status(stop) == 130
    assert capsys.readouterr() == ("", "interrupted\n")
