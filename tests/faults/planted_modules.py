"""Modules in a folder that somebody happens to stand in, named as those that Python programs import."""

from pathlib import Path

NAMES = (
    *("json", "random", "socket", "orjson", "pickle", "signal", "subprocess", "tempfile", "typing"),
    *("sitecustomize", "pip", "wildtool", "typer", "aiohttp", "multiprocessing"),
)


class PlantedModules:
    """Notes which of them are executed."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "executed.txt"
        for name in NAMES:
            (folder / f"{name}.py").write_text(f"open({str(self._log)!r}, 'a').write('{name}\\n')\n")
        (folder / "wildtool").mkdir()
        for name in ("__init__.py", "__main__.py"):
            (folder / "wildtool" / name).write_text((folder / "wildtool.py").read_text())

    def executed(self) -> list[str]:
        return self._log.read_text().split() if self._log.exists() else []
