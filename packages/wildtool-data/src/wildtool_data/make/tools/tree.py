"""The context tree: domains, their sub-domains, the functions that APIs are made for; it grows as they are found."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, cast

from wildtool.errors import DataError
from wildtool.json_codec import as_list
from wildtool.toolcall.schema import as_schema
from wildtool.tools.sources.tool_files import read_document, read_tool_text
from wildtool_data.make.core.plan import Lang

SEED_TREE_FILE = Path(__file__).parent / "seed_tree.json"
SUBDOMAIN_DEPTH = 2
"""Depth of sub-domains, for which APIs are made."""
FUNCTION_DEPTH = 3
"""Depth of functions."""
MAX_NODE_NAME_CHARACTERS = 60
MAX_TREE_NODES = 20_000
_BETWEEN = "/"


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A domain, a sub-domain or a function."""

    id: str
    """Names from the domain down, joined by `/`."""
    parent: str
    """Id of the node above; empty for a domain."""
    name: str
    source: str
    """Where it comes from: `seed`, `file`, `document NAME`, or `attempt N`."""
    depth: int
    """1 for a domain, 2 for a sub-domain, 3 for a function."""
    api_ids: tuple[str, ...] = ()
    """Names of the APIs that were made for it."""


class DomainTree:
    """Nodes by id, those above before those below; never changed, only grown into another."""

    def __init__(self, nodes: Mapping[str, TreeNode] | None = None) -> None:
        self.nodes: Mapping[str, TreeNode] = nodes or {}
        self._below: dict[str, list[str]] = {}
        for node in self.nodes.values():
            self._below.setdefault(node.parent, []).append(node.id)

    def children(self, id_: str) -> list[TreeNode]:
        return [self.nodes[below] for below in self._below.get(id_, ())]

    def path(self, id_: str) -> tuple[str, ...]:
        """Names from the domain down to a node."""
        node = self.nodes[id_]
        return (*(self.path(node.parent) if node.parent else ()), node.name)

    def places(self) -> list[TreeNode]:
        """Where APIs are made: sub-domains, and domains that have none."""
        nodes = (node for node in self.nodes.values() if node.depth <= SUBDOMAIN_DEPTH)
        return [node for node in nodes if node.depth == SUBDOMAIN_DEPTH or not self._below.get(node.id)]

    def with_nodes(self, proposed: Sequence[tuple[str, str, str]]) -> "DomainTree":
        """With further nodes: id of the parent (empty for a domain), name and source of each. What is there stays."""
        nodes = dict(self.nodes)
        for parent, name, source in proposed:
            above = nodes.get(parent)
            id_ = child_id(parent, name)
            depth = above.depth + 1 if above else 1
            fits = depth <= FUNCTION_DEPTH and len(nodes) < MAX_TREE_NODES
            if fits and id_ not in nodes and (above or not parent):
                nodes[id_] = TreeNode(id_, parent, plain_name(name), source, depth)
        return DomainTree(nodes)

    def with_apis(self, names: Mapping[str, Sequence[str]]) -> "DomainTree":
        """With the names of the APIs that were made for each node, by its id."""
        return DomainTree(
            {id_: replace(n, api_ids=tuple(names.get(id_, ()))) for id_, n in self.nodes.items()}
        )

    def rows(self) -> list[dict[str, Any]]:
        """The nodes as they are written."""
        return [{**asdict(node), "api_ids": list(node.api_ids)} for node in self.nodes.values()]


def plain_name(name: str) -> str:
    """A node's name: single spaces, and nothing that stands between names."""
    return " ".join(name.replace(_BETWEEN, " ").split())


def child_id(parent: str, name: str) -> str:
    """The id of a node below another; names that differ in small and capital letters alone are one."""
    own = plain_name(name).casefold()
    return f"{parent}{_BETWEEN}{own}" if parent else own


def name_problem(name: Any) -> str:
    """Why something cannot be the name of a node; empty for a name."""
    if not isinstance(name, str) or not plain_name(name):
        return "must be a text of some words"
    if len(name) > MAX_NODE_NAME_CHARACTERS:
        return f"is too long; at most {MAX_NODE_NAME_CHARACTERS} characters"
    return "" if plain_name(name).isprintable() else "has characters that cannot be shown"


@cache
def seed_tree(lang: Lang) -> DomainTree:
    """The tree that comes with the package: eight domains with their sub-domains."""
    k = 0 if lang == "en" else 1
    nodes: list[tuple[str, str, str]] = []
    for domain in json.loads(SEED_TREE_FILE.read_text(encoding="utf-8")):
        nodes.append(("", domain["name"][k], "seed"))
        nodes += [(child_id("", domain["name"][k]), names[k], "seed") for names in domain["below"]]
    return DomainTree().with_nodes(nodes)


def read_tree(path: Path) -> DomainTree:
    """A tree of a JSON or YAML file: objects in objects, the innermost a list of names; or the nodes of a written tree.

    Raises DataError naming the entry that cannot be read.
    """
    try:
        value = read_document(path, read_tool_text(path))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not JSON ({error}); expected domains with their sub-domains") from error
    rows = _node_rows(value)
    nodes = [*_entries(path, rows)] if rows is not None else [*_nested(path, value, "", 1)]
    tree = DomainTree().with_nodes(nodes)
    if not tree.nodes:
        raise DataError(f'{path}: holds no domain; expected {{"domain": {{"sub-domain": ["function", …]}}}}')
    if len(nodes) > MAX_TREE_NODES:
        raise DataError(f"{path}: holds too many nodes; at most {MAX_TREE_NODES:,}")
    return tree


def _node_rows(value: Any) -> list[Any] | None:
    entries = as_schema(value).get("nodes", value)
    rows = as_list(entries)
    return rows if rows and all("parent" in as_schema(row) for row in rows) else None


def _entries(path: Path, rows: Sequence[Any]) -> Iterator[tuple[str, str, str]]:
    ids: set[str] = set()
    for k, row in enumerate(map(as_schema, rows)):
        name, parent = row.get("name"), row.get("parent")
        if problem := name_problem(name):
            raise DataError(f"{path}: node {k}: the name {problem}")
        if parent and parent not in ids:
            raise DataError(f"{path}: node {k}: the parent {str(parent)[:80]!r} must stand before it")
        above = str(parent or "")
        ids.add(child_id(above, str(name)))
        yield above, str(name), "file"


def _nested(path: Path, value: Any, parent: str, depth: int) -> Iterator[tuple[str, str, str]]:
    if isinstance(value, Mapping):
        pairs = list(as_schema(cast(object, value)).items())
    elif isinstance(value, list):
        pairs = [(name, None) for name in as_list(value)]
    elif value is None:
        return
    else:
        raise DataError(f"{path}: below {parent or 'the top'}: expected an object or a list of names")
    if pairs and depth > FUNCTION_DEPTH:
        raise DataError(
            f"{path}: below {parent}: expected domain, sub-domain and function, and nothing deeper"
        )
    for name, below in pairs:
        if problem := name_problem(name):
            raise DataError(f"{path}: below {parent or 'the top'}: the name {str(name)[:80]!r} {problem}")
        yield parent, name, "file"
        yield from _nested(path, below, child_id(parent, name), depth + 1)
