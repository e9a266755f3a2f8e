"""Published tables: what is in them, where they come from, and which misprints are corrected."""

import csv
from pathlib import Path

import pytest

import wildtool.published
from wildtool.errors import UsageError
from wildtool.published import as_metrics, corrections, paper_names, read_table, table_names, tables_beside

FOLDER = Path(wildtool.published.__file__).parent


def row(table: str, model: str, *, numbers_as_printed: bool = False) -> dict[str, float | None]:
    rows = read_table(table, numbers_as_printed=numbers_as_printed).rows
    return next(dict(found.values) for found in rows if found.model == model)


def test_every_csv_file_is_a_table_with_a_source():
    assert sorted(table_names()) == sorted(path.stem for path in FOLDER.glob("*.csv"))


@pytest.mark.parametrize("name", table_names())
def test_every_column_has_a_meaning(name: str):
    with (FOLDER / f"{name}.csv").open(encoding="utf-8") as lines:
        heads = next(csv.reader(lines))
    assert [head for head in heads if head not in ("model", "group")] == list(read_table(name).columns)


@pytest.mark.parametrize("name", table_names())
def test_no_model_stands_twice_in_a_table(name: str):
    models = [found.model for found in read_table(name).rows]
    assert len(set(models)) == len(models)


def test_the_tables_of_one_paper_can_be_asked_for():
    assert {name.split("_")[0] for paper in paper_names() for name in table_names(paper)} == set(
        paper_names()
    )
    assert all(name.startswith("toleap_") for name in table_names("toleap"))


def test_a_source_names_paper_and_place():
    assert read_table("acebench_en_zh_average").source == "ACEBench paper (arXiv 2501.12851), Table 2"


def test_an_unknown_table_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match="acebench_zh"):
        read_table("acebench_fr")


def test_a_misprinted_number_is_corrected():
    assert row("acebench_zh", "Hammer2.1-7B")["single_turn"] == 52.5


def test_a_misprinted_number_can_be_had_as_printed():
    assert row("acebench_zh", "Hammer2.1-7B", numbers_as_printed=True)["single_turn"] == 62.5


def test_a_misprinted_name_is_corrected():
    assert row("acebench_en", "Llama-3.1-8B-Instruct")["overall"] == 32.9


def test_the_tables_of_a_language_name_the_same_models():
    english, chinese, both = (
        {found.model for found in read_table(name).rows}
        for name in ("acebench_en", "acebench_zh", "acebench_en_zh_average")
    )
    assert english == chinese == both


@pytest.mark.parametrize("fix", corrections(), ids=lambda fix: f"{fix.table} {fix.model} {fix.column}")
def test_every_misprint_stands_in_its_file_as_printed(fix: wildtool.published.Correction):
    with (FOLDER / f"{fix.table}.csv").open(encoding="utf-8", newline="") as lines:
        printed = [found[fix.column] for found in csv.DictReader(lines) if found["model"] == fix.model]
    assert printed == [fix.printed]
    assert fix.corrected != fix.printed


def test_a_missing_number_is_none():
    assert row("toleap_apibank", "gemma-2-2b-it")["weighted_average"] is None


def test_percent_become_shares_of_a_benchmarks_metrics():
    rows = as_metrics("acebench_zh", {"overall": ("Table 2 (zh)", "Overall")}, "official")
    assert (rows[0].model, rows[0].profile) == ("GPT-4o", "official")
    assert rows[0].values == {("Table 2 (zh)", "Overall"): 0.896}


def test_counts_become_shares_of_what_they_count_among():
    rows = as_metrics("acebench_special_errors", {"error_detection": ("g", "n")}, "official", whole=200)
    assert rows[0].values == {("g", "n"): 0.94}


def test_a_missing_number_is_no_metric():
    rows = as_metrics("toleap_apibank", {"weighted_average": ("g", "n")}, "official")
    assert rows[0].values == {}


def test_toleaps_tables_have_the_same_41_models_in_the_same_groups():
    tables = [read_table(f"toleap_{name}").rows for name in ("rotbench", "teval", "injecagent", "apibank")]
    groups = [{found.model: found.kind for found in rows} for rows in tables]
    assert groups[0] == groups[1] == groups[2] == groups[3]
    sizes = {kind: list(groups[0].values()).count(kind) for kind in groups[0].values()}
    assert list(sizes.values()) == [6, 17, 6, 9, 3]


def test_a_table_is_shown_beside_runs_of_the_benchmarks_it_is_about():
    beside = {
        (what, benchmark): [table.name for table in tables_beside(what, benchmark)]
        for what in ("hints", "training")
        for benchmark in ("bfcl", "rotbench", "glaive")
    }
    assert beside == {
        ("hints", "bfcl"): ["toleap_key_clues"],
        ("hints", "rotbench"): [],
        ("hints", "glaive"): [],
        ("training", "bfcl"): ["toleap_autonomous_bfcl"],
        ("training", "rotbench"): ["toleap_training", "toleap_training_steps"],
        ("training", "glaive"): [],
    }
