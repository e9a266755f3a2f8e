"""The graph of tools: what goes together is joined, in both languages, and walks over it stay together."""

from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wildtool.toolcall.text.similarity import TfidfIndex, jaccard
from wildtool_data.make.tools.graph import MAX_LINKS, ToolGraph  # pyright: ignore[reportPrivateUsage]


def tool(name: str, about: str, takes: dict[str, str], gives: dict[str, str] | None = None) -> dict[str, Any]:
    def schema(fields: dict[str, str]) -> dict[str, Any]:
        described = {key: {"type": "string", "description": text} for key, text in fields.items()}
        return {"type": "object", "properties": described}

    return {"name": name, "description": about, "parameters": schema(takes), "returns": schema(gives or {})}


TOOLS = [
    tool(
        "findFlights", "Finds flights.", {"airport": "Code of the airport of departure."},
        {"flight_no": "Number of the flight."},
    ),
    tool("bookFlight", "Books a flight.", {"flight": "Number of the flight.", "seat": "Seat in the cabin."}),
    tool("airportWeather", "Weather at an airport.", {"airport_code": "Code of the airport."}),
    tool("bakeCake", "Bakes a cake.", {"oven": "Temperature in degrees."}),
    tool("查询航班", "查询航班信息。", {"机场": "出发机场的代码"}, {"航班号": "航班的编号"}),
    tool("预订航班", "预订一个航班。", {"航班": "航班的编号"}),
]  # fmt: skip
NAMES = [str(one["name"]) for one in TOOLS]
GRAPH = ToolGraph(TOOLS)


def joined(name: str) -> dict[str, str]:
    return {NAMES[link.tool]: link.kind for link in GRAPH.links(NAMES.index(name))}


def test_tools_are_joined_by_parameters_and_by_what_one_returns_and_the_other_takes():
    assert joined("findFlights") == {"bookFlight": "result", "airportWeather": "parameter"}


def test_chinese_descriptions_join_as_well():
    assert joined("查询航班") == {"预订航班": "result"}


def test_a_tool_that_shares_nothing_has_no_neighbour():
    assert joined("bakeCake") == {}


def test_edges_lead_both_ways():
    edges = {(here, link.tool) for here in range(len(TOOLS)) for link in GRAPH.links(here)}
    assert edges
    assert edges == {(there, here) for here, there in edges}


def test_a_walk_stays_with_what_goes_together():
    for seed in range(50):
        assert {NAMES[k] for k in GRAPH.walk(3, Random(seed), start=0)} == {
            "findFlights",
            "bookFlight",
            "airportWeather",
        }


def test_a_walk_is_the_same_with_the_same_seed_and_others_with_others():
    walks = [tuple(GRAPH.walk(3, Random(seed))) for seed in range(40)]
    assert walks == [tuple(GRAPH.walk(3, Random(seed))) for seed in range(40)]
    assert len(set(walks)) > 5


def test_a_walk_where_nothing_leads_on_takes_any_other_tool():
    chosen = GRAPH.walk(4, Random(1), start=NAMES.index("bakeCake"))
    assert len(set(chosen)) == 4 and chosen[0] == NAMES.index("bakeCake")


def test_tools_of_one_name_are_taken_once():
    graph = ToolGraph([*TOOLS[:2], {**TOOLS[0], "description": "Finds flights quickly."}])
    assert all(len(graph.walk(5, Random(seed))) == 2 for seed in range(20))


def test_no_tools_give_no_walk():
    assert ToolGraph([]).walk(3, Random(1)) == []


def test_many_tools_with_one_parameter_keep_few_neighbours():
    graph = ToolGraph([tool(f"get{k}", f"Gets thing {k}.", {"limit": "Number of rows."}) for k in range(300)])
    assert all(0 < len(graph.links(k)) <= MAX_LINKS for k in range(300))


schemas = st.recursive(
    st.none() | st.text(max_size=4),
    lambda v: st.dictionaries(st.sampled_from(["properties", "items", "type", "a"]), v),
)


@given(
    st.lists(
        st.fixed_dictionaries({"name": st.text(max_size=3), "parameters": schemas, "returns": schemas}),
        max_size=4,
    )
)
def test_odd_definitions_are_taken_as_they_are(functions: list[dict[str, Any]]):
    chosen = ToolGraph(functions).walk(3, Random(1))
    assert len(chosen) == len(set(chosen)) <= len(functions)


@given(st.lists(st.text("abc de查询", max_size=12), min_size=2, max_size=6))
def test_likeness_is_the_same_from_both_sides_and_between_0_and_1(texts: list[str]):
    likeness = TfidfIndex(texts)
    for a in range(len(texts)):
        for b in range(len(texts)):
            assert 0 <= likeness.similarity(a, b) <= 1
            assert abs(likeness.similarity(a, b) - likeness.similarity(b, a)) < 1e-9
            assert 0 <= jaccard(texts[a], texts[b]) == jaccard(texts[b], texts[a]) <= 1
