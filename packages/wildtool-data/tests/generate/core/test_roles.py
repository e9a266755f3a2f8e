"""Roles are asked until a reply keeps the rules, tries end with a success, and votes decide by more than half."""

from wildtool_data.make.core.prompts import (
    SESSION_PROMPTS,
    role_opening,
    templates,
)


def test_a_role_is_first_sent_its_instruction_and_what_it_sees():
    instruction, situation = role_opening("judge", "en", [], {"a": "ü", "b": [1]})
    assert (instruction.keys(), instruction["role"]) == ({"role", "content"}, "system")
    assert situation == {"role": "user", "content": '{"a": "ü", "b": [1]}'}
    parts = templates("en", SESSION_PROMPTS)["user"]
    opening = role_opening("user", "en", ["task", "single"], {})
    assert opening == [
        {
            "role": "system",
            "content": "\n\n".join(parts[part] for part in ("", "task", "single", "task form")),
        },
        {"role": "user", "content": "{}"},
    ]
