"""T-Eval: the faults that `fixed` corrects, what is said of the encoder, data and their faults, the command."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.teval.teval_build import PLAN, SETS, STEP, write_data
from e2e.command import wildtool
from long import WHOLE, a_fiftieth_of
from wildtool.benchmarks.teval import TEVAL
from wildtool.benchmarks.teval.rules import right_answer
from wildtool.benchmarks.teval.scores import EVALUATORS
from wildtool.data.embeddings import VARIABLE, LexicalEncoder
from wildtool.declared import lint
from wildtool.engine.score.audit import audit_profile
from wildtool.errors import DataError
from wildtool.types import Item

PROFILES = tuple(TEVAL.profiles)


@pytest.fixture(autouse=True)
def lexical(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "lexical")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("teval"))


@pytest.fixture(scope="module")
def items(folder: Path) -> dict[str, Item]:
    return {item.id: item for item in TEVAL.load(TEVAL.data.locate(str(folder)))}


def score(profile: str, item: Item, answer: Any) -> Mapping[str, float]:
    text = answer if isinstance(answer, str | None) else json.dumps(answer)
    return EVALUATORS[profile](LexicalEncoder()).score(text, item.data).values


# Faults ----------------------------------------------------------------------------------------------


def test_a_plan_with_nothing_right_gets_nothing(items: dict[str, Item]) -> None:
    wrong = [{"id": n, "name": f"Other.api{n}", "args": "{}"} for n in range(3)]
    assert score("toleap", items["plan_json/one"], wrong)["f1"] == pytest.approx(1 / 3)
    assert score("fixed", items["plan_json/one"], wrong)["f1"] == 0


def test_a_plan_that_only_ends_raises_and_counts_nothing(items: dict[str, Item]) -> None:
    only = json.dumps([{"id": 0, "name": "FinishAction", "args": "{}"}])
    found = EVALUATORS["toleap"](LexicalEncoder()).score(only, items["plan_json/one"].data)
    assert (found.raised, found.parsed, found.values["f1"]) == ("ValueError", True, 0)
    assert EVALUATORS["fixed"](LexicalEncoder()).score(only, items["plan_json/one"].data).raised == ""


def test_equal_steps_are_matched_in_their_order(items: dict[str, Item]) -> None:
    item = items["plan_json/twice"]
    assert score("fixed", item, right_answer(item.data))["f1"] == 1


def test_published_rules_match_equal_steps_as_networkx_does(items: dict[str, Item]) -> None:
    """The first three of four gold steps are equal, and are matched the other way round (Q3)."""
    item = items["plan_json/twice"]
    for profile in ("toleap", "original"):
        assert score(profile, item, right_answer(item.data))["f1"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("args", "share"),
    [
        ({"harbour": "Vigo"}, 1),
        ("{'harbour': 'vigo '}", 1),
        ('{"harbour": "Vigo"}', 1),
        ({"harbour": "Rome"}, 2 / 3),
        ({}, 1 / 2),
        (None, 1 / 2),
        ({"harbour": "Vigo", "zz": "qqq"}, 3 / 4),
        ({"zz": "qqq"}, 1 / 3),
        ("zz qqq", 1 / 3),
    ],
)
def test_a_step_counts_for_the_share_of_it_that_is_right(
    items: dict[str, Item], args: Any, share: float
) -> None:
    steps = [{**PLAN[0], "args": args}, *PLAN[1:]]
    assert score("fixed", items["plan_json/one"], steps)["f1"] == pytest.approx((2 + share) / 3)


def test_right_apis_with_nonsense_arguments_are_no_right_plan(items: dict[str, Item]) -> None:
    nonsense = [{**step, "args": {"zz": "nonsense qqq"}} for step in PLAN]
    assert score("fixed", items["plan_json/one"], nonsense)["f1"] < 0.5


def test_like_names_are_other_apis(items: dict[str, Item]) -> None:
    steps = [{**step, "name": str(step["name"]).replace("book", "books")} for step in PLAN]
    like = [{**step, "name": "Tide.get.x"} if step["id"] == 0 else step for step in steps]
    assert (
        score("toleap", items["plan_json/one"], like)["f1"]
        > score("fixed", items["plan_json/one"], like)["f1"]
    )


def test_wording_of_a_line_does_not_matter(items: dict[str, Item]) -> None:
    lines = "\n".join(f"{n}. Use {step['name']} now" for n, step in enumerate(PLAN, 1))
    assert score("toleap", items["plan_str/one"], lines)["f1"] < 1
    assert score("fixed", items["plan_str/one"], lines)["f1"] == 1


def test_signs_in_a_template_stand_for_themselves(items: dict[str, Item]) -> None:
    item = items["instruct/layout"]
    assert score("toleap", item, right_answer(item.data))["format"] == 0
    assert score("fixed", item, right_answer(item.data)) == {"format": 1, "arguments": 1}


def test_text_around_an_object_is_no_fault(items: dict[str, Item]) -> None:
    text = f"Sure {{why not}}: {right_answer(items['instruct/keys'].data)}"
    assert score("toleap", items["instruct/keys"], text)["format"] == 0
    assert score("fixed", items["instruct/keys"], text)["format"] == 1
    step = f"Use {{this}}: {json.dumps(STEP)}"
    assert "name" not in score("toleap", items["rru_json/one"], step)
    assert score("fixed", items["rru_json/one"], step)["name"] == 1


def test_a_number_in_quotes_is_the_number(items: dict[str, Item]) -> None:
    answer = {"why": "", "api": "Tide.get", "with": {"harbour": "Vigo", "day": "3"}}
    assert score("toleap", items["instruct/keys"], answer)["arguments"] == pytest.approx(2 / 3)
    assert score("fixed", items["instruct/keys"], answer)["arguments"] == 1


@pytest.mark.parametrize(
    ("answer", "published", "fixed"),
    [
        ("Tide.get (confidence 0.9)", 0, 1),
        ("Tide.get, see www.example.com", 0, 1),
        ("Tide.get or Boat.book", 0, 0),
        ("Tide.get_all", 0, 0),
        ("tide.get", 0, 0),
        ("`Tide.get`", 1, 1),
    ],
)
def test_only_apis_of_the_prompt_are_other_apis(
    items: dict[str, Item], answer: str, published: float, fixed: float
) -> None:
    assert score("toleap", items["retrieve_str/one"], answer)["name"] == published
    assert score("fixed", items["retrieve_str/one"], answer)["name"] == fixed


@pytest.mark.parametrize(
    ("answer", "published", "fixed"),
    [
        ("Answer: B", 1, 1),
        ("B: Internal error", 0, 1),
        ("Answer: (B)", 0, 1),
        ("Answer: **B**", 0, 1),
        ("Note: the answer is B", 0, 1),
        ("Answer: Both", 1, 0),
        ("I think at 9:30 it is: B", 0, 1),
        ("Answer: C", 0, 0),
    ],
)
def test_a_letter_is_read_whatever_is_around_it(
    items: dict[str, Item], answer: str, published: float, fixed: float
) -> None:
    assert score("toleap", items["review_str/one"], answer)["quality"] == published
    assert score("fixed", items["review_str/one"], answer)["quality"] == fixed


@pytest.mark.parametrize(
    "answer", ["9:00", "\"'9:00'\"", "9:00\n", "```json\n9:00\n```", "9:00<|im_end|>\n<|im_start|>user"]
)
def test_a_value_may_be_wrapped(items: dict[str, Item], answer: str) -> None:
    assert score("fixed", items["understand_str/one"], answer)["args"] == 1


def test_arguments_that_nobody_asked_for_cost_all_but_the_original(items: dict[str, Item]) -> None:
    more = {**STEP, "args": {**STEP["args"], "extra": 1}}
    assert score("toleap", items["rru_json/one"], more)["args"] == pytest.approx(0.8)
    assert score("fixed", items["rru_json/one"], more)["args"] == pytest.approx(0.8)
    assert score("original", items["rru_json/one"], more)["args"] == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("answer", ["{}", "[{}]", "```json\n{}\n```", '{"note": 1}'])
def test_an_empty_object_is_parsed_and_has_nothing(items: dict[str, Item], answer: str) -> None:
    nothing = {"thought": 0, "name": 0, "args": 0}
    for profile in ("toleap", "original"):
        found = EVALUATORS[profile](LexicalEncoder()).score(answer, items["rru_json/one"].data)
        assert (found.parsed, found.values) == (True, nothing)
    assert not EVALUATORS["fixed"](LexicalEncoder()).score(answer, items["rru_json/one"].data).parsed


# Any reply -------------------------------------------------------------------------------------------

texts = st.text() | st.text("{}[]\"'\\,:()` TideBoat.getABC\n0123") | st.none() | st.integers()
HUGE = f"0x{'f' * 9000}"
"""A number that Python reads, and does not write."""
texts |= st.sampled_from(
    [
        f"{{'why': 1, 'api': 2, 'with': {{'harbour': {HUGE}}}}}",
        f"{{'name': {HUGE}, 'args': {{'harbour': {HUGE}}}}}",
        '{"a": 1e999}',
        "[{}]",
        "((" * 500,
        "[" * 5000,
        "9" * 5000,
        "\ud800",
        "{'a': {[]}}",
    ]
)


@pytest.mark.parametrize("profile", PROFILES)
@settings(max_examples=a_fiftieth_of(2_000), deadline=None)
@given(reply=texts)
def test_any_reply_gets_a_verdict(items: dict[str, Item], profile: str, reply: Any) -> None:
    rules = TEVAL.rules(profile)
    for item in items.values():
        episode = rules.episode(item, "0")
        episode.advance({"role": "assistant", "content": reply})
        check = rules.verdict(episode, item, "0")
        assert 0 <= (check.score or 0) <= 1
        assert bool(check.error) != check.correct


def test_a_long_hostile_reply_takes_linear_time(items: dict[str, Item]) -> None:
    """Would not end with a pattern that steps back, or one that enters each word at each letter."""
    rules = TEVAL.rules("toleap")
    for name, text in (
        ("retrieve_str/one", "a" * 300_000),
        ("instruct/layout", "Why short: \nAPI: " * 20_000),
    ):
        episode = rules.episode(items[name], "0")
        episode.advance({"role": "assistant", "content": text})
        assert not rules.verdict(episode, items[name], "0").correct


@pytest.mark.long
@pytest.mark.parametrize(("profile", "recall"), [("toleap", 0.25), ("original", 0.25), ("fixed", 0.5625)])
def test_a_plan_of_thousands_of_steps_takes_linear_time(
    items: dict[str, Item], profile: str, recall: float
) -> None:
    """The published rules match the last steps crosswise (Q3); three steps are three quarters right under fixed."""
    steps = [
        {"id": n, "name": "Tide.get", "args": {"harbour": "Vigo", "day": n % 7}}
        for n in range(10_000 if WHOLE else 2_000)
    ]
    assert score(profile, items["plan_json/twice"], steps)["recall"] == pytest.approx(recall)


# Audit, data, encoder --------------------------------------------------------------------------------


def test_fixed_accepts_every_gold_answer_and_catches_every_mistake(folder: Path) -> None:
    found = audit_profile(TEVAL, TEVAL.data.locate(str(folder)), "fixed")
    assert found.passed


@pytest.mark.parametrize("profile", ["toleap", "original"])
def test_what_the_others_miss_is_explained(folder: Path, profile: str) -> None:
    found = audit_profile(TEVAL, TEVAL.data.locate(str(folder)), profile)
    assert {wrong.item for wrong in found.wrong_gold} >= {"instruct/layout", "plan_str/one"}
    assert all(wrong.why for wrong in found.wrong_gold)
    assert all(survivor.why for survivor in found.survivors)


def test_messages_are_those_of_the_data(items: dict[str, Item]) -> None:
    request = TEVAL.rules("toleap").episode(items["reason_str/one"], "0").request()
    assert request is not None
    # Providers refuse the result of a function that nobody called.
    assert [message["role"] for message in request.messages] == ["system", "user", "user"]


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("plan_json_v2", {"ground_truth": {}}, "record 'one': field ground_truth: expected a list"),
        ("plan_str_v2", {"meta": {}}, "field API_list: expected a list"),
        ("review_str_v2", {"ground_truth": {}}, "field answer: expected a letter"),
        ("reason_str_v2", {"origin_prompt": "x"}, "field origin_prompt: expected a list of messages"),
        ("reason_str_v2", {"ground_truth": 3}, "field ground_truth: expected an object or JSON text"),
    ],
)
def test_a_fault_in_a_record_is_named(tmp_path: Path, file: str, change: Any, message: str) -> None:
    path = tmp_path / f"{file}.json"
    path.write_text(json.dumps({"one": {**SETS[file]["one"], **change}}), "utf-8")
    with pytest.raises(DataError, match=message):
        list(TEVAL.load(TEVAL.data.locate(str(path))))


def test_the_newest_version_of_a_set_is_read(tmp_path: Path) -> None:
    write_data(tmp_path)
    (tmp_path / "plan_json_v1.json").write_text("[]", "utf-8")
    (tmp_path / "plan_json_v2_subset.json").write_text("[]", "utf-8")
    (tmp_path / "plan_json_v2_zh.json").write_text(json.dumps(SETS["plan_json_v2"]), "utf-8")
    source = TEVAL.data.locate(str(tmp_path))
    assert [item.id for item in TEVAL.load(source, split="plan_json")] == ["plan_json/one", "plan_json/twice"]
    chinese = list(TEVAL.load(source, lang="zh"))
    assert [(item.id, item.lang) for item in chinese] == [
        ("zh/plan_json/one", "zh"),
        ("zh/plan_json/twice", "zh"),
    ]


def test_missing_data_say_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path))
    with pytest.raises(DataError, match="wildtool data pull teval"):
        TEVAL.data.locate(None)
    with pytest.raises(DataError, match="which set is it"):
        other = tmp_path / "records.json"
        other.write_text("{}", "utf-8")
        TEVAL.data.locate(str(other))
    with pytest.raises(DataError, match="plan_json"):
        TEVAL.data.locate(str(tmp_path), "plan")


def test_version_1_does_not_pass_for_the_published_data(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path))
    place = write_data(tmp_path / "teval")
    assert TEVAL.data.locate(None).name == "official"
    (place / "plan_json_v2.json").rename(place / "plan_json_v1.json")
    assert TEVAL.data.locate(None).name == "official-v1"
    (place / "plan_json_v1.json").unlink()
    assert TEVAL.data.locate(None).name == TEVAL.data.locate("official-part").name == "official-part"
    assert TEVAL.data.locate(None, "instruct").name == "official"


async def test_an_encoder_that_cannot_be_used_ends_with_status_2(folder: Path, tmp_path: Path) -> None:
    words = ("run", "teval", "--data", folder, "--model", "baseline/gold", "--out", tmp_path / "gold")
    nothing = "http://127.0.0.1:1/v1"
    run = await wildtool(*words, cwd=tmp_path, WILDTOOL_ENCODER=nothing)
    assert (run.status, f"write {nothing}#MODEL" in run.err) == (2, True), run.err
    run = await wildtool(*words, cwd=tmp_path, WILDTOOL_ENCODER="lexical")
    assert (run.status, "not comparable with published numbers" in " ".join(run.out.split())) == (0, True)
    score = await wildtool("score", tmp_path / "gold", cwd=tmp_path, WILDTOOL_ENCODER=nothing)
    assert (score.status, f"write {nothing}#MODEL" in score.err) == (2, True), score.err


@pytest.mark.parametrize(
    ("file", "change", "rule"),
    [
        ("plan_json_v2", {"ground_truth": PLAN[:-1]}, "last step"),
        ("plan_json_v2", {"ground_truth": PLAN[1:]}, "ids"),
        ("plan_json_v2", {"ground_truth": []}, "ground_truth"),
        ("plan_str_v2", {"meta": {"API_list": ["Tide.get", "Boat.book"]}}, "unknown API"),
        ("review_str_v2", {"ground_truth": {"answer": "F"}}, "answer"),
        ("reason_str_v2", {"ground_truth": "{broken"}, "ground_truth"),
    ],
)
def test_lint_finds_what_rules_stumble_over(tmp_path: Path, file: str, change: Any, rule: str) -> None:
    path = tmp_path / f"{file}.json"
    path.write_text(json.dumps({"one": {**SETS[file]["one"], **change}}), "utf-8")
    assert [finding.rule for finding in lint(TEVAL, TEVAL.data.locate(str(path)))] == [rule]


def test_lint_of_sound_records_finds_repeated_steps_and_signs_alone(folder: Path) -> None:
    found = [
        (finding.where.rpartition(" ")[2], finding.rule)
        for finding in lint(TEVAL, TEVAL.data.locate(str(folder)))
    ]
    assert found == [("instruct/layout", "template"), ("plan_json/twice", "repeated step")]
