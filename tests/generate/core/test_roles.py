"""Roles are asked until a reply keeps the rules, tries end with a success, and votes decide by more than half."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.errors import DataError
from wildtool.findings import Finding, fault
from wildtool.sets.make.core.collect import GeneratedSet
from wildtool.sets.make.core.maker import (
    MAX_REPLACEMENT_ROUNDS,
    PROFILE,
    ScriptMaker,
    file_digests,
    transcript_of,
    verdict_of,
    voter_roles,
)
from wildtool.sets.make.core.parsing import RefusedReplyError
from wildtool.sets.make.core.prompts import (
    SESSION_PROMPTS,
    prompts_digest,
    retry_messages,
    role_opening,
    templates,
)
from wildtool.sets.make.core.roles import (
    AttemptFailedError,
    RoleCoroutine,
    RoleSession,
    ScriptResult,
    SessionRoles,
    replay_script,
    run_script,
    run_tries,
    voter_names,
)
from wildtool.sets.make.core.votes import checker_faults, majority_choice
from wildtool.types import Item, Reply, Request, Role, Source, Transcript, Verdict


def answered(script: RoleCoroutine[Any], replies: Sequence[str]) -> tuple[Any, list[Request]]:
    """What a script returns or why it fails, and what was asked."""
    asked: list[Request] = []
    said = iter(replies)
    try:
        request = next(script)
        while True:
            asked.append(request)
            request = script.send(Reply({"content": next(said)}))
    except StopIteration as stop:
        return stop.value, asked
    except AttemptFailedError as error:
        return (error.reason, str(error)), asked


def session() -> RoleSession:
    return RoleSession(SESSION_PROMPTS, "en", {"now": "today"}, Counter())


def read(text: str) -> tuple[str, list[Finding]]:
    """A word; `x` breaks two rules, `w` one that only warns, `r` is no reply at all."""
    if text == "r":
        raise RefusedReplyError(fault("R1", "nothing"), fault("R2", "at all"))
    broken = {
        "x": [fault("X1", "one"), fault("X1", "again"), fault("X2", "two")],
        "w": [fault("W1", "odd", level="warning")],
    }
    return text, broken.get(text, [])


def test_a_role_is_asked_again_with_what_was_wrong():
    roles = session()
    value, asked = answered(roles.ask("judge", [], {"a": 1}, read), ["x", "r", "w"])
    opening = role_opening("judge", "en", [], {"now": "today", "a": 1})
    first = retry_messages("x", [fault("X1", "one"), fault("X1", "again"), fault("X2", "two")], "en")
    second = retry_messages("r", [fault("R1", "nothing"), fault("R2", "at all")], "en")
    assert value == "w"
    assert [(request.role, list(request.messages)) for request in asked] == [
        ("judge", opening),
        ("judge", [*opening, *first]),
        ("judge", [*opening, *first, *second]),
    ]
    assert roles.counters == {
        "requests": 3,
        "judge asked": 3,
        "judge refused X1": 1,
        "judge refused X2": 1,
        "judge refused R1": 1,
        "judge refused R2": 1,
        "judge warned W1": 1,
    }
    assert [
        (event.text, event.accepted, [f.rule for f in event.faults], event.blocks) for event in roles.replies
    ] == [
        ("x", False, ["X1", "X1", "X2"], ()),
        ("r", False, ["R1", "R2"], ()),
        ("w", True, [], ()),
    ]


def test_after_the_last_try_a_role_fails_by_its_first_fault():
    roles = session()
    value, asked = answered(roles.ask("judge", [], {}, read, voter="judge 2"), ["w", "x", "x", "x", "x"][1:])
    assert value == ("judge X1", "judge: X1: one")
    assert [request.role for request in asked] == ["judge 2"] * 3
    assert roles.counters["judge asked"] == 3


def test_what_keeps_the_rules_is_checked_further():
    def check(value: str) -> RoleCoroutine[list[Finding]]:
        reply = yield Request([{"role": "user", "content": value}], role="checker")
        return [fault("K1", "no")] if reply.message["content"] == "no" else []

    roles = session()
    value, asked = answered(roles.ask("judge", [], {}, read, check), ["x", "a", "no", "b", "yes"])
    assert (value, [request.role for request in asked]) == (
        "b",
        ["judge", "judge", "checker", "judge", "checker"],
    )
    assert [event.accepted for event in roles.replies] == [False, False, True]


def test_a_long_reply_is_echoed_in_part_and_an_empty_one_as_a_dash():
    assert retry_messages("x" * 6001, [], "en")[0] == {"role": "assistant", "content": "x" * 6000}
    assert retry_messages("", [fault("X1", "eins")], "zh") == [
        {"role": "assistant", "content": "-"},
        {"role": "user", "content": "以上内容无法使用：\n- X1: eins\n请改正后完整地重新给出。"},
    ]


def tries(*outcomes: Any) -> RoleCoroutine[ScriptResult[str]]:
    def attempt(number: int, counters: Counter[str]) -> RoleCoroutine[str]:
        counters["tried"] += 1
        yield Request([])
        if isinstance(outcomes[number], Exception):
            raise outcomes[number]
        return outcomes[number]

    return run_tries(len(outcomes), attempt)


def test_tries_end_with_the_first_success_or_all_reasons():
    one, two = AttemptFailedError("a", "first"), AttemptFailedError("b", "second")
    assert answered(tries(one, "fine", two), ["", "", ""])[0] == ScriptResult("fine", "", "", 1, {"tried": 2})
    assert answered(tries(one, two, one), ["", "", ""])[0] == ScriptResult(
        None, "a", "first | second", 0, {"tried": 3}
    )
    assert [ScriptResult("x").lost, ScriptResult(None, "r", "d").lost] == [None, ("r", "d")]


@pytest.mark.asyncio
async def test_a_script_runs_and_replays_to_its_end():
    def script() -> RoleCoroutine[str]:
        one = yield Request([{"role": "user", "content": "1"}])
        two = yield Request([{"role": "user", "content": "2"}])
        return f"{one.message['content']}{two.message['content']}"

    asked: list[Any] = []

    async def ask(unit: str, request: Request) -> Reply:
        asked.append((unit, request.messages[0]["content"]))
        return Reply({"content": f"r{len(asked)}"})

    assert await run_script(script(), "u", ask) == "r1r2"
    assert asked == [("u", "1"), ("u", "2")]
    replies = [Reply({"content": name}) for name in "abc"]
    assert [replay_script(script(), Transcript(tuple(replies[:count]))) for count in range(4)] == [
        None,
        None,
        "ab",
        "ab",
    ]


def test_a_role_is_first_sent_its_instruction_and_what_it_sees():
    instruction, situation = role_opening("judge", "en", [], {"a": "ü", "b": [1]})
    assert (instruction.keys(), instruction["role"]) == ({"role", "content"}, "system")
    assert situation == {"role": "user", "content": '{"a": "ü", "b": [1]}'}
    parts = templates("en", SESSION_PROMPTS)["user"]
    opening = role_opening("user", "en", ["task", "single"], {})
    assert opening == [
        {"role": "system", "content": f"{parts['']}\n\n{parts['task']}\n\n{parts['single']}"},
        {"role": "user", "content": "{}"},
    ]


def test_the_digest_of_prompts_is_of_the_names_and_texts_of_all_templates(tmp_path: Path):
    for name in ("en/judge.txt", "zh/judge.txt", "en/agent.txt", "replies.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    whole = "agent.txt\0en/agent.txt\0judge.txt\0en/judge.txt\0judge.txt\0zh/judge.txt"
    assert prompts_digest(tmp_path) == sha256(whole.encode()).hexdigest()[:12]


def test_voters_are_named_by_number():
    assert [voter_names("judge", count) for count in range(4)] == [
        [],
        ["judge"],
        ["judge", "judge 2"],
        ["judge", "judge 2", "judge 3"],
    ]
    roles = voter_roles({"agent": "a", "user": "u", "judge": "j"}, {"judge": 2})
    assert roles == {"user": Role("u", ""), "judge": Role("j", ""), "judge 2": Role("j", "")}


CHOICES = {0: '{"best": 0}', 1: '{"best": 1}', 2: '{"best": 2}'}


@pytest.mark.parametrize(
    ("count", "votes", "choice", "asked", "events"),
    [
        (1, [1], "b", 1, {}),
        (3, [2, 2, 0], "c", 2, {}),
        (3, [2, 1, 1], "b", 3, {}),
        (3, [2, 1, 0], "a", 3, {"judge had no majority": 1}),
        (4, [2, 2, 1, 1], "b", 4, {"judge had no majority": 1}),
        (4, [2, 2, 2], "c", 3, {}),
        (2, [None, 1], "b", 2, {"judge gave no choice": 1, "judge had no majority": 1}),
        (1, [None], "a", 1, {"judge gave no choice": 1}),
        (2, [2, 2], "c", 2, {}),
        (5, [2, 2, 0, 1, None], "c", 5, {"judge gave no choice": 1, "judge had no majority": 1}),
    ],
)
def test_the_candidate_of_most_judges_is_taken(
    count: int, votes: list[int | None], choice: str, asked: int, events: dict[str, int]
):
    roles = session()
    said = [text for vote in votes for text in ([CHOICES[vote]] if vote is not None else ['{"best": 3}'] * 3)]
    value, requests = answered(
        majority_choice(roles, count, {"candidates": ["a", "b", "c"]}, ["a", "b", "c"]), said
    )
    assert (value, len({request.role for request in requests})) == (choice, asked)
    assert {
        event: n for event, n in roles.counters.items() if event.startswith(("judge gave", "judge had"))
    } == events


@pytest.mark.parametrize("reply", ['{"best": -1}', '{"best": 3}', '{"best": true}', '{"best": "1"}', "{}"])
def test_a_judge_names_one_of_the_candidates(reply: str):
    roles = session()
    answered(majority_choice(roles, 1, {}, ["a", "b", "c"]), [reply] * 3)
    assert [f"{f.rule}: {f.message}" for f in roles.replies[0].faults] == [
        "J1: `best` must be a position from 0 to 2."
    ]


YES, NO, BARE, ODD = (
    '{"accepted": true}',
    '{"accepted": false, "reason": "it is odd"}',
    '{"accepted": false}',
    "{}",
)


@pytest.mark.parametrize(
    ("count", "said", "message", "asked", "events"),
    [
        (1, [YES], "", 1, {}),
        (1, [NO], "it is odd", 1, {"checker refused results": 1}),
        (1, [BARE], "refused without a reason", 1, {"checker refused results": 1}),
        (
            1,
            [json.dumps({"accepted": False, "reason": "x" * 500})],
            "x" * 500,
            1,
            {"checker refused results": 1},
        ),
        (
            1,
            [json.dumps({"accepted": False, "reason": "x" * 501})],
            "x" * 499 + "…",
            1,
            {"checker refused results": 1},
        ),
        (3, [YES, YES, NO], "", 2, {}),
        (3, [NO, BARE, YES], "it is odd; refused without a reason", 2, {"checker refused results": 1}),
        (3, [YES, NO, YES], "", 3, {}),
        (2, [YES, NO], "it is odd", 2, {"checker refused results": 1}),
        (2, [NO, YES], "it is odd", 1, {"checker refused results": 1}),
        (3, [YES, ODD, YES], "", 3, {"checker gave no vote": 1}),
        (
            3,
            [ODD, ODD, YES],
            "no majority accepts it",
            3,
            {"checker gave no vote": 2, "checker refused results": 1},
        ),
        (4, [YES, YES, YES], "", 3, {}),
    ],
)
def test_a_check_is_passed_if_more_than_half_accept(
    count: int, said: list[str], message: str, asked: int, events: dict[str, int]
):
    roles = session()
    replies = [text for vote in said for text in ([vote] if vote != ODD else [ODD] * 3)]
    faults, requests = answered(checker_faults(roles, count, "results", {}), replies)
    assert [(f.rule, f.message) for f in faults] == ([("checker", message)] if message else [])
    assert len({request.role for request in requests}) == asked
    kept = ("checker gave", "checker refused results")
    assert {event: n for event, n in roles.counters.items() if event.startswith(kept)} == events


def test_one_checker_without_a_vote_ends_the_attempt():
    value, _ = answered(checker_faults(session(), 1, "results", {}), [ODD] * 3)
    assert value == ("checker K1", "checker: K1: `accepted` must be true or false.")


def test_roles_of_a_session_see_its_tools_and_its_date():
    plan: Any = SimpleNamespace(lang="en", date=None)
    tools: Any = [
        {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}},
        {"type": "function", "function": {"name": "g"}},
    ]
    roles = SessionRoles(plan, tools, Counter(), "Monday")
    assert (roles.date, roles.schemas, roles.shown) == (
        "Monday",
        {"f": {"type": "object"}, "g": {}},
        {"tools": [tools[0]["function"], tools[1]["function"]], "now": "Monday"},
    )
    answered(roles.ask("user", ["task"], {}, read), ["a"])
    answered(roles.ask("judge", [], {}, read), ["b"])
    roles.record_user_words("said")
    assert [(event.text, event.spoken_text) for event in roles.replies] == [("a", "said"), ("b", "")]


@dataclass(frozen=True, slots=True)
class Plan:
    index: int
    turn: int = 0


class Words(ScriptMaker[str]):
    """Asks for three words, each in one request."""

    name = "words"
    unit = "word"
    prompts = SESSION_PROMPTS
    wanted = 3

    def source(self) -> Source:
        return Source("x", Path("x"), "x")

    def planned_items(self) -> Iterator[Item]:
        yield from (Item(str(k), ("word",), SimpleNamespace(plan=Plan(k))) for k in range(self.wanted))

    def replanned_item(self, item: Item, turn: int) -> Item:
        return Item(f"{item.id}.{turn}", ("word",), SimpleNamespace(plan=Plan(item.data.plan.index, turn)))

    def script(self, item: Item) -> RoleCoroutine[ScriptResult[str]]:
        reply = yield Request([])
        text = str(reply.message["content"])
        return ScriptResult(text) if text else ScriptResult(None, "empty", "no word")


class WordSet(GeneratedSet[str]):
    noun = "words"
    key = "word"
    roles = ()


def made(*, missing: Sequence[int], turns: Sequence[int], unfinished: int = 0) -> WordSet:
    return WordSet(tuple("w" for _ in turns), (), unfinished, {}, tuple(missing), tuple(turns))


def test_lost_things_are_planned_again_a_few_times_and_as_often_as_there_are():
    maker = Words(3)
    ids = lambda: [item.id for item in maker.load(maker.source())]  # noqa: E731
    assert ids() == ["0", "1", "2"]
    assert not maker.replace_lost(made(missing=[1, 2], turns=[0], unfinished=1))
    assert not maker.replace_lost(made(missing=[0, 1, 2], turns=[]))
    assert not maker.replace_lost(made(missing=[], turns=[0, 0, 0]))
    assert maker.replace_lost(made(missing=[1, 2], turns=[0]))
    assert ids() == ["0", "1", "2", "1.1", "2.1"]
    assert not maker.replace_lost(made(missing=[1, 2], turns=[0]))
    assert maker.replace_lost(made(missing=[2], turns=[0, 1]))
    assert ids() == ["0", "1", "2", "1.1", "2.1", "2.2"]
    assert not maker.replace_lost(made(missing=[2], turns=[0, 1, 2]))
    assert ids() == ["0", "1", "2", "1.1", "2.1", "2.2"]
    more = Words(9)
    for turn in range(MAX_REPLACEMENT_ROUNDS):
        assert more.replace_lost(made(missing=[2], turns=[0, turn]))
    assert not more.replace_lost(made(missing=[2], turns=[0, MAX_REPLACEMENT_ROUNDS]))


def test_a_thing_is_judged_by_its_replies_and_stays_what_it_is():
    maker = Words(3)
    one, two, three = maker.planned_items()
    reply = Transcript((Reply({"content": "a"}),))
    assert maker.judge(one, {"word": reply}, PROFILE) == [
        Verdict("0", "word", "correct", 1.0, None, "breaks no rule", 1)
    ]
    assert maker.judge(one, {}, PROFILE) == [Verdict("0", "word", "correct", 1.0, None, "breaks no rule", 0)]
    assert maker.judge(two, {"word": Transcript((Reply({"content": ""}),))}, PROFILE) == [
        Verdict("1", "word", "wrong", 0.0, "empty", "no word", 1)
    ]
    assert maker.judge(three, {}, PROFILE) == [
        Verdict("2", "word", "unplayed", 0.0, "unplayed", "it is not played to its end", 0)
    ]
    broken = Transcript((), infra_error="timeout")
    assert verdict_of(three, "word", broken, None, finished=False) == Verdict(
        "2", "word", "infra_error", 0.0, "infra_error", "timeout", 0
    )
    assert (transcript_of({"word": reply}, "word"), transcript_of({}, "word")) == (reply, Transcript(()))
    with pytest.raises(NotImplementedError):
        maker.rules(PROFILE)


@pytest.mark.asyncio
async def test_a_thing_that_is_made_is_not_played_again():
    maker = Words(3)
    one, *_ = maker.planned_items()
    asked: list[str] = []

    async def ask(unit: str, request: Request) -> Reply:
        asked.append(unit)
        return Reply({"content": "a"})

    await maker.play(one, ask, PROFILE)
    maker.judge(one, {"word": Transcript((Reply({"content": "a"}),))}, PROFILE)
    await maker.play(one, ask, PROFILE)
    assert asked == ["word"]


def test_files_are_named_where_they_cannot_be_read(tmp_path: Path):
    (tmp_path / "a").write_text("a")
    assert file_digests([tmp_path / "a"]) == [
        "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    ]
    with pytest.raises(DataError) as refused:
        file_digests([tmp_path / "b"])
    assert str(refused.value) == f"cannot read {tmp_path / 'b'}: No such file or directory"
