"""`generate --response-format`: each role whose reply is JSON is sent the schema of that reply."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner, Result

from cli.commands.players_endpoint import Gate, served
from generate.items.players import TOOLS as ITEM_TOOLS
from generate.items.players import ItemPlayers
from generate.scripted import Scripted
from generate.sessions.players import TOOLS, Players
from generate.tools.players import MARKET, ApiPlayers
from training.procedures.student import teaching
from training.procedures.training_files import call, message, row, wrote
from wildtool.cli import app
from wildtool_data.make.core import prompts
from wildtool_data.make.core.prompts import SESSION_ROLES, reply_schemas
from wildtool_data.make.tools.script import API_ROLES

MAKE = Path(prompts.__file__).parents[1]
SESSIONS = ["generate", "wildtoolbench", "--tools", "tools.json", "--sessions", "2"]
MADE: Mapping[str, tuple[type[Scripted], list[Any], list[str], list[str]]] = {
    "sessions": (Players, TOOLS, SESSIONS, list(SESSION_ROLES)),
    "items": (
        ItemPlayers,
        ITEM_TOOLS,
        ["generate", "acebench", "--tools", "tools.json", "--items", "9"],
        ["writer", "user", "tool", "judge"],
    ),
    "tools": (
        ApiPlayers,
        [],
        ["generate", "tools", "--number", "20", "--documents", "market.md"],
        list(API_ROLES),
    ),
}
"""By folder of prompts: who plays, over which tools, the command, and the roles that have a model of their own name."""


def generated(kind: str, folder: Path, *more: str) -> tuple[Result, list[dict[str, Any]], Scripted]:
    """A set made in a folder: the command's end, what it sent, and who answered."""
    players_type, tools, command, roles = MADE[kind]
    (folder / "tools.json").write_text(json.dumps(tools))
    (folder / "market.md").write_text(MARKET)
    sent: list[dict[str, Any]] = []
    players = players_type()
    own = [word for role in roles for word in ("--role-model", f"{role}={role}")]
    with served(players, sent, Gate()) as url:
        words = [*command, "--model", "agent", *own, "--base-url", url, "--out", str(folder / "set"), *more]
        ended = CliRunner().invoke(app, words, prog_name="wildtool")
    return ended, sent, players


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("kind", MADE)
def test_right_replies_of_each_role_keep_the_schema_that_it_is_sent(kind: str, tmp_path: Path):
    ended, sent, players = generated(kind, tmp_path, "--response-format", "json_schema")
    assert ended.exit_code == 0, ended.output
    schemas = reply_schemas(MAKE / kind / "prompts")
    assert {body["model"] for body in sent} >= schemas.keys()
    for body in sent:
        role = body["model"]
        if role not in schemas:
            assert "response_format" not in body
            continue
        form = body["response_format"]
        assert (form["type"], form["json_schema"]["name"]) == ("json_schema", role)
        reply = players.said(role, body["messages"], None)  # pyright: ignore[reportArgumentType]
        jsonschema.validate(json.loads(reply), form["json_schema"]["schema"])


@pytest.mark.parametrize("kind", [*MADE, "training"])
def test_an_empty_object_keeps_no_schema(kind: str):
    for schema in reply_schemas(MAKE / kind / "prompts").values():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert list(jsonschema.Draft202012Validator(schema).iter_errors({}))


@pytest.mark.long
def test_any_object_can_be_asked_for(tmp_path: Path):
    _, sent, _ = generated("sessions", tmp_path, "--response-format", "json_object")
    forms = {body["model"]: body.get("response_format") for body in sent}
    assert forms.pop("agent") is None
    assert set(forms) == set(SESSION_ROLES) - {"agent"}
    assert all(form == {"type": "json_object"} for form in forms.values())


@pytest.mark.long
def test_without_the_option_no_format_is_sent_and_the_extra_body_is(tmp_path: Path):
    _, sent, _ = generated("sessions", tmp_path, "--extra-body", '{"top_k": 7}')
    assert sent and all(body["top_k"] == 7 and "response_format" not in body for body in sent)


def test_a_format_in_the_extra_body_too_is_refused(tmp_path: Path):
    own = '{"response_format": {"type": "text"}}'
    ended, sent, _ = generated("sessions", tmp_path, "--response-format", "json_schema", "--extra-body", own)
    assert (ended.exit_code, sent) == (2, [])
    assert "response_format is set in the extra body too; leave it out there" in ended.stderr


@pytest.mark.parametrize(("by", "name"), [("rating", "rater"), ("tries", None)])
def test_a_rating_is_held_to_its_schema_and_a_try_to_none(by: str, name: str | None):
    wrote(Path("a.jsonl"), row(call(station="Husum")))
    rating = '{"score": 7, "why": "Named."}'
    with teaching(lambda body: message(text=rating)) as (endpoint, sent):
        line = f"generate select a.jsonl --model m {endpoint} --by {by} --response-format json_schema --out s"
        assert CliRunner().invoke(app, line.split(), prog_name="wildtool").exit_code == 0
    forms = [body.get("response_format", {}).get("json_schema", {}) for body in sent]
    assert forms and {form.get("name") for form in forms} == {name}
    for form in forms if name else ():
        jsonschema.validate(json.loads(rating), form["schema"])
        assert list(jsonschema.Draft202012Validator(form["schema"]).iter_errors({"score": 11}))
