"""`data convert --to verl`: what verl's MultiTurnSFTDataset reads is what was written, with nothing added."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from long import a_fiftieth_of
from wildtool.cli import app


def tool(name: str, **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": []}
    return {
        "type": "function",
        "function": {"name": name, "description": f"Gives the {name}", "parameters": parameters},
    }


def call(name: str, own_id: str, **arguments: Any) -> dict[str, Any]:
    return {"id": own_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


TOOLS = [
    tool("rain", day={"type": "string"}, n={"type": "integer"}),
    tool("tide", harbour={"type": "string", "enum": ["Kiel"]}),
]
TALK: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": "Today is 2024-05-02."},
        {"role": "user", "content": "2024-05-01"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [call("rain", "x", day="2024-05-01", n=1), call("tide", "y", harbour="Kiel")],
        },
        {"role": "tool", "tool_call_id": "x", "content": "12:30:00"},
        {"role": "tool", "tool_call_id": "y", "content": "null"},
        {"role": "assistant", "content": "1.50"},
    ],
    "tools": TOOLS,
}
PLAIN: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": "2024-05-01T00:00:00Z"},
        {"role": "assistant", "content": "true"},
    ]
}


def convert(folder: Path, rows: list[Any], *words: str, to: str = "verl", out: str = "out.parquet") -> Result:
    file = folder / "in.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    given_words = ["data", "convert", str(file), "--from", "openai", "--to", to, "--tool-format", "hermes"]
    return CliRunner().invoke(
        app, [*given_words, "-o", str(folder / out), "--force", *words], prog_name="wildtool"
    )


def rows_in(path: Path) -> list[list[dict[str, Any]]]:
    return [row for (row,) in duckdb.read_parquet(str(path)).select("messages").fetchall()]


def as_verl_reads(path: Path) -> list[Any]:
    """The messages of each row, as `MultiTurnSFTDataset._read_files_and_process` of verl 0.9.1 gets them."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(inside) for key, inside in value.items()}
        if hasattr(value, "tolist"):
            value = value.tolist()
        return [plain(inside) for inside in value] if isinstance(value, list) else value

    frame = pandas.concat([pandas.read_parquet(str(path), dtype_backend="pyarrow")])
    assert [*frame.columns] == ["messages"]
    return frame["messages"].apply(plain).tolist()


@pytest.mark.parametrize("read", [rows_in, as_verl_reads])
def test_each_message_has_a_role_and_a_text_and_nothing_else(read: Any, tmp_path: Path):
    ended = convert(tmp_path, [TALK, PLAIN])
    assert ended.exit_code == 0, ended.output
    first, second = read(tmp_path / "out.parquet")
    assert second == PLAIN["messages"]
    assert {key for message in first for key in message} == {"role", "content"}
    assert all(isinstance(value, str) for message in first for value in message.values())
    assert [message["role"] for message in first] == ["system", "user", "assistant", "user", "assistant"]
    assert first[1]["content"] == "2024-05-01" and first[4]["content"] == "1.50"
    assert '{"name":"rain","arguments":{"day":"2024-05-01","n":1}}' in first[2]["content"]
    assert "12:30:00" in first[3]["content"] and "null" in first[3]["content"]
    shown = [
        json.loads(line) for line in first[0]["content"].splitlines() if line.startswith('{"type":"function"')
    ]
    assert shown == TOOLS


def test_a_row_is_what_a_run_of_the_same_format_shows(tmp_path: Path):
    convert(tmp_path, [TALK, PLAIN])
    convert(tmp_path, [TALK, PLAIN], to="text", out="text.jsonl")
    texts = [json.loads(line) for line in (tmp_path / "text.jsonl").read_text().splitlines()]
    whole = [[*row["prompt"], *row["completion"]] for row in texts]
    assert rows_in(tmp_path / "out.parquet") == [whole[1], whole[2]], (
        "the first is the beginning of the second"
    )


TEXTS = st.sampled_from(["2024-05-01", "12:30", "1e5", "null", "[]", '{"a": 1}', "'", "é\u2028"]) | st.text(
    st.characters(exclude_categories=["Cs", "Cc"]), min_size=1
).filter(str.strip)


@pytest.mark.long
@settings(max_examples=a_fiftieth_of(250), deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=3))
def test_texts_stay_as_they_are_and_rows_in_their_order(
    tmp_path_factory: pytest.TempPathFactory, talks: list[tuple[str, str]]
):
    rows = [
        {"messages": [{"role": "user", "content": asked}, {"role": "assistant", "content": said}]}
        for asked, said in talks
    ]
    folder = tmp_path_factory.mktemp("verl")
    assert convert(folder, rows).exit_code == 0
    assert rows_in(folder / "out.parquet") == [row["messages"] for row in rows]


def test_a_reply_that_must_not_be_learned_is_left_out_and_listed(tmp_path: Path):
    last = {"role": "assistant", "content": "1.50", "weight": 0}
    context = {**TALK, "messages": [*TALK["messages"][:-1], last]}
    ended = convert(tmp_path, [context, PLAIN], "--strict")
    assert ended.exit_code == 1 and len(rows_in(tmp_path / "out.parquet")) == 1
    (row,) = map(json.loads, (tmp_path / "out.parquet.rejects.jsonl").read_text().splitlines())
    assert row["reason"] == "weight-0" and "--drop-weights" in row["detail"]
    ended = convert(tmp_path, [context, PLAIN], "--drop-weights")
    assert ended.exit_code == 0 and "weight 0 1" in ended.output
    assert len(rows_in(tmp_path / "out.parquet")) == 2


def test_what_a_row_has_no_place_for_is_counted(tmp_path: Path):
    thought = {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."}
    ended = convert(tmp_path, [{"messages": [PLAIN["messages"][0], thought], "topic": "x"}], "--strict")
    assert "reasoning 1" in ended.output and "column topic 1" in ended.output
    assert ended.exit_code == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--to", "verl", "--tool-format", "hermes"], "--out train.parquet"),
        (["--to", "verl", "-o", "x.parquet"], "--to verl needs the format of your runs: --tool-format"),
    ],
)
def test_what_is_missing_is_named(words: list[str], said: str, tmp_path: Path):
    (tmp_path / "in.jsonl").write_text(json.dumps(PLAIN) + "\n")
    ended = CliRunner().invoke(
        app, ["data", "convert", str(tmp_path / "in.jsonl"), *words], prog_name="wildtool"
    )
    assert ended.exit_code != 0
    assert said in " ".join(f"{ended.output} {ended.exception}".split())


def test_a_full_disk_is_named_and_leaves_the_earlier_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert convert(tmp_path, [PLAIN]).exit_code == 0
    before = (tmp_path / "out.parquet").read_bytes()

    class Full:
        def __enter__(self) -> "Full":
            return self

        def __exit__(self, *error: object) -> None:
            pass

        def execute(self, query: str) -> None:
            if query.startswith("COPY"):
                raise duckdb.IOException('IO Error: No space left on device: {"exception": 1}')

    monkeypatch.setattr(duckdb, "connect", lambda **settings: Full())
    ended = convert(tmp_path, [PLAIN, TALK])
    assert ended.exit_code != 0
    assert "No space left on device" in f"{ended.output} {ended.exception}"
    assert (tmp_path / "out.parquet").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.parquet"]
