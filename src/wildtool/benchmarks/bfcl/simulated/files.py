"""The simulated file system (section 1 of the specification of the classes)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from wildtool.benchmarks.bfcl.simulated.base import ApiState, SimulatedApi
from wildtool.toolcall.refusals import RefusedCallError, refuse_if

_BAD_CHARACTERS = frozenset('|/\\?%*:"><')
_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")
MAX_PATHS = 200_000
"""Most characters of paths that one call walks: copies share their children, so a tree can be endless."""


@dataclass(slots=True)
class File:
    """A file; equal to another of the same name and content."""

    name: str
    content: Any = ""


@dataclass(slots=True, repr=False)
class Directory:
    """A directory; equal to another of the same name with equal children, in any order."""

    name: str
    parent: "Directory | None" = field(default=None, compare=False)
    children: dict[str, "File | Directory"] = field(default_factory=dict[str, "File | Directory"])


class GorillaFileSystem(SimulatedApi):
    """A tree of directories and files in memory, with a current directory that is not compared."""

    NAME = "GorillaFileSystem"
    DOCUMENTS = "gorilla_file_system"

    def _set_up(self, scenario: Mapping[str, Any]) -> None:
        roots: Mapping[str, Any] = scenario.get("root", {})
        name = next(iter(roots), "/")
        self._root = Directory(name)
        if roots:
            self._load(self._root, roots[name]["contents"])
        self._current = self._root
        self.state = {"root": self._root, "long_context": self._long}

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
                raise RefusedCallError("cd: already at the root directory")
            self._current = self._current.parent
            return {}
        if folder == "/":
            self._current = self._root
        elif "/" in folder:
            raise RefusedCallError(f"cd: {folder}: only one directory at a time")
        elif folder != ".":
            self._current = _of_kind(Directory, self._current.children.get(folder), f"cd: {folder}")
        return {"current_working_directory": self._current.name}

    def mkdir(self, dir_name: Any) -> None:
        self._check_new("mkdir", dir_name)
        self._current.children[dir_name] = Directory(dir_name, self._current)

    def touch(self, file_name: Any) -> None:
        self._check_new("touch", file_name)
        self._current.children[file_name] = File(file_name)

    def echo(self, content: Any, file_name: Any = None) -> ApiState | None:
        if file_name is None or file_name == "":
            return {"terminal_output": content}
        refuse_if(_is_bad(file_name), f"echo: {file_name}: not a valid file name")
        self._file("echo", file_name).content = content
        return None

    def cat(self, file_name: Any) -> ApiState:
        refuse_if(_is_bad(file_name), f"cat: {file_name}: not a valid file name")
        return {"file_content": self._file("cat", file_name).content}

    def find(self, path: Any = ".", name: Any = None) -> ApiState:
        items = walked(self._resolved("find", path), path.rstrip("/"))
        return {"matches": [where for where, item in items if name is None or name in item.name]}

    def wc(self, file_name: Any, mode: Any = "l") -> ApiState:
        kinds = {"l": "lines", "w": "words", "c": "characters"}
        item = self._current.children.get(file_name)
        refuse_if(mode not in kinds, f"wc: {mode}: expected l, w or c")
        content = _of_kind(File, item, f"wc: {file_name}").content
        parts = {"l": content.splitlines, "w": content.split, "c": lambda: content}
        return {"count": len(parts[mode]()), "type": kinds[mode]}

    def sort(self, file_name: Any) -> ApiState:
        return {"sorted_content": "\n".join(sorted(self._file("sort", file_name).content.splitlines()))}

    def grep(self, file_name: Any, pattern: Any) -> ApiState:
        lines = self._file("grep", file_name).content.splitlines()
        return {"matching_lines": [line for line in lines if pattern in line]}

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
        content: list[str] = self._file("tail", file_name).content.splitlines()
        return {"last_lines": "\n".join(content[-min(lines, len(content)) :])}

    def diff(self, file_name1: Any, file_name2: Any) -> ApiState:
        items = [(name, self._current.children.get(name)) for name in (file_name1, file_name2)]
        files = [_of_kind(File, item, f"diff: {name}") for name, item in items]
        pairs = zip(*(file.content.splitlines() for file in files), strict=False)
        return {"diff_lines": "\n".join(f"- {a}\n+ {b}" for a, b in pairs if a != b)}

    def mv(self, source: Any, destination: Any) -> ApiState:
        exists = RefusedCallError(f"mv: {destination}/{source}: exists already")
        item, directory, name, place = self._place("mv", source, destination, exists)
        del self._current.children[source]
        directory.children[name] = _moved(item, name, directory)
        return {"result": f"'{source}' moved to '{place}'"}

    def cp(self, source: Any, destination: Any) -> ApiState:
        exists = ValueError(f"'{source}' exists already in '{destination}'")
        item, directory, name, place = self._place("cp", source, destination, exists)
        directory.children[name] = _copy(item, name, directory)
        return {"result": f"'{source}' copied to '{place}'"}

    def _place(
        self, command: str, source: Any, destination: Any, exists: Exception
    ) -> tuple[File | Directory, Directory, str, str]:
        """A file or directory, the directory that it goes to, and its name and path there.

        Args:
            exists: raised where that directory has one of its name.
        """
        item, target = (self._current.children.get(name) for name in (source, destination))
        if item is None:
            raise RefusedCallError(f"{command}: {source}: no such file or directory")
        refuse_if("/" in destination, f"{command}: {destination}: a path is not allowed, only a name")
        if isinstance(target, File):
            raise RefusedCallError(f"{command}: {destination}: exists and is a file")
        if target is None:
            return item, self._current, destination, destination
        if source in target.children:
            raise exists
        return item, target, source, f"{destination}/{source}"

    def rm(self, file_name: Any) -> ApiState:
        refuse_if(file_name not in self._current.children, f"rm: {file_name}: no such file or directory")
        del self._current.children[file_name]
        return {"result": f"'{file_name}' removed"}

    def rmdir(self, dir_name: Any) -> ApiState:
        directory = _of_kind(Directory, self._current.children.get(dir_name), f"rmdir: {dir_name}")
        refuse_if(directory.children, f"rmdir: {dir_name}: not empty")
        del self._current.children[dir_name]
        return {"result": f"'{dir_name}' removed"}

    def _check_new(self, command: str, name: Any) -> None:
        refuse_if(_is_bad(name), f"{command}: {name}: not a valid name")
        refuse_if(name in self._current.children, f"{command}: {name}: exists already")

    def _file(self, command: str, name: Any) -> File:
        return _of_kind(File, self._current.children.get(name), f"{command}: {name}")

    def _resolved(self, command: str, path: Any) -> Directory:
        """The directory of a path, whose parts are names or `.`."""
        where = f"{command}: {path}"
        refuse_if(not path, f"{where}: no such directory")
        item: File | Directory | None = self._root if path.startswith("/") else self._current
        for part in path.split("/"):
            directory = _of_kind(Directory, item, where)
            item = directory if part in ("", ".") else directory.children.get(part)
        return _of_kind(Directory, item, where)


_Kind = TypeVar("_Kind", File, Directory)


def _of_kind(kind: type[_Kind], item: File | Directory | None, where: str) -> _Kind:
    """A file, or a directory. Raises RefusedCallError, which begins with `where`, for anything else."""
    if not isinstance(item, kind):
        raise RefusedCallError(f"{where}: no such {kind.__name__.lower()}")
    return item


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
