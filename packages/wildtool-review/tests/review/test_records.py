"""Lines of the log, people, samples and pairs: exact values, and whole messages of what is refused."""

from pathlib import Path
from typing import Any

import pytest

from golden_files import same_as_golden
from review.made_sets import decide, edit, project, tiny_records
from wildtool.errors import DataError, RecordError, UsageError
from wildtool_review.figures import agreement_data, review_figures
from wildtool_review.people import new_token, token_hash
from wildtool_review.rounds import draw_sample, round_qualities, stop_rule


def test_tokens_are_long_and_known_by_their_hash():
    tokens = {new_token() for _ in range(3)}
    assert (len(tokens), {(token[:4], len(token)) for token in tokens}) == (3, {("wtr_", 47)})
    assert token_hash("x") == "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"


def problem_of(act: Any) -> str:
    with pytest.raises((UsageError, DataError, RecordError)) as refusal:
        act()
    return str(refusal.value)


def test_samples_follow_share_and_seed(tmp_path: Path):
    records = tiny_records(11)
    for k in range(3):
        records[k]["english_task_types"] = ["Chat", "Clarify"]
    state = project(tmp_path, records).state
    cases = [(share, seed) for share in (0.01, 0.2, 0.34, 0.5, 1) for seed in ("1", "2")]
    same_as_golden(
        "review/samples.json",
        {f"{share} {seed}": list(draw_sample(state, share, seed).items) for share, seed in cases},
    )
    for share in (0, 1.01, -0.5):
        assert problem_of(lambda share=share: draw_sample(state, share, "1")) == (
            f"a sample is a share above 0 and at most 1 of the items, not {share:g}"
        )


def test_qualities_and_figures_of_rounds_by_hand(tmp_path: Path):
    review = project(tmp_path, tiny_records(6), people="ann bob")
    empty = [metric.name for metric in review_figures(review)]
    assert empty == ["generated", "items reviewed", "open conflicts", "may stop"]
    review.open_round("owner", ["ann", "bob"], share=0.5)
    drawn = review.state.rounds[0].items
    for who in ("ann", "bob"):
        edit(review, who, drawn[0], f"As {who} says.")
        decide(review, who, drawn[0])
        decide(review, who, drawn[1])
    decide(review, "ann", drawn[2])
    same_as_golden(
        "review/rounds.json",
        {
            "qualities": [repr(quality) for quality in round_qualities(review.state)],
            "stop": [repr(stop_rule(review.state, bound)) for bound in (None, 0.5)],
            "data": repr(agreement_data(review.format, review.histories())),
            "figures": [repr(metric) for metric in review_figures(review, 0.5)],
        },
    )
