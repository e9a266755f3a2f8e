"""How simulated tools refuse calls."""

import pytest

from wildtool.toolcall.refusals import RefusedCallError, missing_arguments, refuse_if


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("a", "1 required positional argument: 'a'"),
        ("ab", "2 required positional arguments: 'a' and 'b'"),
        ("abc", "3 required positional arguments: 'a', 'b', and 'c'"),
        ("abcd", "4 required positional arguments: 'a', 'b', 'c', and 'd'"),
    ],
)
def test_arguments_that_a_call_lacks_are_named_as_python_names_them(names: str, words: str):
    assert missing_arguments("f", list(names)) == f"f() missing {words}"


def test_a_call_is_refused_where_a_condition_holds():
    refuse_if([], "no")
    with pytest.raises(RefusedCallError) as refused:
        refuse_if([0], "no")
    assert (str(refused.value), refused.value.also) == ("no", {})
