"""Whoever plays, judges or shows a run does so with its alterations: through `Variant`, never through the benchmark."""

import ast
import re
from collections.abc import Mapping, Sequence
from functools import cache

from source_files import source_files, source_name

HANDLERS = ("engine/", "report/", "export/", "wildtool_review/", "cli/")
"""Packages that handle runs."""
OF_A_BENCHMARK = {"rules", "judge", "play", "recorded_episode"}
"""What a benchmark or its rules do with requests and replies."""
FUNCTIONS = {"judge_unit", "settled_item"}
"""Functions that do it with a benchmark or its rules."""
NOT_A_BENCHMARK = ("variant", "plan", "batch_scheduler", "assigned")
"""Names of what has methods of these names and knows the alterations, or handles no run."""
WITHOUT_ALTERATIONS: Mapping[str, str] = {
    "engine/plan.py": "plays the variant where there are alterations",
    "engine/run/scheduler.py": "counts gold steps, which tell what takes longest whatever is altered",
    "engine/score/audit.py": "an audit is of gold answers, not of a run",
    "engine/score/reply_signs.py": "asks which calls a reply makes and which tools an item has, before any alteration",
    "wildtool_review/replies/recorded.py": "gives rules beside replies that `Variant.restored` has restored",
}
MAKES_VARIANTS = {"engine/plan.py", "engine/registry.py", "engine/score/audit.py"}
"""Modules that say which alterations there are."""


CALLED = re.compile(rf"\b({'|'.join((*OF_A_BENCHMARK, *FUNCTIONS, 'Variant'))})\(")
"""To read all modules takes a second: what does not match has none of these calls."""


@cache
def calls() -> Sequence[tuple[str, ast.Call]]:
    texts = {source_name(path): path.read_text(encoding="utf-8") for path in source_files()}
    return [
        (name, node)
        for name, text in texts.items()
        if name.startswith(HANDLERS) and CALLED.search(text)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
    ]


def test_runs_are_played_and_judged_with_their_alterations():
    direct = {
        (place, ast.unparse(call.func))
        for place, call in calls()
        if (isinstance(call.func, ast.Name) and call.func.id in FUNCTIONS)
        or (
            isinstance(call.func, ast.Attribute)
            and call.func.attr in OF_A_BENCHMARK
            and not ast.unparse(call.func.value).endswith(NOT_A_BENCHMARK)
        )
    }
    assert not {found for found in direct if found[0] not in WITHOUT_ALTERATIONS}
    assert {place for place, _ in direct} == set(WITHOUT_ALTERATIONS), "take out what is not needed"


def test_who_makes_a_variant_knows_the_alterations_of_a_run_or_has_no_run():
    makers = {
        place for place, call in calls() if isinstance(call.func, ast.Name) and call.func.id == "Variant"
    }
    assert makers == MAKES_VARIANTS
