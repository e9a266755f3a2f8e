"""BFCL's web search: calls that a user's endpoint answers, and what a model is shown of searches and pages."""

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl.agentic import answer_message
from wildtool.benchmarks.bfcl.web_search import FETCH, SEARCH, web_result
from wildtool.data.data_set import data_of
from wildtool.errors import UsageError
from wildtool.models.web_search import WEB_SEARCH_MODEL, WebSearchModel, web_search_model
from wildtool.types import Item, Message, Reply, Request, Transcript

RESULTS = [{"title": f"T{n}", "href": f"http://x/{n}", "body": "b", "more": 1} for n in range(12)]


def data_folder(folder: Path) -> Path:
    entry = {
        "id": "web_search_0",
        "question": [[{"role": "user", "content": "Who?"}]],
        "involved_classes": ["WebSearchAPI"],
    }
    tools = [
        {"name": name, "description": "", "parameters": {"type": "dict", "properties": {}, "required": []}}
        for name in (SEARCH, FETCH)
    ]
    files = {
        "question/BFCL_v4_web_search.json": [entry],
        "possible_answer/BFCL_v4_web_search.json": [{"id": "web_search_0", "ground_truth": ["Ann"]}],
        "multi_turn_func_doc/web_search.json": tools,
    }
    for name, lines in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return folder


def load(place: Path, split: str = "web_search_base") -> Item:
    (item,) = BFCL_BENCHMARK.load(data_of(BFCL_BENCHMARK).locate(str(data_folder(place)), split), split=split)
    return item


def native(*calls: tuple[str, dict[str, Any]]) -> Message:
    made = [
        {"id": str(number), "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        for number, (name, given) in enumerate(calls)
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def said(value: Any) -> Message:
    return {"role": "assistant", "content": json.dumps(value)}


def test_calls_are_asked_of_the_endpoint_one_by_one_and_recorded_with_the_unit(tmp_path: Path) -> None:
    item = load(tmp_path)
    assert (item.id, item.roles) == ("web_search_base_0", ("web",))
    calls = native(
        (SEARCH, {"keywords": "tea", "max_results": 2}), ("no_tool", {}), (FETCH, {"url": "http://x/1"})
    )
    episode: Any = BFCL_BENCHMARK.rules("official").episode(item, "0")
    request = episode.request()
    assert request.role != "web" and request.gold("parallel") == answer_message("Ann")
    episode.advance(calls)
    asked = []
    for answer in (RESULTS, {"content": "<p>Ann</p>"}):
        request = episode.request()
        assert request.role == "web"
        asked.append(json.loads(request.messages[0]["content"]))
        episode.advance(said(answer))
    assert asked == [
        {"tool": SEARCH, "keywords": "tea", "max_results": 2, "region": "wt-wt"},
        {"tool": FETCH, "url": "http://x/1", "mode": "raw"},
    ]
    shown = [message["content"] for message in episode.request().messages if message["role"] == "tool"]
    assert shown[0] == str([{key: one[key] for key in ("title", "href", "body")} for one in RESULTS[:2]])
    assert shown[1].startswith("Error during execution: ") and shown[2] == '{"content": "<p>Ann</p>"}'
    for name in ("Ann", "Bo"):
        episode.advance(answer_message(name))
    assert (episode.done, episode.calls, episode.final) == (True, 3, answer_message("Ann"))
    transcript = Transcript(
        tuple(map(Reply, [calls, said(RESULTS), said({"content": ""}), answer_message("Ann")]))
    )
    assert [one.outcome for one in BFCL_BENCHMARK.judge(item, {"0": transcript}, "official")] == ["correct"]


def test_the_mistakes_of_a_question_are_other_answers(tmp_path: Path) -> None:
    mutants = BFCL_BENCHMARK.rules("fixed").mutants(load(tmp_path))
    assert [(each.unit, each.kind, each.replies, each.note) for each in mutants] == [
        ("0", "another answer", (answer_message("nothing at all"),), "nothing at all for Ann"),
        ("0", "no answer", (answer_message("I do not know"),), "I do not know for Ann"),
        (
            "0",
            "answer in the context alone",
            (answer_message("I do not know", "Ann"),),
            "I do not know for Ann",
        ),
    ]


def test_without_snippets_a_search_gives_titles_and_addresses(tmp_path: Path) -> None:
    item = load(tmp_path, "web_search_no_snippet")
    episode: Any = BFCL_BENCHMARK.rules("official").episode(item, "0")
    episode.advance(native((SEARCH, {"keywords": "tea"})))
    episode.advance(said(RESULTS))
    shown = episode.request().messages[-1]["content"]
    assert shown == str([{"title": one["title"], "href": one["href"]} for one in RESULTS[:10]])


@given(st.text(alphabet="<>/!-[]ahp= \n'\"&#x;1", max_size=80), st.sampled_from(["markdown", "truncate"]))
def test_no_page_makes_reading_raise(page: str, mode: str) -> None:
    found = web_result({"tool": FETCH, "mode": mode}, json.dumps({"content": page}), snippets=True)
    assert isinstance(found["content"], str)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """A small endpoint for searches; what it is asked."""
    asked: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"]))
            asked.append((self.path.partition("?")[0], self.headers["Authorization"], json.loads(text)))
            body = json.dumps(RESULTS).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    monkeypatch.setenv(
        "WILDTOOL_SEARCH_URL", f"http://127.0.0.1:{server.server_port}/find?token=hidden-value-1"
    )
    monkeypatch.setenv("WILDTOOL_SEARCH_API_KEY", "secret-key-123")
    yield asked
    server.shutdown()
    server.server_close()


def test_the_endpoint_is_posted_what_is_asked_and_its_address_is_recorded_without_secrets(
    endpoint: list[Any],
) -> None:
    async def ask() -> tuple[Reply, WebSearchModel]:
        model = web_search_model()
        try:
            return await model.complete(
                Request([{"role": "user", "content": '{"tool": "x"}'}], role="web")
            ), model
        finally:
            await model.close()

    reply, model = asyncio.run(ask())
    assert json.loads(reply.message["content"]) == RESULTS and model.name == WEB_SEARCH_MODEL
    assert endpoint == [("/find/search", "Bearer secret-key-123", {"tool": "x"})]
    assert "hidden-value-1" not in str(model.settings())


def test_web_search_is_not_runnable_without_an_endpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WILDTOOL_SEARCH_URL", raising=False)
    with pytest.raises(UsageError, match="not runnable here"):
        web_search_model()
    data_folder(tmp_path / "data")
    every = list(BFCL_BENCHMARK.load(data_of(BFCL_BENCHMARK).locate(str(tmp_path / "data"))))
    assert every == [], "web search is no part of what is run by default"
