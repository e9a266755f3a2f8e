"""Held-out evaluations while a policy is trained: at some steps a run each, which every verb reads, and the components of
the reward on it."""

import csv
import io
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any, Unpack, cast

from wildtool.api.bench import Bench, load
from wildtool.api.door import door
from wildtool.api.keywords import PlayKeywords, given_values, settings_of_call
from wildtool.api.results import Run
from wildtool.api.runs import run
from wildtool.api.settings import FIELDS
from wildtool.engine.benchmark_file import file_of
from wildtool.engine.call.client import GivenUpError
from wildtool.engine.plan import Selection
from wildtool.engine.record.reader import LogReader, transcripts
from wildtool.errors import CallError, RecordError, UsageError, WildtoolError
from wildtool.models.function import CallableModel, ModelFunction
from wildtool.outputs import atomic_replace
from wildtool.types import Reply, Request
from wildtool_train.core import UnitEnvironment
from wildtool_train.rewards import Components, lowest
from wildtool_train.sources import ItemUnits

_LOG = logging.getLogger("wildtool")
CURVE_FILE, SERIES_FILE = "evaluations.csv", "series.toml"
EXCLUDED = ("batch", "noise", "inject", "hints", "rationale", "failures", "expose")
"""Settings of a run that make no sense here, or under which a message is not judged as it was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What a policy was worth at one step of its training."""

    step: int
    run: str
    """The run folder."""
    units: int
    """That were planned."""
    correct: int
    failed: int
    """Units without a verdict, since the policy or its endpoint failed or was never asked. They are no wrong answers."""
    accuracy: float | None
    """Share of right units; None while any unit has no verdict."""
    low: float | None
    """Lower end of its 95 % interval."""
    high: float | None
    calls: float
    """Calls per unit that has a verdict."""
    messages: float
    """Messages of the policy likewise."""
    tokens: float | None
    """Tokens that it wrote likewise, where it tells them."""
    components: Mapping[str, float]
    """Mean of each component's lowest value in a unit, over the units that put it to the test."""
    tested: Mapping[str, int]
    """By component, those units."""

    @property
    def complete(self) -> bool:
        """Whether each unit has a verdict. Where not, the same step is continued when it is asked for again."""
        return not self.failed


class Evaluator:
    """Evaluates a policy at some steps of its training; each step once, whatever happens to the training."""

    def __init__(
        self, policy: ModelFunction, bench: Bench, every: int, out: Path, name: str, keywords: PlayKeywords
    ) -> None:
        self.bench, self.every, self.out, self.name = bench, every, out, name
        self._policy, self._keywords = policy, keywords
        self._begun: set[int] = set()
        self.evaluations: dict[int, Evaluation] = {}
        """By step, those of this process."""

    def __call__(self, step: int, *, always: bool = False) -> Evaluation | None:
        """Evaluates the policy as it is now, if `step` is a multiple of `every`, or always.

        An evaluation that is complete is read, not repeated. One that an earlier process left unfinished is begun again,
        since the weights may be others now; what there was is kept beside it. Units that failed in this process are asked
        again.

        Raises WildtoolError where the policy failed on every unit, and the errors of `wildtool.run`.
        """
        if step % self.every and not always:
            return None
        folder = self._folder(step)
        if step not in self._begun and folder.exists():
            if _is_complete(folder):
                _LOG.warning("%s is read, not played again. Move it away if the weights were others", folder)
            else:
                _set_aside(folder, "unfinished")
        self._begun.add(step)
        model = _PolicyAtStep(self._policy, self.name, step)
        try:
            finished = run(self.bench, model=model, out=folder, **self._keywords)
        except GivenUpError as error:
            raise WildtoolError(f"no evaluation at step {step}: {error.reason}") from error
        self.evaluations[step] = evaluation = _evaluation(step, finished, self.bench)
        self._write(evaluation)
        return evaluation

    def begin(self, step: int) -> None:
        """Takes the step from which a training starts. Evaluations of later steps, whose weights are gone, are
        set aside as `step-…-earlier-1`."""
        for folder in sorted(self.out.glob("step-*")):
            if (number := folder.name.removeprefix("step-")).isdecimal() and int(number) > step:
                _set_aside(folder, "earlier")

    def _write(self, evaluation: Evaluation) -> None:
        """Adds an evaluation to the table and to the series for `wildtool compare --curve step`."""
        table = self.out / CURVE_FILE
        rows: dict[int, dict[str, Any]] = {}
        if table.is_file():
            with table.open(encoding="utf-8", newline="") as file:
                rows = {int(row["step"]): dict(row) for row in csv.DictReader(file)}
                rows = {step: row for step, row in rows.items() if self._folder(step).exists()}
        rows[evaluation.step] = _row(evaluation)
        steps = sorted(rows)
        columns = list(dict.fromkeys(column for step in steps for column in rows[step]))
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[step] for step in steps)
        _replace(table, text.getvalue())
        complete = [step for step in steps if rows[step]["accuracy"] not in ("", None)]
        if 0 in complete[:-1]:
            _replace(self.out / SERIES_FILE, self._series(complete))

    def _series(self, steps: Sequence[int]) -> str:
        """The evaluations as a series of models, each of which is its record; the size is the step."""
        bench, source = self.bench, self.bench.source
        settings = {
            "name": str(file_of(bench.benchmark) or bench.name),
            "data": None if source.name == bench.name else str(source.path.resolve()),
            "mode": bench.benchmark.mode,
            "split": bench.split,
            "lang": bench.lang,
            "profile": given_values(self._keywords).get("profile"),
        }
        entry = ", ".join(f"{key} = {_toml(value)}" for key, value in settings.items() if value is not None)
        text = f"[series]\nbenchmarks = [{{{entry}}}]\nrepeats = {given_values(self._keywords).get('repeats', 1)}\n"
        for step in steps:
            model = _toml(f"replay:{self._folder(step).resolve()}")
            text += f'\n[[point]]\nname = "{step}"\nmodel = {model}\nsize = {step}\nsteps = {step}\n'
        return text

    def _folder(self, step: int) -> Path:
        return self.out / f"step-{step:06}"


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@door
def evaluate(
    policy: ModelFunction,
    bench: Bench | str | Path,
    *,
    every: int,
    out: str | Path,
    name: str = "policy",
    **keywords: Unpack[PlayKeywords],
) -> Evaluator:
    """A function of the training's step that evaluates a policy on held-out units, from time to time.

    Args:
        policy: a function of (messages, tools) that gives the assistant message or its text, as the policy is at the
            time; it may be a coroutine function. Where it raises, its unit has failed, and the others go on.
        bench: a benchmark, its name, or what `wildtool.load` gives.
        every: steps from one evaluation to the next; step 0 is before the training.
        out: folder for a run of each evaluation, `evaluations.csv` and `series.toml`.
        name: of the policy; its runs are of the model NAME@STEP.
        keywords: those of `wildtool.run`, such as `data` or `limit`; the profile is `fixed` where there is one. A
            policy that is no coroutine function is asked one thing at a time, unless `concurrency` says otherwise.

    Raises UsageError for a keyword, or a setting of the config file, that cannot be used here.
    """
    if every < 1:
        raise UsageError(f"every is {every}; it is a number of steps, 1 or more")
    given = given_values(keywords)
    settings, config = settings_of_call(str(bench), [name], keywords, {})
    values = settings.values()
    for excluded in EXCLUDED:
        if values[excluded] == FIELDS[excluded].default:
            continue
        message = f"evaluate takes no {excluded!r}: {', '.join(EXCLUDED)} make no sense while training"
        if excluded in given:
            raise UsageError(message)
        if excluded != "batch":  # a run leaves a file's out where the model has none
            raise config.error_at(["run", excluded], message)
    if not isinstance(bench, Bench):
        places = {key: given[key] for key in ("data", "mode", "split", "lang") if key in given}
        bench = load(bench, **places)
        # What is loaded says these itself.
        keywords = cast(PlayKeywords, {key: value for key, value in keywords.items() if key not in places})
    if "fixed" in bench.benchmark.profiles and "profile" not in given:
        keywords["profile"] = "fixed"
    if "concurrency" not in given:
        keywords["concurrency"] = 32 if any(map(iscoroutinefunction, (policy, policy.__call__))) else 1
    keywords["quiet"] = True
    return Evaluator(policy, bench, every, Path(out), name, keywords)


class _PolicyAtStep(CallableModel):
    """A policy as a model of its own for each step. Its name says all: weights have no text to tell them by."""

    def __init__(self, policy: ModelFunction, name: str, step: int) -> None:
        self._function, self._name, self._step = policy, name, step
        self.name = f"{name}@{step}"

    def settings(self) -> Mapping[str, Any]:
        return {"policy": self._name, "step": self._step}

    async def complete(self, request: Request) -> Reply:
        try:
            return await super().complete(request)
        except WildtoolError as error:
            if isinstance(error.__cause__, CallError):
                raise error.__cause__ from None
            raise CallError("policy failed", str(error), final=True) from error


def _is_complete(folder: Path) -> bool:
    try:
        return Run(folder).complete
    except RecordError:
        return False


def _set_aside(folder: Path, label: str) -> None:
    """Renames what an earlier process left."""
    number = 1
    while (place := folder.with_name(f"{folder.name}-{label}-{number}")).exists():
        number += 1
    folder.rename(place)
    _LOG.warning("%s is set aside as %s", folder, place.name)


def _evaluation(step: int, finished: Run, bench: Bench) -> Evaluation:
    rows = [row for row in finished.verdicts().rows() if row["outcome"] in ("correct", "wrong")]
    steps = _replayed(finished, bench)
    values: dict[str, list[float]] = {}
    for row in rows:
        for component, value in lowest(steps.get((row["item"], row["repeat"], row["unit"]), ())).items():
            values.setdefault(component, []).append(value)
    failed = finished.result.evidence.units - len(rows)
    headline = None if failed else finished.scores.headline
    tokens = [row["completion_tokens"] for row in rows]
    return Evaluation(
        step=step,
        run=str(finished.folder),
        units=finished.result.evidence.units,
        correct=sum(row["correct"] for row in rows),
        failed=failed,
        accuracy=headline and headline.value,
        low=headline and headline.low,
        high=headline and headline.high,
        calls=_mean([row["calls"] for row in rows]),
        messages=_mean([row["steps"] for row in rows]),
        tokens=None if None in tokens else _mean(tokens),
        components={component: _mean(each) for component, each in values.items()},
        tested={component: len(each) for component, each in values.items()},
    )


def _replayed(finished: Run, bench: Bench) -> dict[tuple[str, int, str], Sequence[Components]]:
    """By item, repeat and unit the components of its messages; not of units that no environment opens."""
    selection = Selection(benchmark=bench.benchmark, source=bench.source, split=bench.split, lang=bench.lang)
    units = ItemUnits(bench.benchmark, selection.read())
    environment = UnitEnvironment(units, finished.result.profile, on_fault="walk")
    steps: dict[tuple[str, int, str], Sequence[Components]] = {}
    with LogReader(finished.folder) as reader:
        for item, repeat in reader.jobs():
            for unit, transcript in transcripts(reader.log(item, repeat)).items():
                name = f"{item}/{unit}"
                if transcript.infra_error is None and environment.can_open(name):
                    environment.replay(name, transcript.replies)
                    steps[item, repeat, unit] = environment.steps
    return steps


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(1, len(values))


def _row(evaluation: Evaluation) -> dict[str, Any]:
    """A row of the table: a component has a column for its mean, and one for the units behind it."""
    row = asdict(evaluation)
    components, tested = row.pop("components"), row.pop("tested")
    for component, value in components.items():
        row |= {component: value, f"{component} units": tested[component]}
    return row


def _replace(target: Path, text: str) -> None:
    with atomic_replace(target) as new:
        new.write_text(text, encoding="utf-8")
