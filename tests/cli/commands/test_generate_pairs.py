"""Preference pairs from what a model gets wrong, as they are made on the command line."""

import json
import subprocess
import threading
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from e2e.command import COMMAND
from training.procedures.student import Body, teaching
from training.procedures.training_files import call, message, row, wrote
from wildtool.cli import app
from wildtool_data.prepare.check.rules import check_record
from wildtool_data.prepare.check.trainers import TRAINERS

LLAMA_FACTORY = TRAINERS["llama-factory"]
HUSUM, KIEL, SYLT = (call(station=name) for name in ("Husum", "Kiel", "Sylt"))


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


def lines(name: str) -> list[Any]:
    return [json.loads(line) for line in Path(name).read_text("utf-8").splitlines()]


def request_of(body: Body) -> str:
    return next(one["content"] for one in body["messages"] if one["role"] == "user")


def careless(body: Body) -> dict[str, Any]:
    """Husum at once, Kiel at its second try, Sylt never."""
    asked = request_of(body)
    if asked == "Husum?":
        return message(HUSUM)
    if asked == "Kiel?":
        return message(KIEL if body["temperature"] else HUSUM)
    return message(text="I cannot know that.")


FILE = [row(HUSUM, user="Husum?"), row(KIEL, user="Kiel?"), row(SYLT, user="Sylt?")]


def test_the_files_reply_is_chosen_and_the_first_wrong_try_rejected():
    wrote(Path("a.jsonl"), *FILE)
    with teaching(careless) as (endpoint, received):
        ended = type_(f"generate pairs a.jsonl --model m {endpoint} -o out")
    assert (ended.exit_code, ended.stdout.splitlines()[-1]) == (
        0,
        "out/pairs.jsonl: 2 pairs, 1 of turns that no try solved",
    )
    kiel, sylt = lines("out/pairs.jsonl")
    assert [one["value"] for one in kiel["conversations"]] == ["Kiel?"]
    assert json.loads(kiel["chosen"]["value"])["arguments"] == {"station": "Kiel"}
    assert json.loads(kiel["rejected"]["value"])["arguments"] == {"station": "Husum"}
    assert kiel["meta"] == {"turn": 1, "tries": 2, "solved": True}
    assert sylt["rejected"] == {"from": "gpt", "value": "I cannot know that."}
    assert sylt["meta"] == {"turn": 1, "tries": 2, "solved": False}
    # One turn may be tried again before another is tried at all.
    tries: dict[str, list[float]] = defaultdict(list)
    for body in received:
        tries[request_of(body)].append(body["temperature"])
    assert tries == {"Husum?": [0.0], "Kiel?": [0.0, 0.7], "Sylt?": [0.0, 0.7]}


def test_a_folder_for_llama_factory_names_the_pairs_and_passes_its_rules():
    wrote(Path("a b.jsonl"), *FILE)
    command = ["generate", "pairs", "a b.jsonl", "--model", "m", "-o", "out", "--to"]
    with teaching(careless) as (endpoint, received):
        ended = CliRunner().invoke(app, [*command, "llamafactory", *endpoint.split()])
        assert (ended.exit_code, "dataset: a_b_dpo, stage: dpo" in ended.stderr) == (0, True)
        count = len(received)
        info = json.loads(Path("out/dataset_info.json").read_text())
        entry = info["a_b_dpo"]
        pairs = lines(f"out/{entry['file_name']}")
        Path("out/dataset_info.json").write_text(json.dumps({**info, "mine": {"file_name": "mine.jsonl"}}))
        again = CliRunner().invoke(app, [*command, "trl", *endpoint.split()])
    # Another form of the same replies: nothing is asked, and what LLaMA-Factory would read is not another form.
    assert (again.exit_code, len(received)) == (0, count)
    assert json.loads(Path("out/dataset_info.json").read_text()) == {"mine": {"file_name": "mine.jsonl"}}
    assert (entry["ranking"], entry["formatting"]) == (True, "sharegpt")
    columns = {"messages": "conversations", "chosen": "chosen", "rejected": "rejected"}
    assert entry["columns"] == columns | {"system": "system", "tools": "tools"}
    assert len(pairs) == 2
    for pair in pairs:
        assert set(pair) == set(entry["columns"].values())
        assert [found for found in check_record(pair, "preference") if found.level == "error"] == []
        assert list(LLAMA_FACTORY.of_record(pair, "sharegpt", [])) == []


def test_a_reply_that_no_loader_reads_is_no_pair():
    wrote(Path("a.jsonl"), row(KIEL, user="Kiel?"))
    with teaching(lambda body: message(text="a\x00b")) as (endpoint, _):
        ended = type_(f"generate pairs a.jsonl --model m {endpoint} -o out")
    assert ended.exit_code == 0, ended.stderr
    assert lines("out/pairs.jsonl") == []
    assert [one["reason"] for one in lines("out/audit.jsonl")] == ["broken"]


def test_every_reply_and_decision_is_in_the_audit_file_and_counted():
    wrote(Path("a.jsonl"), *FILE)
    with teaching(careless) as (endpoint, _):
        type_(f"generate pairs a.jsonl --model m {endpoint} -o out")
    rows = lines("out/audit.jsonl")
    assert [(one["row"], one["turn"], len(one["tries"]), one["pair"]) for one in rows] == [
        (1, 1, 1, False),
        (2, 1, 2, True),
        (3, 1, 2, True),
    ]
    assert rows[0]["reason"] == "right at once"
    assert [one["error"] for one in rows[2]["tries"]] == ["no call", "no call"]
    counts = {
        (one["group"], one["name"]): one["numerator"]
        for one in json.loads(Path("out/yield.json").read_text())
    }
    assert counts["turns", "right at once"] == counts["turns", "solved later"] == 1
    assert counts["first try", "other arguments"] == counts["first try", "no call"] == 1


def test_own_replies_are_chosen_and_unsolved_turns_left_out_on_request():
    wrote(Path("a.jsonl"), *FILE)
    with teaching(lambda body: careless(body) | {"content": "Well."}) as (endpoint, _):
        ended = type_(
            f"generate pairs a.jsonl --model m {endpoint} --chosen own --solved-only --to openai -o out"
        )
    assert ended.exit_code == 0
    (pair,) = lines("out/pairs.jsonl")
    assert pair["preferred_output"][0]["content"] == "Well."


def test_another_decision_over_the_same_replies_asks_nothing_again():
    wrote(Path("a.jsonl"), *FILE)
    with teaching(careless) as (endpoint, received):
        type_(f"generate pairs a.jsonl --model m {endpoint} -o out")
        asked = len(received)
        ended = type_(f"generate pairs a.jsonl --model m {endpoint} --solved-only -o out")
        assert (ended.exit_code, len(received)) == (0, asked)
    assert len(lines("out/pairs.jsonl")) == 1


def test_a_stopped_procedure_goes_on_where_it_was():
    wrote(Path("a.jsonl"), *FILE)
    with teaching(careless) as (endpoint, _):
        type_(f"generate pairs a.jsonl --model m {endpoint} -o whole")
    with teaching(careless) as (endpoint, received):
        stopped = type_(f"generate pairs a.jsonl --model m {endpoint} --max-tokens-total 350 -j 1 -o out")
        assert (stopped.exit_code, "unfinished" in stopped.stderr) == (3, True)
        assert 0 < len(received) < 5
        ended = type_(f"generate pairs a.jsonl --model m {endpoint} -o out")
        assert (ended.exit_code, len(received)) == (0, 5)
    assert Path("out/pairs.jsonl").read_bytes() == Path("whole/pairs.jsonl").read_bytes()
    assert Path("out/audit.jsonl").read_bytes() == Path("whole/audit.jsonl").read_bytes()


@pytest.mark.long
def test_a_killed_procedure_keeps_every_reply_that_came():
    wrote(Path("a.jsonl"), *FILE)
    with teaching(careless) as (endpoint, _):
        type_(f"generate pairs a.jsonl --model m {endpoint} -o whole")
    asked, hold = threading.Event(), threading.Event()

    def stuck(body: Body) -> dict[str, Any]:
        if len(received) == 3 and not hold.is_set():
            asked.set()
            hold.wait()
        return careless(body)

    with teaching(stuck) as (endpoint, received):
        words = f"generate pairs a.jsonl --model m {endpoint} -j 1 -o out".split()
        process = subprocess.Popen([COMMAND, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert asked.wait(60)
        process.kill()
        process.wait()
        hold.set()
        assert not Path("out/pairs.jsonl").exists()
        ended = type_(f"generate pairs a.jsonl --model m {endpoint} -o out")
        assert (ended.exit_code, len(received)) == (0, 6)
    assert Path("out/audit.jsonl").read_bytes() == Path("whole/audit.jsonl").read_bytes()


def test_feedback_shows_the_last_try_and_its_mistake_but_never_the_right_answer():
    wrote(Path("a.jsonl"), row(SYLT, user="Where?"))
    with teaching(lambda body: message(KIEL)) as (endpoint, received):
        type_(f"generate pairs a.jsonl --model m {endpoint} --retry feedback -o out")
    first, second = received
    assert second["messages"][: len(first["messages"])] == first["messages"]
    told = second["messages"][-1]["content"]
    assert "Kiel" in told and "other arguments" in told
    assert "Sylt" not in json.dumps(received)
    (pair,) = lines("out/pairs.jsonl")
    assert [one["from"] for one in pair["conversations"]] == ["human"]


def judge(body: Body) -> dict[str, Any]:
    """Says High. to results; as the critic it wants a height; everything else is a right call."""
    if "You check one reply" in body["messages"][0]["content"]:
        shown = json.loads(body["messages"][1]["content"])
        assert shown["reference"] == "5 m high."
        if shown["reply"] == "?":
            return message(text="no idea")
        return message(text=json.dumps({"right": "5 m" in shown["reply"], "why": "the height"}))
    if body["messages"][-1]["role"] != "tool":
        return message(HUSUM)
    asked = request_of(body)
    return message(text="?" if asked == "mute" else "High." if asked == "vague" else "5 m.")


def test_texts_are_judged_by_a_critic():
    users = ("plain", "vague", "mute")
    wrote(Path("a.jsonl"), *(row(HUSUM, user=user, answer="5 m high.") for user in users))
    with teaching(judge) as (endpoint, _):
        ended = type_(f"generate pairs a.jsonl --model m {endpoint} --turns all --critic c -o out")
    assert (ended.exit_code, "6/6 items · 83.3 % usable" in ended.stderr) == (0, True)
    (pair,) = lines("out/pairs.jsonl")
    assert (pair["rejected"]["value"], pair["meta"]["turn"]) == ("High.", 3)
    by_user = {(one["row"], one["turn"]): one for one in lines("out/audit.jsonl")}
    assert (by_user[3, 3]["unjudged"], by_user[3, 3]["reason"]) == (2, "not judged")
    assert by_user[2, 3]["tries"][0]["why"] == "the height"


def cut(body: Body) -> dict[str, Any]:
    return {**message(text="Well, the"), "finish_reason": "length"}


@pytest.mark.parametrize(("option", "count"), [("", 0), ("--keep-broken", 1)])
def test_a_reply_that_was_cut_off_is_rejected_on_request_only(option: str, count: int):
    wrote(Path("a.jsonl"), row(HUSUM))
    with teaching(cut) as (endpoint, _):
        type_(f"generate pairs a.jsonl --model m {endpoint} --tries 1 {option} -o out")
    assert len(lines("out/pairs.jsonl")) == count


def test_sides_of_different_length_are_warned_of():
    wrote(Path("a.jsonl"), row(HUSUM))
    with teaching(lambda body: message(text="I am not sure. " * 20)) as (endpoint, _):
        ended = type_(f"generate pairs a.jsonl --model m {endpoint} -o out")
    assert "may learn the length" in ended.stderr


def test_a_benchmarks_own_data_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "data"))
    folder = tmp_path / "data" / "glaive"
    folder.mkdir(parents=True)
    wrote(folder / "sharegpt.jsonl", *FILE)
    wrote(Path("copy.jsonl"), *FILE)
    with teaching(careless) as (endpoint, received):
        refused = type_(f"generate pairs copy.jsonl --model m {endpoint} -o out")
        assert (refused.exit_code, received) == (2, [])
        assert "glaive is a benchmark" in refused.stderr
        allowed = type_(f"generate pairs copy.jsonl --model m {endpoint} --allow-benchmark-data -o out")
    assert allowed.exit_code == 0
    assert all(one["meta"]["benchmark_data"] == ["glaive"] for one in lines("out/pairs.jsonl"))
    assert all(one["benchmark_data"] == ["glaive"] for one in lines("out/audit.jsonl"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "give a folder"),
        ("--model procedural -o out", "name a model"),
        ("--turns all -o out", "--critic NAME"),
    ],
)
def test_what_cannot_work_is_said_and_writes_nothing(words: str, said: str):
    wrote(Path("a.jsonl"), *FILE)
    model = "" if "--model" in words else "--model m --base-url http://127.0.0.1:1/v1"
    ended = type_(f"generate pairs a.jsonl {model} {words}")
    assert (ended.exit_code, said in ended.stderr, Path("out").exists()) == (2, True, False)


def test_a_file_without_calls_says_what_is_missing():
    wrote(
        Path("a.jsonl"), {"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]}
    )
    for verb, said in (
        ("pairs", "a.jsonl: no turn to try"),
        ("rationales", "a.jsonl: no turn to reason about"),
    ):
        ended = type_(f"generate {verb} a.jsonl --model m --base-url http://127.0.0.1:1/v1 -o out")
        assert (ended.exit_code, said in ended.stderr) == (2, True), ended.output
