"""What the agent and the simulated user of an episode are sent (sections 8.1 and 8.2), from our own wording."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from wildtool.benchmarks.acebench.prompts.originals import Originals
from wildtool.benchmarks.acebench.prompts.request import prompt_texts
from wildtool.benchmarks.acebench.sandbox.edition import Lang
from wildtool.types import Message, ResultsInText, Tool

_SCENARIOS = {"Travel": "travel", "BaseApi": "phone", "Finance": "finance"}
"""Class to the scenario that it belongs to."""


class AgentPrompt:
    """The agent's prompt of one episode; only the transcript changes, the rest is written once and when first needed."""

    def __init__(
        self,
        lang: Lang,
        classes: Sequence[str],
        functions: Sequence[Mapping[str, Any]],
        *,
        multi_turn: bool,
        originals: Originals | None = None,
    ) -> None:
        """Args:
        classes: involved sandbox classes, which decide the rules of a multi-turn scenario.
        originals: the original's prompts, where they are sent in place of our wording.
        """
        self._originals = originals
        self._lang: Lang = lang
        self._texts = prompt_texts(lang)
        self._classes = classes
        self._functions = functions
        self._multi_turn = multi_turn

    @cached_property
    def _system(self) -> str:
        if self._originals is not None:
            return self._originals.agent_system(self._lang, self._classes, multi_turn=self._multi_turn)
        if not self._multi_turn:
            return self._texts["multi_step"]
        return "\n\n".join([self._texts["multi_turn"], *scenario_rules(self._lang, self._classes)])

    @cached_property
    def _shown(self) -> str:
        return str(list(self._functions))

    def messages(
        self, lines: Sequence[str], more: Sequence[Mapping[str, Any]] = ()
    ) -> tuple[Message, Message]:
        """System prompt and one user message: the tools in Python's own spelling, then the transcript so far.

        Args:
            lines: the transcript, one line per message.
            more: functions besides those of the record.
        """
        functions = [*self._functions, *more] if more else self._functions
        if self._originals is None:
            shown = str(functions) if more else self._shown
            said = self._texts["input"].format(functions=shown, transcript="\n".join(lines)) + "\n"
        else:
            said = self._originals.agent_input(self._lang, functions, lines, multi_turn=self._multi_turn)
        return {"role": "system", "content": self._system}, {"role": "user", "content": said}


class AgentLines:
    """The transcript of an episode as the agent reads it, one line per message."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._results: list[tuple[int, str]] = []
        """Number and label of each line that is a result."""

    def add(self, label: str, text: str) -> None:
        """Adds what somebody said."""
        self.lines.append(f"{label}:{text}")

    def add_result(self, label: str, text: str) -> None:
        """Adds what the sandbox returned."""
        self._results.append((len(self.lines), label))
        self.add(label, text)

    def in_text(self, prompt: AgentPrompt) -> ResultsInText:
        """The results in the prompt's text."""
        places = tuple(self._results)
        lines = tuple(self.lines)

        def reads(tools: Sequence[Tool], results: Sequence[str]) -> Sequence[Message]:
            changed = list(lines)
            for (number, label), result in zip(places, results, strict=True):
                changed[number] = f"{label}:{result}"
            return prompt.messages(changed, [tool["function"] for tool in tools])

        return ResultsInText([lines[number][len(label) + 1 :] for number, label in places], reads)


def scenario_rules(lang: Lang, classes: Sequence[str]) -> list[str]:
    """The rules of the scenarios that the involved classes belong to."""
    texts = prompt_texts(lang)
    return [texts[f"{scenario}_rules"] for name, scenario in _SCENARIOS.items() if name in classes]


def user_messages(lang: Lang, classes: Sequence[str], instruction: str) -> tuple[Message, Message]:
    """What the simulated user is sent first: its rules with the record's instruction, and a greeting."""
    texts = prompt_texts(lang)
    scenario = next((_SCENARIOS[name] for name in ("Finance", "Travel") if name in classes), "phone")
    system = texts[f"{scenario}_user"].format(instruction=instruction)
    return {"role": "system", "content": system}, {"role": "user", "content": texts["greeting"]}
