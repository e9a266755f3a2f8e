"""Plans, benchmarks by name and data, and suites: every refusal to the word, and what is chosen."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from engine.echo_benchmark import ECHO, EchoBenchmark, ScriptedModel, plan_of
from engine.test_suite import CELLS, of, result
from wildtool import __version__
from wildtool.benchmark import SingleTurn
from wildtool.benchmarks import OURS, TOLEAP
from wildtool.data.data_set import data_of
from wildtool.engine import benchmark_file, registry
from wildtool.engine import plan as plans
from wildtool.engine.plan import SelectedItems, Selection, data_stamp, digest_now
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.sampling import ItemSample
from wildtool.engine.suite import (
    OVERALL_CAVEAT,
    Overall,
    ToleapOverall,
    overalls,
    suite_document,
    suite_members,
)
from wildtool.errors import DataError, RecordError, WildtoolError
from wildtool.evidence import Evidence
from wildtool.models.settings import Rates
from wildtool.types import Item, Metric, Source


def refusal(action: Callable[[], object]) -> str:
    with pytest.raises(WildtoolError) as raised:
        action()
    return str(raised.value)


class Parts(EchoBenchmark):
    """Items of two splits and languages, read from a file's lines: `id split lang`."""

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        for line in source.path.read_text().splitlines():
            id_, its_split, its_lang = line.split()
            if split in (None, its_split) and lang in (None, its_lang):
                yield Item(
                    id_, ("0", "1"), {"steps": 1}, its_split, its_lang, ("user",) if id_ == "c" else ()
                )


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Source:
    monkeypatch.setattr(plans, "digest_now", lambda benchmark, source, split: source.sha256)
    path = tmp_path / "items"
    path.write_text("a p en\nb q en\nc p zh\nd p en\n")
    return Source("mine", path, "0")


def select(source: Source, **more: Any) -> Selection:
    return Selection(benchmark=Parts(), source=source, **more)


def ids(selection: Selection) -> list[str]:
    return [item.id for item in selection.items()]


def test_items_are_selected_by_part_number_name_and_sample(source: Source):
    assert ids(select(source)) == ["a", "b", "c", "d"]
    assert ids(select(source, split="p", lang="en")) == ["a", "d"]
    assert ids(select(source, split="p", limit=2)) == ["a", "c"]
    assert ids(select(source, ids=("d", "a"), limit=1)) == ["a"]
    sample = select(source, sample=ItemSample(2))
    assert sample.drawn is not None and ids(sample) == [*sample.drawn.weights]
    assert [(item.id, repeat) for item, repeat in select(source, limit=1, repeats=2).jobs()] == [
        ("a", 0),
        ("a", 1),
    ]
    whole = select(source).read()
    assert ids(select(source, all_items=whole, limit=3)) == ["a", "b", "c"]
    assert ids(select(source, all_items=whole, sample=ItemSample(4))) == ["a", "b", "c", "d"]


def test_selected_items_are_kept_with_their_counts(source: Source):
    read = select(source, repeats=3).read()
    assert (len(read), read.units, [*read.roles], read.source, read.drawn) == (4, 24, ["user"], source, None)
    assert [item.id for item in read] == ["a", "b", "c", "d"]
    assert (read["c"], read["c"] is read["c"]) == (
        Item("c", ("0", "1"), {"steps": 1}, "p", "zh", ("user",)),
        False,
    )
    assert [*read.addresses()][:4] == [("a", 0), ("a", 1), ("a", 2), ("b", 0)]
    assert [(item.id, repeat) for item, repeat in read.jobs()] == [*read.addresses()]
    status = source.path.stat()
    times = status.st_mtime_ns, status.st_ctime_ns
    assert read.stamp == ((str(source.path), status.st_size, *times, status.st_ino),)
    sampled = select(source, sample=ItemSample(2)).read()
    assert (len(sampled), sampled.drawn is not None) == (2, True)
    odd = SelectedItems(source, 1)
    item = Item("x", ("0",), lambda: None)
    odd.add(item)
    assert odd["x"] is item
    assert refusal(lambda: odd.add(item)) == f"{source.path}: the id 'x' occurs twice; ids must be unique"


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"limit": 0}, "limit is 0; it must be at least 1"),
        ({"repeats": -1}, "repeats is -1; it must be at least 1"),
        ({"ids": ("x", "a", "y")}, "unknown ids in mine: x, y; ids there look like a, b"),
        ({"ids": ("x",), "split": "z"}, "unknown ids in mine: x; its splits are: p, q"),
        ({"split": "z"}, "nothing to run: no item of mine is selected; its splits are: p, q"),
        ({"lang": "de"}, "nothing to run: no item of mine is selected; its languages are: en, zh"),
        (
            {"split": "q", "lang": "zh"},
            "nothing to run: no item of mine is selected; its splits are: p; its languages are: en, zh",
        ),
    ],
)
def test_a_selection_that_cannot_work_is_named(source: Source, settings: dict[str, Any], problem: str):
    assert refusal(select(source, **settings).read) == problem


def test_data_without_items_and_data_that_change_are_named(source: Source, monkeypatch: pytest.MonkeyPatch):
    source.path.write_text("")
    assert refusal(select(source).read) == "nothing to run: mine is empty"
    source.path.write_text("a p en\n")
    stamps = iter([(), (("x", 1, 1, 1, 1),)])
    changed = f"{source.path}: changed while it was read; run the command again once nothing writes to it"
    with monkeypatch.context() as patch:
        patch.setattr(plans, "data_stamp", lambda path: next(stamps))
        assert refusal(select(source).read) == changed
    for digest, fails in (("1", True), ("0", False), (None, False)):
        monkeypatch.setattr(plans, "digest_now", lambda benchmark, source, split, digest=digest: digest)
        if fails:
            assert refusal(select(source).read) == changed
        else:
            assert len(select(source).read()) == 1
    monkeypatch.setattr(plans, "_LOADED_NS", 2**62)
    monkeypatch.setattr(plans, "digest_now", lambda benchmark, source, split: "1")
    assert len(select(source).read()) == 1


def test_the_stamp_of_data_is_that_of_all_files(tmp_path: Path):
    (tmp_path / "b").write_text("12")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "c").write_text("123")
    stamp = data_stamp(tmp_path)
    assert [(name, size) for name, size, *_ in stamp] == [(f"{tmp_path}/a/c", 3), (f"{tmp_path}/b", 2)]
    assert data_stamp(tmp_path / "b") == stamp[1:]
    assert data_stamp(tmp_path / "none") == ()
    assert digest_now(ECHO, Source("missing", Path("missing"), ""), None) is None
    assert digest_now(ECHO, Source("d", Path("p"), ""), None) == data_of(ECHO).locate("d").sha256


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"profile": "nice"}, "unknown profile 'nice' of echo (known: official, strict)"),
        ({"models": {"user": ScriptedModel()}}, "no model for the role agent"),
        ({"concurrency": 0}, "concurrency is 0; it must be at least 1"),
        ({"max_attempts": 0}, "max attempts is 0; it must be at least 1"),
        ({"concurrency": 4097}, "concurrency is 4,097; it must be at most 4,096"),
        ({"timeout_s": 0.0}, "timeout is 0 s; it must be more than 0 and finite"),
        (
            {"batched": frozenset({"agent"}), "in_order": True},
            "--order prefix runs units one after another, so that each step would be a separate batch; leave it out, or"
            " --batch",
        ),
        (
            {"batched": frozenset({"agent"})},
            "scripted cannot be asked by batches: its protocol has no batches here; those of chat completions, responses"
            " and messages can. Leave --batch out for it (docs/batch.md)",
        ),
    ],
)
def test_a_plan_that_cannot_work_is_named(settings: dict[str, Any], problem: str):
    assert refusal(plan_of(**settings).check_settings) == problem


def test_a_plan_at_its_limits_works_and_asks_for_the_roles_of_its_items():
    plan_of(concurrency=4096, timeout_s=1e-9, max_attempts=1).check_settings()
    plan_of(concurrency=1, batched=frozenset({"user"})).check_settings()
    assert (
        refusal(plan_of(EchoBenchmark(with_user=1)).read)
        == "echo asks for a model in the role 'user'; name one"
    )
    read = plan_of().read()
    assert plan_of(items=read).read() is read


def test_every_field_of_a_plan_is_in_its_identity_or_scope(tmp_path: Path):
    plan = plan_of(
        seed=5, split="s", lang="zh", limit=2, ids=("i0",), repeats=3, concurrency=4, timeout_s=6.0, max_attempts=7,
        in_order=True, rates={"agent": Rates(rpm=1)}, batched=frozenset({"b", "a"}), sample=ItemSample(2, 9),
    )  # fmt: skip
    assert plan.identity() == {
        "benchmark": "echo",
        "data_sha256": plan.source.sha256,
        "split": "s",
        "lang": "zh",
        "mode": "plain",
        "profile": "official",
        "seed": 5,
        "models": {"agent": {"name": "scripted", "settings": {"temperature": 0.0}}},
        "sample": {"size": 2, "seed": 9},
    }
    items = replace(plan, ids=(), limit=None, in_order=False, batched=frozenset[str]()).read()
    assert plan.scope(items) == {
        "sampled_from": 2,
        "limit": 2,
        "ids": ["i0"],
        "repeats": 3,
        "concurrency": 4,
        "timeout_s": 6.0,
        "max_attempts": 7,
        "in_order": True,
        "batched": ["a", "b"],
    }
    plain = plan_of()
    assert "sample" not in plain.identity()
    assert "sampled_from" not in plain.scope(plain.read())
    with plain.open_folder(tmp_path, plain.read(), ["run", "it"]):
        run = read_run(tmp_path)
    assert (run["kind"], run["sittings"][0]["command"], "benchmark_file" in run["data"]) == (
        "played",
        ["run", "it"],
        False,
    )
    assert run["scope"] == plain.scope(plain.read())
    assert (plain.concurrency, plain.timeout_s, plain.max_attempts, plain.in_order) == (32, 600.0, 6, False)


# Benchmarks by name -----------------------------------------------------------------------------------------


class Bare(SingleTurn):
    def load(self, source: Source, **selection: Any) -> Iterator[Item]:
        yield from ()

    request = check = load  # type: ignore[assignment]


BARE = Bare()
OFFERED_CLASS = EchoBenchmark
ODD = 5


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[EntryPoint, ...]]:
    entries: dict[str, tuple[EntryPoint, ...]] = {}
    monkeypatch.setattr(registry, "_entries", lambda: entries)
    monkeypatch.setattr(registry, "_OURS", {"ours": f"{__name__}:ECHO"})
    monkeypatch.setattr(registry, "BY_NAME", {})
    monkeypatch.setattr(registry, "_reported", set())
    return entries


def entry(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, f"{__name__}:{value}", registry.ENTRY_POINT_GROUP)


@pytest.mark.parametrize(
    ("name", "entries", "problem"),
    [
        (
            "echo",
            [entry("echo", "OFFERED_CLASS")],
            f"its entry point {__name__}:OFFERED_CLASS is a class; name an object made of it, such as MY_BENCH ="
            " MyBench()",
        ),
        (
            "odd",
            [entry("odd", "ODD")],
            f"its entry point {__name__}:ODD is int; inherit from wildtool.benchmark.Benchmark, which gives what it"
            " lacks",
        ),
        ("bare", [entry("bare", "BARE")], f"its entry point {__name__}:BARE lacks name, title"),
        (
            "other",
            [entry("other", "ECHO")],
            f"its entry point {__name__}:ECHO calls itself 'echo'; both names must be equal, since runs record it",
        ),
        (
            "echo",
            [entry("echo", "ECHO"), entry("echo", "BARE")],
            f"{__name__} offers that name too; uninstall one of them",
        ),
        (
            "echo",
            [entry("echo", "NONE")],
            f"its entry point {__name__}:NONE fails: AttributeError: module",
        ),
    ],
)
def test_a_benchmark_of_a_package_that_cannot_be_used_is_named(
    name: str, entries: list[EntryPoint], problem: str, offered: dict[str, tuple[EntryPoint, ...]]
):
    offered[name] = tuple(entries)
    assert refusal(lambda: registry.load_benchmark(name)).startswith(
        f"benchmark {name!r} of package {__name__} cannot be used: {problem}"
    )


def test_benchmarks_that_can_be_used_are_given_and_others_reported_once(
    offered: dict[str, tuple[EntryPoint, ...]], caplog: pytest.LogCaptureFixture
):
    offered |= {
        "zebra": (entry("zebra", "ODD"),),
        "echo": (entry("echo", "ECHO"),),
        "ours": (entry("ours", "BARE"),),
    }
    with caplog.at_level(logging.WARNING, "wildtool"):
        for _ in range(2):
            assert registry.usable_benchmarks() == [ECHO, ECHO]
    assert [record.getMessage() for record in caplog.records] == [
        f"benchmark 'zebra' of package {__name__} cannot be used: its entry point {__name__}:ODD is int; inherit from"
        " wildtool.benchmark.Benchmark, which gives what it lacks; it is passed over",
        f"benchmark 'ours' of package {__name__} cannot be used: wildtool has a benchmark of that name; the package must"
        " choose another; it is passed over",
    ]
    assert registry.benchmark_names() == ["echo", "ours", "zebra"]
    assert [registry.names_benchmark(name) for name in ("echo", "x.py", "x")] == [True, True, False]
    assert refusal(lambda: registry.load_benchmark("ech")) == (
        "unknown benchmark 'ech'; did you mean 'echo'? (known: echo, ours, zebra)"
    )
    assert registry.load_benchmark("echo", "loud").mode == "loud"
    assert (
        refusal(lambda: registry.load_benchmark("ours", "x"))
        == "unknown mode 'x' of echo (known: plain, loud)"
    )


def played(folder: Path, name: str, file: str | None = None, mode: str | None = None) -> Any:
    data = {} if file is None else {"benchmark_file": file}
    return registry.played_benchmark(folder, {"identity": {"benchmark": name, "mode": mode}, "data": data})


def test_the_benchmark_of_a_run_is_found_by_its_name(
    offered: dict[str, tuple[EntryPoint, ...]], tmp_path: Path
):
    folder = tmp_path / "run"
    assert (played(folder, "ours"), played(folder, "ours", mode="loud").mode) == (ECHO, "loud")
    assert refusal(lambda: played(folder, "x")) == (
        f"{folder}: a run of 'x', which is no benchmark here; known are: ours. Install the package that it comes from"
    )
    (tmp_path / "yield.json").touch()
    assert refusal(lambda: played(folder, "x")) == (
        f"{folder}: holds how x were made, no replies to score. The result is in {tmp_path}: yield.json says where"
        " attempts were lost; play and check what was made there"
    )
    gone = str(tmp_path / "gone.py")
    assert played(folder, "ours", gone) is ECHO
    assert refusal(lambda: played(folder, "x", gone)) == (
        f"{folder}: a run of 'x', a benchmark of the file {gone}, which is not there; put it back, or repeat the command"
        " of the run with the file's new path and --out as before: recorded replies are kept"
    )


def test_the_file_of_a_run_is_run_once_it_was_named(
    offered: dict[str, tuple[EntryPoint, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(benchmark_file, "_FILES", {})
    monkeypatch.setattr(benchmark_file, "BY_NAME", {})
    file = tmp_path / "my bench.py"
    file.write_text("from engine.echo_benchmark import ECHO\n")
    folder = tmp_path / "run"
    assert refusal(lambda: played(folder, "echo", str(file))) == (
        f"{folder}: a run of 'echo', a benchmark of the file {file}. To read the run executes this file, which you have"
        f" not named yet; look at it, and if you trust it: wildtool list cards '{file}'"
    )
    monkeypatch.setenv("WILDTOOL_BENCHMARK_FILES", str(file))
    assert played(folder, "echo", str(file), "loud").mode == "loud"
    assert refusal(lambda: played(folder, "other", str(file))) == (
        f"{folder}: a run of 'other', but {file} now defines 'echo'; give the benchmark its former name to score this run"
    )
    file.write_text("x = 1\n")
    with pytest.raises(
        RecordError, match=r"^.*run: its benchmark 'echo' cannot be read: .*defines no benchmark"
    ):
        played(folder, "echo", str(file))


def test_data_without_a_name_are_refused_with_what_to_give(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    formats = [EchoBenchmark(), EchoBenchmark()]
    monkeypatch.setattr(registry, "_formats", lambda: formats)
    assert refusal(lambda: registry.detect_benchmark(None, None)) == (
        "give the data with --data FILE, or the name of their benchmark with --benchmark NAME"
    )
    missing = tmp_path / "none"
    assert refusal(lambda: registry.detect_benchmark(None, str(missing))) == (
        f"{missing}: there is no such file or folder; if a benchmark has data of that name, add --benchmark NAME, one of:"
        " echo, echo"
    )
    assert refusal(lambda: registry.detect_benchmark(None, str(tmp_path))) == (
        f"{tmp_path}: a folder of no known benchmark; of training files, name one of them; of a benchmark's data, add"
        " --benchmark NAME, one of: echo, echo"
    )
    (tmp_path / "f").touch()
    assert refusal(lambda: registry.detect_benchmark(None, str(tmp_path / "f"))) == (
        f"{tmp_path}/f: cannot tell which benchmark these data belong to; add --benchmark NAME, one of: echo, echo"
    )
    formats.pop()
    assert registry.detect_benchmark(None, str(tmp_path / "f")) is formats[0]
    formats.clear()
    assert refusal(lambda: registry.detect_benchmark(None, str(tmp_path / "f"))).endswith(
        "one of: none is installed"
    )


def test_prompts_and_sampling_of_an_original():
    assert (
        refusal(lambda: registry.choose_prompts(ECHO, "mine", None))
        == "--prompts is 'mine'; it takes own or original"
    )
    assert registry.choose_prompts(ECHO, "own", None) is registry.choose_prompts(ECHO, None, None) is ECHO
    assert refusal(lambda: registry.choose_prompts(ECHO, "original", None)) == (
        "echo has no prompts of an original to fetch; leave --prompts out"
    )
    assert refusal(lambda: registry.original_sampling(ECHO)) == (
        "how the original of echo samples is not known here; leave --sampling out"
    )
    variant = registry.as_recorded(ECHO, {"profile": "strict", "prompts": "d"})
    assert (variant.benchmark, variant.alterations, registry.prompts_of(ECHO)) == (ECHO, (), "")


class Worded(EchoBenchmark):
    """Sends the original's prompts where they were pulled."""

    original_sampling = {"temperature": 0.5}  # noqa: RUF012
    pulled: Any = None
    prompts_note = "n"

    def __init__(self, prompts: str = "", mode: str = "plain") -> None:
        super().__init__(mode=mode)
        self.prompts = prompts

    def in_original_prompts(self, split: str | None) -> Any:
        if self.pulled == "damaged":
            raise DataError("damaged")
        return self.pulled


def test_the_originals_prompts_are_sent_where_they_were_pulled():
    worded, original = Worded(), Worded("digest")
    choose = registry.choose_prompts
    assert choose(worded, None, None) is choose(worded, "own", None) is worded
    assert refusal(lambda: choose(worded, "original", None)) == (
        "no original prompts of echo: there are some for mode plain of the official data, once `wildtool data pull echo`"
        " has fetched them; otherwise leave out --prompts"
    )
    assert refusal(lambda: choose(Worded(mode="loud"), "original", "s")).startswith(
        "no original prompts of echo in mode loud for split s: there are some for mode plain of"
    )
    assert refusal(lambda: choose(original, "own", None)) == (
        "echo is only put in the original's words; leave --prompts out. A run in wildtool's words, as earlier versions"
        " made it, can be scored but not continued"
    )
    worded.pulled = original
    assert choose(worded, None, None) is choose(worded, "original", None) is original
    assert registry.original_sampling(worded) == {"temperature": 0.5}
    recorded = [
        registry.as_recorded(worded, {"prompts": digest}).benchmark for digest in ("digest", "other", "")
    ]
    assert recorded == [original, worded, worded]
    worded.pulled = "damaged"
    assert registry.as_recorded(worded, {"prompts": "digest"}).benchmark is worded


# Suites ---------------------------------------------------------------------------------------------------


def test_every_field_of_a_suite_and_its_document():
    runs = [
        result("one", "a", 0.4),
        result("two", "a", 0.4),
        replace(result("three", "a", 0.8), prompts="x"),
        of("one", "rotbench", *CELLS["rotbench"]),
    ]
    first, second, third = overalls(runs)
    assert (first.model, first.benchmarks, first.mean_rank, second.mean_rank, third.mean_rank) == (
        "one",
        ("a",),
        2.5,
        2.5,
        1.0,
    )
    assert [each.toleap for each in (first, second, third)] == [None] * 3
    (only,) = overalls(runs[3:])
    assert only == Overall(
        "one", ("rotbench",), (0.9, 0.9, 0.9), None, ToleapOverall(0.5, 1, 10, ("rotbench",))
    )
    number = Metric(
        "g", "n", None, 1, 2, kind="mean", unit="s", note="m", evidence=Evidence(2), better="less"
    )
    share = Metric("g", "r", 0.5, 1, 2, 0.25, 0.75, headline=True)
    run = replace(result("one", "a", 0.4), metrics=(number, share), part="sample of 2")
    document = suite_document("toleap", [run], {"c": "no data"})
    assert document == {
        "wildtool": __version__,
        "suite": "toleap",
        "format": 1,
        "runs": [
            {
                "benchmark": "a",
                "model": "one",
                "profile": "p",
                "mode": None,
                "data": "d",
                "data_sha256": "0",
                "part": "sample of 2",
                "folder": "runs/a/one",
                "items": 1,
                "planned_items": 1,
                "complete": True,
                "evidence": asdict(Evidence(1)),
                "trust": [],
                "metrics": [
                    {
                        "group": "g",
                        "name": "n",
                        "kind": "mean",
                        "unit": "s",
                        "better": "less",
                        "value": None,
                        "numerator": 1,
                        "denominator": 2,
                        "low": None,
                        "high": None,
                        "headline": False,
                        "note": "m",
                        "evidence": asdict(Evidence(2)),
                    },
                    {
                        "group": "g",
                        "name": "r",
                        "kind": "rate",
                        "unit": "share",
                        "better": "more",
                        "value": 0.5,
                        "numerator": 1,
                        "denominator": 2,
                        "low": 0.25,
                        "high": 0.75,
                        "headline": True,
                        "note": "",
                        "evidence": None,
                    },
                ],
            }
        ],
        "left_out": [{"benchmark": "c", "reason": "no data"}],
        "overall": [
            {
                "model": "one",
                "benchmarks": ["a"],
                "mean": {"value": 0.5, "low": 0.25, "high": 0.75},
                "mean_rank": None,
                "toleap": None,
            }
        ],
        "caveat": OVERALL_CAVEAT,
    }
    assert suite_document("toleap", runs[3:], {})["overall"][0]["toleap"] == {
        "value": 0.5,
        "metrics": 1,
        "samples": 10,
        "benchmarks": ("rotbench",),
    }
    assert suite_members("toleap") == [name for name in TOLEAP if name in OURS]
    assert suite_members("all") == [*OURS]


def test_numbers_that_cannot_be_averaged_leave_their_benchmark_out():
    same, other = result("one", "a", 0.4), replace(result("two", "a", 0.5), items_md5="x")
    assert overalls([same, other])[0].benchmarks == ()
    neither = replace(same, metrics=(Metric("accuracy", "task", 0.5, 1, 2, headline=True, better=""),))
    assert overalls([neither])[0].mean is None
    bare = replace(same, metrics=(Metric("accuracy", "task", 0.25, 1, 2, headline=True, better="less"),))
    assert overalls([bare])[0].mean == (0.75, 0.75, 0.75)
