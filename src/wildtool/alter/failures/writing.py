"""Which tools change something, by rule: such a call must not be made twice."""

import re

from wildtool.json_codec import as_object
from wildtool.types import Tool

_READING = frozenset(
    re.findall(
        r"\w+",
        "get list find search look lookup query check show read fetch view compare compute calculate calc convert "
        "estimate count track translate describe display retrieve predict verify validate analyze analyse explain "
        "summarize filter sort is has browse detect recommend retrieves returns gets lists finds searches looks "
        "shows gives fetches tells calculates converts checks provides translates reads queries computes compares "
        "obtain obtains geocode locate classify categorize extract parse identify normalize access download "
        "autocomplete expand echo generate generates",
    )
)
"""First words of names and descriptions of tools that read."""
_WRITING = frozenset(
    re.findall(
        r"\w+",
        "add append apply approve assign attach block book buy cancel change charge clear close commit confirm "
        "connect copy create delete deposit disable edit enable enrol enroll execute file hold import insert "
        "install invite issue join link lock log mail make mark message move open order pause pay place post "
        "publish put record redeem refund register remove rename renew rent reply report request reschedule "
        "reserve reset resume save schedule sell send set share sign start stop store submit subscribe switch "
        "transfer turn unlock unsubscribe update upload withdraw write",
    )
)
"""First words of names of tools that write."""
_READING_ZH = re.compile(
    r"\A(?:查|搜|检索|获取|取得|得到|列出|读取|返回|显示|比较|计算|试算|估算|规划|推荐|翻译|转换|统计|预测|分析|浏览)"
)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def writes(tool: Tool) -> bool:
    """Whether a tool changes something.

    `annotations.readOnlyHint` of a tool decides where it is there; else the first word of its name that is a reading or a
    writing verb known here, then the beginning of its description. A tool that none of these tells counts as writing.
    """
    function = as_object(tool.get("function"))
    for holder in (tool, function):
        hint = as_object(holder.get("annotations")).get("readOnlyHint")
        if isinstance(hint, bool):
            return not hint
    name, description = function.get("name"), function.get("description")
    verb = _first_verb(name if isinstance(name, str) else "")
    if verb is not None:
        return verb in _WRITING
    text = description.strip() if isinstance(description, str) else ""
    first = _WORDS.match(text)
    return not (_READING_ZH.match(text) or (first and first[0].casefold() in _READING))


def _first_verb(name: str) -> str | None:
    words = (word.casefold() for word in _WORDS.findall(name))
    return next((word for word in words if word in _READING or word in _WRITING), None)
