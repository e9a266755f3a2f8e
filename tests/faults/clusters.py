"""A server that speaks S3 (moto) and a Ray cluster of several nodes, both on loopback, for tests and `bench/cluster.py`.

Each ends with its context, and with the process that started it.
"""

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from e2e.command import END_S, LIMIT_S, end
from e2e.forks import end_with_parent

MOTO_SERVER = os.environ.get("WILDTOOL_MOTO_SERVER") or shutil.which("moto_server")
NODES = """
import sys
from ray.cluster_utils import Cluster
node = {"num_cpus": 1, "object_store_memory": 80 << 20}
cluster = Cluster(initialize_head=True, head_node_args=node)
for _ in range(int(sys.argv[1]) - 1):
    cluster.add_node(**node)
cluster.wait_for_nodes()
print(cluster.address, flush=True)
for line in sys.stdin:
    cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)
    print("lost", flush=True)
cluster.shutdown()
"""


@contextmanager
def s3_server() -> Iterator[dict[str, str]]:
    """The environment that names a server with the bucket `runs`; needs MOTO_SERVER."""
    assert MOTO_SERVER is not None
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [MOTO_SERVER, "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=end_with_parent,
    )
    try:
        _make_bucket(server, f"{url}/runs")
        yield {
            "AWS_ENDPOINT_URL": url,
            "AWS_ACCESS_KEY_ID": "any",
            "AWS_SECRET_ACCESS_KEY": "anything-secret",
            "AWS_REGION": "us-east-1",
        }
    finally:
        end(server)


def _make_bucket(server: "subprocess.Popen[bytes]", url: str) -> None:
    until = time.monotonic() + LIMIT_S
    while True:
        assert server.poll() is None, "moto_server ended"
        assert time.monotonic() < until, "moto_server does not answer"
        with suppress(OSError):
            urllib.request.urlopen(urllib.request.Request(url, method="PUT"), timeout=30).close()
            return


@dataclass(frozen=True)
class RayCluster:
    """A cluster that runs."""

    address: str
    process: "subprocess.Popen[str]"

    def lose_node(self) -> None:
        """Kills its last node."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write("lose\n")
        self.process.stdin.flush()
        assert any(line == "lost\n" for line in self.process.stdout)


@contextmanager
def ray_cluster(nodes: int, environment: Mapping[str, str]) -> Iterator[RayCluster]:
    """A cluster. Args: environment: variables of its nodes beside those of this process."""
    process = subprocess.Popen(
        [sys.executable, "-c", NODES, str(nodes)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **environment},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    # One that does not come up says nothing more.
    patience = threading.Timer(LIMIT_S, process.kill)
    patience.start()
    try:
        lines = (line.strip() for line in process.stdout)
        address = next(line for line in lines if line.count(":") == 1 and line.rpartition(":")[2].isdecimal())
        patience.cancel()
        yield RayCluster(address, process)
    finally:
        patience.cancel()
        # It ends its nodes first.
        process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(2 * END_S)
        process.kill()
        process.wait(END_S)
