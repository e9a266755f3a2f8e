"""What a Normal or Special record shows a model: two messages, in three strategies and two languages."""

import pytest

from benchmarks.acebench.reply_build import normal, special, tool
from wildtool.benchmarks.acebench.prompts.own import AgentPrompt, scenario_rules, text_messages
from wildtool.benchmarks.acebench.sandbox.edition import Lang

MODES = ("text", "condensed", "minimal")
MESSAGES = (
    '["There is incorrect value (value) for the parameters (key) in the conversation history."]',
    '["Missing necessary parameters (key1, key2, ...) for the api (ApiName)"]',
    '["Due to the limitations of the function, I cannot solve this problem."]',
)


def system(record: object, mode: str = "text") -> str:
    return text_messages(record, mode)[0]["content"]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_record_is_a_system_and_a_user_message(lang: str, mode: str) -> None:
    assert [message["role"] for message in text_messages(normal(lang=lang), mode)] == ["system", "user"]


@pytest.mark.parametrize("mode", MODES)
def test_the_question_stands_unchanged_under_a_heading_of_one_line(mode: str) -> None:
    question = "user: One.\nsystem: [f(a=1)]\nuser: Two,\nthree.\n"
    heading, _, rest = text_messages(normal(question=question), mode)[1]["content"].partition("\n")
    assert (bool(heading), rest) == (True, question)


@pytest.mark.parametrize("mode", MODES)
def test_the_apis_are_shown_as_python_writes_them(mode: str) -> None:
    functions = (tool("f", a={"type": "string", "default": None}), tool("g"))
    assert system(normal(functions=functions), mode).endswith(f"\n{list(functions)}")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_strategy_tells_the_same_output_format(lang: str, mode: str) -> None:
    assert "[ApiName(key1='value1', key2='value2', ...)" in system(normal(lang=lang), mode)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_each_strategy_is_shorter_than_the_one_before(lang: str) -> None:
    for record in (normal(lang=lang), normal(lang=lang, profile="{}"), special(lang=lang)):
        full, condensed, minimal = (len(system(record, mode)) for mode in MODES)
        assert full > condensed > minimal


@pytest.mark.parametrize(("lang", "rule"), [("en", "[ApiName()]"), ("zh", "[ApiName()]")])
def test_only_the_standard_strategy_tells_the_rules_of_parameters(lang: str, rule: str) -> None:
    assert [rule in system(normal(lang=lang), mode) for mode in MODES] == [True, False, False]


@pytest.mark.parametrize("mode", MODES)
def test_the_date_is_a_paragraph_of_its_own(mode: str) -> None:
    assert "\n\nToday is Friday.\n\n" in system(normal(time="Today is Friday."), mode)


@pytest.mark.parametrize("mode", MODES)
def test_a_record_without_date_has_no_empty_paragraph(mode: str) -> None:
    assert "\n\n\n" not in system(normal(time=""), mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_preference_record_shows_its_profile_under_a_heading(lang: str, mode: str) -> None:
    profile = "{'basic_features': {'UserName': 'Ann'}}."
    shown = system(normal(lang=lang, profile=profile), mode)
    assert f"\n{profile}\n" in shown
    assert f"\n\n{profile}" not in shown


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_rules_mention_the_profile_where_there_is_one(lang: str) -> None:
    word = {"en": "profile", "zh": "画像"}[lang]
    assert word not in system(normal(lang=lang))
    assert system(normal(lang=lang, profile="x")).count(word) > 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_special_record_is_told_the_three_messages_in_english_and_in_order(lang: str, mode: str) -> None:
    shown = system(special(lang=lang), mode)
    places = [shown.find(message) for message in MESSAGES]
    assert places == sorted(places)
    assert places[0] > 0


@pytest.mark.parametrize("mode", MODES)
def test_a_normal_record_is_not_told_of_them(mode: str) -> None:
    assert not any(message in system(normal(), mode) for message in MESSAGES)


@pytest.mark.parametrize("mode", MODES)
def test_only_a_normal_record_has_the_role_of_a_tool(mode: str) -> None:
    assert "tool, which returns" in system(normal(), mode)
    assert "tool, which returns" not in system(special(), mode)


def test_texts_of_the_record_are_never_read_as_templates() -> None:
    record = normal(question="user: {0} {x} %s\n", time="{time}", functions=(tool("{f}"),))
    shown = system(record) + text_messages(record, "text")[1]["content"]
    assert all(text in shown for text in ("{0} {x} %s", "{time}", "'{f}'"))


# Point by point ------------------------------------------------------------------------------------

TOLD = {
    "phone": [
        ("full name", "全名"),
        ("content is that of a\n  message, view that message first", "先查看那条短信"),
        ("login_device()", "login_device()"),
        ("say so and ask which message to delete", "询问删除哪一条"),
        ("whether to reply", "是否回复"),
        ("order what it says", "照内容点单"),
        ("time is now unless told otherwise", "时间默认为现在"),
        ("carry out what it says", "完成其中的事项"),
        ("merchants one by one", "逐一下单"),
        ("whether to change the order", "是否更改订单"),
        ("no advice or opinion", "不发表主观"),
        ("do not repeat the same call", "不重复同一调用"),
        ("finish conversation", "finish conversation"),
    ],
    "travel": [
        ("that neither the user nor a tool gave", "用户和工具都没有给出"),
        ("Refuse requests that break these rules", "拒绝违反这些规则"),
        ("ask how to pay or how to be refunded", "询问支付或退款方式"),
        ("looked up by user id", "用用户ID查到"),
        ("new flight's number by a search", "通过查询"),
        ("tools do not check these rules", "工具不检查这些规则"),
        ("plans changed, the airline cancelled, or another reason", "计划改变、航空公司取消,或其他原因"),
        ("credit card", "信用卡"),
        ("If a segment was used, hand the user over to a human", "要转人工"),
        ("same kind of information", "同一类信息"),
        ("layover city", "中转城市"),
        ("regular 1/2, silver 2/3, gold 3/3", "regular 1/2,silver 2/3,gold 3/3"),
        ("Never offer it unless", "不主动提出"),
        ("voucher of 200 yuan", "200元代金券"),
    ],
}


@pytest.mark.parametrize("scenario", TOLD)
@pytest.mark.parametrize(("place", "lang"), [(0, "en"), (1, "zh")])
def test_the_rules_tell_what_the_original_tells(scenario: str, place: int, lang: Lang) -> None:
    classes = ("Travel",) if scenario == "travel" else ("BaseApi",)
    (rules,) = scenario_rules(lang, classes)
    assert [told[place] for told in TOLD[scenario] if told[place] not in rules] == []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_agents_are_told_nothing_that_the_original_does_not_tell(lang: Lang) -> None:
    for multi_turn in (False, True):
        system, _ = AgentPrompt(lang, ("Travel", "BaseApi"), (), multi_turn=multi_turn).messages([])
        said = system["content"]
        assert "ToolName()" not in said
        assert not any(word in said for word in ("invent", "编造", "work alone", "独立", "nobody", "没有人"))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_special_reply_is_not_bound_to_one_message(lang: str) -> None:
    said = system(special(lang=lang))
    assert not any(word in said for word in ("exactly one", "用且只用"))
    assert all(message in said for message in MESSAGES)
