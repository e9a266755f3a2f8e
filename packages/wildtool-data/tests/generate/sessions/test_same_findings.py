"""What each rule for decisions, results and texts says, in full: roles are shown these words."""

import json
from pathlib import Path
from typing import Any

import pytest

from generate.careless import careless
from generate.golden import check
from generate.sessions.players import session_of_players
from generate.sessions.test_rules import (
    CHAT,
    CLARIFY,
    LYON,
    NICE,
    PARALLEL,
    SCHEMAS,
    answer,
    ask,
    book,
    decision,
    moment,
    wanted,
)
from wildtool.benchmarks.wildtoolbench.grounding import SearchText
from wildtool.findings import Finding, fault
from wildtool.types import Request
from wildtool_data.make.core.parsing import Action, Decision, RefusedReplyError, read_decision
from wildtool_data.make.sessions.rules.context import DecisionContext
from wildtool_data.make.sessions.rules.decisions import DECISION_RULES
from wildtool_data.make.sessions.rules.failures import (
    language_faults,
    length_faults,
    loop_faults,
    refusal_faults,
    unfaithful_faults,
)
from wildtool_data.make.sessions.rules.final import gold_faults, session_record_faults
from wildtool_data.make.sessions.rules.texts import (
    answer_faults,
    entities_in,
    parse_tool_results,
    question_faults,
    user_faults,
    vague_faults,
)


def _texts(faults: Any) -> list[str]:
    return [
        f"{finding.rule}{'?' if finding.level == 'warning' else ''}: {finding.message}" for finding in faults
    ]


def _parsed(read: Any) -> list[str]:
    """What a reader says of a text, or why it refuses it."""
    try:
        return _texts(read())
    except RefusedReplyError as refused:
        return ["refused", *_texts(refused.faults)]


SEQUENTIAL = wanted("Multi-Tool", "sequential")
MIXED = wanted("Multi-Tool", "mixed")
TWENTY = [Action("listRooms", {"city": f"Lyon {k}"}) for k in range(20)]
DECISIONS: dict[str, tuple[Decision, DecisionContext]] = {
    "right": (decision(book()), moment()),
    "checker in the thought": (Decision("ask the checker", "x", (book(),)), moment()),
    "simulation in the plan": (decision(book(), plan="a simulated tool"), moment()),
    "two unknown tools": (decision(Action("fly", {}), Action("go", {"x": 1})), moment(plan=PARALLEL)),
    "unknown parameters": (decision(book(floor=3, door="x")), moment()),
    "empty": (decision(book(room_id="", view="")), moment()),
    "missing both": (decision(Action("bookRoom", {})), moment()),
    "question and answer": (decision(ask("room_id"), answer()), moment(plan=CLARIFY)),
    "question and call": (decision(ask("room_id"), book()), moment(plan=CLARIFY)),
    "question of no tool": (decision(ask("room_id", tool=None)), moment(plan=CLARIFY)),
    "question for optional ones": (decision(ask("room_id", "view", "x")), moment(plan=CLARIFY)),
    "question for nothing": (decision(ask()), moment(plan=CLARIFY)),
    "question again": (
        decision(ask("room_id", "guests")),
        moment(plan=CLARIFY, answered=frozenset({("bookRoom", "guests"), ("listRooms", "room_id")})),
    ),
    "third question": (decision(ask("room_id")), moment(plan=CLARIFY, questions=2)),
    "fourth question": (decision(ask("room_id")), moment(plan=CLARIFY, questions=3)),
    "answer with more": (
        decision(Action(answer().name, {"answer_type": "tool", "x": 1})),
        moment(calls=[book()]),
    ),
    "answer of no type": (decision(Action(answer().name, {})), moment(plan=CHAT)),
    "chat after a result": (decision(answer("chat")), moment(after_result=True, plan=CHAT)),
    "chat after calls": (decision(answer("chat")), moment(calls=[book()], plan=CHAT)),
    "tool without calls": (decision(answer("tool")), moment(plan=CHAT)),
    "one by one": (decision(LYON, NICE, plan="One by one."), moment(plan=PARALLEL)),
    "one by one and alone": (decision(LYON, plan="one by one"), moment(plan=SEQUENTIAL)),
    "依次": (decision(LYON, NICE, plan="依次查询"), moment(plan=PARALLEL)),
    "types": (decision(book(guests="2", stay={"day": 14}, view=3)), moment()),
    "schema": (decision(book(view="lake", stay={"night": "2025-03-14"}, guests=5, voucher="V1")), moment()),
    "format": (decision(book(stay={"day": "14.3."})), moment()),
    "placeholders": (
        decision(book(room_id="unknown", view=None, country="<country>", voucher="[x]")),
        moment(),
    ),
    "said twice": (decision(book(), book()), moment(plan=PARALLEL)),
    "made again": (decision(LYON, NICE), moment(plan=PARALLEL, calls=[NICE])),
    "default unsaid": (decision(book(currency="EUR")), moment()),
    "default said": (
        decision(book(currency="EUR")),
        moment(passages=[SearchText.of("Book rm_77 for 2, in EUR.")]),
    ),
    "nowhere": (decision(book(room_id="rm_78", country="Norway")), moment()),
    "derived": (
        decision(
            Action(
                "bookRoom",
                {"room_id": "rm_78", "guests": 3, "country": "NO"},
                {"country": "code", "guests": "counted", "room_id": "guess"},
            )
        ),
        moment(),
    ),
    "id of another call": (decision(LYON, book(room_id="rm_1")), moment(plan=PARALLEL)),
    "id alone": (decision(book(room_id="rm_1")), moment(plan=SEQUENTIAL)),
    "six": (decision(*TWENTY[:6]), moment(plan=PARALLEL)),
    "seven": (decision(*TWENTY[:7]), moment(plan=PARALLEL)),
    "eleven in all": (decision(*TWENTY[:2]), moment(plan=MIXED, calls=TWENTY[10:19])),
    "twelve in all": (decision(*TWENTY[:2]), moment(plan=MIXED, calls=TWENTY[10:20])),
    "single: two": (decision(LYON, NICE), moment()),
    "single: second": (decision(NICE), moment(calls=[LYON])),
    "single: question": (decision(ask("room_id")), moment()),
    "single: answer": (decision(answer()), moment()),
    "single: answer after": (decision(answer()), moment(calls=[LYON])),
    "parallel: one": (decision(LYON), moment(plan=PARALLEL)),
    "parallel: two": (decision(LYON, NICE), moment(plan=PARALLEL)),
    "parallel: again": (decision(LYON, NICE), moment(plan=PARALLEL, calls=[book()])),
    "parallel: answer after one": (decision(answer()), moment(plan=PARALLEL, calls=[LYON])),
    "parallel: answer after two": (decision(answer()), moment(plan=PARALLEL, calls=[LYON, NICE])),
    "parallel: question": (decision(ask("room_id")), moment(plan=PARALLEL)),
    "sequential: one": (decision(LYON), moment(plan=SEQUENTIAL)),
    "sequential: two": (decision(LYON, NICE), moment(plan=SEQUENTIAL)),
    "sequential: answer after one": (decision(answer()), moment(plan=SEQUENTIAL, calls=[LYON])),
    "sequential: answer after two": (decision(answer()), moment(plan=SEQUENTIAL, calls=[LYON, NICE])),
    "mixed: answer after two": (decision(answer()), moment(plan=MIXED, calls=[LYON, NICE])),
    "mixed: answer after three": (decision(answer()), moment(plan=MIXED, calls=[LYON, NICE, book()])),
    "clarify: call": (decision(book()), moment(plan=CLARIFY)),
    "clarify: call after three questions": (decision(book()), moment(plan=CLARIFY, questions=3)),
    "clarify: call after": (decision(book()), moment(plan=CLARIFY, questions=1)),
    "clarify: question": (decision(ask("guests")), moment(plan=CLARIFY)),
    "clarify: answer": (decision(answer()), moment(plan=CLARIFY, questions=1)),
    "clarify: answer after": (decision(answer()), moment(plan=CLARIFY, questions=1, calls=[book()])),
    "chat: answer": (decision(answer("chat")), moment(plan=CHAT)),
    "chat: call": (decision(LYON), moment(plan=CHAT)),
    "chat: question": (decision(ask("room_id")), moment(plan=CHAT)),
}


def test_each_fault_of_a_decision_is_named_in_full():
    faults = {name: DECISION_RULES.findings(made, context) for name, (made, context) in DECISIONS.items()}
    check("decision_faults", {name: _texts(found) for name, found in faults.items()})


def test_drawn_decisions_have_the_same_faults():
    spoil, rows = careless(1.0), {}
    actions = [
        {
            "name": "bookRoom",
            "arguments": {"room_id": "rm_77", "guests": 2, "view": "sea", "stay": {"day": "2025-03-14"}},
        },
        {"name": "listRooms", "arguments": {"city": "Lyon"}, "derived": {"city": "said"}},
    ]
    text = json.dumps({"thought": "rooms", "plan": "both", "actions": actions})
    for k in range(200):
        spoiled = spoil("planner", text, Request([{"role": "user", "content": str(k)}]))
        context = moment(plan=(PARALLEL, MIXED, SEQUENTIAL)[k % 3])
        rows[str(k)] = _parsed(lambda s=spoiled, c=context: DECISION_RULES.findings(read_decision(s), c))
    check("decision_faults_drawn", rows)


TEXTS = [
    "It is all done. One. It is all done. Two. It is all done. Three. It is all done. Four.",
    "It is done. One. It is done. Two. It is done. Three. It is done. Four.",
    "It is all done. One. It is all done. Two. It is all done. Three of them.",
    "Please book 一二三四五六七八 for all of us today",
    "Please book 一二三四五六七八九 for all of us today",
    "",
    "A room.",
    "I'm sorry, but I can't assist with that.",
    "Sorry, I cannot find a room.",
    "I can't help you with it.",
    "I cannot book it today.",
    "Unfortunately, we were unable to generate it, I am afraid.",
    "As an AI model I cannot.",
    "We are sorry for the delay; it is booked.",
    "抱歉，我无法协助您。",
    "很抱歉，没有找到。",
    "无法为您提供。",
    "作为一个人工智能，我不能。",
    "我暂时无法处理这个请求。",
    "User: hello",
    "Agent： hi",
    "a\ntool: x",
    '"actions": []',
    "thought: go",
    "```json\n{}\n```",
    "a\x07b",
    "a\x85b",
    "a\ufffdb",
    "tab\tand\nline",
    "Der Hund und die Katze sind nicht für mich da.",
    "La casa es para usted y su familia con el perro en la calle.",
    "Le chat est dans la maison avec vous et nous.",
    "O gato é uma coisa que não está com você em casa.",
    "Il cane è una cosa che non sono con lei e suo.",
    "Book Der Spiegel and Die Zeit for us.",
    "El Rio, La Paz, Los Angeles, Las Vegas, El Paso, San Jose, La Jolla",
    "请帮我预订一个海景房间",
    "预订 hotel",
    "book a nice room please",
    "OK go",
    "русский текст здесь есть",
    "안녕하세요 반갑습니다 여러분 모두",
    "a 12345678",
    "a " * 12,
    "one two three " * 3,
    "one two three " * 4,
    "12 13 14 " * 9,
    "It is all arranged. " * 3,
    "It is all arranged now. " * 4,
    "It is all arranged now. Then a longer sentence with many more words in it follows here, so that it weighs. "
    * 4,
    "x" * 3000,
    "x" * 3001,
    "y " * 3001,
    "Call bookRoom for me",
    "Call booking for me",
    "rebookRoomy",
    "listRooms",
    "What is the room_id?",
    "What is the city?",
    "Room 12",
    "Room 1",
    "rm_1 and rm_2",
    "rm_1 costs 95",
    "It costs 951 in all.",
    "4711 rooms",
    "90% of 200",
    "AB-1234",
    "a@b.com",
    "https://x.y/z",
    "+49 484 1663 12",
    "snake_case",
    "rm_9 is free",
    "12 rooms",
    "13 rooms",
    "1,234.5 EUR",
]


def test_each_fault_of_a_text_is_named_in_full():
    results = [{"rooms": [{"room_id": "rm_1", "price": 90}, {"room_id": "rm_2", "price": 5}]}, 200]
    passages = [SearchText.of("2025-03-10"), SearchText.of(results[0])]
    rows: dict[str, list[str]] = {}
    for text in TEXTS:
        for lang in ("en", "zh"):
            found: dict[str, list[Finding]] = {
                "user": [*user_faults(text, [*SCHEMAS, "booking"], lang)],
                "question": [*question_faults(text, ["room_id", "city"], lang)],
                "answer": [*answer_faults(text, results, passages, lang)],
                "chat": [*answer_faults(text, [], passages, lang)],
                "vague": [*vague_faults(text)],
            }
            said = [f"{who}: {line}" for who, faults in found.items() for line in _texts(faults)]
            rows[f"{lang}: {text[:60]} {len(text)}"] = said
    check("text_faults", rows)


NUMBERS = [
    "It costs 95.",
    "It costs 85.",
    "It costs 450.",
    "18 pieces",
    "It is 47.5 on average.",
    "It takes 540 minutes.",
    "That is 17.1%.",
    "2,000 in all.",
    "1998 km",
    "36 of them",
    "No. 4711",
    "code 90210",
    "tel 555 1234",
    "95.004",
    "95.4",
    "about 100",
    "13",
    "12",
    "14",
    "7 days are 168 hours",
    "0.5 of 90",
    "-95",
    "a 3.14 b",
    "10000",
    "90.5",
    "945",
    "91 %",
    "5.5",
    "180",
    "270",
    "8100",
    "1000000",
]


def test_a_number_of_an_answer_follows_from_what_is_known_or_is_refused():
    results = [{"rows": [{"price": 90, "n": 5}, {"price": 5, "n": 4}], "phone": "555-1234"}, 3, True]
    earlier = [SearchText.of("on 2025-03-10 for 2 people, 6 nights")]
    check("unfaithful", {text: _texts(unfaithful_faults(text, results, earlier)) for text in NUMBERS})
    assert _texts(unfaithful_faults("12 rooms", [], [])) == []
    assert len(_texts(unfaithful_faults("13 rooms", [], []))) == 1
    assert _texts(unfaithful_faults("It costs 95.", [], [])) == [
        "A11: 95 is in no result and in no request, nor follows from them."
    ]


@pytest.mark.parametrize(
    ("results", "right", "wrong"),
    [
        ([47.619], "333.3", "333.1"),
        ([47.619], "333.33", "333.34"),
        ([17, 138], "12.3%", "12.5%"),
        ([1700, 138], "12.32", "12.35"),
        ([250.444, 100.3], "350.7", "350.9"),
        ([250.444, 100.3], "150.1", "150.3"),
        ([31.4159], "31.42", "31.43"),
        ([31.4159], "31", "33.4"),
        ([777], "77700", "77800"),
        ([777], "64.75", "64.85"),
    ],
)
def test_a_number_may_be_worked_out_and_rounded(results: list[float], right: str, wrong: str):
    assert _texts(unfaithful_faults(f"It is {right}", results, [])) == []
    assert _texts(unfaithful_faults(f"It is {wrong}", results, [])) == [
        f"A11: {wrong} is in no result and in no request, nor follows from them."
    ]


def test_lengths_and_loops_are_counted():
    assert _texts(length_faults("x" * 6000)) == []
    assert _texts(length_faults("x" * 6001)) == ["A9: 6001 characters; an assistant writes at most 6000."]
    loops = {
        f"{count} times {unit[:9]!r} {len(unit.split())}": _texts(loop_faults(unit * count))
        for unit in (
            "a ",
            "a b ",
            "a b c d ",
            "a 1 ",
            "1 2 ",
            "w " * 3 + "z ",
            " ".join(f"w{k}" for k in range(60)) + " ",
            " ".join(f"w{k}" for k in range(61)) + " ",
        )
        for count in (3, 4, 5, 6, 11, 12, 13)
    }
    check("loops", loops)
    assert [_texts(refusal_faults("I can't assist with it", user=user)) for user in (True, False)] == [
        ["A7: The user asks for something; write that text, and refuse nothing."],
        ["A7: The assistant has what it needs; write that text, and refuse nothing."],
    ]
    assert [
        len([*language_faults(text, "zh")])
        for text in ("one two", "one two three", "好 one two three", "안녕하세요반갑습니다여")
    ] == [0, 1, 0, 1]


RESULTS: list[Any] = [
    {"observations": [{"status_code": 200, "response": {"id": 7, "name": "Ada"}}]},
    {"observations": {}},
    {},
    {"observations": []},
    {"observations": [1, 2]},
    {"observations": [{"status_code": "200", "response": 1}]},
    *(
        {"observations": [{"status_code": 200, "response": response}]}
        for response in (
            None,
            "",
            [],
            {},
            0,
            False,
            "…",
            "a ...",
            {"x": "lorem ipsum"},
            {"a": "<name>"},
            {"xxx": 1},
            "foo",
            {"a\x07": 1},
            {"a": ["b\x07"]},
            "已预订",
            {"id": 7, "name": "Bob", "city": "Rome"},
            {"id": "7", "title": "T"},
            {"id": 8, "name": "Bob"},
            {"id": 7, "other_id": 8, "name": "Bob"},
            "x" * 5998,
            "x" * 5999,
            {"ok": "yes"},
            [{"id": 7, "name": "Eve"}, {"id": 7, "city": "Oslo"}],
        )
    ),
    *(
        {"observations": [{"status_code": status, "response": {"ok": True}}]}
        for status in (199, 200, 299, 300, 404, True)
    ),
]


def test_each_fault_of_a_result_is_named_in_full():
    known = {"7": {"name": "Ada", "city": "Oslo"}}
    returns = {"bookRoom": {"type": "object", "properties": {"ok": {"type": "boolean"}}}}

    def found(value: Any, lang: Any, returns: Any) -> list[str]:
        return _parsed(
            lambda: parse_tool_results(
                json.dumps(value), [book()], lang=lang, entities=known, returns=returns
            )[1]
        )

    rows = {
        json.dumps(value, ensure_ascii=False)[:90] + str(k): found(value, "en", {})
        for k, value in enumerate(RESULTS)
    }
    rows |= {f"zh {k}": found(value, "zh", returns) for k, value in enumerate(RESULTS)}
    check("result_faults", rows)
    two = json.dumps({"observations": [{"status_code": 200, "response": 1}, {}]})
    results, faults = parse_tool_results(two, [book(), LYON], lang="en", entities={}, returns={})
    assert (results, _texts(faults)) == ([1], ["T3: observations[1] must have a status_code and a response."])
    nested = {
        "a": [{"bookId": 1, "title": "T", "year": 3}, {"id": 1, "x_id": 2}],
        "ID": "q",
        "author": "A",
        "name": 5,
    }
    assert [*entities_in(nested)] == [("q", {"author": "A"}), ("1", {"title": "T"})]
    assert [*entities_in([{"id": 2.5, "title": "T"}, {"id": None, "title": "T"}])] == []


def test_a_record_that_is_no_session_is_refused_by_its_form():
    record = {
        "id": "x",
        "english_env_info": "d",
        "english_tools": [],
        "english_tasks": ["a"],
        "english_answer_list": 3,
    }
    (finding,) = gold_faults(record, 0)
    assert finding.rule == "lint schema"
    faults = session_record_faults(record, 0)
    assert faults and {finding.rule.split()[0] for finding in faults} == {"lint"}
    assert [f.rule for f in session_record_faults(record, 0, faults)] == ["lint schema"]


def test_a_gold_answer_that_a_profile_refuses_is_told_by_the_profile(tmp_path: Path):
    record = session_of_players(tmp_path, "Clarify Multi-Tool").record
    assert [gold_faults(record, t) for t in (0, 1)] == [[], []]
    _, nodes = record["english_answer_list"]
    nodes[1]["dependency_list"] = [5]
    no_path = "the gold graph has no path (the original raises KeyError: 5)"
    cycle = "the gold graph has a cycle or not exactly one answer node"
    both = [fault("gold official", no_path), fault("gold fixed", cycle)]
    assert [gold_faults(record, t) for t in (0, 1)] == [[], both]
    nodes[1] |= {"dependency_list": [], "action": {"name": "x", "arguments": {}}}
    why = "gold calls x, which is not in the tool list (the original raises KeyError: 'x')"
    assert gold_faults(record, 1) == [fault("gold official", why)]
