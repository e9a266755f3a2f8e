"""What agent and simulated user of an episode are sent in our wording, and how results in it can be exchanged."""

from typing import Any

import pytest

from benchmarks.acebench.reply_build import normal, special, tool
from wildtool.benchmarks.acebench.prompts.own import (
    PROBLEM_MESSAGES,
    AgentLines,
    AgentPrompt,
    prompt_texts,
    scenario_rules,
    system_message,
    text_messages,
    user_messages,
)
from wildtool.benchmarks.acebench.sandbox.edition import Lang

LANGS: tuple[Lang, ...] = ("en", "zh")
FUNCTIONS = ({"name": "f", "x": None}, {"name": "g"})


def blocks(lang: str, *names: str) -> list[str]:
    return [prompt_texts(lang)[name] for name in names]


def test_the_three_messages_are_numbered_in_one_text() -> None:
    assert PROBLEM_MESSAGES.split("\n") == [
        '1. ["There is incorrect value (value) for the parameters (key) in the conversation history."]',
        '2. ["Missing necessary parameters (key1, key2, ...) for the api (ApiName)"]',
        '3. ["Due to the limitations of the function, I cannot solve this problem."]',
    ]
    assert all(prompt_texts(lang)["problem_messages"] == PROBLEM_MESSAGES for lang in LANGS)


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize(
    ("mode", "parts"),
    [("text", ("role", "rules")), ("condensed", ("role", "format")), ("minimal", ("minimal",))],
)
def test_a_record_is_put_in_paragraphs_in_their_order(lang: Lang, mode: str, parts: tuple[str, ...]) -> None:
    functions = (tool("f"), tool("g"))
    cases: list[tuple[Any, str, list[str], str]] = [
        (normal(lang=lang, functions=functions, time="Now."), "normal", ["Now."], "roles"),
        (normal(lang=lang, functions=functions), "normal", [], "roles"),
        (special(lang=lang), "special", ["Today is Monday."], "special_roles"),
        (
            normal(lang=lang, functions=functions, profile="P", time="Now."),
            "preference",
            [f"{prompt_texts(lang)['profile_heading']}\nP"],
            "roles",
        ),
    ]
    for record, kind, situation, roles in cases:
        apis = f"{prompt_texts(lang)['apis_heading']}\n{list(record.functions)}"
        rules = blocks(lang, *(f"{kind}_{part}" for part in parts))
        system = "\n\n".join([*rules, *situation, *blocks(lang, roles), apis])
        history = f"{prompt_texts(lang)['history_heading']}\n{record.question}"
        assert text_messages(record, mode) == (
            {"role": "system", "content": system},
            {"role": "user", "content": history},
        )
        native = "\n\n".join([*blocks(lang, f"{kind}_native"), *situation])
        assert system_message(record, "native") == {"role": "system", "content": native}


@pytest.mark.parametrize("lang", LANGS)
def test_an_agent_is_sent_rules_functions_and_the_transcript(lang: Lang) -> None:
    classes = ("BaseApi", "Travel", "Finance")
    alone = AgentPrompt(lang, classes, FUNCTIONS, multi_turn=False)
    talking = AgentPrompt(lang, classes, FUNCTIONS, multi_turn=True)
    rules = blocks(lang, "travel_rules", "phone_rules", "finance_rules")
    system = {alone: blocks(lang, "multi_step"), talking: [*blocks(lang, "multi_turn"), *rules]}
    shown = prompt_texts(lang)["input"].format

    def user(functions: Any, transcript: str) -> dict[str, str]:
        return {"role": "user", "content": shown(functions=list(functions), transcript=transcript) + "\n"}

    for prompt, parts in system.items():
        first = {"role": "system", "content": "\n\n".join(parts)}
        assert prompt.messages(["a:1", "b:2"]) == (first, user(FUNCTIONS, "a:1\nb:2"))
        assert prompt.messages([]) == (first, user(FUNCTIONS, ""))
        assert prompt.messages(["a:1"], [{"name": "h"}]) == (first, user((*FUNCTIONS, {"name": "h"}), "a:1"))


@pytest.mark.parametrize("lang", LANGS)
def test_a_scenario_has_the_rules_of_its_classes_and_the_user_those_of_one(lang: Lang) -> None:
    texts = prompt_texts(lang)
    assert scenario_rules(lang, ("MessageApi",)) == []
    assert scenario_rules(lang, ("Finance",)) == [texts["finance_rules"]]
    found = {
        classes: user_messages(lang, classes, "{x} Do it.")
        for classes in (("BaseApi",), ("Travel", "BaseApi"), ("Travel", "Finance"), ("MessageApi",))
    }
    names = ("phone_user", "travel_user", "finance_user", "phone_user")
    assert list(found.values()) == [
        (
            {"role": "system", "content": texts[name].format(instruction="{x} Do it.")},
            {"role": "user", "content": texts["greeting"]},
        )
        for name in names
    ]


def test_results_in_a_transcript_can_be_exchanged() -> None:
    prompt = AgentPrompt("en", ("BaseApi",), FUNCTIONS, multi_turn=True)
    lines = AgentLines()
    lines.add("user", "Hi: there")
    lines.add_result("execution", "one:1")
    lines.add("agent", "[f()]")
    lines.add_result("execution result", "two")
    assert lines.lines == ["user:Hi: there", "execution:one:1", "agent:[f()]", "execution result:two"]
    shown = lines.in_text(prompt)
    lines.add("agent", "later")
    assert list(shown.results) == ["one:1", "two"]
    edited = ["user:Hi: there", "execution:A", "agent:[f()]", "execution result:B"]
    assert shown.reads([{"function": {"name": "h"}}], ["A", "B"]) == prompt.messages(edited, [{"name": "h"}])
    assert shown.reads([], ["A", "B"]) == prompt.messages(edited)
    with pytest.raises(ValueError):
        shown.reads([], ["A"])
