"""Texts of one's own for the roles: checked whole before any call, filled by name, with the form of replies kept."""

import json
from pathlib import Path

import pytest

from generate.sessions.players import Players
from generate.sessions.test_maker import made
from wildtool.errors import UsageError
from wildtool_data.make.core.prompts import SESSION_PROMPTS, role_opening, templates
from wildtool_data.make.core.role_prompts import PART_SLOTS, SLOTS, read_role_prompts


def write(folder: Path, texts: dict[str, str]) -> Path:
    for name, text in texts.items():
        path = folder / "own" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "own"


@pytest.mark.parametrize(
    ("texts", "langs", "problem"),
    [
        ({"en/cook.txt": "Cook."}, ("en",), "unknown role 'cook'"),
        ({"en/user.txt": "Hi.\n= singel\nOne call."}, ("en",), "user.txt:2: unknown part 'singel'"),
        (
            {"en/user.txt": "= single\nOne.\n= single\nTwo."},
            ("en",),
            "user.txt:3: the part 'single' is there twice",
        ),
        ({"en/user.txt": "= chat\n\n"}, ("en",), "the part 'chat' is empty"),
        ({"en/user.txt": "= task form\nAnswer as you like."}, ("en",), "user.txt:1: the form of a reply"),
        ({"en/planner.txt": "= form\nAnswer as you like."}, ("en",), "planner.txt:1: the form of a reply"),
        ({"en/judge.txt": "Of {{tols}}."}, ("en",), "judge.txt:1: unknown slot 'tols'"),
        ({"en/planner.txt": "Of {{wanted.tool}}."}, ("en",), "unknown slot 'wanted.tool'"),
        ({"en/user.txt": "Hi."}, ("en", "zh"), "there is no folder zh"),
        ({"user.txt": "Hi."}, ("en", "zh"), "there is no folder en"),
        ({"zh/user.txt": "你好。"}, ("en",), "there is no folder en"),
        ({"en/notes.md": "Hi."}, ("en",), "holds no text"),
        ({"en/user.txt": "Hi.", "en/judge.md": "Hi."}, ("en",), "judge.md: is no text of a role"),
        ({"en/user.txt": "Hi.", "judge.txt": "Hi."}, ("en",), "judge.txt: lies beside the folders"),
        (
            {"en/user.txt": "Hi.\n=single\nOne call."},
            ("en",),
            "user.txt:2: write the beginning .* '= single'",
        ),
        ({"en/user.txt": "= reply\nOf {{wanted.tool}}."}, ("en",), "user.txt:2: unknown slot 'wanted.tool'"),
        ({"en/agent.txt": "= answer\nOf {{missing}}."}, ("en",), "agent.txt:2: unknown slot 'missing'"),
        ({"en/checker.txt": "= alone\nOf {{conversation}}."}, ("en",), "unknown slot 'conversation'"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(
    tmp_path: Path, texts: dict[str, str], langs: tuple[str, ...], problem: str
):
    with pytest.raises(UsageError, match=problem):
        read_role_prompts(write(tmp_path, texts), langs)  # pyright: ignore[reportArgumentType]


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="there is no such folder"):
        read_role_prompts(tmp_path / "none", ["en"])


def test_shipped_texts_can_be_given_back_as_they_are(tmp_path: Path):
    texts: dict[str, str] = {}
    for role, parts in templates("en", SESSION_PROMPTS).items():
        own = {name: text for name, text in parts.items() if not name.endswith("form")}
        texts[f"en/{role}.txt"] = "\n\n".join(
            f"= {name}\n{text}" if name else text for name, text in own.items()
        )
    read = read_role_prompts(write(tmp_path, texts), ["en"])
    for role, parts in templates("en", SESSION_PROMPTS).items():
        blocks = [name for name in parts if name and not name.endswith("form")]
        situation = dict.fromkeys(SLOTS[role], "x")
        own = role_opening(role, "en", blocks, situation, own=read.texts["en"][role])
        assert own == role_opening(role, "en", blocks, situation)


def test_a_part_names_what_it_is_shown_somewhere_in_a_set(tmp_path: Path):
    players = Players()
    made(tmp_path, players, sessions=8)
    shown: dict[tuple[str, str], set[str]] = {}
    for request in players.asked:
        fields = set(json.loads(request.messages[1]["content"]))
        for part, text in templates("en", SESSION_PROMPTS)[request.role].items():
            if part and text in request.messages[0]["content"]:
                shown.setdefault((request.role, part), set()).update(fields)
    for place, fields in PART_SLOTS.items():
        assert shown[place] == set(fields), place


def test_slots_are_filled_and_what_they_show_is_not_shown_again():
    own = {"": "Tools:\n{{ tools }}", "single": "Use {{wanted.tool}}. Ask {{examples}}nothing."}
    situation = {"tools": [{"name": "findBook"}], "wanted": {"tool": "{{now}}"}, "now": "today"}
    system, user = role_opening("user", "en", ["task", "single"], situation, own=own)
    assert 'Tools:\n[\n {\n  "name": "findBook"\n }\n]' in system["content"]
    # What a slot brings in is not looked at again.
    assert "Use {{now}}. Ask nothing." in system["content"]
    assert json.loads(user["content"]) == {"wanted": {"tool": "{{now}}"}, "now": "today"}
    assert templates("en", SESSION_PROMPTS)["user"]["task form"] in system["content"]


def test_a_set_is_made_with_own_texts_and_says_so(tmp_path: Path):
    texts = {
        "en/user.txt": "You are a traveller.\n\n= single\nOne call of {{wanted.tool}}.",
        "en/judge.txt": "Pick one.",
    }
    players = Players()
    _, found = made(tmp_path, players, sessions=4, role_prompts=write(tmp_path, texts))
    _, plain = made(tmp_path, Players(), "plain", sessions=1)
    assert len(found.kept) == 4
    prompts = found.kept[0]["made_by"]["prompts"]
    assert prompts != plain.kept[0]["made_by"]["prompts"] and prompts.startswith(
        plain.kept[0]["made_by"]["prompts"]
    )
    judged = {request.messages[0]["content"] for request in players.asked if request.role == "judge"}
    assert judged == {"Pick one.\n\n" + templates("en", SESSION_PROMPTS)["judge"]["form"]}
    users = [request.messages[0]["content"] for request in players.asked if request.role == "user"]
    assert all(text.startswith("You are a traveller.") for text in users)
    assert any("One call of reserveRoom." in text for text in users)
