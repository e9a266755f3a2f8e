"""The process in which the original's simulated classes run; started as a file, it imports nothing of wildtool.

It reads one JSON message a line and answers each with one. A call is parsed, its arguments are literals or calls of
tools, and the tool is looked up in a table: no text is evaluated. Nothing can be written, started or sent from here.
"""

import ast
import importlib
import inspect
import json
import os
import re
import resource
import signal
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from datetime import datetime
from functools import cache, lru_cache
from types import FunctionType, MethodType, ModuleType
from typing import Any, cast

PLACE = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
"""The package with the classes."""
CALL_SECONDS = 2.0
"""Processor time that one call may take; the process ends at it."""
MEMORY_BYTES = 1 << 30
RESULT_CHARACTERS = 1_000_000
TODAY = (2026, 3, 23)
"""Today, for the age of travellers: the day of the release, so that verdicts stay as they are."""
FORBIDDEN = ("kill", "exit", "quit", "remove", "unlink", "popen", "Popen", "run")
"""Names that the original refuses to call."""
ERROR = "Error during execution: "
_SHOWN_OF_NAME = 200
"""Bytes of a name that is not defined in Python's own message, which the original shows."""
PURE: Mapping[str, Any] = {
    builtin.__name__: builtin
    for builtin in (
        abs,
        all,
        any,
        bool,
        dict,
        divmod,
        float,
        int,
        len,
        list,
        max,
        min,
        pow,
        print,
        range,
        round,
        set,
        sorted,
        str,
        sum,
        tuple,
    )
}
"""Python's own functions that a call may name, as it may in the original: those that only make values of values."""
_SPACE_BEFORE_BRACKET = re.compile(r"\b([a-zA-Z_]\w*)\s+(?=\()")
_REFUSED_EVENTS = (
    "open",
    "import",
    "socket.",
    "subprocess.",
    "shutil.",
    "os.",
    "ctypes.",
    "exec",
    "pty.",
    "urllib.",
)

_Tool = Callable[..., Any]


class Instances:
    """The instances of one entry, and their tools."""

    def __init__(self, modules: Mapping[str, str], config: Mapping[str, Any], long_context: bool) -> None:
        """Args: modules: class to module, in the entry's order: of two that share a tool the later one has it."""
        self.by_class: dict[str, Any] = {}
        self.tools: dict[str, _Tool] = {}
        for name, module in modules.items():
            owner: Any = getattr(importlib.import_module(f"{PLACE}.{module}"), name)
            instance = self.by_class[name] = owner()
            try:
                if hasattr(instance, "_load_scenario"):
                    instance._load_scenario(config.get(name, {}), long_context=long_context)
            except Exception as error:
                raise ValueError(f"initial_config of {name}: cannot be loaded ({error!r})") from error
            for key, changes in _tools_of(owner).items():
                tool = getattr(instance, key)
                self.tools[key] = _with_own_defaults(tool) if changes else tool

    def run(self, call: str, unchanged: Sequence[str]) -> str:
        """What the model is shown of one call. Args: unchanged: tools that leave the random numbers as they are."""
        Guard.is_up = True
        call = _SPACE_BEFORE_BRACKET.sub(r"\1", call)
        name = call.split("(")[0]
        name = name.split(".")[1] if "." in name else name
        try:
            if name in FORBIDDEN:
                raise ValueError(f"Function call {name} is not allowed.")
            tree = _parsed(call)
            tool: Any = self.tools.get(name) if name in unchanged else None
            numbers = tool and tool.__self__._random
            state = None if numbers is None else numbers.getstate()
            text = _text(self._value(tree))
            if numbers is not None:
                numbers.setstate(state)
        except Exception as error:  # noqa: BLE001 - the model is shown whatever a call raises
            text = f"{ERROR}{error}"
        Guard.is_up = False
        return text if len(text) <= RESULT_CHARACTERS else f"{ERROR}the result is too long"

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._value(operand)
            case ast.List(elts=elements):
                return list(self._values(elements))
            case ast.Tuple(elts=elements):
                return tuple(self._values(elements))
            case ast.Set(elts=elements):
                return set(self._values(elements))
            case ast.Dict(keys=keys, values=values):
                pairs: dict[Any, Any] = {}
                for key, value in zip(keys, values, strict=True):
                    pairs |= self._value(value) if key is None else {self._value(key): self._value(value)}
                return pairs
            case ast.Name(id=name):
                if name not in PURE:
                    shown = name.encode()[:_SHOWN_OF_NAME].decode("utf-8", "replace")
                    raise NameError(f"name '{shown}' is not defined")
                return PURE[name]
            case ast.Call(func=func, args=arguments, keywords=keywords):
                is_tool = isinstance(func, ast.Name) and func.id in self.tools
                tool = self.tools[cast(ast.Name, func).id] if is_tool else self._value(func)
                evaluated = list(self._values(arguments))
                by_name: dict[Any, Any] = {}
                for keyword in keywords:
                    value = self._value(keyword.value)
                    by_name |= value if keyword.arg is None else {keyword.arg: value}
                return tool(*evaluated, **by_name)
            case (
                ast.Attribute(value=first)
                | ast.BinOp(left=first)
                | ast.Compare(left=first)
                | ast.Subscript(value=first)
            ):
                self._value(first)  # which fails first where it names no tool, as the `get` of `get-time()`
            case _:
                pass
        raise ValueError(f"expected a value or a call of a tool, found {type(node).__name__}")

    def _values(self, nodes: Sequence[ast.expr]) -> Iterator[Any]:
        for node in nodes:
            if isinstance(node, ast.Starred):
                yield from self._value(node.value)
            else:
                yield self._value(node)


@lru_cache(10_000)
def _parsed(call: str) -> ast.expr:
    """The syntax tree of a call: the expected ones are those of most models, too."""
    tree = ast.parse(call.lstrip(" \t"), "<string>", "eval")
    compile(tree, "<string>", "eval")  # some errors of syntax are only found here
    return tree.body


@cache
def _tools_of(owner: type) -> Mapping[str, bool]:
    """The names of a class's tools, and whether a default is a value that calls can change."""
    methods = inspect.getmembers(owner, inspect.isfunction)
    return {
        name: any(isinstance(value, list | dict | set) for value in method.__defaults__ or ())
        for name, method in methods
        if not name.startswith("_") and not isinstance(inspect.getattr_static(owner, name), staticmethod)
    }


def _with_own_defaults(method: MethodType) -> MethodType:
    """A method with defaults of its own: those that a call changes would be seen by every later entry."""
    function = method.__func__
    defaults = deepcopy(function.__defaults__)
    copied = FunctionType(
        function.__code__, function.__globals__, function.__name__, defaults, function.__closure__
    )
    copied.__qualname__ = function.__qualname__
    return MethodType(copied, method.__self__)


def _text(result: Any) -> str:
    if type(result) is dict:
        try:
            return json.dumps(result)
        except Exception:  # noqa: BLE001 - as the original, which shows Python's text of anything else
            return str(cast(Any, result))
    return str(result)


def _differing(model: Instances, truth: Instances, hidden: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Class and names of the attributes that differ. Args: hidden: private ones that are compared, too."""
    for owner, instance in truth.by_class.items():
        other = _attributes(model.by_class[owner])
        names = [
            name
            for name, value in _attributes(instance).items()
            if (not name.startswith("_") or name in hidden) and not _equal(other.get(name), value)
        ]
        if names:
            yield owner, names


def _attributes(instance: Any) -> dict[str, Any]:
    return cast(dict[str, Any], vars(instance))


def _equal(model: Any, truth: Any) -> bool:
    try:
        return bool(model == truth)
    except RecursionError:
        return False  # something holds itself, which nothing expected does


def _plain(value: Any) -> Any:
    """A value as JSON: an object by its public attributes, without the one that holds it."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in cast(dict[Any, Any], value).items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in cast(Sequence[Any], value)]
    if isinstance(value, set):
        return sorted(cast(set[Any], value))
    if value is None or isinstance(value, str | int | float):
        return value
    attributes = getattr(value, "__dict__", None)
    if attributes is None:
        return str(value)
    return {key: _plain(part) for key, part in attributes.items() if key[0] != "_" and key != "parent"}


# Memories ---------------------------------------------------------------------------------------------


def _contents(memory: Any) -> dict[str, Any]:
    """What the next conversation begins with."""
    parts = {name: value for name, value in _attributes(memory).items() if name.endswith("memory")}
    return {name: part.export() if hasattr(part, "export") else part for name, part in parts.items()}


def _stub(name: str, **members: Any) -> None:
    module = ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module


class WordEncoder:
    """Counts of words in place of the sentence embeddings of the original, which need a model."""

    size = 4096

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def get_sentence_embedding_dimension(self) -> int:
        return self.size

    def encode(self, texts: Sequence[str], **_: Any) -> Any:
        import numpy

        vectors: Any = numpy.zeros((len(texts), self.size), numpy.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()):
                row[zlib.crc32(word.encode("utf-8", "replace")) % self.size] += 1
            row /= float(numpy.linalg.norm(row)) or 1.0
        return vectors


class WordIndex:
    """Vectors by number, searched one by one."""

    def __init__(self, *_: Any) -> None:
        self._vectors: dict[int, Any] = {}

    def add_with_ids(self, vectors: Any, ids: Any) -> None:
        self._vectors |= dict(zip(ids.tolist(), vectors, strict=True))

    def remove_ids(self, ids: Any) -> None:
        for number in ids.tolist():
            self._vectors.pop(number, None)

    def reset(self) -> None:
        self._vectors.clear()

    def search(self, query: Any, most: int) -> tuple[list[list[float]], list[list[int]]]:
        scored = [(float(vector @ query[0]), number) for number, vector in self._vectors.items()]
        best = sorted(scored, key=lambda pair: -pair[0])[:most]
        return [[score for score, _ in best]], [[number for _, number in best]]


# The process ------------------------------------------------------------------------------------------


class PinnedDay(datetime):
    """`datetime` whose today is the day of the release."""

    @classmethod
    def today(cls) -> "PinnedDay":
        return cls(*TODAY)


def prepare(package: str) -> None:
    """Makes the package importable without what its classes do not need, and gives up what they must not do."""
    sys.path.insert(0, package)
    no_use: dict[str, Any] = dict.fromkeys(
        ("get_directory_structure_by_id", "is_first_memory_prereq_entry", "is_memory_prereq")
    )
    _stub("bfcl_eval.utils", **no_use)
    _stub("sentence_transformers", SentenceTransformer=WordEncoder)
    _stub("faiss", IndexFlatIP=WordIndex, IndexIDMap=WordIndex)
    cast(Any, importlib.import_module(f"{PLACE}.travel_booking")).datetime = PinnedDay
    for name in (
        "_strptime",
        "unicodedata",
    ):  # which the first date and the first odd name of a call would import
        importlib.import_module(name)
    try:
        memories: Any = importlib.import_module(f"{PLACE}.memory_api_metaclass")
        memories.MemoryAPI._prepare_snapshot = lambda self, config: config or None  # pyright: ignore
    except ModuleNotFoundError:
        pass  # version 3 has none
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(ValueError, OSError):  # not on every system
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    sys.addaudithook(Guard.refuse)


class Guard:
    """Refuses what Python reports of a call: files, processes, the network, imports."""

    is_up = False
    """Whether a call runs; the process itself imports the modules of the classes."""

    @staticmethod
    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if Guard.is_up and event.startswith(_REFUSED_EVENTS):
            raise PermissionError(f"{event} is not allowed")


def results_of(message: dict[str, Any], instances: dict[int, Instances]) -> Iterator[Any]:
    """The results of a message's requests, in order."""
    for number in message["drop"]:
        instances.pop(number, None)
    for request in message["do"]:
        signal.setitimer(signal.ITIMER_PROF, CALL_SECONDS)
        match request:
            case ["make", number, modules, config, long_context]:
                try:
                    instances[number] = Instances(modules, config, long_context)
                    yield None
                except ValueError as error:
                    yield str(error)
            case ["run", number, calls, unchanged] if number in instances:
                results: list[str] = []
                for call in calls:
                    signal.setitimer(signal.ITIMER_PROF, CALL_SECONDS)
                    results.append(instances[number].run(call, unchanged))
                yield results
            case ["compare", number, other, hidden] if number in instances and other in instances:
                yield list(_differing(instances[number], instances[other], hidden))
            case ["memory", number] if number in instances:
                (memory,) = instances[number].by_class.values()
                yield {"kept": _contents(memory), "shown": memory._dump_core_memory_to_context()}
            case ["states", number] if number in instances:
                owners = instances[number].by_class.items()
                yield {owner: _plain(instance) for owner, instance in owners}
            case _:
                yield None  # of instances that could not be made
        signal.setitimer(signal.ITIMER_PROF, 0)


def main() -> None:
    """Answers messages until the other side ends."""
    warnings.simplefilter("ignore")  # about a model's text
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a class prints is for nobody
    package, *places = sys.argv[1:]
    sys.path.extend(place for place in places if place not in sys.path)
    prepare(package)
    instances: dict[int, Instances] = {}
    for line in sys.stdin.buffer:
        answers.write(json.dumps(list(results_of(json.loads(line), instances))).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    main()
