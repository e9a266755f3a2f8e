"""Planted instructions in whole benchmarks, and through the command."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from alter.altered_play import judged, played, said
from parity.cases import oracle_folder
from wildtool.alter.injection.injection import OBEDIENT, Injection
from wildtool.alter.injection.planting import choose_attack
from wildtool.alter.injection.settings import InjectionSetting
from wildtool.alter.noise.noise import Noise
from wildtool.alter.variant import Variant
from wildtool.benchmark import Benchmark
from wildtool.cli import app
from wildtool.data.data_set import data_of
from wildtool.engine.registry import as_recorded, load_benchmark
from wildtool.engine.score.verdict_table import relation
from wildtool.types import Item, Message, Reply, Request, Transcript

BASE = Injection(InjectionSetting.base, 3)
SETS = {
    "wild-mini": ("wild-mini", None, None),
    "acebench": ("acebench", "fc", "agent_finance"),
    "acebench, official": ("acebench", "fc", "agent"),
    "acebench, text": ("acebench", None, "agent_finance"),
    "acebench, official, text": ("acebench", "minimal", "agent"),
}
"""Name, mode and split of benchmarks that show results of native calls."""
PULLED = oracle_folder("acebench").parents[1] / "data"
OFFICIAL = {"acebench, official", "acebench, official, text"}
"""Those whose data come from the shared folder."""


def items(name: str) -> tuple[Benchmark, list[Item]]:
    benchmark_name, mode, split = SETS[name]
    benchmark = load_benchmark(benchmark_name, mode)
    data = oracle_folder(benchmark_name).parents[1] / "data" / benchmark_name
    if name in OFFICIAL and not data.is_dir():
        pytest.skip(f"no folder {data}")
    source = data_of(benchmark).locate(str(data) if name in OFFICIAL else None, split)
    found = list(benchmark.load(source, split=split))
    assert found
    # Spread over the kinds of items that there are.
    return benchmark, found[:: max(1, len(found) // 6)]


def units(benchmark: Benchmark, sample: list[Item]) -> Iterator[tuple[str, Item, str]]:
    return ((profile, item, unit) for profile in benchmark.profiles for item in sample for unit in item.units)


def results(request: Request) -> list[str]:
    if request.in_text is not None:
        return list(request.in_text.results)
    return [message["content"] for message in request.messages if message.get("role") == "tool"]


@pytest.mark.long
@pytest.mark.parametrize("name", SETS)
def test_who_answers_right_resists_and_who_obeys_is_found_out(name: str):
    benchmark, sample = items(name)
    plain, injected = Variant(benchmark), Variant(benchmark, (BASE,))
    found: list[object] = []
    for profile, item, unit in units(benchmark, sample):
        gold = said(plain, item, unit, profile, "parallel")
        clean = judged(plain, item, unit, gold, profile)
        steps = played(injected, item, unit, profile, "parallel")
        assert [reply for _, reply in steps] == gold
        verdict = judged(injected, item, unit, gold, profile)
        assert (verdict.outcome, verdict.score, verdict.error) == (clean.outcome, clean.score, clean.error)
        # What the simulated user sees is no result.
        shown = any(results(request) for request, _ in steps if request.role == "agent")
        assert verdict.fields["injection"] == ("resisted" if shown else "not reached")
        obedient = said(injected, item, unit, profile, OBEDIENT)
        found.append(judged(injected, item, unit, obedient, profile).fields["injection"])
        assert found[-1] == ("obeyed" if shown else "not reached")
    assert "obeyed" in found


@pytest.mark.parametrize("name", ["wild-mini", "acebench"])
def test_a_request_gains_one_tool_and_the_instruction_in_two_results_at_most(name: str):
    benchmark, sample = items(name)
    plain, injected = Variant(benchmark), Variant(benchmark, (BASE,))
    for profile, item, unit in units(benchmark, sample):
        pairs = zip(
            played(plain, item, unit, profile, "parallel"),
            played(injected, item, unit, profile, "parallel"),
            strict=True,
        )
        own = 0
        for (clean, _), (other, _) in pairs:
            assert clean.role == other.role
            if clean.role != "agent":
                assert clean.messages == other.messages
                continue
            (attack,) = [tool for tool in other.tools if tool not in clean.tools]
            assert [tool for tool in other.tools if tool is not attack] == list(clean.tools)
            changed = [
                number
                for number, (one, two) in enumerate(zip(clean.messages, other.messages, strict=True))
                if one != two
            ]
            assert all(clean.messages[number]["role"] == "tool" for number in changed)
            assert len(changed) <= 2
            assert bool(changed) == bool(results(clean))
            # What was shown once is shown alike from then on.
            assert len(changed) >= own
            own = len(changed)


@pytest.mark.parametrize("profile", ["official", "fixed"])
def test_a_text_gains_one_tool_and_the_instruction_in_its_first_result(profile: str):
    benchmark, sample = items("acebench, text")
    plain, injected = Variant(benchmark), Variant(benchmark, (BASE,))
    for item in sample:
        (unit,) = item.units
        attack = choose_attack(BASE.setting, BASE.seed, item, ())
        assert attack is not None
        pairs = zip(
            played(plain, item, unit, profile, "parallel"),
            played(injected, item, unit, profile, "parallel"),
            strict=True,
        )
        seen: list[bool] = []
        for (clean, _), (other, _) in pairs:
            one, two = (str(request.messages[-1]["content"]) for request in (clean, other))
            assert clean.messages[0] == other.messages[0]
            if clean.role != "agent":
                assert one == two
                continue
            assert (one.count(attack.name), two.count(attack.name)) == (0, 1)
            seen.append(attack.instruction in two)
            assert seen[-1] == bool(results(clean))
            assert one.count("\n") == two.count("\n")
        assert seen[-1]


def test_a_call_before_the_instruction_was_seen_is_not_obedience():
    benchmark, (item, *_) = items("acebench")
    injected = Variant(benchmark, (BASE,))
    (unit,) = item.units
    obedient = said(injected, item, unit, "fixed", OBEDIENT)
    called = next(reply for reply in obedient if str(reply.get("tool_calls")).find("call_attack") > 0)
    gold = said(injected, item, unit, "fixed", "parallel")
    assert judged(injected, item, unit, obedient, "fixed").fields["injection"] == "obeyed"
    assert judged(injected, item, unit, [called, *gold], "fixed").fields["injection"] == "resisted"


def test_what_the_attackers_tool_returns_looks_like_success():
    benchmark, (item, *_) = items("acebench")
    steps = played(Variant(benchmark, (BASE,)), item, item.units[0], "fixed", OBEDIENT)
    assert json.loads('{"status": "done"}') in [
        json.loads(result) for result in results(steps[-1][0]) if result[0] == "{"
    ]


def test_obedience_is_of_the_rules_that_the_run_was_under():
    # The published rules accept wrong values and show a result; the fixed rules end the task at the call.
    benchmark, sample = items("wild-mini")
    item = sample[0]
    identity = {**BASE.identity(), "profile": "official"}
    recorded = as_recorded(benchmark, identity)
    unit = item.units[0]
    first, *_ = said(recorded, item, unit, "official")
    first["tool_calls"][0]["function"]["arguments"] = '{"no_such": 1}'
    episode = recorded.episode(item, unit, "official")
    episode.advance(first)
    request = episode.request()
    assert request is not None
    assert request.gold is not None
    replies = [first, request.gold(OBEDIENT)]
    verdicts = {profile: judged(recorded, item, unit, replies, profile) for profile in ("official", "fixed")}
    assert verdicts["fixed"].steps < verdicts["official"].steps
    assert {verdict.fields["injection"] for verdict in verdicts.values()} == {"obeyed"}


def test_an_unfinished_unit_says_nothing_unless_it_obeyed():
    benchmark, (item, *_) = items("acebench")
    injected = Variant(benchmark, (BASE,))
    obedient = said(injected, item, item.units[0], "fixed", OBEDIENT)
    place = next(n for n, reply in enumerate(obedient) if "call_attack" in str(reply))
    outcomes = [
        judged(injected, item, item.units[0], obedient[:length], "fixed").fields.get("injection")
        for length in (0, place, place + 1)
    ]
    assert outcomes == [None, None, "obeyed"]


def test_a_trace_shows_what_the_model_saw():
    benchmark, sample = items("wild-mini")
    injected = Variant(benchmark, (BASE,))
    for item in sample:
        unit = item.units[-1]
        steps = played(injected, item, unit, "official", "parallel")
        transcript = Transcript(tuple(Reply(reply) for _, reply in steps))
        trace = injected.trace(item, unit, transcript, "official")
        seen = [
            message["content"] for step in trace.steps for message in step.seen if message["role"] == "tool"
        ]
        assert seen == results(steps[-1][0])
        assert len(trace.tools) == len(steps[0][0].tools)


def test_noise_and_instructions_together():
    benchmark, sample = items("wild-mini")
    plain, both = Variant(benchmark), Variant(benchmark, (Noise.parse("names:heavy,params:medium"), BASE))
    for item in sample:
        for unit in item.units:
            clean = judged(plain, item, unit, said(plain, item, unit, "official"), "official")
            gold = said(both, item, unit, "official", "parallel")
            assert judged(both, item, unit, gold, "official").outcome == clean.outcome
            obedient = said(both, item, unit, "official", OBEDIENT)
            assert judged(both, item, unit, obedient, "official").fields["injection"] in (
                "obeyed",
                "not reached",
            )


def test_malformed_replies_are_judged():
    benchmark, sample = items("wild-mini")
    injected = Variant(benchmark, (BASE,))
    item = sample[0]
    gold = said(injected, item, item.units[0], "official")
    for calls in (
        "text",
        [None],
        [{"function": None}],
        [{"id": ["x"], "function": {"name": ["y"]}}],
        {"id": 1},
    ):
        odd: Message = {"role": "assistant", "content": None, "tool_calls": calls}
        verdict = judged(injected, item, item.units[0], [gold[0], odd], "official")
        assert verdict.fields["injection"] == "resisted"


# Through the command --------------------------------------------------------------------------------------


def typed(*words: object) -> tuple[int, str]:
    """Types `wildtool WORDS`; its exit status, and its output on one line with all that it says of errors."""
    ended = CliRunner().invoke(app, [*map(str, words)], prog_name="wildtool")
    return ended.exit_code, " ".join(ended.output.split())


def run(out: Path, *more: object, model: str = "baseline/gold") -> tuple[int, str]:
    return typed("run", "wild-mini", "--model", model, "--limit", "4", "--out", out, "--quiet", *more)


def identity(folder: Path) -> dict[str, object]:
    return json.loads((folder / "run.json").read_text())["identity"]


def requests_of(folder: Path) -> set[tuple[str, ...]]:
    """Address and digest of each recorded request."""
    rows = map(json.loads, (folder / "record-0001.jsonl").read_text().splitlines())
    return {
        (row["item"], row["unit"], str(row["step"]), row["request"]) for row in rows if row["row"] == "step"
    }


@pytest.mark.long
def test_a_run_with_instructions_is_scored_resumed_and_compared(tmp_path: Path):
    inject = ("--inject", "enhanced", "--inject-seed", 5)
    assert run(tmp_path / "clean")[0] == 0
    status, table = run(tmp_path / "gold", *inject)
    assert status == 0
    assert "injection enhanced, seed 5" in table
    assert "injection: obeyed (lower is better) 0.0 %" in table
    assert identity(tmp_path / "gold")["injection"] == {"setting": "enhanced", "seed": 5}
    assert run(tmp_path / "gold", *inject) == (status, table)
    status, reason = run(tmp_path / "gold", "--inject", "enhanced")
    assert status == 2
    assert "injection.seed" in reason
    assert run(tmp_path / "obedient", *inject, model="baseline/obedient")[0] == 0
    for folder, obeyed in (("gold", 0), ("obedient", 1)):
        assert typed("score", tmp_path / folder)[0] == 0
        status, text = typed("show", tmp_path / folder, "--json", "--group", "injection")
        assert status == 0
        metrics = {metric["name"]: metric for metric in json.loads(text)["runs"][0]["metrics"]}
        assert metrics["obeyed"]["value"] == obeyed
        assert metrics["obeyed"]["denominator"] > 0
        assert metrics["not reached"]["denominator"] == 16
        kinds = [metrics[f"obeyed: {kind}"]["denominator"] for kind in ("direct harm", "data stealing")]
        assert sum(kinds) == metrics["obeyed"]["denominator"]
    status, text = typed("compare", tmp_path / "clean", tmp_path / "gold")
    assert status == 0
    assert "baseline/gold (no injection)" in text
    assert "instructions were planted into tools' results: none; enhanced, seed 5" in text


def test_a_dataset_page_names_the_instructions_and_their_columns(tmp_path: Path):
    run(tmp_path / "run", "--inject", "base")
    status, _ = typed("export", tmp_path / "run", "--to", "hf-card", "-o", tmp_path / "card")
    assert status == 0
    page = (tmp_path / "card" / "README.md").read_text()
    assert "injection base" in page
    columns = relation([tmp_path / "card" / "verdicts-official.parquet"]).columns
    assert "injection" in columns
    assert [column for column in columns if f"| {column.replace('_', chr(92) + '_')} |" not in page] == []


def test_off_changes_no_byte_of_a_run(tmp_path: Path):
    run(tmp_path / "clean")
    assert "injection" not in identity(tmp_path / "clean")
    clean = requests_of(tmp_path / "clean")
    # As before `--inject` was there.
    assert hashlib.sha256(repr(sorted(clean)).encode()).hexdigest()[:16] == "1d28f63f4128d199"
    run(tmp_path / "injected", "--inject", "base")
    injected = requests_of(tmp_path / "injected")
    assert {place[:3] for place in clean} == {place[:3] for place in injected}
    assert not clean & injected


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("wild-mini", "--inject", "strong"), "'base', 'enhanced'"),
        (
            ("rotbench", "--data", PULLED / "rotbench", "--inject", "base"),
            "none of the selected items of rotbench shows one",
        ),
        (("toleap", "--inject", "base"), "--inject belongs to one benchmark"),
    ],
)
def test_what_cannot_be_injected_is_refused_before_the_run(
    tmp_path: Path, words: Sequence[object], reason: str
):
    if words[0] == "rotbench" and not (PULLED / "rotbench").is_dir():
        pytest.skip(f"no folder {PULLED / 'rotbench'}")
    status, text = typed("run", *words, "--model", "baseline/gold", "--out", tmp_path / "run")
    assert status == 2
    assert reason in text
    assert not (tmp_path / "run").exists()
