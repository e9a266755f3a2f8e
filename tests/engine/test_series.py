"""Files that name a series of trained models."""

from pathlib import Path

import pytest

from wildtool.engine.series import SeriesBenchmark, read_series
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
