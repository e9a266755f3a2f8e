"""Small data in API-Bank's layout: tables, descriptions of all tools, one dialogue for each level."""

import inspect
import json
from pathlib import Path
from typing import Any

from wildtool.benchmarks.apibank.tools import API_TOOLS

TYPES = {
    **dict.fromkeys(("room_count", "adult_count", "child_count", "verification_code"), "int"),
    "on": "bool",
    "devices": "list",
    "health_data": "list",
    "attendees": "list(str)",
}
TOKEN = "k3y"
TABLES: dict[str, Any] = {
    "Account": {"ann": {"password": "pw", "token": TOKEN, "email": "ann@example.org"}},
    "Agenda": {},
    "Reminder": {"1": {"content": "Call home", "time": "2023-05-01 10:00:00", "username": "ann"}},
    "Meeting": {
        "1": {
            "meeting_topic": "Budget",
            "start_time": "2023-05-02 09:00:00",
            "end_time": "2023-05-02 10:00:00",
            "location": "Room 1",
            "attendees": ["Bo"],
            "username": "ann",
        }
    },
    "Scenes": {"evening": [{"name": "lamp", "description": "in the hall"}]},
    "SearchEngine": {"raw_documents": [{"title": "Tides", "url": "u", "abstract": "The sea and the moon."}]},
    "Stock": {"ABC": {"2022-01-05": 12.5}},
}


def described() -> dict[str, Any]:
    return {
        name: {
            "name": name,
            "description": f"Does {name} – now.",
            "input_parameters": {
                parameter: {"type": TYPES.get(parameter, "str"), "description": parameter}
                for parameter in list(inspect.signature(tool).parameters)[1:]
            },
            "output_parameters": {},
        }
        for name, tool in API_TOOLS.items()
    }


def user(text: str) -> dict[str, Any]:
    return {"role": "User", "text": text}


def ai(text: str) -> dict[str, Any]:
    return {"role": "AI", "text": text}


def api(name: str, output: Any = "success", given: Any = None, **arguments: Any) -> dict[str, Any]:
    """A recorded call. Args: given: inputs that are recorded as another value than the call shows."""
    recorded = {
        "api_name": name,
        "input": {**arguments, **(given or {})},
        "output": output,
        "exception": None,
    }
    return {"role": "API", "api_name": name, "param_dict": arguments, "result": recorded}


HEALTH = {"user_id": "A1", "time": "2023-05-03 08:00:09"}
PULSE = "[{'name': 'pulse', 'value': '70'}]"
BEGUN = {"status": "Forgot Password", "username": "ann", "email": "ann@example.org"}
ENDED = {"status": "Verification Code", "verification_code": "970420", "new_password": "it's new"}
FOUND = {"name": "QueryStock", "description": "Older words."}
DIALOGUE_LEVELS: dict[str, list[dict[str, Any]]] = {
    "level-1-given-desc": [
        user("Write down my pulse and what ABC costs."),
        api("RecordHealthData", given={"health_data": [{"name": "pulse", "value": "70"}]}, **HEALTH, health_data=PULSE),
        api("QueryStock", 12.5, stock_code="ABC", date="2022-01-05"),
        ai("It is noted. ABC cost 12.5 that day."),
        user("I forgot my password."),
        api("ForgotPassword", 970420, **BEGUN),
        ai("The code is 970420."),
        api("ForgotPassword", given={"verification_code": 970420}, **ENDED),
        ai("Your password is changed."),
        api("AddAgenda", token=TOKEN, content="See the tide", time="2023-05-04 07:00:00", location="Pier"),
        user("Thank you."),
        api("DeleteMeeting", token=TOKEN, meeting_topic="Budget", start_time="2023-05-02 09:00:00",
            end_time="2023-05-02 10:00:00", location="Room 1", attendees="['Bo']",
            given={"attendees": ["Bo"]}),
        api("TimedSwitch", device_id="lamp", time="2023-05-05 20:00:00", on="True", given={"on": True}),
        ai("Done."),
    ],
    "level-2-toolsearcher": [
        user("What does ABC cost?"),
        api("ToolSearcher", FOUND, keywords="stock price"),
        api("QueryStock", 12.5, stock_code="ABC", date="2022-01-05"),
        ai("It cost 12.5."),
    ],
}  # fmt: skip


def write_data(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "init_database.json").write_text(json.dumps(TABLES), encoding="utf-8")
    (folder / "api_descriptions.json").write_text(json.dumps(described()), encoding="utf-8")
    for level, turns in DIALOGUE_LEVELS.items():
        line = json.dumps({"file": "one.jsonl", "turns": turns})
        (folder / f"{level}.jsonl").write_text(line + "\n", encoding="utf-8")
    return folder
