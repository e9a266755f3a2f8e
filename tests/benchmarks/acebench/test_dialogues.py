"""Whole dialogues of episodes in every walk, and what the cooperative user says."""

# ruff: noqa: E501 - each message stands on one line

from typing import Any

import pytest

from benchmarks.acebench.reply_build import item
from benchmarks.acebench.sandbox_build import edition, record
from benchmarks.acebench.test_episode_error_classes import ADD, played
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.episode.base import EPISODE_MESSAGES, cooperative_text, style_seed
from wildtool.benchmarks.acebench.episode.fixed import FixedMultiStepEpisode, FixedMultiTurnEpisode
from wildtool.benchmarks.acebench.episode.official import OfficialMultiStepEpisode, OfficialMultiTurnEpisode
from wildtool.benchmarks.acebench.judge import AceBenchRules
from wildtool.benchmarks.acebench.sandbox.edition import Lang
from wildtool.types import Reply, Transcript


def lines(episode: Any) -> list[str]:
    """Every message, what the sandbox took, and what comes next, without the list of tools."""
    messages = [f"{spoken.sender} to {spoken.recipient}: {spoken.message}" for spoken in episode.dialogue]
    request = episode.request()
    end = "over"
    if request is not None:
        texts = [str(message["content"]) for message in request.messages[1:]]
        seen = [text[text.find("]\n") + 2 :] if text.startswith("Tools:") else text for text in texts]
        end = f"{request.role} next, sees {seen}"
    return [*messages, f"process {episode.process}", end]


# Replies of an agent.
MISTAKEN = [
    "[turn_on_wifi(), login_device()]",
    "Hello.",
    "[add_reminder(x=1)]",
    "[turn_on_wifi(",
    "Done.\nFinish conversation!",
    "more",
]
ENDED_IN_A_CALL = [
    "I do this: [turn_on_wifi()] finish conversation",
    "[turn_on_wifi()]\nfinish conversation",
    ADD,
]
# What the user says with the seeds 0, 1 and 2.
FINISHED = ["finish conversation", "finish conversation", "finish conversation"]
THE_BOOKING = [
    "Here you are: I want to book a flight from Rome to 'Where you are' on July 3.",
    "Sure: I want to book a flight from Rome to 'Where you are' on July 3.",
    "Sure: I want to book a flight from Rome to 'Where you are' on July 3.",
]
AGREED = ["That is right, please do.", "Yes, please.", "Yes, please."]
GO_ON = ["Please continue.", "Please go on with what I told you.", "Please go on with what I told you."]


@pytest.mark.parametrize(
    ("kind", "replies", "expected"),
    [
        (
            OfficialMultiStepEpisode,
            MISTAKEN,
            [
                "user to agent: Turn on the wifi.",
                "agent to execution: [turn_on_wifi(), login_device()]",
                "execution to agent: [{'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}, {'status': True, 'message': 'BaseApi.login_device.ok'}]",
                "agent to user: Hello.",
                "execution to agent: no questions",
                "agent to execution: [add_reminder(x=1)]",
                "execution to agent: [\"error: ReminderApi.add_reminder() got an unexpected keyword argument 'x'\"]",
                "agent to user: [turn_on_wifi(",
                "execution to agent: no questions",
                "agent to user: Done.\nFinish conversation!",
                "execution to agent: no questions",
                "agent to user: more",
                "execution to agent: []",
                "process ['[turn_on_wifi(), login_device()]', 'Hello.', '[add_reminder(x=1)]', '[turn_on_wifi(', 'Done.\\nFinish conversation!', 'more']",
                "agent next, sees ['\\nTranscript:\\nuser:Turn on the wifi.\\nexecution result:[{\\'status\\': True, \\'message\\': \\'BaseApi.turn_on_wifi.ok\\'}, {\\'status\\': True, \\'message\\': \\'BaseApi.login_device.ok\\'}]\\nexecution result:no questions\\nexecution result:[\"error: ReminderApi.add_reminder() got an unexpected keyword argument \\'x\\'\"]\\nexecution result:no questions\\nexecution result:no questions\\nexecution result:[]\\n']",
            ],
        ),
        (
            FixedMultiStepEpisode,
            MISTAKEN,
            [
                "user to agent: Turn on the wifi.",
                "agent to execution: [turn_on_wifi(), login_device()]",
                "execution to agent: [{'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}, {'status': True, 'message': 'BaseApi.login_device.ok'}]",
                "agent to user: Hello.",
                "execution to agent: Nobody answers here. Use what is known and call the tools; when everything is done, write: finish conversation",
                "agent to execution: [add_reminder(x=1)]",
                "execution to agent: [\"Error: add_reminder could not be run (TypeError: ReminderApi.add_reminder() got an unexpected keyword argument 'x').\"]",
                "agent to user: [turn_on_wifi(",
                "execution to agent: Nobody answers here. Use what is known and call the tools; when everything is done, write: finish conversation",
                "agent to user: Done.\nFinish conversation!",
                "process ['[turn_on_wifi(), login_device()]', '[add_reminder(x=1)]']",
                "over",
            ],
        ),
        (
            OfficialMultiTurnEpisode,
            MISTAKEN,
            [
                "user to agent: Go on.",
                "agent to execution: [turn_on_wifi(), login_device()]",
                "execution to agent: [{'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}, {'status': True, 'message': 'BaseApi.login_device.ok'}]",
                "agent to user: Hello.",
                "user to agent: Go on.",
                "agent to execution: [add_reminder(x=1)]",
                "execution to agent: ['l', 'o', 's', 't']",
                "agent to user: [turn_on_wifi(",
                "user to agent: Go on.",
                "agent to user: Done.\nFinish conversation!",
                "user to agent: Go on.",
                "agent to user: more",
                "process ['[turn_on_wifi(), login_device()]', '[add_reminder(x=1)]']",
                "user next, sees ['Hello, what can I do for you today?', 'Go on.', 'Hello.', 'Go on.', '[turn_on_wifi(', 'Go on.', 'Done.\\nFinish conversation!', 'Go on.', 'more']",
            ],
        ),
        (
            FixedMultiTurnEpisode,
            MISTAKEN,
            [
                "user to agent: Go on.",
                "agent to execution: [turn_on_wifi(), login_device()]",
                "execution to agent: [{'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}, {'status': True, 'message': 'BaseApi.login_device.ok'}]",
                "agent to user: Hello.",
                "user to agent: Go on.",
                "agent to execution: [add_reminder(x=1)]",
                "execution to agent: [\"Error: add_reminder could not be run (TypeError: ReminderApi.add_reminder() got an unexpected keyword argument 'x').\"]",
                "agent to user: [turn_on_wifi(",
                "user to agent: Go on.",
                "agent to user: Done.\nFinish conversation!",
                "process ['[turn_on_wifi(), login_device()]', '[add_reminder(x=1)]']",
                "over",
            ],
        ),
        (
            OfficialMultiStepEpisode,
            FINISHED,
            [
                "user to agent: Turn on the wifi.",
                "agent to user: finish conversation",
                "execution to agent: no questions",
                "agent to user: finish conversation",
                "process ['finish conversation']",
                "over",
            ],
        ),
        (
            FixedMultiStepEpisode,
            FINISHED,
            ["user to agent: Turn on the wifi.", "agent to user: finish conversation", "process []", "over"],
        ),
        (
            OfficialMultiTurnEpisode,
            FINISHED,
            [
                "user to agent: Go on.",
                "agent to user: finish conversation",
                "user to agent: Go on.",
                "agent to user: finish conversation",
                "process []",
                "over",
            ],
        ),
        (
            FixedMultiTurnEpisode,
            FINISHED,
            ["user to agent: Go on.", "agent to user: finish conversation", "process []", "over"],
        ),
        (
            OfficialMultiStepEpisode,
            ENDED_IN_A_CALL,
            [
                "user to agent: Turn on the wifi.",
                "agent to user: I do this: [turn_on_wifi()] finish conversation",
                "execution to agent: no questions",
                "agent to execution: [turn_on_wifi()]\nfinish conversation",
                "process ['I do this: [turn_on_wifi()] finish conversation']",
                "over",
            ],
        ),
        (
            FixedMultiStepEpisode,
            ENDED_IN_A_CALL,
            [
                "user to agent: Turn on the wifi.",
                "agent to user: I do this: [turn_on_wifi()] finish conversation",
                "execution to agent: Nobody answers here. Use what is known and call the tools; when everything is done, write: finish conversation",
                "agent to user: [turn_on_wifi()]\nfinish conversation",
                "process []",
                "over",
            ],
        ),
        (
            OfficialMultiTurnEpisode,
            ENDED_IN_A_CALL,
            [
                "user to agent: Go on.",
                "agent to user: I do this: [turn_on_wifi()] finish conversation",
                "user to agent: Go on.",
                "agent to user: [turn_on_wifi()]\nfinish conversation",
                "process []",
                "over",
            ],
        ),
        (
            FixedMultiTurnEpisode,
            ENDED_IN_A_CALL,
            [
                "user to agent: Go on.",
                "agent to user: I do this: [turn_on_wifi()] finish conversation",
                "user to agent: Go on.",
                "agent to user: [turn_on_wifi()]\nfinish conversation",
                "process []",
                "over",
            ],
        ),
        (
            OfficialMultiStepEpisode,
            ["", "[]", "[5]", "turn_on_wifi()", "[gone()]"],
            [
                "user to agent: Turn on the wifi.",
                "agent to user: ",
                "execution to agent: no questions",
                "agent to execution: []",
                "execution to agent: no questions",
                "agent to execution: [5]",
                "execution to agent: []",
                "agent to user: turn_on_wifi()",
                "execution to agent: [{'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}]",
                "agent to execution: [gone()]",
                "execution to agent: [\"error: cannot access local variable 'func_call_result' where it is not associated with a value\"]",
                "process ['', '[]', '[5]', 'turn_on_wifi()', '[gone()]']",
                "agent next, sees ['\\nTranscript:\\nuser:Turn on the wifi.\\nexecution result:no questions\\nexecution result:no questions\\nexecution result:[]\\nexecution result:[{\\'status\\': True, \\'message\\': \\'BaseApi.turn_on_wifi.ok\\'}]\\nexecution result:[\"error: cannot access local variable \\'func_call_result\\' where it is not associated with a value\"]\\n']",
            ],
        ),
        (
            FixedMultiStepEpisode,
            ["", "[]", "[5]", "turn_on_wifi()", "[gone()]"],
            [
                "user to agent: Turn on the wifi.",
                "agent to user: ",
                "execution to agent: Nobody answers here. Use what is known and call the tools; when everything is done, write: finish conversation",
                "agent to execution: []",
                "execution to agent: ['Error: this cannot be read as a call (no call).']",
                "agent to execution: [5]",
                "execution to agent: ['Error: this cannot be read as a call (not a call but Constant).']",
                "agent to execution: turn_on_wifi()",
                "execution to agent: [{'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}]",
                "agent to execution: [gone()]",
                "execution to agent: ['Error: there is no tool gone here. The tools are: turn_on_wifi, login_device, add_reminder, delete_message, view_reminder_by_title.']",
                "process ['[]', '[5]', 'turn_on_wifi()', '[gone()]']",
                'agent next, sees [\'\\nTranscript:\\nuser:Turn on the wifi.\\nagent:\\nexecution:Nobody answers here. Use what is known and call the tools; when everything is done, write: finish conversation\\nagent:[]\\nexecution:["Error: this cannot be read as a call (no call)."]\\nagent:[5]\\nexecution:["Error: this cannot be read as a call (not a call but Constant)."]\\nagent:turn_on_wifi()\\nexecution:[{"status": true, "message": "BaseApi.turn_on_wifi.ok"}]\\nagent:[gone()]\\nexecution:["Error: there is no tool gone here. The tools are: turn_on_wifi, login_device, add_reminder, delete_message, view_reminder_by_title."]\\n\']',
            ],
        ),
        (
            OfficialMultiTurnEpisode,
            ["", "[]", "[5]", "turn_on_wifi()", "[gone()]"],
            [
                "user to agent: Go on.",
                "agent to user: ",
                "user to agent: Go on.",
                "agent to user: []",
                "user to agent: Go on.",
                "agent to execution: [5]",
                "execution to agent: []",
                "agent to user: turn_on_wifi()",
                "user to agent: Go on.",
                "agent to execution: [gone()]",
                "execution to agent: ['l', 'o', 's', 't']",
                "process ['[5]', '[gone()]']",
                "agent next, sees [\"\\nTranscript:\\nuser:Go on.\\nagent:\\nuser:Go on.\\nagent:[]\\nuser:Go on.\\nagent:[5]\\nexecution:[]\\nagent:turn_on_wifi()\\nuser:Go on.\\nagent:[gone()]\\nexecution:['l', 'o', 's', 't']\\n\"]",
            ],
        ),
        (
            FixedMultiTurnEpisode,
            ["", "[]", "[5]", "turn_on_wifi()", "[gone()]"],
            [
                "user to agent: Go on.",
                "agent to user: ",
                "user to agent: Go on.",
                "agent to execution: []",
                "execution to agent: ['Error: this cannot be read as a call (no call).']",
                "agent to execution: [5]",
                "execution to agent: ['Error: this cannot be read as a call (not a call but Constant).']",
                "agent to execution: turn_on_wifi()",
                "execution to agent: [{'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}]",
                "agent to execution: [gone()]",
                "execution to agent: ['Error: there is no tool gone here. The tools are: turn_on_wifi, login_device, add_reminder, delete_message, view_reminder_by_title.']",
                "process ['[]', '[5]', 'turn_on_wifi()', '[gone()]']",
                'agent next, sees [\'\\nTranscript:\\nuser:Go on.\\nagent:\\nuser:Go on.\\nagent:[]\\nexecution:["Error: this cannot be read as a call (no call)."]\\nagent:[5]\\nexecution:["Error: this cannot be read as a call (not a call but Constant)."]\\nagent:turn_on_wifi()\\nexecution:[{"status": true, "message": "BaseApi.turn_on_wifi.ok"}]\\nagent:[gone()]\\nexecution:["Error: there is no tool gone here. The tools are: turn_on_wifi, login_device, add_reminder, delete_message, view_reminder_by_title."]\\n\']',
            ],
        ),
    ],
)
def test_a_dialogue_goes_to_user_and_sandbox_in_turn(
    kind: Any, replies: list[str], expected: list[str]
) -> None:
    assert lines(played(kind, *replies)) == expected


def test_a_style_has_a_seed_only_if_it_is_cooperative() -> None:
    styles = (
        "cooperative 7",
        "cooperative",
        "cooperative x",
        "cooperative 7 ",
        "gold",
        f"cooperative {'9' * 19}",
    )
    assert [style_seed(style) for style in styles] == [7, 0, 0, 0, 0, 0]


EN = "You are Ann Lee and your user id is u1. You want to book a flight from Rome to 'Where you are' on July 3. Your password is pw. You prefer the window seat. You will respond to the agent when asked."
ZH = "你是李安，账号是u1。你想预订从北京到上海的航班。你的密码是pw。你会对agent做出反应，但不会主动提供任何未被询问的信息。"
THE_WISHES = "I am Ann Lee and my user id is u1. I want to book a flight from Rome to 'Where you are' on July 3. My password is pw. I prefer the window seat."


@pytest.mark.parametrize(
    ("lang", "agent_texts", "user_texts", "expected"),
    [
        (
            "en",
            [],
            [],
            [
                THE_WISHES,
                THE_WISHES,
                f"Hi! {THE_WISHES}",
            ],
        ),
        ("en", [], ["x"], [f"{hello}{THE_WISHES}" for hello in ("Good day. ", "Hello. ", "Hello. ")]),
        ("en", ["Hm."], [], [f"{hello}{THE_WISHES}" for hello in ("", "", "Hi! ")]),
        (
            "en",
            ["Which account do you have?"],
            ["x"],
            [
                "Here you are: I am Ann Lee and my user id is u1.",
                "Sure: I am Ann Lee and my user id is u1.",
                "Sure: I am Ann Lee and my user id is u1.",
            ],
        ),
        (
            "en",
            ["What is your password?"],
            ["x"],
            ["Here you are: My password is pw.", "Sure: My password is pw.", "Sure: My password is pw."],
        ),
        (
            "en",
            ["What is your password?"],
            ["x", "My password is pw."],
            [
                THE_WISHES,
                f"Here you are: {THE_WISHES}",
                f"Of course. {THE_WISHES}",
            ],
        ),
        ("en", ["When do you travel?"], ["x"], THE_BOOKING),
        ("en", ["Shall I book this flight?"], ["x"], AGREED),
        (
            "en",
            ["Should I delete the message?"],
            ["x"],
            ["No, that is not needed.", "No, thank you.", "No, thank you."],
        ),
        ("en", ["Would you like that?"], ["x"], AGREED),
        ("en", ["Do you want to confirm which flight?"], ["x"], THE_BOOKING),
        ("en", ["Is there anything else?"], ["x"], FINISHED),
        ("en", ["finish conversation"], ["x"], FINISHED),
        ("en", ["Fine weather."], ["x"], GO_ON),
        ("en", ["I found it. Is it right? Bye."], ["x"], AGREED),
        ("en", ["Bags?"], ["x"], GO_ON),
        ("en", [""], ["x"], GO_ON),
        (
            "zh",
            [],
            [],
            [
                "我是李安，账号是u1。我想预订从北京到上海的航班。我的密码是pw。",
                "你好。我是李安，账号是u1。我想预订从北京到上海的航班。我的密码是pw。",
                "你好，麻烦一下。我是李安，账号是u1。我想预订从北京到上海的航班。我的密码是pw。",
            ],
        ),
        (
            "zh",
            ["您的账号是什么？"],
            ["x"],
            [
                "是这样的：我是李安，账号是u1。",
                "是这样的：我是李安，账号是u1。",
                "好的，我是李安，账号是u1。",
            ],
        ),
        (
            "zh",
            ["密码是多少？"],
            ["x"],
            ["是这样的：我的密码是pw。", "是这样的：我的密码是pw。", "好的，我的密码是pw。"],
        ),
        (
            "zh",
            ["北京？"],
            ["x"],
            [f"{lead}我想预订从北京到上海的航班。" for lead in ("是这样的：", "是这样的：", "好的，")],
        ),
        ("zh", ["需要我预订航班吗？"], ["x"], ["可以，麻烦你了。", "可以，麻烦你了。", "好的，请继续。"]),
        ("zh", ["是否删除短信？"], ["x"], ["不需要。", "不用，只做我说的就行。", "不用了，谢谢。"]),
        ("zh", ["全部完成"], ["x"], FINISHED),
        ("zh", ["你好。"], ["x"], ["请继续。", "好，请接着做。", "请按我说的继续。"]),
        (
            "zh",
            ["从哪里出发？"],
            ["x", "是这样的：我想预订从北京到上海的航班。"],
            [
                "我是李安，账号是u1。我想预订从北京到上海的航班。我的密码是pw。",
                "我是李安，账号是u1。我想预订从北京到上海的航班。我的密码是pw。",
                "我是李安，账号是u1。我想预订从北京到上海的航班。我的密码是pw。",
            ],
        ),
    ],
)
def test_the_cooperative_user_answers_from_its_instruction_in_the_words_of_its_seed(
    lang: Lang, agent_texts: list[str], user_texts: list[str], expected: list[str]
) -> None:
    instruction = {"en": EN, "zh": ZH}[lang]
    texts = [
        cooperative_text(seed, lang, instruction, agent_texts=agent_texts, user_texts=user_texts)
        for seed in range(3)
    ]
    assert texts == expected


def test_the_cooperative_user_hears_the_agent_and_remembers_what_it_said() -> None:
    episode = OfficialMultiTurnEpisode(record(question=EN), edition())
    said: list[Any] = []
    for asked in ("What is your password?", "What is your password?", "finish conversation"):
        request = episode.request()
        assert request is not None and request.gold is not None
        said.append(request.gold("cooperative 1"))
        episode.advance(said[-1])
        episode.advance({"role": "assistant", "content": asked})
    assert said == [
        {"role": "assistant", "content": content}
        for content in (THE_WISHES, "Sure: My password is pw.", f"Here you are: {THE_WISHES}")
    ]


@pytest.mark.parametrize(
    ("named", "length"),
    [(None, 41), (3, 41), (40, 41), (41, 42), (45, 46), (True, 41), ("45", 41), (45.0, 41)],
)
def test_an_imported_episode_has_the_messages_with_which_it_was_made_if_these_are_more(
    named: Any, length: int
) -> None:
    first = {"role": "assistant", "content": "[turn_on_wifi()]", EPISODE_MESSAGES: named}
    unit = item(record("[turn_on_wifi()]"), edition=edition())
    for profile in ("official", "fixed"):
        rules = ACEBENCH.rules(profile)
        assert isinstance(rules, AceBenchRules)
        episode: Any = rules.recorded_episode(unit, "0", Transcript((Reply(first),)))
        while not episode.done:
            episode.advance(first)
        assert len(episode.dialogue) == length
