"""The source files of wildtool and of its other packages, for tests that look into all of them."""

from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
ROOT = REPOSITORY / "src" / "wildtool"
PACKAGES = tuple(sorted(path.parent for path in REPOSITORY.glob("packages/*/src/*/__init__.py")))
"""The folders of the other packages, such as `packages/wildtool-data/src/wildtool_data`."""


def source_files() -> list[Path]:
    """All modules, those of wildtool first."""
    files = [path for root in (ROOT, *PACKAGES) for path in sorted(root.rglob("*.py"))]
    assert len(files) > 500
    return files


def source_name(path: Path) -> str:
    """The name of a module: `engine/plan.py`, or `wildtool_data/pointers.py` in another package."""
    root = next((root for root in PACKAGES if path.is_relative_to(root)), None)
    return path.relative_to(root.parent if root else ROOT).as_posix()
