"""Draws docs/images/architecture.svg from the code's own imports: `python docs/architecture_picture.py`.

Each box is a package with its sub-packages, or one of our other distributions; an arrow says "imports". Arrows that
follow from others are left out, so that A → B → C shows no A → C. `tests/test_architecture.py` fails where the picture
and the code differ.
"""

import ast
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "src" / "wildtool"
PICTURE = Path(__file__).parent / "images" / "architecture.svg"
CONTRACT, BASE = "contract", "benchmark"
"""The modules of the root, drawn as two boxes: what all others use, and what benchmarks are built on."""
OF_BASE = ("benchmark", "declared", "trace")
VERBS = "commands"
"""The folders and modules with a package's verbs, drawn as one box."""
OTHERS = {
    path.parent.name: path.parent for path in sorted(ROOT.parents[1].glob("packages/*/src/*/__init__.py"))
}
"""Our other packages, each drawn as one box."""
APART = ("old_paths",)
"""Modules that are not drawn: they only forward old import paths."""
ABOUT: Mapping[str, str] = {
    VERBS: "the verbs of each package",
    "wildtool_train": "units for training, with rewards",
    "wildtool_review": "people correct and approve made sets",
    "wildtool_data": "makes, checks, mixes and converts sets",
    "board": "results that others can believe",
    "own_cases": "own requests and conversations",
    "judges": "judges judged by cases whose labels are known",
    "check": "checks endpoints and agents",
    "blame": "whose fault a failed unit was",
    "api": "settings, plans, what Python gets",
    "agents": "programs around a model play a run",
    "config": "wildtool.toml, and the models it names",
    "scale": "runs that several workers share",
    "training": "conversations: read, played, judged",
    "cli": "commands, options, output; no logic",
    "report": "pages, charts, local viewer",
    "export": "one module per format",
    "gating": "whether a run may pass",
    "terminal": "what a terminal shows: texts, tables",
    "table": "tables of numbers, in every form",
    "engine": "runs, records, scores, compares",
    "benchmarks": "data, episodes, rules; one folder each",
    "models": "providers, baselines, local weights",
    BASE: "base classes: Benchmark, Rules, SingleTurn",
    "alter": "what models are shown otherwise",
    "traces": "traces of any library as conversations",
    "shapes": "reads tools and calls of any shape",
    "tools": "your tools: from files and servers, checked",
    "toolcall": "reads and compares calls",
    "tool_formats": "calls written as text, by format",
    "stats": "intervals, tests, power",
    "data": "built-in data, pinned downloads",
    "published": "tables of papers",
    CONTRACT: "what all the others share",
}
WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 280, 104, 30, 40, 16
LINES = 3
"""Lines of names in a box, before the one that counts the rest."""
STYLE = """
text { font-family: system-ui, sans-serif; fill: #1f2933; }
.name { font-size: 16px; font-weight: 600; }
.about { font-size: 12px; }
.parts { font-size: 11px; fill: #52606d; }
rect { fill: #f5f7fa; stroke: #7b8794; rx: 8; }
path { fill: none; stroke: #9aa5b1; stroke-width: 1.4; marker-end: url(#head); }
""".strip()


def package_of(parts: tuple[str, ...]) -> str:
    """The box of a module, given by its path below the root."""
    if len(parts) > 1 and parts[1] == VERBS and parts[0] not in OTHERS:
        return VERBS
    if parts[0] in OTHERS:
        return parts[0]
    if len(parts) > 1 or (ROOT / parts[0] / "__init__.py").is_file():
        return parts[0]
    return BASE if parts[0] in OF_BASE else CONTRACT


def imports(path: Path) -> Iterator[tuple[str, ...]]:
    """Modules of wildtool that a file imports, as paths below the root."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or not node.module:
            continue
        root, *below = node.module.split(".")
        if root in OTHERS:
            yield (root, *below)
        elif root == "wildtool":
            yield from (
                [tuple(below)] if below else [(alias.name,) for alias in node.names if alias.name[0] != "_"]
            )


def arrows() -> dict[str, set[str]]:
    """Each package with those that it imports."""
    found: dict[str, set[str]] = {}
    files = [(path, path.relative_to(ROOT)) for path in sorted(ROOT.rglob("*.py"))]
    for folder in OTHERS.values():
        files += [(path, path.relative_to(folder.parent)) for path in sorted(folder.rglob("*.py"))]
    for path, place in files:
        parts = place.with_suffix("").parts
        if parts[0].startswith("_") or parts[0] in APART:
            continue
        box = package_of(parts)
        found.setdefault(box, set()).update({package_of(used) for used in imports(path)} - {box})
    return found


def reduced(found: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The arrows that do not follow from others."""

    def below(box: str) -> set[str]:
        return set().union(*({used} | below(used) for used in found[box]))

    return {
        box: {u for u in used if not any(u in below(v) for v in used - {u})} for box, used in found.items()
    }


def floors(found: Mapping[str, set[str]]) -> dict[str, int]:
    """How high each package stands: above all that it imports."""

    def floor(box: str) -> int:
        return 1 + max((floor(used) for used in found[box]), default=-1)

    return {box: floor(box) for box in found}


def sub_packages(box: str) -> list[str]:
    """Names of the packages inside a box."""
    if box == BASE:
        return list(OF_BASE)
    if box == VERBS:
        # Folders alone tell nothing: those of moved modules stay, with what Python cached there.
        modules = (path.relative_to(ROOT).with_suffix("").parts for path in ROOT.rglob("*.py"))
        return sorted({parts[0] for parts in modules if package_of(parts) == VERBS} - {"cli"})
    if box == CONTRACT:
        others = {*OF_BASE, *APART}
        return sorted(
            path.stem for path in ROOT.glob("*.py") if path.stem[0] != "_" and path.stem not in others
        )
    if box == "benchmarks":
        return []  # another benchmark changes no picture
    return sorted(path.parent.name for path in (OTHERS.get(box) or ROOT / box).glob("*/__init__.py"))


def lines_of(names: list[str], width: int = 40) -> list[str]:
    """Names in lines of at most `width` characters; how many there is no room for."""
    lines = [""]
    for number, name in enumerate(names):
        longer = f"{lines[-1]}, {name}" if lines[-1] else name
        if len(longer) <= width:
            lines[-1] = longer
        elif len(lines) < LINES:
            lines[-1:] = [lines[-1] + ",", name]
        else:
            return [*lines[:-1], f"{lines[-1]},", f"and {len(names) - number} more"]
    return lines


def picture() -> str:
    """The picture as SVG."""
    found = arrows()
    level = floors(found)
    rows = [[box for box in ABOUT if level.get(box) == floor] for floor in range(max(level.values()), -1, -1)]
    widest = max(map(len, rows))
    width = 2 * MARGIN + widest * WIDTH + (widest - 1) * GAP_X
    place: dict[str, tuple[float, float]] = {}
    for number, row in enumerate(rows):
        left = (width - len(row) * WIDTH - (len(row) - 1) * GAP_X) / 2
        for column, box in enumerate(row):
            place[box] = (left + column * (WIDTH + GAP_X), MARGIN + number * (HEIGHT + GAP_Y))
    height = 2 * MARGIN + len(rows) * HEIGHT + (len(rows) - 1) * GAP_Y
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'role="img" aria-label="Packages of wildtool and what they import">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L8 4L0 8z" style="fill:#9aa5b1;stroke:none"/></marker></defs>',
        f'<rect width="{width:g}" height="{height:g}" style="fill:white;stroke:none"/>',
    ]
    for box, used in sorted(reduced(found).items()):
        x, y = place[box]
        for other in sorted(used):
            to_x, to_y = place[other]
            start, end = x + WIDTH / 2, to_x + WIDTH / 2
            top, bottom = y + HEIGHT, to_y - 2
            middle = (top + bottom) / 2
            drawn.append(
                f'<path d="M{start:g} {top:g}C{start:g} {middle:g} {end:g} {middle:g} {end:g} {bottom:g}"/>'
            )
    for box, (x, y) in place.items():
        drawn.append(f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}"/>')
        drawn.append(f'<text class="name" x="{x + 12:g}" y="{y + 23:g}">{escape(box)}</text>')
        drawn.append(f'<text class="about" x="{x + 12:g}" y="{y + 41:g}">{escape(ABOUT[box])}</text>')
        for number, line in enumerate(lines_of(sub_packages(box))):
            drawn.append(
                f'<text class="parts" x="{x + 12:g}" y="{y + 58 + 13 * number:g}">{escape(line)}</text>'
            )
    return "\n".join([*drawn, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
