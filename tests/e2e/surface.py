"""What users and their files rely on, read off the program as JSON. Only this file of the stable-surface tests imports
modules that may move.
"""

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, cast, get_args

import duckdb
import typer
from typer.testing import CliRunner

from wildtool.benchmark import VERDICT_COLUMNS, Benchmark
from wildtool.benchmarks.acebench import error_classes as ace_faults
from wildtool.benchmarks.acebench.data import SPLITS as ACE_SPLITS
from wildtool.benchmarks.wildtoolbench import error_classes as wtb_faults
from wildtool.cli import app
from wildtool.data.data_set import data_of
from wildtool.declared import pages_of
from wildtool.engine.call.cache import ReplyCache, model_digest
from wildtool.engine.record.format import request_hashes
from wildtool.engine.registry import ENTRY_POINT_GROUP, benchmark_names, load_benchmark
from wildtool.export import EXPORT_FORMATS as EXPORTS
from wildtool.models.baselines import BASELINE_DESCRIPTIONS as BASELINES
from wildtool.models.prompted import PromptedModel
from wildtool.models.resolve import NAME_EXAMPLES, PRESETS
from wildtool.tool_formats import CALL_FORMATS, REPAIRS
from wildtool.types import Outcome, Request
from wildtool_data.make.core import prompts
from wildtool_data.make.items.script import ITEM_PROMPTS as ITEM_PROMPTS
from wildtool_data.make.tools.maker import API_PROMPTS as TOOL_PROMPTS

Json = dict[str, Any]


def typed(*words: object) -> tuple[int, str]:
    """Types `wildtool WORDS`; its exit status and output."""
    ended = CliRunner().invoke(app, [*map(str, words)], prog_name="wildtool")
    return ended.exit_code, ended.stdout


def wild_mini(sessions: int) -> str:
    """The first sessions of the built-in set."""
    file = data_of(load_benchmark("wild-mini")).locate(None).path
    return "".join(file.read_text("utf-8").splitlines(keepends=True)[:sessions])


# Commands --------------------------------------------------------------------------------------------


def commands() -> Json:
    """Each verb and sub-verb with its arguments and options."""
    found: Json = {}
    _describe(typer.main.get_command(app), "wildtool", found)
    return dict(sorted(found.items()))


def _describe(command: Any, name: str, found: Json) -> None:
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = {_names(param): param for param in command.params if param not in arguments}
    params = {f"argument {n}": param for n, param in enumerate(arguments, 1)} | dict(sorted(options.items()))
    found[name] = {named: _about(param) for named, param in params.items()}
    for verb in getattr(command, "commands", {}):
        _describe(command.commands[verb], f"{name} {verb}", found)


def _names(param: Any) -> str:
    long_first = sorted(param.opts, key=lambda name: not name.startswith("--"))
    return " ".join([*long_first, *param.secondary_opts])


def _about(param: Any) -> str:
    """Whether it takes a value, which, how often, and what is taken where it is not given."""
    choices = [str(_plain(choice)) for choice in getattr(param.type, "choices", ())]
    kind = "flag" if getattr(param, "is_flag", False) else "|".join(choices) or "value"
    many = getattr(param, "multiple", False) or param.nargs == -1
    default = _plain(param.default)
    is_said = isinstance(default, str | int | float) and default is not False and default != ""
    shown = f"{default:g}" if isinstance(default, float) else default
    return ", ".join(
        [
            kind,
            *(["repeatable"] if many else []),
            *(["required"] if param.required else []),
            *([f"default {shown}"] if is_said else []),
        ]
    )


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


# Names -----------------------------------------------------------------------------------------------


ERROR_CLASSES: Mapping[str, Mapping[str, Sequence[str]]] = {
    "wildtoolbench": {"official, fixed": wtb_faults.ALL, "paper": wtb_faults.PAPER_COLUMNS},
    "acebench": {
        "Normal": ace_faults.NORMAL_CLASSES,
        "Special": ace_faults.SPECIAL_CLASSES,
        "Agent": ace_faults.AGENT_CLASSES,
    },
}
SPLITS: Mapping[str, Mapping[str, Sequence[str]]] = {"acebench": ACE_SPLITS}


def names() -> Json:
    """Everything that is typed or read as a name."""
    return {
        "entry point group": ENTRY_POINT_GROUP,
        "outcomes": [*get_args(Outcome)],
        "benchmarks": {name: _benchmark(load_benchmark(name)) for name in _ours()},
        "error classes": ERROR_CLASSES,
        "splits": SPLITS,
        "baselines": [*BASELINES],
        "names of providers": dict(NAME_EXAMPLES),
        "presets": {prefix: _set(asdict(preset)) for prefix, preset in PRESETS.items()},
        "tool formats": [*CALL_FORMATS],
        "repairs": [*REPAIRS],
        "export formats": {
            name: {"suffix": form.suffix, "options": [*form.options], "folder": form.folder}
            for name, form in EXPORTS.items()
        },
    }


def _ours() -> list[str]:
    return [name for name in benchmark_names() if name in ("acebench", "wild-mini", "wildtoolbench")]


def _benchmark(benchmark: Benchmark) -> Json:
    return {
        "profiles": [*benchmark.profiles],
        "modes": [*benchmark.modes],
        "roles": {name: role.default for name, role in benchmark.roles.items()},
        "gold styles": [*benchmark.gold_styles],
        "verdict columns": dict(benchmark.columns),
        "report pages": {
            profile: {view.slug: [*view.groups] for view in pages_of(benchmark, profile)}
            for profile in benchmark.profiles
        },
    }


def _set(fields: Json) -> Json:
    return {name: value for name, value in fields.items() if value not in (None, False)}


def listed() -> Json:
    """The first words of what `wildtool list KIND` prints."""
    kinds = ("benchmarks", "profiles", "modes", "formats", "cards", "models")
    return {kind: _first_words(typed("list", kind)[1]) for kind in kinds}


def _first_words(text: str) -> list[str]:
    """The names of a list; lines that go on are indented."""
    return [line.partition("  ")[0] for line in text.splitlines() if line and not line.startswith(" ")]


# Metrics ---------------------------------------------------------------------------------------------


def metrics_of_acebench() -> Json:
    """Groups and names of a run that holds every category in both languages, right, wrong and without a verdict."""
    benchmark = load_benchmark("acebench")
    sections = {"normal": "Normal", "special": "Special", "agent": "Agent", "agent_finance": "Agent finance"}
    places = [
        (split, section, lang)
        for group, section in sections.items()
        for split in ACE_SPLITS[group]
        for lang in ("en", "zh")
    ]
    outcomes = ("correct", "wrong", "infra_error")
    rows: list[Json] = [
        {
            "lang": lang,
            "split": split,
            "section": section,
            "item": f"{lang}/{split}_{number}",
            "repeat": 0,
            "unit": "0",
            "outcome": outcome,
            "correct": outcome == "correct",
            "score": float(outcome == "correct"),
            "steps": 1,
            "dialogue": number,
            "turn": 0,
            "prompt_tokens": 5,
            "completion_tokens": 2,
            "latency_s": 0.5,
            "attempts": 1,
            "process": 0.5,
        }
        for split, section, lang in places
        for number, outcome in enumerate(outcomes)
    ]
    table = _table(rows, {**VERDICT_COLUMNS, **benchmark.columns})
    return {
        profile: grouped(asdict(metric) for metric in benchmark.summarize(table, profile))
        for profile in benchmark.profiles
    }


def _table(rows: Iterable[Json], types: Mapping[str, str]) -> Any:
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(f"CREATE TABLE rows ({', '.join(f'{name} {kind}' for name, kind in types.items())})")
    marks = ", ".join("?" * len(types))
    connection.executemany(
        f"INSERT INTO rows VALUES ({marks})", [[row.get(name) for name in types] for row in rows]
    )
    return connection.table("rows")


def grouped(metrics: Iterable[Json]) -> dict[str, list[str]]:
    """Names of metrics by group, with the kind of those that are no rates, the unit, and whether they are headlines."""
    found: dict[str, list[str]] = {}
    for metric in metrics:
        more = [metric["kind"] if metric["kind"] != "rate" else "", metric["unit"]]
        more.append("headline" if metric["headline"] else "")
        marked = ", ".join(filter(None, more))
        found.setdefault(metric["group"], []).append(metric["name"] + (f" ({marked})" if marked else ""))
    return found


# Files -----------------------------------------------------------------------------------------------


def shape(values: Iterable[Any], *, content: Sequence[str] = (), by_name: Sequence[str] = ()) -> Json:
    """The keys of JSON values with the types of what is under them.

    Args:
        content: keys whose values are somebody else's, such as a message.
        by_name: keys of objects whose own keys are names, such as the members of a bundle.
    """
    found: dict[str, set[str]] = {}
    for value in values:
        _add_shape(found, "", value, content, by_name)
    return {path: "|".join(sorted(kinds)) for path, kinds in sorted(found.items())}


_KINDS = {str: "text", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def _add_shape(
    found: dict[str, set[str]], path: str, value: Any, content: Sequence[str], by_name: Sequence[str]
) -> None:
    is_content = path in content
    if isinstance(value, dict) and value and not is_content:
        for key, inner in cast(Json, value).items():
            name = "*" if path in by_name else key
            _add_shape(found, f"{path}.{name}" if path else name, inner, content, by_name)
    elif isinstance(value, list) and not is_content:
        # Whether any is empty may be chance.
        found.setdefault(path, set()).add("list")
        for inner in cast(list[Any], value):
            _add_shape(found, f"{path}[]", inner, content, by_name)
    else:
        kind = _KINDS.get(type(value)) or ("object" if isinstance(value, dict) else "list")
        found.setdefault(path, set()).add(kind)


def json_lines(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]


def rows_by_kind(rows: Iterable[Json], **about: Sequence[str]) -> Json:
    """The shapes of the rows of a file, by their column `row`."""
    kinds: dict[str, list[Json]] = {}
    for row in rows:
        kinds.setdefault(row["row"], []).append(row)
    return {kind: shape(kinds[kind], **about) for kind in sorted(kinds)}


@cache
def _database() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


def parquet_columns(path: Path) -> dict[str, str]:
    rows = _database().execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
    return {name: kind for name, kind, *_ in rows}


def parquet_rows(path: Path) -> list[Json]:
    rows = _database().read_parquet(str(path))
    return [dict(zip(rows.columns, row, strict=True)) for row in rows.fetchall()]


def stamp_shape(path: Path) -> Json:
    """What a table of verdicts says of itself."""
    rows = _database().execute("SELECT key, value FROM parquet_kv_metadata(?)", [str(path)]).fetchall()
    return {key.decode(): shape([json.loads(value)]) for key, value in rows}


def sqlite_schema(path: Path) -> dict[str, str]:
    with sqlite3.connect(path) as database:
        return dict(database.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall())


# Digests ---------------------------------------------------------------------------------------------


def sha256(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


CALL: Json = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city": "Genève",  "days": 2.0}'},
}
CONVERSATION = Request(
    messages=[
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "日内瓦的天气 in Genève? \U0001f327"},
        {"role": "assistant", "content": None, "tool_calls": [CALL], "reasoning_content": "Look it up."},
        {"role": "tool", "tool_call_id": "call_1", "content": '{"sky": "rain", "degrees": 1e2}'},
    ],
    tools=[
        {
            "type": "function",
            "function": {
                "name": "weather",
                "description": "Tells the weather.",
                "parameters": {
                    "type": "object",
                    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 7.0}},
                    "required": ["city"],
                },
            },
        }
    ],
)


class _Fixed:
    """A model with settings of every type."""

    name = "some/model"

    def settings(self) -> Json:
        return {"base_url": "http://127.0.0.1:1/v1", "temperature": 0.5, "max_tokens": 100, "stop": None}


def digests(folder: Path) -> Json:
    """Names of requests, of replies in a cache, and of wordings."""
    model = cast(Any, _Fixed())
    hashes = request_hashes(CONVERSATION)
    kept = ReplyCache(folder / "cache")
    cache_key = kept.key(model_digest(model), hashes[-1])
    kept.close()
    kinds = {"sessions": prompts.SESSION_PROMPTS, "items": ITEM_PROMPTS, "tools": TOOL_PROMPTS}
    return {
        "request": hashes,
        "cache key": cache_key,
        "settings with a tool format": dict(
            PromptedModel(model, next(iter(CALL_FORMATS.values()))).settings()
        ),
        "wordings of tool formats": {
            name: PromptedModel(model, form).settings()["format_wording"]
            for name, form in CALL_FORMATS.items()
        },
        "prompts of generators": {
            kind: {
                "all": prompts.prompts_digest(place),
                **{
                    lang: {
                        role: sha256([*parts.items()])[:16]
                        for role, parts in prompts.templates(cast(Any, lang), place).items()
                    }
                    for lang in ("en", "zh")
                },
            }
            for kind, place in kinds.items()
        },
    }


# Verdicts --------------------------------------------------------------------------------------------

_LEFT_OUT = (
    "run",
    "model",
    "latency_s",
    "attempts",
    "reason",
    "detail",
    "cut_off",
    "unread_calls",
    "signs",
)
"""Columns that differ between equal runs, the two that explain (a later version may say it in other words), and those of
what replies look like, on which no verdict depends."""


def judged(folder: Path, profile: str) -> Json:
    """What was found of the units of a run, and what was asked for that."""
    rows = [
        {name: value for name, value in row.items() if name not in _LEFT_OUT}
        for row in parquet_rows(folder / f"verdicts-{profile}.parquet")
    ]
    steps = [row for path in folder.glob("record*.jsonl") for row in json_lines(path) if row["row"] == "step"]
    asked = sorted(
        [*(str(row[name]) for name in ("item", "repeat", "unit", "step", "role", "request"))] for row in steps
    )
    errors = Counter(row["error"] for row in rows if row["error"])
    return {
        "outcomes": dict(sorted(Counter(row["outcome"] for row in rows).items())),
        "errors": dict(sorted(errors.items())),
        "rows": sha256(sorted(map(sha256, rows))),
        "requests": sha256(asked),
    }
