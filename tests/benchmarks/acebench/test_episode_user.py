"""The user without a model: what it tells, confirms, refuses and when it ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.benchmarks.acebench.episode.base import END_MARK, cooperative_text, style_seed
from wildtool.benchmarks.acebench.sandbox.edition import Lang

EN = (
    "You are Ann. You want to send a message to Bob: 'Are you free?'. You have two pieces of luggage. "
    "Your password is pw1. You will respond to the agent but will not proactively provide any information."
)
ZH = (
    "你是Ann，你想给Bob发一条消息，内容是：“你好吗？”。你的密码为pw1。"
    "你会对agent做出反应，但不会主动提供任何未被询问的信息。"
)


def opening(lang: Lang, instruction: str, seed: int = 0) -> str:
    return cooperative_text(seed, lang, instruction, agent_texts=[], user_texts=[])


def answer(heard: str, lang: Lang = "en", instruction: str = EN, seed: int = 0) -> str:
    return cooperative_text(seed, lang, instruction, agent_texts=[heard], user_texts=["Hi."])


@pytest.mark.parametrize(
    ("style", "seed"),
    [("cooperative 7", 7), ("cooperative", 0), ("serial", 0), ("cooperative x", 0), ("", 0)],
)
def test_the_seed_stands_in_the_style(style: str, seed: int):
    assert style_seed(style) == seed


def test_the_opening_tells_the_instruction_in_the_first_person_without_directions():
    told = opening("en", EN)
    assert told.endswith(
        "I am Ann. I want to send a message to Bob: 'Are you free?'. I have two pieces of luggage. My password is pw1."
    )


def test_quoted_texts_are_told_as_they_stand():
    assert "“你好吗？”" in opening("zh", ZH)
    assert "我是Ann" in opening("zh", ZH)


@pytest.mark.parametrize(
    ("lang", "instruction", "question", "told"),
    [
        ("en", EN, "What is your password?", "My password is pw1."),
        ("en", EN, "How many bags do you have?", "I have two pieces of luggage."),
        ("zh", ZH, "请问您的密码是什么？", "我的密码为pw1。"),
    ],
)
def test_a_question_is_answered_by_the_sentence_that_shares_most_words(
    lang: Lang, instruction: str, question: str, told: str
):
    said = answer(question, lang, instruction)
    assert said.endswith(told)
    assert "Ann" not in said


def test_who_is_asked_the_same_again_tells_everything_again():
    said = ["Hi.", answer("What is your password?")]
    again = cooperative_text(0, "en", EN, agent_texts=["What is your password?"] * 2, user_texts=said)
    assert "I am Ann." in again


@pytest.mark.parametrize(
    "proposal", ["Shall I send the message to Bob?", "Do you confirm?", "要我发送短信吗？"]
)
def test_a_proposal_that_the_instruction_implies_is_confirmed(proposal: str):
    zh = proposal.startswith("要")
    said = answer(proposal, *(("zh", ZH) if zh else ("en", EN)))
    assert said.startswith(("Yes", "That is right", "是", "好", "对", "可以"))


def test_a_proposal_of_something_else_is_refused():
    assert answer("Would you like to add a reminder?").startswith("No")


def test_which_one_is_no_proposal():
    assert not answer("Which password should I use?").startswith(("Yes", "No"))


@pytest.mark.parametrize(
    "told", ["finish conversation", "All tasks are done.", "Is there anything else?", "任务已全部完成。"]
)
def test_it_ends_when_the_agent_says_that_all_is_done(told: str):
    assert answer(told) == END_MARK


def test_the_wording_varies_with_the_seed():
    assert len({answer("Hm.", seed=seed) for seed in range(20)}) > 1


@given(st.integers(0, 99), st.text(), st.lists(st.text(), max_size=4))
def test_it_says_the_same_of_the_same(seed: int, instruction: str, heard: list[str]):
    first, second = (
        cooperative_text(seed, "zh", instruction, agent_texts=heard, user_texts=heard[:1]) for _ in range(2)
    )
    assert first == second


def test_a_huge_text_is_answered():
    assert answer("what " * 10**6 + "?")
    assert answer("[" * 10**6)
