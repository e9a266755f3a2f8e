"""What judges are asked in each style: nothing gives a label away, and known judges are asked as they really are."""

import json
from pathlib import Path
from typing import Any

import pytest

from judges.made_cases import cases
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.judges.cases import JudgeCase
from wildtool.judges.styles import JUDGE_STYLES, WITH_REFERENCE, JudgeSettings, fitting, style_modes, style_of

SETTINGS = JudgeSettings(prompt="Judge this.")


def asked(mode: str, case: JudgeCase) -> str:
    style, shown = style_of(mode)
    return json.dumps(style.ask(case, shown, SETTINGS), ensure_ascii=False)


def text_cases() -> list[JudgeCase]:
    before: list[Any] = [{"role": "user", "content": "Tides?"}]
    right: Any = {"role": "assistant", "content": "At nine."}
    return [
        JudgeCase(
            benchmark="harbour",
            item="i",
            unit="1",
            lang="en",
            tier=tier,  # pyright: ignore[reportArgumentType]
            kind=kind,
            right=kind == "gold",
            tools=[],
            messages=[*before, {"role": "assistant", "content": text}],
            start=1,
            reference=[right],
        )
        for tier, kind, text in (("gold", "gold", "At nine."), ("meaning", "false sentence", "At ten."))
    ]


@pytest.mark.parametrize("mode", [mode for mode in style_modes() if mode != "checker"])
def test_no_request_tells_label_kind_or_tier(mode: str):
    fit, _ = fitting([*cases(2), *text_cases()], mode)
    assert fit
    for case in fit:
        text = asked(mode, case)
        assert not any(
            word in text for word in ('"kind"', '"tier"', "mutant", "needless", "false sentence", case.id)
        )


@pytest.mark.parametrize("mode", ["pass-fail", "score", "rubric", "own", "typed"])
def test_the_reference_is_shown_in_its_mode_alone(mode: str):
    wrong = next(case for case in cases(1) if case.kind == "wrong value")
    harbour = '{\\\\\\"harbour\\\\\\": \\\\\\"Port 0'
    assert harbour not in asked(mode, wrong)
    assert harbour in asked(f"{mode}{WITH_REFERENCE}", wrong)


@pytest.mark.parametrize("name", [*JUDGE_STYLES])
def test_what_a_perfect_judge_says_is_read_as_the_label(name: str):
    style = JUDGE_STYLES[name]
    if name == "pairwise":
        return
    for right in (True, False):
        judgement = style.read({"role": "assistant", "content": style.answer(right)}, SETTINGS)
        assert judgement is not None and judgement.passed == right


def test_the_judge_of_training_is_asked_to_the_byte_as_training_asks(tmp_path: Path):
    _, case = text_cases()
    said = [*case.messages[:1], *case.reference]
    file = tmp_path / "train.jsonl"
    file.write_text(json.dumps({"messages": said}) + "\n")
    training = load_benchmark("training", "judged")
    (item,) = training.load(data_of(training).locate(str(file)))
    episode = training.rules(next(iter(training.profiles))).episode(item, item.units[0])
    episode.advance(dict(case.messages[1]))
    request = episode.request()
    assert request is not None and request.role == "judge"
    assert request.messages == style_of("training")[0].ask(case, True, SETTINGS)


def test_training_judges_texts_alone():
    fit, left_out = fitting([*cases(1), *text_cases()], "training")
    assert {case.kind for case in fit} == {"gold", "false sentence"} and sum(left_out.values()) == 5
