"""What the model is shown, and how a record goes on: one reply to a request, or an episode in the sandbox."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from wildtool.benchmarks.acebench.data import (
    FINANCE,
    AgentRecord,
    ItemData,
    NormalRecord,
    Record,
    SpecialRecord,
    is_multi_turn_agent,
)
from wildtool.benchmarks.acebench.sandbox.edition import Edition
from wildtool.episode import play_episodes
from wildtool.types import Ask, Episode, Item, Message, Request, Transcript

if TYPE_CHECKING:
    from wildtool.benchmarks.acebench.prompts.originals import Originals

_MAX_IMPORTED_MESSAGES = 10_000
"""Messages of the longest episode that is judged."""


class SingleReply:
    """A Normal or Special record: one request, one reply."""

    def __init__(self, make_request: Callable[[], Request]) -> None:
        """Nothing is written for the model before the request is asked for."""
        self._make_request = make_request
        self.reply: Message | None = None
        """What the model answered."""

    @property
    def done(self) -> bool:
        return self.reply is not None

    def request(self) -> Request | None:
        return None if self.done else self._make_request()

    def advance(self, reply: Message) -> None:
        if self.reply is None:
            self.reply = reply


def new_episode(
    item: Item,
    position: int,
    profile: str,
    mode: str,
    *,
    recorded: Transcript | None = None,
    originals: "Originals | None" = None,
) -> Episode:
    """The state machine of one unit.

    Args:
        position: which of the item's units.
        profile: `fixed` plays and compares with the corrected record.
        recorded: what it will be told, which may come from an episode of another length.
        originals: the original's prompts, where they are sent instead of ours.
    """
    case = cast(ItemData, item.data)
    record = profile_record(case, position, profile)
    if isinstance(record, AgentRecord):
        options: dict[str, Any] = {"max_messages": _episode_length(recorded)}
        if record.category not in FINANCE:  # the original has no such episodes
            options["originals"] = originals
        return _episode(record, cast(Edition, case.edition), profile, mode, options)
    asked = cast(NormalRecord | SpecialRecord, record)
    return SingleReply(lambda: _request(asked, mode, originals))


def profile_record(case: ItemData, position: int, profile: str) -> Record:
    """A record as a profile knows it."""
    record = case.records[position]
    if profile == "official":
        return record
    from wildtool.benchmarks.acebench.corrections import corrected

    return corrected(record)


async def play_item(
    item: Item, ask: Ask, profile: str, mode: str, *, in_order: bool, originals: "Originals | None" = None
) -> None:
    """Plays the turns of a dialogue, which are independent since their history is gold; or one record."""
    episodes: Mapping[str, Episode] = {
        unit: new_episode(item, position, profile, mode, originals=originals)
        for position, unit in enumerate(item.units)
    }
    await play_episodes(episodes, ask, in_order=in_order)


def _request(record: NormalRecord | SpecialRecord, mode: str, originals: "Originals | None") -> Request:
    # What writes requests is loaded where one plays; judging needs none.
    if mode == "fc":
        from wildtool.benchmarks.acebench.native import native_request

        return native_request(record)
    from wildtool.benchmarks.acebench.gold import gold_text
    from wildtool.benchmarks.acebench.prompts.request import text_messages

    return Request(
        originals.text_messages(record) if originals is not None else text_messages(record, mode),
        gold=lambda _style: {"role": "assistant", "content": gold_text(record)},
    )


def _episode_length(recorded: Transcript | None) -> int:
    """Messages that an episode may take: the original's number, or that with which an imported one was made."""
    from wildtool.benchmarks.acebench.episode.official import EPISODE_MESSAGES, MAX_MESSAGES

    said = recorded.replies[0].message.get(EPISODE_MESSAGES) if recorded and recorded.replies else None
    return min(said, _MAX_IMPORTED_MESSAGES) if type(said) is int and said > MAX_MESSAGES else MAX_MESSAGES


def _episode(
    record: AgentRecord, edition: Edition, profile: str, mode: str, options: dict[str, Any]
) -> Episode:
    multi_turn = is_multi_turn_agent(record.category)
    if profile == "official" and mode != "fc":
        from wildtool.benchmarks.acebench.episode.official import (
            OfficialMultiStepEpisode,
            OfficialMultiTurnEpisode,
        )

        made = OfficialMultiTurnEpisode if multi_turn else OfficialMultiStepEpisode
        return made(record, edition, **options)
    from wildtool.benchmarks.acebench.episode.fixed import FixedMultiStepEpisode, FixedMultiTurnEpisode

    sound = FixedMultiTurnEpisode if multi_turn else FixedMultiStepEpisode
    return sound(record, edition, native=mode == "fc", **options)
