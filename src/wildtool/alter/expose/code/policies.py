"""Scripts of the policies with known answers: each spoils the gold script in one way, so that it is known what is lost.

A policy is a style of gold answers (`baseline/code-loops` and the like). Where a gold answer calls nothing, each of them
gives it as it is.
"""

import ast
from collections.abc import Callable, Mapping, Sequence

from wildtool.toolcall.python_trees import python_tree

LOOPS, WRITES_NONE, USES_REFUSED, ERRS, MISUSES, MISCOMPUTES = (
    "code-loops",
    "code-none",
    "code-refused",
    "code-errs",
    "code-misuses",
    "code-miscomputes",
)
GIVES_UP = "I could not do that."
"""What a policy says in place of a script."""


def policy_script(style: str, gold: str, earlier: Sequence[str], tries: int) -> str | None:
    """The script that a policy writes; None where it answers `GIVES_UP` instead.

    Args:
        style: of the gold answer; the gold script itself for one that is no policy of scripts.
        gold: the script that makes the gold calls, one statement for each: `NAME = FUNCTION(KEY=VALUE, …)`.
        earlier: the scripts of the session before.
        tries: those of them that were written for the request that is open.
    """
    write = _SCRIPTS.get(style)
    if write is None:
        return gold
    if (tries and style != LOOPS) or (earlier and style == MISUSES):
        return None
    return write(gold, earlier)


def own_style(style: str) -> str:
    """The style in which a benchmark is asked for the gold answer that a policy spoils."""
    return "parallel" if style in _SCRIPTS else style


def _loop(gold: str, earlier: Sequence[str]) -> str:
    return "while True:\n    pass"


def _nothing(gold: str, earlier: Sequence[str]) -> None:
    return None


def _refused(gold: str, earlier: Sequence[str]) -> str:
    """Python runs it; the sandbox knows no inheritance."""
    return f"class Failure(Exception):\n    pass\n{gold}"


def _error(gold: str, earlier: Sequence[str]) -> str:
    return f"no_such_name\n{gold}"


def _misuse(gold: str, earlier: Sequence[str]) -> str:
    """Takes a member of the first result that it cannot have. Nothing is called after that, in later scripts either."""
    tree = python_tree(gold, "exec")
    places = [at for at, node in enumerate(tree.body) if _assigned(node) is not None]
    if places:
        name = _assigned(tree.body[places[0]])
        tree.body[places[0] + 1 : places[0] + 1] = python_tree(
            f"{name}['no such member']['of it']", "exec"
        ).body
    return ast.unparse(tree)


def _miscompute(gold: str, earlier: Sequence[str]) -> str:
    """The last call that has arguments, with the first of them computed from an earlier result; the gold script where
    there is none."""
    tree = python_tree(gold, "exec")
    named = (_assigned(node) for code in earlier for node in python_tree(code, "exec").body)
    before = [name for name in named if name is not None]
    chosen: tuple[ast.Call, str] | None = None
    for node in tree.body:
        name = _assigned(node)
        if name is None or not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        if before and node.value.keywords:
            chosen = node.value, before[-1]
        before.append(name)
    if chosen is not None:
        call, result = chosen
        call.keywords[0].value = python_tree(f"str({result}) + ' and more'", "eval").body
    return ast.unparse(tree)


def _assigned(node: ast.stmt) -> str | None:
    """The name that a statement gives to what a call returns; None for any other statement."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call()):
            return name
        case _:
            return None


_SCRIPTS: Mapping[str, Callable[[str, Sequence[str]], str | None]] = {
    LOOPS: _loop,
    WRITES_NONE: _nothing,
    USES_REFUSED: _refused,
    ERRS: _error,
    MISUSES: _misuse,
    MISCOMPUTES: _miscompute,
}
"""By style what writes the script, from the gold one and the earlier ones of the session."""
