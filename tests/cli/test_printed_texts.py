"""All that commands print on runs of the embedded sets, text by text; `WILDTOOL_WRITE_GOLDEN=1` writes the texts again.

A block of a file in `tests/golden/printed` is a command, its exit status if that is not 0, and what it prints: on
standard output, and behind `2>` what goes to standard error.
"""

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from wildtool.cli import app

GOLDEN = Path(__file__).parents[1] / "golden" / "printed"
SOURCES = str(Path(__file__).parents[2])
WRITES = bool(os.environ.get("WILDTOOL_WRITE_GOLDEN"))


def type_(line: str) -> Result:
    return CliRunner().invoke(app, shlex.split(line), prog_name="wildtool")


def blocks(topic: str) -> dict[str, str]:
    """What each command of a file prints."""
    text = (GOLDEN / f"{topic}.txt").read_text(encoding="utf-8")
    parts = re.split(r"(?m)^\$ wildtool (.*)\n", text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


COMMANDS = [
    (topic, line) for topic in sorted(path.stem for path in GOLDEN.glob("*.txt")) for line in blocks(topic)
]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of three baselines, one that broke off, one of fewer items; of two sets, and again with another winner."""
    place = tmp_path_factory.mktemp("printed")
    models = "--model baseline/lexical --model baseline/chat --model baseline/gold"
    for line in (
        f"run wild-mini --quiet --limit 4 {models} --out {place}/runs",
        f"run wild-mini --quiet --limit 3 --model baseline/gold --out {place}/fewer",
        f"run wild-mini --quiet --limit 9 --model baseline/gold --out {place}/best",
        f"run wild-mini --quiet --limit 9 --model baseline/chat --out {place}/worst",
        f"run ledger --quiet --limit 2 --model baseline/gold --model baseline/lexical --out {place}/sets/ledger",
    ):
        ended = type_(line)
        assert ended.exit_code == 0, ended.stderr
    shutil.copytree(place / "runs", place / "sets" / "wild-mini")
    shutil.copytree(place / "sets", place / "again")
    shutil.copytree(place / "runs" / "baseline--gold", place / "part")
    segment = place / "part" / "record-0001.jsonl"
    segment.write_bytes(b"".join(segment.read_bytes().splitlines(keepends=True)[:6]))
    for file in (place / "part").glob("verdicts*"):
        file.unlink()
    return place


@pytest.fixture
def _among_runs(played: Path, monkeypatch: pytest.MonkeyPatch, no_benchmark_files: object) -> None:
    monkeypatch.chdir(played)
    monkeypatch.setenv("WILDTOOL_DATA_DIR", "data")
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def printed(line: str) -> str:
    ended = type_(line)
    status = f"[{ended.exit_code}]\n" if ended.exit_code else ""
    errors = "".join(f"2> {text}\n" for text in ended.stderr.splitlines())
    return f"{status}{ended.stdout}{errors}\n".replace(SOURCES, "…")


@pytest.mark.long
@pytest.mark.usefixtures("_among_runs")
@pytest.mark.parametrize(("topic", "line"), COMMANDS)
def test_a_command_prints_this_text(topic: str, line: str) -> None:
    if WRITES:
        written = blocks(topic) | {line: printed(line)}
        text = "".join(f"$ wildtool {each}\n{block}" for each, block in written.items())
        (GOLDEN / f"{topic}.txt").write_text(text, encoding="utf-8")
    assert printed(line) == blocks(topic)[line]
