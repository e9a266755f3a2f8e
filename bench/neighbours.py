"""The graph of 5,000 tools: how long it takes, beside comparing each description with each, and what is lost by not
doing so.

Tools are the built-in ones with other words added to each description, so that hardly any two are the same.
"""

import sys
import time
from itertools import combinations
from random import Random
from typing import Any

from measure import Line, main
from wildtool.toolcall.text.similarity import TfidfIndex
from wildtool_data.make.procedural.tool_sets import built_in_tool_sets
from wildtool_data.make.tools.graph import MIN_LINK_SIMILARITY, ToolGraph

TOOLS = 5_000
COMPARED = 2_000
"""Texts that are compared each with each; the time is scaled to all of them."""
NEAREST = 5


def tools() -> list[dict[str, Any]]:
    """Definitions with words of their own."""
    draw = Random(1)
    known = [tool.definition["function"] for tools in built_in_tool_sets("en") for tool in tools]
    words = sorted({word for function in known for word in function["description"].split()})
    made: list[dict[str, Any]] = []
    for k in range(TOOLS):
        function = draw.choice(known)
        properties = {
            name: {
                **schema,
                "description": f"{schema['description']} {draw.choice(words)} {draw.choice(words)}",
            }
            for name, schema in function["parameters"]["properties"].items()
        }
        about = f"{function['description']} {draw.choice(words)} {draw.choice(words)}"
        parameters = {"type": "object", "properties": properties}
        made.append({"name": f"{function['name']}{k}", "description": about, "parameters": parameters})
    return made


def measure(repeats: int) -> list[Line]:
    functions = tools()
    texts = sorted(
        {
            f"{name} {schema['description']}"
            for function in functions
            for name, schema in function["parameters"]["properties"].items()
        }
    )
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(repeats):
        begun = time.process_time()
        ToolGraph(functions)
        ours.append(time.process_time() - begun)
        sample = TfidfIndex(texts[:COMPARED])
        begun = time.process_time()
        for a, b in combinations(range(COMPARED), 2):
            sample.similarity(a, b)
        theirs.append((time.process_time() - begun) * (len(texts) / COMPARED) ** 2)
    print(
        f"{len(texts):,} descriptions; {_kept(texts):.1%} of the likeness of the nearest {NEAREST} kept",
        file=sys.stderr,
    )
    return [
        Line(
            what=f"graph of {TOOLS:,} tools",
            unit="s of the processor",
            ours=ours,
            versus="each description with each",
            baseline=theirs,
            target=20,
        )
    ]


def _kept(texts: list[str]) -> float:
    """How alike the nearest texts that are found are, as a share of how alike the nearest are; 1 where none is missed."""
    likeness = TfidfIndex(texts)
    found = exact = 0.0
    for one in range(0, len(texts), len(texts) // 200):
        whole = sorted((likeness.similarity(one, k) for k in range(len(texts)) if k != one), reverse=True)[
            :NEAREST
        ]
        exact += sum(value for value in whole if value >= MIN_LINK_SIMILARITY)
        found += sum(value for _, value in likeness.nearest(one, NEAREST, MIN_LINK_SIMILARITY))
    return found / exact if exact else 1.0


if __name__ == "__main__":
    main(measure)
