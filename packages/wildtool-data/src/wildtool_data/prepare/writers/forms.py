"""The forms that records are written in, by the names of `--to`."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from wildtool.training.record import TrainingRecord
from wildtool.training.writers.openai import lost_in_trl, openai_row, trl_row
from wildtool.training.writers.options import WriteOptions
from wildtool_data.prepare.writers.adp import adp_row
from wildtool_data.prepare.writers.sharegpt import REASONING, lost_in_sharegpt, sharegpt_row
from wildtool_data.prepare.writers.text import VERL_COLUMNS, lost_in_text, lost_in_verl, text_row, verl_row

RowWriter = Callable[[TrainingRecord, WriteOptions], Any]


@dataclass(frozen=True, slots=True)
class TrainingForm:
    """A form of training files."""

    about: str
    """One line for the help."""
    write: RowWriter
    lost: Callable[[TrainingRecord, WriteOptions], Iterator[str]]
    """What of a record the form has no place for, in words."""
    kinds: frozenset[str] = frozenset({"sft", "preference"})
    """The kinds of records that it can hold."""
    folder: bool = False
    """Whether it is a folder rather than a file."""
    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    """The columns of a Parquet file with their types, as DuckDB writes them; empty for lines of JSON."""


def tools_row(record: TrainingRecord, options: WriteOptions) -> list[dict[str, Any]]:
    """The tools of a record alone."""
    return list(record.tools)


def _lost_in_adp(record: TrainingRecord, options: WriteOptions) -> Iterator[str]:
    for name in lost_in_sharegpt(record, WriteOptions(text_with_calls="tags")):
        if name not in ("ids of calls", REASONING):
            yield name
    if any(turn.reasoning and not turn.calls for turn in record.replies):
        yield REASONING  # only calls have a place for it


TRAINING_FORMS: Mapping[str, TrainingForm] = {
    "sharegpt": TrainingForm("ShareGPT's shape, for LLaMA-Factory", sharegpt_row, lost_in_sharegpt),
    "openai": TrainingForm("OpenAI's messages and tools", openai_row, lambda _record, _options: iter(())),
    "trl": TrainingForm("messages for TRL's trainers", trl_row, lost_in_trl),
    "llamafactory": TrainingForm(
        "a folder with ShareGPT's shape and dataset_info.json", sharegpt_row, lost_in_sharegpt, folder=True
    ),
    "text": TrainingForm("prompt and reply as texts, as a run sends them", text_row, lost_in_text),
    "verl": TrainingForm(
        "a Parquet file for verl's SFT, with tools and calls as texts",
        verl_row,
        lost_in_verl,
        frozenset({"sft"}),
        columns=VERL_COLUMNS,
    ),
    "adp": TrainingForm("trajectories of the agent data protocol", adp_row, _lost_in_adp, frozenset({"sft"})),
    "tools": TrainingForm(
        "a list of tools per line",
        tools_row,
        lambda record, _options: iter(["conversation"] if record.turns else []),
        frozenset({"sft", "preference", "tools"}),
    ),
}
"""By the names of `--to`."""
