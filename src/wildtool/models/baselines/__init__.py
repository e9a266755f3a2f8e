"""Baselines, which need no network: from gold answers to random calls."""

import hashlib
import math
import random
from collections.abc import Callable, Mapping
from typing import Any

from wildtool.draws import seeded_draw
from wildtool.errors import CallError, UsageError, unknown_name
from wildtool.json_codec import as_list, as_object
from wildtool.models.baselines import lexical
from wildtool.models.baselines.offered import OfferedTool, assistant_calls, is_plain, offered_tools
from wildtool.types import Message, Model, Reply, Request

TEXT_SHARE = 0.5
"""Probability that `baseline/random` answers with text: about half of the steps of a short task."""
OPTIONAL_SHARE = 0.3
"""Probability that `baseline/random` gives an optional parameter."""
MAX_RANDOM_CALLS = 3
MAX_RANDOM_DEPTH = 6
"""Levels of a schema that random arguments follow; deeper values are empty."""
CHAT_TEXT = "Sorry, I can only chat, so I cannot look that up or do it for you."
SEARCHING = "baseline/searcher"
"""The baseline whose name a share may follow, as in `baseline/searcher:0.9`."""
SEARCHER_RECALL = 0.7
"""Share of needed tools that `baseline/searcher` finds."""
RANDOM_WORDS = ("alpha", "river", "seven", "blue", "Lisbon", "Anna", "2025-03-14", "09:30", "A-1042", "note")


class FunctionModel:
    """Answers by a pure function of the request, in this process."""

    def __init__(
        self, name: str, answer: Callable[[Request], Message], settings: Mapping[str, Any] | None = None
    ) -> None:
        """Args: settings: what the answers depend on besides the request."""
        self.name = name
        self._answer = answer
        self._settings = dict(settings or {})

    async def complete(self, request: Request) -> Reply:
        """The function's answer. Raises CallError if it needs gold answers that the request does not have."""
        return Reply(self._answer(request))

    async def close(self) -> None:
        """Nothing is open."""

    def settings(self) -> Mapping[str, Any]:
        """What the answers depend on besides the request."""
        return self._settings


def make_baseline(name: str, seed: int | None = None) -> Model:
    """The baseline of a name such as `baseline/gold`. `baseline/random`, `baseline/searcher` and `baseline/user` use the
    seed (None: 0).

    Raises:
        UsageError: no baseline has this name; the message lists those that exist. Or a share is none.
    """
    if name.startswith(f"{SEARCHING}:"):
        return _searcher(name, seed or 0, _share(name))
    maker = BASELINES.get(name)
    if maker is None:
        raise UsageError(unknown_name("baseline", name, BASELINES))
    return maker(name, seed or 0)


def gold_answer(request: Request, name: str, style: str) -> Message:
    """The gold answer: in the style `parallel` all independent calls at once, in `serial` one by one.

    Raises CallError if the request has none.
    """
    if request.gold is None:
        raise CallError("no gold", f"{name} needs a request with gold answers", final=True)
    return request.gold(style)


def user_answer(request: Request, name: str, seed: int) -> Message:
    """The benchmark's own cooperative answer in another role than the agent's. Raises CallError if there is none."""
    if request.role == "agent" or request.gold is None:
        raise CallError(
            "no gold", f"{name} answers only for a role whose words the benchmark knows", final=True
        )
    repeat = request.address.repeat if request.address else 0
    return request.gold(f"cooperative {seed + repeat}")


def searcher_answer(request: Request, name: str, seed: int, recall: float) -> Message:
    """The gold answer of a model that finds each needed tool with this probability, drawn again in each repeat. Raises
    CallError if the request has none."""
    repeat = request.address.repeat if request.address else 0
    return gold_answer(request, name, f"searcher {recall} {seed + repeat}")


def chat_answer(request: Request) -> Message:
    """Always the same plain text."""
    return {"role": "assistant", "content": CHAT_TEXT}


def random_answer(request: Request, seed: int) -> Message:
    """A text, or 1 to 3 calls of offered tools, drawn by seed and address, whatever the order of requests."""
    address = request.address
    place = f"{address.item}/{address.repeat}/{address.unit}/{address.step}" if address else ""
    digest = hashlib.sha256(f"{seed}/{place}".encode("utf-8", "surrogatepass")).digest()
    draw = seeded_draw(digest)
    tools = offered_tools(request.tools)
    if not tools or draw.random() < TEXT_SHARE:
        return {"role": "assistant", "content": " ".join(draw.choices(RANDOM_WORDS, k=8))}
    picks = draw.choices(tools, k=draw.randint(1, MAX_RANDOM_CALLS))
    calls = [(tool.name, _arguments(tool, draw)) for tool in picks]
    return assistant_calls(calls, f"random_{digest[:6].hex()}")


def first_tool_answer(request: Request) -> Message:
    """A call of the first offered tool with what it requires; a text where none is offered."""
    tools = offered_tools(request.tools)
    if not tools:
        return chat_answer(request)
    draw = seeded_draw(tools[0].name)
    arguments = {each.name: random_value(each.schema, draw) for each in tools[0].parameters if each.required}
    return assistant_calls([(tools[0].name, arguments)], f"first_{len(request.messages)}")


def _arguments(tool: OfferedTool, draw: random.Random) -> dict[str, Any]:
    return {
        parameter.name: random_value(parameter.schema, draw)
        for parameter in tool.parameters
        if parameter.required or draw.random() < OPTIONAL_SHARE
    }


def random_value(schema: object, draw: random.Random, depth: int = 0) -> Any:
    """A value that fits a JSON schema; a text if the schema is not understood."""
    node = as_object(schema)
    if members := [member for member in as_list(node.get("enum")) if is_plain(member)]:
        return draw.choice(members)
    if branches := as_list(node.get("anyOf")) or as_list(node.get("oneOf")):
        return random_value(draw.choice(branches), draw, depth + 1) if depth < MAX_RANDOM_DEPTH else None
    declared = node.get("type")
    names = as_list(declared) or [declared]
    name = draw.choice(names)
    if name in ("integer", "int"):
        return draw.randint(0, 100)
    if name in ("number", "float", "double"):
        return round(draw.uniform(0, 100), 2)
    if name in ("boolean", "bool"):
        return draw.random() < 0.5
    if name == "null":
        return None
    if name in ("array", "list"):
        count = draw.randint(1, 3) if depth < MAX_RANDOM_DEPTH else 0
        return [random_value(node.get("items"), draw, depth + 1) for _ in range(count)]
    if name in ("object", "dict"):
        return _random_object(node, draw, depth)
    return " ".join(draw.choices(RANDOM_WORDS, k=draw.randint(1, 2)))


def _random_object(schema: Mapping[str, Any], draw: random.Random, depth: int) -> dict[str, Any]:
    required = as_list(schema.get("required"))
    properties: Mapping[str, Any] = as_object(schema.get("properties")) if depth < MAX_RANDOM_DEPTH else {}
    return {
        name: random_value(part, draw, depth + 1)
        for name, part in properties.items()
        if name in required or draw.random() < OPTIONAL_SHARE
    }


def _gold(style: str) -> Callable[[str, int], Model]:
    return lambda name, seed: FunctionModel(
        name, lambda request: gold_answer(request, name, style), {"style": style}
    )


def _searcher(name: str, seed: int, recall: float) -> Model:
    return FunctionModel(
        name,
        lambda request: searcher_answer(request, name, seed, recall),
        {"recall": recall, "seed": seed},
    )


def _share(name: str) -> float:
    """The share behind the name of a baseline. Raises UsageError."""
    text = name.partition(":")[2]
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise UsageError(
            f"{name}: {text or 'nothing'} is no share; give a number from 0 to 1, as in {SEARCHING}:0.9"
        )
    return share


BASELINES: Mapping[str, Callable[[str, int], Model]] = {
    "baseline/gold": _gold("parallel"),
    "baseline/gold-serial": _gold("serial"),
    "baseline/obedient": _gold("obedient"),
    "baseline/always-retries": _gold("always-retries"),
    "baseline/never-retries": _gold("never-retries"),
    "baseline/forwards": _gold("forwards"),
    "baseline/asks": _gold("asks"),
    SEARCHING: lambda name, seed: _searcher(name, seed, SEARCHER_RECALL),
    "baseline/first-found": _gold("first-found"),
    "baseline/chat": lambda name, seed: FunctionModel(name, chat_answer),
    "baseline/first-tool": lambda name, seed: FunctionModel(name, first_tool_answer),
    "baseline/random": lambda name, seed: FunctionModel(
        name, lambda request: random_answer(request, seed), {"seed": seed}
    ),
    "baseline/lexical": lambda name, seed: FunctionModel(name, lexical.answer),
    "baseline/code-loops": _gold("code-loops"),
    "baseline/code-none": _gold("code-none"),
    "baseline/code-refused": _gold("code-refused"),
    "baseline/code-errs": _gold("code-errs"),
    "baseline/code-misuses": _gold("code-misuses"),
    "baseline/code-miscomputes": _gold("code-miscomputes"),
    "baseline/user": lambda name, seed: FunctionModel(
        name, lambda request: user_answer(request, name, seed), {"seed": seed}
    ),
}
"""By name, what makes the baseline from its name and a seed."""
BASELINE_DESCRIPTIONS: Mapping[str, str] = {
    "baseline/gold": "the gold answers; independent calls at once",
    "baseline/gold-serial": "the gold answers, one call at a time",
    "baseline/obedient": "the gold answers, but obeys instructions hidden in results",
    "baseline/always-retries": "the gold answers, but repeats every call that --failures lets fail",
    "baseline/never-retries": "the gold answers, but gives up at the first failure of --failures",
    "baseline/forwards": "the gold answers, but passes on every value that --failures passed-on damages",
    "baseline/asks": "the gold answers, but asks its user about each failure of --failures",
    SEARCHING: "the gold answers, but finds a tool of --expose search with probability 0.7; :0.9 behind it gives another",
    "baseline/first-found": "searches for the user's words under --expose search, and calls the first tool found",
    "baseline/chat": "never calls a tool",
    "baseline/first-tool": "always calls the first tool that it is offered",
    "baseline/random": "random calls of the offered tools",
    "baseline/lexical": "picks tools and arguments by matching words",
    "baseline/code-loops": "writes scripts that never end where --expose code wants calls",
    "baseline/code-none": "answers with a text where --expose code wants a script",
    "baseline/code-refused": "the gold scripts of --expose code, with a class that the sandbox refuses",
    "baseline/code-errs": "the gold scripts of --expose code, with a name that is not defined",
    "baseline/code-misuses": "the gold scripts of --expose code, but takes a member that the first result lacks",
    "baseline/code-miscomputes": "the gold scripts of --expose code, with one argument computed wrongly from a result",
    "baseline/user": "plays the user by script, for benchmarks that simulate one",
}
"""What each baseline does."""
