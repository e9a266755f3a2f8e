"""`wildtool check`: tests an endpoint for the defects of tool calls that users reported, before a run is paid for."""

import asyncio
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.cli.command import opt
from wildtool.cli.options import completion
from wildtool.cli.options import shared as options
from wildtool.errors import UsageError
from wildtool.models.headers import parse_headers
from wildtool.models.settings import EndpointOptions
from wildtool.outputs import check_file
from wildtool.sanitize import ellipsize

if TYPE_CHECKING:
    from wildtool.check.report import CheckReport
    from wildtool.check.sender import Sender

LOAD, QUICK_LOAD = 32, 8
"""Requests that are sent at once, each whole and streamed."""
SHOWN_CHARACTERS = 400
"""Of a request and of an answer on the screen."""
NOTHING_TESTED = 2
"""Exit status where the model made no call."""


def check(
    model: str | None = opt(
        "-m NAME", "Model to check; see `wildtool list models`.", complete=completion.models
    ),
    agent: str | None = opt(
        "NAME", "Check an agent instead: gold answers go through it, and every difference is named."
    ),
    base_url: str | None = options.BASE_URL_OPTION,
    api_key_env: str | None = options.API_KEY_ENV_OPTION,
    header: list[str] | None = options.HEADER_OPTION,
    against: str | None = opt(
        "URL|NAME",
        "Compare with the same model at another address, or with another model.",
        complete=completion.models,
    ),
    against_api_key_env: str | None = opt(
        "VARIABLE", "Environment variable that holds the key for --against.", needs="--against"
    ),
    against_header: list[str] | None = opt("NAME=VALUE", "Like --header, for --against.", needs="--against"),
    quick: bool = opt("One reply per probe, fewer long ones: about a minute."),
    require_all: bool = opt("Exit status 1 also where a class was not tested."),
    concurrency: int | None = opt(
        "-j N", "Requests in flight, except where load is tested (default: 4); agents at once.", min=1, max=64
    ),
    timeout: float = opt("SECONDS", "Timeout of one request.", min=1, default=120.0),
    json: bool = opt("Print JSON with each request and raw answer."),
    markdown: Path | None = opt("FILE", "Write a page with all findings."),
    trust: str | None = options.TRUST_OPTION,
) -> int:
    """Check an endpoint for broken tool calls.

    \b
    Examples:
      wildtool check --model ollama/qwen3:8b
      wildtool check --model m --base-url http://127.0.0.1:8000/v1 --quick
      wildtool check --model ollama/qwen3:8b --markdown check.md
      wildtool check --model gpt-4.1-mini --against http://127.0.0.1:8000/v1
      wildtool check --agent codex

    Sends about 250 requests, streamed and whole, and looks for 39 classes of defects. The largest offers 300 kB of tools.
    A class that no reply could show is not tested, never counts as fit, and is named in the verdict; --require-all fails
    on it. With --against, 128 requests more go to both endpoints, to the first one twice. Exit status: 0 fit, 1 defects
    were found, the endpoints differ, or a required class was not tested, 2 the model made no call, 3 an endpoint does not
    answer. `wildtool list models --check NAME` sends two requests only, and speaks every protocol.

    With --agent, a model that answers gold plays the 128 tasks of wild-mini through the agent (--quick: 32 of them).
    """
    from wildtool.check.report import check_endpoint
    from wildtool.outputs import write_file

    if agent is not None:
        given = {"base-url": base_url, "api-key-env": api_key_env, "header": header, "against": against}
        _refuse_with_agent({**given, "require-all": require_all, "markdown": markdown})
        return _check_agent(agent, model, quick=quick, concurrency=concurrency, timeout=timeout, as_json=json)
    if model is None:
        raise UsageError("nothing to check; name a model by --model, or an agent by --agent")
    concurrency = concurrency or 4
    if markdown is not None:
        check_file(markdown)
    headers = parse_headers(header)
    at = EndpointOptions(base_url=base_url, api_key_env=api_key_env, headers=headers, timeout_s=timeout)
    sender, endpoint = _sender(model, at, concurrency)
    other_headers = parse_headers(against_header, "--against-header")
    other = EndpointOptions(api_key_env=against_api_key_env, headers=other_headers, timeout_s=timeout)
    peer = _peer(model, against, other, concurrency)

    async def checked() -> "CheckReport":
        progress = _Progress(model)
        watch = asyncio.create_task(progress.watch())
        try:
            load = QUICK_LOAD if quick else LOAD
            report = await check_endpoint(sender, endpoint, quick=quick, load=load, show=progress.show)
            if peer is None:
                return report
            from wildtool.check.paired import compare_endpoints

            agreement = await compare_endpoints(sender, *peer, quick=quick, show=progress.show)
            return replace(report, agreement=agreement, requests=sender.sent + peer[0].sent)
        finally:
            watch.cancel()
            progress.clear()
            await asyncio.gather(*(each.close() for each in (sender, *(peer or ())[:1])))

    report = asyncio.run(checked())
    if markdown is not None:
        write_file(markdown, report.as_markdown().encode())
    if json:
        from wildtool.json_codec import dumps
        from wildtool.terminal import print_out

        print_out(dumps(report.as_json()).decode("utf-8", "replace"))
    else:
        _print(report)
    if report.agreement.get("same") is False:
        return 1
    if report.fit and report.agreement and report.agreement["same"] is None:
        return NOTHING_TESTED
    if report.fit and require_all and report.not_tested:
        return 1
    return {True: 0, False: 1, None: NOTHING_TESTED}[report.fit]


def _refuse_with_agent(options: Mapping[str, Any]) -> None:
    """Raises UsageError for an option of endpoints. Args: options: by name what was given."""
    for name, value in options.items():
        if value:
            raise UsageError(
                f"--{name} is about an endpoint, and --agent is checked without one; leave it out"
            )


def _check_agent(
    agent: str, model: str | None, *, quick: bool, concurrency: int | None, timeout: float, as_json: bool
) -> int:
    """Checks an agent and prints what was found. Gives the exit status."""
    from wildtool.check.agents import GOLD_MODEL, check_agent
    from wildtool.terminal import print_err, print_out, print_wrapped

    report = check_agent(
        agent,
        model=model or GOLD_MODEL,
        quick=quick,
        concurrency=concurrency,
        timeout_s=timeout,
        report=print_err,
    )
    if as_json:
        from wildtool.json_codec import dumps

        print_out(dumps(report.as_json()).decode("utf-8", "replace"))
    else:
        for line in report.lines():
            print_wrapped(line)
    return {True: 0, False: 1, None: NOTHING_TESTED}[report.fit]


def _peer(
    model: str, against: str | None, endpoint: EndpointOptions, concurrency: int
) -> "tuple[Sender, str] | None":
    """What sends to the other endpoint, and its address; None where none is named."""
    if against is None:
        return None
    if re.match(r"https?://", against):
        return _sender(model, replace(endpoint, base_url=against), concurrency)
    return _sender(against, endpoint, concurrency)


def _sender(name: str, endpoint: EndpointOptions, concurrency: int) -> "tuple[Sender, str]":
    """What sends to a model, and the model's address for messages."""
    from wildtool.check.sender import Sender, chat_model
    from wildtool.config.config_file import read_config
    from wildtool.config.named_models import ModelCatalog
    from wildtool.models.resolve import ModelOptions
    from wildtool.models.settings import Rates
    from wildtool.terminal import print_err

    typed = {
        "base_url": endpoint.base_url,
        "api_key_env": endpoint.api_key_env,
        "header": endpoint.headers or None,
        "timeout": endpoint.timeout_s,
    }
    explicit = {option for option, value in typed.items() if value is not None}
    catalog = ModelCatalog(read_config(None).models, {})
    configured = catalog.find(name, ModelOptions(endpoint=endpoint), explicit, Rates())
    if configured.endpoint_note:
        print_err(configured.endpoint_note)
    model = chat_model(configured.model, name)
    return Sender(name, model, concurrency=concurrency, tell=print_err), str(model.settings()["base_url"])


class _Progress:
    """Says how many probes are done, and for how long nothing has changed.

    A terminal has one line for it; a log gets lines as often as from a run.
    """

    def __init__(self, name: str) -> None:
        self._name = ellipsize(name, 30)
        self._text = "asked"
        self._since = self._logged_at = asyncio.get_running_loop().time()
        self._logged = self._text

    def show(self, count: int, total: int) -> None:
        self._text, self._since = f"{count} of {total} probes", asyncio.get_running_loop().time()
        self._print(self._text)

    async def watch(self) -> None:
        """Says each second how long the answer has been waited for."""
        while True:
            await asyncio.sleep(1)
            seconds = round(asyncio.get_running_loop().time() - self._since)
            self._print(f"{self._text}, no answer for {seconds} s" if seconds > 1 else self._text)

    def clear(self) -> None:
        from wildtool.terminal import print_step

        if sys.stderr.isatty():
            print_step("")

    def _print(self, text: str) -> None:
        from wildtool.engine.run.progress import CHANGED_EVERY_S, SILENT_S
        from wildtool.terminal import print_err, print_step

        now = asyncio.get_running_loop().time()
        if sys.stderr.isatty():
            print_step(f"{self._name}: {text}")
        elif now - self._logged_at >= (SILENT_S if self._text == self._logged else CHANGED_EVERY_S):
            self._logged, self._logged_at = self._text, now
            print_err(f"{time.strftime('%H:%M:%S')} {self._name}: {text}")


def _print(report: "CheckReport") -> None:
    from textwrap import wrap

    from wildtool.check.defects import DEFECTS
    from wildtool.check.report import agreement_rows, received_text, sent_text
    from wildtool.engine.score.formatting import format_duration
    from wildtool.terminal import print_out, print_wrapped, terminal_width
    from wildtool.terminal.tables import print_grid

    rows = [
        (str(kind), DEFECTS[kind].name, status)
        for kind, status in report.statuses.items()
        if kind.is_listed or status == "defect"
    ]
    print_grid(f"{report.model} at {report.endpoint}", ["#", "defect", "result"], rows, sentences=[1])
    for finding in report.findings:
        defect, answer = DEFECTS[finding.kind], finding.answers[0]
        count = len(finding.answers)
        replies = f"{count} {finding.forms} {'reply' if count == 1 else 'replies'}"
        print_out()
        print_wrapped(f"{finding.kind}. {defect.name}: {finding.problem} ({replies}, probe '{answer.probe}')")
        for head, text in (
            ("sent", sent_text(answer, SHOWN_CHARACTERS)),
            ("received", received_text(answer, SHOWN_CHARACTERS)),
        ):
            print_out(f"  {head}:")
            for line in text.splitlines():
                for part in wrap(line, terminal_width() - 4, break_on_hyphens=False):
                    print_out(f"    {part}")
        for head, text in (
            ("in a run", defect.effect),
            ("cause", defect.cause),
            ("remedy", defect.remedy),
            ("seen in", defect.software),
        ):
            print_wrapped(f"  {head}: {text}")
    reasons: dict[str, list[str]] = {}
    for kind, status in report.statuses.items():
        if kind.is_listed and status == "not tested":
            reasons.setdefault(DEFECTS[kind].untested, []).append(str(kind))
    print_out()
    for reason, numbers in reasons.items():
        print_wrapped(f"Not tested: {', '.join(numbers)}: {reason}.")
    for remark in report.remarks:
        print_wrapped(remark)
    if report.agreement:
        heads = ["the same", "answers", "95 % interval", "when repeated"]
        print_grid(f"Compared with {report.agreement['with']}", heads, agreement_rows(report.agreement))
        print_wrapped(report.agreement["verdict"])
    print_wrapped(f"{report.verdict} {report.requests} requests in {format_duration(report.seconds)}.")
