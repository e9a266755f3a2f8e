"""What real users give to the making of sessions: scenarios in words, and conversations as examples.

Of examples the user's role is shown openings, histories with their continuation, and how such users write; personal
details are replaced before anything is shown. What it writes is held against them, so that nothing is copied.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from rapidfuzz import fuzz, process

from wildtool.data.files import read_json, read_text
from wildtool.draws import seeded_draw
from wildtool.episode import written_text
from wildtool.errors import DataError
from wildtool.findings import Finding, fault
from wildtool.json_codec import as_list
from wildtool.own_cases.case_files import checked_cases, is_case_file
from wildtool.sanitize import truncate_words
from wildtool.toolcall.text.similarity import fold_text
from wildtool.training.tokens import SHINGLE, sequences, word_tokens
from wildtool.types import Message, Tool
from wildtool_data.conversations.files import conversations_in
from wildtool_data.conversations.personal import Redactor
from wildtool_data.conversations.reading import stop
from wildtool_data.make.core.maker import file_digests
from wildtool_data.make.core.plan import Lang, SessionPlan

MAX_EXAMPLE_OVERLAP = 0.3
"""Share of the 5-word sequences of a message that may occur in the examples."""
MAX_EXAMPLE_LIKENESS = 80
"""Similarity (0 to 100) of a message to one of the examples; above it, only single words and values were changed."""
SHOWN_OPENINGS = 3
"""Openings that are shown with each first task."""
_SHOWN_CHARACTERS = 800
"""Of a message at most."""
_SHOWN_HISTORY = 6
"""Newest messages of a history."""
_SHORT_WORDS = 6
_HAN = re.compile("[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class ExampleConversation:
    """A conversation of a real user, without tools and calls."""

    messages: tuple[tuple[str, str], ...]
    """Who speaks (`user` or `assistant`), and what is said."""

    @property
    def user_texts(self) -> list[str]:
        """What the user says, in order."""
        return [text for speaker, text in self.messages if speaker == "user"]

    @property
    def lang(self) -> Lang:
        """Its language, as far as sessions are made in it."""
        return "zh" if _HAN.search("".join(self.user_texts)) else "en"

    def continuations(self) -> Iterator[dict[str, Any]]:
        """Each later message of the user, with what was said before it."""
        for place, (speaker, text) in enumerate(self.messages):
            before = self.messages[:place]
            if speaker == "user" and any(said_by == "user" for said_by, _ in before):
                history = [{said_by: _cut(said)} for said_by, said in before[-_SHOWN_HISTORY:]]
                yield {"history": history, "continuation": _cut(text)}


@dataclass(frozen=True, slots=True)
class _Shown:
    """What the examples of one language give."""

    openings: tuple[str, ...] = ()
    continuations: tuple[Mapping[str, Any], ...] = ()
    patterns: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class UserMaterial:
    """Scenarios and examples of the user's own."""

    scenarios: tuple[str, ...] = ()
    """In the words of their file, or the openings of the examples."""
    examples: tuple[ExampleConversation, ...] = ()
    """With stand-ins for personal details."""
    digest: str = ""
    """SHA-256 of the file of the examples; empty without one."""
    by_lang: Mapping[Lang, _Shown] = field(default_factory=dict[Lang, _Shown])
    known: frozenset[tuple[str, ...]] = frozenset()
    """The 5-word sequences of the examples."""
    whole: frozenset[tuple[str, ...]] = frozenset()
    """The words of each message of the examples."""
    folded: tuple[str, ...] = ()
    """Each message of the examples in small letters and single spaces."""
    notes: tuple[str, ...] = ()
    """What was left out of the file, and how many personal details of each kind were replaced, for people."""

    def shown(self, plan: SessionPlan, t: int) -> tuple[str, dict[str, Any]]:
        """The block of the instruction about the examples, and what is shown of them with task `t`; empty without any.

        Each example comes in its turn, so that all are shown equally often.
        """
        examples = self.by_lang.get(plan.lang, _NOTHING_SHOWN)
        patterns = {"patterns": examples.patterns}
        if t == 0 and examples.openings:
            first = plan.rank * SHOWN_OPENINGS
            count = min(SHOWN_OPENINGS, len(examples.openings))
            turn = [examples.openings[(first + k) % len(examples.openings)] for k in range(count)]
            return "examples", {"examples": turn, **patterns}
        if t and examples.continuations:
            place = plan.rank * (len(plan.tasks) - 1) + t - 1
            example = examples.continuations[place % len(examples.continuations)]
            return "continued examples", {"examples": [example], **patterns}
        return "", {}

    def lines(self, langs: Iterable[Lang]) -> list[str]:
        """What was read, for people. Args: langs: of the sessions."""
        lines = [f"scenarios: {len(self.scenarios)}"] if self.scenarios else []
        if self.examples:
            messages = sum(len(each.user_texts) for each in self.examples)
            lines.append(f"examples: {len(self.examples)} conversations, {messages} messages of users")
            lines += self.notes
            lines += [
                f"no example is in the language {lang}: its sessions are shown none"
                for lang in langs
                if lang not in self.by_lang
            ]
        return lines

    def overlap(self, text: str) -> float:
        """Share of the 5-word sequences of a text that the examples have, from 0 to 1; of a shorter text 1 if it is
        one of their messages, else 0. In Chinese a character is a word."""
        words = tuple(word_tokens(text))
        if len(words) < SHINGLE:
            return float(words in self.whole)
        own = set(sequences(words, SHINGLE))
        return len(own & self.known) / len(own)

    def copy_faults(self, text: str) -> Iterator[Finding]:
        """What is wrong with a text of a user that copies the examples."""
        if not self.examples:
            return
        excerpt = repr(truncate_words(text, 80))
        share = self.overlap(text)
        if share > MAX_EXAMPLE_OVERLAP:
            yield fault(
                "C6", f"{excerpt} has {share:.0%} of its wording from the examples; use your own words."
            )
        elif self.is_varied_example(text):
            yield fault(
                "C6", f"{excerpt} is one of the examples with other words in places; use your own words."
            )

    def is_varied_example(self, text: str) -> bool:
        """Whether a text of five words or more is a message of the examples with small changes."""
        if len(word_tokens(text)) < SHINGLE:
            return False
        found = process.extractOne(
            fold_text(text), self.folded, scorer=fuzz.ratio, score_cutoff=MAX_EXAMPLE_LIKENESS, processor=None
        )
        return found is not None

    def overlap_with(self, texts: Iterable[str]) -> dict[str, Any]:
        """What provenance says of the examples. Args: texts: all that users say in a session."""
        return {
            "sha256": self.digest,
            "conversations": len(self.examples),
            "overlap": round(max(map(self.overlap, texts), default=0.0), 4),
            "bound": MAX_EXAMPLE_OVERLAP,
        }


_NOTHING_SHOWN = _Shown()
NO_MATERIAL = UserMaterial()


def read_material(examples: Path | None, scenarios: Path | None, seed: str) -> UserMaterial:
    """The material of two files.

    Args:
        examples: conversations of any shape, traces or own cases.
        scenarios: one a line, or a list in JSON; the openings of the examples without it.
        seed: of the order in which examples take their turn, and of the stand-ins.

    Raises DataError for a file that cannot be read, or that holds nothing of the kind.
    """
    given = _read_scenarios(scenarios) if scenarios else ()
    if examples is None:
        return UserMaterial(given)
    redactor = Redactor(seed)
    notes: list[str] = []
    found = [_conversation(redactor.conversation(*each)) for each in _conversations(examples, notes)]
    with_users = [each for each in found if each.user_texts]
    if not with_users:
        raise DataError(f"{examples}: no conversation with a message of a user is in it")
    kept = list(dict.fromkeys(with_users))
    for reason, count in (
        ("the user says nothing in it", len(found) - len(with_users)),
        ("occurs twice", len(with_users) - len(kept)),
    ):
        notes += [f"left out: {reason}: {count}"] if count else []
    ordered = tuple(seeded_draw(f"{seed}/examples").sample(kept, len(kept)))
    langs: dict[Lang, None] = dict.fromkeys(each.lang for each in ordered)
    texts = [text for each in ordered for _, text in each.messages]
    words = [tuple(word_tokens(text)) for text in texts]
    return UserMaterial(
        scenarios=given or tuple(_cut(each.user_texts[0]) for each in ordered),
        examples=ordered,
        digest=file_digests([examples])[0],
        by_lang={lang: _shown([each for each in ordered if each.lang == lang]) for lang in langs},
        known=frozenset(sequence for row in words for sequence in sequences(row, SHINGLE)),
        whole=frozenset(words),
        folded=tuple(dict.fromkeys(map(fold_text, texts))),
        notes=(*notes, *redactor.lines()),
    )


def _read_scenarios(path: Path) -> tuple[str, ...]:
    """One a line, or a JSON list of texts. Raises DataError."""
    if path.suffix.casefold() == ".json":
        rows = as_list(read_json(path))
        wrong = next(
            (place for place, row in enumerate(rows) if not isinstance(row, str) or not row.strip()), None
        )
        if wrong is not None:
            raise DataError(f"{path}: entry {wrong + 1} is no text; give a list of scenarios in words")
        found = [str(row).strip() for row in rows]
    else:
        found = [line.strip() for line in read_text(path).splitlines() if line.strip()]
        if found and found[0].startswith(("{", "[")):
            raise DataError(f"{path}: looks like JSON; give a list of texts in a file that ends in .json")
    if not found:
        raise DataError(f"{path}: holds no scenario; give one a line, or a JSON list of texts")
    return tuple(dict.fromkeys(found))


def _conversations(path: Path, notes: list[str]) -> Iterator[tuple[Sequence[Message], Sequence[Tool]]]:
    """Messages and tools of each conversation of a file; of a case those up to its last request.

    Args: notes: gets what was left out of the file.
    """
    if path.is_file() and is_case_file(path):
        for case in checked_cases(path):
            unit = max(case.units.values(), key=lambda unit: len(unit.messages))
            yield unit.messages, unit.tools
        return
    lost = Counter[str]()
    yield from conversations_in([path], None, lost, stop, notes.extend)
    notes += [f"not kept: {name}: {number}" for name, number in lost.most_common()]


def _conversation(messages: Iterable[Message]) -> ExampleConversation:
    said: list[tuple[str, str]] = []
    for message in messages:
        text = (written_text(message) or "").strip()
        if message.get("role") in ("user", "assistant") and text:
            said.append((str(message["role"]), text))
    return ExampleConversation(tuple(said))


def _shown(examples: Sequence[ExampleConversation]) -> _Shown:
    return _Shown(
        tuple(_cut(each.user_texts[0]) for each in examples),
        tuple(continuation for each in examples for continuation in each.continuations()),
        behaviour_patterns([each.user_texts for each in examples]),
    )


def behaviour_patterns(conversations: Sequence[Sequence[str]]) -> dict[str, Any]:
    """How users write, measured. Args: conversations: the messages of each user."""
    texts = [text for each in conversations for text in each]
    later = [text for each in conversations for text in each[1:]]
    words = sorted(len(word_tokens(text)) for text in texts)
    tenth = len(words) // 10
    patterns: dict[str, Any] = {
        "words in the shortest tenth of messages": words[tenth],
        "words in half of the messages, at most": round(median(words)),
        "words in the longest tenth of messages": words[-1 - tenth],
        "share of questions": _share(texts, lambda text: text.rstrip().endswith(("?", "？"))),
    }
    if later:
        patterns[f"share of later messages under {_SHORT_WORDS} words"] = _share(
            later, lambda text: len(word_tokens(text)) < _SHORT_WORDS
        )
    return patterns


def _share(texts: Sequence[str], holds: Callable[[str], bool]) -> float:
    return round(sum(map(holds, texts)) / len(texts), 2)


def _cut(text: str) -> str:
    return truncate_words(text, _SHOWN_CHARACTERS)
