"""Whether a pinned repository has newer commits, as its forge says; asked only where a user wants to know.

The public interface of GitHub needs no key. It answers 60 questions an hour.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any, cast

from wildtool.errors import DataError
from wildtool.types import Upstream

# Network modules are imported only to ask.

FORGE = "https://api.github.com"
"""Where public repositories tell their commits; `--mirror` selects another address."""
FORGE_TIMEOUT_S = 30
MOST_COMMITS = 100
"""Commits that are asked for at once, the newest; no forge gives more."""
MAX_ANSWER_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit as the forge tells it."""

    id: str
    """40 hexadecimal digits."""
    date: str
    """Its day, such as 2025-10-29."""
    subject: str
    """The first line of its message, as its author wrote it."""


def newer_commits(pinned: Upstream, forge: str | None = None) -> list[Commit]:
    """The commits that a repository has after the pinned one in the folder that matters, the newest first; at most
    `MOST_COMMITS`.

    Args:
        forge: address that is asked in place of GitHub's.

    Raises DataError naming the address where it cannot be asked, or does not answer with commits.
    """
    url = _question(pinned, forge)
    commits = [_commit(entry, url) for entry in _listed(_answer(url), url)]
    ids = [commit.id for commit in commits]
    if pinned.commit in ids:
        return commits[: ids.index(pinned.commit)]
    # The pinned commit touched nothing in the folder, or is too old for one answer; so days decide.
    if not pinned.date:
        last = f"; the last is {commits[0].id[:7]} of {commits[0].date}" if commits else ""
        raise DataError(
            f"{url}: {pinned.commit[:7]} is not among the last {len(commits)} commits, and its day is not known here, so "
            f"nothing tells which are newer{last}"
        )
    return [commit for commit in commits if commit.date > pinned.date]


def news_of(pinned: Upstream, forge: str | None = None) -> str:
    """The same in words. Errors as of `newer_commits`."""
    commits = newer_commits(pinned, forge)
    if not commits:
        return "no newer commits"
    last, count = commits[0], len(commits)
    how_many = (
        f"{count} newer commit{'s' if count > 1 else ''}"
        if count < MOST_COMMITS
        else f"{count} newer commits or more"
    )
    return f"{how_many}, the last {last.id[:7]} of {last.date}: {last.subject}"


def _question(pinned: Upstream, forge: str | None) -> str:
    from urllib.parse import urlencode

    query = {"per_page": str(MOST_COMMITS)}
    query |= {"path": pinned.path} if pinned.path else {}
    query |= {"since": f"{pinned.date}T00:00:00Z"} if pinned.date else {}
    return f"{(forge or FORGE).rstrip('/')}/repos/{pinned.repository}/commits?{urlencode(query)}"


def _answer(url: str) -> bytes:
    import urllib.error
    import urllib.request
    from http.client import HTTPException

    if not url.lower().startswith(("http://", "https://")):
        raise DataError(f"{url}: not an http:// or https:// address; --mirror names another")
    hint = "check the network, or name another address with --mirror"
    request = urllib.request.Request(url, headers={"Accept": "application/vnd.github+json"})
    try:
        with urllib.request.urlopen(request, timeout=FORGE_TIMEOUT_S) as response:
            return response.read(MAX_ANSWER_BYTES)
    except urllib.error.HTTPError as error:
        limit = "; too many questions in an hour, try later" if error.code in (403, 429) else f"; {hint}"
        raise DataError(f"{url}: the server answered {error.code} {error.reason}{limit}") from error
    except (OSError, HTTPException, ValueError) as error:
        raise DataError(f"{url}: {getattr(error, 'reason', None) or error}; {hint}") from error


def _listed(answer: bytes, url: str) -> list[Any]:
    try:
        entries = json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{url}: the answer is no JSON ({error}); --mirror names another address") from error
    if not isinstance(entries, list):
        raise DataError(f"{url}: expected a list of commits; --mirror names another address")
    return cast(list[Any], entries)


def _commit(entry: Any, url: str) -> Commit:
    try:
        details = entry["commit"]
        day = date.fromisoformat(details["committer"]["date"][:10]).isoformat()
        return Commit(str(entry["sha"]), day, details["message"].strip().partition("\n")[0])
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise DataError(f"{url}: a commit of the answer lacks its id, day or message ({error})") from error


def sources_of(follows: Iterable[Upstream], data: Upstream | None) -> list[Upstream]:
    """What a benchmark is pinned to, each repository once, at the newest of its commits whose day is known.

    Args:
        follows: the evaluators of its profiles.
        data: where its data come from.
    """
    pins: dict[str, Upstream] = {}
    for pin in (*follows, *([data] if data else [])):
        known = pins.setdefault(pin.repository, pin)
        if pin.date > known.date:
            pins[pin.repository] = pin
    return list(pins.values())
