"""A benchmark in a file whose model must repeat what its user says, and endpoints for both."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]

BENCHMARK = '''
"""Four items, each a word that the user says and the model must repeat, twice."""

from pathlib import Path

from wildtool.benchmark import Benchmark, Check, Rules
from wildtool.data.data_set import DataSet
from wildtool.types import Item, Request, Role, Source


class Episode:
    def __init__(self, word):
        self.word, self.said = word, []

    @property
    def done(self):
        return len(self.said) == 4

    def request(self):
        if self.done:
            return None
        asks_user = len(self.said) % 2 == 0
        shown = [{"role": "user", "content": text} for text in self.said] or [{"role": "user", "content": "Begin."}]
        return Request(shown, role="user" if asks_user else "agent", gold=self._gold)

    def _gold(self, style):
        return {"role": "assistant", "content": self.word}

    def advance(self, reply):
        self.said.append(str(reply.get("content")))


class EchoRules(Rules):
    def episode(self, item, unit):
        return Episode(item.data)

    def verdict(self, episode, item, unit):
        right = episode.said[1::2] == [item.data] * 2
        return Check(right, None if right else "wrong word", "" if right else f"not {item.data}: {episode.said[1]}")


class Echoes(Benchmark):
    name, title = "echoes", "echoes"
    roles = {"user": Role("says a word", default="baseline/user")}
    data = Path(__file__)

    def load(self, source, *, split=None, lang=None):
        for word in ("one", "two", "three", "four"):
            yield Item(word, ("0",), word, roles=("user",))

    def rules(self, profile):
        return EchoRules()


BENCHMARK = Echoes()
'''

FOLLOWING = '''
"""An item whose second unit is asked what the model said in the first."""

from dataclasses import replace
from pathlib import Path

from wildtool.benchmark import Benchmark, Check, Rules
from wildtool.types import Item, Request


class Episode:
    def __init__(self, question):
        self.question, self.said = question, None

    @property
    def done(self):
        return self.said is not None

    def request(self):
        if self.done:
            return None
        return Request([{"role": "user", "content": self.question}], gold=self._gold)

    def _gold(self, style):
        return {"role": "assistant", "content": "right"}

    def advance(self, reply):
        self.said = str(reply.get("content"))


class FollowingRules(Rules):
    def leading(self, item):
        return ("first",)

    def after(self, item, episodes):
        return replace(item, data=episodes["first"].said)

    def episode(self, item, unit):
        return Episode(item.data if unit == "second" else "begin")

    def verdict(self, episode, item, unit):
        return Check(episode.said == "right", None if episode.said == "right" else "wrong word")


class Following(Benchmark):
    name, title = "following", "following"
    data = Path(__file__)

    def load(self, source, *, split=None, lang=None):
        yield Item("only", ("first", "second"), "nothing")

    def rules(self, profile):
        return FollowingRules()


BENCHMARK = Following()
'''


@contextmanager
def answering(answer: Callable[[Body], str | dict[str, Any]]) -> Iterator[tuple[str, list[Body]]]:
    """Base URL of a server whose answers a function gives, as texts or whole choices, and the bodies it has received."""
    received: list[Body] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            received.append(body)
            its = answer(body)
            choice = {"message": {"role": "assistant", "content": its}, "finish_reason": "stop"}
            usage = {"prompt_tokens": 10, "completion_tokens": 2}
            whole = {
                "choices": [choice if isinstance(its, str) else its],
                "usage": usage,
                "model": body["model"],
            }
            self._send(json.dumps(whole).encode())

        def _send(self, sent: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", received
    finally:
        server.shutdown()
        server.server_close()


def echo(body: Body) -> str:
    """What the last message says."""
    return str(body["messages"][-1]["content"])
