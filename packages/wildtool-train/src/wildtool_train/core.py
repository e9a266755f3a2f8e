"""One unit as an environment: what a policy sees, and what each of its messages is worth. No network, no clock, no
training framework."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from wildtool.alter.base import UNDER_TEST
from wildtool.benchmark import follows_published, judge_unit
from wildtool.episode import COOPERATIVE, GOLD_STYLE
from wildtool.errors import DataError, UsageError
from wildtool.json_codec import REPLY_LIMITS, as_object, as_objects, dumps, loads, loads_within
from wildtool.reply_ends import NOT_RIGHT, deciding_end
from wildtool.shapes import Reading, ShapeError, received_answer
from wildtool.types import Episode, FieldValue, Item, Message, Reply, Request, Tool, Transcript
from wildtool_train.sources import Units

OnFault = Literal["end", "answer", "walk"]
"""What follows a message after which the unit can no longer be right: its end; an error as the tool's answer and another
try; or what the benchmark's own walk does, which under `official` is to show the gold answer of a wrong call."""
MOST_ANSWERED = 3
"""Faults of an episode that are answered; the next one ends it."""
MOST_MESSAGES = 100
"""Messages of a policy that an episode takes."""
UNANSWERED = "no answer is recorded for this call"
NOT_READABLE = "this call cannot be read"
Player = Callable[[Request], Message]
"""Says what another role than the policy says."""


def cooperative(request: Request) -> Message:
    """The simulated user that needs no model. Raises UsageError where a role has none."""
    if request.gold is None:
        raise UsageError(f"the role {request.role!r} needs a model: name a function for it in `players`")
    return request.gold(COOPERATIVE)


@dataclass(frozen=True, slots=True)
class Observation:
    """What a policy sees next. It is the caller's own: a change to it changes no other episode."""

    messages: list[Message]
    """What came since the policy's last message, without that message; everything where `replaces`."""
    tools: list[Tool] | None
    """The tools on offer; None where they are as before."""
    replaces: bool = False
    """Whether `messages` stands in place of all that was shown: so at the beginning, and in modes that rewrite it."""


@dataclass(frozen=True, slots=True)
class Transition:
    """What a message of the policy led to."""

    observation: Observation
    """What it sees next; without messages at the end."""
    components: Mapping[str, float]
    """What the message is worth: those of `STEP_COMPONENTS` that it put to the test, 1 where right, 0 where not. At the
    end also `verdict` (by the profile played), `progress` (share of gold calls made before a fault; of agents the
    benchmark's own measure), and by its name each profile of `judged` that has a verdict on these replies."""
    done: bool
    reason: str
    """What is wrong with the message, or why the episode ended early; else empty."""


@dataclass(slots=True)
class _State:
    """An open episode."""

    name: str
    item: Item
    unit: str
    episode: Episode
    replies: list[Reply] = field(default_factory=list[Reply])
    """Of all roles."""
    history: list[Message] = field(default_factory=list[Message])
    """Those that the episode holds: all but answered faults."""
    answered: list[tuple[int, list[Message]]] = field(default_factory=list[tuple[int, list[Message]]])
    """Of each answered fault how many messages were shown before it, and what then was."""
    messages: Sequence[Message] = ()
    """Of the last request."""
    tools: Sequence[Tool] = ()
    steps: list[dict[str, float]] = field(default_factory=list[dict[str, float]])
    """Components of each message of the policy."""
    fault: str = ""
    progress: float | None = None
    is_over: bool = False


class UnitEnvironment:
    """Plays units, one after the other. Make as many environments of the same `units` as episodes are open at once."""

    def __init__(
        self,
        units: Units,
        profile: str | None = None,
        *,
        on_fault: OnFault = "end",
        judged: Sequence[str] = (),
        players: Mapping[str, Player] | None = None,
    ) -> None:
        """
        Args:
            units: what can be opened.
            profile: whose walk is played and whose verdict counts; by default `fixed` where the benchmark has it.
            on_fault: what follows a message after which the unit cannot be right any more.
            judged: other profiles whose verdict is a component at the end.
            players: by role, who plays it; `cooperative` plays every other one.

        Raises UsageError for a profile that the benchmark has not.
        """
        benchmark = units.benchmark
        self.profile = profile or (
            "fixed" if "fixed" in benchmark.profiles else next(iter(benchmark.profiles))
        )
        for name in (self.profile, *judged):
            if name not in benchmark.profiles:
                raise UsageError(
                    f"{benchmark.name} has no profile {name!r}; it has {', '.join(benchmark.profiles)}"
                )
        self.units, self.on_fault, self.judged = units, on_fault, tuple(judged)
        self._rules = benchmark.rules(self.profile)
        self._players = players or {}
        self._state: _State | None = None

    # An episode -----------------------------------------------------------------------------------------

    def reset(self, seed: int | str) -> Observation:
        """Opens the unit that a seed stands for; the same seed is the same unit."""
        return self.open(self.units.draw(seed))

    def open(self, name: str) -> Observation:
        """Opens a unit by its name, `ITEM/UNIT`; an episode that was open is given up.

        Raises DataError: there is no such unit, or the profile admits no right answer to it.
        """
        return self.replay(name, ())

    def can_open(self, name: str) -> bool:
        """Whether `open` opens it. The episode that is open stays so."""
        try:
            self._begin(name)
        except DataError:
            return False
        return True

    def step(self, message: Message) -> Transition:
        """Takes the policy's message, in any shape that `wildtool.shapes` reads. One that is broken in every shape is
        judged as it is.

        Raises UsageError: no episode is open, it is over, or the message is no JSON object, or has arguments or calls
        under a key that no shape has.
        """
        state = self._opened()
        if state.is_over:
            raise UsageError(f"the episode of {state.name} is over: open another one")
        answered = len(state.answered)
        reason = self._take(state, Reply(_plain(message)))
        if len(state.answered) > answered:
            errors = state.answered[-1][1][1:]
            return Transition(Observation(_copy(errors), None), dict(state.steps[-1]), False, reason)
        observation = self._observation(state, self._after(state))
        return Transition(observation, dict(state.steps[-1]), state.is_over, reason)

    @property
    def is_open(self) -> bool:
        """Whether a unit was opened; it may be over."""
        return self._state is not None

    @property
    def name(self) -> str:
        """The unit that is open."""
        return self._opened().name

    @property
    def is_over(self) -> bool:
        return self._opened().is_over

    @property
    def steps(self) -> list[Mapping[str, float]]:
        """The components of each message so far."""
        return [dict(components) for components in self._opened().steps]

    @property
    def fields(self) -> Mapping[str, FieldValue]:
        """What is known of the open unit before any reply, such as its task type. Not for the policy's eyes."""
        state = self._opened()
        return self.units.benchmark.fields(state.item, state.unit)

    def shown(self) -> Observation:
        """All that the policy was shown so far: what an endpoint or a chat template takes."""
        state = self._opened()
        return Observation(
            _copy(_with_answered(state.messages, state.answered)), _copy(list(state.tools)), True
        )

    def gold(self, style: str = GOLD_STYLE) -> Message | None:
        """A right message at this point, for tests of a trainer; None where the unit has none or is over."""
        state = self._opened()
        request = None if state.is_over else state.episode.request()
        return None if request is None or request.gold is None else request.gold(style)

    def transcript(self) -> Transcript:
        """All replies so far, answered faults too, as a run would have recorded them."""
        return Transcript(tuple(self._opened().replies))

    def save(self) -> str:
        """The open episode as JSON; `restore` continues it, in another process too."""
        state = self._opened()
        replies = [reply.message for reply in state.replies]
        settings = {"profile": self.profile, "on_fault": self.on_fault}
        return dumps({"unit": state.name, **settings, "replies": replies}).decode("utf-8", "surrogatepass")

    def restore(self, saved: str) -> Observation:
        """Continues a saved episode; the observation holds all that was shown in it. No role is asked again.

        Raises DataError: the text is not what `save` gave, or was saved under other settings or of other data.
        """
        try:
            entries = as_object(loads(saved.encode("utf-8", "surrogatepass")))
            name, replies = str(entries["unit"]), as_objects(entries["replies"])
            settings = entries["profile"], entries["on_fault"]
        except (ValueError, KeyError) as error:
            raise DataError(f"no saved episode, which is a text that `save` gave: {error!r}") from error
        if settings != (self.profile, self.on_fault):
            raise DataError(
                f"the episode of {name} was saved with profile={settings[0]!r}, on_fault={settings[1]!r}; this"
                f" environment has profile={self.profile!r}, on_fault={self.on_fault!r}"
            )
        return self.replay(name, [Reply(message) for message in replies])

    def replay(self, name: str, replies: Sequence[Reply]) -> Observation:
        """Opens a unit and lets it take recorded replies of all roles; the observation holds all that was shown.

        Raises DataError: there is no such unit, or it ends before the replies do.
        """
        state = self._begin(name)
        for reply in replies:
            request = None if state.is_over else state.episode.request()
            if request is None:
                raise DataError(
                    f"the replies to {name} do not end where the unit does: its data are others now, or other rules"
                    " were played"
                )
            state.messages = request.messages
            if request.role == UNDER_TEST:
                self._take(state, reply)
            else:
                self._hear(state, reply.message)
        request = self._after(state) if replies else self._next_request(state)
        self._state = state
        return self._observation(state, request, replaces=True)

    # Its parts ------------------------------------------------------------------------------------------

    def _opened(self) -> _State:
        if self._state is None:
            raise UsageError("no episode is open: call `reset` or `open`")
        return self._state

    def _begin(self, name: str) -> _State:
        item, unit = self.units.find(name)
        if self._rules.leading(item):
            raise DataError(
                f"{name}: the units of this item build on each other; environments play single ones"
            )
        episode = self._rules.episode(item, unit)
        if episode.done:
            raise DataError(f"{name}: under the profile {self.profile} no answer to it is right")
        return _State(name, item, unit, episode)

    def _next_request(self, state: _State) -> Request | None:
        """What the policy is asked next, once every other role has spoken; None at the end."""
        while not state.is_over and (request := state.episode.request()) is not None:
            if request.role == UNDER_TEST:
                return request
            self._hear(state, self._players.get(request.role, cooperative)(request))
        state.is_over = True
        return None

    def _after(self, state: _State) -> Request | None:
        """What the policy is asked after its message; at the end the components of the whole episode join those of that
        message."""
        request = self._next_request(state)
        if state.is_over and state.steps:
            state.steps[-1] |= self._outcome(state)
        return request

    def _hear(self, state: _State, message: Message) -> None:
        """Lets the episode take what another role says."""
        state.replies.append(Reply(message))
        state.history.append(message)
        state.episode.advance(message)

    def _take(self, state: _State, reply: Reply) -> str:
        """Lets the episode take a message of the policy. Gives what is wrong with it."""
        state.replies.append(reply)
        end = deciding_end(reply, as_published=follows_published(self.units.benchmark, self.profile))
        if end is not None:
            # The message says of itself that it is a refusal; no other such end can be read from a message alone.
            state.fault, state.is_over = NOT_RIGHT[end], True
            state.steps.append({"refusal": 0.0})
            return state.fault
        state.episode.advance(reply.message)
        check = self._rules.step(state.episode, state.item, state.unit)
        state.progress = check.progress if state.progress is None else state.progress
        state.steps.append(dict(check.components))
        reason = check.fault or ""
        if check.fault is not None:
            state.fault = state.fault or check.fault
            if (
                self.on_fault == "answer"
                and len(state.answered) < MOST_ANSWERED
                and reply.message.get("tool_calls")
            ):
                self._answer(state, reply.message, readable=check.components.get("format") == 1)
                return reason
            state.is_over = self.on_fault != "walk"
        state.history.append(reply.message)
        if len(state.steps) >= MOST_MESSAGES and not state.episode.done:
            state.fault = state.fault or f"not done after {MOST_MESSAGES} messages"
            state.is_over, reason = True, reason or state.fault
        return reason

    def _answer(self, state: _State, message: Message, *, readable: bool) -> None:
        """Puts the episode back to where it was before a faulty message, and answers its calls with an error."""
        state.progress = None
        state.episode = self._rules.episode(state.item, state.unit)
        for reply in state.history:
            state.episode.advance(reply)
        content = dumps({"error": UNANSWERED if readable else NOT_READABLE}).decode()
        ids = [call.get("id") for call in as_objects(message.get("tool_calls"))] or [None]
        errors: list[Message] = [{"role": "tool", "content": content, "tool_call_id": id_} for id_ in ids]
        state.answered.append((len(state.messages), [{"role": "assistant", **message}, *errors]))

    def _observation(self, state: _State, request: Request | None, *, replaces: bool = False) -> Observation:
        if request is None:
            return Observation([], None, replaces)
        before, now = state.messages, request.messages
        replaces = replaces or len(now) <= len(before) or [*now[: len(before)]] != [*before]
        tools = _copy(request.tools) if replaces or request.tools != state.tools else None
        state.messages, state.tools = now, request.tools
        if replaces:
            return Observation(_copy(_with_answered(now, state.answered)), tools, True)
        # The first one is the policy's own.
        new = now[len(before) + (now[len(before)].get("role") == "assistant") :]
        return Observation(_copy(new), tools)

    def _outcome(self, state: _State) -> dict[str, float]:
        """The components that stand at the end of an episode only."""
        is_right = not state.fault and self._rules.verdict(state.episode, state.item, state.unit).correct
        components = {"verdict": float(is_right)}
        if state.progress is not None:
            components["progress"] = state.progress
        for name in self.judged:
            verdict = judge_unit(self.units.benchmark, state.item, state.unit, self.transcript(), name)
            if verdict.outcome in ("correct", "wrong"):
                components[name] = float(verdict.outcome == "correct")
        return components


def _with_answered(
    messages: Sequence[Message], answered: Sequence[tuple[int, list[Message]]]
) -> list[Message]:
    """Messages of a request, with the faults that were answered at the places where they were made."""
    shown = list(messages)
    for place, exchange in reversed(answered):
        shown[place:place] = exchange
    return shown


def _plain(message: Any) -> Message:
    """A message of a policy as it is saved, so that a restored episode is the same, and no larger than an endpoint's may
    be. Raises UsageError."""
    try:
        plain = loads_within(dumps(message), REPLY_LIMITS)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the policy's message cannot be written as JSON: {error}") from error
    if not isinstance(plain, dict):
        raise UsageError(f"the policy's message is {type(message).__name__}; expected an assistant message")
    try:
        return received_answer(cast(Message, plain), Reading("the policy's message"))
    except ShapeError as error:
        raise UsageError(str(error)) from None


def _copy(value: Any) -> Any:
    """A JSON value of the caller's own; a tuple becomes a list."""
    kind = value.__class__
    # Texts are most of what there is: a call for each would take most of the time.
    if kind is dict:
        return {key: entry if entry.__class__ is str else _copy(entry) for key, entry in value.items()}
    if kind is list or kind is tuple:
        return [entry if entry.__class__ is str else _copy(entry) for entry in value]
    return value
