"""What the lint says of each fault of a session, in full."""

from typing import Any

from benchmarks.lint_build import (
    answer,
    call,
    findings,
    task,
    with_parameter,
)


def messages(record: dict[str, Any], **options: Any) -> list[tuple[str, str, str]]:
    """Field, rule and message of each finding."""
    return [
        (finding.where.split(" ", 2)[2], finding.rule, finding.message)
        for finding in findings(record, **options)
    ]


def test_calls_are_the_same_in_whatever_order_their_arguments_stand() -> None:
    record = with_parameter({"type": "string"})
    arguments = {"x": "weather", "text": "Rome"}
    both = [call("add_note", each, []) for each in (arguments, dict(reversed(arguments.items())))]
    record["english_answer_list"][0] = task(*both, answer(0, 1))
    record["english_task_types"][0] = "Parallel Multi-Tool"
    assert messages(record) == [
        ("english_answer_list[0][1]", "official", "the same call as node 0, in one step with it (Q31)"),
    ]
