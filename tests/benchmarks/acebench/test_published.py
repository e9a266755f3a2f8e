"""ACEBench's published figures in its own metrics."""

from wildtool.benchmarks.acebench import error_classes
from wildtool.benchmarks.acebench.data import CATEGORIES
from wildtool.benchmarks.acebench.scores import COLUMN_CATEGORIES
from wildtool.benchmarks.acebench.summary import PUBLISHED

Key = tuple[str, str]


def values(model: str) -> dict[Key, float]:
    return {key: value for row in PUBLISHED() if row.model == model for key, value in row.values.items()}


def test_the_first_number_is_overall_of_both_languages():
    assert next(iter(PUBLISHED()[0].values.items())) == (("Table 2", "Overall"), 0.854)


def test_every_number_is_one_that_a_summary_has():
    tables = {
        (group, name) for group in ("Table 2", "Table 2 (en)", "Table 2 (zh)") for name in COLUMN_CATEGORIES
    }
    categories = {("categories", name + more) for name in CATEGORIES for more in ("", " (process)")}
    errors = {("errors (Special)", name) for name in error_classes.SPECIAL_CLASSES}
    assert {key for row in PUBLISHED() for key in row.values} <= tables | categories | errors


def test_a_model_has_its_numbers_from_every_table_it_is_in():
    found = values("Hammer2.1-7B")
    assert found["Table 2 (zh)", "Single-Turn"] == 0.525
    assert found["categories", "agent_multi_step (process)"] == 0.425
    assert found["errors (Special)", "Error Detection"] == 0.86


def test_the_figures_belong_to_the_rules_and_data_of_august_2025():
    assert {(row.profile, row.data) for row in PUBLISHED()} == {("official-2025-08", "official-2025-08")}
