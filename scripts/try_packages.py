"""Builds the archives of all packages as they would be published, checks them, and tries them in clean environments.

python scripts/try_packages.py dist                  # with every Python of 3.11 to 3.14 that is at hand
python scripts/try_packages.py dist --python 3.11 --built    # with the archives that are there

`twine check --strict` and `check-wheel-contents` look at the archives. In each environment wildtool is installed alone,
and then with all packages: from the wheels, and in another one from the source archives. With the wheels the pages of the
docs are played (`scripts/play_docs.py`). What was not tried is said.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
CHECKERS = ("twine", "check-wheel-contents")
EXTRAS = "all,ledger"
"""What the pages need beside the core."""
PACKAGES = (ROOT, *sorted(ROOT.glob("packages/*/")))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("dist", type=Path)
    parser.add_argument("--python", action="append", choices=PYTHONS)
    parser.add_argument("--built", action="store_true", help="build nothing: the folder has the archives")
    parser.add_argument("--no-pages", action="store_true", help="play no pages")
    options = parser.parse_args()
    dist: Path = options.dist.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        if not options.built:
            build(dist)
        names = [path.name for path in archives(dist)]
        assert len(names) == 2 * len(PACKAGES), names
        print("\n".join(names))
        check(dist, Path(scratch))
        tried = [
            version
            for version in options.python or PYTHONS
            if try_in(version, dist, Path(scratch, version), pages=not options.no_pages)
        ]
    print(f"tried with Python {', '.join(tried)}")
    if missing := [version for version in options.python or PYTHONS if version not in tried]:
        print(f"NOT TRIED, since it is not at hand: Python {', '.join(missing)}")
    return 0 if tried else 1


def run(*words: str | Path) -> None:
    print("$", *words, flush=True)
    subprocess.run([str(word) for word in words], cwd=ROOT, check=True)


def build(dist: Path) -> None:
    shutil.rmtree(dist, ignore_errors=True)
    pinned = ("--build-constraints", ROOT / "locked.txt", "--require-hashes")
    for package in PACKAGES:
        run(uv(), "build", "--quiet", *pinned, "--out-dir", dist, package)


def uv() -> str:
    return shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}") or "uv"


def check(dist: Path, scratch: Path) -> None:
    place = scratch / "checkers"
    run(uv(), "venv", "--quiet", place)
    run(uv(), "pip", "install", "--quiet", "--python", place / "bin" / "python", *CHECKERS)
    run(place / "bin" / "twine", "check", "--strict", *archives(dist))
    run(place / "bin" / "check-wheel-contents", *archives(dist, ".whl"))


def archives(dist: Path, *kinds: str) -> list[Path]:
    return sorted(path for path in dist.iterdir() if path.name.endswith(kinds or (".whl", ".tar.gz")))


def try_in(version: str, dist: Path, place: Path, *, pages: bool) -> bool:
    """Whether a Python of this version is at hand; raises CalledProcessError where the packages fail in it."""
    python = at_hand(version)
    if python is None:
        return False
    for kind in (".whl", ".tar.gz"):
        beside = place / kind.strip(".") / "bin"
        run(uv(), "venv", "--quiet", "--python", python, beside.parent)
        core = next(path for path in archives(dist, kind) if path.name.startswith("wildtool-"))
        install(beside, core)
        run(beside / "wildtool", "--version")
        extras = f"wildtool[{EXTRAS}] @ {core.as_uri()}"
        install(beside, extras, *(path for path in archives(dist, kind) if path != core))
        played = shlex.split("run wild-mini --model baseline/gold --limit 1 --quiet --out")
        run(beside / "wildtool", *played, place / f"run{kind}")
        if kind == ".whl" and pages:
            run(sys.executable, ROOT / "scripts" / "play_docs.py", "--bin", beside)
    return True


def at_hand(version: str) -> str | None:
    """A Python of this version: one that uv finds, or one of pyenv's, which it knows only where it is switched on."""
    asked = [uv(), "python", "find", "--no-project", "--no-python-downloads", version]
    found = subprocess.run(asked, capture_output=True, text=True, check=False)
    if found.returncode == 0:
        return found.stdout.strip()
    of_pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    return next((str(path) for path in sorted(of_pyenv.glob(f"{version}.*/bin/python"))), None)


def install(beside: Path, *wanted: str | Path) -> None:
    pinned = ("--constraint", ROOT / "constraints.txt")
    run(uv(), "pip", "install", "--quiet", "--python", beside / "python", *pinned, *wanted)


if __name__ == "__main__":
    sys.exit(main())
