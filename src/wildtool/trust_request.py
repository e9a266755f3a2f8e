"""Trust in what nobody named: a `wildtool.toml` that lies in the current folder, the job of a run in a store.

Such a text is shown in plain words before it sends a key, starts a program or writes elsewhere, and is remembered by a
hash over its bytes and what it executes, so that any change asks again.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from wildtool.errors import UsageError
from wildtool.sanitize import single_line

VARIABLE = "WILDTOOL_TRUST"
"""Environment variable with hashes that are trusted, separated by blanks or commas."""
LONGEST_EFFECT = 2_000
"""Characters of one effect in a message."""
_HASH = re.compile(r"[0-9a-f]{64}")
TrustQuestion = Callable[[str], bool]
"""Shows a statement and asks whether it is trusted."""
_questions: list[TrustQuestion] = []
"""What asks people; empty where nobody can be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustRequest:
    """What something that nobody named would do, and the hash by which it is trusted."""

    name: str
    """The file, or the address."""
    effects: tuple[str, ...]
    """What it would do beyond what needs no trust, each in words after "would"; empty if it asks for nothing."""
    digest: str
    """SHA-256 over its bytes and those of what it executes."""
    advice: str
    """What else to do where nobody can be asked, after the hash."""
    reason: str = "you did not name it"
    """Why it needs trust, in words."""

    @property
    def is_trusted(self) -> bool:
        return self.digest in _trusted_hashes()

    def statement(self, first: Iterable[str] = ()) -> str:
        """What it would do, a line each. Args: first: effects to begin with."""
        effects = dict.fromkeys(single_line(effect, LONGEST_EFFECT) for effect in (*first, *self.effects))
        return "\n".join([f"{self.name} would:", *(f"  {each}" for each in effects)])

    def __str__(self) -> str:
        if not self.effects:
            return f"{self.name} does nothing that needs trust."
        state = "trusted" if self.is_trusted else "not trusted"
        return f"{self.statement()}\n{state}, hash {self.digest}"

    def demand(self, effects: Iterable[str]) -> None:
        """Returns where it is trusted, after a question at a terminal.

        Args:
            effects: what it is about to do.

        Raises UsageError where it is not.
        """
        if self.is_trusted:
            return
        statement = self.statement(effects)
        if not _questions:
            raise UsageError(
                f"{statement}\nNothing of this was done: {self.reason}, and nobody can be asked here. Read it; if "
                f"you trust it, give its hash by --trust or {VARIABLE}: {self.digest}\n{self.advice}"
            )
        if not _questions[-1](statement):
            raise UsageError(f"{self.name} is not trusted, and nothing of this was done")
        self.remember()

    def accept(self, digest: str) -> None:
        """Remembers that it is trusted. Raises UsageError where it has another hash, and says what it would do now."""
        if digest != self.digest:
            raise UsageError(
                f"{self.statement()}\nIts hash is not the one that you gave, so it is not trusted. If it should be: "
                f"{self.digest}"
            )
        self.remember()

    def remember(self) -> None:
        """Trusts this hash from now on. Raises UsageError where that cannot be written down."""
        grant(self.digest)
        try:
            _trust_file().parent.mkdir(parents=True, exist_ok=True)
            with _trust_file().open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"{self.digest} {single_line(self.name, LONGEST_EFFECT)}\n")
        except OSError as error:
            raise UsageError(
                f"{_trust_file()}: could not be written ({error.strerror}), so the answer cannot be remembered; set "
                f"{VARIABLE}={self.digest} instead"
            ) from error


def ask_by(question: TrustQuestion) -> None:
    """From now on people are asked in this way."""
    _questions.append(question)


def grant(digest: str) -> None:
    """Trusts a hash in this process and those that it starts. Raises UsageError for a text that is no hash."""
    if not _HASH.fullmatch(digest):
        raise UsageError(
            f"{digest!r} is no hash of what is trusted: 64 digits and letters from a to f; `wildtool trust` shows it"
        )
    trusted = os.environ.get(VARIABLE, "")
    if digest not in trusted:
        os.environ[VARIABLE] = f"{trusted} {digest}".strip()


def trust_digest(content: bytes, executed: Mapping[str, bytes]) -> str:
    """The hash of something that nobody named.

    Args:
        content: its bytes.
        executed: by name the bytes of each file that it executes.
    """
    files = [[name, sha256(executed[name]).hexdigest()] for name in sorted(executed)]
    return sha256(json.dumps(["wildtool trust 1", sha256(content).hexdigest(), files]).encode()).hexdigest()


def _trusted_hashes() -> set[str]:
    hashes = set(re.split(r"[\s,]+", os.environ.get(VARIABLE, "")))
    try:
        lines = _trust_file().read_text("utf-8", "replace").splitlines()
    except OSError:
        return hashes
    return hashes | {line.partition(" ")[0] for line in lines}


def _trust_file() -> Path:
    from platformdirs import user_config_path  # loaded only if something needs trust

    return user_config_path("wildtool") / "trusted.txt"
