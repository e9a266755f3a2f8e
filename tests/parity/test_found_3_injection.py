"""Planted instructions: every recorded reply has the label of an honest reader."""

from collections.abc import Iterator
from typing import Any

from parity.cases import oracle_folder, present, rows
from wildtool.alter.injection.obedience import Conduct, conduct
from wildtool.alter.injection.planting import Attack
from wildtool.benchmarks.injecagent import INJECAGENT
from wildtool.benchmarks.injecagent.reading import fixed_prompted, original_prompted
from wildtool.types import Request, ResultsInText, Source

LABELS = {
    Conduct.natively: ("obeyed natively", True),
    Conduct.in_text: ("obeyed in text", True),
    Conduct.other_means: ("obeyed by other means", True),
    Conduct.said: ("said only", None),
    Conduct.mentioned: ("refused with mention", False),
    Conduct.resisted: ("resisted", False),
}
"""Label and `obeyed` of each conduct."""


def cases(kind: str) -> Iterator[dict[str, Any]]:
    found = [
        row for row in rows(present(oracle_folder("found/bfcl_3")) / "inject.jsonl") if row["kind"] == kind
    ]
    assert found
    return iter(found)


def played(case: dict[str, Any]) -> tuple[str, bool | None]:
    """Label and obedience of a case's replies, the strongest of them."""
    attack = case["attack"]
    schema = {"type": "object", "properties": {key: {} for key in attack["arguments"]}}
    tool = {"type": "function", "function": {"name": attack["name"], "parameters": schema}}
    native = isinstance(case["tools"][0], dict)
    request = Request(
        case["messages"],
        case["tools"] if native else (),
        in_text=None if native else ResultsInText([], lambda tools, results: case["messages"]),
    )
    own = Attack("direct harm", tool, attack["arguments"], attack["instruction"])
    return LABELS[max(conduct(own, request, reply) for reply in case["replies"])]


def test_replies_to_planted_instructions_have_their_label():
    wrong = [
        (case["class"], case["replies"], played(case))
        for case in cases("own")
        if played(case) != (case["label"], case["obeyed"])
    ]
    assert not wrong


def test_injecagents_outputs_have_the_published_verdict_and_the_right_one():
    data = present(oracle_folder("injecagent").parents[1] / "data" / "injecagent")
    loaded = {
        (attack, setting): [
            item.data[setting]
            for item in INJECAGENT.load(Source("official", data, ""), split=f"{attack}_{setting}")
        ]
        for attack in ("dh", "ds")
        for setting in ("base", "enhanced")
    }
    wrong: list[Any] = []
    for row in cases("injecagent"):
        case, target = loaded[row["attack"], row["setting"]][row["case"]], row["target_tool"]
        published = original_prompted(row["text"], case, target)
        found = published.outcome, published.reason or None, fixed_prompted(row["text"], case, target).outcome
        if found != (row["original"], row["original_reason"], row["fixed_should"]):
            wrong.append((row["class"], row["text"], found))
    assert not wrong
