"""NeMo Gym: rows, and a resources server by its published protocol. It imports nothing of the framework."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from secrets import token_hex
from typing import Any

from aiohttp import web

from wildtool.errors import DataError
from wildtool.json_codec import JsonLimits, checked, dumps, loads_within
from wildtool.report.server.access import AccessPolicy, Handler
from wildtool.shapes import Reading
from wildtool.types import Message
from wildtool_train.bridges.episode import RewardedEpisode
from wildtool_train.bridges.responses import messages_of, response_items, response_tool
from wildtool_train.core import UNANSWERED, UnitEnvironment
from wildtool_train.rewards import VERDICT_ALONE, lowest
from wildtool_train.sources import Units

COOKIE = "wildtool_session"
ROUTES = frozenset(
    ["aggregate_metrics", "close_session", "reverify_mode", "sandbox_access", "seed_session", "verify"]
)
"""Paths that no tool can have as its name."""
REQUEST_LIMITS = JsonLimits(bytes=2**28, depth=500, values=4_000_000)
"""Of one request."""
MOST_SESSIONS = 10_000
"""Open rollouts that a server remembers; those that were idle longest are forgotten."""


def gym_rows(units: Units, count: int, start: int = 0, **settings: Any) -> Iterator[dict[str, Any]]:
    """Of the next units those that NeMo Gym's agent can play, as rows: it carries no user turn within a unit, and calls
    tools by paths."""
    environment = UnitEnvironment(units, **settings)
    for number in range(start, start + count):
        name = units.draw(number)
        opening = environment.open(name)
        tools = [response_tool(tool) for tool in opening.tools or ()]
        if ROUTES & {tool["name"] for tool in tools} or _has_user_turn(environment):
            continue
        entries = [item for message in opening.messages for item in response_items(message)]
        yield {"id": name, "unit": name, "responses_create_params": {"input": entries, "tools": tools}}


class ResourcesServer:
    """Answers calls of open rollouts, and verifies finished ones from their response alone."""

    def __init__(self, units: Units, weights: Mapping[str, float] | None = None, **settings: Any) -> None:
        self._units, self._settings = units, settings
        self._weights = VERDICT_ALONE if weights is None else weights
        self._sessions: OrderedDict[str, RewardedEpisode] = OrderedDict()
        self._episode()  # Settings that are wrong are refused here.

    def application(self, host: str = "127.0.0.1", *, remote: bool = False) -> web.Application:
        """To be served by aiohttp. It answers requests that name this machine as their host, and none of web pages.

        Args:
            host: the name or address by which the agent reaches it.
            remote: whether other machines may connect, by any address of this one.
        """
        policy = AccessPolicy(host, remote=remote, writes=True, programs=True)

        @web.middleware
        async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
            refusal = policy.deny_reason(request.method, request.headers)
            if refusal is not None:
                raise refusal
            try:
                return await handler(request)
            except DataError as error:
                raise web.HTTPBadRequest(text=str(error)) from error

        app = web.Application(middlewares=[guarded], client_max_size=REQUEST_LIMITS.bytes)
        app.router.add_post("/seed_session", self._seed)
        app.router.add_post("/verify", self._verify)
        app.router.add_post("/aggregate_metrics", self._aggregate)
        app.router.add_get("/reverify_mode", self._reverify_mode)
        app.router.add_post("/{tool}", self._call)
        return app

    def verify(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body with `reward`, `reward_components` (of what is weighed; 0 where it was not put to the test), `steps`
        and `reason`. Raises DataError for a unit that there is not, or a field that is not as NeMo Gym sends it."""
        episode = self._episode()
        episode.environment.open(checked(body.get("unit"), str, "field unit"))
        response = checked(body.get("response"), dict, "field response")
        output = checked(response.get("output"), list, "field response.output")
        reason = ""
        for message in messages_of(output, Reading("response.output")):
            if episode.environment.is_over:
                break
            reason = episode.environment.step(message).reason
        is_over, values = episode.environment.is_over, lowest(episode.environment.steps)
        return {
            **body,
            "reward": episode.reward or 0.0,
            "reward_components": {name: values.get(name, 0.0) if is_over else 0.0 for name in self._weights},
            "steps": episode.environment.steps,
            "reason": reason if is_over else "the response ends before the episode",
        }

    def _episode(self) -> RewardedEpisode:
        return RewardedEpisode(UnitEnvironment(self._units, **self._settings), self._weights)

    async def _seed(self, request: web.Request) -> web.Response:
        episode, key = self._episode(), token_hex(16)
        episode.environment.open(checked((await _body(request)).get("unit"), str, "field unit"))
        self._sessions[key] = episode
        if len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)
        return _kept(web.json_response({}), key)

    async def _call(self, request: web.Request) -> web.Response:
        """Calls of one message come one by one; that they were one is seen when the rollout is verified."""
        key = request.cookies.get(COOKIE, "")
        episode = self._sessions.get(key)
        if episode is None:
            raise web.HTTPBadRequest(
                text="no session: post the row to /seed_session first, and send its cookie"
            )
        self._sessions.move_to_end(key)
        arguments = (await request.read()).decode("utf-8", "replace")
        function = {"name": request.match_info["tool"], "arguments": arguments}
        answers: list[Message] = []
        if not episode.environment.is_over:
            call = {"id": "call", "type": "function", "function": function}
            answers = episode.environment.step({"content": None, "tool_calls": [call]}).observation.messages
        text = answers[0]["content"] if answers else dumps({"error": UNANSWERED, "done": True}).decode()
        return _kept(web.Response(text=text), key)

    async def _verify(self, request: web.Request) -> web.Response:
        answer = self.verify(await _body(request))
        self._sessions.pop(request.cookies.get(COOKIE, ""), None)
        return web.Response(body=dumps(answer), content_type="application/json")

    async def _aggregate(self, request: web.Request) -> web.Response:
        answers = checked((await _body(request)).get("verify_responses", []), list, "field verify_responses")
        found = [_reward_of(answer, number) for number, answer in enumerate(answers)]
        rewards = [reward for reward in found if reward is not None]
        means = {"mean/reward": sum(rewards) / len(rewards)} if rewards else {}
        return web.json_response({"group_level_metrics": [], "agent_metrics": means, "key_metrics": means})

    async def _reverify_mode(self, request: web.Request) -> web.Response:
        return web.json_response("stateless")


async def _body(request: web.Request) -> dict[str, Any]:
    """The JSON object of a request. Raises DataError for anything else."""
    try:
        body = loads_within(await request.read(), REQUEST_LIMITS)
    except web.HTTPRequestEntityTooLarge as error:
        raise DataError(f"the body has more than {REQUEST_LIMITS.bytes:,} bytes") from error
    except ValueError as error:
        raise DataError(f"the body is no JSON ({error}); expected an object") from error
    return checked(body, dict, "the body")


def _reward_of(answer: Any, number: int) -> float | None:
    """The reward of a rollout; None where it failed before it was verified. Raises DataError for anything else."""
    where = f"field verify_responses[{number}]"
    reward = checked(answer, dict, where).get("reward")
    if reward is None:
        return None
    try:
        return float(reward) if type(reward) is int else checked(reward, float, f"{where}.reward", "a number")
    except OverflowError as error:
        raise DataError(f"{where}.reward: more than a number can be") from error


def _kept(response: web.Response, key: str) -> web.Response:
    """NeMo Gym's agent keeps the cookies of the last response only, so each one carries it."""
    response.set_cookie(COOKIE, key)
    return response


def _has_user_turn(environment: UnitEnvironment) -> bool:
    while (gold := environment.gold()) is not None:
        if any(message["role"] == "user" for message in environment.step(gold).observation.messages):
            return True
    return False
