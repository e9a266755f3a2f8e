"""What each package may know of the others: dependencies point one way, and names stay where they belong."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from source_files import PACKAGES, ROOT, read, source_files, source_name
from wildtool.engine.registry import benchmark_names
from wildtool.models.resolve import PRESETS

LAYERS = (
    {
        "redact",
        "old_paths",
        "older_names",
        "other_names",
        "workers",
        "interrupts",
        "supervisor",
        "temporary",
        "written",
        "draws",
    },
    {"secret_places"},
    {"errors", "evidence", "children"},
    {"installed"},
    {"types", "sanitize", "steps", "json_codec", "findings"},
    {"advice"},
    {"reply_ends"},
    {"data", "stats", "episode", "outputs"},
    {"toolcall", "tool_formats"},
    {"shapes"},
    {"traces"},
    {"trace"},
    {"benchmark"},
    {"alter"},
    {"published", "declared"},
    {"models", "benchmarks"},
    {"engine"},
    {"training"},
    {"table"},
    {"terminal"},
    {"report", "export", "trust_request", "gating"},
    {"tools"},
    {"config"},
    {"agents"},
    {"api"},
    {"scale", "check", "judges", "blame"},
    {"board"},
    {"own_cases"},
    {"cli"},
    {"commands"},
    {"__main__"},
    {"wildtool_data"},
    {"wildtool_review", "wildtool_train"},
)
"""Each package and module of the root may use those of the layers above it in this list, and itself. So may our other
packages, which nothing in wildtool names: it finds them by entry points."""
OTHERS = {path.name for path in PACKAGES}
"""Import names of our other packages."""
SETS = {"training", *(path.name for path in PACKAGES)}
"""Sessions are generated and reviewed in WildToolBench's format, so both may read it; public training sets have the names
of the projects that they come from, as some benchmarks do."""
MAKERS = {"judges": {"judge-audit"}, "tools": {"own-tools", "own_tools"}}
"""Packages that make the data of a benchmark and read its runs: they may name it."""
TABLES_OF_PAPERS = {"published"}
"""Tables of papers are named after the benchmark that they are about."""
NAMED_BY_TABLES = {"benchmarks/__init__.py": {"judges", "own_cases", "training"}}
"""Packages that a table of our benchmarks names by text, whose benchmarks are loaded when somebody asks for them."""
WORDS = {"ledger", "own_tools", "together", "training"}
"""Names of providers and benchmarks that are plain words."""


BASES_OF_LEAVES = {"base", "protocol"}
"""Modules that say what providers and batches are."""
MOST_MODULES = 26
"""Modules that a folder may hold; more are sorted into packages named by nouns."""
EVERYWHERE: Mapping[str, frozenset[str]] = {
    "what each benchmark's folder offers its rules": frozenset(
        [
            "COMMIT",
            "DATA",
            "MEAN",
            "MEASURES",
            "PUBLISHED",
            "REPOSITORY",
            "TABLES",
            "explain",
            "fields",
            "lint",
            "load",
            "parse_record",
            "mutants",
            "read_items",
            "read_results",
            "RULES_OF_DATA",
            "rules",
            "stats",
            "step",
            "trace",
        ]
    ),
    "error classes, which each benchmark names for itself": frozenset(
        ["ERRORS", "CALL_ERROR", "PARAM_TYPE", "PARAM_VALUE", "UNUSABLE_GOLD"]
    ),
    "one function per export format, found by the format's name": frozenset({"export"}),
    "names of providers, one per module": frozenset({"PROVIDER"}),
    "readers of any shape, and those of the one shape that a benchmark, a set or a comparison has": frozenset(
        ["read_answer", "read_call", "read_calls", "read_entry", "read_messages", "read_record", "read_tools"]
    ),
    "settings as users write them, and what the engine makes of these": frozenset({"Endpoint", "Sampling"}),
    "what `python -m` and the installed command start": frozenset({"main"}),
}
"""Names that several modules define on purpose, since they play the same part in each."""


def modules() -> list[Path]:
    return [path for path in source_files() if path != ROOT / "__init__.py"]


def package(path: Path) -> str:
    return room(source_name(path).removesuffix(".py").split("/"))


def room(parts: Sequence[str]) -> str:
    """The package of a module; the verbs of all packages are one room at the top, since they are what a user starts."""
    is_own = parts[0] not in OTHERS
    return "commands" if is_own and len(parts) > 1 and parts[1] == "commands" else parts[0]


def name(path: Path) -> str:
    return source_name(path) if path.suffix else path.as_posix()


def own_imports(path: Path) -> Iterator[str]:
    """The modules of wildtool and of our other packages that a module imports anywhere, without the name of wildtool."""
    for found in read(path).imported:
        if found.split(".")[0] in OTHERS:
            yield found
        elif found.startswith("wildtool.") and found != "wildtool.__version__":
            yield found.removeprefix("wildtool.")


def named(path: Path) -> Iterator[str]:
    """Everything that a module names: texts, identifiers and what it imports."""
    yield from read(path).texts
    yield from read(path).identifiers
    yield from own_imports(path)


def layer(package: str) -> int:
    return next(number for number, names in enumerate(LAYERS) if package in names)


def test_a_module_uses_only_what_lies_below_it():
    above = {name(path): used for path in modules() if (used := used_above(path))}
    assert not above


def used_above(path: Path) -> list[str]:
    """Packages that a module imports from, or names in a text `module:name`, and that do not lie below its own."""
    own = package(path)
    used = {room(imported.split(".")) for imported in own_imports(path)}
    used |= {room(place.split(".")) for place in filter(None, map(named_module, read(path).texts))}
    used -= {own, *NAMED_BY_TABLES.get(name(path), ())}
    return sorted(other for other in used if layer(other) >= layer(own))


_PLACE = re.compile(r"(?:wildtool\.)?([a-z_][\w.]*):[A-Za-z_]\w*")


def named_module(text: str) -> str | None:
    """The module below wildtool that a text of the form `module:name` names; None for another text."""
    match = _PLACE.fullmatch(text)
    if match is None:
        return None
    place = ROOT.joinpath(*match[1].split("."))
    return match[1] if place.with_suffix(".py").exists() or place.is_dir() else None


@pytest.mark.parametrize(
    ("text", "module"),
    [
        ("wildtool.scale.commands:run_shared", "scale.commands"),
        ("scale.copies:local_folder", "scale.copies"),
        ("board:x", "board"),
        ("type_error:java", None),
        ("scale.nowhere:x", None),
        ("scale.copies: a sentence", None),
    ],
)
def test_a_text_that_names_a_part_of_a_module_is_seen(text: str, module: str | None):
    assert named_module(text) == module


def test_only_verbs_and_the_entry_of_the_command_use_the_command_line():
    users = {
        name(path)
        for path in modules()
        if "commands" not in path.with_suffix("").parts and package(path) not in {"cli", "__main__"}
        for used in own_imports(path)
        if used.split(".")[0] == "cli"
    }
    assert not users, "what others need of it belongs below: texts and tables in `terminal`"


def test_nothing_in_wildtool_names_a_module_of_another_package():
    other = re.compile(rf"\b({'|'.join(sorted(OTHERS))})\b")
    found = {
        name(path)
        for path in modules()
        if package(path) not in OTHERS and any(map(other.search, named(path)))
    }
    assert OTHERS and not found, "offer it by an entry point"


@pytest.mark.usefixtures("no_benchmark_files")
def test_no_benchmark_is_named_outside_its_folder():
    folders = {path.name for path in (ROOT / "benchmarks").iterdir() if (path / "__init__.py").exists()}
    allowed = {"benchmarks", *SETS, *TABLES_OF_PAPERS}
    found = [
        f"{name(path)}: {text[:80]!r}"
        for path in modules()
        for folder in [name(path).split("/")[0]]
        if folder not in allowed
        for known in [_names({*folders, *benchmark_names()} - WORDS - MAKERS.get(folder, set()))]
        for text in named(path)
        if known.search(text)
    ]
    assert not found


def _names(names: set[str]) -> re.Pattern[str]:
    return re.compile("|".join(sorted(names)), re.IGNORECASE)


def test_what_is_behind_a_table_is_named_by_nothing_else():
    # Who may ask a server is the same for all of them.
    leaves = re.compile(
        r"alter\.(aid|distractors|failures|injection|noise)\b|models\.(baselines|batch|local|providers)\b|report\b|export\b"
    )
    found = {
        f"{name(path)}: {used}"
        for path in modules()
        if package(path)
        not in {
            "alter",
            "api",
            "benchmarks",
            "blame",
            "board",
            "cli",
            "commands",
            "config",
            "export",
            "models",
            "report",
            "tools",
            *OTHERS,
        }
        for used in own_imports(path)
        if leaves.match(used) and used.split(".")[-1] not in BASES_OF_LEAVES | {"access"}
    }
    assert not found


def test_no_benchmark_knows_another():
    shared = {path.stem for path in (ROOT / "benchmarks").glob("*.py")}
    for path in modules():
        folder = name(path).split("/")[:2]
        others = {found.split(".")[1] for found in own_imports(path) if found.startswith("benchmarks.")}
        assert folder[0] != "benchmarks" or others - shared <= {folder[-1]}, name(path)


def test_no_provider_is_named_outside_models():
    found = [
        f"{name(path)}: {text!r}"
        for path in modules()
        if package(path)
        not in {"agents", "models", "shapes", "tool_formats"}  # named after those who write them
        for text in named(path)
        if set(PRESETS) & {text.lower(), *text.lower().split("_")} - WORDS
    ]
    assert not found


def rooms(folder: Path) -> dict[str, set[str]]:
    """Each sub-package and module of a folder, with its neighbours that it imports, inside functions too."""
    found: dict[str, set[str]] = defaultdict(set)
    root = next((root.parent for root in PACKAGES if folder.is_relative_to(root)), ROOT)
    place = ".".join(folder.relative_to(root).parts)
    for path in folder.rglob("*.py"):
        own = path.relative_to(folder).with_suffix("").parts[0]
        for used in own_imports(path):
            if used.startswith(f"{place}.") and own != "__init__":
                found[own].add(used.removeprefix(f"{place}.").split(".")[0])
    return {own: {other for other in used if other != own} for own, used in found.items()}


def folders() -> list[Path]:
    return sorted({path.parent for path in modules() if path.parent != ROOT})


@pytest.mark.parametrize("folder", folders(), ids=name)
def test_neighbours_in_a_folder_form_no_circle(folder: Path):
    left = rooms(folder)
    while free := [own for own, used in left.items() if not used & left.keys()]:
        for own in free:
            del left[own]
    assert not left


@pytest.mark.parametrize("folder", folders(), ids=name)
def test_a_folder_holds_no_more_modules_than_one_can_read(folder: Path):
    assert len(list(folder.glob("*.py"))) <= MOST_MODULES


def test_a_name_is_defined_once():
    places: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        if "commands" in path.with_suffix("").parts:
            continue  # named like the commands that users type
        for found in dict.fromkeys(read(path).defined):  # an overload is no second definition
            if not found.startswith("_"):
                places[found].append(name(path))
    allowed = frozenset[str]().union(*EVERYWHERE.values())
    assert not {found: where for found, where in places.items() if len(where) > 1 and found not in allowed}
    assert not [found for found in allowed if len(places[found]) < 2], "take out what is defined once"


def test_rules_are_chosen_once_and_no_code_of_a_benchmark_asks_for_the_name_of_a_profile():
    asking = [
        name(path)
        for path in modules()
        if package(path) == "benchmarks" and re.search(r"profile [!=]= ", path.read_text(encoding="utf-8"))
    ]
    assert not asking, "choose the rules from a table by profile"
