"""Procedures over training files: the same replies lead to the same requests, files and counts."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from generate.golden import check, digest
from training.procedures.training_files import TOOLS, call, message, row, wrote
from wildtool.stats.describe import share_metric
from wildtool.training.procedures.agreement import DISAGREEMENTS
from wildtool.training.procedures.pairs import Try
from wildtool.training.procedures.supervised import SupervisedTurn
from wildtool.training.record import (
    AssistantTurn,
    ObservedResult,
    ResultTurn,
    TrainingCall,
    TrainingRecord,
    UserTurn,
)
from wildtool.training.writers.options import DEFAULT_WRITING
from wildtool.types import Item, Reply, Request
from wildtool_data.make.training.audit_files import AUDIT_FILE
from wildtool_data.make.training.maker import TrainingMaker, role_instruction
from wildtool_data.make.training.pairs import (
    PairMaker,
    PairRules,
    PairSpec,
    _feedback,  # pyright: ignore[reportPrivateUsage]
    write_pairs,
    write_pairs_info,
)
from wildtool_data.make.training.rationales import (
    REASONED_FILE,
    RationaleMaker,
    RationaleSpec,
    Reasoning,
    WrittenRationales,
    _occurs,  # pyright: ignore[reportPrivateUsage]
    reasoning_fault,
    with_reasoning,
    write_rationales,
)
from wildtool_data.make.training.selection import (
    SelectionMaker,
    SelectionReplies,
    SelectionSpec,
    decision,
    drawn,
    random_arm,
    read_score,
)
from wildtool_data.make.training.selection_output import write_selection

STATIONS = ["Husum", "Kiel", "Sylt", "Emden", "Wyk", "Büsum", "Norden", "List"]


def test_a_model_is_sent_its_last_try_as_it_was():
    instruction = role_instruction("retry")
    call_of_f = TrainingCall("f", {"x": "Büsum"}, "call_1")
    for reply, shown in (
        (AssistantTurn("ü"), "ü"),
        (AssistantTurn(""), "(nothing)"),
        (AssistantTurn(None), "(nothing)"),
        (AssistantTurn("a", (call_of_f,)), '[{"name": "f", "arguments": {"x": "Büsum"}}]'),
    ):
        for error, reason in ((None, "it is odd"), *DISAGREEMENTS.items()):
            text = instruction.replace("{why}", reason).replace("{reply}", shown)
            assert _feedback(Try(reply, False, error, "it is odd")) == {"role": "user", "content": text}


STEPS = "1. The user asks for the level.\n2) It is at a station.\n### Step 3: Call the tool."
TOLD = "tells a value that the prompt does not have: "


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (STEPS, ""),
        ("one two three four five six", "fewer than 3 steps"),
        ("one two three four", "fewer than 5 tokens"),
        ("one two three four five", "fewer than 3 steps"),
        ("1. a\n2. b\nno more", "fewer than 3 steps"),
        ("1. a\n2. b\n**step 3) c", ""),
        ("1. a 2. b 3. c d e", "fewer than 3 steps"),
        ("1. a\n2. b\n123. c", "fewer than 3 steps"),
        *((f"{STEPS} {call}", "call syntax") for call in (
            "<tool_call>", "</THINK>", "[TOOL_CALLS]", '{"a": 1}', "level()", "level ( station=", "tide('Kiel",
            'level({"a', "level([1",
        )),
        *((f"{STEPS} {words}", "") for words in ("level (of the sea)", "sealevel()", "the level, (see", "flood()")),
        (f"{STEPS} At Husum.", ""),
        (f"{STEPS} At büsum.", f"{TOLD}Büsum"),
        (f"{STEPS} At B\\u00fcsum.", ""),
        (f"{STEPS} On day 47.", f"{TOLD}47"),
        (f"{STEPS} On day 17.", ""),
        ("1. Day\n2. Day\n47. Day 3\n3. Day", ""),
    ],
)  # fmt: skip
def test_reasoning_has_steps_and_neither_calls_nor_values_of_the_answer(text: str, fault: str):
    calls_of_gold = (
        TrainingCall("level", {"station": "Husum", "day": 17}, "call_1"),
        TrainingCall("tide", {"station": "Büsum", "day": 47}, "call_2"),
    )
    gold = AssistantTurn(None, calls_of_gold)
    record = TrainingRecord(turns=(UserTurn("Levels at Husum on day 17, please?"), gold), tools=())
    assert reasoning_fault(text, SupervisedTurn(record, 1, gold), 5) == fault


@pytest.mark.parametrize(
    ("text", "inside"),
    [('say a"b now', True), ('say a\\"b now', True), ('say c\\"b now', False), ("say a b now", False)],
)
def test_a_value_occurs_as_it_is_or_as_json_writes_it(text: str, inside: bool):
    assert _occurs('a"b', text) is inside


def _rows() -> list[Any]:
    rows = [
        row(call(station=name, day=k + 40), user=f"Level at {name} on day {k + 40}?", answer=f"It is {k} m.")
        for k, name in enumerate(STATIONS)
    ]
    rows.append(
        row(call(station="Husum"), call("tide", station="Kiel"), user="Level at Husum, tide at Kiel?")
    )
    text = {
        "conversations": [{"from": "human", "value": "Hello"}, {"from": "gpt", "value": "Good day."}],
        "tools": json.dumps(TOOLS),
    }
    return [*rows, text]


def _reply(item: Item, request: Request, number: int, words: list[str]) -> Reply:
    """Right, wrong in one way, or a text, drawn by the item and the number of the request."""
    draw = Random(f"{item.id}/{request.role}/{number}")
    data = item.data
    turn = getattr(data, "turn", data)
    gold = getattr(turn, "gold_message", None)
    named = f"In {item.id} the user"
    choices: list[Any] = [message(text=text.replace("The user", named)) for text in words]
    choices += [gold] * 3 if gold else []
    choices += [
        message(call(station=draw.choice(STATIONS))),
        message(call("flood", station="Husum")),
        message(call(station=3)),
        message(text="I do not know."),
        message(),
        message(text="x\ud800"),
        message(call(station="Husum"), call("tide", station="Kiel")),
    ]
    if request.role == "critic":
        return Reply(message(text=draw.choice(words)))
    if gold and request.role == "check" and draw.random() < 0.7:
        return Reply(gold)
    return Reply(draw.choice(choices), finish_reason="length" if draw.random() < 0.1 else "stop")


def _outcomes(maker: TrainingMaker[Any], words: list[str]) -> tuple[list[tuple[Item, Any]], list[str]]:
    results: list[tuple[Item, Any]] = []
    rows: list[str] = []
    for item in maker.planned():
        script, asked = maker.script(item), []
        try:
            request = next(script)
            while True:
                asked.append([request.role, list(request.messages), list(request.tools or ())])
                request = script.send(_reply(item, request, len(asked), words))
        except StopIteration as stop:
            results.append((item, stop.value))
            rows.append(
                f"{item.id}: {' '.join(role for role, *_ in asked)} {digest(asked)} {maker.why_lost(stop.value)}"
            )
    return results, rows


def _files(folder: Path, *sources: Path) -> dict[str, Any]:
    """The lines of all files of a folder."""
    found: dict[str, Any] = {}
    for path in sorted(folder.iterdir()):
        text = path.read_text("utf-8")
        for source in sources:
            text = text.replace(str(source), source.name)
        if path.name == "yield.json":
            found[path.name] = [
                f"{m['group']}: {m['name']}: {m['numerator']}/{m['denominator']} {m['value']}"
                for m in json.loads(text)
            ]
        else:
            found[path.name] = [
                line if len(line) < 300 else f"{line[:120]} {digest(line)}" for line in text.splitlines()
            ]
    return found


@pytest.mark.parametrize(
    ("name", "spec", "rules", "form"),
    [
        ("plain", {"tries": 3}, PairRules(), "sharegpt"),
        ("critic", {"turns": "all", "tries": 2, "retry": "feedback", "critic": True}, PairRules(), "openai"),
        ("trl", {"turns": "all", "tries": 1}, PairRules(), "trl"),
        ("folder", {"tries": 2}, PairRules(), "llamafactory"),
    ],
)
def test_pairs_are_made_as_before(tmp_path: Path, name: str, spec: Any, rules: PairRules, form: str):
    file, out = wrote(tmp_path / "a b.jsonl", *_rows()), tmp_path / "out"
    out.mkdir()
    maker = PairMaker(PairSpec(file=file, **spec))
    words = ['{"right": true, "why": "fine"}', '{"right": false, "why": "too short"}', "maybe"]
    results, asked = _outcomes(maker, words if "critic" in spec else [])
    tried = [(item.id, item.data, None if k == 1 else result) for k, (item, result) in enumerate(results)]
    written = write_pairs(tried, out, rules, form, ["acebench"] if name == "trl" else ())
    counts = [written.pairs, written.unfinished, written.solved, repr(written.lengths), len(written.metrics)]
    entry = write_pairs_info(out, file, form)
    check(
        f"pairs_{name}",
        {"asked": asked, "written": counts, "entry": entry, "roles": [*maker.roles], **_files(out, file)},
    )
    assert {role.default for role in maker.roles.values()} <= {""}
    assert write_pairs_info(out, file, "sharegpt") is None
    assert (maker.source().name, maker.source().path) == (str(file), file)
    assert maker.settings() == [
        spec.get("turns", "calls"),
        spec.get("tries", 2),
        spec.get("retry", "plain"),
        spec.get("critic", False),
    ]


THOUGHTS = [
    "1. The user wants a level.\n2. The place is named in the request.\n3. So the tool for levels fits, not another.",
    "1. The user wants a level.\n2. The place is named.\n3. So the station must be Husum or Kiel, on day 41, I think.",
    "1. one\n2. two\n3. three",
    "A text without any steps that is long enough to be read as reasoning about the call.",
    '1. It is\n2. a call\n3. so it is {"name": "level", "arguments": {}} that must be called here, I am sure.',
    "Step 1: look\nStep 2: think about the place\n**3.** <tool_call> comes next, since the tool fits here.",
    "1) first look at it\n2) then think more about it\n3) level(station='x') would be the one to call here.",
]


@pytest.mark.parametrize(("name", "wanted"), [("checked", True), ("unchecked", False)])
def test_reasoning_is_made_as_before(tmp_path: Path, name: str, wanted: bool):
    file, out = wrote(tmp_path / "a.jsonl", *_rows()), tmp_path / "out"
    out.mkdir()
    maker = RationaleMaker(RationaleSpec(file=file, min_tokens=12, check=wanted))
    results, asked = _outcomes(maker, [*[THOUGHTS[0]] * 12, *THOUGHTS * 2])
    thought = [(item.data, None if k == 2 else result) for k, (item, result) in enumerate(results)]
    written = write_rationales(thought, out, "sharegpt", DEFAULT_WRITING, ["acebench"] if wanted else ())
    counts = [written.records, written.turns, written.asked, written.unfinished, len(written.metrics)]
    check(
        f"rationales_{name}",
        {"asked": asked, "written": counts, "roles": [*maker.roles], **_files(out, file)},
    )
    assert maker.settings() == [12, wanted]
    assert [role.default for role in maker.roles.values()] == [""] * wanted
    assert (maker.source().name, maker.source().path) == (str(file), file)


def _of_several_calls(*stations: str) -> dict[str, Any]:
    """A conversation with a turn of a call for each station."""
    turns = [turn for name in stations for turn in row(call(station=name), user=name)["conversations"]]
    return {"conversations": turns, "tools": json.dumps(TOOLS)}


OK, OTHER, LEFT_OUT = (
    Reasoning("Think."),
    Reasoning("think  more"),
    Reasoning("No.", "tells a value: x", "why"),
)


@pytest.mark.parametrize(
    ("reasoning", "records", "turns", "reasons"),
    [
        ((OK, OTHER), 1, 2, ["breaks no rule"] * 2),
        ((OK, LEFT_OUT), 1, 1, ["breaks no rule", "tells a value: x"]),
        ((LEFT_OUT, OK), 0, 0, ["tells a value: x", "breaks no rule"]),
        ((OK, Reasoning(" THINK. ")), 1, 1, ["breaks no rule", "equal to the reasoning of another turn"]),
        ((LEFT_OUT, Reasoning("no.")), 0, 0, ["tells a value: x", "equal to the reasoning of another turn"]),
        ((None, OK), 0, 0, ["breaks no rule"]),
        ((OK, None), 1, 1, ["breaks no rule"]),
        ((None, None), 0, 0, []),
    ],
)
def test_a_record_with_reasoning_ends_before_its_first_call_without_any(
    tmp_path: Path, reasoning: tuple[Reasoning | None, ...], records: int, turns: int, reasons: list[str]
):
    file = wrote(tmp_path / "a.jsonl", _of_several_calls("Husum", "Kiel"), row(call(station="Sylt")))
    maker = RationaleMaker(RationaleSpec(file=file, min_tokens=0, check=False))
    thought = [
        (item.data, each)
        for item, each in zip(maker.planned(), [*reasoning, Reasoning("Last.")], strict=True)
    ]
    written = write_rationales(thought, tmp_path, "sharegpt", DEFAULT_WRITING)
    lost = Counter(reason.partition(":")[0] for reason in reasons if reason != "breaks no rule")
    asked = len(reasons) + 1
    assert written == WrittenRationales(
        records + 1,
        turns + 1,
        asked,
        reasoning.count(None),
        (
            share_metric("turns", "fit", asked - lost.total(), asked),
            share_metric("turns", "in written records", turns + 1, asked),
            *(share_metric("left out", reason, 1, asked) for reason in lost),
        ),
    )
    audit = [json.loads(line) for line in (tmp_path / AUDIT_FILE).read_text().splitlines()]
    assert [entry["reason"] for entry in audit] == [*reasons, "breaks no rule"]
    lines = [json.loads(line) for line in (tmp_path / REASONED_FILE).read_text().splitlines()]
    assert [sum(turn["from"] == "function_call" for turn in line["conversations"]) for line in lines] == [
        *([turns] if records else []),
        1,
    ]


USER, RESULT, ANSWER = UserTurn("u"), ResultTurn((ObservedResult("5"),)), AssistantTurn("a")
CALL = AssistantTurn(None, (TrainingCall("level", {}, "call_1"),))
SAID_CALL = replace(CALL, text="Let me see.")


@pytest.mark.parametrize(
    ("turns", "reasoning", "left"),
    [
        ((USER, CALL, RESULT, ANSWER), {1: "T"}, (USER, replace(CALL, text="T"), RESULT, ANSWER)),
        ((USER, SAID_CALL), {1: "T"}, (USER, replace(CALL, text="T\n\nLet me see."))),
        ((USER, CALL, RESULT), {1: "T"}, (USER, replace(CALL, text="T"))),
        ((USER, CALL, RESULT, ANSWER), {}, None),
        ((USER, ANSWER, USER, CALL), {}, None),
        ((USER, ANSWER), {}, None),
        ((CALL,), {0: "T"}, None),
        (
            (USER, replace(CALL, learned=False), RESULT, ANSWER),
            {},
            (USER, replace(CALL, learned=False), RESULT, ANSWER),
        ),
        (
            (USER, ANSWER, USER, CALL, RESULT, USER, CALL),
            {3: "T"},
            (USER, ANSWER, USER, replace(CALL, text="T")),
        ),
    ],
)
def test_what_is_left_of_a_record_with_reasoning(
    turns: tuple[Any, ...], reasoning: dict[int, str], left: tuple[Any, ...] | None
):
    record = TrainingRecord(turns=turns, system="S")
    assert with_reasoning(record, reasoning) == (None if left is None else replace(record, turns=left))


@pytest.mark.parametrize(
    ("name", "spec", "form"),
    [
        ("rated", {"threshold": 6.0}, "same"),
        ("hidden", {"reference": "hide", "per_set": 5, "seed": "2"}, "openai"),
        ("tried", {"by": "tries", "tries": 3, "round": 2}, "same"),
    ],
)
def test_records_are_chosen_as_before(tmp_path: Path, name: str, spec: Any, form: str):
    one, two = wrote(tmp_path / "a.jsonl", *_rows()), wrote(tmp_path / "b.jsonl", *_rows()[:4])
    seen = wrote(tmp_path / "seen.jsonl", {"set": "a", "record": "row 1"}, {"set": "b", "record": "row 2"})
    out = tmp_path / "out"
    out.mkdir()
    whole = SelectionSpec(files=(one, two), seen=(seen,), **spec)
    maker = SelectionMaker(whole)
    assert (maker.source().name, maker.source().path) == (str(one), one)
    results, asked = _outcomes(
        maker, [json.dumps({"score": score}) for score in (0, 3, 5.6, 6, 8, 10, 11)] + ["no idea"]
    )
    answered = [(item.data, None if k == 1 else result) for k, (item, result) in enumerate(results)]
    written = write_selection(answered, out, whole, "m", form, ["acebench"] if name == "rated" else ())
    counts = [
        written.kept,
        written.shared,
        written.scored,
        written.asked,
        written.unfinished,
        len(written.metrics),
    ]
    check(
        f"selection_{name}",
        {
            "asked": asked,
            "written": counts,
            "settings": maker.settings(),
            "templates": maker.templates,
            **_files(out, one, two),
        },
    )


SCORES: dict[str, float | None] = {
    "score: 7": 7.0,
    '{"score": 7.5}': 7.5,
    "Score = '8'": 8.0,
    "score: 11": None,
    "score: -1": None,
    "score: 0": 0.0,
    "score: 10": 10.0,
    "7/10": 7.0,
    "7 out of 10": 7.0,
    "11/10": None,
    "7/100": None,
    "7": 7.0,
    "I say 7, yes 7.0": 7.0,
    "7 or 8": None,
    "7%": None,
    "7 %": None,
    "v7": None,
    "1.7.2": None,
    "": None,
    "3,5": None,
    "score 4": 4.0,
    "underscore: 3": 3.0,
}


def test_a_score_is_read_by_the_first_rule_that_finds_a_number():
    assert {text: read_score(text) for text in SCORES} == SCORES


def test_a_record_is_kept_from_its_threshold_on_or_if_only_some_tries_are_right():
    rated = SelectionSpec(files=(), threshold=6)
    assert [
        (d.kept, d.reason)
        for score in (5.9, 6.0, None)
        if (d := decision(SelectionReplies("", score), rated))
    ] == [
        (False, "score 5.9 is below 6"),
        (True, "score 6 is at least 6"),
        (False, "no score could be read"),
    ]
    names = [str(k) for k in range(9)]
    assert [name for name, _ in drawn([(name, 0) for name in names], 3, "s")] == [
        name for name, _ in drawn([(name, 0) for name in names], 5, "s")
    ][:3]
    assert len(random_arm(names, 4, "s")) == 4
    assert random_arm(names, 9, "s") == {*names}
    assert [
        spec.draw_seed for spec in (SelectionSpec(files=()), SelectionSpec(files=(), round=2, seed="x"))
    ] == ["1", "x round 2"]
    plain = SelectionSpec(files=())
    assert (plain.per_set, plain.tries, plain.threshold, plain.by, plain.reference) == (
        500,
        4,
        5.0,
        "rating",
        "show",
    )
    paths = (Path("p/a.jsonl"), Path("q/a.json.gz"), Path("b.jsonl"))
    assert SelectionSpec(files=paths).set_names == {
        paths[0]: "p/a.jsonl",
        paths[1]: "q/a.json.gz",
        paths[2]: "b",
    }
