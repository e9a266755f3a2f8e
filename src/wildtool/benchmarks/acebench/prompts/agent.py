"""What the agent and the simulated user of an episode are sent (sections 8.1 and 8.2), from our own wording."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from wildtool.benchmarks.acebench.prompts import agent_en, agent_zh
from wildtool.benchmarks.acebench.prompts.agent_texts import AgentTexts
from wildtool.benchmarks.acebench.sandbox.edition import Lang
from wildtool.types import Message

if TYPE_CHECKING:
    from wildtool.benchmarks.acebench.prompts.originals import Originals

_TEXTS: Mapping[Lang, AgentTexts] = {"en": agent_en.AGENT_TEXTS, "zh": agent_zh.AGENT_TEXTS}


class AgentPrompt:
    """The agent's prompt of one episode; only the transcript changes, the rest is written once and when first needed."""

    def __init__(
        self,
        lang: Lang,
        classes: Sequence[str],
        functions: Sequence[Mapping[str, Any]],
        *,
        multi_turn: bool,
        originals: "Originals | None" = None,
    ) -> None:
        """Args:
        classes: involved sandbox classes, which decide the rules of a multi-turn scenario.
        originals: the original's prompts, where they are sent in place of our wording.
        """
        self._originals = originals
        self._lang: Lang = lang
        self._texts = _TEXTS[lang]
        self._classes = classes
        self._functions = functions
        self._multi_turn = multi_turn

    @cached_property
    def _system(self) -> str:
        texts = self._texts
        if self._originals is not None:
            if self._multi_turn:
                return self._originals.turn_system(self._lang, self._classes)
            return self._originals.step_system()
        if not self._multi_turn:
            return texts.multi_step
        return "\n\n".join([texts.multi_turn, *scenario_rules(self._lang, self._classes)])

    @cached_property
    def _shown(self) -> str:
        return str(list(self._functions))

    def messages(self, lines: Sequence[str]) -> tuple[Message, Message]:
        """System prompt and one user message: the tools in Python's own spelling, then the transcript so far.

        Args:
            lines: the transcript, one line per message.
        """
        return {"role": "system", "content": self._system}, {"role": "user", "content": self._input(lines)}

    def _input(self, lines: Sequence[str]) -> str:
        if self._originals is None:
            return self._texts.input.format(functions=self._shown, transcript="\n".join(lines))
        if self._multi_turn:
            return self._originals.turn_input(self._lang, self._functions, lines)
        return self._originals.step_input(self._functions, lines)


def scenario_rules(lang: Lang, classes: Sequence[str]) -> list[str]:
    """The rules of the scenarios that the involved classes belong to."""
    texts = _TEXTS[lang]
    travel = [texts.travel_rules] if "Travel" in classes else []
    phone = [texts.phone_rules] if "BaseApi" in classes else []
    finance = [texts.finance_rules] if "Finance" in classes else []
    return travel + phone + finance


def simulator_system(lang: Lang, classes: Sequence[str], instruction: str) -> str:
    """The rules of the simulated user with the record's instruction."""
    texts = _TEXTS[lang]
    if "Finance" in classes:
        return texts.finance_user.format(instruction=instruction)
    rules = texts.travel_user if "Travel" in classes else texts.phone_user
    return rules.format(instruction=instruction)


def simulator_greeting(lang: Lang) -> str:
    """What the simulated user is greeted with."""
    return _TEXTS[lang].greeting
