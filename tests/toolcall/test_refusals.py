"""How simulated tools refuse calls."""

import pytest

from wildtool.toolcall.refusals import RefusedCallError, missing_arguments, refuse_if


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_arguments_that_a_call_lacks_are_named_as_python_names_them(count: int):
    names = ["a", "b", "c", "d"][:count]
    scope: dict[str, object] = {}
    exec(f"def f({', '.join(names)}): pass", scope)
    with pytest.raises(TypeError) as lacking:
        eval("f()", scope)
    assert missing_arguments("f", names) == str(lacking.value)


def test_a_call_is_refused_where_a_condition_holds():
    refuse_if([], "no")
    with pytest.raises(RefusedCallError) as refused:
        refuse_if([0], "no")
    assert (str(refused.value), refused.value.also) == ("no", {})
