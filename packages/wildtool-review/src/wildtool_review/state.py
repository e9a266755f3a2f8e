"""The state of a whole review, folded from its log: a summary of each item, rounds, people; and the queues."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from hashlib import sha256
from typing import Any, Literal, cast, get_args

from wildtool import json_codec
from wildtool.json_codec import as_list, as_object
from wildtool_data.formats.base import ReviewFormat
from wildtool_review.history import ItemHistory, describes_error, details
from wildtool_review.log import GENESIS, Entry
from wildtool_review.people import COMMAND_LINE, ROLES, Person

STATE_VERSION = 2
"""Of the snapshot; a state of another version is folded again."""
REVIEWERS_FIELD, DEFAULT_REVIEWERS = "reviewers", 2
"""Field of the entry that keeps how many people have to review each item, and their number where no set says so."""
Stage = Literal["generated", "rules passed", "judged", "in review", "approved", "rejected"]
STAGES: tuple[Stage, ...] = get_args(Stage)
Queue = Literal[
    "all", "mine", "open", "conflicts", "stale", "warnings", "graph", "unchecked", "audit", "approved"
]
QUEUES: tuple[Queue, ...] = get_args(Queue)


@dataclass(frozen=True, slots=True)
class PassSummary:
    """One review of an item."""

    round: int
    people: tuple[str, ...]
    decided: tuple[str, ...]
    """Who has decided."""
    ended: bool
    error: bool | None
    """Whether it found an error; None while it is open."""
    conflict: bool
    """Whether an adjudicator had to decide, or has to."""


@dataclass(frozen=True, slots=True)
class ItemSummary:
    """What lists and queues show of an item."""

    id: str
    last: int
    """Number of the last entry about it; the next entry names this one."""
    version: int
    digest: str
    stage: Stage
    strata: tuple[tuple[str, str], ...]
    """Type and subtype of each task."""
    domain: str
    lang: str
    confidence: float
    warnings: tuple[str, ...] | None
    """Names of the rules that found something in the current version; None if they have not run."""
    errors: int
    """Findings of rules that are no mere warnings."""
    stale: tuple[int, ...]
    """Tasks to check again."""
    conflicts: tuple[str, ...]
    passes: tuple[PassSummary, ...]
    twin: str = ""
    """What it shares with the same item in another language; empty if there is none."""

    @property
    def open(self) -> PassSummary | None:
        """The review that has not ended."""
        return self.passes[-1] if self.passes and not self.passes[-1].ended else None

    def waits_for(self, person: str) -> bool:
        """Whether it is assigned to a person who has not decided yet."""
        now = self.open
        return now is not None and person in now.people and person not in now.decided

    def is_undecided(self, person: str) -> bool:
        """Whether a person can still decide on it."""
        now = self.open
        if now is None:
            return self.stage not in ("approved", "rejected")
        return person not in now.decided and (not now.people or person in now.people)


@dataclass(frozen=True, slots=True)
class RoundState:
    """A round of review: a sample of items."""

    number: int
    seed: str
    items: tuple[str, ...]
    people: tuple[str, ...]
    pairs: tuple[tuple[str, ...], ...]
    """Who reviews together."""
    fresh: bool
    """True if all items had been covered before it."""
    opened: str
    """When."""
    closed: str = ""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which items of a queue are wanted; empty fields want all."""

    type: str = ""
    subtype: str = ""
    domain: str = ""
    rule: str = ""
    """Name of a rule that found something."""
    stage: str = ""
    assignee: str = ""
    round: int = 0
    max_confidence: float = 1.0

    def keeps(self, item: ItemSummary) -> bool:
        """Whether an item is wanted."""
        return (
            any(
                self.type in ("", kind) and self.subtype in ("", subtype)
                for kind, subtype in item.strata or [("", "")]
            )
            and self.domain in ("", item.domain)
            and (not self.rule or self.rule in (item.warnings or ()))
            and self.stage in ("", item.stage)
            and (not self.assignee or any(self.assignee in past.people for past in item.passes))
            and (not self.round or any(past.round == self.round for past in item.passes))
            and item.confidence <= self.max_confidence
        )


HistoryReader = Callable[[str], ItemHistory]
"""Gives an item with all entries about it."""


@dataclass(slots=True)
class State:
    """The state after entry `n`."""

    format: ReviewFormat
    n: int = 0
    digest: str = GENESIS
    """Of entry `n`."""
    items: dict[str, ItemSummary] = field(default_factory=dict[str, ItemSummary])
    rounds: list[RoundState] = field(default_factory=list[RoundState])
    people: dict[str, Person] = field(default_factory=dict[str, Person])
    general: int = 0
    """Number of the last entry that is about no item."""
    reviewers: int = DEFAULT_REVIEWERS
    """How many people have to review each item, as the set says."""

    def add(self, entries: Sequence[Entry], history: HistoryReader) -> None:
        """Takes the next entries of the log.

        Args: history: gives an item with all its entries, these included.
        """
        touched: dict[str, None] = {}
        for entry in entries:
            if entry.item:
                touched[entry.item] = None
            else:
                self._add_general(entry)
                self.general = entry.n
            self.n, self.digest = entry.n, entry.digest
        for item in touched:
            self.items[item] = summary(history(item))

    def queue(self, name: Queue, person: str = "", filter_: Filter | None = None) -> list[ItemSummary]:
        """The items of a queue, in order of import."""
        filter_ = filter_ or Filter()
        return [item for item in self.items.values() if _QUEUES[name](item, person) and filter_.keeps(item)]

    def twins_of(self, item: str) -> list[str]:
        """The same item in other languages."""
        twin = self.items[item].twin
        return [other.id for other in self.items.values() if twin and other.twin == twin and other.id != item]

    def role(self, name: str) -> str:
        """The role of a person; empty for who takes no part.

        Where nobody is registered, anyone is the owner. The command line always is: it has the file itself.
        """
        if not self.people or name == COMMAND_LINE:
            return "owner"
        person = self.people.get(name)
        return person.role if person and person.active else ""

    def may(self, person: str, role: str) -> bool:
        """Whether a person has a role, or one above it."""
        own = self.role(person)
        return own in ROLES and ROLES.index(own) >= ROLES.index(role)  # pyright: ignore[reportArgumentType]

    def last_of(self, item: str) -> int:
        """Number of the last entry about an item (of those about none, if it is empty); 0 if there is none."""
        if not item:
            return self.general
        return self.items[item].last if item in self.items else 0

    def dump(self) -> bytes:
        """The state as JSON below its digest, for the store; `load` reads it."""
        data = json_codec.dumps(
            {
                "version": STATE_VERSION,
                "format": self.format.name,
                "n": self.n,
                "digest": self.digest,
                "items": [_item_row(item) for item in self.items.values()],
                "rounds": [asdict(round_) for round_ in self.rounds],
                "people": [asdict(person) for person in self.people.values()],
                "general": self.general,
                "reviewers": self.reviewers,
            }
        )
        return b"\n".join((_digest(data), data))

    @classmethod
    def load(cls, format_: ReviewFormat, data: bytes) -> "State | None":
        """The state that `dump` wrote; None if it is of another version, or damaged."""
        digest, _, data = data.partition(b"\n")
        if digest != _digest(data):
            return None
        try:
            row = as_object(json_codec.loads(data))
            if (row["version"], row["format"]) != (STATE_VERSION, format_.name):
                return None
            items = {entry["id"]: _item(entry) for entry in row["items"]}
            rounds = [_round(entry) for entry in row["rounds"]]
            people = {entry["name"]: Person(**entry) for entry in row["people"]}
        except (ValueError, KeyError, TypeError):
            return None
        reviewers = row.get("reviewers", DEFAULT_REVIEWERS)
        return cls(format_, row["n"], row["digest"], items, rounds, people, row["general"], reviewers)

    def _add_general(self, entry: Entry) -> None:
        row = details(entry)
        match entry.kind:
            case "round opened":
                self.rounds.append(_round({**row, "number": entry.round, "opened": entry.when, "closed": ""}))
            case "round closed":
                self.rounds = [
                    replace(round_, closed=entry.when) if round_.number == entry.round else round_
                    for round_ in self.rounds
                ]
            case "person":
                role = row.get("role")
                if role in ROLES:
                    self.people[entry.field] = Person(entry.field, role, row.get("active") is not False)
            case "import" if entry.field == REVIEWERS_FIELD and entry.after in (1, 2):
                self.reviewers = entry.after
            case _:
                pass  # notes about the review as a whole


def fold(format_: ReviewFormat, entries: Iterable[Entry]) -> State:
    """The state after a whole log."""
    state = State(format_)
    by_item: dict[str, list[Entry]] = {}
    all_entries: list[Entry] = []
    for entry in entries:
        all_entries.append(entry)
        by_item.setdefault(entry.item, []).append(entry)
    state.add(all_entries, lambda item: ItemHistory(format_, by_item[item]))
    return state


def summary(item: ItemHistory) -> ItemSummary:
    """What lists show of an item."""
    facets = item.format.facets(item.content)
    findings = item.findings()
    errors = sum(finding.level == "error" for finding in findings or ())
    open_, outcome = item.open, item.outcome
    if item.approved:
        stage: Stage = "approved"
    elif open_ is None and outcome and outcome.after == "reject" and outcome.version == item.digest:
        stage = "rejected"
    elif item.passes:
        stage = "in review"
    else:
        stage = "generated" if findings is None or errors else "judged" if facets.judged else "rules passed"
    return ItemSummary(
        id=item.id,
        last=item.entries[-1].n,
        version=len(item.versions),
        digest=item.digest,
        stage=stage,
        strata=facets.strata,
        domain=facets.domain,
        lang=facets.lang,
        confidence=facets.confidence,
        warnings=None if findings is None else tuple(dict.fromkeys(finding.rule for finding in findings)),
        errors=errors,
        stale=tuple(sorted(item.stale)),
        conflicts=tuple(open_.conflicts()) if open_ else (),
        passes=tuple(
            PassSummary(
                past.round,
                past.people,
                tuple(sorted(past.decisions)),
                past.outcome is not None,
                describes_error(past),
                bool(past.conflicts()) or (past.outcome is not None and past.outcome.kind == "resolve"),
            )
            for past in item.passes
        ),
        twin=facets.twin,
    )


_QUEUES: Mapping[Queue, Callable[[ItemSummary, str], bool]] = {
    "all": lambda item, person: True,
    "mine": lambda item, person: item.waits_for(person),
    "open": lambda item, person: item.open is not None,
    "conflicts": lambda item, person: bool(item.conflicts),
    "stale": lambda item, person: bool(item.stale),
    "warnings": lambda item, person: bool(item.warnings),
    "graph": lambda item, person: "graph" in (item.warnings or ()) or item.confidence < 0.85,
    "unchecked": lambda item, person: item.warnings is None,
    "audit": lambda item, person: any(past.round for past in item.passes),
    "approved": lambda item, person: item.stage == "approved",
}
"""Whether an item is in a queue, by the queue's name."""


_FLAGS = ("ended", "error", "conflict")
_ITEM_FIELDS = tuple(each.name for each in fields(ItemSummary))


def _digest(data: bytes) -> bytes:
    return sha256(data).hexdigest().encode()


def _item_row(item: ItemSummary) -> dict[str, Any]:
    # `asdict` copies what is inside, too, and people wait meanwhile.
    row = {name: getattr(item, name) for name in _ITEM_FIELDS}
    return row | {"passes": [asdict(past) for past in item.passes]}


def _item(row: dict[str, Any]) -> ItemSummary:
    warnings = row["warnings"]
    lists: dict[str, Any] = {
        "strata": tuple((kind, subtype) for kind, subtype in row["strata"]),
        "warnings": None if warnings is None else tuple(warnings),
        "stale": tuple(row["stale"]),
        "conflicts": tuple(row["conflicts"]),
        "passes": tuple(
            PassSummary(
                past["round"], tuple(past["people"]), tuple(past["decided"]), *[past[name] for name in _FLAGS]
            )
            for past in row["passes"]
        ),
    }
    return ItemSummary(**(row | lists))


def _round(row: Mapping[str, Any]) -> RoundState:
    return RoundState(
        number=row["number"],
        seed=str(row.get("seed", "")),
        items=tuple(map(str, as_list(row.get("items")))),
        people=tuple(map(str, as_list(row.get("people")))),
        pairs=tuple(tuple(map(str, pair)) for pair in cast(list[list[Any]], as_list(row.get("pairs")))),
        fresh=row.get("fresh") is True,
        opened=str(row.get("opened", "")),
        closed=str(row.get("closed", "")),
    )
