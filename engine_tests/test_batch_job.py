"""The batch job on a cluster of two nodes: one of them dies, and its driver too.

A node is here a raylet and the processes that it started. Where a machine fails they are gone at once, so all of them
get SIGKILL. What was written is compared with the output of a job that nobody disturbed, and checked by `jsonschema`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

pytest.importorskip("ray")

from ray.cluster_utils import Cluster

EXAMPLE = Path(__file__).parent.parent / "examples" / "batch_job"
SHARDS, RECORDS = 10, 48
# Seconds that a job may take, on a machine that is busy.
LIMIT = 240.0
# Nothing is reported or fetched, and all nodes are at the loopback address, as Ray does it where it has no clusters.
SETTINGS = {"RAY_USAGE_STATS_ENABLED": "0", "HF_HUB_OFFLINE": "1", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
HOST = "127.0.0.1"


@pytest.fixture(scope="module")
def prompts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("prompts")
    command = [sys.executable, str(EXAMPLE / "example_prompts.py"), str(folder)]
    subprocess.run([*command, "--shards", str(SHARDS), "--records", str(RECORDS)], check=True)
    return folder


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head that runs nothing, and two nodes with a core each."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SETTINGS.items():
            patch.setenv(name, value)
        cluster = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, "node_ip_address": HOST}
        )
        complete(cluster)
        yield cluster
        cluster.shutdown()


def complete(cluster: Any) -> None:
    """Add nodes until there are two."""
    while len(cluster.worker_nodes) < 2:
        cluster.add_node(num_cpus=1, node_ip_address=HOST)


def start(cluster: Any, prompts: Path, output: Path) -> subprocess.Popen[str]:
    command = [sys.executable, str(EXAMPLE / "batch_job.py"), str(prompts), str(output), "--address", cluster.address]
    command += ["--workers", "2", "--max-new-tokens", "100"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(job: subprocess.Popen[str]) -> str:
    """Wait for a job, and return what it printed."""
    try:
        printed, errors = job.communicate(timeout=LIMIT)
    finally:
        job.kill()
    assert job.returncode == 0, errors[-4000:]
    return printed


@pytest.fixture(scope="module")
def undisturbed(cluster: Any, prompts: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The output of a job that nobody disturbed."""
    output: Path = tmp_path_factory.mktemp("undisturbed")
    printed = finish(start(cluster, prompts, output))
    assert printed.count(f": {RECORDS} records, {RECORDS // 12} of them refused") == SHARDS
    return contents(output)


def contents(output: Path) -> dict[str, bytes]:
    """What the finished shards hold; nothing else is left beside them but the manifest."""
    files = {path.name: path.read_bytes() for path in output.iterdir() if path.name != "job.json"}
    assert sorted(files) == [f"shard-{number:03}.jsonl" for number in range(SHARDS)]
    return files


def finished(output: Path) -> list[Path]:
    return sorted(output.glob("shard-*.jsonl"))


def under_way(output: Path) -> list[Path]:
    """The files that workers are writing."""
    return sorted(output.glob(".shard-*"))


def wait_until(holds: Callable[[], bool], job: subprocess.Popen[str]) -> None:
    end = time.monotonic() + LIMIT
    while not holds():
        assert job.poll() is None, "the job has ended too early"
        assert time.monotonic() < end
        time.sleep(0.01)


def processes_of(node: Any) -> list[int]:
    """The raylet of a node, and the processes that it and they started."""
    (raylet,) = node.all_processes["raylet"]
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(entry.parent.name)] = int(entry.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended meanwhile
            continue
    found = [int(raylet.process.pid)]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found


def kill_node(cluster: Any, node: Any, output: Path) -> Path:
    """Kill all processes of a node; return the file that one of them was writing."""
    processes = processes_of(node)
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    opened = {os.readlink(file) for process in processes for file in Path(f"/proc/{process}/fd").iterdir()}
    (written,) = (path for path in under_way(output) if str(path) in opened)
    for process in processes:
        os.kill(process, signal.SIGKILL)
    cluster.remove_node(node, allow_graceful=False)
    return written


def test_each_record_is_there_once_and_valid(prompts: Path, undisturbed: dict[str, bytes]) -> None:
    refused = []
    for name, content in undisturbed.items():
        asked, results = (prompts / name).read_bytes().splitlines(), [json.loads(line) for line in content.splitlines()]
        for line, result in zip(asked, results, strict=True):
            record = record_of(line)
            assert result["id"] == record.get("id")
            if "error" in result:
                refused.append(result)
            else:
                assert json.loads(result["text"]) == result["value"]
                jsonschema.validate(result["value"], record["schema"], format_checker=jsonschema.FormatChecker())
    # The prompts have one broken record in twelve, whose id says so, or cannot be read.
    assert len(refused) == SHARDS * RECORDS // 12
    assert all(result["id"] is None or "-broken-" in result["id"] for result in refused)
    assert all(re.match(r"shard-\d+\.jsonl, line \d+: .", result["error"]) for result in refused)


def record_of(line: bytes) -> dict[str, Any]:
    """The record of a line; an empty one where the line is cut off."""
    try:
        return dict(json.loads(line))
    except json.JSONDecodeError:
        return {}


def test_a_node_dies(cluster: Any, prompts: Path, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    complete(cluster)
    job = start(cluster, prompts, tmp_path)
    wait_until(lambda: len(finished(tmp_path)) >= 3 and len(under_way(tmp_path)) == 2, job)
    left = kill_node(cluster, next(iter(cluster.worker_nodes)), tmp_path)
    assert len(finished(tmp_path)) < SHARDS - 2
    shard = left.name.split(".")[1] + ".jsonl"
    assert not (tmp_path / shard).exists()
    printed = finish(job)
    assert f"{shard}: " in printed
    assert contents(tmp_path) == undisturbed


def test_a_node_and_the_driver_die(cluster: Any, prompts: Path, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    complete(cluster)
    job = start(cluster, prompts, tmp_path)
    wait_until(lambda: len(finished(tmp_path)) >= 3 and len(under_way(tmp_path)) == 2, job)
    job.kill()
    left = kill_node(cluster, next(iter(cluster.worker_nodes)), tmp_path)
    job.communicate(timeout=LIMIT)
    assert left.exists()
    before = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in finished(tmp_path)}
    printed = finish(start(cluster, prompts, tmp_path))
    assert contents(tmp_path) == undisturbed
    assert {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in before} == before
    assert not any(f"{path.name}: " in printed for path in before)
    assert "all shards are finished" in printed
