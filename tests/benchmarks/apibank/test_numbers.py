"""API-Bank's numbers of hand-made replies under each profile, and those of its data."""

from pathlib import Path

import pytest

from benchmarks.apibank.apibank_build import write_data
from benchmarks.number_lines import number_lines
from parity.judging import judge_metrics
from wildtool.benchmarks.apibank import APIBANK
from wildtool.benchmarks.apibank.rules import target_text
from wildtool.declared import describe
from wildtool.types import Item

ONE, TWO = "level-1-given-desc/one", "level-2-toolsearcher/one"
COVERAGE = (
    "coverage: infra errors 0/17 count, unplayed 0/17 count, not scorable by the original 0/17 count,"
    " searches answered by words 1/17 count"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("apibank"))


@pytest.fixture(scope="module")
def items(folder: Path) -> list[Item]:
    return list(APIBANK.load(APIBANK.data.locate(str(folder))))


def lines(items: list[Item], profile: str, place: Path) -> list[str]:
    """The numbers of gold replies but for five."""
    replies = {
        item.id: {unit: target_text(item.data.target(unit)) for unit in item.units} for item in items
    }  # fmt: skip
    replies[ONE] |= {"2": "[X()]", "3": "It is noted."}
    if TWO in replies:
        replies[TWO] |= {"0": "[ToolSearcher(keywords='query a stock')]", "3": "AI: it cost 12.5"}
    found = number_lines(judge_metrics(APIBANK, items, replies, profile, place).values())
    assert found[-1].startswith("cost: ")
    return found[:-1]


CALLS_BY_TOOL = (
    "API correctness by tool: AddAgenda 1/1, DeleteMeeting 0/1, ForgotPassword 1/2, QueryStock 3/4,"
    " RecordHealthData 0/1, TimedSwitch 0/2, ToolSearcher 1/1"
)
REPLIES_BY_TOOL = "ROUGE-L of replies by tool: ForgotPassword 2/2, QueryStock 1.1667/2, TimedSwitch 1/1"
ERRORS = "errors: no call 0/6, wrong API 1/6, wrong arguments 2/6, wrong result 3/6"
REPLIES = (
    "ROUGE-L of replies: Weighted Average 4.1667/5 = 0.8355*, level-1-given-desc 3.5/4*,"
    " level-2-toolsearcher 0.6667/1*"
)


def test_the_original_has_calls_first(items: list[Item], tmp_path: Path) -> None:
    assert lines(items, "original", tmp_path) == [
        "API correctness: both levels 6/12*, level-1-given-desc 3/9*, level-2-toolsearcher 3/3*",
        REPLIES,
        CALLS_BY_TOOL,
        REPLIES_BY_TOOL,
        ERRORS,
        COVERAGE,
    ]


def test_data_are_described_by_level(folder: Path) -> None:
    assert number_lines(describe(APIBANK, APIBANK.data.locate(str(folder)))) == [
        "level-1-given-desc: dialogues 1 of 1",
        "level-1-given-desc: turns: User 3 of 14, AI 4 of 14, API 7 of 14",
        "level-1-given-desc: samples: call 9 of 14, reply 4 of 14, not asked 1 of 14, asked twice 2 of 14",
        "level-2-toolsearcher: dialogues 1 of 1",
        "level-2-toolsearcher: turns: User 1 of 4, AI 1 of 4, API 2 of 4",
        "level-2-toolsearcher: samples: call 3 of 4, reply 1 of 4, asked twice 1 of 4",
    ]
