"""Cuts text into comparable words: names split, endings cut, near-synonyms of everyday verbs taken as one."""

import re
from functools import lru_cache
from typing import Any, cast

from wildtool.toolcall.chinese import cut

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_RUNS = re.compile(r"[\u3400-\u9fff]+|[^\W\d_\u3400-\u9fff]+|\d+")
_CJK = re.compile(r"[\u3400-\u9fff]")


def word_set(text: str) -> frozenset[str]:
    """Words of a text between blanks."""
    return frozenset(text.split())


STOP = word_set(
    "a an the this that these those it its is are was were be been am do does did have has had of in "
    "on at to for from by with and or but if then than so as not no yes i me my you your he him his "
    "she her we us our they them their can could would will should may please what which who when "
    "where how why there here just also too now ok okay oh hey hi hello thanks thank s t m re ll ve d "
    "one ones all any some only into out up about given user default e g id ids value name used use "
    "go going want need let got 的 了 吗 呢 吧 啊 我 你 他 她 它 我们 你们 是 在 有 和 与 或 也 都 就 "
    "还 那 这 个 一个 那个 这个 一下 把 给 被 让 要 会 能 请 到 从 按 并 为 对 不 没 没有 么 什么 哪 "
    "怎么 用户 默认 例如 格式"
)
_SAME = (
    "get show check find search look list view see fetch retrieve query lookup tell "
    "查询 查 看 查看 搜索 列出 获取 查找 查下 看看 搜 搜下 找 找下 瞅瞅 瞄",
    "create add make new log put insert book reserve schedule record "
    "新建 添加 新增 创建 记录 加 记 预订 预约 订 安排",
    "cancel delete remove drop 取消 删除 删",
    "change update edit modify move adjust set correct postpone 修改 更新 改 调整 改成 设置 设",
    "send text message notify alert warn warning remind reminder 发送 发 通知 提醒",
    "buy purchase order pay 购买 买 下单 支付 付",
    "price cost fare expensive cheap fee rate charge 价格 费用 多少钱 价",
    "compare versus vs difference 比较 对比 比",
    "translate translation 翻译 译",
    "weather forecast rain temperature sunny 天气 预报 下雨 气温",
    "flight fly flying plane 航班 机票 飞",
    "train rail railway 火车 高铁 列车",
    "trip journey travel route 行程 路线",
)  # fmt: skip
_ENDINGS = (("ies", "y"), ("ings", ""), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("ly", ""))


def has_cjk(text: str) -> bool:
    """Whether Chinese characters stand in a text."""
    return _CJK.search(text) is not None


def stem(word: str) -> str:
    """A lower-case word without its ending; crude, but the same on both sides of a comparison."""
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: len(word) - len(ending)] + instead
            break
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] == "e" else word


_GROUPS = {stem(word): f"={group.split()[0]}" for group in _SAME for word in group.split()}


@lru_cache(maxsize=20_000)
def words(text: str) -> tuple[str, ...]:
    """Stems of a text in order, stop words left out; near-synonyms give one stem."""
    return tuple(_GROUPS.get(part, part) for part in stems(text) if part not in STOP)


@lru_cache(maxsize=2_000)
def tagged(text: str, tag: str) -> list[str]:
    """Words of a Chinese text that the dictionary tags so: `ns` a place, `nr` a person."""
    from jieba import posseg  # type: ignore[import-untyped]  # slow to load, and seldom needed

    cut("")
    pairs: Any = cast(Any, posseg).cut(text)
    return [str(pair.word) for pair in pairs if pair.flag == tag]


@lru_cache(maxsize=20_000)
def stems(text: str) -> tuple[str, ...]:
    """Stems of a text in order, every word kept (stop words as they are)."""
    found: list[str] = []
    for run in _RUNS.findall(_CAMEL.sub(" ", text)):
        if _CJK.match(run):
            found.extend(word for word in cut(run) if word.strip())
        else:
            word = run.lower()
            cut_down = stem(word)
            # `note` must not become the stop word `not`.
            found.append(word if word in STOP or cut_down in STOP else cut_down)
    return tuple(found)
