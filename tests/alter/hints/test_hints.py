"""Hints and reasoning for the model under test, in whole benchmarks and through the command."""

import errno
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from alter.altered_play import judged, played
from benchmarks.bfcl.bfcl_build import write_data
from training.procedures.student import Body, teaching
from training.procedures.training_files import call, message, row, wrote
from wildtool.alter.hints.gold_hints import gold_hints
from wildtool.alter.hints.hint_files import Hint, read_hints, read_rationales, shuffle_hints
from wildtool.alter.hints.hints import Hints
from wildtool.alter.injection.injection import Injection
from wildtool.alter.injection.settings import InjectionSetting
from wildtool.alter.noise.noise import Noise
from wildtool.alter.variant import Variant
from wildtool.benchmark import Benchmark, Check, Rules
from wildtool.cli import app
from wildtool.data.data_set import data_of
from wildtool.engine.registry import as_recorded, load_benchmark
from wildtool.errors import DataError, RecordError, UsageError
from wildtool.types import Item, Message, Reply, Request, Source, Transcript

OWN = Hints.given(None, "own")
HUSUM, KIEL = call(station="Husum"), call(station="Kiel")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


SETS = {"wild-mini": ("wild-mini", None, None), "acebench": ("acebench", "fc", "agent_finance")}


def items(name: str) -> tuple[Benchmark, list[Item]]:
    benchmark_name, mode, split = SETS[name]
    benchmark = load_benchmark(benchmark_name, mode)
    found = list(benchmark.load(data_of(benchmark).locate(None, split), split=split))
    assert found
    return benchmark, found[:: max(1, len(found) // 4)]


def agent(steps: list[tuple[Request, Message]]) -> list[list[Message]]:
    return [list(request.messages) for request, _ in steps if request.role == "agent"]


@pytest.mark.parametrize("name", SETS)
def test_a_hint_is_a_line_of_the_last_message_before_its_step_and_stays_there(name: str):
    benchmark, sample = items(name)
    seen = 0
    for profile in benchmark.profiles:
        for item in sample:
            for unit in item.units:
                aid = Hints(tuple(Hint(item.id, unit, step, f"hint {step}", "clue") for step in (0, 1)))
                plain, aided = Variant(benchmark), Variant(benchmark, (aid,))
                clean, steps = (agent(played(one, item, unit, profile)) for one in (plain, aided))
                for number, (before, after) in enumerate(zip(clean, steps, strict=True)):
                    changed = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
                    said = [str(b["content"]).removeprefix(str(a["content"])) for a, b in changed]
                    assert all(a["role"] in ("user", "tool") for a, _ in changed)
                    if number < 2:
                        assert said[-1].endswith(f"\nhint {number}")
                    seen += len(changed)
    assert seen


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("aid", [Hints((Hint("none", "0", 0, "x"),)), OWN], ids=["hints", "own reasoning"])
def test_verdicts_and_traces_are_those_of_the_same_replies_without_aid(name: str, aid: Hints):
    benchmark, sample = items(name)
    plain, aided = Variant(benchmark), Variant(benchmark, (aid,))
    for profile in benchmark.profiles:
        for item in sample[:2]:
            for unit in item.units:
                gold = [reply for _, reply in played(plain, item, unit, profile)]
                with_it = [reply for _, reply in played(aided, item, unit, profile)]
                assert len(with_it) == len(gold) + (aid.rationale == "own")
                clean, found = (
                    judged(one, item, unit, said, profile) for one, said in ((plain, gold), (aided, with_it))
                )
                assert replace(found, fields=clean.fields) == clean
                traces = [
                    one.trace(item, unit, Transcript(tuple(map(Reply, said))), profile)
                    for one, said in ((plain, gold), (aided, with_it))
                ]
                assert len(traces[0].steps) == len(traces[1].steps)


def test_own_reasoning_is_asked_first_without_tools_and_then_shown():
    benchmark, (item, *_) = items("wild-mini")
    episode = Variant(benchmark, (OWN,)).episode(item, item.units[0], "official")
    first = episode.request()
    assert first is not None
    assert (first.tools, first.messages[0]["role"]) == ((), "system")
    assert json.loads(first.messages[1]["content"]).keys() == {"tools", "conversation"}
    episode.advance({"content": "Step 1\nThe day is known.", "tool_calls": None})
    second = episode.request()
    plain = benchmark.rules("official").episode(item, item.units[0]).request()
    assert second is not None
    assert plain is not None
    assert (second.tools, [*second.messages[:-1]]) == (plain.tools, [*plain.messages[:-1]])
    added = second.messages[-1]["content"].removeprefix(plain.messages[-1]["content"])
    assert added.strip().endswith("Step 1\nThe day is known.")


def test_blank_reasoning_adds_nothing():
    benchmark, (item, *_) = items("wild-mini")
    episode = Variant(benchmark, (OWN,)).episode(item, item.units[0], "official")
    episode.advance({"content": None, "tool_calls": [{}]})
    request, plain = episode.request(), benchmark.rules("official").episode(item, item.units[0]).request()
    assert request is not None
    assert plain is not None
    assert list(request.messages) == list(plain.messages)


def test_without_aid_the_benchmark_itself_is_given():
    benchmark = load_benchmark("wild-mini")
    assert Hints.given(None, None).identity() == {}
    assert as_recorded(benchmark, {"prompts": ""}) == Variant(benchmark)


@pytest.mark.parametrize(
    "aid",
    [
        Hints((Hint("a", "0", None, "x", "clue"), Hint("b", "1", 2, "y", "expectation")), True),
        OWN,
        Hints((Hint("a", "0", 0, "x"),), False, "given", {("a", "0"): "because"}),
    ],
)
def test_a_record_has_all_that_the_aid_needs(aid: Hints):
    identity = json.loads(json.dumps(aid.identity()))
    assert Hints.recorded(identity) == aid
    assert as_recorded(load_benchmark("wild-mini"), identity).alterations == (aid,)


def test_a_damaged_record_is_named():
    with pytest.raises(RecordError, match=r"identity\.hints"):
        Hints.recorded({"hints": {"texts": [["a"]]}})


def test_shuffled_hints_stand_at_the_same_places_with_texts_of_other_items():
    hints = tuple(Hint(item, "0", step, f"{item}{step}") for item in "abc" for step in (0, 1))
    other = {"a": "b", "b": "c", "c": "a"}
    shuffled = [replace(hint, text=f"{other[hint.item]}{hint.step}") for hint in hints]
    assert shuffle_hints(hints) == tuple(shuffled)
    # Of an item with fewer hints the first ones come again.
    assert [hint.text for hint in shuffle_hints(hints[1:])] == ["b0", "c0", "c1", "a1", "a1"]
    with pytest.raises(UsageError, match="two items"):
        shuffle_hints(hints[:2])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"item": "a", "unit": "0"}', "text"),
        ('{"item": "a", "unit": "0", "text": "x", "step": -1}', "step must be"),
        ('{"item": "a", "unit": "0", "text": "x", "kind": 1}', "kind must be"),
        ('{"item": "a", "unit": "0", "text": "x", "turn": "1"}', "turn must be"),
        ('{"item": "a", "unit": "0", "text": " "}', "text is empty"),
        ("oops", "line 1"),
        ("", "no hint"),
    ],
)
def test_a_hints_file_with_a_mistake_is_refused_with_its_line(line: str, said: str):
    Path("h.jsonl").write_text(f"{line}\n" if line else "")
    with pytest.raises(DataError, match=said):
        read_hints(Path("h.jsonl"))


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['{"item": "a", "unit": "0"}'], "text"),
        (['{"item": "a", "unit": "0", "text": " \\n"}'], ":1: text is empty"),
        (['{"item": "a", "unit": "0", "text": "x"}'] * 2, ":2: .* has reasoning already"),
        ([], "no reasoning"),
    ],
)
def test_a_file_of_reasoning_with_a_mistake_is_refused_with_its_line(lines: list[str], said: str):
    Path("r.jsonl").write_text("".join(f"{line}\n" for line in lines))
    with pytest.raises(DataError, match=said):
        read_rationales(Path("r.jsonl"))


# From gold answers -----------------------------------------------------------------------------------


def convs(*messages: tuple[str, Any]) -> list[Message]:
    return [
        {"role": role, **(said if isinstance(said, dict) else {"content": said})} for role, said in messages
    ]


class Script(Rules):
    """Asks for gold replies, in turn, after the messages that belong to each."""

    def __init__(
        self, *steps: tuple[list[Message], Message], facts: Sequence[dict[str, Any]] = ({},)
    ) -> None:
        self._steps, self._facts = steps, facts

    def episode(self, item: Item, unit: str) -> "ScriptEpisode":
        return ScriptEpisode(self._steps)

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        return Check(True)

    def facts(self, episode: Any, item: Item, unit: str) -> dict[str, Any]:
        return self._facts[min(episode.step, len(self._facts) - 1)]


class ScriptEpisode:
    def __init__(self, steps: Sequence[tuple[list[Message], Message]]) -> None:
        self._steps, self.step = steps, 0

    @property
    def done(self) -> bool:
        return self.step == len(self._steps)

    def request(self) -> Request | None:
        if self.done:
            return None
        shown = [message for messages, said in self._steps[: self.step] for message in (*messages, said)]
        messages, said = self._steps[self.step]
        return Request([*shown, *messages], gold=lambda style: said)

    def advance(self, reply: Message) -> None:
        self.step += 1


class Scripted(Benchmark):
    name = "scripted"
    title = "replies in turn"

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        return iter(())

    def rules(self, profile: str) -> Rules:
        return self._rules


def hints_of(*steps: tuple[list[Message], Message], **more: Any) -> list[tuple[str, str, str]]:
    """Turn and step, kind and text of each hint."""
    found = gold_hints(Scripted(Script(*steps, **more)), Item("i", ("0",), None), "official")
    return [(f"{hint.turn}.{hint.step}", hint.kind, hint.text) for hint in found]


def calls(**arguments: Any) -> Message:
    function = {"name": "level", "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": function}]}


TEXT: Message = {"role": "assistant", "content": "Fine."}


def test_a_clue_says_where_a_value_was_said_and_not_what_it_is_for():
    result = {"content": '{"stations": [{"id": "st-17"}]}', "tool_call_id": "c"}
    found = hints_of(
        (convs(("user", "Hello there. I live in Husum! What now?")), calls(place="Husum")),
        (convs(("tool", result)), TEXT),
        (convs(("user", "And the level?")), calls(station="st-17", place="Husum", days=3)),
    )
    assert found == [
        ("1.0", "clue", "Earlier result of level: stations[0].id is st-17."),
        ("1.0", "clue", 'Said earlier: "I live in Husum!"'),
    ]


def test_a_value_within_a_text_of_a_result_is_told_with_its_key():
    result = {"content": '{"found": ["./a/one.txt", "./a/two.txt"], "at": null}', "tool_call_id": "c"}
    found = hints_of(
        (convs(("user", "Look")), calls()),
        (convs(("tool", result)), TEXT),
        (convs(("user", "Sort both")), calls(file="two.txt", other="one.txt")),
    )
    assert [text for _, _, text in found] == [
        "Earlier result of level: found[1] is ./a/two.txt.",
        "Earlier result of level: found[0] is ./a/one.txt.",
    ]


def test_no_clue_is_what_the_model_was_just_given_or_what_occurs_nowhere():
    assert not hints_of(
        (convs(("user", "Kiel")), calls(place="Kiel")),
        (convs(("tool", {"content": "st-17", "tool_call_id": "c"})), calls(station="st-17", unit="metres")),
    )


@pytest.mark.parametrize(
    ("value", "text"), [(17, "in 2017 it was"), ("art", "a party"), ("", "any"), (True, "true")]
)
def test_no_clue_is_a_part_of_another_word(value: Any, text: str):
    first = (convs(("user", text)), TEXT)
    assert not hints_of(first, (convs(("user", "And now?")), calls(value=value)))


def test_a_value_between_letters_of_a_language_without_blanks_is_found():
    found = hints_of(
        (convs(("user", "我住在基尔。明天呢?")), TEXT), (convs(("user", "潮位?")), calls(place="基尔"))
    )
    assert found == [("1.0", "clue", 'Said earlier: "我住在基尔。"')]


def test_of_a_long_sentence_the_words_around_the_value_are_quoted():
    talk = " ".join(f"word{k}" for k in range(100))
    found = hints_of(
        (convs(("user", f"{talk} Husum {talk}")), TEXT), (convs(("user", "And?")), calls(place="Husum"))
    )
    ((_, _, text),) = found
    quoted = text.removeprefix('Said earlier: "').removesuffix('"')
    assert len(quoted) < 220
    assert (quoted[:6], quoted[-2:]) == ("… word", " …")
    assert {word.rstrip("0123456789") for word in quoted.split()} == {"…", "word", "Husum"}


@pytest.mark.usefixtures("bfcl_package")
def test_where_nothing_can_be_hinted_at_the_mode_is_named(tmp_path: Path):
    write_data(Path("data"))
    ended = type_("audit bfcl --data data --split simple_python --hints gold -o h.jsonl")
    assert (ended.exit_code, "in mode fc (of fc, prompt)" in " ".join(ended.stderr.split())) == (2, True)
    assert not Path("h.jsonl").exists()


def test_a_hint_of_a_turn_waits_until_the_user_has_spoken_so_often():
    result = convs(("tool", {"content": "st-17", "tool_call_id": "c"}))
    rules = Script(
        (convs(("user", "Husum?")), calls()), (result, calls()), (result, TEXT), (convs(("user", "Again")), calls())
    )  # fmt: skip
    hints = [
        Hint("i", "0", 0, "first"),
        Hint("i", "0", 0, "second", turn=1),
        Hint("i", "0", 1, "late", turn=1),
    ]
    hints += [Hint("i", "0", 3, "fourth step"), Hint("i", "0", 2, "third of the first", turn=0)]
    aided = Variant(Scripted(rules), (Hints(tuple(hints)),))
    steps = played(aided, Item("i", ("0",), None), "0", "official")
    added = [str(request.messages[-1]["content"]).split("\n")[1:] for request, _ in steps]
    assert added == [["first"], [], ["third of the first"], ["second", "fourth step"]]
    assert Hints.recorded(Hints(tuple(hints)).identity()) == Hints(tuple(hints))


def test_a_state_that_changed_is_told_where_the_user_speaks_next():
    result = convs(("tool", {"content": "done", "tool_call_id": "c"}))
    found = hints_of(
        (convs(("user", "Go to a")), calls()),
        (result, TEXT),
        (convs(("user", "And now?")), TEXT),
        (convs(("user", "And now?")), TEXT),
        facts=[{"folder": "/", "user": "ann"}, {"folder": "/a", "user": "ann"}],
    )
    assert found == [("1.0", "state", "folder is now /a.")]


@pytest.mark.parametrize("name", SETS)
def test_hints_of_a_benchmark_name_its_units_and_steps(name: str):
    benchmark, sample = items(name)
    profile = next(iter(benchmark.profiles))
    found = [hint for item in sample for hint in gold_hints(benchmark, item, profile)]
    assert found
    for hint in found:
        item = next(item for item in sample if item.id == hint.item)
        steps = agent(played(Variant(benchmark), item, hint.unit, profile))
        assert hint.step in range(len(steps))
        assert hint.text == " ".join(hint.text.split())


@pytest.mark.long
def test_hints_made_from_gold_answers_are_read_by_a_run(monkeypatch: pytest.MonkeyPatch):
    made = type_("audit wild-mini --hints gold -o hints.jsonl")
    assert made.exit_code == 0, made.stderr
    lines = [json.loads(line) for line in Path("hints.jsonl").read_text().splitlines()]
    units = len({(line["item"], line["unit"]) for line in lines})
    assert (
        " ".join(made.stdout.split())
        == f"hints.jsonl: {len(lines)} hints (clue {len(lines)}) for {units} of 128 units"
    )
    assert made.stderr == (
        "Next: `wildtool run wild-mini --hints hints.jsonl` beside a run without, then `wildtool compare`; with"
        " `--hints shuffled:hints.jsonl` as the control.\n"
    )
    assert len(read_hints(Path("hints.jsonl"))) == len(lines)
    run = "run wild-mini --model baseline/chat --limit 3 -q --hints"
    assert type_(f"{run} hints.jsonl --out hinted").exit_code == 0
    assert type_(f"{run} shuffled:hints.jsonl --out control").exit_code == 0
    assert type_("audit wild-mini --hints gold -o hints.jsonl").exit_code == 0, "its own file"
    Path("mine.jsonl").write_text("mine")
    refused = type_("audit wild-mini --hints gold -o mine.jsonl")
    assert (refused.exit_code, "--force" in refused.stderr) == (2, True)

    def full(*given: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        stopped = type_("audit wild-mini --hints gold -o hints.jsonl --force --split travel")
    assert (stopped.exit_code, "No space left" in stopped.stderr) == (3, True)
    assert len(read_hints(Path("hints.jsonl"))) == len(lines)
    counts = json.loads(type_("audit wild-mini --hints gold -o hints.jsonl --force --json").stdout)
    of_all = {"hints": len(lines), "kinds": {"clue": len(lines)}, "units_with_hints": units, "units": 128}
    assert counts == {"out": "hints.jsonl", **of_all}
    part = json.loads(
        type_("audit wild-mini --hints gold -o part.jsonl --split travel --lang en --json").stdout
    )
    kept = [line for line in lines if line in map(json.loads, Path("part.jsonl").read_text().splitlines())]
    assert 0 < part["hints"] == len(kept) < len(lines) and part["units"] < 128


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("audit wild-mini --hints gold", "--out hints.jsonl"),
        ("audit wild-mini -o hints.jsonl", "need --hints"),
        ("audit wild-mini --hints gold -o h --profile nix", "nix"),
    ],
)
def test_an_audit_for_hints_that_cannot_be_is_refused(line: str, said: str):
    ended = type_(line)
    assert (ended.exit_code, said in ended.stderr) == (2, True)


# Through the command ---------------------------------------------------------------------------------


def hinted(body: Body) -> dict[str, Any]:
    """Does what a hint says; without one it says Husum, and a hint makes it forget how to answer."""
    last = body["messages"][-1]
    text = str(last["content"])
    if "write your thoughts down" in body["messages"][0]["content"]:
        return message(text="The user means Kiel.")
    if last["role"] == "tool":
        return message(text="" if "by the way" in text else "High.")
    return message(KIEL if "Kiel" in text.partition("?")[2] else HUSUM)


def counted(name: str, words: str) -> Any:
    shown = type_(f"compare {words} --json")
    assert shown.exit_code == 0, shown.stderr
    return {one["name"]: one for one in json.loads(shown.stdout)[name]}


@pytest.mark.long
@pytest.mark.usefixtures("bfcl_package")
def test_published_figures_of_hints_are_beside_runs_of_their_benchmark():
    write_data(Path("data"))
    wrote(Path("h.jsonl"), {"item": "simple_python_0", "unit": "0", "text": "x"})
    run = "run bfcl --data data --split simple_python --model baseline/gold -q"
    for more in ("--out plain", "--out again", "--out hinted --hints h.jsonl"):
        assert type_(f"{run} {more}").exit_code == 0
    (table,) = json.loads(type_("compare plain hinted --json").stdout)["published"]
    corrected = {one["model"]: one["values"]["corrected_by_clues"] for one in table["rows"]}
    assert corrected == {"Llama-3.1-8B-Instruct": 52.4, "gpt-4o-1120": 60.9}
    shown = " ".join(type_("compare plain hinted").stdout.split())
    assert shown.index("corrected and broken") < shown.index("ToLeaP paper") < shown.index("people who knew")
    assert "ToLeaP" not in type_("compare plain again").stdout


@pytest.mark.long
def test_aid_effects_units_are_counted_by_kind_of_hint():
    wrote(Path("a.jsonl"), row(KIEL, user="Which?", id="a"), row(HUSUM, user="Which?", id="b"))
    wrote(
        Path("h.jsonl"),
        {"item": "a", "unit": "1", "step": 0, "text": "Kiel is meant", "kind": "clue", "by": "me"},
        {"item": "a", "unit": "3", "step": "*", "text": "by the way", "kind": "expectation"},
        {"item": "nobody", "unit": "1", "text": "x"},
    )
    with teaching(hinted) as (endpoint, received):
        run = f"run training --data a.jsonl --model m {endpoint}"
        plain = type_(f"{run} --out plain")
        before = [json.dumps(body) for body in received]
        aided = type_(f"{run} --hints h.jsonl --out hinted")
        assert (plain.exit_code, aided.exit_code) == (0, 0)
        assert "1 of 3 hints and rationales are for no selected unit" in aided.stderr
        refused = type_(f"{run} --out hinted -q")
        assert (refused.exit_code, "hints" in refused.stderr) == (2, True)
        assert not any("Kiel is meant" in body for body in before)
    found = counted("aid_effects", "plain hinted")
    assert {
        name: (one["corrected"], one["wrong"], one["broken"], one["right"]) for name, one in found.items()
    } == {
        "all": (1, 1, 1, 3),
        "clue": (1, 1, 0, 0),
        "expectation": (0, 0, 1, 1),
        "no hints": (0, 0, 0, 2),
    }
    assert found["all"]["corrected_share"]["value"] == 1.0
    shown = type_("compare plain hinted").stdout
    assert "corrected and broken: m (hints) against m (no aid)" in shown
    assert "given hints: none; hints" in " ".join(shown.split())
    assert "hints" in type_("show hinted").stdout


@pytest.mark.long
def test_own_and_given_reasoning_are_recorded_resumed_and_scored():
    wrote(Path("a.jsonl"), row(KIEL, user="Which?", id="a"))
    wrote(Path("r.jsonl"), {"item": "a", "unit": "1", "text": "Kiel, surely."})
    with teaching(hinted) as (endpoint, received):
        run = f"run training --data a.jsonl --model m {endpoint} -q"
        type_(f"{run} --out plain")
        assert len(received) == 2
        own = type_(f"{run} --rationale own --out own")
        assert (own.exit_code, len(received)) == (0, 6)
        again = type_(f"{run} --rationale own --out own")
        assert (again.exit_code, len(received)) == (0, 6)
        given = type_(f"{run} --rationale r.jsonl --out given")
        assert (given.exit_code, len(received)) == (0, 8)
    for name in ("own", "given"):
        found = counted("aid_effects", f"plain {name}")["all"]
        assert (found["corrected"], found["wrong"], found["broken"]) == (1, 1, 0)
        assert type_(f"score {name}").exit_code == 0
    assert type_("export own --format openai -o own.jsonl").exit_code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--hints none.jsonl", "none.jsonl"),
        ("--hints shuffled:h.jsonl", "two items"),
        ("--hints h.jsonl", "no hint or rationale is for a selected unit"),
    ],
)
def test_aid_that_cannot_work_is_refused_before_anything_is_sent(words: str, said: str):
    wrote(Path("a.jsonl"), row(KIEL, id="a"))
    wrote(Path("h.jsonl"), {"item": "b", "unit": "1", "text": "x"})
    ended = type_(f"run training --data a.jsonl --model baseline/gold {words} --out run")
    assert (ended.exit_code, said in ended.stderr, Path("run").exists()) == (2, True, False)


def test_a_run_with_noise_may_also_ask_for_reasoning():
    ended = type_(
        "run wild-mini --model baseline/gold --limit 1 --noise names:heavy --rationale own -q --out run"
    )
    assert ended.exit_code == 0, ended.stderr
    identity = json.loads(Path("run/run.json").read_text())["identity"]
    assert identity["noise"]["levels"] == "names:heavy"
    assert identity["rationale"]["by"] == "own"


def test_aid_stands_beside_noise_and_planted_instructions():
    benchmark, sample = items("acebench")
    item = sample[0]
    changed = Variant(benchmark, (Noise.parse("names:heavy"), Injection(InjectionSetting.base, 3)))
    aid = replace(OWN, hints=(Hint(item.id, item.units[0], 0, "a hint"),))
    aided = Variant(benchmark, (*changed.alterations, aid))
    unit = item.units[0]
    steps = played(aided, item, unit, "official")
    assert "a hint" in json.dumps([*steps[-1][0].messages], ensure_ascii=False)
    said = [reply for _, reply in steps]
    plain = [reply for _, reply in played(changed, item, unit, "official")]
    verdict = judged(aided, item, unit, said, "official")
    assert verdict.outcome == judged(changed, item, unit, plain, "official").outcome == "correct"
    assert (verdict.fields["hint"], verdict.fields["rationale"]) == ("clue", "own")
    assert "injection" in verdict.fields
