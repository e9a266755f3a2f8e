"""What a version of wildtool moves in the scores of recorded replies, by benchmark and profile.

python scripts/score_versions.py            # what moved since the last release, and the sentence for its notes
python scripts/score_versions.py --write    # takes the scores of today as meant, which a changelog file has to say
python scripts/score_versions.py --release  # the same, and what comes later is compared with today
python scripts/score_versions.py --record   # plays our own runs again, which is for new benchmarks only

The recorded replies are `tests/golden/scores/*.jsonl.gz`, which scripted models gave once, and the cases of the published
evaluators, where they are at hand (`WILDTOOL_ORACLE`). `tests/golden/scores/table.json` has the score of each reply under
each profile: at the last release (`released`), at the one before (`previous`), and as it is meant to be now (`now`).
"""

import argparse
import base64
import gzip
import json
import re
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "src")]

from wildtool import __version__  # noqa: E402 - of this checkout, whatever is installed
from wildtool.benchmark import Benchmark  # noqa: E402
from wildtool.benchmarks import OURS  # noqa: E402
from wildtool.types import Item, Reply, Transcript  # noqa: E402

FOLDER = ROOT / "tests" / "golden" / "scores"
TABLE = FOLDER / "table.json"
OWN = {
    "wild-mini": ("wild-mini", None, ("gold-serial", "chat", "lexical", "random", "first-tool")),
    "ledger": ("ledger", None, ("gold-serial", "chat", "lexical", "random", "first-tool")),
    "acebench-finance": ("acebench", "agent_finance", ("gold", "chat", "random")),
}
"""Our recorded runs: benchmark, split, and the baselines that play it."""
MOST_ITEMS, MOST_MUTANTS = 32, 6
"""Of a benchmark that is recorded, and of gold replies with one mistake for each unit."""
SAME_POINTS = 0.05
"""A mean that moves by less is shown as a count of replies alone."""

FULL, NO_VERDICT = 200, 255
"""Scores are a byte for each verdict, in order: from 0 to `FULL`, or `NO_VERDICT`."""


@dataclass(frozen=True, slots=True)
class Move:
    """What became of the scores of one benchmark's recorded replies under one profile."""

    replies: str
    """Name of the recorded replies, which begins with their benchmark's."""
    profile: str
    count: int
    gained: int
    lost: int
    points: float
    """By how much the mean score moved, in percentage points."""

    @property
    def title(self) -> str:
        return title_of(self.replies)

    def __str__(self) -> str:
        moved = f"by {self.points:+.1f} points" if abs(self.points) >= SAME_POINTS else "by under 0.1 points"
        return f"{moved} ({self.gained:,} of {self.count:,} verdicts gain, {self.lost:,} lose)"


def benchmark_of(replies: str) -> Benchmark:
    name = OWN[replies][0] if replies in OWN else replies
    return resolve_name(OURS[name])


def title_of(replies: str) -> str:
    """What readers call a benchmark, such as BFCL."""
    benchmark = benchmark_of(replies)
    return benchmark.title.partition(":")[0] if ":" in benchmark.title else benchmark.name


# Measuring -------------------------------------------------------------------------------------------


def measured(replies: str, *, every: int = 1) -> dict[str, bytes]:
    """The scores of some recorded replies by profile, of each `every`th case.

    Raises FileNotFoundError where the cases of the published evaluators are not at hand.
    """
    judges = own_judges if replies in OWN else oracle_judges
    profiles = benchmark_of(replies).profiles
    return {
        profile: bytes(
            score for case in islice(judges(replies, profile), 0, None, every) for score in _scores(case())
        )
        for profile in profiles
    }


def own_judges(replies: str, profile: str) -> Iterator[Any]:
    benchmark = benchmark_of(replies)
    items = {item.id: item for item in own_items(replies)}
    with gzip.open(FOLDER / f"{replies}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            transcripts = {
                unit: Transcript(tuple(map(Reply, messages)), scripted=True)
                for unit, messages in row["units"].items()
            }

            def judge(item: Any = items[row["item"]], given: Any = transcripts) -> Any:
                return [one for one in benchmark.judge(item, given, profile) if one.unit in given]

            yield judge


def oracle_judges(replies: str, profile: str) -> Iterator[Any]:
    from parity.cases import oracle_folder
    from parity.recorded_replies import BENCHMARKS

    if not oracle_folder(replies).is_dir():
        raise FileNotFoundError(f"no folder {oracle_folder(replies)}")
    yield from BENCHMARKS[replies](profile)


def oracle_names() -> tuple[str, ...]:
    from parity.recorded_replies import BENCHMARKS

    return tuple(BENCHMARKS)


def own_items(replies: str) -> Iterator[Item]:
    from wildtool.data.data_set import data_of

    benchmark, (_, split, _) = benchmark_of(replies), OWN[replies]
    source = data_of(benchmark).locate(None, split)
    return iter(benchmark.load(source, split=split))


def _scores(found: Any) -> Iterator[int]:
    for one in found if isinstance(found, list) else [found]:
        if getattr(one, "outcome", "") in ("unplayed", "infra_error"):
            yield NO_VERDICT
        else:
            yield round(FULL * (float(one.correct) if one.score is None else one.score))


# The table -------------------------------------------------------------------------------------------


def packed(scores: bytes) -> str:
    return base64.b85encode(zlib.compress(scores, 9)).decode()


def unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b85decode(text))


def read_table() -> dict[str, Any]:
    return json.loads(TABLE.read_text("utf-8"))


def kept(part: str, replies: str, profile: str) -> bytes | None:
    """The scores that the table has; None where it has none. Args: part: `released` or `now`."""
    text = read_table()[part]["scores"].get(replies, {}).get(profile)
    return None if text is None else unpacked(text)


def move(replies: str, profile: str, before: bytes, after: bytes) -> Move | None:
    """What differs; None where nothing does. A reply without a verdict counts as 0, as in every table."""
    if before == after:
        return None
    worth = {score: 0 if score == NO_VERDICT else score for score in range(256)}
    gains = [worth[new] - worth[old] for old, new in zip(before, after, strict=True)]
    points = 100 * sum(gains) / FULL / len(gains)
    return Move(
        replies, profile, len(gains), sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains), points
    )


def moves(table: Mapping[str, Any]) -> list[Move]:
    """What moved from `released` to `now`."""
    before, after = table["released"]["scores"], table["now"]["scores"]
    found = [
        move(replies, profile, unpacked(before[replies][profile]), unpacked(text))
        for replies, profiles in after.items()
        for profile, text in profiles.items()
        if profile in before.get(replies, {})
    ]
    return [one for one in found if one is not None]


def unsaid(found: Iterable[Move], texts: Iterable[str]) -> list[Move]:
    """The moves that no text says: one says it that names the profile and the benchmark."""
    said = [*texts]
    return [
        one
        for one in found
        if not any(
            re.search(rf"`{one.profile}`|{one.profile} profile", text)
            and re.search(rf"\b({re.escape(one.title)}|{re.escape(one.replies)})\b", text)
            for text in said
        )
    ]


def texts_of_notes(version: str = "Unreleased") -> list[str]:
    """Where a move may be said: files of `changelog.d`, and the sections of what is not released and of a version."""
    sections = (ROOT / "CHANGELOG.md").read_text("utf-8").split("\n## ")[1:]
    newest = "\n".join(text for text in sections if text.startswith(("Unreleased", version)))
    scores = "\n".join(part.partition("\n### ")[0] for part in newest.split("### Scores that move")[1:])
    fragments = sorted((ROOT / "changelog.d").glob("*.scores.md"))
    return [*(path.read_text("utf-8") for path in fragments), *re.findall(r"^- .*$", scores, re.MULTILINE)]


# Words -----------------------------------------------------------------------------------------------


def sentence(version: str, table: Mapping[str, Any]) -> str:
    """What the notes of a version say of its scores."""
    found, before = moves(table), table["released"]
    profiles = dict.fromkeys(profile for names in before["scores"].values() for profile in names)
    lines = [_of_profile(profile, found, before["scores"]) for profile in profiles]
    said = f"Scores of {version} on recorded replies, against {before['version']}: {'; '.join(lines)}."
    compared = {title_of(name) for name in before["scores"]}
    new = sorted({title_of(name) for name in table["now"]["scores"]} - compared)
    return said + (f" New, so without a figure: {', '.join(new)}." if new else "")


def _of_profile(profile: str, found: Iterable[Move], before: Mapping[str, Mapping[str, str]]) -> str:
    moved = [one for one in found if one.profile == profile]
    if not moved:
        return f"`{profile}` moves nowhere"
    rest = {title_of(name) for name, its in before.items() if profile in its} - {one.title for one in moved}
    places = ", on ".join(f"{one.title} {one}" for one in moved)
    return f"`{profile}` moves {'nowhere but ' if rest else ''}on {places}"


# Recording -------------------------------------------------------------------------------------------


def record(replies: str) -> None:
    """Writes what scripted models say in one of our own runs, each text once."""
    rows = dict.fromkeys(json.dumps(row, ensure_ascii=False, sort_keys=True) for row in _played(replies))
    lines = "".join(f"{row}\n" for row in rows).encode()
    (FOLDER / f"{replies}.jsonl.gz").write_bytes(gzip.compress(lines, 9, mtime=0))


def _played(replies: str) -> Iterator[dict[str, Any]]:
    from wildtool.engine.record.reader import LogReader, transcripts

    name, split, models = OWN[replies]
    benchmark, items = benchmark_of(replies), [*islice(own_items(replies), MOST_ITEMS)]
    with tempfile.TemporaryDirectory() as place:
        for model in models:
            folder = _run(name, split, model, Path(place, model))
            with LogReader(folder) as log:
                for item in items:
                    units = {
                        u: [r.message for r in t.replies] for u, t in transcripts(log.log(item.id, 0)).items()
                    }
                    yield {"item": item.id, "units": units}
    rules = benchmark.rules(next(iter(benchmark.profiles)))
    for item in items:
        by_unit = Counter[str]()
        for mutant in rules.mutants(item):
            by_unit[mutant.unit] += 1
            if by_unit[mutant.unit] <= MOST_MUTANTS:
                yield {"item": item.id, "units": {mutant.unit: list(mutant.replies)}}


def _run(name: str, split: str | None, model: str, folder: Path) -> Path:
    import wildtool as wt

    of_split = {"split": split} if split else {}
    wt.run(name, model=f"baseline/{model}", out=folder, seed=1, limit=MOST_ITEMS, **of_split)
    return next(folder.rglob("run.json")).parent


# The command -----------------------------------------------------------------------------------------


def measure_all(table: dict[str, Any]) -> tuple[dict[str, dict[str, str]], list[str]]:
    """All scores of today, packed, and the names of what could not be measured, whose scores are those of the table."""
    found, absent = dict[str, dict[str, str]](), list[str]()
    for replies in (*OWN, *oracle_names()):
        try:
            found[replies] = {profile: packed(scores) for profile, scores in measured(replies).items()}
        except FileNotFoundError:
            absent.append(replies)
            found[replies] = table["now"]["scores"][replies]
    return found, absent


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for name in ("write", "release", "record"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--version", default=__version__, help="of the notes")
    options = parser.parse_args()
    if options.record:
        for replies in OWN:
            record(replies)
    table = read_table()
    scores, absent = measure_all(table)
    now = {"scores": scores}
    if options.write or options.release:
        table["now"] = now
        if options.release:
            if table["released"]["version"] != options.version:
                table["previous"] = table["released"]
            table["released"] = {"version": options.version, "scores": scores}
        TABLE.write_text(json.dumps(table, indent=1) + "\n", "utf-8")
    shown = {**table, "now": now}
    for one in moves(shown):
        print(f"{one.replies}, {one.profile}: {one}")
    if absent:
        print(f"not measured, as their recorded replies are not at hand: {', '.join(absent)}")
    print(sentence(options.version, shown))
    for one in unsaid(moves(shown), texts_of_notes()):
        print(f"no file changelog.d/NAME.scores.md says what moves under `{one.profile}` on {one.title}")


if __name__ == "__main__":
    main()
