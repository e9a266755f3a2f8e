"""Values of code and of prose, as arguments under their schemas: `fixed` compares code exactly and prose by meaning."""

import pytest

from parity.cases import oracle_folder, present, rows
from wildtool.toolcall.compare import compare_arguments

FOLDER = oracle_folder("found") / "toleap_3" / "fixed_values"


@pytest.mark.parametrize("name", ["code_and_commands", "prose"])
def test_fixed_decides_as_a_reader_would(name: str):
    wrong = [
        row
        for row in rows(present(FOLDER) / f"{name}.jsonl")
        if row["fixed_should"] is not None
        and (compare_arguments(row["gold"], row["reply"], row["schema"]) == [])
        != (row["fixed_should"] == "accept")
    ]
    assert not wrong
