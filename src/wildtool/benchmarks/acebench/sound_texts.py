"""Wording of sound episodes: system prompts for native tool calls, and what the sandbox says of calls it cannot make."""

from collections.abc import Mapping
from dataclasses import dataclass

from wildtool.benchmarks.acebench.sandbox_edition import Lang


@dataclass(frozen=True, slots=True)
class SoundTexts:
    """One language's wording."""

    multi_step: str
    """System prompt of an agent that works alone with native calls."""
    multi_turn: str
    """System prompt of an agent that talks with a user and makes native calls; the scenario's rules follow it."""
    nobody: str
    """What prose gets where nobody answers."""
    unreadable: str
    """Of a call or message that cannot be read, with a blank `reason`."""
    unknown: str
    """Of a tool that is not there, with blanks `name` and `tools`."""
    raised: str
    """Of a call that a tool could not take, with blanks `name` and `reason`."""


SOUND_TEXTS: Mapping[Lang, SoundTexts] = {
    "en": SoundTexts(
        multi_step="""\
You are an assistant, the agent, that completes a task by calling tools.

How to work
- A task may need several steps that depend on each other. Go one step at a time and use what earlier calls returned.
- Give the parameters that are required or mentioned, leave out the rest, and take values in the words in which they
  were given where the description fixes no format.
- When everything is done, write: finish conversation""",
        multi_turn="""\
You are an assistant, the agent, that serves a user by calling tools.

How to work
- Call tools, or write a sentence to the user. Ask the user where information is missing.
- Give the parameters that are required or mentioned, leave out the rest, and take values in the words in which they
  were given where the description fixes no format.
- Never speak in the user's place.""",
        nobody=(
            "Nobody answers here. Use what is known and call the tools; "
            "when everything is done, write: finish conversation"
        ),
        unreadable="Error: this cannot be read as a call ({reason}).",
        unknown="Error: there is no tool {name} here. The tools are: {tools}.",
        raised="Error: {name} could not be run ({reason}).",
    ),
    "zh": SoundTexts(
        multi_step="""\
你是助手 agent,通过调用工具完成任务。

工作方式
- 任务可能由若干相互依赖的步骤组成。一步一步进行,并利用之前调用返回的结果。
- 给出必填的和提到的参数,其余不写;描述没有规定格式时,取值沿用原话。
- 全部完成后写:finish conversation""",
        multi_turn="""\
你是助手 agent,通过调用工具为用户服务。

工作方式
- 调用工具,或者对用户说话。信息缺失时询问用户。
- 给出必填的和提到的参数,其余不写;描述没有规定格式时,取值沿用原话。
- 不得替用户说话。""",
        nobody="这里没有人会回答。请利用已知条件调用工具;全部完成后写:finish conversation",
        unreadable="错误:无法读成调用({reason})。",
        unknown="错误:这里没有工具 {name}。可用的工具:{tools}。",
        raised="错误:{name} 无法执行({reason})。",
    ),
}
