"""Sets that are the same data under several names (specification of training data, 1.2)."""

from collections.abc import Iterable, Mapping

_FAMILIES: Mapping[str, tuple[str, ...]] = {
    "Glaive function calling v2": (
        *("glaive-chatml", "glaive-toolcall", "pandora", "bitagent"),
        *("function-calling-chatml", "glaive-toolcall-en", "glaive-toolcall-zh", "glaive-toolcall-zh-tw"),
        *("pandora-tool-calling", "glaive-function-calling", "glaive-function-calling-v2"),
    ),
    "ToolBench (RapidAPI)": (
        *("toolbench", "toolgen", "toolbench-toolllama-g123-dfs", "toolgen-atomic"),
        *("toolgen-atomic-memorization", "toolgen-atomic-retrieval"),
    ),
    "Hermes function calling": (
        *("hermes", "hermes-prompts", "tool-calls-sampled-prompts", "tool-calls-multiturn"),
        "tool-calls-singleturn",
    ),
}


def shared_families(names: Iterable[str]) -> dict[str, list[str]]:
    """Each family of which several of these names are members, with those names in order.

    Args:
        names: of sets or their files; a place on a hub, an ending and `_` for `-` make no difference.
    """
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        plain = name.lower().rpartition("/")[2].partition(".")[0].replace("_", "-")
        for family, members in _FAMILIES.items():
            if plain in members:
                found.setdefault(family, []).append(name)
    return {family: members for family, members in found.items() if len(members) > 1}
