"""What a reply says of a failed call: whether it tells the user, and values that it cannot have seen."""

import re
from collections.abc import Iterable

from wildtool.episode import written_text
from wildtool.json_codec import as_object, as_objects
from wildtool.tool_formats.quoting import sentences
from wildtool.tool_formats.scanner import split_reasoning
from wildtool.toolcall.text.numerals import numbers_in
from wildtool.types import Message

_SMALLEST = 13
"""Whole numbers below it are counts, ordinals and hours as often as values."""
_CODE = re.compile(
    r"((?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://[^\s\"'<>，。；）)]+"
    r"|(?=[A-Za-z\d])(?=[A-Za-z_-]*+\d)(?=[\d_-]*+[A-Za-z])[A-Za-z\d][\w-]{4,})"
    r"|[A-Za-z\d](?:(?!https?://)[\w-])*+",
    re.ASCII,
)
"""Addresses, and words of letters and digits, which are its group; other words are taken whole, so that none is read from
each of its letters."""
_FIGURE = re.compile(r"(?<![\w.,])\d+(?:[.,']\d+)*(?:%| ?[百千万亿]|[km](?![a-z]))?", re.ASCII)
_LONGEST = 20
"""Digits of a figure that are read to see whether it is small."""
_ALL_CLEAR = re.compile(
    r"\b(?:no|without(?: any)?|zero) (?:\w+ )?(?:errors?|problems?|failures?|issues?)\b"
    r"|没有(?:任何)?(?:错误|问题|异常|失败)",
    re.IGNORECASE,
)
_TECHNICAL = (
    r"\b(?:timed[- ]out|time-?outs?|rate[- ]limit\w*|too many requests|down for maintenance|stale)\b",
    r"\btry again (?:later|in)\b|\berror (?:code )?\d{3}\b",
    r"\b(?:server|internal|technical|system|tool|temporary) (?:error|problem|issue|failure)s?\b",
    r"\bpermission (?:was |is )?(?:denied|refused)\b|\b(?:no|not have|lacks?|without) (?:the )?(?:permission|access)\b",
    r"\bnot (?:allowed|permitted|authori[sz]ed) to\b",
    r"\b(?:tool|service|system|server|search|query|call|request|it|which|that) returned "
    r"(?:nothing|no |an (?:error|empty|unreadable|invalid))",
    r"\b(?:temporarily|currently|now|is|are|was|were|be) (?:unavailable|unreachable|not available|down)\b",
    r"\b(?:was|is|came|come|been|only|seems?|looks?|appears?) (?:\w+ )?"
    r"(?:incomplete|truncated|cut off|partial|outdated|out of date|empty|garbled|unreadable|invalid|malformed)\b",
    r"超时|请求过多|限流|权限|被拒绝|服务器?(?:内部)?(?:错误|异常|故障)|不可用|稍后(?:再|重)?试|维护|截断|不完整",
    r"已?过期的?(?:数据|结果)|(?:暂时|目前|现在)[^，。]{0,6}(?:无法|不能|不可)|没有(?:返回|得到)[^，。]{0,4}结果",
)
"""What is said of failures alone."""
_UNABLE = (
    r"\b(?:I|we|it|that|this|tools?|service|system|server|request|call|search|look-?up|query|booking|order|attempt)\b"
    r"(?:\s+(?:is|am|are|was|were|have|has|been|still|again|just|also|currently|unfortunately))*\s+"
    r"(?:unable to|not able to|fail\w*|could(?: not|n[’']t)"
    r"|did(?: not|n[’']t) (?:work|respond|answer|return|go through|succeed|complete|reach)"
    r"|(?:can ?not|can[’']t) (?:get|give|access|reach|retrieve|complete|do|look|tell|book|finish|fetch|find|make|provide"
    r"|carry|confirm|read|use|connect|load|see|check|send|place|set))\b",
    r"(?:无法|未能|没能|没有办法|没法)[^，。]{0,6}"
    r"(?:获取|查询|查到|完成|访问|连接|执行|读取|取得|得到|办理|提供|调用|确认|发送|预订|下单|设置)",
    r"(?:调用|查询|请求|操作|工具|系统|执行)[^，。]{0,6}(?:失败|出错|错误|异常|没有成功|未成功)",
)
"""Who could not do what."""
_FAILED = re.compile("|".join((*_TECHNICAL, *_UNABLE)), re.IGNORECASE)


def answer_text(reply: Message) -> str:
    """The text of a reply, without its reasoning."""
    return split_reasoning(written_text(reply) or "")[1]


def mentions_failure(text: str) -> bool:
    """Whether a text says that something went wrong with a tool; English and Chinese."""
    return any(_FAILED.search(_ALL_CLEAR.sub(" ", sentence)) for sentence in sentences(text))


def unseen_values(text: str, messages: Iterable[Message]) -> list[str]:
    """Numbers in digits, codes and addresses of a text that occur in no message."""
    context = "\n".join(map(_all_text, messages))
    folded, numbers = context.casefold(), numbers_in(context)
    found = filter(None, _CODE.findall(text))
    codes = [code for code in found if code.casefold().strip(".-_") not in folded]
    figures = [
        figure
        for figure in _FIGURE.findall(_without_codes(text))
        # A form such as `1,200` has several readings; one that was seen is enough.
        if not (figure.isdigit() and int(figure[:_LONGEST]) < _SMALLEST) and not numbers & numbers_in(figure)
    ]
    return list(dict.fromkeys((*codes, *figures)))


def _without_codes(text: str) -> str:
    return _CODE.sub(lambda match: " " if match[1] else match[0], text)


def _all_text(message: Message) -> str:
    calls = (
        as_object(call.get("function")).get("arguments") for call in as_objects(message.get("tool_calls"))
    )
    return "\n".join([written_text(message) or "", *(call for call in calls if isinstance(call, str))])
