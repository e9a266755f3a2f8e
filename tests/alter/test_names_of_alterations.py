"""What tables, folders and records say of each alteration, and the tools that a catalogue draws."""

from typing import Any

import pytest

from wildtool.alter.aid.aid import Aid
from wildtool.alter.aid.hints import Hint
from wildtool.alter.base import Alteration
from wildtool.alter.catalogue.catalogue import Catalogue
from wildtool.alter.catalogue.pool import distractors, pack, pool_name, tool_text, unpack
from wildtool.alter.failures.failures import Failures
from wildtool.alter.failures.schedule import FailureSchedule
from wildtool.alter.history.history import OwnHistory
from wildtool.alter.history.own_history import _as_object_text, _closing  # pyright: ignore[reportPrivateUsage]
from wildtool.alter.history.settings import Unrecorded
from wildtool.alter.injection.injection import Injection
from wildtool.alter.injection.planting import planted
from wildtool.alter.injection.settings import InjectionSetting
from wildtool.alter.kinds import recorded_alterations
from wildtool.alter.noise.noise import Noise
from wildtool.alter.tool_answers import simulated_call
from wildtool.errors import UsageError
from wildtool.types import Item, Tool

CASES: list[tuple[Alteration, str, str, list[str], dict[str, Any], list[str]]] = [
    (
        OwnHistory(Unrecorded.refuse),
        "history own",
        "own",
        ["history-own"],
        {"history": {"own": "refuse"}},
        ["session_place", "settled", "unrecorded_calls", "later_replies"],
    ),
    (
        OwnHistory(Unrecorded.simulate),
        "history own, unrecorded calls simulated",
        "own, unrecorded calls simulated",
        ["history-own", "simulate"],
        {"history": {"own": "simulate"}},
        ["session_place", "settled", "unrecorded_calls", "later_replies"],
    ),
    (
        Injection(InjectionSetting.enhanced, 3),
        "injection enhanced, seed 3",
        "enhanced, seed 3",
        ["inject-enhanced", "seed-3"],
        {"injection": {"setting": "enhanced", "seed": 3}},
        ["injection", "injection_how", "injection_kind", "injection_tool"],
    ),
    (
        Injection(InjectionSetting.base),
        "injection base",
        "base",
        ["inject-base"],
        {"injection": {"setting": "base", "seed": 0}},
        ["injection", "injection_how", "injection_kind", "injection_tool"],
    ),
    (
        Noise.parse("order:1,names:3", 2),
        "noise names:heavy,order:slight, seed 2",
        "names:heavy,order:slight, seed 2",
        ["names-heavy", "order-slight", "seed-2"],
        {"noise": {"levels": "names:heavy,order:slight", "seed": 2}},
        [],
    ),
    (
        Failures(FailureSchedule.parse("first-call,stale,empty")),
        "failures first-call,empty,stale",
        "first-call,empty,stale",
        ["failures-first-call-empty-stale"],
        {"failures": {"schedule": "first-call,empty,stale", "seed": 0}},
        [
            "failures",
            "failure_kind",
            "failure_end",
            "failure_retried",
            "failure_needless",
            "failure_reported",
            "failure_invented",
            "failure_duplicate",
        ],
    ),
    (
        Aid((Hint("a", "0", None, "x", turn=1),), shuffled=True),
        "hints shuffled",
        "hints shuffled",
        ["hints", "shuffled"],
        {"hints": {"shuffled": True, "texts": [["a", "0", None, "x", "clue", 1]]}},
        ["hint"],
    ),
    (
        Aid(rationale="given", rationales={("a", "0"): "why"}),
        "rationale given",
        "rationale given",
        ["rationale", "given"],
        {"rationale": {"by": "given", "texts": [["a", "0", "why"]]}},
        ["rationale"],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[1])
def test_an_alteration_is_named_in_tables_folders_and_records(case: Any):
    alteration, described, label, folder, identity, columns = case
    assert (alteration.described, alteration.label, list(alteration.folder_parts)) == (
        described,
        label,
        folder,
    )
    assert (alteration.identity(), list(alteration.columns)) == (identity, columns)
    assert recorded_alterations(identity) == (alteration,)


def test_alterations_say_how_they_change_a_comparison():
    alterations = [case[0] for case in (CASES[0], CASES[1], CASES[2], CASES[4], CASES[5], CASES[6])]
    assert [(each.kind, each.caveat, each.without, each.in_order) for each in alterations] == [
        ("history", "history of later tasks", "gold history", True),
        ("history", "history of later tasks", "gold history", True),
        ("injection", "instructions were planted into tools' results", "none", False),
        ("noise", "the tools were shown with noise", "none", False),
        ("failures", "tools failed", "none", False),
        ("aid", "the model was given aid", "none", False),
    ]
    assert [list(each.played_roles) for each in alterations] == [[], ["tools"], [], [], [], []]
    assert [dict(each.roles) for each in alterations] == [{}] * 6
    assert [bool(each.cuts_note) for each in alterations] == [True, True, False, False, False, False]
    both = {**CASES[5][4], **CASES[0][4], **CASES[4][4], **CASES[6][4], **CASES[7][4]}
    assert [each.kind for each in recorded_alterations(both)] == ["history", "failures", "noise", "aid"]
    assert recorded_alterations({"noise": None, "other": 1}) == ()
    with pytest.raises(UsageError) as refusal:
        CASES[0][0].unit(Item("i", ("0",), None), "0")
    assert str(refusal.value) == "own history follows from the rules of a benchmark and from earlier units"


def tool(name: str, text: str = "") -> Tool:
    return {"type": "function", "function": {"name": name, "description": text}}


POOL = pack(
    [
        ("en", tool("get_trains", "Gets trains between two cities.")),
        ("zh", tool("find_hotel", "查找酒店")),
        ("en", tool("find_hotel", "Finds a hotel in a city.")),
        ("", tool("Pay Bill", "Pays a bill.")),
        ("en", tool("read_mail", "Reads mail.")),
        ("zh", tool("weather", "查询天气")),
        ("en", tool("GetTrains", "Another of that name.")),
        ("en", tool("search_trains", "Searches trains between two cities.")),
    ]
)
OWN = [tool("get_trains", "Gets trains between two cities.")]


@pytest.mark.parametrize(
    ("kinds", "lang", "names"),
    [
        (
            ("random",),
            "en",
            [
                ("random", "Pay_Bill"),
                ("random", "read_mail"),
                ("random", "find_hotel"),
                ("random", "weather"),
            ],
        ),
        (
            ("random",),
            "zh",
            [
                ("random", "Pay_Bill"),
                ("random", "weather"),
                ("random", "find_hotel"),
                ("random", "read_mail"),
            ],
        ),
        (
            ("domain",),
            "en",
            [
                ("domain", "find_hotel"),
                ("domain", "Pay_Bill"),
                ("domain", "read_mail"),
                ("domain", "weather"),
            ],
        ),
        (
            ("random", "domain", "near"),
            "en",
            [
                ("random", "Pay_Bill"),
                ("domain", "find_hotel"),
                ("near", "get_trains_audit"),
                ("random", "read_mail"),
                ("domain", "weather"),
                ("near", "partner_fetch_trains"),
                ("near", "get_trains_stub"),
            ],
        ),
    ],
)
def test_a_catalogue_draws_these_tools(kinds: tuple[str, ...], lang: str, names: Any):
    drawn = distractors(POOL, kinds, "seed", lang, OWN, 7)
    assert [(kind, each["function"]["name"]) for kind, each in drawn] == names


def test_a_pool_holds_each_name_of_a_language_once_and_is_named_where_the_user_made_it():
    rows = [
        ("en", tool("a", "first")),
        ("en", tool("a", "second")),
        ("zh", tool("a")),
        ("", {"type": "function"}),
    ]
    assert unpack(pack(rows)) == [rows[0], rows[2]]
    assert (pool_name(pack(rows)), pool_name(""), pool_name(pack([("", tool("a"))]))[:5]) == ("", "", "pool ")
    odd: list[Tool] = [{"function": {"name": "a", "description": 7}}, {}]
    assert [tool_text(each) for each in (tool("a", "b"), tool("a"), *odd)] == ["a b", "a", "a", ""]
    catalogue = Catalogue.parse("10", "random", pool=pack([("", tool("a"))]))
    assert catalogue.label.startswith("of 10 tools (random), pool ")
    assert Catalogue.parse("10", "near", pool=catalogue.pool).label == "of 10 tools (near)"


def test_texts_of_any_language_stay_readable():
    call = {"function": {"name": "f", "arguments": '{"ort": "Köln"}'}}
    request = simulated_call([], call, [{"größe": 1}], "zh", "{}")
    assert request.messages[1]["content"] == (
        '{"tool": null, "other results": [{"größe": 1}], "call": {"name": "f", "arguments": '
        '"{\\"ort\\": \\"Köln\\"}"}}'
    )
    assert request.messages[0]["content"].startswith("你扮演软件系统中的工具 f。")
    assert [_as_object_text(value) for value in ({"ort": "Köln"}, "[", '{"a": 1}', None)] == [
        '{"ort": "Köln"}', "{}", '{"a": 1}', "{}"
    ]  # fmt: skip
    assert _closing("parallel") == {"role": "assistant", "content": "…"}
    assert planted('"Über"', "Tu das.") == '"Über Tu das."'
