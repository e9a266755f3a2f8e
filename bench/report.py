"""Building the report of 57 models on 256 sessions, and opening its first page, beside only reading the same records."""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from shutil import which

from measure import Ended, Line, in_turns, main, run_child
from report_runs import write_runs
from sessions import write_sessions

MODELS, SESSIONS = 57, 256
READ = (
    "import json, sys, pathlib; [json.loads(line) for path in pathlib.Path(sys.argv[1]).rglob('record*.jsonl')"
    " for line in open(path, encoding='utf-8')]"
)
OPEN = "window.performance.getEntriesByType('navigation')[0].loadEventEnd / 1000"


def measure(repeats: int) -> list[Line]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_runs(write_sessions(folder / "sessions.jsonl", SESSIONS), folder / "runs", MODELS)
        memory: list[float] = []
        ours, baseline = in_turns(
            lambda: build(folder, memory),
            lambda: run_child([sys.executable, "-c", READ, folder / "runs"]),
            min(repeats, 3),
        )
        what, versus = f"{MODELS} models, {SESSIONS} sessions", "reading the same records with `json`"
        wall = ([each.wall_s for each in ours], [each.wall_s for each in baseline])
        processor = ([each.cpu_s for each in ours], [each.cpu_s for each in baseline])
        lines = [
            Line(
                what=f"`wildtool report`, {what}",
                unit="s",
                ours=wall[0],
                versus=versus,
                baseline=wall[1],
                target=60,
            ),
            Line(
                what=f"`wildtool report`, {what}, processor time of all its processes",
                unit="s",
                ours=processor[0],
                versus=versus,
                baseline=processor[1],
                target=30,
            ),
            Line(
                what=f"`wildtool report`, {what}, memory of all its processes",
                unit="MB",
                ours=memory,
                versus="the target",
                baseline=[1000] * len(memory),
                target=1000,
            ),
        ]
        opened, empty = in_turns(
            lambda: seconds_to_open(folder / "site" / "index.html"), lambda: seconds_to_open(None), repeats
        )
        return [
            *lines,
            Line(
                what=f"largest page, {what}",
                unit="MB",
                ours=[largest_page_mb(folder / "site")],
                versus="the target",
                baseline=[1.5],
                target=1.5,
            ),
            Line(
                what=f"opening the overview, {what}",
                unit="s",
                ours=opened,
                versus="an empty page",
                baseline=empty,
                target=1,
            ),
        ]


def build(folder: Path, memory: list[float]) -> Ended:
    """Builds the report, noting the most memory that it and its children held at once, in MB."""
    command = [Path(sys.executable).with_name("wildtool"), "report", folder / "runs", "-o", folder / "site"]
    began, used, most = time.perf_counter(), processor_s(), 0.0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as child:
        while child.poll() is None:
            most = max(most, sum(map(held_mb, family(child.pid))))
            time.sleep(0.1)
    if child.returncode:
        sys.exit(f"wildtool report ended with {child.returncode}")
    memory.append(most)
    return Ended(time.perf_counter() - began, processor_s() - used, "")


def processor_s() -> float:
    """User and system time of all children that have ended, and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def largest_page_mb(site: Path) -> float:
    return max(page.stat().st_size for page in site.glob("*.html")) / 1e6


def family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    try:
        lists = [path.read_text().split() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return []
    return [pid, *(each for children in lists for child in children for each in family(int(child)))]


def held_mb(pid: int) -> float:
    """Memory of a process, what it shares with others counted in parts."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1000


def seconds_to_open(page: Path | None) -> float:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=which("chromium") or which("google-chrome"), chromium_sandbox=False
        )
        shown = browser.new_page()
        began = time.perf_counter()
        shown.goto(page.as_uri() if page else "about:blank")
        return shown.evaluate(OPEN) if page else time.perf_counter() - began


if __name__ == "__main__":
    main(measure)
