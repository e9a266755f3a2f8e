"""Brings the simulated classes' tables into a folder: ready ones, or read from the syntax trees of the original's
Python files without running them.

The original has the tables only in its code. Files are pinned, and the digest of each table is checked.
"""

import ast
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from wildtool.benchmarks.bfcl.simulated import SIMULATED_CLASSES
from wildtool.benchmarks.bfcl.simulated.base import FILLER_FILE, TABLES_FILE
from wildtool.data.files import find_packed, read_json
from wildtool.data.pinned import PinnedFile, ReportProgress, fetch_all
from wildtool.data.prompt_files import digest_of, parse_module
from wildtool.errors import DataError

API_TABLE_DIGESTS: Mapping[str, str] = {
    TABLES_FILE: "f30f877572547ab6c3ec928d58fc15475407e39030c0043acefb062ddd9fe65c",
    FILLER_FILE: "41d34a74041ff3b194a0af5ef538434dcada822d8fc551b1c1b62c41da31a9d2",
}
"""Each table's file to its `digest_of`."""
SOURCES: Mapping[str, str] = {
    "long_context.py": "5c9a5710115609c779e5b2ccb43f6ad58271ed96f2ea7a797edb0d65c385aa38",
    "math_api.py": "abde32cc25e71b2ff3acf4d028a3c005b98409c174aba4abddbfe1c018afb9a8",
    "message_api.py": "cf72af1635654147af17df1891a7fb354549e78a61930139f741a31f4be21121",
    "posting_api.py": "32b887aaa37c7167ad9c84ddfa7bbb855c75d3c1edab19ba868aba29acc4cfa1",
    "ticket_api.py": "6a9375aa6425410c07a151aef27f3e44e9ed1023bb5cc5c25f14f4a9b3c99116",
    "trading_bot.py": "cc2e3949035b561e9d07418b081561aa07b211672200e2e511aec074bf79fcb2",
    "travel_booking.py": "e698e22adccf0d6d41b297f2d5e44faebd828cef4752df6a4ffb1570c0c35296",
    "vehicle_control.py": "f5f7a2f28968728927a98ae12ec68a32d70781cfb74c2d7b14801772362b12d1",
}
"""The original's files with tables to the SHA-256 of their bytes."""
_CODE = "bfcl_eval/eval_checker/multi_turn_eval/func_source_code"
_REPOSITORY_CODE = f"berkeley-function-call-leaderboard/{_CODE}"
_FILLER_SOURCE = "long_context.py"
_LOOKUPS: Mapping[str, tuple[str, ...]] = {
    "MathAPI": ("si_unit_conversion.to_meters", "imperial_si_conversion.conversion"),
    "TradingBot": ("get_symbol_by_name.symbol_map", "get_available_stocks.sector_map"),
    "TravelAPI": (
        "get_flight_cost.base_costs",
        "list_all_airports.returns",
        "compute_exchange_rate.exchange_rates",
        "get_nearest_airport_by_city.airport_map",
    ),
}
"""By class `method.variable` of each table in a method; `returns` is what the method returns."""


def pull_tables(
    folder: Path,
    repository: str,
    commit: str,
    *,
    source: Path | None,
    mirror: str | None,
    report: ReportProgress,
) -> None:
    """Installs both verified tables in a folder; verified ones are kept.

    Args:
        source: a folder that holds the tables, or the original's files, instead of the network.

    Raises:
        DataError: a file is missing or not the pinned one, or a table is not the expected one.
    """
    if all((path := find_packed(folder, name)) and _is_right(path) for name in API_TABLE_DIGESTS):
        report(f"{len(API_TABLE_DIGESTS)} tables of the simulated classes are there and verified")
        return
    ready = {name: find_packed(source, name) for name in API_TABLE_DIGESTS} if source else {}
    if ready and all(ready.values()):
        tables = {name: read_json(path) for name, path in ready.items() if path}
    else:
        files = {
            folder / _CODE / name: PinnedFile(
                repository, commit, f"{_REPOSITORY_CODE}/{name}", sha256=digest, other_path=f"{_CODE}/{name}"
            )
            for name, digest in SOURCES.items()
        }
        fetch_all(files, folder=source, mirror=mirror, report=report)
        tables = extract_tables(lambda name: (folder / _CODE / name).read_text("utf-8"))
    for name, table in tables.items():
        if (found := digest_of(table)) != API_TABLE_DIGESTS[name]:
            raise DataError(f"{name} has the digest {found}, expected {API_TABLE_DIGESTS[name]}")
        part = folder / f"{name}.part"
        part.write_text(json.dumps(table), "utf-8")
        part.replace(folder / name)
    report(f"{len(tables)} tables of the simulated classes verified by their digests")


def _is_right(path: Path) -> bool:
    try:
        return digest_of(read_json(path)) == API_TABLE_DIGESTS[path.name.removesuffix(".gz")]
    except DataError:
        return False  # a damaged table is written again


def extract_tables(read: Callable[[str], str]) -> dict[str, Any]:
    """The tables as JSON keeps them, by the name of the file that holds them.

    Args:
        read: gives the text of one of `SOURCES`.

    Raises:
        DataError: a file is not Python, or has another shape; it names the file.
    """
    tables: dict[str, dict[str, Any]] = {}
    for name, owner in SIMULATED_CLASSES.items():
        file = f"{owner.DOCUMENTS}.py"
        if file not in SOURCES:
            continue
        tree = parse_module(read(file), file)
        constants = _constants(tree, file)
        lookups = {lookup: _rows(_in_method(tree, lookup, file)) for lookup in _LOOKUPS.get(name, ())}
        tables[name] = {
            **({"default_state": constants["DEFAULT_STATE"]} if "DEFAULT_STATE" in constants else {}),
            **({"lookup_tables": lookups} if lookups else {}),
        }
    filler = parse_module(read(_FILLER_SOURCE), _FILLER_SOURCE)
    return {TABLES_FILE: tables, FILLER_FILE: _constants(filler, _FILLER_SOURCE)}


def _constants(tree: ast.Module, file: str) -> dict[str, Any]:
    """The module's own objects, lists and texts by name."""
    return {
        name: _literal(value, f"{file}: {name}")
        for name, value in _assigned(tree.body)
        if isinstance(value, ast.Dict | ast.List | ast.Constant)
    }


def _assigned(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for node in body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                yield name, value
            case _:
                pass


def _in_method(tree: ast.Module, lookup: str, file: str) -> Any:
    """The table of `method.variable`."""
    method, variable = lookup.split(".")
    for node in (child for top in tree.body if isinstance(top, ast.ClassDef) for child in top.body):
        if isinstance(node, ast.FunctionDef) and node.name == method:
            returned = [
                ("returns", one.value) for one in node.body if isinstance(one, ast.Return) and one.value
            ]
            for name, value in (*_assigned(node.body), *returned):
                if name == variable:
                    return _literal(value, f"{file}: {lookup}")
    raise DataError(f"{file}: expected {variable!r} in {method}, found none")


def _literal(node: ast.expr, where: str) -> Any:
    """A value as JSON keeps it, with `...` as an object, an empty set as a list, and keys that are tuples as they are."""
    match node:
        case ast.Constant(value=value) if value is ...:
            return {"__python_ellipsis__": True}
        case ast.Constant(value=None | bool() | int() | float() | str()):
            return node.value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=(int() | float()) as value)):
            return -value
        case ast.BinOp(op=ast.Div(), left=ast.Constant(value=int(a)), right=ast.Constant(value=int(b))) if b:
            return a / b
        case ast.Call(func=ast.Name(id="set"), args=[], keywords=[]):
            return []
        case ast.List(elts=elements):
            return [_literal(element, where) for element in elements]
        case ast.Tuple(elts=elements):
            return tuple(_literal(element, where) for element in elements)
        case ast.Dict(keys=keys, values=values) if None not in keys:
            pairs = zip(keys, values, strict=True)
            return {_literal(key, where): _literal(value, where) for key, value in pairs if key is not None}
        case _:
            raise DataError(f"{where}: expected a literal value, found {type(node).__name__}")


def _rows(table: Any) -> list[Any]:
    """A mapping as a list of `[key, value]`, with keys that are tuples as lists; a list as it is."""
    if isinstance(table, list):
        return table  # pyright: ignore[reportUnknownVariableType]
    return [[list(key) if isinstance(key, tuple) else key, value] for key, value in table.items()]  # pyright: ignore[reportUnknownArgumentType]
