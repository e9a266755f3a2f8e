"""Documented defaults of parameters: stated in many ways, never guessed."""

import pytest

from wildtool.toolcall.compare import compare_arguments
from wildtool.toolcall.defaults import NO_DEFAULT, documented_default


def parameters(**properties):
    return {"type": "object", "properties": properties, "required": []}


DEFAULTS = [
    ("integer", "The default value is 10.", 10),
    ("number", "default value is 5.0", 5),
    ("integer", "The default value is -1.", -1),
    ("integer", "default is 1,000", 1000),
    ("integer", "Page size (default: 20)", 20),
    ("boolean", "The default value is false.", False),
    ("string", "The default value is'mixed'.", "mixed"),
    ("string", "defaulting to 'A' record.", "A"),
    ("string", "The time unit. The default is hour.", "hour"),
    ("string", "the default is bit.ly.", "bit.ly"),
    ("string", "with the default value being empty.", ""),
    ("array", "The default value is empty.", []),
    ("string", "If omitted, defaults to `main`.", "main"),
    ("integer", "返回条数，默认为10。", 10),
    ("string", "语言，默认值是“en”。", "en"),
    ("string", "单位，默认：摄氏度，可选华氏度", "摄氏度"),
    ("boolean", "默认值为 false", False),
    ("string", "备注，默认为空", ""),
    ("string", "Language of the reply. 'en' by default.", "en"),
    ("string", "Unit: metric (default) or imperial", "metric"),
    ("integer", "Number of results, 10 by default", 10),
    ("integer", "Page size; if omitted, 20 is used.", 20),
    ("integer", "If not specified, defaults to 5.", 5),
    ("integer", "5 if omitted", 5),
    ("boolean", "Whether to sort. Enabled by default.", True),
    ("boolean", "Defaults to false", False),
    ("boolean", "Off by default.", False),
    ("string", "Sort order: asc (the default) or desc", "asc"),
    ("string", "'asc' is the default.", "asc"),
    ("integer", "Maximum, default of 100", 100),
    ("string", "Format. When omitted, 'json' is used", "json"),
    ("string", "温度单位（默认摄氏度）", "摄氏度"),
    ("integer", "不填则为10", 10),
    ("string", "排序方式：升序（默认）或降序", "升序"),
    ("boolean", "是否公开，默认否", False),
    ("integer", "默认值10", 10),
    ("string", "currency code (default: USD)", "USD"),
    ("string", "Default currency is USD.", "USD"),
    ("integer", "Default limit: 25", 25),
    ("number", "Defaults to 0.5 if not set.", 0.5),
    ("integer", "default=7", 7),
    ("string", 'defaults to "New York"', "New York"),
    ("string", "By default, 'public'.", "public"),
    ("string", "If omitted, the value is 'main'", "main"),
    ("integer", "defaults to ten", 10),
    ("integer", "Timeout in seconds. Default 30 seconds.", 30),
    ("array", "Defaults to []", []),
    ("string", "the color, red by default", "red"),
    ("string", "Defaults to utf-8.", "utf-8"),
]


@pytest.mark.parametrize(("kind", "description", "default"), DEFAULTS)
def test_a_documented_default_may_be_spelled_out_or_left_out(kind, description, default):
    schema = parameters(a={"type": kind, "description": description})
    assert compare_arguments({}, {"a": default}, schema) == []
    assert compare_arguments({"a": default}, {}, schema) == []


@pytest.mark.parametrize(
    ("kind", "description", "value"),
    [
        ("string", "The default is the current date.", "the"),
        ("string", "defaults to all types", "all"),
        ("number", "default is 10%", 10),
        ("string", "The default is 'a'. For admins the default is 'b'.", "a"),
        ("integer", "The default value is 10.", 11),
        ("boolean", "The default value is false.", True),
        ("boolean", "The default value is 0.", False),
        ("integer", "Between 1 and 10.", 10),
        ("string", "Not 'en' by default.", "en"),
        ("string", "Unit: metric (default) or imperial", "imperial"),
        ("integer", "Number of results, not 10 by default", 10),
        ("boolean", "Not enabled by default.", True),
        ("integer", "Defaults to 10 for guests and 20 for members", 10),
        ("integer", "Timeout in seconds. Default 5 minutes.", 5),
        ("integer", "In seconds. Default 5 minutes.", 5),
        ("integer", "In minutes. Defaults to ten hours.", 10),
        ("integer", "no default; typical 10", 10),
        ("integer", "The default used to be 10.", 10),
        ("integer", "Default is 10 times the size", 10),
        ("string", "Default depends on 'locale'", "locale"),
        ("integer", "Default 10 to 20", 10),
        ("integer", "default 10-20", 10),
        ("integer", "Max 50. Default 10.", 50),
        ("string", "The default was 'json' until v2", "json"),
        ("string", "Defaults to the user's city", "city"),
        ("boolean", "Defaults to true", False),
        ("integer", "10 if omitted", 11),
        ("string", "Overrides the default 'json'.", "json"),
        ("integer", "Between 1 and 100", 1),
        ("string", "默认不是中文", "中文"),
        ("integer", "默认为10，最小1", 1),
        ("string", "升序（默认）或降序", "降序"),
        ("integer", "Default: 10%", 10),
        ("integer", "default is minus 10", 10),
        ("string", "If omitted, the current city is used", "the current city"),
        ("integer", "3 results are returned if the query is empty; default 10", 3),
        ("string", "Default: 'a' when sorted, 'b' otherwise", "a"),
        ("integer", "默认10万", 10),
        ("integer", "Default is more than 10", 10),
        ("integer", "default 1.5", 1),
        ("boolean", "true if omitted is not allowed", False),
        ("string", "must not be 'red' by default", "red"),
        ("number", "Default 5 million", 5),
    ],
)
def test_what_is_no_default_is_an_extra_argument(kind, description, value):
    schema = parameters(a={"type": kind, "description": description})
    assert [difference.rule for difference in compare_arguments({}, {"a": value}, schema)] == ["extra"]


NONE = NO_DEFAULT
STATED = {
    "string": {
        "The default was 'a'. Default is 'b'.": "b",
        "Default 'a'. If omitted, 'a' is used.": "a",
        "Default is the current one. 'a' by default.": "a",
        "default 5x": NONE,
        "default 5": NONE,
        "if omitted abc": "abc",
        "If omitted, uses abc": "abc",
        "by default abc": NONE,
        "By default: abc": "abc",
        "By default it uses abc.": "abc",
        "默认 abc": "abc",
        "缺省 abc": "abc",
        "不填则 abc": NONE,
        "不填则为 abc": "abc",
        "utf8 by default": NONE,
        "Sort: up, red by default": "red",
        "Use utf8 (default)": NONE,
        "the (default)": NONE,
        "default 'a' if x": NONE,
        "default 'a' if omitted": "a",
        "default ''": "",
        'default "a"': "a",
        "default `a`": "a",
        "default “a”": "a",
        "default ‘a’": "a",
        "默认「a」": "a",
        "default is an empty string": "",
        "默认空字符串": "",
        "Defaults to [1]": NONE,
        "defaults to null": NONE,
        "defaults to random": NONE,
        "default is a b c d.": NONE,
        "default is New York.": "New York",
        "'10' by default": "10",
        "never 'a' by default": NONE,
        "'a' if x": NONE,
        "'a' if omitted": "a",
        "'a' will be used if missing": "a",
        "'a' is the default of x": NONE,
        "'a' is used by the default": "a",
    },
    "integer": {
        "default '10'": 10,
        "default 'abc'": NONE,
        "default '+5'": 5,
        "default '1.5'": NONE,
        "default is empty": NONE,
        "defaults to ten": 10,
        "defaults to ten or so": NONE,
        "defaults to tenfold": NONE,
        "In minutes. Defaults to ten minutes": 10,
        "In minutes. Defaults to 10 hours": NONE,
        "In minutes. Defaults to 10": 10,
        "(minutes) default 10 hours": NONE,
        "(optional) default 10 hours": 10,
        "In minutes or in hours. default 10 hours": NONE,
        "（分钟）默认 10 小时": NONE,
        "（分钟）默认 10 分钟": 10,
        "In seconds, 10 minutes by default": NONE,
        "In minutes, 10 minutes by default": 10,
        "no 10 by default": NONE,
        "x10 by default": NONE,
        "-10 by default": -10,
        "1.5 by default": NONE,
        "'10' by default": 10,
        "3 when not given": 3,
        "default 1,000,000": 1_000_000,
        "default 1,00": NONE,
        "default 10k": NONE,
        "default 1/2": NONE,
        "default +5": 5,
        "default 10 至 20": NONE,
        "default 10 ~ 20": NONE,
    },
    "number": {
        "default '1.5'": 1.5,
        "1.5 by default": 1.5,
        "default -0.5": -0.5,
        "default 5 ％": NONE,
    },
    "boolean": {
        "default 'True'": True,
        "default is yes": True,
        "default is true for admins": NONE,
        "default: 否": False,
        "something by default": NONE,
        "not true by default": NONE,
        "是（默认）": True,
        "否（默认）": False,
        "(default)": NONE,
    },
    "array": {
        "default is an empty list": [],
        "default is empty list and more": NONE,
        "Defaults to ['a', 'b'].": ["a", "b"],
        "Defaults to [1, 2]": [1, 2],
        "Defaults to [1": NONE,
    },
    "object": {"default is empty object.": {}, "Defaults to {'a': 1}": {"a": 1}},
}


@pytest.mark.parametrize("kind", STATED)
def test_a_description_states_one_default_of_its_kind(kind):
    stated = {text: documented_default({"type": kind, "description": text}) for text in STATED[kind]}
    assert stated == STATED[kind]
    # 1 and true are equal in Python.
    assert list(map(type, stated.values())) == list(map(type, STATED[kind].values()))
