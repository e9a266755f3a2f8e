"""What is wrong with a case file is named with its line, its field and what to write."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cases.reading import read
from wildtool.own_cases.judging import judge_turn
from wildtool.own_cases.yaml_text import read_yaml_text

SUFFIXES = {
    "yaml": "own.cases.yaml",
    "jsonl": "own.cases.jsonl",
    "csv": "own.cases.csv",
    "json": "own.cases.json",
}
BAD = [
    ("jsonl", '{"input":"x","expects":[]}', 1, "did you mean 'expect'"),
    (
        "jsonl",
        '{"input":"x","expect":[{"name":"f","args":{"a":1}}]}',
        1,
        "'args' here; did you mean 'arguments'",
    ),
    ("jsonl", '{"input":"x","expect":[{"tool":"f","arguments":{}}]}', 1, "did you mean 'name'"),
    (
        "jsonl",
        '{"input":"x","expect":[{"name":"f","arguments":"{\\"a\\":1}"}]}',
        1,
        "is a text: write the object itself",
    ),
    ("jsonl", '{"input":"x","expect":null}', 1, "write [] for no call"),
    ("yaml", "cases:\n- input: x\n  expect:\n- input: y\n  expect: none", 3, "write [] for no call"),
    ("yaml", "cases:\n- input: x\n  expect:\n    get: {a: 1}\n    get: {a: 2}", 5, "occurs twice"),
    ("yaml", "cases:\n- input: x\n  expect: {get: {a: 1}, put: {a: 2}}", 3, "one call a list item"),
    ("yaml", "cases:\n- input: x\n  expect:\n  - get:\n    a: 1", 4, "Then indent it"),
    ("yaml", "cases:\n- input: note: this\n  expect: none", 2, "needs quotes"),
    ("yaml", "cases:\n- input: x\n  expect: {f: {a: {$liek: b}}}", 3, "no matcher"),
    ("yaml", "cases:\n- input: x\n  expect: {f: {a: {$regex: b}}}", 3, "did you mean '$pattern'"),
    ("yaml", 'cases:\n- input: x\n  expect: {f: {a: {$pattern: "("}}}', 3, "not a regular expression"),
    ("yaml", "cases:\n- input: x\n  expect: {f: {a: {$near: 3}}}", 3, "needs $within"),
    ("yaml", "cases:\n- input: x\n  expect: {f: {q: {age: 1, $gt: 5}}}", 3, "written {$is"),
    ("yaml", "cases:\n- input: x", 2, "nothing is judged"),
    ("yaml", "cases:\n- input: x\n  never: []", 3, "could never fail"),
    ("yaml", "cases:\n- input: x\n  expect: f\n  never: [f]", 4, "cannot pass"),
    ("yaml", "cases:\n- input: x\n  expect_any: [[[f],[g]], h]", 3, "three deep"),
    ("yaml", "cases:\n- input: x\n  expect: [[f, g]]", 3, "one_of"),
    ("yaml", 'cases:\n- input: x\n  expect: f\n  must: "true"', 4, "true without quotes"),
    ("yaml", "cases:\n- input: x\n  expect: f\n  at_least: 90", 4, "(0.9?)"),
    (
        "yaml",
        "cases:\n- id: a\n  input: x\n  expect: f\n- id: a\n  input: y\n  expect: f",
        5,
        "already that of line 2",
    ),
    ("jsonl", '{"input":"x","expect":"f"}\n{"input":"y","expect":"f",}', 2, "not JSON at column"),
    (
        "jsonl",
        '{"defaults":{"must":true}}\n{"input":"x","expect":"f"}\n{"defaults":{}}',
        3,
        "on an earlier line",
    ),
    ("jsonl", '{"reviewers":1}\n{"reviewers":2,"defaults":{}}\n{"input":"x","expect":"f"}', 2, "'reviewers'"),
    ("jsonl", '{"input":"x","expect":"f(1)"}', 1, "arguments by name"),
    ("jsonl", '{"input":"x","expect":"f(a=hello)"}', 1, "put texts in quotes"),
    ("jsonl", '{"input":"x","expect":"f(a=1, a=2)"}', 1, "occurs twice"),
    ("csv", "input,expect\nhello,\n", 2, "write none for no call"),
    ("csv", "input,expect\nhello, you,none\n", 2, "more cells than columns"),
    ("csv", "input,expect,expect\nhello,f,none\n", 1, "'expect' occurs twice"),
    ("csv", "input,expect\n", 1, "holds no case"),
    ("json", '{"eval_cases": []}', 1, "holds no case"),
    ("yaml", "defaults: {tools: [], input: x}\ncases:\n- input: x\n  expect: none", 1, "belongs to a case"),
    ("jsonl", '{"input":"x","messages":[],"expect":"f"}', 1, "exclude each other"),
    (
        "jsonl",
        '{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],"expect":"f"}',
        1,
        "ends with an assistant",
    ),
    ("yaml", "cases:\n- input: x\n  expect:\n  - f:", 4, "means no arguments"),
    ("yaml", 'cases:\n- input: x\n  says: ""\n  expect: f', 3, "could never fail"),
    ("yaml", "cases:\n- input: x\n  expect: {f: {a: {$any: false}}}", 3, "$absent: true"),
    ("yaml", "cases:\n- input: x\n  expect: f\n  order: strict", 4, "'any' or 'listed'"),
    ("json", '{"cases": [\n\t{"input": "x",\n\t "expect": {"f": {}}, "expect": []}\n]}', 3, "occurs twice"),
    ("json", '[\n {"input": "x",\n  "tag": ["a"],\n  "expect": "f"}\n]', 3, "did you mean 'tags'"),
    ("yaml", "- input: x\n  expect:\n  - f: {a: {$date: today+1d}}", 3, "give it a 'date'"),
    ("yaml", "- input: x\n  date: now\n  expect: f", 2, "2026-03-30"),
    ("yaml", "- input: x\n  expect:\n  - f: {a: {$from: first.id}}", 3, "no call before has 'as: first'"),
    ("yaml", "- input: x\n  expect: {f: {a: {$maybe: 1, $gt: 0}}}", 2, "$maybe is alone"),
    ("yaml", "- input: x\n  expect:\n  - {name: g, after: [first]}", 2, "no other call has 'as: first'"),
    ("yaml", "- input: x\n  expect: {f: {a: !!python/object:os.system 1}}", 2, "is not read"),
    ("yaml", "- input: x\n  expect: {f: {a: 1}, times: 0}", 2, "is 3, 1+ or 1-3"),
    ("yaml", "- turns:\n  - input: x\n  - input: y\n    answer: z", 1, "nothing is judged in any turn"),
    ("yaml", "- turns:\n  - input: x\n    expects: f", 3, "did you mean 'expect'"),
    ("yaml", "- input: x\n  expect: f\n  repeat: many", 3, "takes a number"),
    ("yaml", "defaults: {also: {get: 1}}\ncases:\n- input: x\n  expect: f", 1, "takes a list of names"),
    ("yaml", "- turns:\n  - input: x\n    expect: f\n  says: y", 4, "belongs to a turn"),
    ("yaml", "- turns:\n  - input: x\n    expect: f\n    answer: 3", 4, "takes a text"),
    ("yaml", "- turns: {input: x, expect: f}", 1, "a list of turns"),
    ("yaml", "- input: x\n  expect: none\n  never: [{name: f, times: 2}]", 3, "'times' has no meaning"),
    ("yaml", "- input: x\n  expect: {one_of: [{f: {}, as: a}, g]}", 2, "'as' has no meaning"),
    ("yaml", "- input: x\n  expect: {one_of: [f, g], extra: x}", 2, "takes true or false"),
    ("yaml", "- input: x\n  expect: {f: {a: {$contains: [b, '']}}}", 2, "could never fail"),
    ("yaml", "- input: x\n  expect: {f: {a: {$pattern: ''}}}", 2, "takes a regular expression"),
    ("yaml", "- input: x\n  expect: f\n  skip: ''", 3, "say why"),
    ("yaml", "- input: x\n  expect: f\n  tools: {mcp: {command: a, args: -y}}", 3, "takes a command"),
    ("yaml", "services: {web: {image: nginx}}\nversion: 3", 1, "is no case"),
    (
        "yaml",
        "- messages: [{role: system, content: a}, {role: user, content: b}]\n  system: c\n  expect: f",
        2,
        "leave one of them out",
    ),
]


@pytest.mark.parametrize(("kind", "text", "line", "words"), BAD)
def test_a_mistake_is_named_at_its_line(tmp_path: Path, kind: str, text: str, line: int, words: str):
    faults = read(tmp_path, text, SUFFIXES[kind]).errors
    assert any(fault.line == line and words in fault.message for fault in faults), [*map(str, faults)]


TOOLS = """
defaults:
  tools:
  - name: refund
    parameters:
      type: object
      properties:
        order_id: {type: string}
        cents: {type: integer}
        reason: {type: string, enum: [damaged, late]}
      required: [order_id]
cases:
- input: x
"""


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("  expect: {refnd: {order_id: A}}", "did you mean 'refund'"),
        ("  expect: {refund: {order: A, order_id: B}}", "did you mean 'order_id'"),
        ("  expect: {refund: {order_id: A, reason: lat}}", "did you mean 'late'"),
        ("  expect: {refund: {order_id: A, cents: '5'}}", "takes a number"),
        ("  expect: {refund: {cents: 5}}", "'order_id' is missing"),
        ("  expect: none\n  offer: [refunds]", "did you mean 'refund'"),
        ("  expect: {refund: {order_id: A, reason: {$one_of: [damaged, lost]}}}", '"lost" is not one of'),
    ],
)
def test_what_the_tools_do_not_have_is_named(tmp_path: Path, case: str, words: str):
    faults = read(tmp_path, TOOLS + case).errors
    assert [words in fault.message for fault in faults] == [True], [*map(str, faults)]


BRANCHES = """
defaults:
  tools:
  - name: find
    parameters:
      type: object
      $defs: {Size: {type: string, enum: [s, m]}}
      properties:
        id: {anyOf: [{type: integer}, {type: "null"}]}
        size: {oneOf: [{$ref: "#/$defs/Size"}, {type: integer}]}
        code: {anyOf: [{type: string}, {type: "null"}]}
        zip: {type: [string, "null"]}
        color: {anyOf: [{enum: [red]}, {const: blue}]}
        free: {anyOf: [{type: boolean}, {}]}
cases:
- input: x
"""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("id: abc", "the tool takes a number"),
        ("id: true", "the tool takes a number"),
        ("size: xl", 'takes ["s", "m"] or integer'),
        ("color: green", '"green" is not one of ["red", "blue"]'),
    ],
)
def test_a_value_that_no_branch_of_a_schema_allows_is_named(tmp_path: Path, arguments: str, words: str):
    faults = read(tmp_path, f"{BRANCHES}  expect: {{find: {{{arguments}}}}}").errors
    assert [words in fault.message for fault in faults] == [True], [*map(str, faults)]


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ("id: 5", {"id": 5}),
        ("id: null", {"id": None}),
        ("size: m", {"size": "m"}),
        ("size: 4", {"size": 4}),
        ("code: 007", {"code": "007"}),
        ("zip: 01234", {"zip": "01234"}),
        ("code: null", {"code": None}),
        ("color: blue", {"color": "blue"}),
        ("free: anything", {"free": "anything"}),
    ],
)
def test_a_value_is_read_by_the_branches_of_its_schema(tmp_path: Path, arguments: str, meant: dict[str, Any]):
    found = read(tmp_path, f"{BRANCHES}  expect: {{find: {{{arguments}}}}}")
    assert not found.errors, [*map(str, found.errors)]
    ((_, unit),) = found.cases[0].units.items()
    right = judge_turn(unit.expectation, [("find", meant)], "", unit.parameters)
    wrong = judge_turn(unit.expectation, [("find", {next(iter(meant)): "other"})], "", unit.parameters)
    assert right.error is None and wrong.error is not None


def test_a_file_of_anchors_that_grow_without_end_is_refused(tmp_path: Path):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    (fault,) = read(tmp_path, "\n".join(lines)).errors
    assert "more than" in fault.message


@pytest.mark.parametrize("text", ["[" * 200_000, "{a: " * 50_000, "- " * 100_000, "[" * 99 + "]" * 99])
def test_a_file_of_brackets_is_refused_and_does_no_harm(tmp_path: Path, text: str):
    assert read(tmp_path, text).errors


@pytest.mark.parametrize(
    "inner", ["lambda:" * 2_500 + "1", "1" + "+1" * 8_000, "x." * 9_000 + "y", "1e999", "b'x'"]
)
def test_a_text_that_is_no_call_is_refused_and_nothing_of_it_is_run(tmp_path: Path, inner: str):
    case = json.dumps({"input": "x", "expect": f"f(a={inner})"})
    assert "texts in quotes" in read(tmp_path, case, "a.cases.jsonl").errors[0].message


def test_an_alias_is_what_it_stands_for_with_its_text_as_it_was_typed(tmp_path: Path):
    tool = "{name: f, parameters: {type: object, properties: {a: {type: string}}}}"
    cases = "- input: x\n  expect: {f: &f {a: 10115}}\n- input: y\n  expect: {f: *f}\n"
    text = f"defaults: {{tools: [{tool}]}}\ncases:\n{cases}"
    patterns = [case.units["1"].expectation.slots[0].patterns[0] for case in read(tmp_path, text).cases]
    assert [pattern.arguments for pattern in patterns] == [{"a": "10115"}] * 2


def test_the_shipped_example_has_no_fault_and_fits_its_schema(tmp_path: Path):
    shipped = files("wildtool.data").joinpath("new_cases")
    for name in ("tools.json", "cases.yaml"):
        (tmp_path / name).write_text(shipped.joinpath(name).read_text("utf-8"), encoding="utf-8")
    text = (tmp_path / "cases.yaml").read_text("utf-8")
    assert not read(tmp_path, text, "cases.yaml").faults
    schema = json.loads(shipped.joinpath("cases.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(read_yaml_text(text).value)
