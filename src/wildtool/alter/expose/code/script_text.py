"""What the text of a script says before it runs: which calls are awaited, and what it does with results."""

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from wildtool.toolcall.python_trees import python_tree

_GATHERS = frozenset(("gather", "wait", "wait_for", "create_task"))
_ROUNDS = 5
"""How often names are followed through assignments."""
TextSpan = tuple[int, int]
"""Beginning and end in bytes of the text."""


@dataclass(frozen=True, slots=True)
class ScriptText:
    """A script, read once. One that does not parse says nothing: the sandbox tells why."""

    awaited: tuple[TextSpan, ...] = ()
    """Where a call stands that is answered by a future."""
    branches_on_results: bool = False
    """Whether what comes next may hang on what a call returned in a way that a placeholder hides."""
    computes: bool = False
    """Whether any call has an argument that is not written out."""
    result_lines: frozenset[int] = frozenset()
    """Lines, from 1, in which what a call returned is used."""

    def is_awaited(self, start: int, end: int) -> bool:
        """Whether a call at this place is answered by a future."""
        return any(first <= start and end <= last for first, last in self.awaited)


def read_script(code: str, functions: Collection[str]) -> ScriptText:
    """Reads a script. Args: functions: names of the tools in it."""
    try:
        tree = python_tree(code, "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ScriptText()
    nodes = list(ast.walk(tree))
    reading = _Reading(nodes, set(functions))
    return ScriptText(
        awaited=tuple(_awaited(code, nodes)),
        branches_on_results=reading.branches,
        computes=reading.computes,
        result_lines=frozenset(reading.lines()),
    )


class _Reading:
    """Which names of a script hold what calls returned."""

    def __init__(self, nodes: list[ast.AST], functions: set[str]) -> None:
        self._nodes = nodes
        self._calling = set(functions)
        """Names whose call calls a tool: the tools, and the script's own functions around them."""
        self._derived: set[str] = set()
        for _ in range(_ROUNDS):
            for node in nodes:
                self._follow(node)

    def _follow(self, node: ast.AST) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if any(self._uses(each) for each in node.body):
                self._calling.add(node.name)
            return
        source, targets = _assigned(node)
        if source is not None and self._uses(source):
            names = (each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))
            self._derived.update(names)

    def _uses(self, node: ast.AST) -> bool:
        """Whether an expression holds a call of a tool, or a name that holds what one returned."""
        return any(map(self._is_use, ast.walk(node)))

    def _is_use(self, node: ast.AST) -> bool:
        """Whether a node is, apart from what it holds, a call of a tool, or a name that holds what one returned."""
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Name) and node.func.id in self._calling
        return isinstance(node, ast.Name) and node.id in self._derived

    @property
    def branches(self) -> bool:
        if any(isinstance(node, ast.Try | ast.TryStar | ast.Match) for node in self._nodes):
            return True
        return any(isinstance(node, ast.Compare) and self._uses(node) for node in self._nodes)

    @property
    def computes(self) -> bool:
        calls = (node for node in self._nodes if isinstance(node, ast.Call))
        arguments = (each for call in calls for each in (*call.args, *(key.value for key in call.keywords)))
        return any(isinstance(part, ast.Name) for each in arguments for part in ast.walk(each))

    def lines(self) -> Iterator[int]:
        # A chain of thousands of members is walked once: what stands inside comes before what holds it.
        using: set[ast.AST] = set()
        for node in reversed(self._nodes):
            if self._is_use(node) or any(each in using for each in ast.iter_child_nodes(node)):
                using.add(node)
            if (isinstance(node, ast.Name) and node.id in self._derived) or (
                isinstance(node, ast.Subscript | ast.Attribute) and node.value in using
            ):
                yield node.lineno


def _assigned(node: ast.AST) -> tuple[ast.AST | None, list[ast.expr]]:
    """What is assigned, and to what; None for what assigns nothing."""
    if isinstance(node, ast.Assign):
        return node.value, node.targets
    if isinstance(node, ast.AugAssign | ast.AnnAssign | ast.NamedExpr):
        return node.value, [node.target]
    if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        return node.iter, [node.target]
    return None, []


def _awaited(code: str, nodes: list[ast.AST]) -> Iterator[TextSpan]:
    """What lies under `await` or `gather`, and what is assigned or appended to a name that is awaited elsewhere."""
    starts = [0]
    for line in code.split("\n"):
        starts.append(starts[-1] + len(f"{line}\n".encode("utf-8", "surrogatepass")))

    def span(node: ast.expr) -> TextSpan:
        end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return starts[node.lineno - 1] + node.col_offset, starts[end[0] - 1] + end[1]

    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Await) or (isinstance(node, ast.Call) and _name(node.func) in _GATHERS):
            yield span(node)
            inside = [node.value] if isinstance(node, ast.Await) else node.args
            names.update(each.id for part in inside for each in ast.walk(part) if isinstance(each, ast.Name))
    for node in nodes:
        if isinstance(node, ast.Assign):
            targets = (each for target in node.targets for each in ast.walk(target))
            if any(isinstance(each, ast.Name) and each.id in names for each in targets):
                yield span(node.value)
        elif isinstance(node, ast.Call) and _appended_to(node) in names:
            yield span(node)


def _appended_to(call: ast.Call) -> str:
    """The name that `NAME.append(…)` appends to; empty for any other call."""
    function = call.func
    if (
        isinstance(function, ast.Attribute)
        and function.attr == "append"
        and isinstance(function.value, ast.Name)
    ):
        return function.value.id
    return ""


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
