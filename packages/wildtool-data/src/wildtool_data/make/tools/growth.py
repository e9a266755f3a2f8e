"""How the tree and the tools grow: attempts in order, in generations that see what the earlier ones left.

Attempts of one generation do not see each other, so they can run at the same time; clashes are found when their results
are taken in, in order. So the result follows from the replies alone, not from their timing.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, repeat

from rapidfuzz import fuzz

from wildtool.toolcall.text.similarity import jaccard
from wildtool_data.make.core.plan import Lang
from wildtool_data.make.core.roles import RoleCoroutine, ScriptResult
from wildtool_data.make.tools.api import ApiSpec
from wildtool_data.make.tools.assignments import ApiSnapshot, Generation
from wildtool_data.make.tools.documents import DocumentPassage, mine_script
from wildtool_data.make.tools.rules import near_duplicate_of
from wildtool_data.make.tools.script import AcceptedApi, NodeProposal, api_script
from wildtool_data.make.tools.tree import DomainTree

GENERATION_SIZES = (16, 32, 64, 128)
"""Attempts of the first generations."""
_LATER_SIZE = 256
"""Attempts of the later ones."""
ATTEMPTS_PER_API = 2
"""Attempts at most, for each API that is wanted."""
AttemptResult = ScriptResult[AcceptedApi] | ScriptResult[tuple[NodeProposal, ...]]
_ALIKE_NAMES = 85.0
_SAME_WORDS = 0.6
_BROKEN = "infra_error"
_UNFINISHED: ScriptResult[AcceptedApi] = ScriptResult(None)
"""The result of a job without an end."""


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """A lost attempt."""

    attempt: str
    """Number of the attempt, or document and passage."""
    reason: str
    detail: str


class ApiGrowth:
    """What exists so far. Jobs are numbered: first the passages of documents, then attempts at tools."""

    def __init__(
        self,
        count: int,
        seed: str,
        langs: tuple[Lang, ...],
        passages: Sequence[DocumentPassage],
        snapshot: ApiSnapshot,
    ) -> None:
        """Args:
        wanted: number of APIs.
        snapshot: the trees and tools to start from.
        """
        self.wanted, self.seed, self.langs, self.passages = count, seed, langs, passages
        self.snapshot = snapshot
        self.apis: list[ApiSpec] = []
        self.losses: list[FailedAttempt] = []
        self.counters: Counter[str] = Counter()
        self.stopped = False
        """True if nothing more can begin: a limit, or calls that fail."""
        self._ended: dict[int, AttemptResult | None] = {}
        """Jobs that are not taken in yet; None for one whose calls failed."""
        self._settled = 0
        self._failures = 0
        """Attempts at tools known to be lost, taken in or not."""
        self._broken = 0
        """Jobs of this generation whose calls failed."""
        self._names: set[str] = set()
        self._new_nodes: defaultdict[Lang, list[tuple[str, str, str]]] = defaultdict(list)
        """Nodes for the next generation: id of the one above, name, source."""
        self._begin = 0
        """The first job of the current generation."""
        self._snapshot_names: frozenset[str] = frozenset()
        self._generation: Generation | None = None
        """The current generation, once one of its jobs has begun."""
        self._places: defaultdict[tuple[Lang, str], list[ApiSpec]] = defaultdict(list)
        """APIs by language and sub-domain."""

    @property
    def jobs(self) -> int:
        """Jobs at most."""
        return len(self.passages) + ATTEMPTS_PER_API * self.wanted

    @property
    def end(self) -> int:
        """The job after the last one of this generation."""
        return generation_span(self._begin, len(self.passages))[1]

    @property
    def enough(self) -> bool:
        """Whether there are as many APIs as wanted."""
        return len(self.apis) >= self.wanted

    @property
    def needs_more(self) -> bool:
        """Whether there are too few APIs, and attempts left."""
        return not self.enough and self._settled < self.jobs

    def is_decided(self, job: int) -> bool:
        """Whether it is known if a job that is not begun is to be done (see `is_due`)."""
        if self.stopped or self.enough:
            return True
        return job < self.end and self._certain(job)

    def is_due(self, job: int) -> bool:
        """Whether a job that is decided is to be done; it is not where there are enough APIs without it."""
        return not self.stopped and not self.enough and job < self.end

    def _certain(self, job: int) -> bool:
        """Whether a job is needed even if all those before it come to something."""
        return job - len(self.passages) - self._failures < self.wanted

    def script(self, job: int) -> RoleCoroutine[AttemptResult] | None:
        """What a job of this generation does; None if the tree has no place for it."""
        if job < len(self.passages):
            return mine_script(self.passages[job])
        if self._generation is None:
            begin = self._begin - len(self.passages)
            self._generation = Generation(self.snapshot, begin, self.seed, self.langs)
        assignment = self._generation.assign(job - len(self.passages))
        return api_script(assignment, self._snapshot_names) if assignment else None

    def record_result(self, job: int, result: AttemptResult | None) -> None:
        """Takes the end of a job; None if its calls failed. Raises ValueError for a job of another generation."""
        if not self._settled <= job < self.end:
            raise ValueError(f"job {job} is not of this generation")
        self._ended[job] = result
        if job >= len(self.passages) and (result is None or result.value is None):
            self._failures += 1
        while self._settled in self._ended:
            self._settle(self._settled, self._ended.pop(self._settled))

    def abandon(self, job: int) -> None:
        """Goes on without a job that was begun and has no end; no further generation begins."""
        self.stopped = True
        self.record_result(job, _UNFINISHED)

    def _settle(self, job: int, result: AttemptResult | None) -> None:
        self._settled += 1
        name = self._name(job)
        if result is None:
            self._broken += 1
            self.losses.append(FailedAttempt(name, _BROKEN, "a call failed after all its retries"))
        else:
            self.counters.update(result.counters)
            if result.value is None:
                if result is not _UNFINISHED:
                    self.losses.append(FailedAttempt(name, result.reason, result.detail))
            elif isinstance(result.value, AcceptedApi):
                self._keep(name, result.value)
            else:
                passage = self.passages[job]
                self._add_nodes(passage.lang, result.value, f"document {passage.document}")
        if self._settled == self.end:
            self._next_generation()

    def _keep(self, name: str, result: AcceptedApi) -> None:
        api = result.api
        siblings = self._places[api.lang, api.place]
        parent = next((other for other in siblings if other.name in api.parents), None)
        near = near_duplicate_of(api.function, siblings, parent)
        if api.name.casefold() in self._names:
            self._drop(name, "taken", f"there is an API called {api.name} already")
            return
        if near is not None:
            self._drop(name, "near duplicate", f"{api.name} is nearly {near.name}, which is there already")
            return
        self._names.add(api.name.casefold())
        self.apis.append(api)
        siblings.append(api)
        self._add_nodes(api.lang, result.nodes, f"attempt {name}")
        new = [node for node in result.proposals if not self._is_known(api.lang, node)]
        self._add_nodes(api.lang, new, f"attempt {name}")

    def _drop(self, name: str, reason: str, detail: str) -> None:
        self.losses.append(FailedAttempt(name, reason, detail))
        self._failures += 1

    def _add_nodes(self, lang: Lang, nodes: Sequence[NodeProposal], source: str) -> None:
        self._new_nodes[lang] += [(above, name, source) for above, name in nodes]

    def _is_known(self, lang: Lang, node: NodeProposal) -> bool:
        """Whether the tree has a node nearly of that name."""
        names = [child.name for child in self.snapshot.trees[lang].children(node[0])]
        names += [name for above, name, _ in self._new_nodes[lang] if above == node[0]]
        return any(
            fuzz.ratio(node[1].casefold(), name.casefold()) >= _ALIKE_NAMES
            or jaccard(node[1], name) >= _SAME_WORDS
            for name in names
        )

    def _next_generation(self) -> None:
        if self.stopped or self._broken * 2 > self.end - self._begin:
            # Later generations would build on almost nothing.
            self.stopped = True
            return
        self.snapshot = self.next_snapshot()
        self._snapshot_names = frozenset(self._names)
        self._broken, self._begin, self._generation = 0, self.end, None
        self._new_nodes.clear()

    def next_snapshot(self) -> ApiSnapshot:
        """The trees and tools now, including those of the current generation."""
        trees = self.snapshot.trees
        grown: dict[Lang, DomainTree] = {
            lang: trees[lang].with_nodes(self._new_nodes[lang]) for lang in self.langs
        }
        return ApiSnapshot(grown, tuple(self.apis))

    def _name(self, job: int) -> str:
        if job >= len(self.passages):
            return str(job - len(self.passages))
        passage = self.passages[job]
        return f"{passage.document}, passage {passage.number}, {passage.lang}"


def generation_span(job: int, passages: int) -> tuple[int, int]:
    """The first job of the generation that a job is of, and the job after its last one."""
    begin = 0
    for size in chain([passages], GENERATION_SIZES, repeat(_LATER_SIZE)):
        if job < begin + size:
            return begin, begin + size
        begin += size
    raise AssertionError("there is always a later generation")
