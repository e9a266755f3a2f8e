"""LLaMA-Factory's own converter and formatters on converted files; skipped where it is not installed."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from training.test_conversion_properties import SAMPLES
from wildtool.cli import app

FORMATS = ("default", "llama3", "qwen")
WORDS = {
    "thought_words": ("<think>\n", "\n</think>\n\n"),
    "tool_call_words": ("<tool_call>", "</tool_call>"),
}


@pytest.mark.parametrize("text", ["drop", "think", "tags"])
def test_no_record_is_dropped_and_every_call_is_read(tmp_path: Path, text: str):
    converter: Any = pytest.importorskip("llamafactory.data.converter", reason="no LLaMA-Factory")
    parser: Any = pytest.importorskip("llamafactory.data.parser")
    formatter: Any = pytest.importorskip("llamafactory.data.formatter")
    for name in sorted(SAMPLES.keys() - {"python-tools"}):
        source = tmp_path / f"{name}.json"
        source.write_text(json.dumps([SAMPLES[name]]))
        line = [
            "data",
            "convert",
            str(source),
            "--from",
            name,
            "--to",
            "llamafactory",
            "-o",
            str(tmp_path / "lf"),
        ]
        ended = CliRunner().invoke(app, [*line, "--drop-weights", "--text-with-calls", text])
        assert ended.exit_code == 0, ended.stderr
    for entry in json.loads((tmp_path / "lf" / "dataset_info.json").read_text()).values():
        about = parser.DatasetAttr("file", entry["file_name"], ranking=entry.get("ranking", False))
        about.join(entry)
        convert = converter.get_dataset_converter("sharegpt", about, SimpleNamespace(media_dir=""))
        for written in (tmp_path / "lf" / entry["file_name"]).read_text().splitlines():
            row = convert(json.loads(written))
            assert row["_prompt"], written
            assert row["_response"], written
            calls = [
                turn["content"] for turn in [*row["_prompt"], *row["_response"]] if turn["role"] == "function"
            ]
            for form in FORMATS:
                for call in calls:
                    formatter.FunctionFormatter(slots=["{{content}}"], tool_format=form).apply(
                        content=call, **WORDS
                    )
                if row["_tools"]:
                    formatter.ToolFormatter(tool_format=form).apply(content=row["_tools"])
