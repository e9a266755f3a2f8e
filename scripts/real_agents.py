"""The command-line agents of `make agents`, in the versions that they were tried with.

python scripts/real_agents.py install FOLDER     # by npm; a second call installs what has changed
"""

import argparse
import subprocess
from pathlib import Path
from shutil import which

from wildtool.agents.templates import agent_templates


def install(folder: Path) -> int:
    """Installs all of them into a folder. Returns npm's exit status."""
    if which("npm") is None:
        print("npm is not installed; the agents need Node.js 20 or later")
        return 1
    packages = [template.package for template in agent_templates().values()]
    print(f"This downloads, from your package registry: {', '.join(packages)}.", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    npm = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel", "error"]
    return subprocess.run([*npm, *packages], check=False).returncode


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Installs the agents that the tests play.")
    parser.add_argument("verb", choices=["install"])
    parser.add_argument("folder", type=Path)
    raise SystemExit(install(parser.parse_args().folder))
