"""A review behind its server, asked as a browser asks."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import ClientResponse
from aiohttp.test_utils import TestClient, TestServer

from wildtool.report.server.access import AccessPolicy
from wildtool_review.project import ReviewProject
from wildtool_review.server.app import ReviewApp, review_application
from wildtool_review.server.operations import RecordedRuns
from wildtool_review.server.regeneration import Regeneration
from wildtool_review.server.sign_in import SignIn


@dataclass
class Pages:
    """What a browser does, with its origin and cookies."""

    client: "TestClient[Any, Any]"

    @property
    def origin(self) -> str:
        return str(self.client.make_url("")).rstrip("/")

    async def get(self, what: str, **query: Any) -> ClientResponse:
        return await self.client.get(f"/api/{what}", params=query)

    async def post(self, what: str, **body: Any) -> ClientResponse:
        return await self.client.post(f"/api/{what}", json=body, headers={"Origin": self.origin})

    async def item(self, item: str) -> dict[str, Any]:
        return await (await self.get("item", id=item)).json()

    async def edit(self, item: str, field: str, **body: Any) -> ClientResponse:
        """Replaces a part of what is there now."""
        body = {"seen": (await self.item(item))["seen"], **body}
        return await self.post("edit", id=item, field=field, **body)


@asynccontextmanager
async def served(
    review: ReviewProject,
    *,
    alone: str = "owner",
    runs: RecordedRuns | None = None,
    regeneration: Regeneration | None = None,
) -> AsyncIterator[Pages]:
    """A server of a review. Args: alone: who acts; empty if people sign in."""
    app = ReviewApp(review, "set", SignIn(alone), runs, regeneration=regeneration)
    made = review_application(app, AccessPolicy("127.0.0.1", remote=False, writes=True))
    async with TestClient(TestServer(made)) as client:
        yield Pages(client)
