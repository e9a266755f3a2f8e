"""What rules say of designed tools, in full; how tools are joined, grouped and given out; and how growth is counted."""

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from generate.careless import careless
from generate.golden import check
from generate.procedural.wide_tools import OFFICE, SHOP
from generate.tools.players import design, evolve
from wildtool.errors import DataError, UsageError
from wildtool.findings import Finding
from wildtool.sets.make.core.parsing import RefusedReplyError
from wildtool.sets.make.core.roles import ScriptResult
from wildtool.sets.make.tools.api import (
    ApiSpec,
    api_parameter_class,
    api_parameter_classes,
    definition_text,
    nested_schemas,
)
from wildtool.sets.make.tools.assignments import ApiSnapshot, Assignment, Generation
from wildtool.sets.make.tools.documents import _read_nodes, passages  # pyright: ignore[reportPrivateUsage]
from wildtool.sets.make.tools.graph import ToolGraph
from wildtool.sets.make.tools.growth import ApiGrowth, generation_span
from wildtool.sets.make.tools.maker import ApiMaker, ToolGenerationSpec, recorded_jobs
from wildtool.sets.make.tools.operators import OPERATORS, is_applicable
from wildtool.sets.make.tools.output import grouped_tools
from wildtool.sets.make.tools.rules import near_duplicate_of, parse_call, parse_design, proposed_names
from wildtool.sets.make.tools.script import AcceptedApi
from wildtool.sets.make.tools.tree import DomainTree, child_id, name_problem, plain_name, read_tree, seed_tree
from wildtool.types import Request


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


def growth(wanted: int = 3, **more: Any) -> ApiGrowth:
    return ApiGrowth(wanted, "1", ("en",), [], ApiSnapshot({"en": TREE}), **more)


def kept(name: str, seed: int) -> ScriptResult[AcceptedApi]:
    made = api(name, seed)
    return ScriptResult(
        AcceptedApi(
            made,
            (("markets/stalls", f"do {name}"),),
            (("markets/stalls", "let a stal"), ("markets/stalls", "sweep the floor")),
        ),
        counters={"designer asked": 1},
    )


LOST: ScriptResult[AcceptedApi] = ScriptResult(None, "designer S1", "odd")


def test_growth_knows_what_is_due_before_and_after_each_result():
    grown = growth()
    assert (grown.jobs, grown.end, grown.enough, grown.needs_more) == (6, 16, False, True)
    assert [(grown.is_decided(job), grown.is_due(job)) for job in (0, 2, 3, 15, 16)] == [
        (True, True),
        (True, True),
        (False, True),
        (False, True),
        (False, False),
    ]
    grown.record_result(1, LOST)
    assert [grown.is_decided(job) for job in (3, 4)] == [True, False]
    grown.record_result(0, kept("one", 11))
    grown.record_result(2, kept("ONE", 12))
    grown.record_result(3, kept("two", 11))
    assert [(loss.attempt, loss.reason, loss.detail) for loss in grown.losses] == [
        ("1", "designer S1", "odd"),
        ("2", "taken", "there is an API called ONE already"),
        ("3", "near duplicate", "two is nearly one, which is there already"),
    ]
    assert [grown.is_decided(job) for job in (5, 6)] == [True, False]
    with pytest.raises(ValueError, match="job 3 is not of this generation"):
        grown.record_result(3, LOST)
    with pytest.raises(ValueError, match="job 16 is not of this generation"):
        grown.record_result(16, LOST)
    for job, seed in ((4, 13), (5, 14)):
        grown.record_result(job, kept(f"k{job}", seed))
    assert (grown.enough, grown.needs_more, grown.is_due(6), grown.is_decided(99)) == (
        True,
        False,
        False,
        True,
    )
    assert grown.counters == {"designer asked": 5}
    nodes = grown.next_snapshot().trees["en"].children("markets/stalls")
    assert [(node.name, node.source) for node in nodes] == [
        ("let a stall", "seed"),
        ("do one", "attempt 0"),
        ("sweep the floor", "attempt 0"),
        ("do k4", "attempt 4"),
        ("do k5", "attempt 5"),
    ]


def test_growth_stops_where_most_calls_of_a_generation_failed():
    for broken, stopped in ((8, False), (9, True)):
        grown = growth(30)
        for job in range(16):
            grown.record_result(job, None if job < broken else LOST)
        assert (grown.stopped, grown.end, grown.is_due(16)) == (stopped, 16 if stopped else 48, not stopped)
        assert (grown.losses[0].reason, grown.losses[0].detail) == (
            "infra_error",
            "a call failed after all its retries",
        )
    grown = growth(30)
    grown.abandon(0)
    assert (grown.stopped, grown.losses, grown.is_decided(5), grown.is_due(1)) == (True, [], True, False)


def test_generations_have_their_sizes():
    assert [generation_span(job, 3) for job in (0, 2, 3, 18, 19, 50, 51, 115, 243, 500)] == [
        (0, 3),
        (0, 3),
        (3, 19),
        (3, 19),
        (19, 51),
        (19, 51),
        (51, 115),
        (115, 243),
        (243, 499),
        (499, 755),
    ]
    assert generation_span(0, 0) == (0, 16)
    for spec in (ToolGenerationSpec(0), ToolGenerationSpec(1, langs=())):
        with pytest.raises(UsageError) as refused:
            ApiMaker(spec)
        assert str(refused.value) == "the number of tools must be at least 1, in at least one language"


def test_jobs_of_a_record_are_those_with_a_number():
    names = ["3", "x", "³", "1234567890", "123456789", "", "12", "-1"]
    reader: Any = SimpleNamespace(jobs=lambda: [(name, 0) for name in names])
    assert recorded_jobs(reader) == [3, 123456789, 12]
