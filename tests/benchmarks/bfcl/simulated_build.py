"""Small scenarios for the simulated classes."""

from collections.abc import Mapping
from typing import Any

from wildtool.benchmarks.bfcl.simulated import CLASS_MODULES, SimulatedApis

TREE: Mapping[str, Any] = {
    "root": {
        "home": {
            "type": "directory",
            "contents": {
                "notes.txt": {"type": "file", "content": "b\na"},
                "kept.txt": {"type": "file", "content": "one two"},
                "box": {"type": "directory", "contents": {}},
                "bag": {"type": "directory", "contents": {"coin": {"type": "file", "content": "x"}}},
            },
        }
    }
}


def simulated(
    *classes: str, long_context: bool = False, version: str = "v4", **scenario: Any
) -> SimulatedApis:
    """Instances of the classes, all by default. Args: scenario: of each class named."""
    config = {"GorillaFileSystem": TREE, **{name: scenario for name in classes if scenario}}
    return SimulatedApis(classes or tuple(CLASS_MODULES), config, long_context=long_context, version=version)


def result(apis: SimulatedApis, call: str) -> str:
    """What the model is shown of one call."""
    (text,) = apis.execute([call])
    return text
