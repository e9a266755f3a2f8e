"""What the definition of a parameter says of its values: words of a fixed list, which stay, or names, which can change.

It is read where neither the key nor the shape of a value tells what it names. The first word that says something
decides: of the key its last one, else of the description's first clause. What nothing is said of stays unclear.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal

ValueRole = Literal["", "stays", "title", "place"]
"""Empty if the definition says nothing."""

_WORDS: tuple[tuple[ValueRole, str], ...] = (
    (
        "stays",
        "language|lang|locale|country|countries|nationality|currency|currencies|units?|format|type|kind|category"
        "|categories|genre|mode|status|level|quality|protocol|order|sort|gender|timezone|charset|encoding|platform"
        "|cuisine|rarity|indicators?|metrics?|permissions?|method|colou?r|font|version|sector|abbreviation"
        "|语言|国家|货币|单位|格式|类型|类别|分类|状态|级别|质量|协议|性别|时区|编码|平台|颜色|字体|版本",
    ),
    ("place", "region|area|province|district|地区|区域|省份"),
    (
        "title",
        "user ?names?|nicknames?|handle|password|identifier|ids?|wallet|name of|names of|用户名|昵称|密码|标识",
    ),
)
_SEARCHED = (
    "query|keywords?|terms?|phrases?|words?|tags?|hashtags?|topics?|search|track|关键词|搜索|查询|标签|话题"
)
"""Words that are looked for. A name of several words is taken for one; a single word could be any."""
_ROLE_PATTERN = re.compile(
    "|".join(
        [f"(?P<{told}>{_bound})" for told, words in _WORDS for _bound in [rf"(?<![a-z])(?:{words})(?![a-z])"]]
        + [rf"(?P<searched>(?<![a-z])(?:{_SEARCHED})(?![a-z]))"]
    )
)
_CLAUSE = re.compile(r"[,.;:(，。；：（]")
_QUOTED = re.compile(r"(?<![A-Za-z0-9])['‘“\"「]([^'‘’“”\"「」]{1,40})['’”\"」](?![A-Za-z0-9])")
_OF_A_FORM = re.compile(r"(?:format|form|格式)\W{0,3}(?:of|in|as|is|like|为|是)?\W{0,3}$", re.IGNORECASE)


def value_role(key: str, schema: Mapping[str, Any], text: str) -> ValueRole:
    """What the values of a parameter are, as far as this one goes.

    Args:
        key: name of the parameter in small letters, words joined by `_`.
        schema: its definition.
    """
    if text.casefold() in {example.casefold() for example in quoted_examples(schema)}:
        return "stays"
    description = str(schema.get("description", "")).casefold()
    last_word = key.rsplit("_", 1)[-1]
    match = _ROLE_PATTERN.fullmatch(last_word) or _ROLE_PATTERN.fullmatch(key.replace("_", " "))
    match = match or _ROLE_PATTERN.search(_CLAUSE.split(description, maxsplit=1)[0])
    if match is None:
        return ""
    if match.lastgroup == "searched":
        return "title" if " " in text.strip() else ""
    return next(told for told, _ in _WORDS if told == match.lastgroup)


def quoted_examples(schema: Mapping[str, Any]) -> list[str]:
    """Values that a description gives in quotation marks, such as `high` in "such as 'high' or 'low'"."""
    description = str(schema.get("description", ""))
    quoted = [
        match
        for match in _QUOTED.finditer(description)
        if not _OF_A_FORM.search(description[: match.start()])
    ]
    return list(dict.fromkeys(match[1].strip() for match in quoted if match[1].strip()))
