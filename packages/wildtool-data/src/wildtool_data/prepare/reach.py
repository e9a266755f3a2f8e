"""How far back a conversation must be remembered for its calls (specification of training data, 4.5)."""

from collections.abc import Iterator

from wildtool.json_codec import dumps
from wildtool.toolcall.text.mentions import mention, value_words
from wildtool.training.record import AssistantTurn, ResultTurn, TrainingRecord, TrainingTurn, UserTurn

FAR_TURNS = 4
"""Turns back from which a record counts as long."""


def reach(record: TrainingRecord) -> int:
    """The most turns back that a value of a gold call was said last; 0 where no call takes one from an earlier turn.

    A value counts, a nested one too, if a user text or a result has it (`mention`), and neither the system text nor the
    tools do. What any turn said later is nearer, the model's own calls included. A result is one turn, however many
    calls it answers.
    """
    tools = dumps(record.tools).decode("utf-8", "replace") if record.tools else ""
    context = f"{record.system or ''}\n{tools}"
    mentions: list[tuple[str, bool]] = []
    farthest = 0
    for turn in record.told_turns:
        if isinstance(turn, AssistantTurn):
            for word in _words(turn):
                if mention(word, context) is None:
                    farthest = max(farthest, _turns_back(word, mentions))
        mentions.append((_turn_text(turn), not isinstance(turn, AssistantTurn)))
    return farthest


def _turns_back(word: str, mentions: list[tuple[str, bool]]) -> int:
    """Turns since a word was said last; 0 where neither a user nor a result ever said it."""
    places = [place for place, (text, _) in enumerate(mentions) if mention(word, text) is not None]
    is_given = any(mentions[place][1] for place in places)
    return len(mentions) - places[-1] if is_given else 0


def _words(turn: AssistantTurn) -> Iterator[str]:
    return (word for call in turn.calls for word in value_words(call.arguments))


def _turn_text(turn: TrainingTurn) -> str:
    match turn:
        case UserTurn(text=text):
            return text
        case ResultTurn(results=results):
            return "\n".join(result.text for result in results)
        case AssistantTurn():
            return "\n".join([turn.text or "", *_words(turn)])
