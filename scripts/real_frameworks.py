"""The frameworks of `make agents`, in the versions that they were tried with: an environment for each file of
scripts/frameworks.

python scripts/real_frameworks.py install FOLDER     # by pip; a second call installs what has changed
"""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def install(folder: Path) -> int:
    """Makes the environments in a folder, with wildtool as it lies here. Returns the first bad exit status of pip."""
    for packages in sorted((ROOT / "scripts" / "frameworks").glob("*.txt")):
        place = folder / packages.stem
        python = place / "bin" / "python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        print(f"{place}: {packages.relative_to(ROOT)}", flush=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        status = subprocess.run(
            [*pip, "--editable", str(ROOT), "--requirement", str(packages)], check=False
        ).returncode
        if status:
            return status
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Installs the frameworks whose examples the tests run.")
    parser.add_argument("verb", choices=["install"])
    parser.add_argument("folder", type=Path)
    raise SystemExit(install(parser.parse_args().folder))
