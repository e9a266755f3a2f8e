"""Cuts text into comparable words: names split, endings cut, Chinese by dictionary."""

import re
from functools import lru_cache

from wildtool.toolcall.text.chinese import cut

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_RUNS = re.compile(r"[\u3400-\u9fff]+|[^\W\d_\u3400-\u9fff]+|\d+")
_CJK = re.compile(r"[\u3400-\u9fff]")
_ENDINGS = (
    ("ies", "y"),
    ("ings", ""),
    ("ing", ""),
    ("ed", ""),
    ("er", ""),
    ("es", ""),
    ("s", ""),
    ("ly", ""),
)
_STOP = """
a an the this that these those it its is are was were be been am do does did have has had of in on at to for from
by with and or but if then than so as not no yes i me my you your he him his she her we us our they them their can could
would will should may please what which who when where how why there here just also too now ok okay oh hey hi hello
thanks thank s t m re ll ve d one ones all any some only into out up about given user default e g id ids value name
used use go going want need let got
的 了 吗 呢 吧 啊 我 你 他 她 它 我们 你们 是 在 有 和 与 或 也 都 就 还 那 这 个 一个 那个 这个 一下 把 给 被 让 要
会 能 请 到 从 按 并 为 对 不 没 没有 么 什么 哪 怎么 用户 默认 例如 格式
"""
STOP = frozenset(_STOP.split())


def has_cjk(text: str) -> bool:
    """Whether Chinese characters stand in a text."""
    return _CJK.search(text) is not None


@lru_cache(maxsize=20_000)
def words(text: str) -> tuple[str, ...]:
    """Stems of a text in order, stop words left out."""
    return tuple(part for part in stems(text) if part not in STOP)


@lru_cache(maxsize=20_000)
def stems(text: str) -> tuple[str, ...]:
    """Stems of a text in order, every word kept."""
    found: list[str] = []
    for run in _RUNS.findall(_CAMEL.sub(" ", text)):
        found.extend(cut(run) if _CJK.match(run) else (_stem(run.lower()),))
    return tuple(found)


def _stem(word: str) -> str:
    """A lower-case word without its ending; crude, but the same on both sides of a comparison."""
    found = word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            found = word[: len(word) - len(ending)] + instead
            break
    if len(found) > 3 and found[-1] in (found[-2], "e"):
        found = found[:-1]
    # `note` must not become the stop word `not`.
    return word if found in STOP else found
