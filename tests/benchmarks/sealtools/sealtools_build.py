"""Small records in Seal-Tools' layout: three tools, gold calls with a nested one, and their folder."""

import gzip
import json
from pathlib import Path
from typing import Any

from wildtool.benchmarks.sealtools.data import SealRecord, parse_record

TIDE = {"api": "getTide", "parameters": {"harbour": "Vigo", "hour": "7"}, "responses": ["API_call_0"]}
BOAT = {"api": "bookBoat", "parameters": {"level": "API_call_0"}, "responses": ["API_call_1"]}
NAMES = ("getTide", "bookBoat", "sayHello")


def tool(name: str) -> dict[str, Any]:
    parameters = {"harbour": {"type": "str", "description": "which"}}
    return {"api_name": name, "api_description": f"{name} does it", "field": "Sea", "parameters": parameters}


def record(
    *calls: dict[str, Any], id: str = "dev-easy-0", query: str = "Get the tide of Vigo."
) -> dict[str, Any]:
    tools = [tool(name) for name in NAMES]
    prompt = f'Format: [{{"api": ""}}]\n\nInput:\napi_list = {tools}\ntask_instruction = "{query}"\nOutput:\n'
    turns = [{"from": "human", "value": prompt}, {"from": "gpt", "value": repr(list(calls or [TIDE]))}]
    return {"id": id, "conversations": turns}


def parsed(*calls: dict[str, Any]) -> SealRecord:
    return parse_record(record(*calls), "test")


def write_data(folder: Path) -> Path:
    (folder / "dataset_for_finetune").mkdir(parents=True)
    records = [record(), record(TIDE, BOAT, id="dev-difficult-1", query="Book a boat by the tide.")]
    for name in ("dev", "test_in_domain", "test_out_domain"):
        own = [{**each, "id": each["id"].replace("dev", name)} for each in records]
        packed = gzip.compress(json.dumps(own).encode())
        (folder / "dataset_for_finetune" / f"{name}.json.gz").write_bytes(packed)
    pool = [tool(name) for name in (*NAMES, "countGulls", "feedGulls")]
    (folder / "tool.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in pool), "utf-8")
    return folder
