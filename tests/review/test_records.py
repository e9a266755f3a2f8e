"""Lines of the log, people, samples and pairs: exact values, and whole messages of what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from golden_files import same_as_golden
from review.made_sets import decide, edit, project, tiny_records
from wildtool.errors import DataError, RecordError, UsageError
from wildtool.sets.review.figures import agreement_data, review_figures
from wildtool.sets.review.history import EditConflict, finding_row, model_of, net_changes
from wildtool.sets.review.log import (
    GENESIS,
    Draft,
    Entry,
    chained,
    entry_line,
    parse_entry,
    read_log,
    verified,
)
from wildtool.sets.review.people import new_token, token_hash
from wildtool.sets.review.pointers import (
    ABSENT,
    Change,
    check_together,
    differences,
    nearest,
    overlap,
    pointer,
    pointer_parts,
    same_json,
    value_at,
    with_change,
)
from wildtool.sets.review.project import ReviewProject
from wildtool.sets.review.rounds import assigned_pairs, draw_sample, round_qualities, stop_rule
from wildtool.sets.review.sets import open_review, start_review, store_name
from wildtool.sets.review.state import Filter
from wildtool.sets.review.store.address import shown_name, split_password
from wildtool.sets.review.store.sqlite import SqliteStore

WHEN = "2026-11-22T10:00:00.000Z"


def entries(*drafts: Draft) -> list[Entry]:
    return chained(drafts, 0, GENESIS)


ROW = json.loads(entry_line(entries(Draft("note", "ann", "s", note="x", when=WHEN))[0]))
NO_ENTRY = "not an entry of a review log"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"more": 1}, f"{NO_ENTRY}: unknown fields"),
        ({"kind": "other"}, NO_ENTRY),
        ({"who": 7}, NO_ENTRY),
        ({"note": None}, NO_ENTRY),
        ({"n": True}, NO_ENTRY),
        ({"n": None}, NO_ENTRY),
        ({"round": "1"}, NO_ENTRY),
        ({"reason": "x"}, NO_ENTRY),
        ({"reason": ["x", 1]}, NO_ENTRY),
    ],
)
def test_a_line_that_is_no_entry_is_refused(change: dict[str, Any], problem: str):
    with pytest.raises(ValueError, match=problem) as refusal:
        parse_entry(json.dumps({**ROW, **change}).encode())
    assert str(refusal.value) == problem
    assert parse_entry(json.dumps(ROW).encode()) == entries(Draft("note", "ann", "s", note="x", when=WHEN))[0]


def test_an_entry_has_the_fields_that_are_not_empty():
    full = Draft("edit", "ann", "s", "b", "v", "c", "/f", None, [1], ("r",), 2, "n", "o", WHEN)
    lines = [json.loads(entry_line(entry)) for entry in entries(full, Draft("note", "bob", when=WHEN))]
    assert [list(line) for line in lines] == [
        [
            "n",
            "when",
            "who",
            "kind",
            "item",
            "branch",
            "version",
            "content",
            "field",
            "note",
            "origin",
            "before",
            "after",
            "reason",
            "round",
            "prev",
            "digest",
        ],
        ["n", "when", "who", "kind", "prev", "digest"],
    ]
    assert [line["n"] for line in lines] == [1, 2]
    assert lines[1]["prev"] == lines[0]["digest"]
    assert full.change == Change("/f", None, [1])


def test_a_log_is_refused_with_its_first_bad_line_in_whole_words(tmp_path: Path):
    lines = [
        entry_line(entry)
        for entry in entries(*[Draft("note", "ann", note=f"{k}", when=WHEN) for k in range(3)])
    ]
    advice = "; restore the log from a copy"
    cases = {
        f"log, line 1: damaged: Expecting value at character 0{advice}": [b"x"],
        f"log, line 2: does not follow the line before it; one was removed, moved or added{advice}": [
            lines[0],
            lines[2],
        ],
        f"log, line 2: was changed after it was written{advice}": [
            lines[0],
            lines[1].replace(b'"1"', b'"7"'),
        ],
        f"log, line 3: missing: the log should end with another entry{advice}": lines[:2],
    }
    last = parse_entry(lines[2]).digest
    problems: list[str] = []
    for bad in cases.values():
        with pytest.raises(RecordError) as refusal:
            list(verified(bad, "log", last=last))
        problems.append(str(refusal.value))
    assert problems[1:] == list(cases)[1:]
    assert problems[0].startswith("log, line 1: damaged: ") and problems[0].endswith(advice)
    assert len(list(verified(lines, "log", last=last))) == len(list(verified(lines[:2], "log"))) + 1
    with pytest.raises(DataError) as gone:
        list(read_log(tmp_path / "none"))
    assert str(gone.value) == f"cannot read {tmp_path / 'none'}: No such file or directory"


def test_tokens_are_long_and_known_by_their_hash():
    tokens = {new_token() for _ in range(3)}
    assert (len(tokens), {(token[:4], len(token)) for token in tokens}) == (3, {("wtr_", 47)})
    assert token_hash("x") == "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"


def problem_of(act: Any) -> str:
    with pytest.raises((UsageError, DataError, RecordError)) as refusal:
        act()
    return str(refusal.value)


def test_people_of_a_team_are_added_changed_and_removed(tmp_path: Path):
    review = project(tmp_path, people="ann")
    assert problem_of(lambda: review.add_person("owner", "bob", "boss")) == (
        "unknown role 'boss' (known: reviewer, adjudicator, owner)"
    )
    assert problem_of(lambda: review.add_person("ann", "bob", "reviewer")) == (
        "this takes the role owner; ann is only reviewer"
    )
    assert (
        problem_of(lambda: review.revoke_person("owner", "bob")) == "unknown person 'bob' (known: ann, judge)"
    )
    assert (
        problem_of(lambda: review.revoke_person("judge", "ann"))
        == "this takes the role owner; judge is only adjudicator"
    )
    token = review.add_person("owner", " bob ", "owner")
    person = review.person_of(token)
    assert person is not None and (person.name, person.role, person.active) == ("bob", "owner", True)
    assert [review.state.may(name, "adjudicator") for name in ("ann", "judge", "bob", "owner", "cid")] == [
        False, True, True, True, False
    ]  # fmt: skip
    review.revoke_person("bob", "ann")
    assert (review.state.role("ann"), review.state.people["ann"].active) == ("", False)
    assert review.person_of("") is None
    assert problem_of(lambda: review.open_round("bob", ["ann"], reviewers=1)) == (
        "unknown reviewer 'ann' (known: judge, bob)"
    )


def test_a_round_is_opened_with_what_was_asked_for(tmp_path: Path):
    review = project(tmp_path, tiny_records(7), people="ann bob cid dan")
    drawn = review.open_round("owner", ["cid", "ann", "cid", "bob", "dan"], seed="x", share=0.6)
    (round_,) = review.state.rounds
    assert (round_.number, round_.seed, list(round_.items), round_.people, round_.pairs, round_.fresh) == (
        1, "x", drawn, ("cid", "ann", "bob", "dan"), (("cid", "dan"), ("ann", "bob")), False
    )  # fmt: skip
    people = [review.state.items[item].passes[0].people for item in drawn]
    assert people == [round_.pairs[k % 2] for k in range(len(drawn))]
    assert problem_of(lambda: review.close_round("owner", 1)) == (
        f"round 1 has {len(drawn)} items without a result, such as {drawn[0]}"
    )
    assert problem_of(lambda: review.close_round("owner", 2)) == "round 2 is not open"
    for item in drawn:
        for who in review.state.items[item].passes[0].people:
            decide(review, who, item)
    review.close_round("owner", 1, "done")
    assert bool(review.state.rounds[0].closed)
    assert problem_of(lambda: review.close_round("owner", 1)) == "round 1 is not open"
    single = review.open_round("owner", ["ann"], share=1, reviewers=1)
    assert review.state.rounds[1].pairs == (("ann",),)
    assert sorted([*drawn, *single]) == sorted(review.state.items)


def test_samples_follow_share_and_seed(tmp_path: Path):
    records = tiny_records(11)
    for k in range(3):
        records[k]["english_task_types"] = ["Chat", "Clarify"]
    state = project(tmp_path, records).state
    cases = [(share, seed) for share in (0.01, 0.2, 0.34, 0.5, 1) for seed in ("1", "2")]
    same_as_golden(
        "review/samples.json",
        {f"{share} {seed}": list(draw_sample(state, share, seed).items) for share, seed in cases},
    )
    for share in (0, 1.01, -0.5):
        assert problem_of(lambda share=share: draw_sample(state, share, "1")) == (
            f"a sample is a share above 0 and at most 1 of the items, not {share:g}"
        )


def test_pairs_rotate_as_in_a_tournament():
    rounds = [assigned_pairs("abcd", number, []) for number in range(1, 5)]
    assert rounds == [
        [("a", "d"), ("b", "c")], [("a", "c"), ("d", "b")], [("a", "b"), ("c", "d")], [("a", "d"), ("b", "c")]
    ]  # fmt: skip
    assert [assigned_pairs("abc", number, []) for number in (1, 2, 3)] == [
        [("b", "c")],
        [("a", "c")],
        [("a", "b")],
    ]
    assert assigned_pairs("abcd", 1, [("d", "a"), ("b", "c")]) == [("a", "c"), ("d", "b")]
    assert assigned_pairs("abca", 1, [], size=1) == [("a",), ("b",), ("c",)]
    for names, size, problem in (
        ("a", 2, "2 reviewers per item need at least that many people; 1 are named"),
        ("abc", 3, "3 reviewers per item need at least that many people; 3 are named"),
    ):
        assert problem_of(lambda names=names, size=size: assigned_pairs(names, 1, [], size=size)) == problem


def test_qualities_and_figures_of_rounds_by_hand(tmp_path: Path):
    review = project(tmp_path, tiny_records(6), people="ann bob")
    empty = [metric.name for metric in review_figures(review)]
    assert empty == ["generated", "items reviewed", "open conflicts", "may stop"]
    review.open_round("owner", ["ann", "bob"], share=0.5)
    drawn = review.state.rounds[0].items
    for who in ("ann", "bob"):
        edit(review, who, drawn[0], f"As {who} says.")
        decide(review, who, drawn[0])
        decide(review, who, drawn[1])
    decide(review, "ann", drawn[2])
    same_as_golden(
        "review/rounds.json",
        {
            "qualities": [repr(quality) for quality in round_qualities(review.state)],
            "stop": [repr(stop_rule(review.state, bound)) for bound in (None, 0.5)],
            "data": repr(agreement_data(review.format, review.histories())),
            "figures": [repr(metric) for metric in review_figures(review, 0.5)],
        },
    )


# Pointers -----------------------------------------------------------------------------------------------


def test_pointers_name_parts_and_odd_ones_none():
    content = {"a": [{"b": 1}, 2], "": {"~/": 3}, "1": 4, "n": None}
    assert [value_at(content, field) for field in ("", "/a/0/b", "/a/1", "//~0~1", "/1", "/n")] == [
        content,
        1,
        2,
        3,
        4,
        None,
    ]
    nowhere = ("/a/2", "/a/-1", "/a/01", "/a/x", "/a/1/x", "/b", "/n/x", "/a/١")
    assert [value_at(content, field) for field in nowhere] == [ABSENT] * len(nowhere)
    assert (pointer("a", 0, "~/"), pointer(), pointer_parts("/a/0/~0~1"), pointer_parts("")) == (
        "/a/0/~0~1", "", ["a", "0", "~/"], []
    )  # fmt: skip
    assert [nearest(content, field) for field in ("/a/0/b/c", "/a/7", "/x/y", "/a/0")] == [
        "/a/0/b",
        "/a",
        "",
        "/a/0",
    ]
    assert (
        problem_of(lambda: pointer_parts("a/b"))
        == "a/b is no JSON pointer; expected one like /english_tasks/0"
    )
    assert [overlap("/a", other) for other in ("/a", "/a/b", "/ab", "", "/b")] == [
        True,
        True,
        False,
        True,
        False,
    ]


def test_changes_are_made_of_what_they_say_was_there():
    content = {"a": [1, {"b": 2}], "c": 3}
    assert with_change(content, Change("/a/1/b", 2, {"x": 1})) == {"a": [1, {"b": {"x": 1}}], "c": 3}
    assert with_change(content, Change("/d", ABSENT, None)) == {**content, "d": None}
    assert with_change(content, Change("/c", 3, ABSENT)) == {"a": content["a"]}
    assert with_change(content, Change("/a/0", 1, 9)) == {"a": [9, {"b": 2}], "c": 3}
    assert with_change(content, Change("", content, [1])) == [1]
    moved = "is not what this change replaces; read the item again"
    whole = "only members of objects can be added or removed; replace the whole list"
    for change, problem in (
        (Change("/c", 4, 5), f"/c {moved}"),
        (Change("", 4, 5), f"the item {moved}"),
        (Change("/a/0", 1, ABSENT), f"/a/0: {whole}"),
        (Change("/a/2", ABSENT, 1), f"/a/2: {whole}"),
        (Change("/x/y", ABSENT, 1), f"/x/y: {whole}"),
        (Change("/c/y", ABSENT, 1), f"/c/y: {whole}"),
    ):
        assert problem_of(lambda change=change: with_change(content, change)) == problem
    check_together([Change("/a/0", 1, 2), Change("/c", 3, 4)])
    together = [Change("/c", 3, 4), Change("/a", 1, 2), Change("/a/0", 1, 2)]
    assert (
        problem_of(lambda: check_together(together))
        == "/a and /a/0 exclude each other: take only one of these edits"
    )


def test_differences_are_the_smallest_parts():
    old = {"a": [1, {"b": 2, "gone": 0}], "list": [1], "same": [1, 2], "c": 1}
    new = {"a": [1, {"b": 3}], "list": [1, 2], "same": [1, 2], "c": 1.0, "new": None}
    assert list(differences(old, new)) == [
        Change("/a/1/b", 2, 3),
        Change("/a/1/gone", 0, ABSENT),
        Change("/list", [1], [1, 2]),
        Change("/c", 1, 1.0),
        Change("/new", ABSENT, None),
    ]
    assert list(differences(1, [1])) == [Change("", 1, [1])]
    assert [same_json(ABSENT, other) for other in (ABSENT, None)] == [True, False]


def test_edits_of_one_part_are_one_change():
    def edited(*changes: tuple[str, Any, Any]) -> list[Change]:
        log = entries(*[Draft("edit", "a", "s", field=field, before=b, after=a) for field, b, a in changes])
        return list(net_changes(log))

    assert edited(("/a", 1, 2), ("/b", 1, 2), ("/a", 2, 3)) == [Change("/b", 1, 2), Change("/a", 1, 3)]
    assert edited(("/a", 1, 2), ("/a", 2, 1)) == []
    assert edited(("/a", {"x": 1}, {"x": 2}), ("/a/x", 2, 3)) == [Change("/a", {"x": 1}, {"x": 3})]
    assert edited(("/a/x", 1, 2), ("/a", {"x": 2, "y": 0}, [])) == [Change("/a", {"x": 1, "y": 0}, [])]
    assert edited(("/ab", 1, 2), ("/a", 1, 2)) == [Change("/ab", 1, 2), Change("/a", 1, 2)]


# Sets and stores ----------------------------------------------------------------------------------------


def test_a_review_lies_beside_its_set_or_where_the_user_says():
    names = ["a/set.jsonl", "a/set.json", "set", "x.review.sqlite", "postgresql://h/d"]
    assert [store_name(name) for name in names] == [
        "a/set.review.sqlite", "a/set.review.sqlite", "set.review.sqlite", "x.review.sqlite", "postgresql://h/d"
    ]  # fmt: skip
    assert store_name("set.jsonl", "other") == "other"


def test_a_review_is_started_once_and_opened_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert problem_of(lambda: open_review("set.jsonl")) == (
        "set.review.sqlite: there is no review yet; start it with `wildtool review start set.jsonl`"
    )
    assert problem_of(lambda: open_review("set.jsonl", "mysql://h/d")) == (
        "mysql://…: reviews are kept in files, or at postgresql:// addresses"
    )
    data = tmp_path / "sessions.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in tiny_records(2)))
    review, added = start_review("sessions.jsonl")
    assert (added, list(review.state.items), [entry.note for entry in review.store.read()]) == (
        2, ["s0", "s1"], ["sessions.jsonl"] * 2
    )  # fmt: skip
    assert start_review("sessions.jsonl")[1] == 0
    data.write_text("".join(json.dumps(row) + "\n" for row in tiny_records(3)))
    again, more = start_review("sessions.jsonl")
    assert (more, list(again.state.items)) == (1, ["s0", "s1", "s2"])
    assert start_review("sessions.review.sqlite")[1] == 0
    assert open_review("sessions.jsonl").state.n == again.state.n
    data.write_text("")
    assert problem_of(lambda: start_review("sessions.jsonl", "other.review.sqlite", "wildtoolbench")) == (
        "sessions.jsonl: there is nothing to review in it"
    )
    twice = [*tiny_records(2), tiny_records(1)[0]]
    data.write_text("".join(json.dumps(row) + "\n" for row in twice))
    assert (
        problem_of(lambda: start_review("sessions.jsonl", "other.review.sqlite"))
        == "s0: the id occurs twice in the set"
    )


def test_a_review_of_another_format_is_not_continued(tmp_path: Path):
    from wildtool.sets.review.formats import format_of

    project(tmp_path)
    store = SqliteStore(tmp_path / "set.review.sqlite")
    assert problem_of(lambda: ReviewProject.create(store, format_of("acebench"))) == (
        "this review is of wildtoolbench, not of acebench; name another file with --store"
    )
    empty = SqliteStore(tmp_path / "empty.sqlite")
    assert (
        problem_of(lambda: ReviewProject.open(empty))
        == "there is no review yet; start one with `wildtool review start SET`"
    )


@pytest.mark.parametrize(
    ("address", "name", "rest", "password"),
    [
        (
            "postgresql://u:p@h:5432/d?sslmode=require",
            "postgresql://h/d",
            "postgresql://u@h:5432/d?sslmode=require",
            "p",
        ),
        ("postgres://h/d", "postgres://h/d", "postgres://h/d", ""),
        ("postgresql://u:@h/d", "postgresql://h/d", "postgresql://u@h/d", ""),
        (
            "postgresql://u@h1:1,h2:2/d?password=a%40b&x=1",
            "postgresql://h1,h2/d",
            "postgresql://u@h1:1,h2:2/d?x=1",
            "a@b",
        ),
        ("postgresql://h/d?sslpassword=s", "postgresql://h/d", "postgresql://h/d", "s"),
    ],
)
def test_no_password_is_in_the_name_of_an_address(address: str, name: str, rest: str, password: str):
    assert (shown_name(address), split_password(address)) == (name, (rest, password))


def test_an_address_that_is_none_is_shown_without_its_rest():
    assert (shown_name("postgresql://a@b@c/d"), shown_name("file.sqlite")) == (
        "postgresql://…",
        "file.sqlite",
    )
    assert problem_of(lambda: split_password("postgresql://a@b@c/d")) == (
        "postgresql://…: expected an address like postgresql://USER@HOST/DATABASE. In a password write @ as %40, / as "
        "%2F, : as %3A, % as %25; or leave it out, and set PGPASSWORD or use ~/.pgpass"
    )


def test_a_conflict_says_what_was_seen_and_what_is_there():
    conflict = EditConflict("s", "base", "found", [1])
    assert (str(conflict), conflict.item, conflict.seen, conflict.found, conflict.content) == (
        "s has changed since you read it; compare, and save again", "s", "base", "found", [1]
    )  # fmt: skip


def test_a_filter_keeps_items_without_tasks_too(tmp_path: Path):
    review = project(tmp_path, [{**tiny_records(1)[0], "english_task_types": []}])
    assert [item.id for item in review.state.queue("all")] == ["s0"]
    assert review.state.queue("all", filter_=Filter(type="Chat")) == []


def test_models_and_findings_are_named_in_entries(tmp_path: Path):
    written = entries(
        Draft("edit", "a", "s", reason=("merge", "model gpt")), Draft("edit", "a", "s", reason=("merge",))
    )
    assert [model_of(entry) for entry in written] == ["gpt", ""]
    records = tiny_records(1)
    records[0]["english_tasks"][0] = " "
    review = project(tmp_path, records)
    (finding,) = review.open_findings("s0")
    assert finding_row(finding) == {
        "rule": "text", "field": "/english_tasks/0", "message": "expected a text that is not empty", "severity": "error"
    }  # fmt: skip
