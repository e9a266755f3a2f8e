"""What an agent does around its model between two replies, as the record has it under the key `harness`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from wildtool.agents.agent import TurnEnd
from wildtool.agents.messages import INSTRUCTION_ROLES
from wildtool.agents.steps import CallStep, kept_text
from wildtool.agents.tool_server import offered_schema
from wildtool.agents.wires.base import Asked
from wildtool.episode import written_text
from wildtool.json_codec import as_object, canonical_json
from wildtool.models.token_usage import token_usage
from wildtool.shapes import tool_name
from wildtool.shapes.keys import FUNCTION
from wildtool.types import Tool

MOST_UNINVITED = 20
"""Executions that no reply asked for, of which a record keeps what was executed; all are counted."""


class HarnessNotes:
    """Collects what happens, and gives it with each reply. What stays the same is noted once."""

    def __init__(self) -> None:
        self.side_requests = 0
        self.retries = 0
        self._notes: dict[str, Any] = {}
        self._own_calls: list[str] = []
        self._own_steps = self._own_tokens = self._uninvited = 0
        self._known: dict[str, Any] = {}
        """What was noted before."""

    def note_question(self, question: Asked, step: CallStep) -> None:
        """Notes a question to the model, and what it shows of the step before."""
        system = "\n\n".join(
            (written_text(each) or "") for each in question.messages if each.get("role") in INSTRUCTION_ROLES
        )
        self._note_new("prompt", {"chars": len(system), "text": system})
        self._note_new("sampling", dict(question.sampling))
        if question.lost:
            self._notes["lost"] = dict(Counter(question.lost) | Counter(as_object(self._notes.get("lost"))))
        shown = {
            str(each.get("tool_call_id")): (written_text(each) or "")
            for each in question.messages
            if each.get("role") == "tool"
        }
        self._fates(step, shown)

    def ended(self, step: CallStep) -> None:
        """Notes the calls of a step after which the agent ended its turn."""
        self._fates(step, {})

    def tools_offered(self, own: Sequence[Tool], offered: Sequence[Tool], names: Mapping[str, str]) -> None:
        """Notes how the tools are offered. Args: names: by a tool's own name the offered one."""
        by_name = {tool[FUNCTION]["name"]: tool[FUNCTION] for tool in offered}
        changed = described = 0
        for tool in own:
            its, sent = tool[FUNCTION], by_name[names[tool[FUNCTION]["name"]]]
            changed += canonical_json(offered_schema(its)) != canonical_json(offered_schema(sent))
            described += (its.get("description") or "").strip() != (sent.get("description") or "").strip()
        self._note_new(
            "tools",
            {
                "offered": len(offered),
                "own": sorted(by_name.keys() - set(names.values())),
                "renamed": {sent: name for name, sent in names.items() if sent != name},
                "changed_schemas": changed,
                "described_otherwise": described,
            },
        )

    def own_step(self, calls: Sequence[Mapping[str, Any]], usage: Mapping[str, Any]) -> None:
        """Notes a reply that was not the benchmark's: of calls to the agent's own tools, or one that it threw away."""
        self._own_steps += 1
        tokens = token_usage(usage)
        self._own_tokens += tokens.prompt + tokens.completion
        self._own_calls += map(tool_name, calls)

    def changes(self, names: Sequence[str]) -> None:
        """Notes what an answer's wire could not carry as it was said. Args: names: of the changes."""
        if names:
            self._notes["lost"] = dict(Counter(names) + Counter(as_object(self._notes.get("lost"))))

    def uninvited(self, name: str, arguments: Any) -> None:
        """Notes an execution that no reply asked for."""
        self._uninvited += 1
        calls: list[Any] = self._notes.setdefault("calls", [])
        if self._uninvited <= MOST_UNINVITED:
            text = arguments if isinstance(arguments, str) else canonical_json(arguments).decode()
            calls.append(
                {"name": kept_text(name), "fate": "discarded", "arguments": kept_text(text), "executions": 1}
            )
        else:
            last = next(call for call in reversed(calls) if call["fate"] == "discarded")
            last["executions"] += 1

    def turn_ended(self, end: TurnEnd, said: str) -> None:
        """Notes the end of a turn, whose text is the reply's. Args: said: the model's last text."""
        self._notes["end"] = {
            "kind": end.kind,
            **({} if end.text == said else {"said": said}),
            **({"detail": end.detail} if end.detail else {}),
        }

    def take(self, seconds: float) -> dict[str, Any]:
        """All since the last reply. Args: seconds: that the agent took, without its model."""
        counts = {
            "own_steps": self._own_steps,
            "own_tokens": self._own_tokens,
            "side_requests": self.side_requests,
            "retries": self.retries,
        }
        taken = {
            **self._notes,
            "seconds": round(seconds, 3),
            **{name: count for name, count in counts.items() if count},
            **({"own_calls": self._own_calls} if self._own_calls else {}),
        }
        self._notes, self._own_calls = {}, []
        self._own_steps = self._own_tokens = self._uninvited = self.side_requests = self.retries = 0
        return taken

    def _fates(self, step: CallStep, shown: Mapping[str, str]) -> None:
        if step.calls:
            self._notes["calls"] = [
                *self._notes.get("calls", ()),
                *(call.fate(shown) for call in step.calls),
            ]
            step.calls = []

    def _note_new(self, name: str, value: Mapping[str, Any]) -> None:
        if value and self._known.get(name) != value:
            self._known[name] = self._notes[name] = dict(value)
