"""Tools designed by role models; each attempt is an item of a run.

An attempt waits until earlier generations have ended, since it sees their tools. The result follows from the record
alone, in any order of replies.
"""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

from wildtool.engine.record.reader import LogReader, transcripts
from wildtool.errors import InfraError, LimitError, UsageError
from wildtool.types import Ask, Item, Source, Transcript, Verdict
from wildtool_data.make.core.maker import RoleBenchmark, transcript_of, verdict_of, voter_roles
from wildtool_data.make.core.plan import Lang
from wildtool_data.make.core.roles import ScriptResult, replay_script, run_script
from wildtool_data.make.tools.assignments import ApiSnapshot
from wildtool_data.make.tools.documents import DocumentPassage, passages
from wildtool_data.make.tools.growth import ATTEMPTS_PER_API, ApiGrowth, AttemptResult, generation_span
from wildtool_data.make.tools.script import API_PROMPTS, API_ROLES, AcceptedApi
from wildtool_data.make.tools.tree import DomainTree, read_tree, seed_tree

_NO_PLACE: ScriptResult[AcceptedApi] = ScriptResult(
    None, "no place", "the tree has no domain; give one by --tree, or other documents"
)
_ABANDONED: ScriptResult[AcceptedApi] = ScriptResult(
    None, "infra_error", "a call failed, and what followed was made without it"
)


@dataclass(frozen=True, slots=True)
class ToolGenerationSpec:
    """Which tools are to be generated."""

    apis: int
    seed: str = "1"
    langs: tuple[Lang, ...] = ("en",)
    tree: Path | None = None
    """File with a tree to start from."""
    documents: tuple[Path, ...] = ()
    """Texts to find domains and functions in. Without tree and documents the built-in tree is used."""


class ApiMaker(RoleBenchmark):
    """The part of a benchmark that a run takes; an item is a passage to read, or an attempt at a tool."""

    name = "tools"
    title = "Tools made by models"
    unit = "api"
    prompts = API_PROMPTS
    roles = voter_roles(API_ROLES, {})

    def __init__(self, spec: ToolGenerationSpec) -> None:
        """Raises UsageError for a specification of nothing."""
        if spec.apis < 1 or not spec.langs:
            raise UsageError("the number of tools must be at least 1, in at least one language")
        self.spec = spec
        self._results: dict[int, AttemptResult] = {}
        self._begun: set[int] = set()
        self._abandoned: frozenset[int] = frozenset()

    def source(self) -> Source:
        """See RoleBenchmark. The number of tools may grow, so it does not count."""
        spec = self.spec
        name = "documents" if spec.documents else "built-in tree"
        counted = (spec.seed, spec.langs, spec.tree is not None)
        return self._source(spec.tree, name, counted, (spec.tree, *spec.documents))

    @cached_property
    def _passages(self) -> list[DocumentPassage]:
        return passages(self.spec.documents, self.spec.langs)

    @cached_property
    def _trees(self) -> Mapping[Lang, DomainTree]:
        spec = self.spec
        read = read_tree(spec.tree) if spec.tree else DomainTree() if spec.documents else None
        return {lang: read or seed_tree(lang) for lang in spec.langs}

    def growth(self) -> ApiGrowth:
        """The growth before its first attempt."""
        order = self.spec
        return ApiGrowth(order.apis, order.seed, order.langs, self._passages, ApiSnapshot(self._trees))

    @cached_property
    def _growth(self) -> ApiGrowth:
        """The growth of this process."""
        return self.growth()

    @cached_property
    def _growth_event(self) -> asyncio.Condition:
        return asyncio.Condition()

    def resume_from(self, folder: Path) -> None:
        """Reads an existing record: calls that failed are not retried once a later generation exists, since that one was
        generated without their results.

        Raises RecordError for a record that cannot be read.
        """
        if not folder.is_dir():
            return
        with LogReader(folder) as reader:
            jobs = recorded_jobs(reader)
            closed = generation_span(max(jobs, default=0), len(self._passages))[0]
            self._abandoned = frozenset(
                job for job in jobs if job < closed and _recorded(reader, job).infra_error is not None
            )

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        """Passages and attempts, as many as there can be."""
        order, before = self.spec, len(self._passages)
        for job in range(before + ATTEMPTS_PER_API * order.apis):
            own = self._passages[job].lang if job < before else order.langs[(job - before) % len(order.langs)]
            yield Item(str(job), (self.unit,), job, "", own, tuple(self.roles))

    async def play(self, item: Item, ask: Ask, profile: str, *, in_order: bool = False) -> None:
        """Runs one attempt, once it is known to be needed and the tools it sees exist."""
        growth, job = self._growth, cast(int, item.data)
        async with self._growth_event:
            await self._growth_event.wait_for(lambda: growth.is_decided(job))
        if not growth.is_due(job):
            return
        self._begun.add(job)
        if job in self._abandoned:
            await self._end(job, None)
            return
        script = growth.script(job)
        try:
            result = await run_script(script, self.unit, ask) if script else _NO_PLACE
        except LimitError:
            async with self._growth_event:
                growth.stopped = True
                self._growth_event.notify_all()
            raise
        except InfraError:
            await self._end(job, None)
            raise
        await self._end(job, result)

    async def _end(self, job: int, result: AttemptResult | None) -> None:
        async with self._growth_event:
            if result is not None:
                self._results[job] = result
            self._growth.record_result(job, result)
            self._growth_event.notify_all()

    def judge(self, item: Item, transcripts: Mapping[str, Transcript], profile: str) -> list[Verdict]:
        """Whether an attempt of this process gave a tool, and why not."""
        job = cast(int, item.data)
        result = _ABANDONED if job in self._abandoned else self._results.get(job)
        loss = result.lost if result else None
        # The record of an attempt that is no longer needed says nothing about this run.
        transcript = transcript_of(transcripts, self.unit) if job in self._begun else Transcript(())
        return [verdict_of(item, self.unit, transcript, loss, finished=result is not None)]


def recorded_jobs(reader: LogReader) -> list[int]:
    """The jobs of which anything is recorded. Other items belong to another kind of run, which is refused later."""
    return [int(item) for item, _ in reader.jobs() if item.isascii() and item.isdigit() and len(item) < 10]


def _recorded(reader: LogReader, job: int) -> Transcript:
    return transcript_of(transcripts(reader.log(str(job), 0)), ApiMaker.unit)


def replay_growth(maker: ApiMaker, reader: LogReader) -> ApiGrowth:
    """The growth by a record, without any model."""
    growth = maker.growth()
    # Generations before the last one begun are final.
    closed = generation_span(max(recorded_jobs(reader), default=0), len(growth.passages))[0]
    for job in range(growth.jobs):
        if growth.enough or job >= growth.end:
            break
        transcript = _recorded(reader, job)
        script = growth.script(job)
        result = _NO_PLACE if script is None else replay_script(script, transcript)
        if result is not None or job < closed:
            growth.record_result(job, result)
        else:
            growth.abandon(job)
    return growth
