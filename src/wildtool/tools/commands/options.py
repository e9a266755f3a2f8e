"""Options of `wildtool tools try` and `compare`: requests, the models that they are put to, and what comes out."""

from pathlib import Path

from wildtool.cli.command import declared, opt
from wildtool.cli.help import MODEL, MORE, OUTPUT, SAMPLING
from wildtool.cli.options import completion
from wildtool.cli.options import shared as options
from wildtool.cli.options.run import CallOptions


@declared
class TryOptions(CallOptions):
    """Which requests are put to which models."""

    requests: list[Path] | None = opt(
        "FILE",
        "Requests to put to a model: your own with the tool each needs, or generated sessions; repeatable.",
        panel=MODEL,
    )
    model: list[str] | None = opt(
        "-m NAME",
        "Model to put --requests to, as for `run`; repeatable.",
        complete=completion.models,
        panel=MODEL,
        needs="--requests",
    )
    mcp_env: list[str] | None = opt(*options.MCP_ENV, panel=MORE)
    mcp_header: list[str] | None = opt(*options.MCP_HEADER, panel=MORE)
    base_url: str | None = options.BASE_URL_OPTION
    api_key_env: str | None = options.API_KEY_ENV_OPTION
    header: list[str] | None = options.HEADER_OPTION
    format_: str | None = options.TOOL_FORMAT_OPTION
    extra_body: str | None = options.EXTRA_BODY_OPTION
    repeats: int = opt("N", "Samples per request.", default=1, min=1, panel=SAMPLING)
    retries: int = options.RETRIES_OPTION
    dry_run: bool = options.DRY_RUN_OPTION
    out: Path | None = opt(
        "-o FOLDER",
        "Folder for runs and pages (default: runs/catalogue); of runs, for the pages.",
        panel=OUTPUT,
    )
    quiet: bool = options.QUIET_OPTION
    force: bool = options.FORCE_OPTION
    profile: str | None = options.PROFILE_OPTION
    as_json: bool = options.JSON_OPTION
    cache: Path | None = options.CACHE_OPTION
    no_check: bool = opt("Do not look for broken tool calls in the first 20 replies.", panel=MORE)
    trust: str | None = options.TRUST_OPTION
