"""Write a first file of own cases, or the files of a new benchmark.

\b
Examples:
  wildtool new cases
  wildtool new benchmark calqa
  wildtool new benchmark calqa --package
"""

import re
import sys
from collections.abc import Mapping
from importlib.resources import files
from keyword import iskeyword
from pathlib import Path

from wildtool.cli import CommandGroup, Commands
from wildtool.cli.command import arg, opt
from wildtool.errors import UsageError
from wildtool.outputs import check_absent, make_folder, write_file
from wildtool.terminal import print_out

NEW = CommandGroup(
    help=__doc__,
    no_args_is_help=True,
    commands=Commands(
        {
            "benchmark": "Write a benchmark that works: its rules, ten items and tests.",
            "cases": "Write a first file of own cases, with its tools and a schema for editors.",
        },
        group="new",
    ),
)


def benchmark(
    name: str = arg("NAME", "Name of the benchmark, such as calqa."),
    package: bool = opt("Write a package that can be installed and published."),
    out: Path = opt("-o FOLDER", "Folder to write to.", default=Path()),
    force: bool = opt("Replace files that are there already."),
) -> None:
    """Write a benchmark that works: its rules, ten items and tests.

    \b
    Examples:
      wildtool new benchmark calqa
      wildtool new benchmark calqa --package

    A benchmark is one Python file with its data beside it, and runs by its path: wildtool run ./calqa.py. With
    --package it is a folder of its name, and runs by its name once it is installed.
    """
    module = _module_name(name)
    folder = out / name if package else out
    texts = _package_texts(name, module) if package else _file_texts(name, module)
    for path in texts:
        check_absent(folder / path, force=force)
    for path, text in texts.items():
        make_folder((folder / path).parent)
        write_file(folder / path, text.encode())
        print_out(f"wrote {folder / path}")
    file = folder / f"{module}.py"
    reference = name if package else f"./{file}" if not file.is_absolute() else str(file)
    steps = [
        *([f"pip install -e '{folder}[dev]'"] if package else []),
        f"wildtool run {reference} --model baseline/gold",
        f"wildtool audit {reference}",
        f"python -m pytest {folder / 'tests' if package else folder / f'test_{module}.py'}",
    ]
    print_out("\nNext:\n" + "\n".join(f"  {step}" for step in steps))


CASE_FILES = ("tools.json", "cases.schema.json")
"""What is written beside the cases: their tools, and what editors check them by."""


def cases(
    file: Path = arg("FILE", "File to write, such as refunds.cases.yaml.", default=Path("cases.yaml")),
    force: bool = opt("Replace files that are there already."),
) -> None:
    """Write a first file of own cases, with its tools and a schema for editors.

    \b
    Examples:
      wildtool new cases
      wildtool new cases refunds.cases.yaml

    It runs as it is: wildtool run cases.yaml --model NAME. Put your own tools and requests in the place of the example's.
    """
    if file.suffix not in (".yaml", ".yml"):
        raise UsageError(f"{file}: the first cases are YAML; give a name that ends in .yaml")
    template = files("wildtool.data").joinpath("new_cases")
    texts = {file: template.joinpath("cases.yaml").read_text("utf-8")}
    texts |= {file.parent / name: template.joinpath(name).read_text("utf-8") for name in CASE_FILES}
    for path in texts:
        check_absent(path, force=force)
    make_folder(file.parent)
    for path, text in texts.items():
        write_file(path, text.encode())
        print_out(f"wrote {path}")
    steps = [f"wildtool data lint {file}", f"wildtool run {file} --model baseline/gold"]
    print_out("\nNext:\n" + "\n".join(f"  {step}" for step in steps))


def _module_name(name: str) -> str:
    """The name of the module of a benchmark. Raises UsageError for a name that a benchmark cannot have."""
    from wildtool.engine.registry import names_benchmark

    module = name.replace("-", "_")
    if not re.fullmatch("[a-z][a-z0-9]*([-_][a-z0-9]+)*", name):
        raise UsageError(
            f"{name!r} is no name for a benchmark: a name begins with a lower-case letter and has lower-case letters, "
            "digits, - and _, such as calendar-tasks"
        )
    if names_benchmark(name):
        raise UsageError(f"there is a benchmark {name!r} already (wildtool list); choose another name")
    if iskeyword(module) or module in sys.stdlib_module_names or module == "wildtool":
        raise UsageError(f"{module!r} is a word or module of Python; choose another name")
    return module


def _file_texts(name: str, module: str) -> Mapping[str, str]:
    return {
        f"{module}.py": _filled("benchmark", name, module),
        f"{module}.jsonl": _filled("items", name, module),
        f"test_{module}.py": _test_text(name, module, f'Path(__file__).with_name("{module}.py")'),
    }


def _package_texts(name: str, module: str) -> Mapping[str, str]:
    return {
        "pyproject.toml": _filled("pyproject", name, module),
        "README.md": _filled("readme", name, module),
        f"src/{module}/__init__.py": _filled("benchmark", name, module),
        f"src/{module}/{module}.jsonl": _filled("items", name, module),
        f"tests/test_{module}.py": _test_text(name, module, f'"{name}"'),
    }


def _test_text(name: str, module: str, place: str) -> str:
    """The tests. Args: place: what `load` is called with."""
    text = _filled("tests", name, module).replace("WHERE", place)
    return (
        text.replace("import pytest\n", "from pathlib import Path\n\nimport pytest\n")
        if "Path" in place
        else text
    )


def _filled(template: str, name: str, module: str) -> str:
    """A file of the example, with its names replaced."""
    text = files("wildtool.data").joinpath("new_benchmark", f"{template}.txt").read_text("utf-8")
    class_name = "".join(word.capitalize() for word in module.split("_"))
    for old, new in (
        ("my-benchmark", name),
        ("my_benchmark", module),
        ("MY_BENCHMARK", module.upper()),
        ("MyBenchmark", class_name),
    ):
        text = text.replace(old, new)
    return text
