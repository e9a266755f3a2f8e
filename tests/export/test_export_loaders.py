"""Training data loaded by the software that trains on them; skipped where it is not installed (docs/export.md)."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from export.export_build import play, written
from wildtool.export.openai import for_template

datasets: Any = pytest.importorskip("datasets", reason="datasets is not installed")
TEMPLATE = """{%- for m in messages %}<{{ m.role }}>{{ m.content }}
{%- for c in m.tool_calls or [] %}<call>{
"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}</call>
{%- endfor %}{%- endfor %}{%- for t in tools or [] %}<tool>{{ t | tojson }}</tool>{%- endfor %}"""


def loaded(form: str, place: Path) -> tuple[Any, list[Any]]:
    """A run as `datasets` loads it, and as it was written; dates and odd types are among its arguments."""
    path = written(form, play(place / "run", ids=(), limit=8), place)
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return datasets.load_dataset("json", data_files=str(path), split="train", cache_dir=str(place)), rows


@pytest.mark.parametrize("form", ["openai", "sharegpt"])
def test_datasets_loads_texts_as_they_were_written(tmp_path: Path, form: str):
    table, rows = loaded(form, tmp_path)
    assert [row["tools"] for row in table] == [row["tools"] for row in rows]
    assert "timestamp" not in str(table.features)
    assert "null" not in str(table.features)


def test_a_chat_template_renders_what_was_loaded_as_what_was_written(tmp_path: Path):
    tokenizers: Any = pytest.importorskip("transformers.utils.chat_template_utils", reason="no transformers")
    table, rows = loaded("openai", tmp_path)

    def rendered(row: Any) -> str:
        said = for_template(row)
        found, _ = tokenizers.render_jinja_template(
            conversations=[said["conversation"]], tools=said["tools"], chat_template=TEMPLATE
        )
        return found[0]

    texts = [rendered(row) for row in table]
    assert texts == [rendered(row) for row in rows]
    calls = [json.loads(part.split("</call>")[0]) for text in texts for part in text.split("<call>")[1:]]
    assert len(calls) > 30
    assert all(
        isinstance(call["arguments"], dict) and None not in call["arguments"].values() for call in calls
    )


def test_llama_factory_keeps_every_row_and_reads_its_calls(tmp_path: Path):
    converter: Any = pytest.importorskip("llamafactory.data.converter", reason="no LLaMA-Factory")
    parser: Any = pytest.importorskip("llamafactory.data.parser")
    table, rows = loaded("sharegpt", tmp_path)
    about = parser.DatasetAttr("file", "x.jsonl")
    columns = {"messages": "conversations", "system": "system", "tools": "tools"}
    about.join({"formatting": "sharegpt", "columns": columns})
    convert = converter.get_dataset_converter("sharegpt", about, SimpleNamespace(media_dir=""))
    for row, written_row in zip(map(convert, table), rows, strict=True):
        turns = [*row["_prompt"], *row["_response"]]
        assert [turn["content"] for turn in turns] == [turn["value"] for turn in written_row["conversations"]]
        assert all(
            isinstance(call["arguments"], dict)
            for turn in turns
            if turn["role"] == "function"
            for made in [json.loads(turn["content"])]
            for call in (made if isinstance(made, list) else [made])
        )
