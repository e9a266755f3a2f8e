"""`wildtool check --agent`: a model that answers gold plays through an agent, and every difference is the agent's own."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.benchmarks import SHIPPED
from wildtool.json_codec import as_object

if TYPE_CHECKING:
    from wildtool.alter.agent.record import HarnessRecord

SESSIONS_OF_QUICK = 8
GOLD_MODEL = "baseline/gold"
MOST_AGENT_EXAMPLES = 5
"""Examples of each kind of difference."""
_LONGEST = 160
"""Characters of an example."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReport:
    """What came of gold answers that went through an agent."""

    agent: str
    model: str
    settings: Mapping[str, Any]
    tasks: int
    right: int
    """Tasks that are right."""
    failed: int
    """Tasks that could not be played."""
    facts: Mapping[str, str]
    """What the agent does around its model, such as the size of its prompt; without what is a difference."""
    differences: Mapping[str, int]
    """By name how often something arrived otherwise than it was said."""
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """By name of a difference the first ones, with their places."""

    @property
    def fit(self) -> bool | None:
        """Whether all came through; None where nothing was played."""
        if self.failed == self.tasks:
            return None
        return self.right == self.tasks and not self.differences

    def as_json(self) -> dict[str, Any]:
        return {
            "agent": self.agent,
            "model": self.model,
            "settings": dict(self.settings),
            "tasks": self.tasks,
            "right": self.right,
            "failed": self.failed,
            "fit": self.fit,
            "facts": dict(self.facts),
            "differences": {
                name: {"count": count, "examples": list(self.examples.get(name, ()))}
                for name, count in self.differences.items()
            },
        }

    def lines(self) -> Iterator[str]:
        """The report for a terminal."""
        for name, fact in self.facts.items():
            yield f"{name}: {fact}"
        yield f"{self.right} of {self.tasks} tasks right, {self.failed} not played, with {self.model} inside {self.agent}"
        for name, count in self.differences.items():
            yield f"{name}: {count}"
            yield from (f"  {example}" for example in self.examples.get(name, ()))
        if self.fit:
            yield "All that the model said arrived as it was said."


def check_agent(
    agent: str,
    *,
    model: str = GOLD_MODEL,
    quick: bool = False,
    concurrency: int | None = None,
    timeout_s: float = 600.0,
    report: Callable[[str], None] = lambda text: None,
) -> AgentReport:
    """Plays the sessions of `wild-mini` through an agent, with a model that answers gold inside it.

    Args:
        quick: only the first eight sessions.
        concurrency: agents at once; None for as many as the machine takes.
        report: takes what the user should know before it begins.

    Raises UsageError, and GivenUpError where the agent never plays.
    """
    from wildtool.api.plans import invocation_of, plan
    from wildtool.api.settings import Settings
    from wildtool.engine.run.progress import ProgressObserver
    from wildtool.engine.run.runner import RunJob, RunResult, run_plans
    from wildtool.temporary import temporary_folder
    from wildtool.terminal.progress import ProgressDisplay

    with temporary_folder() as folder:
        values: dict[str, Any] = {"agent": agent, "timeout": timeout_s, "retries": 1, "out": folder / "run"}
        if concurrency is not None:
            values["concurrency"] = concurrency
        if quick:
            values["limit"] = SESSIONS_OF_QUICK
        settings = Settings.of(SHIPPED, [model], values, values.keys() - {"timeout", "retries"})
        (run,) = plan(settings, {}, report=report)
        observer = ProgressObserver(agent, folder=run.folder)
        with invocation_of([run], settings) as invocation, ProgressDisplay([observer]):
            jobs = [RunJob(run.plan, run.folder, observer)]
            (outcome,) = run_plans(jobs, command=["wildtool", "check"], invocation=invocation)
        if isinstance(outcome, RunResult) and outcome.verdicts is not None:
            return _report(run.folder, outcome.verdicts, agent, model)
        raise outcome if isinstance(outcome, Exception) else KeyboardInterrupt


def _report(folder: Path, table: Path, agent: str, model: str) -> AgentReport:
    from wildtool.alter.agent.record import harness_record
    from wildtool.alter.agent.summary import harness_facts
    from wildtool.engine.record.reader import LoggedReply, LogReader
    from wildtool.engine.record.run_folder import read_run
    from wildtool.engine.score.verdict_table import relation
    from wildtool.episode import written_text

    verdicts = relation([table])
    seen = _Seen()
    rows = verdicts.project("item, repeat, unit, outcome, reason").order("1, 2, 3").fetchall()
    for item, _, unit, outcome, reason in rows:
        if outcome != "correct":
            seen.note(f"tasks {outcome.replace('_', ' ')}", f"{item}, task {unit}: {reason}")
    with LogReader(folder) as reader:
        for item, repeat in sorted({(row[0], row[1]) for row in rows}):
            for unit, steps in reader.log(item, repeat).items():
                for number, step in sorted(steps.items()):
                    if isinstance(step, LoggedReply) and (record := harness_record(step.reply.message)):
                        place = f"{item}, task {unit}, step {number}"
                        seen.read(place, record, written_text(step.reply.message) or "")
    counts = Counter(outcome for _, _, _, outcome, _ in rows)
    return AgentReport(
        agent=agent,
        model=model,
        settings=as_object(read_run(folder)["identity"]["agent"]["settings"]),
        tasks=len(rows),
        right=counts["correct"],
        failed=counts["infra_error"] + counts["unplayed"],
        facts={name: fact for name, fact in harness_facts(verdicts) if name not in seen.counts},
        differences=dict(seen.counts),
        examples={name: tuple(examples) for name, examples in seen.examples.items()},
    )


class _Seen:
    """Differences, counted, with the first ones of each kind."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, list[str]] = {}

    def note(self, name: str, example: str) -> None:
        self.counts[name] += 1
        examples = self.examples.setdefault(name, [])
        if len(examples) < MOST_AGENT_EXAMPLES:
            examples.append(example if len(example) <= _LONGEST else f"{example[:_LONGEST]}…")

    def read(self, place: str, record: "HarnessRecord", text: str) -> None:
        """Reads what is recorded beside a reply. Args: text: of the reply."""
        from wildtool.alter.agent.record import ANSWERED_TURN, AS_SAID
        from wildtool.alter.agent.summary import LOST, RESULTS_CHANGED, TEXTS_CHANGED

        for call in record.calls:
            if call.fate != AS_SAID:
                self.note(f"calls {call.fate}", f"{place}: {call.name} {call.arguments or ''}".rstrip())
            if call.is_shown_otherwise:
                self.note(RESULTS_CHANGED, f"{place}: {call.name}: {call.result!r}")
        end = record.end
        if end is not None and end.said is not None:
            self.note(TEXTS_CHANGED, f"{place}: {text!r} in place of {end.said!r}")
        if end is not None and end.kind != ANSWERED_TURN:
            self.note("turns not answered", f"{place}: {end.kind} {end.detail}".rstrip())
        for name, count in record.lost.items():
            self.note(f"{LOST}: {name}", f"{place}: {count}")
