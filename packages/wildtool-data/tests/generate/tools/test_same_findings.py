"""What rules say of designed tools, in full; how tools are joined, grouped and given out; and how growth is counted."""

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from generate.careless import careless
from generate.golden import check
from generate.procedural.wide_tools import OFFICE, SHOP
from generate.tools.players import design, evolve
from wildtool.errors import DataError
from wildtool.findings import Finding
from wildtool.types import Request
from wildtool_data.make.core.parsing import RefusedReplyError
from wildtool_data.make.tools.api import (
    ApiSpec,
    api_parameter_class,
    api_parameter_classes,
    definition_text,
    nested_schemas,
)
from wildtool_data.make.tools.assignments import ApiSnapshot, Assignment, Generation, _rank  # pyright: ignore[reportPrivateUsage]
from wildtool_data.make.tools.documents import _read_nodes, passages  # pyright: ignore[reportPrivateUsage]
from wildtool_data.make.tools.graph import ToolGraph
from wildtool_data.make.tools.operators import OPERATORS, is_applicable
from wildtool_data.make.tools.output import grouped_tools
from wildtool_data.make.tools.rules import near_duplicate_of, parse_call, parse_design, proposed_names
from wildtool_data.make.tools.tree import DomainTree, child_id, name_problem, plain_name, read_tree, seed_tree


def _texts(faults: list[Finding]) -> list[str]:
    return [
        f"{finding.rule}{'?' if finding.level == 'warning' else ''}: {finding.message}" for finding in faults
    ]


def _read(read: Any) -> Any:
    try:
        value, faults = read()
        return [repr(value)[:60], *_texts(faults)]
    except RefusedReplyError as refused:
        return ["refused", *_texts(refused.faults)]


TREE = DomainTree().with_nodes(
    [
        ("", "Markets", "seed"),
        ("markets", "Stalls", "seed"),
        ("markets/stalls", "let a stall", "seed"),
        ("", "Goods", "attempt 3"),
    ]
)


def api(name: str, seed: int = 1, place: str = "markets/stalls", **more: Any) -> ApiSpec:
    made = design(Random(seed), "en")
    values: dict[str, Any] = {
        "name": name,
        "description": made["description"],
        "parameters": made["parameters"],
        "returns": made["returns"],
        "lang": "en",
        "place": place,
        "node": f"{place}/{name}",
        "tree_path": (*place.title().split("/"), name),
        "parents": (),
        "generation": 0,
        "operator": "",
        "target": "",
        "attempt": seed,
        "call": {},
    }
    return ApiSpec(**{**values, **more})


SIBLINGS = (api("oldOne", 1), api("oldTwo", 2))
NEW = Assignment(
    0,
    "en",
    TREE.nodes["markets/stalls"],
    ("Markets", "Stalls"),
    SIBLINGS,
    complexity=(2, 3),
    kind="look up",
    target="enum",
)
RIGHT = design(Random(9), "en", "enum", 3)


def _design(**changes: Any) -> dict[str, Any]:
    return {
        "function": "let a stall",
        "api": {**RIGHT, **changes},
        "found": {"functions": ["weigh goods"], "subdomains": []},
    }


def _with(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    parameters = RIGHT["parameters"]
    return {**parameters, "properties": {**parameters["properties"], name: schema}}


TEXT = {"type": "string", "description": "A text."}
DESIGNS: dict[str, tuple[Any, Assignment]] = {
    "right": (_design(), NEW),
    "no api": ({}, NEW),
    "no definition": (_design(name=3), NEW),
    "no function": ({**_design(), "function": ""}, NEW),
    "function given": (
        {**_design(), "function": ""},
        replace(NEW, function=TREE.nodes["markets/stalls/let a stall"]),
    ),
    "found nothing": ({**_design(), "found": None}, NEW),
    "found odd": (
        {**_design(), "found": {"functions": "x", "subdomains": ["", "x" * 61, "a\x07", "fine"]}},
        NEW,
    ),
    "no returns": (_design(returns={}), NEW),
    "returns a list": (_design(returns={"type": "array", "items": TEXT}), NEW),
    "returns too long": (
        _design(
            returns={
                "type": "object",
                "properties": {"x": {**TEXT, "enum": ["y" * 90 + str(k) for k in range(90)]}},
            }
        ),
        NEW,
    ),
    "returns undescribed": (
        _design(returns={"type": "object", "properties": {"x": {"type": "string"}}}),
        NEW,
    ),
    "strange keyword": (_design(parameters=_with("a", {**TEXT, "minLength": 2})), NEW),
    "strange in returns": (
        _design(returns={"type": "object", "properties": {"x": {**TEXT, "title": "X"}}}),
        NEW,
    ),
    "float": (
        _design(parameters=_with("a", {"type": "float", "description": "A number."})),
        replace(NEW, complexity=(4, 4)),
    ),
    "strange field": (_design(title="x"), NEW),
    "control": (_design(description="Deals with a\x07b stall."), NEW),
    "control in a key": (_design(returns={"type": "object", "properties": {"x\x07": TEXT}}), NEW),
    "chinese": (_design(description="处理摊位的出租。"), NEW),
    "english where chinese": (_design(), replace(NEW, lang="zh")),
    "chinese parameter": (
        _design(parameters=_with("a", {**TEXT, "description": "名字"})),
        replace(NEW, complexity=None),
    ),
    "taken": (_design(name="OldThree"), NEW),
    "near": (_design(description=SIBLINGS[0].description), NEW),
    "no enum": (_design(), replace(NEW, target="list")),
    "too few": (_design(), replace(NEW, complexity=(4, 5))),
    "too many": (_design(), replace(NEW, complexity=(1, 2))),
    "any": (_design(), replace(NEW, complexity=None, target="")),
    "not evolved": (_design(), replace(NEW, parent=SIBLINGS[0], operator="add parameter", complexity=None)),
    "evolved": (
        {"function": "f", "api": evolve(SIBLINGS[0].function, "add parameter", Random(3), "en", "enum")},
        replace(NEW, parent=SIBLINGS[0], operator="add parameter", complexity=None),
    ),
}


def test_each_fault_of_a_design_is_named_in_full():
    rows = {
        name: _read(lambda d=made, a=aim: parse_design(json.dumps(d), a, {"oldthree"}))
        for name, (made, aim) in DESIGNS.items()
    }
    check("design_faults", rows)
    spoil, drawn = careless(1.0), {}
    for k in range(120):
        text = spoil("designer", json.dumps(_design()), Request([{"role": "user", "content": str(k)}]))
        drawn[str(k)] = _read(lambda t=text: parse_design(t, NEW, ()))
    check("design_faults_drawn", drawn)


def _sized(size: int) -> dict[str, Any]:
    """A schema of a result that is as long as a text."""
    texts = {f"d{k}": {"type": "string", "description": "x" * 900} for k in range(8)}
    left = size - len(
        repr({"type": "object", "properties": {**texts, "e": {"type": "string", "description": ""}}})
    )
    return {"type": "object", "properties": {**texts, "e": {"type": "string", "description": "x" * left}}}


@pytest.mark.parametrize(("size", "faults"), [(8000, []), (8001, ["S6: `returns` is too long."])])
def test_a_result_may_have_eight_thousand_characters(size: int, faults: list[str]):
    assert len(repr(_sized(size))) == size
    text = json.dumps(_design(returns=_sized(size)))
    assert _texts(parse_design(text, NEW, ())[1]) == faults


CALLS: list[Any] = [
    {},
    {"arguments": []},
    {"arguments": {"stall": "A1", "days": 2}},
    {"arguments": {"stall": "A1"}},
    {"arguments": {"stall": "a", "days": 2}},
    {"arguments": {"stall": "A1", "days": 0, "x": 1}},
    {"arguments": {"stall": " ", "days": "2", "note": "unknown"}},
    {"arguments": {"stall": "A1", "days": 2, "note": " "}},
]


def test_each_fault_of_a_made_up_call_is_named_in_full():
    parameters = {
        "type": "object",
        "properties": {
            "stall": {"type": "string", "pattern": "^[A-Z]\\d$"},
            "days": {"type": "integer", "minimum": 1},
            "note": {"type": "string"},
        },
        "required": ["stall"],
    }
    check(
        "call_faults_of_tools",
        {
            json.dumps(call): _read(
                lambda c=call: parse_call(json.dumps(c), {"parameters": parameters}, ["days"])
            )
            for call in CALLS
        },
    )
    assert proposed_names({"found": {"functions": ["a", "", "b", "c", 3]}}, "functions") == ["a", "b"]
    assert proposed_names({"found": 3}, "functions") == []


def test_a_sibling_is_too_near_and_a_parent_may_be_nearer():
    one = SIBLINGS[0]
    same = {**one.function, "description": f"{one.description[:-20]} now."}
    assert [
        near_duplicate_of(made, SIBLINGS, parent)
        for made, parent in ((one.function, None), (RIGHT, None), (same, None), (same, one))
    ] == [one, None, one, None]


@pytest.mark.parametrize(("is_parent", "shared"), [(False, 7), (True, 9)])
def test_a_sibling_is_too_near_from_a_share_of_its_words_on(is_parent: bool, shared: int):
    words = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet"]
    new = {"name": words[0], "description": " ".join(words[1:])}
    for count, is_near in ((shared, True), (shared - 1, False)):
        other = api(words[0], description=" ".join(reversed(words[1:count])), parameters={})
        assert near_duplicate_of(new, [other], other if is_parent else None) is (other if is_near else None)


FUNCTIONS = [tool["function"] for tool in (*SHOP, *OFFICE)]


def test_tools_are_joined_and_walked_as_before():
    graph = ToolGraph(FUNCTIONS)
    check(
        "tool_links",
        {
            FUNCTIONS[k]["name"]: [
                f"{FUNCTIONS[link.tool]['name']} {link.weight:.3f} {link.kind}" for link in graph.links(k)
            ]
            for k in range(len(FUNCTIONS))
        },
    )
    walks = {
        f"{size} from {start} by {seed}": graph.walk(size, Random(seed), start)
        for size in (1, 4, 30)
        for start in (None, 0, 9)
        for seed in (1, 2)
    }
    check("tool_walks", walks)
    alike = [
        {
            "name": f"t{k}",
            "description": f"Thing {k}.",
            "parameters": {
                "type": "object",
                "properties": {"id": {"type": "string", "description": "The id."}},
            },
        }
        for k in range(16)
    ]
    check(
        "tool_links_of_many",
        [[f"{link.tool} {link.weight:.3f}" for link in ToolGraph(alike).links(k)] for k in (0, 7, 15)],
    )


def test_classes_of_parameters_and_words_of_a_definition_are_listed():
    parameters = {
        "type": "object",
        "properties": {
            "a": TEXT,
            "b": {
                "type": "array",
                "items": {"type": "object", "properties": {"c": {"type": "integer", "description": "C."}}},
            },
            "d": {"type": "object", "properties": {"e": {"type": "array", "items": {"type": "object"}}}},
            "f": {"type": "object", "properties": {"g": TEXT}},
            "h": {"type": "boolean", "enum": [True]},
        },
    }
    assert api_parameter_classes(parameters) == {
        "a": "text",
        "b": "list",
        "d": "object_deep",
        "f": "object_short",
        "h": "enum",
    }
    assert [
        api_parameter_class({"type": kind}) for kind in ("number", "float", "integer", "boolean", "null")
    ] == ["number", "number", "number", "bool", "text"]
    assert [path for path, _ in nested_schemas(parameters)] == [
        "a",
        "b",
        "b[]",
        "b[].c",
        "d",
        "d.e",
        "d.e[]",
        "f",
        "f.g",
        "h",
    ]
    assert (
        definition_text({"name": "n", "description": "d", "parameters": parameters})
        == "n d a A text. b  b[]  c C. d  e  e[]  f  g A text. h "
    )
    assert definition_text({"name": "n"}) == "n None"


def test_small_groups_of_tools_join_those_of_their_domain():
    apis = [api(f"a{k}", k, "one/x") for k in range(3)] + [
        api("b", 4, "one/y"),
        api("c", 5, "one/z"),
        api("d", 6, "two/v"),
        api("e", 7, "three/w"),
    ]
    assert [[tool["function"]["name"] for tool in tools] for tools in grouped_tools(apis)] == [
        ["a0", "a1", "a2"],
        ["b", "c", "d", "e"],
    ]
    more = [*apis, api("f", 8, "one/u")]
    assert [[tool["function"]["name"] for tool in tools] for tools in grouped_tools(more)] == [
        ["a0", "a1", "a2"],
        ["b", "c", "f"],
        ["d", "e"],
    ]


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_says_what_was_not_done(name: str):
    parent = SIBLINGS[0].function
    children = {
        "itself": parent,
        **{other: evolve(parent, other, Random(4), "en", "list") for other in OPERATORS},
        "right": RIGHT,
        "empty": {**parent, "parameters": {"type": "object", "properties": {}}},
    }
    rows = {child: OPERATORS[name](parent, made) for child, made in children.items()}
    check(
        f"operator_{name.replace(' ', '_')}",
        {
            **rows,
            "of nothing": OPERATORS[name](children["empty"], parent),
            "able": [is_applicable(name, made) for made in (parent, children["empty"])],
        },
    )


def test_attempts_are_given_the_same_things_to_make():
    trees: Any = {"en": TREE, "zh": seed_tree("zh")}
    apis = (
        *SIBLINGS,
        api("third", 3, parents=("oldOne",), generation=3),
        api("fourth", 4, "goods", lang="en"),
    )
    rows: list[str] = []
    for snapshot, begin in ((ApiSnapshot(trees), 0), (ApiSnapshot(trees, apis), 16)):
        generation = Generation(snapshot, begin, "s", ["en", "zh"])
        for attempt in range(begin, begin + 24):
            made = generation.assign(attempt)
            assert made is not None
            parts = [made.lang, made.place.id, made.path, len(made.siblings), made.kind, made.complexity]
            parts += [made.function and made.function.name, made.parent and made.parent.name]
            rows.append(f"{made.attempt}: {' '.join(map(str, parts))} {made.operator} {made.target}")
    check("assignments", rows)
    assert Generation(ApiSnapshot({"en": DomainTree()}), 0, "s", ["en"]).assign(0) is None


def test_begun_places_come_first_then_those_of_the_tree_then_the_emptier():
    seed, grown = TREE.nodes["markets"], TREE.nodes["goods"]
    ranks = [[_rank(node, count) for count in (0, 1, 7, 8, 15, 16, 24)] for node in (seed, grown)]
    full = [(0, 0), (0, 0), (2, 1), (2, 1), (2, 2), (2, 3)]
    assert ranks == [[(1, 0), *full], [(2, 1), *full]]


NAMES: list[Any] = ["", " / ", 3, None, "x" * 60, "x" * 61, "a\x07b", "a / b", "Fine name"]


def test_a_tree_grows_by_names_that_can_be_shown():
    assert {str(name)[:9]: name_problem(name) for name in NAMES} == {
        "": "must be a text of some words",
        " / ": "must be a text of some words",
        "3": "must be a text of some words",
        "None": "must be a text of some words",
        "xxxxxxxxx": "is too long; at most 60 characters",
        "a\x07b": "has characters that cannot be shown",
        "a / b": "",
        "Fine name": "",
    }
    assert name_problem("x" * 60) == ""
    assert (plain_name(" a/b  c "), child_id("", "A/B"), child_id("x", " Y ")) == ("a b c", "a b", "x/y")
    grown = TREE.with_nodes(
        [
            ("markets/stalls", "Weigh", "attempt 1"),
            ("markets/stalls", "WEIGH", "again"),
            ("nowhere", "x", "lost"),
            ("markets/stalls/weigh", "deeper", "no"),
            ("", "New", "seed"),
            ("new", "Sub", "seed"),
        ]
    )
    check(
        "grown_tree",
        [
            f"{row['id']} {row['parent']} {row['name']} {row['source']} {row['depth']} {row['api_ids']}"
            for row in grown.with_apis({"goods": ["a", "b"]}).rows()
        ],
    )
    assert [node.id for node in grown.places()] == ["markets/stalls", "goods", "new/sub"]
    assert grown.path("markets/stalls/weigh") == ("Markets", "Stalls", "Weigh")
    assert [node.id for node in grown.children("markets")] == ["markets/stalls"]


TREES: dict[str, str] = {
    "nested.json": '{"A": {"B": ["c", "d"], "E": null}, "F": []}',
    "list.json": '["A", "B"]',
    "deep.json": '{"A": {"B": {"C": {"D": null}}}}',
    "deepest.json": '{"A": {"B": {"C": null}}}',
    "number.json": "3",
    "value.json": '{"A": 3}',
    "empty.json": "{}",
    "name.json": '{"A": {" ": null}}',
    "broken.json": "{",
    "rows.json": '[{"name": "A", "parent": ""}, {"name": "B", "parent": "a"}]',
    "nodes.json": '{"nodes": [{"name": "A", "parent": null}]}',
    "lost.json": '[{"name": "B", "parent": "a"}]',
    "unnamed.json": '[{"parent": ""}]',
    "tree.yaml": "A:\n  B: [c]\n",
    "long.json": json.dumps({"A": ["x" * 61]}),
}


def test_a_file_is_read_as_a_tree_or_refused_with_the_place(tmp_path: Path):
    rows: dict[str, Any] = {}
    for name, text in TREES.items():
        path = tmp_path / name
        path.write_text(text)
        try:
            rows[name] = [f"{node.id} {node.source} {node.depth}" for node in read_tree(path).nodes.values()]
        except DataError as error:
            rows[name] = str(error).replace(str(path), "FILE")
    check("trees", rows)


def test_documents_are_cut_and_read_as_before(tmp_path: Path):
    path = tmp_path / "a.md"
    path.write_text("one\n\n" + "x" * 3990 + "\ntwo\n\n" + "y" * 9000 + "\n\n  \n" + "z" * 20)
    cut = [
        f"{p.document} {p.number} {p.lang} {len(p.text)} {p.text[:1]}" for p in passages([path], ["en", "zh"])
    ]
    check("passages", cut)
    (tmp_path / "b.md").write_text("\ufeffone", "utf-8")
    assert [passage.text for passage in passages([tmp_path / "b.md"], ["en"])] == ["one"]
    said = {
        "none": {},
        "empty": {"domains": []},
        "no list": {"domains": {}},
        "names": {"domains": [{"name": ""}, {"name": "x" * 61}, {"name": "Markets"}]},
        "quotes": {
            "domains": [
                {
                    "name": "Markets",
                    "subdomains": [
                        {"name": "Stalls", "quote": "A  STALL is let", "functions": ["let", "", 3]},
                        {"name": "Lost", "quote": "nowhere"},
                        {"name": "None"},
                        {"name": "", "quote": "let"},
                        {"name": "Blank", "quote": " "},
                    ],
                }
            ]
        },
        "many": {"domains": [{"name": f"d{k}"} for k in range(14)]},
        "many below": {
            "domains": [
                {
                    "name": "d",
                    "subdomains": [
                        {"name": f"s{k}", "quote": "let", "functions": [f"f{j}" for j in range(14)]}
                        for k in range(14)
                    ],
                }
            ]
        },
    }
    check(
        "read_nodes",
        {name: _read_whole(json.dumps(value), "A stall is let\nfor a day.") for name, value in said.items()},
    )


def _read_whole(text: str, passage: str) -> Any:
    try:
        nodes, faults = _read_nodes(text, passage)
    except RefusedReplyError as refused:
        return ["refused", *_texts(refused.faults)]
    return [len(nodes), " ".join(map(repr, nodes))[:300], *_texts(faults)]
