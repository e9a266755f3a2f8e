"""What servers of pages have in common: files, one thread for all work, and how errors are answered."""

from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

from aiohttp import web

from wildtool import json_codec
from wildtool.errors import DataError, RecordError, StorageError, UsageError
from wildtool.json_codec import as_object
from wildtool.report.server.serving import WorkerThread, file_answer, json_answer
from wildtool_review.server.bodies import BODY_LIMITS
from wildtool_review.server.payloads import Payload, problem_payload

OK = 200
_FILES_OF_ALL = (
    "review.css",
    "words.js",
    "messages.js",
    "api.js",
    "shell.js",
    "graph.js",
    "figures.js",
    "saves.js",
)
_TOO_LARGE = "This is too long to be saved.\n"


class PageServer:
    """A server of pages."""

    own_files: ClassVar[Sequence[str]]
    """Names of its files beside those of all pages; the first is what its own address shows."""
    shared_files: ClassVar[Sequence[str]]
    """Names of files of reports that it has, too."""

    def __init__(self) -> None:
        self._files = _page_files(self.own_files, self.shared_files)
        self._thread = WorkerThread()

    def routes(self) -> list[web.RouteDef]:
        """What it answers."""
        raise NotImplementedError

    async def start(self) -> None:
        """Called before the first request."""

    async def close(self) -> None:
        """Called after the last request."""
        self._thread.close()

    async def work(self, action: Callable[[], Any]) -> Any:
        """The result of an action in the thread that has what the pages are about."""
        return await self._thread.call(action)

    async def page(self, request: web.Request) -> web.StreamResponse:
        """The file at an address."""
        return file_answer(self._files, request.match_info["path"], "There is no such page. The review: /\n")

    async def told(self, act: Callable[[], tuple[Any, int]]) -> web.Response:
        """The answer and status that an action gives in that thread, or its error."""

        def told() -> tuple[Any, int]:
            try:
                return act()
            except (UsageError, DataError) as error:
                return problem_payload(error), 422
            except StorageError as error:
                return problem_payload(StorageError("The review cannot be saved: {0}", error)), 507
            except RecordError as error:
                return problem_payload(error), 500

        answer, status = await self.work(told)
        return json_answer(answer, status)


async def body_of(request: web.Request) -> Payload:
    """The JSON object of a request. Raises the answer for anything else."""
    if request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType(text="Expected JSON.\n")
    try:
        return as_object(json_codec.loads_within(await request.read(), BODY_LIMITS))
    except web.HTTPRequestEntityTooLarge as error:
        error.text = _TOO_LARGE
        raise
    except ValueError as error:
        raise web.HTTPBadRequest(text="Expected one JSON object, not too large.\n") from error


def _page_files(own: Sequence[str], shared: Sequence[str]) -> dict[str, Path]:
    """Files of pages by their address."""
    assets, reports = files("wildtool_review.server") / "assets", files("wildtool.report") / "assets"
    places = (
        {"": assets / own[0]}
        | {name: assets / name for name in (*own, *_FILES_OF_ALL)}
        | {name: reports / name for name in shared}
    )
    return {name: Path(str(place)) for name, place in places.items()}
