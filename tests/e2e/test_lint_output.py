"""A report about many tools is led by what to mend first and a count, and grows into no megabytes."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Ended, wildtool

NOUNS = ("invoice", "order", "customer", "shipment", "product")
SCOPES = ("active", "closed", "draft", "pending", "archived", "shared")
VERBS = ("get", "list", "create", "update", "delete", "search", "export", "import", "restore", "archive")


def document(nouns: int) -> dict[str, Any]:
    """An OpenAPI document of 60 operations for each noun, which read alike, and 17 without a text."""
    paths: dict[str, Any] = {f"/x{k}": {"get": {"operationId": f"x{k}"}} for k in range(17)}
    for number in range(nouns):
        noun = f"{NOUNS[number % len(NOUNS)]}{number}"
        for scope in SCOPES:
            for verb in VERBS:
                paths[f"/{noun}/{scope}/{verb}"] = {
                    "post": {
                        "operationId": f"{verb}_{scope}_{noun}",
                        "summary": f"{verb.title()} the {scope} {noun} of the account by its identifier",
                        "parameters": [{"name": f"{noun}_id", "in": "query", "schema": {"type": "string"}}],
                    }
                }
    return {"openapi": "3.0.0", "info": {"title": "Shop", "version": "1"}, "paths": paths}


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    (folder / "api.json").write_text(json.dumps(document(7)))
    return folder


def listed(ended: Ended) -> list[str]:
    """The lines that begin with the name of a tool."""
    return [line for line in ended.out.splitlines() if re.match(r"\w+_\w+|x\d", line)]


async def test_a_large_document_is_led_by_its_ten_worst_findings_and_a_count(large: Path):
    ended = await wildtool("tools", "lint", "api.json", cwd=large)
    text = " ".join(ended.out.split())
    assert ended.status == 1
    assert len(ended.out) < 12_000
    assert re.match(r"437 tools of api\.json: the 10 worst of [\d,]+ findings", text)
    assert listed(ended)[0].startswith("x0, x1, x2, x3, x4, x5 and 11")
    assert text.index("no description") < text.index("alike") < text.index("parameter without description")
    assert re.search(r"no description error 17 17 alike warning 420 420", text)
    assert "errors first" in text and "--out FOLDER writes all to FOLDER/findings.jsonl" in text


async def test_all_findings_are_in_a_file_and_as_many_as_fit_in_json(large: Path):
    ended = await wildtool("tools", "lint", "api.json", "--json", "-o", "found", cwd=large)
    shown = json.loads(ended.out)
    rows = [json.loads(line) for line in (large / "found" / "findings.jsonl").read_text().splitlines()]
    assert len(ended.out) < 400_000
    assert len(shown["worst"]) == 10 and len({each["rule"] for each in shown["worst"]}) == 3
    assert shown["findings"] == rows[:1000] and shown["left_out"] == max(0, len(rows) - 1000)
    assert shown["all"] == "found/findings.jsonl"
    assert sum(kind["findings"] for kind in shown["counts"]) == len(rows)
    errors = [each["level"] == "error" for each in rows]
    assert errors == sorted(errors, reverse=True)
    again = await wildtool("tools", "lint", "api.json", "--json", "-o", "found", cwd=large)
    assert again.out == ended.out
    told = await wildtool("tools", "lint", "api.json", "-o", "found", "--force", cwd=large)
    assert "found/findings.jsonl has all" in " ".join(told.out.split())
    (large / "mine").mkdir()
    (large / "mine" / "findings.jsonl").write_text("mine")
    refused = await wildtool("tools", "lint", "api.json", "-o", "mine", cwd=large)
    assert refused.status == 2 and (large / "mine" / "findings.jsonl").read_text() == "mine"


async def test_a_page_about_many_tools_lists_those_to_improve_first(large: Path):
    (large / "mine.jsonl").write_text(
        '{"request": "Get the active invoice0", "tool": "get_active_invoice0"}\n'
    )
    asked = (
        "tools",
        "try",
        "api.json",
        "--requests",
        "mine.jsonl",
        "-m",
        "baseline/lexical",
        "-o",
        "out",
        "-q",
    )
    ended = await wildtool(*asked, cwd=large)
    assert ended.status == 0, ended.err
    page = (large / "out" / "pages" / "index.html").read_text()
    assert len(page) < 500_000
    assert "137 tools with fewer mistakes are not listed" in page


async def test_few_findings_are_all_listed_the_worst_first(tmp_path: Path):
    tools = [
        {"name": "tides", "description": "Lists tides by day", "parameters": {"properties": {"day": {}}}},
        {"name": "ferries", "description": "Ferries"},
        {"name": "list berths", "description": "Lists free berths of a harbour"},
        {"name": "boats", "description": ""},
    ]
    (tmp_path / "tools.json").write_text(json.dumps(tools))
    ended = await wildtool("tools", "lint", "tools.json", cwd=tmp_path)
    rules = [
        line.partition("  ")[0] for line in ended.out.splitlines() if re.match("tides|ferr|list|boats", line)
    ]
    assert rules == ["list berths", "boats", "ferries", "tides"]
    assert "not listed" not in ended.out and "by kind" not in ended.out


@pytest.mark.long
@pytest.mark.parametrize("nouns", [20])
async def test_no_report_about_a_thousand_operations_is_long(nouns: int, tmp_path: Path):
    (tmp_path / "api.json").write_text(json.dumps(document(nouns)))
    shown = await wildtool("tools", "lint", "api.json", cwd=tmp_path)
    printed = await wildtool("tools", "lint", "api.json", "--json", "-o", "found", cwd=tmp_path)
    assert len(shown.out) < 12_000 and len(printed.out) < 500_000
    assert (tmp_path / "found" / "findings.jsonl").stat().st_size < 1_000_000
