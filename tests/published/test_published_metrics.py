"""A paper's table as it is read and as metrics of a benchmark."""

from wildtool.benchmark import Published
from wildtool.published import as_metrics, read_table, tables_beside

TABLE = "wildtoolbench_table6_accuracy"
SOURCE = "WildToolBench paper (arXiv 2604.06185), Table 6"


def test_a_table_is_read_whole():
    table = read_table(TABLE)
    assert (table.name, table.paper, table.source, table.unit) == (TABLE, "wildtoolbench", SOURCE, "percent")
    first = table.rows[0]
    assert (first.model, first.kind) == ("Gemini-2.0-Thinking", "Proprietary General Models")
    assert dict(first.values) == {
        "single_tool": 56.64,
        "multi_tool": 40.23,
        "clarify": 52.34,
        "chat": 94.92,
        "task_1": 78.13,
        "task_2": 63.67,
        "task_3": 51.95,
        "task_4": 50.39,
        "task_accuracy": 61.04,
        "session_accuracy": 14.45,
    }


def test_a_table_becomes_metrics_with_notes_and_a_mean():
    single, chat, mean = ("type", "single"), ("type", "chat"), ("type", "mean")
    first, *_ = as_metrics(
        TABLE,
        {"single_tool": single, "chat": chat},
        "official",
        notes={single: "of one tool", ("other", "x"): "elsewhere"},
        less_is_better=[chat],
        mean=mean,
        mean_of=["task_1", "task_4"],
    )
    assert first == Published(
        "Gemini-2.0-Thinking",
        "Proprietary General Models",
        SOURCE,
        "official",
        {mean: (78.13 / 100 + 50.39 / 100) / 2, single: 0.5664, chat: 0.9492},
        notes={single: "of one tool", mean: "the mean of 2 printed columns"},
        better={chat: "less"},
    )
    assert [*first.values] == [mean, single, chat]
    plain, *_ = as_metrics(TABLE, {"single_tool": single}, "fixed", whole=256)
    assert plain == Published(
        "Gemini-2.0-Thinking",
        "Proprietary General Models",
        SOURCE,
        "fixed",
        {single: 0.22125},
        notes={},
        better={},
    )


def test_a_mean_needs_all_of_its_columns():
    table = read_table("acebench_en_zh_average")
    lacking = [row.model for row in table.rows if None in row.values.values()]
    columns = [*table.columns]
    rows = as_metrics(table.name, {}, "official", mean=("a", "b"), mean_of=columns)
    assert [row.model for row in rows if not row.values] == lacking
    assert all(row.values.keys() <= {("a", "b")} for row in rows)


def test_tables_stand_beside_runs_of_a_benchmark():
    assert [table.name for table in tables_beside("aid", "bfcl")] == ["toleap_key_clues"]
    assert [table.name for table in tables_beside("training", "bfcl")] == ["toleap_autonomous_bfcl"]
    assert tables_beside("aid", "acebench") == []
