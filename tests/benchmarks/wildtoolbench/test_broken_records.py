"""What a session record is told that cannot be read, and what is read of a sound one."""

import copy
from typing import Any

from benchmarks.wildtoolbench.build import answer, ask, node, record
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.benchmarks.wildtoolbench.data import read_session
from wildtool.types import Item

SOUND = record([ask(), node("a", 0, n=1), answer(1)], [answer()])


def changed(path: str, value: Any) -> dict[str, Any]:
    """The sound record with another value at a path; None takes a key out."""
    own = copy.deepcopy(SOUND)
    *keys, last = [int(key) if key.isdigit() else key for key in path.split("/")]
    at: Any = own
    for key in keys:
        at = at[key]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return own


def test_a_session_without_a_date_is_read_and_its_date_line_is_empty_as_in_the_original():
    session = read_session(changed("english_env_info", ""), "file:1")
    item = Item(session.id, ("0", "1"), session)
    request = WILDTOOLBENCH.rules("official").episode(item, "0").request()
    assert request is not None
    assert request.messages[0] == {"role": "system", "content": "Current Date: "}
