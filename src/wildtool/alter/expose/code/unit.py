"""One unit in scripts: each call of a script is a call of the benchmark, and its result goes back into the script."""

import json
import re
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from wildtool.alter.base import UNDER_TEST, AlteredUnit, Exchange
from wildtool.alter.expose.code.policies import GIVES_UP, own_style, policy_script
from wildtool.alter.expose.code.protocol import (
    SANDBOX,
    EndKind,
    ScriptCall,
    ScriptEnd,
    read_answer,
    results_message,
    script_message,
    setup_message,
)
from wildtool.alter.expose.code.shown import Block, ScriptTurn, messages_in_scripts, script_of_calls
from wildtool.alter.expose.code.signatures import Detail, ToolFunctions, stub
from wildtool.alter.expose.code.tool import RUN_CODE, run_code_calls, run_code_message, run_code_tool
from wildtool.alter.expose.code.values import result_value
from wildtool.alter.expose.outcomes import ComputedCall, ExposedUnit, ExposureFault, FaultKind
from wildtool.alter.expose.search.unit import SearchUnit
from wildtool.alter.noise.renames import NOT_OFFERED
from wildtool.alter.noise.tools import with_calls
from wildtool.episode import GOLD_STYLE
from wildtool.json_codec import as_objects
from wildtool.shapes import call_names, tool_name
from wildtool.toolcall.call_mutants import made_call
from wildtool.trace import Aside, Trace, TraceStep
from wildtool.types import FieldValue, Message, Request

MOST_SCRIPTS = 20
"""Scripts in a row without a call of the benchmark; a model that writes more is cut off there."""
CODE_COLUMNS: Mapping[str, str] = {
    "code_ends": "VARCHAR",
    "code_calls": "INTEGER",
    "code_positional": "INTEGER",
}
"""How its scripts ended, with numbers; calls of the benchmark's tools in them; those with positional arguments."""
_FAULTS: Mapping[str, FaultKind] = {
    EndKind.ERROR: "script error",
    EndKind.LIMIT: "script error",
    EndKind.MISUSED: "result misused",
    EndKind.REFUSED: "sandbox refused",
}
"""By the end of a script what the split of losses calls it."""
_NO_NAME = re.compile(r"NameError: name '(\w+)' is not defined")
_UNANSWERED = "the calls of the script got no results"
_TYPES = "from typing import Any, Literal\n"


class CodeUnit(AlteredUnit):
    """A unit in scripts."""

    def __init__(
        self, detail: Detail, *, checks_types: bool, is_answered: bool, behind: SearchUnit | None = None
    ) -> None:
        """
        Args:
            checks_types: whether scripts are checked against the signatures before they run.
            is_answered: whether the benchmark gives results of calls.
            behind: the search that comes between the benchmark and the scripts; None for none.
        """
        self._detail, self._checks_types, self._is_answered = detail, checks_types, is_answered
        self._behind = behind
        self._session: list[Message] = []
        """What the sandbox is asked, from the beginning of the session on."""
        self._setup: Message = {}
        """The last part of it that says which functions there are."""
        self._is_fresh = True
        """Whether the next script begins a session."""
        self._first: int | None = None
        """Messages of the first request."""
        self._turn: ScriptTurn | None = None
        """The one whose scripts run."""
        self._waiting: list[str] = []
        """Ids of the calls whose results the script waits for."""
        self._unanswered: list[Message] = []
        """Calls of the scripts of this turn that get no results."""
        self._blocks: list[Block] = []
        self._open: list[ScriptTurn] = []
        """Turns since the last reply that the benchmark read."""
        self._ids = self._calls = self._scripts = self._positional = 0
        self._ends: Counter[str] = Counter()
        self._faults: list[ExposureFault] = []
        self._computed: list[ComputedCall] = []
        self._cut = ""

    def exchange(self, request: Request) -> Exchange:
        if not request.tools and self._turn is None:
            return (yield request)
        if self._first is None:
            self._first = len(request.messages)
        functions = ToolFunctions(request.tools)
        calls = (yield from self._went_on(request, functions)) if self._turn is not None else []
        without_calls = 0
        while not calls:
            reply = yield self._asked(request, functions)
            scripts = run_code_calls(reply, f"run_{len(self._blocks)}_{without_calls}")
            if not scripts:
                return self._read(self._as_read(request, reply, functions), said=reply)
            if without_calls == MOST_SCRIPTS:
                self._cut = f"{MOST_SCRIPTS} scripts"
                return self._read({"role": "assistant", "content": reply.get("content") or ""}, said=reply)
            self._turn = ScriptTurn(reply, scripts)
            self._open.append(self._turn)
            calls = yield from self._ran(request, functions)
            without_calls += 1
        return self._read({"role": "assistant", "content": None, "tool_calls": calls}, said=None)

    def _asked(self, request: Request, functions: ToolFunctions) -> Request:
        """What the model is sent."""

        def gold(style: str) -> Message:
            assert request.gold is not None
            reply = request.gold(own_style(style))
            calls = as_objects(reply.get("tool_calls"))
            code = script_of_calls(calls, functions) if calls else None
            if code is None:
                return reply
            turns = [*(turn for block in self._blocks for turn in block.turns), *self._open]
            earlier = [script.code for turn in turns for script in turn.scripts]
            script = policy_script(style, code, earlier, len(self._open))
            if script is None:
                return {"role": "assistant", "content": GIVES_UP}
            return run_code_message(script, f"run_{len(self._blocks)}")

        messages = messages_in_scripts(
            request.messages, self._first or 0, self._blocks, self._open, functions
        )
        tool = run_code_tool(functions, self._detail, self._answered(functions))
        return replace(request, messages=messages, tools=[tool], gold=request.gold and gold)

    def _as_read(self, request: Request, reply: Message, functions: ToolFunctions) -> Message:
        """A reply without scripts as the benchmark reads it: a tool that it calls by its own name was not offered so.

        A call stays as it is where no script gives the right answer, since that has a call of a tool that the benchmark
        does not offer here. BFCL has such entries.
        """
        if request.gold is not None and as_objects(reply.get("tool_calls")):
            calls = as_objects(request.gold(GOLD_STYLE).get("tool_calls"))
            if any(functions.of_tool(tool_name(call)) is None for call in calls):
                return reply

        def named(name: str, arguments: Any) -> tuple[str, Any]:
            return (name if functions.of_tool(name) is None else name + NOT_OFFERED), arguments

        return with_calls(reply, named)

    def _read(self, reply: Message, said: Message | None) -> Message:
        """Notes a reply that the benchmark reads."""
        self._blocks.append(Block(reply, tuple(self._open), said))
        self._open = []
        return reply

    def _went_on(
        self, request: Request, functions: ToolFunctions
    ) -> Generator[Request, Message, list[Message]]:
        """The calls that follow in the turn whose script waits."""
        results = self._results(request.messages)
        if results is None:
            self._ended(ScriptEnd(EndKind.LIMIT, _UNANSWERED))
        else:
            self._set_up(functions)
            self._session.append(results_message(results))
        return (yield from self._ran(request, functions))

    def _results(self, messages: Sequence[Message]) -> list[Any] | None:
        """What the waiting calls returned, by their ids, or else by their order; None where they got nothing."""
        last = max((n for n, each in enumerate(messages) if each.get("role") == "assistant"), default=-1)
        answers = [each for each in messages[last + 1 :] if each.get("role") == "tool"]
        by_id = {each.get("tool_call_id"): each for each in answers}
        if all(id_ in by_id for id_ in self._waiting):
            answers = [by_id[id_] for id_ in self._waiting]
        elif len(answers) != len(self._waiting):
            return None
        return [result_value(each.get("content")) for each in answers]

    def _answered(self, functions: ToolFunctions) -> list[str]:
        """The functions that return results; a search always does."""
        if self._is_answered:
            return [function.name for function in functions]
        search = None if self._behind is None else functions.of_tool(self._behind.search_name)
        return [] if search is None else [search.name]

    def _ran(self, request: Request, functions: ToolFunctions) -> Generator[Request, Message, list[Message]]:
        """Runs the scripts of the turn until one waits: its calls; once all have ended, the calls without results."""
        while self._turn is not None and (script := self._turn.next) is not None:
            if script.fault:
                self._faults.append(ExposureFault(self.number, "unread"))
                self._turn.end(script.fault)
                continue
            if not self._turn.is_begun:
                self._set_up(functions)
                self._begin(script.code)
            answer = read_answer((yield self._to_sandbox()))
            made = [call for each in answer.calls if (call := self._made(each, functions)) is not None]
            if answer.end is None:
                made = made[: self._together(request, made)]
                self._note(answer.calls[: len(made)], made)
                self._waiting = [call["id"] for call in made]
                return made
            self._note(answer.calls, made)
            self._unanswered += made
            self._ended(answer.end)
        calls, self._turn, self._unanswered = self._unanswered, None, []
        return calls

    def _set_up(self, functions: ToolFunctions) -> None:
        """Says which functions scripts can call from here on, where these are others than before."""
        stubs = ""
        if self._checks_types:
            stubs = _TYPES + "\n".join(stub(function, Detail.short) for function in functions)
        setup = setup_message(functions.parameters, stubs, self._answered(functions))
        if setup != self._setup:
            self._session.append(setup)
            self._setup = setup

    def _begin(self, code: str) -> None:
        assert self._turn is not None
        self._session.append(script_message(code, is_fresh=self._is_fresh))
        self._is_fresh = False
        self._turn.is_begun = True
        self._scripts += 1

    def _to_sandbox(self) -> Request:
        """What the role `sandbox` is asked."""
        session = list(self._session)

        def gold(style: str) -> Message:
            from wildtool.alter.expose.code.sandbox import shared_sandbox  # judging needs no sandbox

            return shared_sandbox().answer(session)

        return Request(session, role=SANDBOX, gold=gold)

    def _made(self, call: ScriptCall, functions: ToolFunctions) -> Message | None:
        """A call of a script as the benchmark reads it; None for one of no tool, which only a damaged record has."""
        function = functions.named(call.name)
        if function is None:
            return None
        arguments = json.dumps(function.arguments(call.args, call.kwargs), ensure_ascii=False)
        self._ids += 1
        return {**made_call(tool_name(function.tool), arguments), "id": f"call_{self._ids}"}

    def _together(self, request: Request, calls: Sequence[Message]) -> int:
        """How many of these calls can be made at once: the first, and those after it that the gold answer makes with it,
        since a benchmark may answer others only later. A search goes with searches only."""
        is_search = list(map(self._is_search, calls))
        alike = sum(1 for _ in takewhile(lambda its: its == is_search[0], is_search))
        wanted = self._wanted(request)
        if wanted is None or any(is_search[:1]):
            return alike
        left = Counter(wanted)
        for number, call in enumerate(calls[:alike]):
            name = self._target(call)
            left[name] -= 1
            if number and left[name] < 0:
                return number
        return alike

    def _wanted(self, request: Request) -> Sequence[str] | None:
        """Names of the tools that a right answer to the benchmark's request calls; None where it has none."""
        if self._behind is not None:
            return self._behind.wanted
        if request.gold is None:
            return None
        return call_names(request.gold(GOLD_STYLE))

    def _is_search(self, call: Message) -> bool:
        return self._behind is not None and tool_name(call) == self._behind.search_name

    def _target(self, call: Message) -> str:
        """The benchmark's name of the tool that a call of a script calls."""
        return tool_name(call) if self._behind is None else self._behind.target(call)

    def _note(self, calls: Sequence[ScriptCall], made: Sequence[Message]) -> None:
        """Keeps what is told of calls that the benchmark reads."""
        for call, its in zip(calls, made, strict=False):
            if self._is_search(its):
                continue
            self._calls += 1
            self._positional += bool(call.args)
            if call.computed:
                self._computed.append(ComputedCall(self.number, self._target(its)))

    def _ended(self, end: ScriptEnd) -> None:
        """The script that runs has ended."""
        assert self._turn is not None
        self._ends[end.kind] += 1
        self._turn.end(end.output)
        if end.kind in _FAULTS:
            kind = "guessed" if self._is_guess(end) else _FAULTS[end.kind]
            self._faults.append(ExposureFault(self.number, kind))
        if end.kind == EndKind.LIMIT:
            self._is_fresh = True

    def _is_guess(self, end: ScriptEnd) -> bool:
        """Whether a script ended at the name of a tool that was not found."""
        match = _NO_NAME.match(end.output.rpartition("\n")[2])
        if self._behind is None or match is None or end.kind != EndKind.ERROR:
            return False
        return ToolFunctions(self._behind.unfound).named(match[1]) is not None

    @property
    def outcome(self) -> ExposedUnit:
        """What happened so far."""
        return ExposedUnit(
            scripts=self._scripts, faults=tuple(self._faults), computed=tuple(self._computed), cut=self._cut
        )

    def fields(self, *, ended: bool) -> Mapping[str, FieldValue]:
        """Nothing of a unit that did not end."""
        if not ended:
            return {}
        ends = ", ".join(f"{kind} {count}" for kind, count in sorted(self._ends.items()))
        return {
            **self.outcome.cells(),
            "code_ends": ends or None,
            "code_calls": self._calls,
            "code_positional": self._positional,
        }

    def traced(self, trace: Trace) -> Trace:
        """With the scripts before each reply, and what the model read of them."""
        steps: list[TraceStep] = []
        blocks = iter(self._blocks)
        for step in trace.steps:
            block = next(blocks, None) if step.role == UNDER_TEST else None
            asides = () if block is None else tuple(_asides(block.turns))
            steps.append(replace(step, asides=(*step.asides, *asides)) if asides else step)
        return replace(trace, steps=tuple(steps))


def _asides(turns: Sequence[ScriptTurn]) -> Iterator[Aside]:
    for turn in turns:
        for number, script in enumerate(turn.scripts):
            yield Aside(f"the model's script ({RUN_CODE})", script.code or script.fault)
            if number < len(turn.outputs):
                yield Aside("what the model read of it", turn.outputs[number])
