"""Tools as functions: stubs that Python reads, whatever a tool's definition holds."""

import ast
import builtins
import keyword
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wildtool.alter.expose.code.signatures import Detail, ToolFunctions, stub
from wildtool.api.bench import load
from wildtool.engine.registry import load_benchmark
from wildtool.types import Tool

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
TYPES = st.sampled_from(
    ["string", "float", "HashMap", "", "list(str)", "interger", "array", "object", "null", "any"]
)
SCHEMA = st.fixed_dictionaries(
    {},
    optional={
        "type": TYPES | st.lists(TYPES, max_size=2) | JSON,
        "description": st.text(max_size=20) | JSON,
        "enum": JSON,
        "default": JSON,
        "items": JSON,
        "properties": JSON,
        "pattern": JSON,
        "anyOf": JSON,
    },
)
NAMES = st.text(min_size=1, max_size=6) | st.sampled_from(
    ["print", "class", "a.b", "a-b", "ﬁ", "名", "1", "_"]
)


def tool(name: str, properties: dict[str, Any], required: Any = (), description: Any = "") -> Tool:
    parameters = {"type": "object", "properties": properties, "required": required}
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


TOOLS = st.builds(
    tool,
    NAMES,
    st.dictionaries(NAMES, SCHEMA | JSON, max_size=4),
    st.lists(NAMES, max_size=3) | JSON,
    st.text() | JSON,
)


@given(st.lists(TOOLS, max_size=5))
def test_every_tool_is_a_function_that_python_reads(tools: list[Tool]):
    functions = list(ToolFunctions(tools))
    names = [function.name for function in functions]
    assert len({*names}) == len(names) == len(tools)
    for function in functions:
        assert function.name.isidentifier() and not keyword.iskeyword(function.name)
        assert not hasattr(builtins, function.name)
        for detail in (Detail.full, Detail.short):
            (read,) = ast.parse(stub(function, detail)).body
            assert isinstance(read, ast.FunctionDef)
            assert [each.arg for each in read.args.kwonlyargs] == list(function.parameters)


@given(TOOLS, st.data())
def test_arguments_come_back_by_the_tools_own_names(tool: Tool, data: st.DataObject):
    (function,) = ToolFunctions([tool])
    kwargs = {shown: number for number, shown in enumerate(function.parameters)}
    own = {name: kwargs[shown] for shown, name in function.parameters.items()}
    assert function.arguments([], kwargs) == own
    count = data.draw(st.integers(0, len(kwargs)))
    rest = dict(list(kwargs.items())[count:])
    assert function.arguments(list(kwargs.values())[:count], rest) == own


def test_the_tools_of_the_shipped_set_keep_names_required_choices_defaults_and_bounds():
    benchmark = load_benchmark("wild-mini")
    for loaded in load("wild-mini"):
        request = benchmark.rules("fixed").episode(loaded.item, loaded.item.units[0]).request()
        assert request is not None
        for function in ToolFunctions(request.tools):
            ast.parse(stub(function, Detail.full))
            assert len(stub(function, Detail.short)) <= len(stub(function, Detail.full))


def test_a_stub_says_what_the_schema_says():
    properties = {
        "unit": {"type": "string", "enum": ["C", "F"], "default": "C", "description": "of heat"},
        "city": {"type": "string", "pattern": "^[A-Z]"},
        "spots": {"type": "array", "items": {"type": "object", "properties": {"x-y": {"type": "integer"}}}},
        "odd": {"type": "list(str)"},
    }
    (function,) = ToolFunctions([tool("get.weather", properties, ["city"], 'The "weather"\nof a city')])
    assert stub(function, Detail.full) == (
        "def get_weather(*, city: str, unit: Literal['C', 'F'] = 'C', spots: list[dict[str, Any]] = ..., "
        "odd: Any = ...) -> Any:\n"
        '    """The \\"weather\\"\n'
        "    of a city\n"
        "    \n"
        "    Args:\n"
        "      city: pattern: '^[A-Z]'\n"
        "      unit: of heat\n"
        "      spots:\n"
        "        'x-y': (int, optional)\n"
        '      odd:"""'
    )
