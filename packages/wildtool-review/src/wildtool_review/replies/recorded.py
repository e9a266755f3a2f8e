"""Recorded runs that are open beside a review: what each model was asked and answered."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wildtool.alter.variant import Variant
from wildtool.benchmark import Rules
from wildtool.engine.plan import check_profile
from wildtool.engine.record.format import Closing, following_hash, request_hashes
from wildtool.engine.record.reader import LoggedReply, LogReader, transcripts
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.registry import as_recorded, load_benchmark, played_benchmark
from wildtool.engine.score.results import run_folders
from wildtool.engine.versions import default_profile, names_of, played_profile
from wildtool.errors import DataError, UsageError
from wildtool.json_codec import dumps
from wildtool.temporary import temporary_folder
from wildtool.types import Episode, Item, Message, Request, Source, Tool, Transcript
from wildtool_data.formats.base import ReviewFormat

_KEPT_ITEMS = 64
"""Items of which the replies are kept in memory."""
_KEPT_VERSIONS = 256
"""Versions of items that are kept as they are played."""

_NOT_SHOWN = frozenset({"models", "data_sha256", "seed", "split"})
"""Settings in a run's identity that do not change what a model is shown of an item."""


@dataclass(frozen=True, slots=True)
class OpenRun:
    """One recorded run."""

    folder: Path
    model: str
    profile: str
    """The rules it is judged by."""
    variant: Variant
    """The benchmark as it was run."""
    shown: str
    """Equal for runs that show an item alike: same rules, mode, prompts, noise, language."""
    lang: str | None
    reader: LogReader
    repeats: int
    silent_after: bool
    """Whether the model counts as answering nothing past the end of its replies."""

    @property
    def name(self) -> str:
        """Name of its folder."""
        return self.folder.resolve().name

    @property
    def rules(self) -> Rules:
        """The benchmark's own rules of its profile, for restored replies."""
        return self.variant.benchmark.rules(self.profile)


@dataclass(frozen=True, slots=True)
class UnitReplies:
    """What was recorded of one unit."""

    transcript: Transcript
    requests: tuple[str | None, ...]
    """For each reply the hash of its request; None if the record does not know it."""


@dataclass(frozen=True, slots=True)
class RunReplies:
    """What one run recorded of one item and repeat."""

    run: OpenRun
    repeat: int
    units: dict[str, UnitReplies]


class OpenRuns(Closing):
    """Runs beside a review, open for reading. A context manager."""

    def __init__(self, format_: ReviewFormat, runs: Sequence[OpenRun]) -> None:
        self.runs = runs
        self.format = format_
        self._replies: OrderedDict[str, list[RunReplies]] = OrderedDict()
        self._items: OrderedDict[tuple[str, str], Item | None] = OrderedDict()

    @classmethod
    def open(cls, format_: ReviewFormat, paths: Iterable[Path], profile: str | None = None) -> "OpenRuns":
        """Opens all runs at or below the paths.

        Args:
            format_: of the set under review.
            profile: rules to judge by; None for those of each run.

        Raises RecordError if there is none or it cannot be read, UsageError if one is of another benchmark.
        """
        folders = dict.fromkeys(folder for path in paths for folder in run_folders(path))
        opened: list[OpenRun] = []
        try:
            for folder in folders:
                opened.append(_open_run(format_, folder, profile))
        except BaseException:
            for run in opened:
                run.reader.close()
            raise
        return cls(format_, opened)

    @property
    def models(self) -> list[str]:
        """The models, each once."""
        return list(dict.fromkeys(run.model for run in self.runs))

    def close(self) -> None:
        for run in self.runs:
            run.reader.close()

    def replies(self, item: str) -> list[RunReplies]:
        """What the runs recorded of an item; runs without any reply to it are left out. Raises RecordError."""
        if item not in self._replies:
            self._replies[item] = list(self._read(item))
            if len(self._replies) > _KEPT_ITEMS:
                self._replies.popitem(last=False)
        self._replies.move_to_end(item)
        return self._replies[item]

    def played(self, run: OpenRun, digest: str, content: Any) -> Item | None:
        """A version of an item as a run plays it; None if the benchmark cannot read it.

        Args:
            digest: of the content.
        """
        key = run.shown, digest
        if key not in self._items:
            self._items[key] = self._load(run, content)
            if len(self._items) > _KEPT_VERSIONS:
                self._items.popitem(last=False)
        self._items.move_to_end(key)
        return self._items[key]

    def _read(self, item: str) -> Iterator[RunReplies]:
        for run in self.runs:
            for repeat in range(run.repeats):
                log = run.reader.log(item, repeat)
                units = {
                    unit: UnitReplies(transcript, _requests(log[unit], len(transcript.replies)))
                    for unit, transcript in transcripts(log, scripted=run.silent_after).items()
                }
                if units:
                    yield RunReplies(run, repeat, units)

    def _load(self, run: OpenRun, content: Any) -> Item | None:
        with temporary_folder() as folder:
            place = Path(folder, self.format.file_name)
            try:
                self.format.write([content], place)
                source = Source(self.format.name, place, "")
                return next(iter(run.variant.benchmark.load(source, lang=run.lang)), None)
            except (DataError, LookupError, TypeError, ValueError, AttributeError, RecursionError):
                # An item in the middle of an edit may have any form; the rules say what is wrong with it.
                return None


def _requests(steps: dict[int, Any], count: int) -> tuple[str | None, ...]:
    return tuple(s.request if isinstance(s := steps[n], LoggedReply) else None for n in range(count))


def _open_run(format_: ReviewFormat, folder: Path, profile: str | None) -> OpenRun:
    run = read_run(folder)
    identity = run["identity"]
    benchmark = played_benchmark(folder, run)
    if not isinstance(benchmark, type(load_benchmark(format_.name))):
        raise UsageError(f"{folder} is a run of {benchmark.name}, and this set is of {format_.name}")
    rules = profile or played_profile(benchmark, identity)
    if rules is None:
        names = names_of(benchmark, identity)
        rules = default_profile(benchmark, names.now(run["data"]["name"]), names)
    check_profile(benchmark, rules)
    # Everything else that a run's identity names may change what a model is shown.
    visible = {key: value for key, value in identity.items() if key not in _NOT_SHOWN} | {"profile": rules}
    return OpenRun(
        folder=folder,
        model=identity["models"]["agent"]["name"],
        profile=rules,
        variant=as_recorded(benchmark, identity),
        shown=dumps(visible).decode(),
        lang=identity["lang"],
        reader=LogReader(folder),
        repeats=run["scope"]["repeats"],
        silent_after=identity.get("silent_after", False),
    )


@dataclass(frozen=True, slots=True)
class NamedRequest:
    """A request with its hash, from which the hashes of longer ones follow."""

    tools: Sequence[Tool]
    messages: Sequence[Message]
    name: str


def with_hash(request: Request, before: NamedRequest | None) -> NamedRequest:
    """A request with its hash.

    Args:
        before: one that it may continue, so that only its new messages have to be hashed.
    """
    if before is not None:
        length = len(before.messages)
        if request.tools == before.tools and list(request.messages[:length]) == list(before.messages):
            name = before.name
            for message in request.messages[length:]:
                name = following_hash(name, message)
            return NamedRequest(request.tools, request.messages, name)
    return NamedRequest(request.tools, request.messages, request_hashes(request)[-1])


def requests_of(
    episode: Episode, transcript: Transcript, first: NamedRequest | None = None
) -> Iterator[NamedRequest]:
    """The requests of an episode that a transcript answers, each given before the episode takes its reply.

    Args:
        first: the first request, if it is known.
    """
    last = first
    for reply in transcript.replies:
        request = None if episode.done else episode.request()
        if request is None:
            return
        last = with_hash(request, last)
        yield last
        episode.advance(reply.message)
