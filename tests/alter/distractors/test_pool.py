"""Pools of tools, and the distractors of an item."""

import base64
import json
import re
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.alter.distractors.pool import DISTRACTOR_KINDS, distractors, pack, pool_name, tool_text, unpack
from wildtool.shapes import tool_name

VALID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def tool(name: str, text: str = "") -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": text}}


TOOLS = st.lists(
    st.builds(tool, st.text("abcDE_- 查", min_size=1, max_size=6), st.text("ab c", max_size=9)), max_size=12
)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "en", "zh"]),
            st.builds(tool, st.text(min_size=1, max_size=5), st.text(max_size=9)),
        )
    )
)
def test_a_pool_comes_back_with_each_name_of_a_language_once(rows: list[Any]):
    back = unpack(pack(rows))
    keys = [(lang, tool_name(each)) for lang, each in back]
    assert len(set(keys)) == len(keys)
    assert set(keys) == {(lang, tool_name(each)) for lang, each in rows}
    for key, row in zip(keys, back, strict=True):
        assert row == next(each for each in rows if (each[0], tool_name(each[1])) == key)


@pytest.mark.parametrize("text", ["", "x", pack([("", tool("a"))])[:-4]])
def test_a_damaged_pool_is_told(text: str):
    with pytest.raises(ValueError):
        unpack(text)


@given(
    pool=TOOLS,
    own=TOOLS,
    kinds=st.lists(st.sampled_from(list(DISTRACTOR_KINDS)), min_size=1, unique=True).map(tuple),
    few=st.integers(0, 30),
    more=st.integers(0, 30),
)
def test_a_larger_catalogue_holds_the_smaller_one_and_names_are_valid_and_unique(
    pool: list[Any], own: list[Any], kinds: tuple[str, ...], few: int, more: int
):
    packed = pack([("en", each) for each in pool])
    small = distractors(packed, kinds, "0 a", "en", own, few)
    large = distractors(packed, kinds, "0 a", "en", own, few + more)
    assert large[: len(small)] == small
    assert len(small) <= few
    names = [tool_name(each) for _, each in large]
    plain = [re.sub(r"[\W_]+", "", name).casefold() for name in names]
    assert all(map(VALID.fullmatch, names))
    assert len(set(plain)) == len(plain)
    assert not set(names) & {tool_name(each) for each in own}
    assert {kind for kind, _ in large} <= set(kinds)


def names_of(
    kind: str, pool: list[Any], own: list[Any], seed: str = "0 a", lang: str = "en"
) -> list[str | None]:
    rows = [row if isinstance(row, tuple) else ("en", row) for row in pool]
    return [tool_name(each) for _, each in distractors(pack(rows), (kind,), seed, lang, own, 99)]


def test_the_domain_comes_in_the_order_of_likeness():
    own = [tool("get_weather", "Weather forecast of a city by day")]
    pool = [
        tool("mix_paint", "Mixes two colours"),
        tool("tides", "Tides at a coast by day"),
        tool("storms", "Storm warnings: forecast of heavy weather near a city"),
    ]
    assert names_of("domain", pool, own) == ["storms", "tides", "mix_paint"]


def test_a_tool_that_may_do_the_same_job_is_no_distractor():
    own = [tool("get_weather", "Weather forecast of a city")]
    pool = [
        tool("getWeather", "Anything"),
        tool("weather", "Weather forecast of a town"),
        tool("tides", "Tides"),
    ]
    assert names_of("random", pool, own) == ["tides"]


def test_tools_of_half_the_same_words_may_do_the_same_job():
    own = [tool("weather", "city")]
    assert names_of("random", [tool("city")], own) == []
    assert names_of("random", [tool("city", "tides")], own) == ["city"]


def test_tools_that_are_equally_near_come_by_language():
    pool = [(lang, tool(f"{lang}{k}")) for k in range(2) for lang in ("en", "zh")]
    assert names_of("domain", pool, [], lang="zh") == ["zh0", "zh1", "en0", "en1"]


def test_a_pool_is_packed_as_short_text():
    rows = [("zh", tool("查", "x")), ("", tool("b")), ("zh", tool("查")), ("", {"function": {}})]
    packed = zlib.decompress(base64.b85decode(pack(rows))).decode()
    assert packed == json.dumps([rows[1], rows[0]], ensure_ascii=False, separators=(",", ":"))
    assert tool_text({"function": {"name": "a", "description": 3}}) == "a"
    assert [pool_name(""), pool_name(pack([("en", tool("a"))]))] == ["", ""]
    assert pool_name(pack([("", tool("a"))])) == "pool b411989d"


def test_tools_of_the_items_language_come_first_and_seeds_differ():
    pool = [(lang, tool(f"{lang}{k}")) for k in range(9) for lang in ("en", "zh")]
    order = names_of("random", pool, [], lang="zh")
    assert {str(name)[:2] for name in order[:9]} == {"zh"}
    assert order == names_of("random", pool, [], lang="zh")
    assert order != names_of("random", pool, [], seed="1 a", lang="zh")


def test_kinds_are_taken_in_turn_until_one_has_no_more():
    own, pool = [tool("a")], [("en", tool(name)) for name in ("tides", "paint")]
    drawn = distractors(pack(pool), ("random", "near"), "0 a", "en", own, 6)
    assert [kind for kind, _ in drawn] == ["random", "near", "random", "near", "near", "near"]
