"""The command of a run like another one, without one of its alterations."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from wildtool.alter.base import Alteration
from wildtool.engine.compare.leaderboard import located_data
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.score.results import ScoreResult
from wildtool.json_codec import as_object, object_text

_ROLES = {"user": "--user-model", "tools": "--tools-model", "judge": "--judge", "retriever": "--retriever"}
"""Options that name the models of other roles."""
_OF_THE_MODEL = {"base_url": "--base-url", "temperature": "--temperature", "max_tokens": "--max-tokens"}
"""Options by the settings of the model under test that they set."""
_IN_PYTHON = "function/"
"""How names of models begin that no command can name."""


def plain_command(folder: Path, result: ScoreResult, without: Alteration) -> str:
    """What makes the run of the same model and data that lacks an alteration. Raises RecordError.

    Args:
        folder: of the run that has it.
    """
    run_json = read_run(folder)
    if result.model.startswith(_IN_PYTHON):
        return f"the same call of wildtool.run without {without.kind}="
    return shlex.join(["wildtool", "run", *_words(run_json, result, without)])


def _words(run_json: Mapping[str, Any], result: ScoreResult, without: Alteration) -> Iterator[str]:
    identity, data = run_json["identity"], run_json["data"]
    yield str(data.get("benchmark_file") or result.benchmark)
    yield from ("--model", result.model)
    settings = as_object(as_object(identity["models"].get("agent")).get("settings"))
    for name, option in _OF_THE_MODEL.items():
        if settings.get(name) is not None:
            yield from (option, str(settings[name]))
    if extra := as_object(settings.get("extra_body")):
        yield from ("--extra-body", object_text(extra))
    if settings.get("stream"):
        yield "--stream"
    usual = located_data(result.benchmark, None, result.split, result.mode)
    if usual is None or usual.sha256 != result.data_sha256:
        yield from ("--data", str(result.data))
    yield from _selection(run_json, result)
    for role, name in result.roles.items():
        if role in _ROLES:
            yield from (_ROLES[role], name)
    for each in result.alterations:
        if each.kind != without.kind:
            yield from each.options


def _selection(run_json: Mapping[str, Any], result: ScoreResult) -> Iterator[str]:
    """The options that say which items are run, and how."""
    identity, scope = run_json["identity"], run_json["scope"]
    sample = as_object(identity.get("sample"))
    options = {
        "--mode": result.mode,
        "--prompts": "original" if result.prompts else None,
        "--profile": result.played or result.profile,
        "--split": result.split,
        "--lang": identity.get("lang"),
        "--seed": identity.get("seed"),
        "--sample": sample.get("size"),
        "--sample-seed": sample.get("seed") or None,
        "--limit": scope["limit"],
        "--ids": ",".join(scope["ids"]) or None,
        "--repeats": scope["repeats"] if scope["repeats"] > 1 else None,
    }
    for option, value in options.items():
        if value is not None:
            yield from (option, str(value))
