"""Options that `generate` commands share: which models, how to reach them, what they may cost, which files."""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.api.values import parse_json_object, split_values
from wildtool.cli.command import arg, declared, opt
from wildtool.cli.help import MODEL, MORE, OUTPUT, SAMPLING
from wildtool.cli.options import completion
from wildtool.cli.options import shared as options
from wildtool.cli.options.run import CallOptions
from wildtool.engine.score.formatting import counted
from wildtool.errors import UsageError, unknown_name
from wildtool.models.headers import parse_headers
from wildtool.models.settings import EndpointOptions, Sampling

if TYPE_CHECKING:
    from wildtool.engine.call.client import Invocation
    from wildtool.models.replay import LoggedReplies
    from wildtool.models.resolve import ModelOptions
    from wildtool_data.make.core.plan import Lang

PROCEDURAL = "procedural"
"""Name in place of a model: templates."""

FOLDER_OPTION = opt("-o FOLDER", "Folder to work in.")
SEED_OPTION = opt("TEXT", "The same seed gives the same plans.", default="1")
LANGS_OPTION = opt("CODE", "en, zh, or en,zh for both in turn (default: en).", show_default=False)

LATER_TEMPERATURE = 0.7
"""Temperature of replies that are to differ from each other."""

TRAINING_FILE_ARGUMENT = arg("FILE", "Training file of any layout that `data convert` reads.")
TRAINING_FILES_ARGUMENT = arg(
    "FILE…", "Training files of any layout that `data convert` reads; each is a set."
)
ALLOW_BENCHMARK_DATA_OPTION = opt(
    "Use a benchmark's own data; every output says so, since scores on it mean nothing afterwards."
)


class ResponseFormat(StrEnum):
    """What a server is to hold a role's reply to."""

    json_schema = "json_schema"
    json_object = "json_object"


@declared
class GenerateOptions(CallOptions):
    """Models, limits and output of a `generate` command, as typed."""

    model: str = opt(
        "-m NAME",
        "Model that generates, as for `run`. For sessions and items also procedural: templates, no model.",
        default="",
        complete=completion.models,
        panel=MODEL,
    )
    role_model: list[str] | None = opt(
        "ROLE=NAME", "Another model for one of the command's roles; repeatable.", panel=MODEL
    )
    extra_body: str | None = options.EXTRA_BODY_OPTION
    response_format: ResponseFormat | None = opt(
        "Hold roles whose reply is JSON to it: to the role's JSON Schema, or to any object. For servers that enforce it.",
        panel=SAMPLING,
    )
    base_url: str | None = options.BASE_URL_OPTION
    api_key_env: str | None = options.API_KEY_ENV_OPTION
    header: list[str] | None = options.HEADER_OPTION
    dry_run: bool = options.DRY_RUN_OPTION
    quiet: bool = opt("-q", "Print only the last line.", panel=OUTPUT)
    cache: Path | None = options.CACHE_OPTION
    config: Path | None = opt(
        "FILE", "File with named models (default: wildtool.toml, if it exists).", panel=MORE
    )
    trust: str | None = options.TRUST_OPTION
    force: bool = options.FORCE_OPTION

    def check(self) -> None:
        """Raises UsageError for options that contradict each other or are out of range."""
        if not self.model.strip():
            raise UsageError("no model is named: give --model NAME, or --model procedural for templates")
        if self.model == PROCEDURAL and (self.dry_run or self.cache):
            raise UsageError("--dry-run and --cache need a model; procedural calls none")
        self.check_limits()

    def model_options(
        self,
        open_replies: "Callable[[Path, str | None], LoggedReplies]",
        response_format: Mapping[str, Any] | None = None,
    ) -> "ModelOptions":
        """About each model.

        Args:
            open_replies: opens what `replay:` repeats.
            response_format: of the model's role; None if it has none.
        """
        from wildtool.models.resolve import ModelOptions

        return ModelOptions(
            endpoint=EndpointOptions(
                base_url=self.base_url,
                api_key_env=self.api_key_env,
                headers=parse_headers(self.header),
                timeout_s=self.timeout,
                sends=not self.dry_run,
            ),
            sampling=Sampling(
                temperature=self.temperature,
                max_tokens=self.max_tokens,
                extra_body=parse_json_object(self.extra_body, "--extra-body"),
                response_format=response_format,
            ),
            open_replies=open_replies,
        )

    def invocation(self) -> "Invocation":
        """The limits of this command and its cache, which the caller closes."""
        from wildtool.api.meaning import spending_limits
        from wildtool.engine.call.budget import Budget
        from wildtool.engine.call.cache import ReplyCache
        from wildtool.engine.call.client import Invocation

        cache = ReplyCache(self.cache) if self.cache else None
        return Invocation(Budget(spending_limits(self.limits)), cache)


def check_share(share: float) -> None:
    """Raises UsageError for a share of tools that holds out none or all."""
    if not 0 < share < 1:
        raise UsageError(f"--hold-out-tools {share:g}: give a share between 0 and 1, such as 0.25")


def split_tool_files(tools: Path | None, share: float, seed: str, out: Path, *, force: bool) -> Path:
    """Writes the tools of a file into two beside what is generated, which have no name in common: those to generate over
    now, and those that are held out. Gives the first and prints where the second is.

    Args:
        share: of the names to hold out; above 0, below 1.
        out: what is generated.

    Raises UsageError without a file of tools, or for a share out of range; DataError for too few tools.
    """
    from wildtool.errors import DataError
    from wildtool.json_codec import dumps
    from wildtool.outputs import check_absent, write_file
    from wildtool.shapes import tool_name
    from wildtool.terminal import print_err
    from wildtool.tools.sources.tool_files import read_tool_lists
    from wildtool_data.make.procedural.tool_sets import held_out_names

    check_share(share)
    if tools is None:
        raise UsageError(
            "--hold-out-tools splits your own tools here: add --tools FILE; sessions with --model procedural also take "
            "the built-in ones"
        )
    every = list(read_tool_lists(tools, print_err))
    sets = [[tool for tool in its if tool_name(tool)] for its in every]
    if unnamed := sum(map(len, every)) - sum(map(len, sets)):
        print_err(f"{tools}: {counted(unnamed, 'tool')} without a name left out")
    names = [list(dict.fromkeys(str(tool_name(tool)) for tool in its)) for its in sets if its]
    if len({name for its in names for name in its}) < 2:
        raise DataError(f"{tools}: has too few tools to hold any out; give at least two")
    held = held_out_names(names, share, seed)
    files = [out.with_name(f"{out.stem}.{end}.json") for end in ("tools", "held-out-tools")]
    for file, is_held in zip(files, (False, True), strict=True):
        parts = [[tool for tool in its if (tool_name(tool) in held) == is_held] for its in sets]
        content = dumps([part for part in parts if part])
        # The same command continues a set, and finds its own file.
        if not file.is_file() or file.read_bytes() != content:
            check_absent(file, force=force)
            write_file(file, content)
    print_err(
        f"held out: {counted(len(held), 'tool')}, in {files[1]}; generate over them with --tools {files[1]}"
    )
    return files[0]


HOLD_OUT_OPTION = opt(
    "SHARE",
    "Generate over the other tools only, and hold out as large a share of them for a test set. Templates write the "
    "sessions over these to OUT.held-out.jsonl; otherwise the tools are written beside OUT, for a second command.",
)


@declared
class ToolOptions:
    """Over which tools is generated, as typed."""

    tools: str | None = opt(
        "SOURCE",
        "Your tools: a file of definitions or OpenAPI, or an MCP server: an address, or mcp: and its command (default:"
        " built-in tools).",
    )
    mcp_env: list[str] | None = opt(*options.MCP_ENV, panel=MORE, needs="--tools")
    mcp_header: list[str] | None = opt(*options.MCP_HEADER, panel=MORE, needs="--tools")

    def file(self, out: Path, *, force: bool) -> Path | None:
        """The file with the tools; None for the built-in ones. What a server lists is kept beside what is generated.

        Args:
            out: what is generated.
            force: whether the server is asked again.

        Raises UsageError and DataError as `tool_sources` and `ToolSource.file`.
        """
        from wildtool.tools.sources.named import tool_sources

        sources = tool_sources([self.tools] if self.tools else [], self.mcp_env, self.mcp_header)
        return sources[0].file(out, again=force) if sources else None


def parse_languages(texts: list[str] | None) -> "tuple[Lang, ...]":
    """The languages of `--lang`. Raises UsageError for an unknown one."""
    languages: dict[str, Lang] = {"en": "en", "zh": "zh"}
    codes = split_values(texts) or ("en",)
    for lang in codes:
        if lang not in languages:
            raise UsageError(unknown_name("language", lang, languages))
    return tuple(languages[lang] for lang in dict.fromkeys(codes))


def check_training_options(generate_options: GenerateOptions, out: Path | None) -> Path:
    """The folder to work in. Raises UsageError for options that cannot work."""
    generate_options.check()
    if generate_options.model == PROCEDURAL:
        raise UsageError("templates cannot reply to training data; name a model with --model")
    if out is None:
        raise UsageError("give a folder: --out FOLDER")
    return out


def check_own_files(folder: Path, files: Iterable[Path]) -> None:
    """Raises UsageError where a file that is read would be replaced by one that a procedure writes."""
    from wildtool.outputs import check_not_input
    from wildtool_data.make.core.files import YIELD_FILE
    from wildtool_data.make.training.audit_files import AUDIT_FILE
    from wildtool_data.make.training.pairs import PAIRS_FILE
    from wildtool_data.make.training.rationales import REASONED_FILE
    from wildtool_data.make.training.selection_output import KEPT_FILE, RANDOM_FILE

    inputs = list(files)
    for name in (PAIRS_FILE, REASONED_FILE, KEPT_FILE, RANDOM_FILE, AUDIT_FILE, YIELD_FILE):
        check_not_input(folder / name, inputs)
