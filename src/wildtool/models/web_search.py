"""The user's endpoint for searches and pages, which answers in the role of a tool."""

import json
import os
from collections.abc import Mapping
from typing import Any

from wildtool.errors import CallError, UsageError
from wildtool.json_codec import REPLY_LIMITS, loads_within
from wildtool.models.http.endpoint import Endpoint
from wildtool.types import Reply, Request

WEB_SEARCH_MODEL = "web/search"
"""Name of the model that represents the endpoint."""
URL_VARIABLE, KEY_VARIABLE = "WILDTOOL_SEARCH_URL", "WILDTOOL_SEARCH_API_KEY"
SEARCH_PATH = "/search"
"""Appended to the address."""
_TIMEOUT_S = 60.0


class WebSearchModel:
    """Posts what it is asked, a JSON object, and answers with the JSON that comes back."""

    name = WEB_SEARCH_MODEL

    def __init__(self, url: str, api_key: str | None = None) -> None:
        """Args: api_key: sent as a bearer token. Raises UsageError for an address that cannot be used."""
        self._endpoint = Endpoint(
            url, SEARCH_PATH, api_key=api_key, timeout_s=_TIMEOUT_S, max_body_bytes=REPLY_LIMITS.bytes
        )

    async def complete(self, request: Request) -> Reply:
        """The answer's JSON as text. Raises CallError."""
        content = request.messages[-1].get("content") if request.messages else None
        if not isinstance(content, str):
            raise CallError("unsendable request", f"{self.name} is sent one text", final=True)
        answer, seconds, _ = await self._endpoint.post(content.encode())
        try:
            document = loads_within(answer, REPLY_LIMITS)
        except ValueError as error:
            raise CallError("not JSON", f"{self.name}: the answer is not JSON", final=True) from error
        text = json.dumps(document, ensure_ascii=False)
        return Reply({"role": "assistant", "content": text}, latency_s=seconds)

    async def close(self) -> None:
        """Releases the connections."""
        await self._endpoint.close()

    def settings(self) -> Mapping[str, Any]:
        """The address, without its query."""
        return {"endpoint": self._endpoint.redacted_url}


def web_search_model() -> WebSearchModel:
    """The endpoint that the environment names. Raises UsageError if it names none."""
    url = os.environ.get(URL_VARIABLE, "").strip()
    if not url:
        raise UsageError(
            f"web search is not runnable here: it needs an endpoint for searches and pages. Set {URL_VARIABLE} to its"
            " address (the benchmark's page says what it is sent), or choose another --split"
        )
    return WebSearchModel(url, os.environ.get(KEY_VARIABLE, "").strip() or None)
