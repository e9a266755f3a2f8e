"""Small T-Eval files for tests, one record or two of each set."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROMPT = [
    {"role": "system", "content": "APIs: Tide.get, Boat.book, Boat.cancel."},
    {"role": "user", "content": "Book a boat in Vigo at high tide."},
    {"role": "function", "content": "high tide at 9:00"},
]
STEP = {"thought": "Find the tide first.", "name": "Tide.get", "args": {"harbour": "Vigo", "day": 3}}
KEYS = {"thought": "why", "action": "api", "args": "with"}
LAYOUT = {
    "thought_start": "Why (short): ",
    "thought_end": "\n",
    "action_start": "API: ",
    "action_end": "\n",
} | {
    "args_start": "With: ",
    "args_end": "",
}


@dataclass(frozen=True)
class Initials:
    """A model of sentences by which texts are alike where they begin alike, and the same where they are equal."""

    alike: float
    unlike: float
    name: str = "initials"

    def cosines(self, texts: Sequence[str], others: Sequence[str]) -> list[list[float]]:
        cosine = {True: self.alike, False: self.unlike}
        return [[1.0 if a == b else cosine[a[:1] == b[:1]] for b in others] for a in texts]


def plan(*steps: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Gold steps, the last of which ends the task."""
    named = [*steps, ("FinishAction", {})]
    return [{"id": n, "prev": [], "name": name, "args": args} for n, (name, args) in enumerate(named)]


PLAN = plan(
    ("Tide.get", {"harbour": "Vigo"}), ("Boat.book", {"harbour": "Vigo", "time": "9:00"}), ("Boat.cancel", {})
)
TWICE = plan(*[("Tide.get", {"harbour": "Vigo"})] * 3, ("Boat.book", {"time": "9:00"}))
NAMES = ["Tide.get", "Boat.book", "Boat.cancel"]
INSTRUCT = {"action": "Tide.get", "args": {"harbour": "Vigo", "day": 3}}


def record(**fields: Any) -> dict[str, Any]:
    return {"origin_prompt": PROMPT, **fields}


SETS: dict[str, dict[str, Any]] = {
    "instruct_v2": {
        "keys": record(template=KEYS, ground_truth=INSTRUCT, meta_data={"response_format": "json"}),
        "layout": record(template=LAYOUT, ground_truth=INSTRUCT, meta_data={"response_format": "string"}),
    },
    "plan_json_v2": {
        "one": record(ground_truth=PLAN, meta={"API_list": NAMES}),
        "twice": record(ground_truth=TWICE, meta={"API_list": NAMES}),
    },
    "plan_str_v2": {"one": record(ground_truth=PLAN, meta={"API_list": NAMES})},
    "reason_str_v2": {"one": record(ground_truth=STEP)},
    "retrieve_str_v2": {"one": record(ground_truth=json.dumps(STEP))},
    "understand_str_v2": {"one": record(ground_truth={**STEP, "args": "9:00"})},
    "reason_retrieve_understand_json_v2": {"one": record(ground_truth=STEP)},
    "review_str_v2": {"one": record(ground_truth={"answer": "B", "thought": ""}, template="")},
}


def write_data(folder: Path) -> Path:
    """A folder with all eight files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, records in SETS.items():
        (folder / f"{name}.json").write_text(json.dumps(records), "utf-8")
    return folder
