"""`wildtool data mix`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.api.values import split_values
from wildtool.cli.command import arg, opt
from wildtool.cli.options import shared as options
from wildtool.engine.score.formatting import counted
from wildtool.errors import UsageError, unknown_name
from wildtool.terminal import print_err, print_out
from wildtool_data.commands.data.overlap import WITH_OPTION, load_search

if TYPE_CHECKING:
    from wildtool_data.prepare.mix.mix import MixPlan, MixSet


def mix(
    sets: list[str] = arg("NAME=FILE[:WEIGHT]…", "Sets to mix, each with its name.", show_default=False),
    out: Path | None = opt("-o FOLDER", "Folder to write."),
    total: int | None = opt("N", "Rows in all splits together (default: all).", min=1),
    by: str = opt("NAME", "Shares of the sets: size, sqrt, temperature=T or weights.", default="size"),
    cap: list[str] | None = opt("NAME=N", "Maximum rows of a set; N alone: of every set; repeatable."),
    dedupe: str | None = opt("LEVEL", "Remove duplicates: exact, prompt (first request and tools) or near."),
    similar: float = opt("X", "Least similarity of near duplicates.", default=0.8, min=0.5, max=1.0),
    audit: Path | None = opt("FILE", "Write a line for each duplicate that was removed."),
    split: str | None = opt("NAME=SHARE,…", "Splits, such as train=0.9,val=0.1 (default: train alone)."),
    group_by: str = opt(
        "NAME", "What stays in one split: near duplicates (near), or equal tools (tools).", default="near"
    ),
    seed: str = opt("TEXT", "The same seed gives the same bytes.", default="1"),
    repeat: bool = opt("Repeat sets that have too few rows, at most four times."),
    benchmarks: list[str] | None = WITH_OPTION,
    no_overlap_check: bool = opt("Do not look for benchmark items in the sets."),
    strict: bool = opt("Exit status 1 if any row was rejected."),
    force: bool = options.FORCE_OPTION,
) -> int:
    """Mix training files into splits, without benchmark items.

    \b
    Examples:
      wildtool data mix a=a.jsonl b=b.jsonl --dedupe near -o mix
      wildtool data mix a=a.jsonl b=b.jsonl --by sqrt --total 20000 -o mix
      wildtool data mix a=a.jsonl b=b.jsonl --split train=0.95,val=0.05 -o mix
      wildtool data mix a=a.jsonl:3 b=b.jsonl:1 --by weights --total 1000 -o mix

    Leaves out faulty rows, benchmark items and, with --dedupe, duplicates; then splits, draws and shuffles. Writes a file
    per split, mix.json with the counts and digests, and rejects.jsonl. A smaller --total gives a part of a larger one
    with the same seed.
    """
    from wildtool.training.files import check_readable
    from wildtool_data.prepare.check.file import shared_families
    from wildtool_data.prepare.mix.mix import write_mix

    if out is None:
        raise UsageError("give the folder to write: --out mix")
    scheme, temperature = _scheme(by)
    plan = _plan(
        sets=_sets(sets, split_values(cap)),
        total=total,
        by=scheme,
        temperature=temperature,
        dedupe=dedupe,
        similar=similar,
        splits=_splits(split),
        group_by=group_by,
        seed=seed,
        repeat=repeat,
    )
    families = shared_families(word for part in plan.sets for word in (part.name, part.path.name))
    for family, members in families.items():
        if dedupe is None:
            print_err(f"{' and '.join(members)} are partly the same data ({family}); add --dedupe near")
    check_readable(part.path for part in plan.sets)
    search = None if no_overlap_check else load_search(benchmarks)
    result = write_mix(plan, out, search=search, audit=audit, force=force)
    _print_mix(result.counts)
    for note in result.notes:
        print_err(note)
    for name, count in result.files.items():
        print_out(f"{out / name}: {counted(count, 'row')}")
    rejected = sum(counts.rejected.total() for counts in result.counts.values())
    if rejected:
        rows = sum(counts.rows for counts in result.counts.values())
        print_err(f"left out: {rejected:,} of {counted(rows, 'row')}: see {out / 'rejects.jsonl'}")
    return int(strict and rejected > 0)


def _scheme(text: str) -> tuple[str, float]:
    """The name of a scheme of shares, and its temperature."""
    name, equals, number = text.partition("=")
    if name == "temperature":
        return name, _number(number, "--by temperature=2")
    return name + equals + number, 2.0 if name == "sqrt" else 1.0


def _plan(**values: Any) -> "MixPlan":
    from typing import get_args

    from wildtool_data.prepare.mix.mix import MixPlan, Scheme
    from wildtool_data.prepare.mix.store import Dedupe, GroupBy

    for name, kind in (("by", Scheme), ("dedupe", Dedupe), ("group_by", GroupBy)):
        choices = get_args(kind)
        if values[name] is not None and values[name] not in choices:
            raise UsageError(unknown_name(f"value of --{name.replace('_', '-')}", values[name], choices))
    return MixPlan(**values)


def _sets(texts: list[str], caps: tuple[str, ...]) -> "tuple[MixSet, ...]":
    from wildtool_data.prepare.mix.mix import MixSet

    limits: dict[str, int] = {}
    for text in caps:
        name, _, number = text.rpartition("=")
        limits[name] = int(_number(number, "--cap xlam=5000"))
    mix_sets: list[MixSet] = []
    for text in texts:
        name, equals, place = text.partition("=")
        if not equals or not name or not place:
            raise UsageError(f"{text}: give each set as NAME=FILE, such as xlam={text}")
        path, colon, weight = place.rpartition(":")
        if colon and not Path(place).exists():
            mix_sets.append(
                MixSet(
                    name, Path(path), _number(weight, "xlam=xlam.jsonl:2"), limits.get(name, limits.get(""))
                )
            )
        else:
            mix_sets.append(MixSet(name, Path(place), 1.0, limits.get(name, limits.get(""))))
    names = [mix_set.name for mix_set in mix_sets]
    for name in limits:
        if name and name not in names:
            raise UsageError(unknown_name("set", name, names))
    return tuple(mix_sets)


def _splits(text: str | None) -> tuple[tuple[str, float], ...]:
    if text is None:
        return (("train", 1.0),)
    splits: list[tuple[str, float]] = []
    for part in split_values([text]):
        name, _, share = part.partition("=")
        if not name.replace("_", "").replace("-", "").isalnum():
            raise UsageError(f"--split: {name!r} cannot be the name of a file; use letters, digits, - and _")
        splits.append((name, _number(share, "--split train=0.95,val=0.05")))
    return tuple(splits)


def _number(text: str, example: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{text!r} is no number; example: {example}") from None


def _print_mix(counts: Any) -> None:
    from wildtool.terminal.tables import print_grid

    heads = ["", "rows", "rejected", "overlap", "duplicates", "left", "drawn"]
    rows = [
        (
            name,
            *(str(n) for n in (count.rows, count.rejected.total(), count.overlap.total())),
            *(str(n) for n in (count.duplicates.total(), count.available, count.drawn)),
        )
        for name, count in counts.items()
    ]
    print_grid("sets", heads, rows)
