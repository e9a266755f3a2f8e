"""The runs of a comparison have names that tell them apart, and what keeps them from being compared is said."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.compare.test_comparison import items, side
from wildtool.engine.compare import load
from wildtool.engine.compare.load import check_comparable, load_compared_runs
from wildtool.engine.score.trust import TrustRemark
from wildtool.errors import UsageError

LIGHT, HEAVY, HINTED = (
    SimpleNamespace(kind=kind, label=label, described=f"{label} {kind}", without="none")
    for kind, label in (("noise", "light"), ("noise", "heavy"), ("aid", "gold"))
)
RUNS: Any = {
    "a": ("m", ()),
    "b": ("n", ()),
    "noisy": ("m", (LIGHT,)),
    "noisier": ("m", (HEAVY,)),
    "twin": ("m", ()),
    "hinted": ("m", (LIGHT, HINTED)),
}


def usage_error(action: Any) -> str:
    with pytest.raises(UsageError) as raised:
        action()
    return str(raised.value)


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        ("a b", ["m", "n"]),
        ("a noisy b", ["m (no noise)", "m (light)", "n"]),
        ("noisy noisier", ["m (light)", "m (heavy)"]),
        ("hinted a", ["m (light noise, gold aid)", "m (no aid)"]),
        ("a twin b", ["m (a)", "m (twin)", "n"]),
        ("a twin noisy", ["m (a)", "m (twin)", "m (noisy)"]),
    ],
)
def test_runs_of_one_model_are_told_apart_by_what_was_altered_or_by_their_folders(
    names: str, labels: list[str], monkeypatch: pytest.MonkeyPatch
):
    def identity(folder: Path) -> Any:
        model, altered = RUNS[folder.name]
        return {"models": {"agent": {"name": model}}, "altered": altered}

    @contextmanager
    def opened(folder: Path, profile: str | None) -> Iterator[Any]:
        yield f"result of {folder} under {profile}", Path(f"table of {folder}")

    monkeypatch.setattr(load, "read_run", lambda folder: {"identity": identity(folder)})
    monkeypatch.setattr(load, "recorded_alterations", lambda identity: identity["altered"])
    monkeypatch.setattr(load, "open_results", opened)
    monkeypatch.setattr(load, "relation", lambda tables: f"rows of {tables}")
    monkeypatch.setattr(load, "load_compared_run", lambda *given: given)
    folders = [Path(name) for name in names.split()]
    loaded: Any = load_compared_runs(folders, "strict", "item")
    assert loaded == [
        (
            label,
            f"result of {folder} under strict",
            identity(folder),
            f"rows of {[Path(f'table of {folder}')]}",
            "item",
        )
        for label, folder in zip(labels, folders, strict=True)
    ]


def test_a_comparison_needs_two_runs_each_given_once(tmp_path: Path):
    assert usage_error(lambda: load_compared_runs([tmp_path])) == (
        "a comparison needs two runs or more, such as `wildtool compare runs/demo/A runs/demo/B`"
    )
    (tmp_path / "link").symlink_to(tmp_path)
    assert usage_error(lambda: load_compared_runs([tmp_path, tmp_path / "link"])) == (
        "the same run is given twice; give each run once"
    )


def test_runs_that_do_not_cover_what_was_planned_are_compared_only_by_what_was_played():
    remark = TrustRemark("without a verdict", 1, 2, "1 of 2 units were not played", "go on")
    whole, part, other = (
        side(items("c"), label, incomplete=label != "a", trust=(remark, remark)) for label in "abc"
    )
    assert usage_error(lambda: check_comparable([whole, part, other])) == (
        "incomplete runs cannot be compared:\n"
        "  b: 1 of 2 units were not played: go on\n"
        "  c: 1 of 2 units were not played: go on\n"
        "Complete them, or add --only-played to compare the units that were run."
    )
    assert usage_error(lambda: check_comparable([whole, part], anyway=True))
    assert check_comparable([whole, part, other], only_played=True) == []


def test_what_runs_do_not_share_is_named_for_each_pair_that_is_compared():
    first, second = (side(items("c"), label, split=label, profile=label) for label in "ab")
    third = side(items("c"), "c", split="b", profile="a")
    of_first = [
        "a and b differ in profile they are judged under: a and b",
        "a and b differ in split: a and b",
        "a and c differ in split: a and b",
    ]
    of_all = [*of_first, "b and c differ in profile they are judged under: b and a"]
    assert check_comparable([first, second, third], anyway=True) == of_first
    assert check_comparable([first, second, third], all_pairs=True, anyway=True) == of_all
    assert check_comparable([first, first]) == []
    assert usage_error(lambda: check_comparable([first, third])) == (
        "these runs do not compare:\n"
        "  a and c differ in split: a and b\n"
        "Give runs of the same data and settings, or --anyway to compare the units they share."
    )
