"""Files that name a series of trained models."""

from pathlib import Path

import pytest

from wildtool.engine.series import Series, SeriesBenchmark, SeriesPoint, read_series
from wildtool.errors import DataError

HEAD = '[series]\nbenchmarks = ["wild-mini", {name = "acebench", data = "finance", mode = "fc"}]\n'
BASE = '[[point]]\nname = "base"\nmodel = "baseline/random"\nsize = 0\n'
TRAINED = '[[point]]\nname = "t"\nmodel = "baseline/gold"\nsize = 10\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "series.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_series_has_the_base_first_and_then_arms_sizes_and_seeds(tmp_path: Path):
    points = "".join(
        f'[[point]]\nname = "{name}"\nmodel = "m"\nsize = {size}\narm = "{arm}"\ntrain_seed = {seed}\n'
        for name, size, arm, seed in (
            ("c", 20, "all", 1),
            ("b", 10, "all", 2),
            ("a", 10, "all", 1),
            ("r", 10, "random", 1),
        )
    )
    series = read_series(written(tmp_path, HEAD + 'overlap = "o.json"\nrepeats = 2\n' + points + BASE))
    assert [point.name for point in series.points] == ["base", "a", "b", "c", "r"]
    assert series.base.size == 0
    assert (series.repeats, series.seed, series.overlap) == (2, None, tmp_path / "o.json")
    assert series.benchmarks == (
        SeriesBenchmark(name="wild-mini"),
        SeriesBenchmark(name="acebench", data="finance", mode="fc"),
    )
    assert [benchmark.label for benchmark in series.benchmarks] == ["wild-mini", "acebench-fc-finance"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BASE + TRAINED, r"\[series\] is missing"),
        ("[series]\n" + BASE + TRAINED, "benchmarks is missing"),
        (HEAD.replace("wild-mini", "wild-maxi") + BASE + TRAINED, "wild-maxi"),
        (HEAD.replace("wild-mini", "acebench:en") + BASE + TRAINED, r"choices are keys: \{name"),
        (HEAD.replace("mode", "mood") + BASE + TRAINED, "did you mean 'mode'"),
        (HEAD + BASE, "a series needs a point after training"),
        (HEAD + TRAINED + TRAINED.replace('"t"', '"u"'), "one point must have size 0.*found none"),
        (HEAD + BASE + BASE.replace('"base"', '"b2"'), "found base, b2"),
        (HEAD + BASE + TRAINED + TRAINED, "two points are called 't'"),
        (
            HEAD + BASE + TRAINED + TRAINED.replace('"t"', '"u"'),
            "t and u have the same arm, size and train_seed",
        ),
        (HEAD + BASE + TRAINED.replace("10", "-1"), r"\[\[point\]\] 2: size is -1"),
        (HEAD + BASE + TRAINED.replace("10", "true"), "size is True; expected a whole number"),
        (HEAD + BASE + TRAINED.replace("model", "modle"), "did you mean 'model'"),
        *(
            (
                HEAD + BASE + TRAINED.replace('"t"', f'"{name}"'),
                r"\[\[point\]\] 2: name is .*names its folder",
            )
            for name in ("../t", "/t", "..", r"a\\b", r"\u001B[31mt", r"t\u202E", " t")
        ),
        (HEAD + BASE + TRAINED + 'arm = "\\u0007"\n', r"arm is '\\x07'"),
        *(
            (HEAD + BASE + TRAINED + f'base_url = "{url}"\n', "base_url is .*expected http://HOST:PORT/v1")
            for url in ("http://127.0.0.1:99999/v1", "http://[::1", "127.0.0.1:8000/v1", "file:///v1")
        ),
        (HEAD + BASE + '[[point]]\nname = "t"\nsize = 3\n', "model is missing"),
        (HEAD + "repeats = 0\n" + BASE + TRAINED, "repeats is 0; expected 1 or more"),
        (HEAD + "points = [", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, text: str, said: str):
    with pytest.raises(DataError, match=said) as failure:
        read_series(written(tmp_path, text))
    assert "series.toml" in str(failure.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(DataError, match=r"cannot read .*no.toml"):
        read_series(tmp_path / "no.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[extra]\n" + HEAD + BASE, ": unknown key 'extra' (known: series, point)"),
        ("series = 1\n", ": [series] is missing; it names the benchmarks"),
        ("[series]\nbenchmarks = []\n", ": [series]: benchmarks is missing; it lists at least one"),
        (HEAD, ": point is missing; it lists at least one"),
        (
            HEAD + "sed = 1\n" + BASE,
            ": [series]: unknown key 'sed'; did you mean 'seed'? (known: benchmarks, seed,",
        ),
        (
            "[series]\nbenchmarks = [5]\n",
            ': [series]: benchmarks: expected names or tables such as {name = "…", split =',
        ),
        ('[series]\nbenchmarks = [{mode = "fc"}]\n', ": [series]: benchmarks: an entry has no name"),
        ("[series]\nbenchmarks = [{name = 5}]\n", ": [series]: benchmarks: name is 5; expected a text"),
        (
            '[series]\nbenchmarks = ["wild-mini", "wild-mini"]\n' + BASE + TRAINED,
            ": [series]: benchmarks names one benchmark twice",
        ),
        (HEAD + "repeats = 0\n" + BASE + TRAINED, ": [series]: repeats is 0; expected 1 or more"),
        (HEAD + 'seed = "a"\n' + BASE + TRAINED, ": [series]: seed is 'a'; expected a whole number"),
        (HEAD + "overlap = 1\n" + BASE + TRAINED, ": [series]: overlap is 1; expected a text"),
        (HEAD.replace("[series]", "point = [1]\n[series]"), ": [[point]] 1: expected a table"),
        (
            HEAD + BASE.replace("size = 0", ""),
            ": [[point]] 1: size is missing; 0 for the model before training",
        ),
        (HEAD + BASE + TRAINED.replace('"t"', '""'), ": [[point]] 2: name is missing"),
        (
            HEAD + BASE.replace('"base"', '"a."'),
            ": [[point]] 1: name is 'a.', and also names its folder; use letters, digits, -, _ and .",
        ),
        (
            HEAD + BASE.replace("random", "\\u0007"),
            "model is 'baseline/\\x07'; it holds characters that cannot be shown",
        ),
        (HEAD + BASE + TRAINED.replace("10", "-1"), ": [[point]] 2: size is -1; it is a number of examples"),
        (
            HEAD + BASE + TRAINED + 'base_url = "ftp://a"\n',
            ": [[point]] 2: base_url is 'ftp://a': no address; expected http://HOST:PORT/v1",
        ),
        (HEAD + BASE + TRAINED + 'base_url = "http://"\n', "base_url is 'http://': no address; expected"),
        (
            HEAD + BASE + TRAINED + 'base_url = "http://a:b"\n',
            "'http://a:b': Port could not be cast to integer value as",
        ),
        (HEAD + BASE, ": a series needs a point after training, with size above 0"),
        (HEAD + TRAINED, ": one point must have size 0, the model before training; found none"),
        (
            HEAD + BASE + BASE.replace('base"', 'b"'),
            ": one point must have size 0, the model before training; found base, b",
        ),
        (HEAD + BASE + BASE, ": two points are called 'base'; give each its own name"),
        (
            HEAD + BASE + TRAINED + TRAINED.replace('"t"', '"u"'),
            ": t and u have the same arm, size and train_seed; repeats of a training differ in train_seed, other data in"
            " arm",
        ),
    ],
)
def test_what_is_wrong_is_said_in_full(tmp_path: Path, text: str, message: str):
    with pytest.raises(DataError) as raised:
        read_series(written(tmp_path, text))
    where, _, problem = str(raised.value).partition("series.toml")
    assert (where, message in problem) == (f"{tmp_path}/", True), problem


def test_all_that_a_series_can_say(tmp_path: Path):
    head = HEAD + 'seed = 7\nrepeats = 1\noverlap = "/o.json"\n'
    full = (
        '[[point]]\nname = "full"\nmodel = "m"\nsize = 1\narm = "a"\nbase_url = "https://h/v1"\napi_key_env = "K"\n'
        'train_seed = 3\nsteps = 4\ntokens = 5\nadapter = "w"\n'
    )
    path = written(
        tmp_path, head + TRAINED + full + BASE + TRAINED.replace('"t"', '"s"') + "train_seed = -1\n"
    )
    first, second = (
        SeriesBenchmark(name="wild-mini"),
        SeriesBenchmark(name="acebench", data="finance", mode="fc"),
    )
    base, trained = (
        SeriesPoint(name="base", model="baseline/random", size=0),
        SeriesPoint(name="t", model="baseline/gold", size=10),
    )
    every = SeriesPoint(
        name="full", model="m", size=1, arm="a", base_url="https://h/v1", api_key_env="K", train_seed=3, steps=4,
        tokens=5, adapter="w",
    )  # fmt: skip
    earlier = SeriesPoint(name="s", model="baseline/gold", size=10, train_seed=-1)
    assert read_series(path) == Series(
        path=path,
        benchmarks=(first, second),
        points=(base, every, earlier, trained),
        seed=7,
        repeats=1,
        overlap=Path("/o.json"),
    )
    plain = read_series(written(tmp_path, HEAD + BASE + TRAINED))
    assert (plain.seed, plain.repeats, plain.overlap, trained.arm) == (None, 1, None, "all")
    whole = SeriesBenchmark(name="n", data="d/e.jsonl", mode="m", split="s", lang="en", profile="p")
    assert whole.label == "n-m-s-en-p-e"
