"""The simulated file system (section 1 of the specification of the classes)."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from wildtool.benchmarks.bfcl.simulated.base import ApiState, SimulatedApi, SimulatedTables, failed

_BAD_CHARACTERS = frozenset('|/\\?%*:"><')
_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")
MAX_PATHS = 200_000
"""Most characters of paths that one call walks: copies share their children, so a tree can be endless."""


class File:
    """A file; equal to another of the same name and content."""

    def __init__(self, name: str, content: Any = "") -> None:
        self.name = name
        self.content = content

    def __eq__(self, other: object) -> bool:
        return isinstance(other, File) and (self.name, self.content) == (other.name, other.content)

    __hash__ = None  # type: ignore[assignment]


class Directory:
    """A directory; equal to another of the same name with equal children, in any order."""

    def __init__(self, name: str, parent: "Directory | None" = None) -> None:
        self.name = name
        self.parent = parent
        self.children: dict[str, File | Directory] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Directory) and self.name == other.name and self.children == other.children

    __hash__ = None  # type: ignore[assignment]


class GorillaFileSystem(SimulatedApi):
    """A tree of directories and files in memory, with a current directory that is not compared."""

    NAME = "GorillaFileSystem"
    DOCUMENTS = "gorilla_file_system"

    def __init__(
        self, tables: SimulatedTables, scenario: Mapping[str, Any], *, long_context: bool = False
    ) -> None:
        super().__init__(tables, scenario, long_context=long_context)
        roots: Mapping[str, Any] = scenario.get("root", {})
        name = next(iter(roots), "/")
        self._root = Directory(name)
        if roots:
            self._load(self._root, roots[name]["contents"])
        self._current = self._root
        self.state = {"root": self._root, "long_context": long_context}

    def _load(self, directory: Directory, contents: Mapping[str, Any]) -> None:
        for name, entry in contents.items():
            if entry["type"] == "directory":
                child = directory.children[name] = Directory(name, directory)
                self._load(child, entry["contents"])
            else:
                is_kept = not self._long or name in self._filler["FILES_TAIL_USED"]
                extension = "" if is_kept else self._filler["FILE_CONTENT_EXTENSION"]
                directory.children[name] = File(name, entry["content"] + extension)
        if self._long and not any(isinstance(child, Directory) for child in directory.children.values()):
            for name in self._filler["POPULATE_FILE_EXTENSION"]:
                directory.children.setdefault(name, File(name))

    def facts(self) -> ApiState:
        return self.pwd()

    def pwd(self) -> ApiState:
        names: list[str] = []
        directory: Directory | None = self._current
        while directory is not None:
            names.append(directory.name)
            directory = directory.parent
        return {"current_working_directory": "/" + "/".join(reversed(names))}

    def ls(self, a: Any = False) -> ApiState:
        names = [name for name in self._current.children if a or not name.startswith(".")]
        return {"current_directory_content": names}

    def cd(self, folder: Any) -> ApiState:
        folder = folder.rstrip("/") or "/"
        if folder == "..":
            if self._current.parent is None:
                return failed("cd: already at the root directory")
            self._current = self._current.parent
            return {}
        if folder == "/":
            self._current = self._root
        elif "/" in folder:
            return failed(f"cd: {folder}: only one directory at a time")
        elif folder != ".":
            child = self._current.children.get(folder)
            if not isinstance(child, Directory):
                return failed(f"cd: {folder}: no such directory")
            self._current = child
        return {"current_working_directory": self._current.name}

    def mkdir(self, dir_name: Any) -> ApiState | None:
        refusal = self._refuse_new("mkdir", dir_name)
        if refusal is None:
            self._current.children[dir_name] = Directory(dir_name, self._current)
        return refusal

    def touch(self, file_name: Any) -> ApiState | None:
        refusal = self._refuse_new("touch", file_name)
        if refusal is None:
            self._current.children[file_name] = File(file_name)
        return refusal

    def echo(self, content: Any, file_name: Any = None) -> ApiState | None:
        if file_name is None or file_name == "":
            return {"terminal_output": content}
        if _is_bad(file_name):
            return failed(f"echo: {file_name}: not a valid file name")
        file = self._file(file_name)
        if file is None:
            return failed(f"echo: {file_name}: no such file")
        file.content = content
        return None

    def cat(self, file_name: Any) -> ApiState:
        if _is_bad(file_name):
            return failed(f"cat: {file_name}: not a valid file name")
        file = self._file(file_name)
        return failed(f"cat: {file_name}: no such file") if file is None else {"file_content": file.content}

    def find(self, path: Any = ".", name: Any = None) -> ApiState:
        directory = self._resolved(path)
        if directory is None:
            return failed(f"find: {path}: no such directory")
        items = walked(directory, path.rstrip("/"))
        return {"matches": [where for where, item in items if name is None or name in item.name]}

    def wc(self, file_name: Any, mode: Any = "l") -> ApiState:
        kinds = {"l": "lines", "w": "words", "c": "characters"}
        file = self._file(file_name)
        if mode not in kinds:
            return failed(f"wc: {mode}: expected l, w or c")
        if file is None:
            return failed(f"wc: {file_name}: no such file")
        parts = {"l": file.content.splitlines, "w": file.content.split, "c": lambda: file.content}
        return {"count": len(parts[mode]()), "type": kinds[mode]}

    def sort(self, file_name: Any) -> ApiState:
        file = self._file(file_name)
        if file is None:
            return failed(f"sort: {file_name}: no such file")
        return {"sorted_content": "\n".join(sorted(file.content.splitlines()))}

    def grep(self, file_name: Any, pattern: Any) -> ApiState:
        file = self._file(file_name)
        if file is None:
            return failed(f"grep: {file_name}: no such file")
        return {"matching_lines": [line for line in file.content.splitlines() if pattern in line]}

    def du(self, human_readable: Any = False) -> ApiState:
        items = (item for _, item in walked(self._current, "") if isinstance(item, File))
        size = sum(len(item.content.encode()) for item in items)
        if not human_readable:
            return {"disk_usage": f"{size} bytes"}
        scaled, power = float(size), 0
        while scaled >= 1024 and power < len(_UNITS) - 1:
            scaled, power = scaled / 1024, power + 1
        return {"disk_usage": f"{scaled:.2f} {_UNITS[power]}"}

    def tail(self, file_name: Any, lines: Any = 10) -> ApiState:
        file = self._file(file_name)
        if file is None:
            return failed(f"tail: {file_name}: no such file")
        content: list[str] = file.content.splitlines()
        return {"last_lines": "\n".join(content[-min(lines, len(content)) :])}

    def diff(self, file_name1: Any, file_name2: Any) -> ApiState:
        first, second = self._file(file_name1), self._file(file_name2)
        if first is None or second is None:
            return failed(f"diff: {file_name2 if first else file_name1}: no such file")
        pairs = zip(first.content.splitlines(), second.content.splitlines(), strict=False)
        return {"diff_lines": "\n".join(f"- {a}\n+ {b}" for a, b in pairs if a != b)}

    def mv(self, source: Any, destination: Any) -> ApiState:
        item = self._current.children.get(source)
        target = self._current.children.get(destination)
        if item is None:
            return failed(f"mv: {source}: no such file or directory")
        if "/" in destination:
            return failed(f"mv: {destination}: a path is not allowed, only a name")
        if isinstance(target, File):
            return failed(f"mv: {destination}: exists and is a file")
        if target is not None and source in target.children:
            return failed(f"mv: {destination}/{source}: exists already")
        del self._current.children[source]
        if target is None:
            self._current.children[destination] = _moved(item, destination, self._current)
            return {"result": f"'{source}' moved to '{destination}'"}
        target.children[source] = _moved(item, source, target)
        return {"result": f"'{source}' moved to '{destination}/{source}'"}

    def cp(self, source: Any, destination: Any) -> ApiState:
        item = self._current.children.get(source)
        target = self._current.children.get(destination)
        if item is None:
            return failed(f"cp: {source}: no such file or directory")
        if "/" in destination:
            return failed(f"cp: {destination}: a path is not allowed, only a name")
        if isinstance(target, File):
            return failed(f"cp: {destination}: exists and is a file")
        if target is None:
            self._current.children[destination] = _copy(item, destination, self._current)
            return {"result": f"'{source}' copied to '{destination}'"}
        if source in target.children:
            raise ValueError(f"'{source}' exists already in '{destination}'")
        target.children[source] = _copy(item, source, target)
        return {"result": f"'{source}' copied to '{destination}/{source}'"}

    def rm(self, file_name: Any) -> ApiState:
        if file_name not in self._current.children:
            return failed(f"rm: {file_name}: no such file or directory")
        del self._current.children[file_name]
        return {"result": f"'{file_name}' removed"}

    def rmdir(self, dir_name: Any) -> ApiState:
        directory = self._current.children.get(dir_name)
        if not isinstance(directory, Directory):
            return failed(f"rmdir: {dir_name}: no such directory")
        if directory.children:
            return failed(f"rmdir: {dir_name}: not empty")
        del self._current.children[dir_name]
        return {"result": f"'{dir_name}' removed"}

    def _refuse_new(self, command: str, name: Any) -> ApiState | None:
        if _is_bad(name):
            return failed(f"{command}: {name}: not a valid name")
        return failed(f"{command}: {name}: exists already") if name in self._current.children else None

    def _file(self, name: Any) -> File | None:
        item = self._current.children.get(name)
        return item if isinstance(item, File) else None

    def _resolved(self, path: Any) -> Directory | None:
        """The directory of a path, whose parts are names or `.`; None if there is none."""
        if not path:
            return None
        directory: File | Directory | None = self._root if path.startswith("/") else self._current
        for part in path.split("/"):
            if not isinstance(directory, Directory):
                return None
            if part not in ("", "."):
                directory = directory.children.get(part)
        return directory if isinstance(directory, Directory) else None


def _is_bad(name: Any) -> bool:
    return not _BAD_CHARACTERS.isdisjoint(cast(str, name))


def _copy(item: File | Directory, name: str, parent: Directory) -> File | Directory:
    """A copy of a file, or a directory of its own that shares the children."""
    if isinstance(item, File):
        return File(name, item.content)
    directory = Directory(name, parent)
    directory.children = dict(item.children)
    return directory


def _moved(item: File | Directory, name: str, parent: Directory) -> File | Directory:
    """A file or directory at its new place; a directory that children still have as their parent keeps the same ones."""
    moved = _copy(item, name, parent)
    if isinstance(moved, Directory) and isinstance(item, Directory):
        moved.children = item.children
    return moved


def walked(directory: Directory, where: str) -> Iterator[tuple[str, File | Directory]]:
    """Everything below a directory with its path, depth first. Raises ValueError beyond `MAX_PATHS`."""
    stack = [(where, iter(directory.children.values()))]
    characters = 0
    while stack:
        where, items = stack[-1]
        item = next(items, None)
        if item is None:
            stack.pop()
            continue
        path = f"{where}/{item.name}"
        characters += len(path)
        if characters > MAX_PATHS:
            raise ValueError(f"the paths are longer than {MAX_PATHS} characters together")
        yield path, item
        if isinstance(item, Directory):
            stack.append((path, iter(item.children.values())))
