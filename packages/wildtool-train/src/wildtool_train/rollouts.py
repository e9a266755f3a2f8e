"""Rollout files of NeMo Gym, verifiers and Inspect, judged again by our rules."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from math import prod
from numbers import Real
from pathlib import Path
from typing import Any

from wildtool.alter.base import UNDER_TEST
from wildtool.data.files import read_json
from wildtool.episode import written_text
from wildtool.errors import DataError, UsageError
from wildtool.json_codec import as_object, as_objects, checked, dumps, numbered_json_lines, required_field
from wildtool.outputs import atomic_replace
from wildtool.shapes import Reading, is_record, read_record, received_answer
from wildtool.types import Message
from wildtool_train.bridges.responses import messages_of
from wildtool_train.core import UnitEnvironment
from wildtool_train.sources import Units

_EXPECTED = (
    "expected a log of Inspect, or JSON lines: rollouts of NeMo Gym, traces of verifiers or conversations with their"
    " `unit`"
)


@dataclass(slots=True)
class Rollout:
    """What a file says of one episode, and what we say."""

    place: str
    """In the file."""
    unit: Any
    """As the file names it, ITEM/UNIT."""
    messages: list[Message]
    """Of the policy; before it is judged, those of the unit's opening may stand before them."""
    reward: Any
    """As the file has it; no number where it has none."""
    problem: str = ""
    """Why there is no verdict on it; else empty."""
    profile: str = ""
    """The rules that it was scored by, where the file names them."""
    is_own: bool = False
    """Whether the file told the policy's messages from those of the opening, so that none of these is among them."""
    verdict: bool | None = None
    """Ours; None where it is not judged."""
    reason: str = ""

    @property
    def disagrees(self) -> bool:
        """Whether the file takes it for right, by a reward of 1, and we do not, or the other way round."""
        is_known = self.verdict is not None and isinstance(self.reward, int | float)
        return is_known and (self.reward > 0.999) is not self.verdict


def judge_rollouts(units: Units, path: Path, profile: str | None = None) -> Iterator[Rollout]:
    """Judges each rollout of a file from the policy's messages alone.

    Args:
        profile: of the rules; None for those that the file names, as a log that wildtool wrote does, else the default of
            environments.

    Raises DataError naming the place of what cannot be read, and of a unit that there is not; UsageError where Inspect,
    which alone reads its compressed logs, is not installed.
    """
    environments = {"": UnitEnvironment(units, profile)}
    rollouts = [*read_rollouts(path)]
    if not rollouts:
        raise DataError(f"{path}: holds no rollout; {_EXPECTED}")
    for rollout in rollouts:
        try:
            item, _ = units.find(str(rollout.unit))
        except DataError as error:
            raise DataError(f"{rollout.place}: {error}. Give the data that were played") from error
        if {*item.roles} - {UNDER_TEST} and not rollout.problem:
            rollout.problem = "another role speaks in it, which the file does not tell apart"
        if not rollout.problem:
            try:
                name = (
                    rollout.profile if profile is None and rollout.profile in units.benchmark.profiles else ""
                )
                if name not in environments:
                    environments[name] = UnitEnvironment(units, name)
                _judge(rollout, environments[name], rollout.unit)
            except DataError as error:
                rollout.problem = str(error)
        yield rollout


def write_replies(rollouts: Iterable[Rollout], path: Path, model: str = "rollouts") -> None:
    """Writes those that were judged as a replies file, which `wildtool score --replies` takes; several of a unit are its
    repeats."""
    repeats: Counter[str] = Counter()
    with atomic_replace(path) as new, new.open("wb") as file:
        for rollout in rollouts:
            if rollout.verdict is not None:
                item, _, unit = rollout.unit.rpartition("/")
                row = {"item": item, "model": model, "repeat": repeats[rollout.unit]}
                file.write(dumps({**row, "units": {unit: rollout.messages}}) + b"\n")
                repeats[rollout.unit] += 1


def _judge(rollout: Rollout, environment: UnitEnvironment, name: str) -> None:
    opening = environment.open(name).messages
    earlier = [_meaning(message) for message in opening if message.get("role") == "assistant"]
    messages = rollout.messages
    if not rollout.is_own and earlier == [_meaning(message) for message in messages[: len(earlier)]]:
        messages = messages[len(earlier) :]
    rollout.messages = messages
    for message in messages:
        if not environment.is_over:
            rollout.reason = environment.step(message).reason
    if not environment.is_over:
        rollout.reason = "the rollout ends before the unit does"
    rollout.verdict = environment.is_over and environment.steps[-1]["verdict"] == 1


def _meaning(message: Message) -> list[Any]:
    calls = as_objects(message.get("tool_calls"))
    return [written_text(message) or "", *(as_object(call.get("function")).get("name") for call in calls)]


def read_rollouts(path: Path) -> Iterator[Rollout]:
    """The rollouts of a file, as it has them; errors as of `judge_rollouts`."""
    if path.suffix in (".eval", ".json"):
        yield from _samples(path)
        return
    for number, row in numbered_json_lines(path):
        place = f"{path}:{number}"
        traces = [row] if "nodes" in row else as_objects(row.get("traces"))
        if "responses_create_params" in row:
            messages = messages_of(as_object(row.get("response")).get("output"), Reading(place))
            problem = row.get("_ng_failure_class") or ("" if row.get("response") else "it has no response")
            yield Rollout(place, row.get("unit", row.get("id")), messages, row.get("reward"), problem)
        elif is_record(row):
            unit = row.get("unit", row.get("id", as_object(row.get("info")).get("unit")))
            messages = _of_assistant(read_record(row, Reading(place)).messages)
            yield Rollout(place, unit, messages, row.get("reward"))
        elif not traces:
            raise DataError(f"{place}: {_EXPECTED}; this one has {', '.join(row) or 'nothing'}")
        yield from (_trace(trace, place) for trace in traces)


def _trace(trace: Mapping[str, Any], place: str) -> Rollout:
    """Of a trace only what the policy sampled is its own; the rest it was shown."""
    nodes = [node for node in as_objects(trace.get("nodes")) if node.get("sampled")]
    sampled: list[Message] = [required_field(node, "message", dict, f"{place}: nodes") for node in nodes]
    rewards = as_objects([*as_object(trace.get("rewards")).values()])
    scores = [_score(each, f"{place}: rewards") for each in rewards if each.get("score") is not None]
    task = as_object(as_object(trace.get("task")).get("data"))
    unit = as_object(trace.get("info")).get("unit", task.get("id"))
    errors = [str(error.get("message", error)) for error in as_objects(trace.get("errors"))]
    return Rollout(
        place,
        unit,
        [_as_sent(message, place) for message in sampled],
        sum(scores) if scores else None,
        "; ".join(errors),
    )


def _score(reward: Mapping[str, Any], where: str) -> float:
    factors = ((key, reward.get(key, 1)) for key in ("score", "weight"))
    return prod(checked(value, Real, f"{where}: field {key}", "a number") for key, value in factors)


def _samples(path: Path) -> Iterator[Rollout]:
    log = as_object(read_json(path)) if path.suffix == ".json" else _compressed_log(path)
    spec = as_object(log.get("eval"))
    is_ours = "wildtool" in as_object(spec.get("packages"))
    profile = str(as_object(spec.get("metadata")).get("profile") or "") if is_ours else ""
    for sample in as_objects(log.get("samples")):
        scores = [as_object(score).get("value") for score in as_object(sample.get("scores")).values()]
        reward = {"C": 1, "I": 0, "N": 0, "P": 0.5}.get(str(scores[0]), scores[0]) if scores else None
        place = f"{path}, sample {sample.get('id')!r}, epoch {sample.get('epoch')}"
        replies = [_as_sent(message, place) for message in _of_assistant(sample.get("messages"))]
        # What the sample began with is no message of the policy, whatever it shows of earlier tasks.
        opening = [_as_sent(message, place) for message in _of_assistant(sample.get("input"))]
        has_opening = bool(opening) and list(map(_meaning, opening)) == list(
            map(_meaning, replies[: len(opening)])
        )
        problem = as_object(sample.get("error")).get("message", "")
        yield Rollout(
            place,
            sample.get("id"),
            replies[len(opening) :] if has_opening else replies,
            reward,
            problem,
            profile,
            is_own=has_opening,
        )


def _of_assistant(messages: Any) -> list[dict[str, Any]]:
    """The assistant's messages of a list; none of a text, which is a user's."""
    return [each for each in as_objects(messages) if each.get("role") == "assistant"]


def _compressed_log(path: Path) -> dict[str, Any]:
    try:
        return import_module("inspect_ai.log").read_eval_log(str(path)).model_dump()
    except ImportError as error:
        advice = "pip install 'wildtool[inspect]', or convert it: inspect log convert --to json"
        raise UsageError(f"{path}: only Inspect reads its compressed logs: {advice}") from error
    except Exception as error:
        raise DataError(f"{path}: Inspect cannot read it as a log ({error})") from error


def _as_sent(message: Mapping[str, Any], place: str) -> Message:
    """A message of a log in OpenAI's shape; where Inspect could not read arguments, they are the text that it kept."""
    calls = [
        {**call, "arguments": call.get("parse_error") or call.get("arguments")}
        for call in as_objects(message.get("tool_calls"))
    ]
    sent: Message = {"role": "assistant", "content": message.get("content")}
    return received_answer(sent | {"tool_calls": calls} if calls else sent, Reading(place))
