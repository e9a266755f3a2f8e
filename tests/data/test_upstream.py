"""Whether a pinned repository has newer commits: asked of its forge, here of a server on the loopback address."""

import json
from contextlib import closing
from typing import Any

import pytest

from data.loopback import Answer, Server, body
from wildtool.data.upstream import newer_commits, news_of, sources_of
from wildtool.errors import DataError
from wildtool.types import Upstream

PINNED = Upstream("owner/name", "a" * 40, "2025-10-29", "folder")


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")


def commit(id_: str, day: str, message: str = "Correct answers\n\nat length") -> dict[str, Any]:
    return {"sha": id_ * 40, "commit": {"message": message, "committer": {"date": f"{day}T10:00:00Z"}}}


def answered(*commits: dict[str, Any]) -> Answer:
    return body(json.dumps(commits).encode())


def ids(pinned: Upstream, *commits: dict[str, Any]) -> list[str]:
    with closing(Server(answered(*commits))) as server:
        return [each.id[0] for each in newer_commits(pinned, server.mirror)]


def test_commits_before_the_pinned_one_in_the_answer_are_newer() -> None:
    listed = [commit("c", "2025-11-02"), commit("b", "2025-10-29"), commit("a", "2025-10-29")]
    assert ids(PINNED, *listed) == ["c", "b"]
    assert ids(PINNED, *listed[2:]) == []


def test_where_the_pinned_commit_did_not_touch_the_folder_the_days_decide() -> None:
    assert ids(PINNED, commit("c", "2025-10-30"), commit("b", "2025-10-29")) == ["c"]
    assert ids(PINNED) == []


def test_a_commit_of_unknown_day_that_is_not_listed_leaves_the_question_open() -> None:
    with pytest.raises(DataError, match=r"aaaaaaa is not among the last 1 commits.*the last is ccccccc"):
        ids(Upstream("owner/name", "a" * 40), commit("c", "2025-10-30"))


def test_a_commit_of_unknown_day_is_not_up_to_date_where_no_commit_is_listed() -> None:
    with pytest.raises(DataError, match="nothing tells which are newer"):
        ids(Upstream("owner/name", "a" * 40))


def test_the_forge_is_asked_for_the_folder_since_the_day_of_the_commit() -> None:
    with closing(Server(answered())) as server:
        newer_commits(PINNED, server.mirror + "/")
    assert server.asked == [
        "/repos/owner/name/commits?per_page=100&path=folder&since=2025-10-29T00%3A00%3A00Z"
    ]


def test_the_news_name_the_number_and_the_last_one() -> None:
    with closing(Server(answered(commit("c", "2025-11-02"), commit("a", "2025-10-29")))) as server:
        assert (
            news_of(PINNED, server.mirror)
            == "1 newer commit, the last ccccccc of 2025-11-02: Correct answers"
        )
    with closing(Server(answered(commit("a", "2025-10-29")))) as server:
        assert news_of(PINNED, server.mirror) == "no newer commits"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (body(b"no", status=404), "answered 404"),
        (body(b"no", status=403), "answered 403.*try later"),
        (body(b"<html>"), "no JSON"),
        (body(b'{"message": "moved"}'), "expected a list of commits"),
        (body(b'[{"sha": "x"}]'), "lacks its id, day or message"),
        (body(b'[{"sha": "x", "commit": {"message": 1, "committer": {"date": "now"}}}]'), "lacks its id"),
    ],
)
def test_an_answer_that_is_none_is_named_with_its_address(answer: Answer, said: str) -> None:
    with closing(Server(answer)) as server, pytest.raises(DataError, match=f"127.0.0.1.*{said}"):
        newer_commits(PINNED, server.mirror)


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "ftp://127.0.0.1", "file:///etc/passwd"])
def test_an_address_that_cannot_be_asked_says_what_to_do(address: str) -> None:
    with pytest.raises(DataError, match="--mirror"):
        newer_commits(PINNED, address)


def test_each_repository_is_asked_once_from_its_newest_pin() -> None:
    older = Upstream("owner/name", "b" * 40, "2025-08-24")
    undated = Upstream("owner/name", "d" * 40)
    data = Upstream("owner/other", "c" * 40)
    assert sources_of([PINNED, older], data) == [PINNED, data]
    assert sources_of([older, PINNED], None) == [PINNED]
    assert sources_of([older], PINNED) == sources_of([undated], PINNED) == [PINNED]
    assert sources_of([], None) == []
