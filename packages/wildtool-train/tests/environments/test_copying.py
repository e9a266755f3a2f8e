"""Rules that copy from the text: what each says, and what they earn on sets made by templates."""

import json
import random
from collections import defaultdict
from typing import Any

import pytest

from environments.test_attacks import BOOK, CANCEL, entry, said, tool
from long import a_fiftieth_of
from wildtool_train.attacks import attack
from wildtool_train.commands import BOUND
from wildtool_train.copying import COPYING
from wildtool_train.sources import ItemUnits, ProceduralUnits
from wildtool_train.view import CLAIM, View

RESERVE = tool(
    "reserve_table",
    ["restaurant_id", "when", "guests", "title", "kind"],
    description="Reserves a table.",
    restaurant_id={"type": "string", "description": "Id of the restaurant."},
    when={
        "type": "object",
        "properties": {
            "date": {"type": "string", "description": "Day, YYYY-MM-DD."},
            "time": {"type": "string", "description": "Time, HH:MM."},
        },
        "required": ["date", "time"],
    },
    guests={"type": "integer"},
    title={"type": "string", "description": "Title."},
    kind={"type": "string", "enum": ["inside", "outside"]},
)
ASKED = 'Please reserve a table in rs_12345 on 2025-03-22 at 19:30 for 4 outside as "Old Friends".'
WRITTEN = {
    "restaurant_id": "rs_12345",
    "when": {"date": "2025-03-22", "time": "19:30"},
    "guests": 4,
    "title": "Old Friends",
    "kind": "outside",
}


def view(asked: str, *messages: Any, step: int = 0) -> View:
    return View([{"role": "user", "content": asked}, *messages], [BOOK, CANCEL, RESERVE], step)


def test_patterns_find_what_is_written():
    for name in ("likeliest tool, values by patterns", "values by patterns, or a question"):
        assert said(COPYING[name](view(ASKED))) == [("reserve_table", WRITTEN)]


def test_who_asks_where_a_value_is_missing_reads_the_answer_too():
    policy = COPYING["values by patterns, or a question"]
    asked = ASKED.replace(" at 19:30", "")
    assert isinstance(said(policy(view(asked))), str)
    answered = [{"role": "assistant", "content": "When?"}, {"role": "user", "content": "At 19:30."}]
    assert said(policy(view(asked, *answered, step=1))) == [("reserve_table", WRITTEN)]
    assert said(policy(view(asked, {"role": "tool", "content": "ok"}, step=1))) == CLAIM


def test_history_gives_the_last_or_the_most_frequent_value():
    calls = [entry("reserve_table", json.dumps({"guests": guests, "kind": "inside"})) for guests in (2, 2, 6)]
    seen = view("Reserve a table", {"role": "assistant", "content": None, "tool_calls": calls})
    for name, guests in (("last values of earlier calls", 6), ("most frequent values", 2)):
        ((_, arguments),) = said(COPYING[f"{name}, then a claim"](seen))
        assert (arguments["guests"], arguments["kind"], arguments["title"]) == (guests, "inside", "it")


@pytest.mark.parametrize("name", COPYING)
def test_hostile_tools_and_texts_end_no_policy(name: str):
    strange: dict[str, Any] = {"a": None, "3": {"enum": [{}]}, "b": {"type": ["string"], "enum": "x"}}
    schema = {"type": "object", "properties": strange, "required": ["a", None, 3, "3", "b"]}
    odd: list[Any] = [{}, {"function": None}, {"function": {"name": 1, "parameters": schema}}]
    for asked in ("", "9" * 5_000, "\ud800", '"', "1.5.6"):
        for each in odd:
            assert COPYING[name](View([{"role": "user", "content": asked}], [each]))["role"] == "assistant"
    assert COPYING[name](View())["role"] == "assistant"


FLOOR = {"en": (0.136, 0.154), "zh": (0.002, 0.006)}
"""By language, the interval of the mean of the best of these policies, as docs/audit.md says."""
OF_A_SESSION = {"en": 0.20, "zh": 0.04}
"""By language, the standard deviation of a session's mean."""


@pytest.mark.long
@pytest.mark.parametrize("lang", FLOOR)
def test_what_copying_earns_on_sets_made_by_templates_is_the_floor_that_the_docs_state(lang: Any):
    sessions, blocks = 64, a_fiftieth_of(50)
    means: dict[str, list[float]] = defaultdict(list)
    for _ in range(blocks):
        stream = ProceduralUnits(str(random.random()), langs=(lang,))
        units = ItemUnits(stream.benchmark, [stream.find(f"0-{place}/0")[0] for place in range(sessions)])
        for score in attack(units, "fixed", COPYING):
            means[score.policy].append(score.without_free)
    best = max(sum(means[name]) / blocks for name in COPYING)
    # A mean falls outside four standard errors once in 16,000 tests.
    margin = 4 * OF_A_SESSION[lang] / (sessions * blocks) ** 0.5
    least, most = FLOOR[lang]
    assert least - margin <= best <= most + margin, means
    assert lang != "en" or best > BOUND, "copying is no policy without the ability"
