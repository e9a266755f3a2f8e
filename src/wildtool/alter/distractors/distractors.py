"""What `--among` takes, and the alteration that it makes: the item's own tools among distractors.

The distractors of an item are put in one seeded order, and a request holds the first of them, so that a larger one has
all tools of a smaller one. The benchmark knows no distractor: a call of it is a call of a tool that was not offered. With
a retriever the model sees only what was found for what the user said in the unit, and the gold answers call nothing else.
"""

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from wildtool.alter.base import Alteration, AlteredUnit, Exchange, mode_of, tools_of_item
from wildtool.alter.distractors.near import copies_per_tool
from wildtool.alter.distractors.pool import DISTRACTOR_KINDS, distractors, pack, pool_name, pool_of
from wildtool.alter.distractors.retrieval import (
    FIRST_PASS,
    RANKER,
    SELECTION_DIGEST,
    TOP_K,
    ranked,
    ranking_request,
    read_names,
    selection_request,
    user_texts,
)
from wildtool.alter.noise.renames import NOT_OFFERED
from wildtool.alter.noise.tools import with_calls
from wildtool.benchmark import Benchmark
from wildtool.draws import seeded_draw
from wildtool.errors import RecordError, UsageError, unknown_name
from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.shapes import call_names, tool_name
from wildtool.stats.metrics import Rate, sql_text
from wildtool.toolcall.retrieval import BM25
from wildtool.types import FieldValue, Item, Message, Request, Tool

NOT_SHOWN, UNKNOWN, SHOWN, NO_CALL = "not shown", "unknown", "own tools", "no call"
"""What a unit's calls were of, beside the kinds of distractors: a tool that the retriever left out, no tool at all, only
the item's own; or there was none."""


@dataclass(frozen=True, slots=True)
class Distractors(Alteration):
    """The tools of each item among distractors."""

    kind: ClassVar[str] = "catalogue"
    caveat: ClassVar[str] = "the tools were shown among others"
    size: int
    """Tools in all, the item's own included."""
    kinds: tuple[str, ...]
    """Kinds of distractors, taken in turn."""
    seed: int = 0
    retriever: str = ""
    """What finds the tools that a model is shown: `bm25`, `own` for the model under test itself, or the name of a model
    of embeddings; empty to show all."""
    top_k: int = TOP_K
    """Tools that it finds."""
    pool: str = ""
    """What distractors of other items are drawn from, packed; empty before `prepared`."""
    tools: tuple[Tool, ...] = field(default=(), compare=False)
    """Tools of the user's files, which `prepared` puts into the pool."""

    @classmethod
    def parse(cls, size: str, kinds: str, **settings: Any) -> Self:
        """Reads one size and `KIND,…`. Raises UsageError."""
        names = tuple(word.strip() for word in kinds.split(","))
        for name in names:
            if name not in DISTRACTOR_KINDS:
                raise UsageError(
                    unknown_name("kind of distractors", name, DISTRACTOR_KINDS, of="--among-kinds")
                )
        if len(set(names)) < len(names):
            raise UsageError("--among-kinds names a kind twice; name each once")
        return cls(
            among_sizes(size)[0], tuple(kind for kind in DISTRACTOR_KINDS if kind in names), **settings
        )

    @classmethod
    def recorded(cls, identity: Mapping[str, Any]) -> Self:
        its = as_object(identity["catalogue"])
        try:
            retriever, pool = as_object(its.get("retriever")), str(its["pool"])
            settings = (
                {"retriever": str(retriever["name"]), "top_k": int(retriever["top_k"])} if retriever else {}
            )
            pool_of(pool)
            kinds = ",".join(map(str, as_list(its["kinds"])))
            return cls.parse(str(its["size"]), kinds, seed=int(its["seed"]), pool=pool, **settings)
        except (TypeError, KeyError, ValueError, AttributeError, UsageError) as error:
            raise RecordError(
                f"run.json: identity.catalogue is damaged ({error}); restore it from a copy"
            ) from error

    @property
    def columns(self) -> Mapping[str, str]:
        counts = {"catalogue_needed": "INTEGER", "catalogue_found": "INTEGER"} if self.retriever else {}
        return {"catalogue_called": "VARCHAR", **counts}

    @property
    def label(self) -> str:
        parts = [f"of {self.size} tools ({'+'.join(self.kinds)})"]
        parts += [f"{self.retriever} finds {self.top_k}"] if self.retriever else []
        parts += [f"seed {self.seed}"] if self.seed else []
        pool = "" if self.kinds == ("near",) else pool_name(self.pool)
        return ", ".join(filter(None, [*parts, pool]))

    @property
    def roles(self) -> Mapping[str, str]:
        return {RANKER: self.retriever} if self.retriever not in ("", BM25, FIRST_PASS) else {}

    @property
    def folder_parts(self) -> Sequence[str]:
        parts = [f"catalogue-{self.size}", *(self.kinds if self.kinds != ("random",) else ())]
        parts += [self.retriever.replace("/", "-"), str(self.top_k)] if self.retriever else []
        return [*parts, *([f"seed-{self.seed}"] if self.seed else [])]

    @property
    def options(self) -> Sequence[str]:
        """Without the file or server of `--among-tools`, which the record does not name."""
        words = ["--among", str(self.size), "--among-kinds", ",".join(self.kinds)]
        words += ["--among-seed", str(self.seed)] if self.seed else []
        found = ["--among-retriever", self.retriever, "--among-top-k", str(self.top_k)]
        return [*words, *(found if self.retriever else [])]

    def identity(self) -> Mapping[str, Any]:
        search: dict[str, Any] = {"name": self.retriever, "top_k": self.top_k} if self.retriever else {}
        if self.retriever == FIRST_PASS:
            search["prompt"] = SELECTION_DIGEST
        settings = {"size": self.size, "kinds": list(self.kinds), "seed": self.seed}
        retriever = {"retriever": search} if search else {}
        return {"catalogue": {**settings, **retriever, "pool": self.pool}}

    def unit(self, item: Item, unit: str) -> "DistractorUnit":
        return DistractorUnit(self, item)

    def prepared(self, benchmark: Benchmark, items: Iterable[Item], profile: str) -> Self:
        rules = benchmark.rules(profile)
        rows: list[tuple[str, Tool]] = [("", tool) for tool in self.tools]
        if not rows and self.kinds != ("near",):
            # One of each name, so that a large set takes little memory.
            unique = {
                (item.lang, tool_name(tool)): tool for item in items for tool in tools_of_item(rules, item)
            }
            rows = [(lang, tool) for (lang, _), tool in unique.items()]
        return replace(self, pool=pack(rows), tools=())

    def check(self, benchmark: Benchmark, items: Iterable[Item], profile: str) -> str:
        rules = benchmark.rules(profile)
        most, fewest = (0, ""), (self.size, "")
        for item in items:
            own = tools_of_item(rules, item)
            most = max(most, (len(own), item.id))
            if own:
                count = len(own) + len(self.distractors(item, own))
                fewest = min(fewest, (count, item.id))
        if not most[0]:
            raise UsageError(
                f"--among adds to native tools, and {benchmark.name} sends none in mode {mode_of(benchmark)}; "
                "choose another mode, or leave --among out"
            )
        if most[0] > self.size:
            raise UsageError(
                f"--among {self.size} is smaller than the {most[0]} tools that item {most[1]} has itself; "
                f"give {most[0]} or more, or other items"
            )
        if fewest[0] < self.size:
            unused = [kind for kind in DISTRACTOR_KINDS if kind not in self.kinds]
            raise UsageError(
                f"--among {self.size} is more than there are tools: with distractors of kind "
                f"{' and '.join(self.kinds)} item {fewest[1]} has {fewest[0]:,}. Give {fewest[0]} or fewer, "
                f"{_more_kinds(self.kinds, unused) if unused else ''}or name more tools with --among-tools FILE, as "
                "`wildtool generate tools` writes them"
            )
        return ""

    def distractors(self, item: Item, own: Sequence[Tool]) -> Sequence[tuple[str, Tool]]:
        """The item's distractors with their kinds, in order."""
        seed, count = f"{self.seed} {item.id}", max(0, self.size - len(own))
        return distractors(self.pool, self.kinds, seed, item.lang, own, count)

    def rates(self, verdicts: Any) -> Sequence[Rate]:
        ended = "catalogue_called IS NOT NULL"

        def share(*outcomes: str) -> str:
            return f"CAST(catalogue_called IN ({', '.join(map(sql_text, outcomes))}) AS INTEGER)"

        name = "called a distractor"
        rates = [Rate(Distractors.kind, name, ended, share(*self.kinds), headline=True, better="less")]
        if len(self.kinds) > 1:
            rates += [
                Rate(Distractors.kind, f"{name}: {kind}", ended, share(kind), better="less")
                for kind in self.kinds
            ]
        if self.retriever:
            needed = "catalogue_needed > 0"
            complete = f"{needed} AND catalogue_found = catalogue_needed"
            recall = ("retriever recall", needed, "catalogue_found", "catalogue_needed")
            rates += [
                Rate(Distractors.kind, *recall, headline=True),
                Rate(Distractors.kind, "correct where all needed tools were shown", complete, headline=True),
                Rate(
                    Distractors.kind,
                    f"called a tool that was {NOT_SHOWN}",
                    ended,
                    share(NOT_SHOWN),
                    better="less",
                ),
            ]
        return rates


class DistractorUnit(AlteredUnit):
    """A unit whose model sees its tools among others."""

    def __init__(self, distractors: Distractors, item: Item) -> None:
        self._distractors, self._item = distractors, item
        self._drawn: Sequence[tuple[str, Tool]] | None = None
        """Its distractors, drawn for the tools of its first request."""
        self._last: tuple[Sequence[Tool], list[Tool]] = [], []
        """The benchmark's own tools of the last request, and all tools: most requests have the same."""
        self._found: dict[str, list[str]] = {}
        """By text of the user the names that the retriever found."""
        self._texts_before: int | None = None
        """Texts of the user before the one that the unit begins with."""
        self._needed = self._shown = 0
        """Tools that gold answers call, and those of them that the model was shown."""
        self._called = NO_CALL

    def exchange(self, request: Request) -> Exchange:
        if not request.tools:
            return (yield request)
        tools, visible = self._tools(request.tools), None
        if self._distractors.retriever:
            needed = tools_called(request.gold("parallel")) if request.gold else []
            visible = yield from self._retrieved(request, tools, needed)
            tools = [tool for tool in tools if tool_name(tool) in visible]
            self._needed += len(needed)
            self._shown += sum(name in visible for name in needed)

        def gold(style: str) -> Message:
            assert request.gold is not None
            return _without(request.gold(style), visible)

        messages = [with_calls(message, _as_called) for message in request.messages]
        reply = yield replace(request, tools=tools, messages=messages, gold=request.gold and gold)
        self._note(reply, request.tools, visible)
        own = map(tool_name, request.tools)
        hidden = set[str]() if visible is None else {*own}.difference(visible)

        def read(name: str, arguments: Any) -> tuple[str, Any]:
            return name + NOT_OFFERED if name in hidden else name, arguments

        return with_calls(reply, read)

    def fields(self, *, ended: bool) -> Mapping[str, FieldValue]:
        """What its calls were of, and what the retriever found; nothing of a unit that did not end."""
        if not ended:
            return {}
        cells = {
            "catalogue_called": self._called,
            "catalogue_needed": self._needed,
            "catalogue_found": self._shown,
        }
        return {name: cells[name] for name in self._distractors.columns}

    def _tools(self, own: Sequence[Tool]) -> list[Tool]:
        """All tools, the item's tools at seeded places in their own order."""
        before, shown = self._last
        if list(own) == before:
            return list(shown)
        if self._drawn is None:
            self._drawn = self._distractors.distractors(self._item, own)
        names, places = set(map(tool_name, own)), range(len(own) + 1)
        slots: list[list[Tool]] = [[] for _ in places]
        seed = f"{self._distractors.seed} {self._item.id} place"
        for _, tool in self._drawn[: max(0, self._distractors.size - len(own))]:
            if tool_name(tool) not in names:
                slots[seeded_draw(f"{seed} {tool_name(tool)}").choice(places)].append(tool)
        shown = [each for slot, tool in zip(slots, own, strict=False) for each in (*slot, tool)] + slots[-1]
        self._last = list(own), shown
        return list(shown)

    def _retrieved(
        self, request: Request, tools: Sequence[Tool], needed: Sequence[str]
    ) -> Generator[Request, Message, list[str]]:
        """The names found for what the user said in this unit, which are sought once."""
        texts, retriever, top_k = (
            user_texts(request.messages),
            self._distractors.retriever,
            self._distractors.top_k,
        )
        if self._texts_before is None:
            self._texts_before = max(0, len(texts) - 1)
        query = "\n".join(texts[self._texts_before :])
        if query not in self._found:
            offered = [tool_name(tool) for tool in tools]
            # What the gold answers of later steps need is among the item's own tools.
            gold = [
                *needed,
                *(name for tool in request.tools if (name := tool_name(tool)) and name not in needed),
            ]
            if retriever == BM25:
                names = ranked(tools, query, top_k)
            elif retriever == FIRST_PASS:
                names = read_names((yield selection_request(request, tools, top_k, gold[:top_k])), offered)
            else:
                names = read_names((yield ranking_request(query, tools, gold[:top_k])), offered)
            self._found[query] = names[:top_k]
        return self._found[query]

    def _note(self, reply: Message, own: Sequence[Tool], visible: Sequence[str] | None) -> None:
        """Keeps what a reply called: a distractor counts more than a tool that was not shown, and that more than none."""
        kinds = {tool_name(tool): kind for kind, tool in self._drawn or ()}
        kinds |= dict.fromkeys(map(tool_name, own), SHOWN)
        if visible is not None:
            kinds |= {name: NOT_SHOWN for name in kinds if name not in visible}
        order = (*DISTRACTOR_KINDS, NOT_SHOWN, UNKNOWN, SHOWN, NO_CALL)
        outcomes = [self._called, *(kinds.get(name, UNKNOWN) for name in tools_called(reply))]
        self._called = min(outcomes, key=order.index)


def among_sizes(text: str) -> list[int]:
    """Reads `N,…`, in rising order. Raises UsageError."""
    sizes: list[int] = []
    for word in text.split(","):
        if not word.strip().isascii() or not word.strip().isdigit() or not int(word) or len(word) > 7:
            raise UsageError(
                f"--among {word.strip() or 'is empty'}: give numbers of tools, such as 10,50,200"
            )
        sizes.append(int(word))
    if len(set(sizes)) < len(sizes):
        raise UsageError("--among names a size twice; name each once")
    return sorted(sizes)


def _more_kinds(kinds: Sequence[str], unused: Sequence[str]) -> str:
    return (
        f"add kinds (--among-kinds {','.join([*kinds, *unused])}; near gives up to {copies_per_tool()} for each own "
        "tool), "
    )


def tools_called(message: Message) -> list[str]:
    """The names of the tools that a message calls, each once."""
    return list(dict.fromkeys(filter(None, call_names(message))))


def _without(message: Message, visible: Sequence[str] | None) -> Message:
    """A gold answer without the calls of tools that are not shown; all calls where everything is."""
    calls = message.get("tool_calls")
    if visible is None or not calls:
        return message
    calls = [call for call in as_objects(calls) if tool_name(call) in visible]
    rest = {key: value for key, value in message.items() if key != "tool_calls"}
    return {**rest, "tool_calls": calls} if calls else {**rest, "content": rest.get("content") or ""}


def _as_called(name: str, arguments: Any) -> tuple[str, Any]:
    """A call of the history as the model made it."""
    return name.removesuffix(NOT_OFFERED), arguments
