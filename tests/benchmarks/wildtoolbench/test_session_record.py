"""What own history needs to know of a session: results of calls, values that must have been shown, a task as it is shown
later; and result files of the original, row by row."""

from benchmarks.wildtoolbench.build import answer, call, calls, item, node
from wildtool.benchmarks.wildtoolbench.episode import call_id
from wildtool.benchmarks.wildtoolbench.judge import RULES
from wildtool.benchmarks.wildtoolbench.session_record import session


def test_published_results_are_those_of_each_call_in_whatever_order_it_is_made() -> None:
    own = session(RULES["official"], item([node("b"), node("a"), node("a"), answer(0, 1, 2)]))
    assert own is not None
    reply = calls(call("b", "x"), call("a", "y"), call("a", "z"))
    _, sent, *results = own.own_run("0", [reply])
    ids = [call_id("s", 0, number) for number in (0, 1, 2)]
    assert [each["id"] for each in sent["tool_calls"]] == ids
    assert [(result["content"], result["tool_call_id"]) for result in results] == [
        *zip(('"b done"', '"a done"', '"a done"'), ids, strict=True),
    ]
