"""What a parameter is for, by its name and description: some texts are read exactly for it, others compared leniently.

A role adds a reading of texts that it understands: in an interval of candles `5m` is five minutes, and in a ticker
`BRK-B` is `BRK.B`. It never makes other texts equal.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from wildtool.toolcall.text.finance import (
    read_currency,
    read_fiscal_period,
    read_registered_number,
    read_ticker,
    with_basis_points_in_percent,
    with_money_in_full,
    with_order_terms_in_full,
)
from wildtool.toolcall.text.identifiers import read_account, read_hash, read_state, read_version
from wildtool.toolcall.text.measures import (
    read_coordinates,
    read_interval,
    read_month,
    read_unit,
    read_zone,
    with_number_in_full,
    without_last_zeros,
)
from wildtool.toolcall.text.words import TextUse

TextReader = Callable[[str], str | None]
"""The exact form of a normalised text; None for a text that it does not understand."""
TextRewriter = Callable[[str], str]
_READ_CHARACTERS = 300
"""A description says first what a parameter is for."""


def _unread(_: str) -> None:
    return None


def _unchanged(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class ParameterRole:
    """What some parameters are for, and how their texts are read."""

    name: str
    """The rule that a difference of two texts that it reads is reported by."""
    asked_by: re.Pattern[str]
    """Found in the name or the first sentence of the description of such a parameter."""
    read: TextReader = _unread
    rewrite: TextRewriter = _unchanged
    """Texts written out in the words that the general rules know."""


def _role(
    name: str, asked_by: str, read: TextReader = _unread, rewrite: TextRewriter = _unchanged
) -> ParameterRole:
    return ParameterRole(name, re.compile(asked_by, re.IGNORECASE), read, rewrite)


_MONEY = (
    r"\b(?:currenc(?:y|ies)|prices?|costs?|budgets?|fees?|salar(?:y|ies)|wages?|payments?|money|revenues?|balances?|fares?"
    r"|deposits?|rent|tips?|monetary|dollars?|usd)\b|金额|价格|价钱|预算|费用|工资|薪水|余额|价位|售价|租金|押金"
)
_AMERICAN = r"\b(?:(?-i:US)\b|U\.S\.|USA\b|American\b|United States\b)"
_OF_PLACES = (
    r"\b(?:two[- ]letter|postal|abbreviat|zip|city|residence|province|address|shipping|billing|home\b)"
)
_OTHER_STATES = (
    r"\b(?:Australia|Brazil|India\b|Indian\b|(?<!New )Mexic|German|Austria|Malaysia|Nigeria|Venezuela)"
    r"|澳大利亚|巴西|印度|墨西哥|德国|奥地利|马来西亚|尼日利亚"
)
"""Countries with states of their own, whose codes and names are partly the same."""
_COUNTED_MONTHS = (
    r"\b(?:(?:number of|how many|in) months\b|day of (?:the|a) month\b|(?:per|each|every) month\b)"
)
_ROLES = (
    _role(
        "ticker",
        r"\btickers?\b|\b(?:stock|share|security|trading|currency|crypto|instrument|exchange)\w* (?:symbol|pair)s?\b"
        r"|\bsymbol of (?:the|a) (?:stock|share|company|fund|index)|股票代码|证券代码|交易对|货币对",
        read_ticker,
    ),
    _role(
        "registered number",
        r"\b(?:ISIN|CUSIP|SEDOL|FIGI|LEI|IBAN|BIC|SWIFT|VIN)\b|\b(?:airport|airline|IATA|ICAO) codes?\b"
        r"|\b(?:flight|train|passport|licen[cs]e|registration|vehicle) (?:numbers?|no\b|codes?|plates?)"
        r"|航班号|车次|车牌|身份证|护照号",
        read_registered_number,
    ),
    _role(
        "coordinates",
        r"\b(?:coordinates?|latitudes?|longitudes?|lat|lng|lon|gps)\b|坐标|经纬度|纬度|经度",
        read_coordinates,
    ),
    _role("currency", r"\bcurrency\b(?! pair)|\bISO ?4217\b|币种|货币(?!对)", read_currency),
    _role("money", rf"{_MONEY}|\bamount", rewrite=lambda text: without_last_zeros(with_money_in_full(text))),
    _role(
        "number",
        r": (?:the |a )?number\b(?! of (?:the|an?)\b)|^number: $"
        r"|\b(?:number of (?!the\b|an?\b)|(?:count|quantity|how many|population|total|followers|views)\b)"
        r"|数量|数目|人数|总数",
        rewrite=with_number_in_full,
    ),
    _role(
        "rate",
        r"\b(?<!bit )(?<!data )(?<!baud )(?<!transfer )rates?\b"
        r"|\b(?:yields?|spreads?|interest|percent(?:age)?|coupon|margin|basis points?|bps)\b"
        r"|利率|收益率|费率|利差",
        rewrite=with_basis_points_in_percent,
    ),
    _role(
        "interval",
        r"\b(?:interval|candles?|candlesticks?|timeframe|time frame|granularity|duration|time ?span|timeout"
        r"|frequency|recurrence)\b"
        r"|时长|间隔|K线|持续|频率",
        read_interval,
    ),
    _role(
        "fiscal period",
        r"\b(?:fiscal|financial|reporting|accounting|earnings) (?:period|year|quarter)s?\b|\bquarters?\b|\bperiod\b"
        r"|财年|财季|季度|报告期|财务期间",
        read_fiscal_period,
    ),
    _role(
        "order",
        r"\border[ _]?(?:type|kind|duration|term)|time[ _]in[ _]force|\btif\b|订单类型|委托类型",
        rewrite=with_order_terms_in_full,
    ),
    _role("time zone", r"\b(?:time ?zones?|tz|utc offset)\b|时区", read_zone),
    _role("month", rf"^(?!.*{_COUNTED_MONTHS})(?:.*\bmonths?\b|.*月份)", read_month),
    _role("unit", r"\bunits?\b|单位", read_unit),
    _role("hash", r"\b(?:commit|hash|sha-?\d*|md5|checksum|digest|fingerprint)\b|哈希|校验和", read_hash),
    _role("version", r"\bversions?\b|版本", read_version),
    _role(
        "US state",
        rf"^(?!.*(?:{_OTHER_STATES})).*?(?:{_AMERICAN}\W+(?:\w+\W+){{0,2}}?states?\b|\bstates?\b.{{0,50}}?(?:{_AMERICAN}|{_OF_PLACES})"
        rf"|{_OF_PLACES}.{{0,25}}?\bstates?\b|\bstates? (?:in which|where)\b"
        r"|\bstates?\b.{0,25}\b(?:such as|e\.g\.|example|like)\W{1,3}(?-i:[A-Z]{2}\b|California|Texas)|美国的?州|州名)",
        read_state,
    ),
    _role(
        "rank", r"\brank(?:ing)?s?\b|排名|名次", rewrite=lambda text: re.sub(r"^(第.{1,5})名$", r"\1", text)
    ),
    _role("account", r"\baccounts?\b|账户|科目", read_account),
)
_QUERY = re.compile(
    r"\b(?:quer(?:y|ies)|search(?:es|ed)?|keywords?|questions?|prompts?|instructions?|look(?:ed)? up)\b"
    r"|查询|搜索|检索|关键词|关键字|问题|提示词|指令",
    re.IGNORECASE,
)
"""Texts that are understood rather than kept: their polite words and small words do not count."""
_MESSAGE = re.compile(
    r"\b(?:message|body|content|text|memo|note|comment|caption|subject|reply|post|sms|letter)s?\b|内容|正文|备注",
    re.IGNORECASE,
)
"""Texts that others read as they were written."""
_KEPT = re.compile(rf"{_MESSAGE.pattern}|\b(?:title|name)s?\b|标题", re.IGNORECASE)
"""Names that say without a description that texts are kept."""
_PERSON = re.compile(
    r"\b(?:author|passenger|employee|contact|guest|patient|customer|client|member|student|teacher|director|actor|actress|singer"
    r"|artist|recipient|sender|doctor|person|people|traveler|traveller|attendee|participant|speaker|writer|composer|candidate"
    r"|applicant|tenant|owner|manager|full[ _]name|first[ _]name|last[ _]name|surname|holder)(?P<several>s)?\b"
    r"|姓名|作者|乘客|联系人|导演|演员|歌手|收件人|寄件人|患者|客户|员工|学生|老师",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"\b(?:names?|title|company|brand|cit(?:y|ies)|festival|holiday)\b"
    r"|名$|姓名|名称|名字|书名|片名|公司|品牌|节日|城市|景点|人名|省份",
    re.IGNORECASE,
)
_ORDERED = re.compile(
    r"\b(?:in (?:the |this |that )?order|order (?:matters|counts|is)|ordered|sequen\w+|min\b.{0,9}\bmax|from\b.{0,9}\bto"
    r"|rank\w*|priorit\w+|prefer\w*|sort(?:ed)?|chronolog\w+|steps?|stops?|routes?|paths?|itinerar\w+|waypoints?|playlists?"
    r"|queues?|coordinates?|first)\b"
    r"|顺序|依次|先后|有序|排序|排名|优先|步骤|路线|坐标",
    re.IGNORECASE,
)
_UNORDERED = re.compile(
    r"\b(?:in any order|any order|order (?:does not|doesn't|is not|isn't) (?:matter|important|relevant|significant)"
    r"|order (?:is )?irrelevant"
    r"|regardless of (?:the )?order|irrespective of order|unordered)\b"
    r"|(?:顺序|次序)(?:不限|任意|无关|不重要)|任意(?:顺序|次序)|不分先后|无序",
    re.IGNORECASE,
)
_SETS = re.compile(r"\b(?:set of|tags|hashtags|labels)\b|标签", re.IGNORECASE)
_SECRET = re.compile(
    r"(?:pass(?: ?word|phrase|code)|\bsecret|(?:api|secret|private|access|encryption|decryption|signing|licen[cs]e) ?key"
    r"|(?:access|api|auth|authentication|authorization|bearer|session|refresh|security|user|login) ?token"
    r"|密码|口令|密钥|令牌)s?$",
    re.IGNORECASE,
)
"""What is given as it was set: at the end of a name, or of what a description begins with."""
_OWNER = re.compile(r" (?:of|for|from|in|about)\b")
_EXACT = re.compile(
    r"\b(?<!not )(?<!n't )case[- ]sensitive\b|(?<!不)区分大小写"
    r"|\b(?:texts?|strings?|words?|sentences?|phrases?|messages?|data|contents?|inputs?|values?|plaintext)"
    r" (?:to|that (?:should|will|is to)) (?:be )?(?:hash|encod|encrypt|decod|decrypt|revers|count|spell)"
    r"|[要待](?:被)?(?:加密|解密|编码|解码|哈希|反转|倒序|计数)",
    re.IGNORECASE,
)
"""Texts that are worked on letter by letter, and those whose case is said to count."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_|-")
_FIRST_SENTENCE = re.compile(r"(?<![.A-Z])(?<!e\.g)(?<!i\.e)\.\s|[\n。；;]")
_HEAD = re.compile(
    r"[.,;:(\[，。；：（、]| (?:to(?! (?:search|look|find|ask))|that|which|such as|by|with|used|where|when|as|shown)\b"
)
"""Behind the noun that a description begins with."""


@dataclass(frozen=True, slots=True)
class ParameterUse:
    """What the texts of one parameter are for."""

    roles: tuple[ParameterRole, ...]
    text_use: TextUse
    """How much their words count."""
    is_person: bool
    """Whether they name persons."""
    is_one_person: bool
    """Whether each names one person, and is no list of several."""
    is_name: bool
    """Whether they name a person, a thing or a city, and so keep their numerals."""
    is_exact: bool
    """Whether every character of them counts."""


def parameter_use(use: str) -> ParameterUse:
    """What the texts of a parameter are for.

    Args:
        use: its name, and behind `: ` its description.
    """
    return _read_use(use[:_READ_CHARACTERS])


@lru_cache(maxsize=4096)
def _read_use(use: str) -> ParameterUse:
    raw_name, _, description = use.partition(": ")
    name, head = _CAMEL.sub(" ", raw_name), _HEAD.split(description)[0]
    asked = f"{name} | {head}"
    person = None if _MESSAGE.search(asked) else _PERSON.search(asked)
    if _QUERY.search(f"{name} | {head.partition(' of ')[0]}"):
        text_use: TextUse = "query"
    elif person or _KEPT.search(asked):
        text_use = "kept"
    else:
        text_use = "described" if head else "unknown"
    sentence = f"{name}: {_FIRST_SENTENCE.split(description)[0]}"
    return ParameterUse(
        roles=tuple(role for role in _ROLES if role.asked_by.search(sentence)),
        text_use=text_use,
        is_person=person is not None,
        is_one_person=person is not None and person["several"] is None and person[0].lower() != "people",
        is_name=person is not None or _NAME.search(asked) is not None,
        is_exact=any(map(_SECRET.search, (name, _OWNER.split(head)[0].strip())))
        or _EXACT.search(use) is not None,
    )


def is_set(use: str, has_unique_items: bool) -> bool:
    """Whether the order of an array does not matter, by its name, its description or `uniqueItems` of its schema."""
    text = _CAMEL.sub(" ", use[:_READ_CHARACTERS])
    if _UNORDERED.search(text):
        return True
    return (has_unique_items or _SETS.search(text) is not None) and not _ORDERED.search(text)


_JAPANESE = re.compile(
    r"\b(?:japan(?:ese)?|yen|JPY|tokyo|osaka)\b|日元|日圆|円|日本|[\u3040-\u30ff]", re.IGNORECASE
)
_CHINESE = re.compile(
    r"\b(?:china|chinese|yuan|CNY|RMB|renminbi)\b|人民币|(?<!日)元|[\u4e00-\u9fff]", re.IGNORECASE
)


def yen_or_yuan(use: str) -> str | None:
    """The currency that `¥` is by what a parameter says, or the other text of a pair; None if nothing says so."""
    if _JAPANESE.search(use):
        return "JPY"
    return "CNY" if _CHINESE.search(use) else None
