"""The same seed gives a set the same new values, and a session that is refused is refused for the same reason."""

import json
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from generate.golden import check, digest
from generate.procedural.wide_tools import WIDE
from generate.refresh.test_refresh import MINI_SESSIONS, one
from wildtool.errors import DataError
from wildtool_data.make.core.plan import Lang, SessionGenerationSpec
from wildtool_data.make.procedural.sessions import procedural_sessions
from wildtool_data.make.procedural.values import ValueSampler
from wildtool_data.make.refresh import refresh
from wildtool_data.make.refresh.entities import (
    EntityRole,
    SessionEntities,
    UnclearError,
    entity_role,
    find_entities,
    is_money,
    qualified_key,
)
from wildtool_data.make.refresh.refresh import (
    Rewriter,
    UnchangedSession,
    _check_findings,  # pyright: ignore[reportPrivateUsage]
    _distinct_draw,  # pyright: ignore[reportPrivateUsage]
    _marked,  # pyright: ignore[reportPrivateUsage]
    _TextDeduplicator,  # pyright: ignore[reportPrivateUsage]
    refresh_file,
    refresh_session,
    replacement_texts,
    year_shift,
)


def _refreshed(record: dict[str, Any], seed: str) -> str:
    try:
        fresh = refresh_session(record, seed)
    except UnclearError as unclear:
        return str(unclear)
    tasks = next(value for key, value in fresh.items() if key.endswith("_tasks"))
    return f"{digest(fresh)} {tasks[0]}"


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "seed", "tools"), [("mini", "", None), ("built_in", "1", None), ("wide", "2", WIDE)]
)
def test_sessions_have_the_same_new_values(tmp_path: Path, name: str, seed: str, tools: Any):
    sessions: list[dict[str, Any]] = MINI_SESSIONS[::2]
    if seed:
        path = tmp_path / "tools.json"
        path.write_text(json.dumps(tools))
        spec = SessionGenerationSpec(12, 3, seed, ("en", "zh"), path if tools else None)
        made = procedural_sessions(spec, [].append)
        sessions = [{**each, "made_by": {**each["made_by"], "version": ""}} for each in made]
    check(
        f"refreshed_{name}",
        {f"{k} {record['id']}": _refreshed(record, "s") for k, record in enumerate(sessions)},
    )


CASES: list[dict[str, Any]] = [
    {"text": "call Ann Lee about it", "observation": {"Ann Lee": "busy"}, "contact": "Ann Lee"},
    {"text": "since 1901 it is", "observation": "ok", "day": "1901-01-01"},
    {"text": "in BLUE", "observation": "ok", "gizmo": "BLUE"},
    {
        "text": "send 17.50 EUR to Ann Lee, ann.lee@x.org",
        "observation": {"paid": 17.5, "currency": "EUR", "total": 35.0},
        "to_name": "Ann Lee",
        "email": "ann.lee@x.org",
    },
    {
        "text": "call +49 4841 6631 please",
        "observation": {"phone": "+49 4841 6631"},
        "phone": "+49 4841 6631",
    },
    {"text": "meet Will Grace; will you?", "observation": "ok", "person": "Will Grace"},
    {
        "text": "go to Old Harbour on 2024-02-29",
        "observation": {"date": "2024-02-29", "stop": "Old Harbour"},
        "stop": "Old Harbour",
    },
    {
        "text": "in 1999 and 2001",
        "observation": {"year": 1999, "since_year": 2001},
        "day": "1999-05-01",
        "other": "2001-01-01",
    },
    {
        "text": "the price is €20 or 1,850.5 dollars, not 20 pieces",
        "observation": {"price": 20, "pieces": 20, "cost": 1850.5},
        "amount": "20",
    },
    {"text": "pay 20", "observation": {"fee": 20, "pieces": 20}},
    {"text": "pay fee 20 and pieces 20", "observation": {"fee": 20, "pieces": 20}},
    {
        "text": "half is 10 of amount 20, from 20 to 25",
        "observation": {"amount": {"from": 20, "to": 25, "unit": 20}, "net": 10.0, "subtotal": 20},
    },
    {
        "text": "order AB-20417 and 55012 and bk_7781",
        "observation": {"number": 55012, "count": 55012, "ref": "bk_7781"},
        "order_id": "AB-20417",
    },
    {
        "text": "at Mill Road 12 or 12 Mill Road",
        "observation": {"where": "Mill Road 12", "note": "12 Mill Road"},
        "address": "Mill Road 12",
    },
    {"text": "a stamp in digits", "observation": {"at": 20250506}},
    {"text": "stamp", "observation": {"at": "1746500000"}},
    {
        "text": "hear The Long Road by The Band",
        "observation": [{"title": "The Long Road", "artist": "The Band"}],
        "song": "The Long Road",
    },
    {"text": "tell Zed", "observation": "ok", "contact": "Zed"},
    {
        "text": "tell Zeda Quill and Zeda",
        "observation": {"people": [{"name": "Zeda Quill"}]},
        "contact": "Zeda Quill",
    },
    {"text": "find Rome", "observation": {"x": "Rome", "y": "Berlin"}, "where": "Berlin"},
    {
        "text": "a ok",
        "observation": {"flag": True, "when": "12:30", "span": "12:30-13:00", "iso": "2025-05-06T10:00"},
        "gizmo": "OK",
    },
    {"text": "in 2025", "observation": "ok", "thing": "Blue Lamp"},
    {
        "text": "years 1900 and 2100 stay",
        "observation": {"a": "1900-01-01", "b": "2100-01-01", "c": "2099-01-01"},
    },
]


def test_what_is_said_decides_what_changes():
    outcomes: dict[str, Any] = {}
    for case in CASES:
        arguments = {key: value for key, value in case.items() if key not in ("text", "observation")}
        record = one(case["text"], case["observation"], **arguments)
        try:
            fresh = refresh_session(record, "s")
        except UnclearError as unclear:
            outcomes[case["text"]] = str(unclear)
            continue
        node = fresh["english_answer_list"][0][0]
        values = [
            fresh["english_tasks"][0],
            node["action"]["arguments"],
            node["observation"],
            fresh["english_env_info"],
        ]
        outcomes.setdefault(case["text"], []).append(json.dumps(values, ensure_ascii=False))
    check("refreshed_cases", outcomes)


def test_a_file_is_refreshed_to_its_end_or_to_what_is_unclear(tmp_path: Path):
    unclear = one("get Bergamot", "ok", gizmo="Bergamot") | {"id": "u"}
    plain = one("call Ann Lee about AB-20417", "ok", contact="Ann Lee", order_id="AB-20417")
    file = tmp_path / "s.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in (plain, unclear, {**plain, "id": "p"})))
    refused: list[UnchangedSession] = []
    fresh = list(refresh_file(file, "s", refused, skip_unclear=True))
    first = refresh_session(plain, "s")
    assert fresh == [first, refresh_session({**plain, "id": "p"}, "s")]
    assert first["english_tasks"] != plain["english_tasks"]
    assert refused == [UnchangedSession("u", "do.gizmo: 'Bergamot': its role is unclear")]
    with pytest.raises(DataError) as refusal:
        list(refresh_file(file, "s", [], skip_unclear=False))
    assert str(refusal.value) == (
        f"{file}:2: u: do.gizmo: 'Bergamot': its role is unclear; correct it, or leave such sessions "
        "out with --skip-unclear"
    )


def _new_texts(
    texts: dict[str, EntityRole], lang: Lang = "en", session_text: str = "", fixed: str = ""
) -> dict[str, str]:
    values = ValueSampler(Random(4), lang, datetime(2025, 1, 1))
    return replacement_texts(SessionEntities(texts), values, session_text, frozenset(fixed.split(",")))


def test_each_old_text_has_a_new_one_of_its_kind():
    english: dict[str, EntityRole] = {
        **dict.fromkeys(("Ann Lee", "Ann", "Lee Ann", "Bo de la Cruz", "Kim", "Kim Cruz"), "person"),
        **dict.fromkeys(("Oslo", "Mill Road 12", "Cruz"), "place"),
        **dict.fromkeys(("The Band", "Fixed Title", "Blue 2"), "title"),
        "AB-2041": "id",
        "90210": "id",
        "+49 4841": "phone",
        "a@b.c": "email",
    }
    chinese: dict[str, EntityRole] = {
        "王伟": "person",
        "王": "person",
        "北京": "place",
        "南京路12号": "place",
        "蓝色台灯": "title",
        "13800138000": "phone",
        "a@b.c": "email",
        "AB-2041": "id",
    }
    check(
        "replacement_texts",
        {
            "english": _new_texts(english, fixed="lee,fixed title"),
            "all is free": _new_texts(english),
            "chinese": _new_texts(chinese, "zh"),
            "names that are words": _new_texts({"Will Grace": "person"}, session_text="Mayor Willow"),
            "one name": _new_texts({"Will": "person"}, session_text="will"),
        },
    )
    first = _new_texts({"Ann": "person"})
    assert _new_texts({"Ann": "person"}, session_text=f"with {first['Ann']} and others") != first
    with pytest.raises(UnclearError) as unclear:
        _new_texts({"Will Grace": "person"}, session_text="it will do")
    assert str(unclear.value) == "a name that is a word too: 'Will': its role is unclear"


def test_a_value_is_drawn_two_hundred_times_before_a_session_is_refused():
    drawn: list[str] = []

    def draw() -> str:
        drawn.append("Oslo" if len(drawn) % 2 else "The Lee")
        return drawn[-1]

    with pytest.raises(UnclearError) as unclear:
        _distinct_draw(draw, ["to oslo"], {"lee"})
    assert str(unclear.value) == "an entity: 'The Lee': no new value can be found in its place"
    assert len(drawn) == 201
    old_texts = ["to oslo"]
    assert _distinct_draw(iter(["OSLO", "Lee-1", "Lees", "x"]).__next__, old_texts, {"lee"}) == "Lees"
    assert old_texts == ["to oslo", "lees"]


KEYS = [
    "phone",
    "e_mail",
    "email",
    "customer",
    "buddy",
    "from",
    "city",
    "street",
    "title",
    "team",
    "name",
    "names",
    "amount",
    "total",
    "net",
    "order_id",
    "orderId",
    "ID",
    "userID",
    "code",
    "ref",
    "number",
    "gizmo",
    "with",
    "account",
]
VALUES = [
    "Ann",
    "Ann Lee",
    "ann",
    "a@b.c",
    "a@b c",
    "AB-12",
    "AB12345",
    "AB 1204",
    "1234",
    "12",
    "Berlin",
    "北京",
    "王伟",
    "王",
    "蓝色台灯",
    "Mill Road 3",
    "9 Mill Lane",
    "+49 48",
    "bk_77",
    "X",
    "Über Alles",
    "De La Soul 3",
    "Rock and Roll",
    "x1 y2",
]


def test_the_role_of_a_value_follows_from_its_key_and_form():
    check(
        "entity_roles",
        {key: {text: role for text in VALUES if (role := entity_role(key, text))} for key in KEYS},
    )


def test_amounts_of_money_are_known_by_key_or_currency():
    keys = [
        "price",
        "unit_price",
        "price_eur",
        "priceless",
        "total",
        "subtotal",
        "net",
        "amount_from",
        "count",
        "rent",
        "parent",
    ]
    flags = {
        key: [is_money(key, value, beside_currency=beside) for value in (5, 5.5) for beside in (True, False)]
        for key in keys
    }
    assert flags == {
        **{key: [True] * 4 for key in ("price", "unit_price", "price_eur", "amount_from", "rent")},
        **{key: [False, False, True, False] for key in ("priceless", "count", "parent")},
        **{key: [False, False, True, True] for key in ("total", "subtotal", "net")},
    }
    assert [
        qualified_key(key, name) for key, name in (("price", "from"), ("price", "x"), ("date", "from"))
    ] == ["price_from", "x", "from"]


def test_the_description_of_a_list_is_that_of_its_members():
    record = one("in Danish and Dutch", "ok", spoken="x")
    record["english_answer_list"][0][0]["action"]["arguments"] = {"spoken": ["Danish", "Dutch"]}
    properties = record["english_tools"][0]["function"]["parameters"]["properties"]
    properties["spoken"] = {"type": "array", "description": "The languages.", "items": {"type": "string"}}
    with pytest.raises(UnclearError) as unclear:
        refresh_session(record, "s")
    assert str(unclear.value) == "do.spoken: 'Danish': its role is unclear"
    properties["spoken"]["description"] = "A language of each."
    fresh = refresh_session(record, "s")
    assert fresh["english_answer_list"][0][0]["action"]["arguments"] == {"spoken": ["Danish", "Dutch"]}


@pytest.mark.long
@pytest.mark.parametrize(
    "years",
    [
        *({year} for year in (2025, 2024, 1910, 1911, 2089, 2090, 1905, 2095, 2000, 1932, 2068)),
        {2024, 2025},
        {2015, 2016, 2017},
        set(),
    ],
)
def test_dates_move_to_years_with_the_same_calendar(years: set[int]):
    shifts = sorted({year_shift(years, Random(k)) for k in range(300)})
    check(f"year_shifts/{'_'.join(map(str, sorted(years))) or 'none'}", shifts)


def test_years_without_another_of_their_calendar_are_refused():
    with pytest.raises(UnclearError) as unclear:
        year_shift({1905, 2095}, Random(1))
    assert str(unclear.value) == "dates: '1905, 2095': no other years have the same calendars"


def test_an_old_value_that_is_left_or_a_rule_that_is_newly_broken_refuses_the_session():
    record = one("call Ann Lee", "ok", contact="Ann Lee")
    rewriter = Rewriter(
        record, "english", ["english_env_info", "english_tasks", "english_answer_list"], Random(0)
    )
    with pytest.raises(UnclearError) as left:
        rewriter.check({"text": "call Ann"})
    assert str(left.value) == "the rewritten session: 'Ann': it still stands there"
    rewriter.check({"text": "call Anna"})
    broken = {**record, "english_task_types": ["Song"]}
    with pytest.raises(UnclearError) as worse:
        _check_findings(record, broken)
    check("newly_broken", str(worse.value))
    _check_findings(broken, record)
    _check_findings(broken, broken)


def test_what_is_rewritten_is_held_to_the_rules_of_the_old_session(monkeypatch: pytest.MonkeyPatch):
    checked: list[Any] = []
    monkeypatch.setattr(refresh, "_check_findings", lambda *sessions: checked.extend(sessions))
    record = one("call Ann Lee", "ok", contact="Ann Lee")
    fresh = refresh_session(record, "s")
    assert checked == [record, fresh]


def test_a_session_is_drawn_again_while_a_text_is_nearly_an_earlier_one(monkeypatch: pytest.MonkeyPatch):
    seeds: list[str] = []
    same = "Book a room in Oslo for two nights"
    texts = iter([same, same.upper(), f"{same}.", "Sell the old boat of the harbour", *[same] * 8])

    def drawn(record: dict[str, Any], seed: str) -> dict[str, Any]:
        seeds.append(seed)
        return {**record, "english_tasks": [next(texts)]}

    monkeypatch.setattr(refresh, "refresh_session", drawn)
    apart = _TextDeduplicator()
    old = [one(text, "ok") for text in ("which boats are in", "a table, please", "how high is the tide now")]
    assert [apart.refreshed(each, "s")["english_tasks"][0] for each in old[:2]] == [
        same,
        "Sell the old boat of the harbour",
    ]
    with pytest.raises(UnclearError) as unclear:
        apart.refreshed(old[2], "s")
    why = "rewritten, it is nearly one of another session"
    assert str(unclear.value) == f"a user text: {same.casefold()!r}: {why}"
    again = [f"s/{number}" for number in range(1, 8)]
    assert seeds == ["s", "s", *again[:2], "s", *again]


def test_amounts_of_money_stand_beside_a_currency():
    texts = {"a": ["€20 for 30 pieces", "5 EUR or 7,50 euros"], "b": 9, "9 USD": "$1,850.5 of 2"}
    assert [*_marked(texts)] == [Decimal("20"), Decimal("5"), Decimal("1850.5")]


def test_values_are_rewritten_by_key_and_by_what_stands_beside_them():
    record = one(
        "Pay €20 to Ann Lee in 2025, order 55012",
        {"year": 2025, "order": 55012, "currency": "EUR", "x": 2.5, "pieces": 7},
        payee="Ann Lee",
        amount=20,
        when="2024-05-06",
    )
    rewriter = Rewriter(record, "english", ["english_tasks", "english_answer_list"], Random(5))
    values: dict[str, Any] = {
        "texts": [
            "ANN LEE",
            "ann lee",
            "Ann's",
            "Anna",
            "in 2025-02-03",
            "20255",
            "x2025",
            "55012",
            "155012",
        ],
        "sums": ["€20", "20 euros", "20", "$20.5", "$1,850.5", "$1,85", "#20", "pieces: 20", "7 EUR", "7"],
        "amount": {"from": 20, "to": 2.5, "other": 20},
        "decimals": [2.5, 3, {"x": 2.5}],
        "beside": {"currency": "EUR", "x": 2.5, "y": 3, "list": [1.5], "inner": {"z": 4.5}},
        "kinds": [True, None, 2.5, 2025, 55012, "55012"],
        "year": [2025, 2024, 2023, 2025.0],
        "birthYear": 2024,
        "paid": [True, None, 10],
    }
    check("rewritten_values", rewriter.rewritten(values, ""))


def test_answers_under_the_older_key_are_refreshed_as_well():
    record = one("call Ann Lee about AB-20417", "ok", contact="Ann Lee", order_id="AB-20417")
    fresh = refresh_session(record, "s")
    plain = {key.replace("english_answer", "answer"): value for key, value in record.items()}
    assert refresh_session(plain, "s") == {
        key.replace("english_answer", "answer"): value for key, value in fresh.items()
    }
    assert refresh_session({**record, "answer_list": [["Ann Lee"]]}, "s") == {
        **fresh,
        "answer_list": [["Ann Lee"]],
    }


def test_what_is_no_session_is_refused_with_its_line(tmp_path: Path):
    file = tmp_path / "s.jsonl"
    file.write_text('{"id": "x"}\n')
    with pytest.raises(DataError) as refused:
        list(refresh_file(file, "s", [], skip_unclear=True))
    assert str(refused.value).startswith(f"{file}:1")


def _entities(observation: Any, schema: Any = None, **arguments: Any) -> SessionEntities:
    node = {"action": {"name": "do", "arguments": arguments}, "observation": observation}
    return find_entities([node], "on 2025-05-06", frozenset(["fixed one"]), {"do": schema or {}})


def _of(
    texts: Any = (), years: Any = (), numbers: Any = (), keys: Any = (), money: Any = (), gold_money: Any = ()
) -> SessionEntities:
    all_money, of_gold, others = (
        {Decimal(number) for number in each} for each in (money, gold_money, numbers)
    )
    return SessionEntities(dict(texts), {2025, *years}, all_money, of_gold, others, set(keys))


LONGEST = "A" + "b" * 59


@pytest.mark.parametrize(
    ("observation", "entities"),
    [
        ({"title": "Ab"}, _of()),
        ({"title": "Abc"}, _of({"Abc": "title"})),
        ({"title": LONGEST}, _of({LONGEST: "title"})),
        ({"title": f"{LONGEST}b"}, _of()),
        ({"city": "北京"}, _of({"北京": "place"})),
        ({"title": "Fixed One"}, _of()),
        ({"title": "2024-01-01 Party"}, _of(years=[2024])),
        ({"title": "12:30"}, _of()),
        (["Abc", {"title": None}], _of()),
        ({"order_id": 999}, _of(numbers=["999"], keys=["id"])),
        ({"order_id": 1000}, _of({"1000": "id"}, numbers=["1000"], keys=["id"])),
        ({"order_id": 1000.0}, _of(numbers=["1000.0"], keys=["id"])),
        ({"order": "1900-01-01", "b": "1901-01-01"}, _of(years=[1901])),
        ({"a": "2099-12-31", "b": "2100-01-01"}, _of(years=[2099])),
        ({"flag": True, "unitPrice": 5, "roomCount": 3}, _of(numbers=["3"], keys=["count"], money=["5"])),
        ({"currency": "EUR", "x": 5.5, "y": 5}, _of(numbers=["5"], keys=["y"], money=["5.5"])),
        ({"shops": [{"name": "Blue Lamp"}], "people": 2}, _of({"Blue Lamp": "title"}, numbers=["2"], keys=["people"])),
        ({"people": "two", "name": "Ann Lee"}, _of({"Ann Lee": "person"})),
        ({"people": "two", "names": ["Ann Lee"], "title": "Blue Lamp"},
         _of({"Ann Lee": "person", "Blue Lamp": "title"})),
        ({"people": "two", "name": "蓝色台灯"}, _of({"蓝色台灯": "title"})),
        ({"a": {"name": "Ann Lee", "phone": 1}, "b": {"name": "Ann Lee"}},
         _of({"Ann Lee": "person"}, numbers=["1"], keys=["phone"])),
    ],
)  # fmt: skip
def test_what_a_tool_returns_has_entities_years_and_amounts(observation: Any, entities: SessionEntities):
    assert _entities(observation) == entities


def test_amounts_and_words_of_gold_are_known_apart():
    assert _entities(None, amount=5, pieces=20.5) == _of(
        numbers=["20.5"], keys=["pieces"], money=["5"], gold_money=["5"]
    )
    language = {"properties": {"gizmo": {"type": "string", "description": "The language."}}}
    words = _of()
    words.words["Danish"] = "do.gizmo"
    assert _entities(None, language, gizmo="Danish") == words
    with pytest.raises(UnclearError) as unclear:
        _entities({"title": "danish", "artist": "DANISH", "song": "Danish"}, language, gizmo="Danish")
    assert str(unclear.value) == "do.gizmo: 'Danish': it is a word of a list here, and elsewhere a name"
    # What a tool returns under a key that says more settles a value.
    assert _entities({"title": "Bergamot"}, gizmo="Bergamot").texts == {"Bergamot": "title"}
    assert _entities(None, gizmo="BERGAMOT") == _of()
