"""Records as rows of every form, and what a form has no place for."""

import json
from typing import Any

from training.record_forms import call, calls, tool
from wildtool.training.record import (
    AssistantTurn,
    ObservedResult,
    ResultTurn,
    TrainingRecord,
    UserTurn,
)
from wildtool.training.writers.options import WriteOptions
from wildtool_data.prepare.writers.forms import TRAINING_FORMS
from wildtool_data.prepare.writers.sharegpt import flat_row

Q, R = UserTurn("q"), AssistantTurn("r")
F, G = call("f", "x", '{"a":1}', a=1), call("g", 2)
TOOLS = (tool("f", "a", a={"type": "integer"}),)
TALK = TrainingRecord(
    turns=(
        UserTurn("q", {"mood": "good"}),
        calls(F, G, text="I look.", extras={"reasoning_content": "Hm."}),
        ResultTurn((ObservedResult("5", {"cost": 1}), ObservedResult("é"))),
        AssistantTurn("r", learned=False, extras={"k": 1}),
        Q,
        R,
    ),
    tools=TOOLS,
    system="S",
    system_extras={"cache": 2},
    row=7,
)
PLAIN = TrainingRecord(turns=(Q, R), row=7)
PAIR = TrainingRecord(
    kind="preference", turns=(Q,), chosen=calls(G, text="t"), rejected=AssistantTurn("r", learned=False)
)


def written(record: TrainingRecord, form: str, **options: Any) -> Any:
    return TRAINING_FORMS[form].write(record, WriteOptions(**options))


def function(name: str, arguments: Any, own_id: str) -> dict[str, Any]:
    return {"id": own_id, "type": "function", "function": {"name": name, "arguments": arguments}}


CALLS = '[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}]'
SHAREGPT = {
    "conversations": [
        {"from": "human", "value": "q"},
        {"from": "function_call", "value": CALLS},
        {"from": "observation", "value": '["5", "é"]'},
        {"from": "gpt", "value": "r"},
        {"from": "human", "value": "q"},
        {"from": "gpt", "value": "r"},
    ],
    "system": "S",
    "tools": json.dumps([TOOLS[0]["function"]], ensure_ascii=False),
}


def test_a_flat_row_has_users_and_replies_alone():
    flat = {
        "conversations": [
            {"from": "human", "value": "q"},
            {"from": "gpt", "value": CALLS},
            {"from": "human", "value": '["5", "é"]'},
            *SHAREGPT["conversations"][3:],
        ],
        "system": f"Savailable tools:\n{SHAREGPT['tools']}",
    }
    assert written(TALK, "sharegpt", flat=True) == flat_row(SHAREGPT) == flat
    assert written(PLAIN, "sharegpt", flat=True) == {
        "conversations": SHAREGPT["conversations"][-2:],
        "system": "",
    }
    assert written(PAIR, "sharegpt", flat=True) == {
        "conversations": [{"from": "human", "value": "q"}],
        "system": "",
        "chosen": {"from": "gpt", "value": '{"name": "g", "arguments": {}}'},
        "rejected": {"from": "gpt", "value": "r"},
    }
    assert flat_row({"conversations": [], "system": None, "chosen": {"from": "gpt", "value": ""}}) == {
        "conversations": [],
        "system": "",
        "chosen": {"from": "gpt", "value": ""},
    }
