"""Error classes of a wrong task: the nine columns of the paper's Table 4, and two that the paper has no name for.

Used by the profiles `official` and `fixed`; the profile `paper` computes the original labels in `paper.py`.
"""

from collections.abc import Collection, Sequence

from wildtool.benchmarks.wildtoolbench.data import ANSWER, ASK, VIRTUAL, GoldNode
from wildtool.toolcall.graph import ancestors

REFUSAL = "Refusal"
"""Text or nothing although a call was due, and no call came before; also an empty reply where words were due."""
MISSING_INFO = "Wrong Name / Missing Info"
"""A call although the user had to be asked first."""
WRONG_REFUSAL = "Wrong Refusal"
"""A call in a chat task (the paper's column name: the model failed to refuse the tools)."""
REDUNDANT = "Redundant Call"
"""A call that was done already, once too often, or after everything was done."""
CALL_ERROR = "Call Error"
"""A tool that does not exist, is not needed, or is not due yet."""
EARLY_END = "Early Termination"
"""Text after some right calls although more calls were due."""
PARAM_TYPE = "Param Type Error"
"""A value of the wrong type, or a required argument left out."""
PARAM_HALLUCINATION = "Param Hallucination"
"""An argument that the tool does not have or that nothing asked for."""
PARAM_VALUE = "Param Value Error"
"""A wrong value."""
UNREADABLE = "Unreadable Call"
"""A call that cannot be read: not in the protocol's shape, or arguments that are not a JSON object. Not in the paper."""
UNUSABLE_GOLD = "Unusable Gold"
"""The gold data admit no right answer under the profile. Not in the paper."""

PAPER_COLUMNS = (
    REFUSAL,
    MISSING_INFO,
    WRONG_REFUSAL,
    REDUNDANT,
    CALL_ERROR,
    EARLY_END,
    PARAM_TYPE,
    PARAM_HALLUCINATION,
    PARAM_VALUE,
)
ALL = (*PAPER_COLUMNS, UNREADABLE, UNUSABLE_GOLD)


NOT_DUE = "before the calls it depends on"
"""How the reason of a `CALL_ERROR` ends whose tool is needed, but later."""


def classify_text(nodes: Sequence[GoldNode], fulfilled: Collection[int], *, empty: bool) -> tuple[str, str]:
    """Class and reason of a text (or of nothing) that did not fit."""
    answer = "an empty reply" if empty else "text"
    calls_left = sum(1 for i, node in enumerate(nodes) if node.name not in VIRTUAL and i not in fulfilled)
    if not calls_left:
        asks_left = any(node.name == ASK and i not in fulfilled for i, node in enumerate(nodes))
        due = "a question to the user" if asks_left else "an answer"
        return REFUSAL, f"{answer} where {due} was due"
    if any(nodes[i].name not in VIRTUAL for i in fulfilled):
        return EARLY_END, f"{answer} while {calls_left} calls were still to be made"
    return REFUSAL, f"{answer} although a call was due"


def classify_call(
    nodes: Sequence[GoldNode], fulfilled: Collection[int], name: str, tool_names: Collection[str]
) -> tuple[str, str]:
    """Class and reason of a call that no ready gold call of its name was left for."""
    if all(node.name == ANSWER for node in nodes):
        return WRONG_REFUSAL, f"called {name} where no call was due"
    if name not in tool_names:
        return CALL_ERROR, f"called {name}, which is not in the tool list"
    needs = ancestors([node.deps for node in nodes])
    namesakes = [i for i, node in enumerate(nodes) if node.name == name]
    asks = {i for i, node in enumerate(nodes) if node.name == ASK and i not in fulfilled}
    if any(needs[i] & asks for i in namesakes):
        return MISSING_INFO, f"called {name} before asking the user for what it needs"
    if any(needs[i] - set(fulfilled) for i in namesakes):
        return CALL_ERROR, f"called {name} before the calls it depends on"
    calls_done = [i in fulfilled for i, node in enumerate(nodes) if node.name not in VIRTUAL]
    if all(calls_done) and not asks:
        return REDUNDANT, f"called {name} after every call was made"
    if namesakes:
        return REDUNDANT, f"called {name} once too often"
    if asks and (all(calls_done) or not any(calls_done)):
        return MISSING_INFO, f"called {name} where the user had to be asked first"
    return CALL_ERROR, f"called {name}, which the task does not need"
