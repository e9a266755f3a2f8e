"""One unit whose tools are behind a search: what the model is shown, what it finds, and what the benchmark reads."""

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from wildtool.alter.base import UNDER_TEST, AlteredUnit, Exchange
from wildtool.alter.distractors.distractors import tools_called
from wildtool.alter.expose.outcomes import ExposedUnit, ExposureFault, FaultKind
from wildtool.alter.expose.search.finding import SearchError, ToolFinder
from wildtool.alter.expose.search.offer import call_tool_tool, found_text, free_name, search_tool
from wildtool.alter.expose.search.policies import NOT_FOUND, SearchPolicy, query_of_user
from wildtool.alter.expose.search.settings import SearchSettings
from wildtool.alter.noise.renames import NOT_OFFERED
from wildtool.alter.noise.tools import with_calls
from wildtool.episode import EMPTY_REPLY, GOLD_STYLE, fields_with_calls, provider_fields
from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.shapes import call_names, tool_name
from wildtool.toolcall.arguments import ArgumentsError, read_arguments, read_bounded_json
from wildtool.trace import Trace, TraceStep
from wildtool.types import FieldValue, Message, Request, Tool

MOST_SEARCHES = 20
"""Replies in a row that only search; a further one is read as an empty reply."""
_CALL_TOOL = "call_tool"
FoundText = Callable[[Sequence[Tool], Sequence[Tool]], str]
"""Gives what a search is answered, from all tools that are offered then and those that it found."""


class SearchUnit(AlteredUnit):
    """A unit whose model searches for its tools."""

    def __init__(self, settings: SearchSettings, place: str, text: FoundText | None = None) -> None:
        """
        Args:
            place: names the unit, for draws of policies.
            text: what a search is answered; by default what the settings say.
        """
        self._settings, self._place = settings, place
        self._found_text = text
        self._finder = ToolFinder(settings)
        self._tools: Mapping[str, Tool] = {}
        """Those of the request that is open, by name."""
        self._search_name, self._call_name = settings.tool, _CALL_TOOL
        self._found: dict[str, None] = {}
        """Names that can be called, in the order of finding."""
        self._called_before: set[str] = set()
        """Names that count as found because an earlier part of the conversation called them."""
        self._wanted: list[str] | None = None
        self._needed: set[str] = set()
        """Names of the other tools that right answers call."""
        self._answers: dict[str, list[str]] = {}
        """What was found, by query."""
        self._hidden: dict[int, list[Message]] = {}
        """Searches with their answers, by the place of the benchmark's message before which they are shown."""
        self._log: list[list[tuple[Message, list[Message]]]] = []
        """The same for each exchange: each reply with what it was answered."""
        self._sent: dict[tuple[str, str], tuple[str, str]] = {}
        """Name and arguments as the benchmark reads them to those that the model sent."""
        self._searches = 0
        self._faults: list[ExposureFault] = []
        self._cut = ""

    def exchange(self, request: Request) -> Exchange:
        self._log.append([])
        if request.in_text is not None:
            return (yield request)
        self._open(request)
        while True:
            reply = yield self._shown(request)
            searches, rest = self._split(reply)
            if not searches:
                return with_calls(reply, self._restored)
            if not rest and len(self._log[-1]) == MOST_SEARCHES:
                self._cut = f"{MOST_SEARCHES} replies that only search"
                return EMPTY_REPLY
            yield from self._search(request, reply, searches, is_whole=not rest)
            if rest:
                return with_calls(_only(reply, rest), self._restored)

    @property
    def search_name(self) -> str:
        """The name by which the model calls the search."""
        return self._search_name

    @property
    def wanted(self) -> Sequence[str] | None:
        """Names of the tools that a right answer to the open request calls; None where it has none."""
        return self._wanted

    @property
    def unfound(self) -> list[Tool]:
        """Tools of the open request that cannot be called yet."""
        return [tool for name, tool in self._tools.items() if name not in self._found]

    def target(self, call: Mapping[str, Any]) -> str:
        """The benchmark's name of the tool that a call of the model calls."""
        if self._settings.calls == "call_tool":
            try:
                return self._read_call(tool_name(call), as_object(call.get("function")).get("arguments"))[0]
            except ArgumentsError:
                return tool_name(call)
        return tool_name(call)

    @property
    def outcome(self) -> ExposedUnit:
        """What happened so far."""
        return ExposedUnit(
            searches=self._searches,
            found=tuple(self._found),
            faults=tuple(self._faults),
            cut=self._cut,
        )

    def fields(self, *, ended: bool) -> Mapping[str, FieldValue]:
        """Nothing of a unit that did not end."""
        if not ended:
            return {}
        return {
            **self.outcome.cells(),
            "exposure_needed": len(self._needed),
            "exposure_needed_found": len(self._needed & self._found.keys()),
        }

    def traced(self, trace: Trace) -> Trace:
        """With the searches, which the benchmark knows nothing of."""
        steps: list[TraceStep] = []
        logs = iter(self._log)
        for step in trace.steps:
            messages = step.seen
            if step.role == UNDER_TEST:
                for reply, answers in next(logs, ()):
                    steps.append(TraceStep(UNDER_TEST, messages, reply, note="searched"))
                    messages = answers
            steps.append(replace(step, seen=messages))
        return replace(trace, steps=tuple(steps))

    def _open(self, request: Request) -> None:
        """Notes what a request of the benchmark offers, needs and shows as called."""
        self._tools = {tool_name(tool): tool for tool in request.tools if tool_name(tool)}
        self._search_name = free_name(self._settings.tool, self._tools)
        self._call_name = free_name(_CALL_TOOL, [*self._tools, self._search_name])
        if self._settings.history == "found":
            called = [name for message in request.messages for name in tools_called(message)]
            new = [name for name in called if name in self._tools and name not in self._found]
            self._called_before |= set(new)
            self._found |= dict.fromkeys(new)
        self._wanted = None
        if request.gold is not None:
            called = call_names(request.gold(GOLD_STYLE))
            self._wanted = [name for name in called if name in self._tools]
            self._needed |= set(self._wanted) - self._called_before

    def _shown(self, request: Request) -> Request:
        """The request as the model sees it."""

        def gold(style: str) -> Message:
            assert request.gold is not None
            return self._gold(request, request.gold, SearchPolicy.of(style))

        tools = self._offered(request.tools) if request.tools else []
        messages = self._messages(request.messages)
        return replace(request, tools=tools, messages=messages, gold=request.gold and gold)

    def _offered(self, own: Sequence[Tool]) -> list[Tool]:
        """The search, and behind it what calls found tools, or these themselves."""
        search = search_tool(self._settings, self._search_name, self._call_name, own)
        if self._settings.calls == "call_tool":
            return [search, call_tool_tool(self._call_name, self._search_name)]
        return [search, *(self._tools[name] for name in self._found if name in self._tools)]

    def _messages(self, own: Sequence[Message]) -> list[Message]:
        messages: list[Message] = []
        for place, message in enumerate(own):
            messages += self._hidden.get(place, ())
            messages.append(with_calls(message, self._as_called))
        return [*messages, *self._hidden.get(len(own), ())]

    def _as_called(self, name: str, arguments: Any) -> tuple[str, Any]:
        """A call of the benchmark's history as the model made it, or as it would."""
        if isinstance(arguments, str) and (name, arguments) in self._sent:
            return self._sent[name, arguments]
        name = name.removesuffix(NOT_OFFERED)
        if self._settings.calls == "append":
            return name, arguments
        return self._call_name, _dumped({"name": name, "arguments": _value_of(arguments)})

    def _split(self, reply: Message) -> tuple[list[dict[str, Any]], list[Any]]:
        """The searches of a reply, and its other calls as they are."""
        searches: list[dict[str, Any]] = []
        rest: list[Any] = []
        for call in as_list(reply.get("tool_calls")):
            if tool_name(as_object(call)) == self._search_name:
                searches.append(as_object(call))
            else:
                rest.append(call)
        return searches, rest

    def _search(
        self, request: Request, reply: Message, searches: Sequence[dict[str, Any]], *, is_whole: bool
    ) -> Generator[Request, Message, None]:
        """Answers searches, and shows them to the model from now on.

        Args: is_whole: whether these are all calls of the reply.
        """
        calls: list[Message] = []
        answers: list[Message] = []
        for call in searches:
            self._searches += 1
            id_ = call["id"] if isinstance(call.get("id"), str) else f"search_{self._searches}"
            calls.append({**call, "id": id_})
            text = yield from self._answer(request, as_object(call.get("function")).get("arguments"))
            answers.append({"role": "tool", "tool_call_id": id_, "content": text})
        message: Message = {"role": "assistant", "content": None, "tool_calls": calls}
        if is_whole:
            message |= {"content": reply.get("content"), **fields_with_calls(reply)}
        self._hidden.setdefault(len(request.messages), []).extend([message, *answers])
        self._log[-1].append((message, answers))

    def _answer(self, request: Request, arguments: Any) -> Generator[Request, Message, str]:
        """Carries out one search, and gives what the model is answered."""
        try:
            query, limit = self._read_search(arguments)
            self._answers[query] = []
            needed = [name for name in dict.fromkeys(self._wanted or ()) if name not in self._found]
            names = yield from self._finder.find(request, query, limit, needed)
        except SearchError as error:
            self._note(error.kind)
            return _dumped({"error": str(error)})
        self._answers[query] = names
        self._found |= dict.fromkeys(names)
        tools = [self._tools[name] for name in names]
        if self._found_text is None:
            return found_text(self._settings, tools)
        return self._found_text(self._offered(request.tools), tools)

    def _read_search(self, arguments: Any) -> tuple[str, int]:
        """Query and limit of a search. Raises SearchError."""
        try:
            its = read_arguments(arguments)
        except ArgumentsError as error:
            raise SearchError(f"the arguments cannot be read: {error}", "unread") from error
        query, limit, longest = its.get("query"), its.get("limit"), self._settings.longest_query
        if not isinstance(query, str) or not query.strip():
            raise SearchError("query must be a text that is not empty")
        if len(query) > longest:
            raise SearchError(f"query has {len(query):,} characters; give at most {longest}")
        if limit is None:
            return query, self._settings.k
        if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
            raise SearchError(f"limit must be a whole number from 1 to {self._settings.k}")
        return query, min(limit, self._settings.k)

    def _restored(self, name: str, arguments: Any) -> tuple[str, Any]:
        """A call of the model as the benchmark reads it; one of a tool that was not found is of no tool."""
        target, passed = name, arguments
        if self._settings.calls == "call_tool":
            try:
                target, passed = self._read_call(name, arguments)
            except ArgumentsError:
                self._note("unread")
                return (name + NOT_OFFERED if name in self._tools else name), arguments
        if target in self._tools and target not in self._found:
            self._note("guessed")
            target += NOT_OFFERED
        if isinstance(passed, str) and isinstance(arguments, str):
            self._sent[target, passed] = name, arguments
        return target, passed

    def _read_call(self, name: str, arguments: Any) -> tuple[str, Any]:
        """The call that a call of `call_tool` makes. Raises ArgumentsError for one that cannot be read, and for a call of
        anything else."""
        if name != self._call_name:
            raise ArgumentsError("another tool", f"{name} is called without {self._call_name}")
        its = read_arguments(arguments)
        target, passed = its.get("name"), its.get("arguments", {})
        if not isinstance(target, str):
            raise ArgumentsError("no name", f"{self._call_name} needs the name of a tool")
        return target, passed if isinstance(passed, str) else _dumped(passed)

    def _note(self, kind: FaultKind) -> None:
        self._faults.append(ExposureFault(self.number, kind))

    def _gold(self, request: Request, own: Callable[[str], Message], policy: SearchPolicy) -> Message:
        """A right answer to a request, or that of a policy: searches for what is not found yet, else the calls."""
        gold = own(policy.style)
        names = [name for name in tools_called(gold) if name in self._tools]
        if policy.takes_first and names:
            return self._first_found(request, gold)
        missing = [name for name in names if name not in self._found]
        if not missing:
            return with_calls(gold, self._as_called)
        queries: list[str] = []
        for name in missing:
            place = f"{self._place} {name}"
            untried = [
                query
                for query in policy.queries(self._settings, self._finder, self._tools[name], place)
                if query.strip() and query not in self._answers
            ]
            queries += untried[:1]
        return self._searching(queries) if queries else dict(NOT_FOUND)

    def _first_found(self, request: Request, gold: Message) -> Message:
        """A search for the words of the user, then a call of the first tool that it finds."""
        query = query_of_user(self._settings, request.messages)
        if query.strip() and query not in self._answers:
            return self._searching([query])
        names = self._answers.get(query)
        if not names:
            return dict(NOT_FOUND)
        calls = [call for call in as_objects(gold.get("tool_calls")) if tool_name(call) == names[0]]
        function = {"name": names[0], "arguments": "{}"}
        calls = calls or [{"id": f"first_{len(request.messages)}", "type": "function", "function": function}]
        return with_calls({**gold, "tool_calls": calls}, self._as_called)

    def _searching(self, queries: Sequence[str]) -> Message:
        calls = [
            {
                "id": f"search_{self._searches + number}",
                "type": "function",
                "function": {"name": self._search_name, "arguments": _dumped({"query": query})},
            }
            for number, query in enumerate(queries, 1)
        ]
        return {"role": "assistant", "content": None, "tool_calls": calls}


def _only(reply: Message, calls: Sequence[Any]) -> Message:
    """A reply with only these of its calls, and without what its provider signed with all of them."""
    fields = {key: value for key, value in reply.items() if key not in provider_fields(reply)}
    return {**fields, "tool_calls": list(calls)}


def _value_of(arguments: Any) -> Any:
    """Arguments as JSON; a text that is none as it is."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return read_bounded_json(arguments)
    except (ArgumentsError, RecursionError):
        return arguments


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
