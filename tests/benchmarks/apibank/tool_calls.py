"""Tables with records of two users, and calls of tools on them, one after another."""

import copy
from typing import Any

from benchmarks.apibank.apibank_build import described
from wildtool.benchmarks.apibank.data import ToolLibrary
from wildtool.benchmarks.apibank.tools import ArgumentError, execute

ANN, BO = "k3y", "b0b"
"""Their tokens."""
TABLES: dict[str, Any] = {
    "Account": {
        "ann": {"password": "pw", "token": ANN, "email": "ann@example.org"},
        "bo": {"password": "qw", "token": BO, "email": "bo@example.org"},
    },
    "Bank": {"ann": {"balance": 12}},
    "Agenda": {"1": {"content": "Swim", "time": "2023-05-01 10:00:00", "location": "Lake", "username": "bo"}},
    "Reminder": {"2": {"content": "Call home", "time": "2023-05-01 10:00:00", "username": "ann"}},
    "Alarm": {"1": {"time": "2023-05-01 07:00:00", "username": "ann"}},
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
    "Appointments": {"100": {"patient_name": "Ann", "date": "2023-05-03", "doctor_name": "Dr Ox"}},
    "HealthData": {
        "A1": [{"time": "2023-05-01 08:00:00", "pulse": "60"}, {"time": "2023-05-02 08:00:00", "pulse": "61"}]
    },
    "Symptom": {
        "cough": [
            {"name": "cold", "description": "common", "aid": "tea", "more": 1},
            {"name": "flu", "description": "worse", "aid": "rest"},
        ]
    },
    "Scenes": {"evening": [{"name": "lamp", "description": "in the hall"}]},
    "TimeSwitch": {},
    "Hotel": {"1": {"hotel_name": "Inn", "check_in_time": "2023-06-10", "check_out_time": "2023-06-12"}},
    "Stock": {"ABC": {"2022-01-05": 12.5}},
    "History": {
        "04-21": [
            {"Title": " Rome ", "Date": "753 BC", "Description": "It is founded."},
            {"Title": "A", "Date": "B", "Description": "C"},
        ]
    },
    "QuestionAnswering": {"u.txt": []},
    "ImageCaptioning": [
        {"url": "a.jpg", "caption": "a cat"},
        {"url": "b.png", "caption": "a dog"},
        {"url": "c.jpeg", "caption": "a cow"},
        {"url": "d.gif", "caption": "x"},
    ],
    "SpeechRecognition": {"a.wav": "hello", "b.mp3": "no"},
    "Wiki": {"tide table": {"url": "w", "summary": "s", "more": 1}},
}


def assert_results(*steps: tuple[str, list[Any], Any]) -> None:
    """Calls tools on one tool set: name, arguments in order (None for what is left out), and the output, or `!` and why
    the tool refuses."""
    library = ToolLibrary(described(), copy.deepcopy(TABLES))
    tables = library.fresh()
    for number, (tool, values, output) in enumerate(steps):
        names = list(library.parameters(tool))[: len(values)]
        arguments = {name: value for name, value in zip(names, values, strict=True) if value is not None}
        try:
            result = execute(tables, tool, arguments)
        except ArgumentError as error:
            assert f"! {error}" == output, (number, tool)
            continue
        assert (result.output if result.exception is None else f"! {result.exception}") == output, (
            number,
            tool,
        )
    assert library.tables == TABLES, "what is shipped stays"
