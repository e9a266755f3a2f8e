"""Documented defaults of parameters: stated in many ways, never guessed."""

import pytest

from wildtool.toolcall.compare import compare_arguments


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
