"""The file for Kubernetes: against its schemas, our settings, vLLM's arguments; and its server, with two copies.

What runs is the command of the file's container with the bundled model, on this machine, without accelerators.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes_validate import validate

from serving import settings

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "examples" / "deployment"
DEPLOYMENT, SERVICE = yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text())
(CONTAINER,) = DEPLOYMENT["spec"]["template"]["spec"]["containers"]
# The entry point of the image, as its own test has it.
COMMAND = ["vllm", "serve"]
FOR_CPUS = ["--enforce-eager", "--max-model-len=512", "--max-num-seqs=16", "--served-model-name=bundled"]
START = 300.0
DATE = r"\d{4}-[01]\d-[0-3]\d"


def environment() -> dict[str, str]:
    return {variable["name"]: variable["value"] for variable in CONTAINER["env"]}


def option(name: str) -> str:
    (found,) = (value for value in CONTAINER["args"] if value.startswith(f"--{name}="))
    return str(found.partition("=")[2])


@pytest.mark.parametrize("document", [DEPLOYMENT, SERVICE], ids=lambda document: str(document["kind"]))
def test_kubernetes_takes_it(document: dict[str, Any]) -> None:
    validate(document, "1.30", strict=True)


def test_the_schemas_notice_mistakes() -> None:
    broken = json.loads(json.dumps(SERVICE))
    broken["spec"]["ports"][0]["port"] = "http"
    with pytest.raises(Exception, match="'http' is not"):
        validate(broken, "1.30", strict=True)


def test_its_parts_fit_together() -> None:
    labels = DEPLOYMENT["spec"]["template"]["metadata"]["labels"]
    assert DEPLOYMENT["spec"]["selector"]["matchLabels"] == labels == SERVICE["spec"]["selector"]
    (port,), (published,) = CONTAINER["ports"], SERVICE["spec"]["ports"]
    assert published["targetPort"] == port["name"]
    assert str(port["containerPort"]) == option("port")
    assert CONTAINER["resources"]["limits"]["nvidia.com/gpu"] == option("data-parallel-size")
    mounted = {mount["name"] for mount in CONTAINER["volumeMounts"]}
    assert mounted == {volume["name"] for volume in DEPLOYMENT["spec"]["template"]["spec"]["volumes"]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert CONTAINER["image"].endswith(f"/tokenfst-vllm:{project['version']}")


def test_its_environment_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    known = set(re.findall(r"^(TOKENFST_\w+)", str(settings.__doc__), re.M))
    assert {name for name in environment() if name.startswith("TOKENFST_")} <= known
    assert environment()["TOKENFST_VLLM"] == option("structured-outputs-config.backend") == "outlines"
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    read = settings.settings_from_environment()
    assert (read.threads, read.seconds, read.num_bytes, read.cache_bytes) == (4, 10.0, 1 << 30, 1 << 30)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the file's server, with two copies of the bundled model."""
    pytest.importorskip("vllm")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    spec = find_spec("decoding")
    assert spec is not None
    model = Path(str(spec.origin)).parent / "model"
    changed = {"Qwen/Qwen3-8B": str(model), "--data-parallel-size=8": "--data-parallel-size=2"}
    arguments = [changed.get(one, one) for one in CONTAINER["args"] if not one.startswith("--port=")]
    command = [str(Path(sys.executable).parent / COMMAND[0]), *COMMAND[1:], *arguments, *FOR_CPUS]
    here = {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
    log = tmp_path_factory.mktemp("vllm") / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--host=127.0.0.1", f"--port={port}"],
            stdout=output,
            stderr=output,
            env=os.environ | environment() | here | {"TOKENFST_THREADS": "1"},
        )
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for(address, process, log)
            yield address
        finally:
            process.terminate()
            process.wait(60)


def wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()[-4000:]
        try:
            urllib.request.urlopen(address + CONTAINER["readinessProbe"]["httpGet"]["path"], timeout=5).close()
            return
        except OSError:
            time.sleep(0.5)
    raise TimeoutError(log.read_text()[-4000:])


def completion(address: str, asked: dict[str, Any], seed: int) -> tuple[int, Any]:
    body = {"model": "bundled", "prompt": "Born: ", "max_tokens": 24, "seed": seed, "structured_outputs": asked}
    request = urllib.request.Request(f"{address}/v1/completions", json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.status), json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_all_copies_honour_constraints(server: str) -> None:
    def write(seed: int) -> str:
        status, answer = completion(server, {"regex": DATE}, seed)
        assert status == 200
        return str(answer["choices"][0]["text"])

    with ThreadPoolExecutor(16) as threads:
        texts = list(threads.map(write, range(64)))
    assert all(re.fullmatch(DATE, text) for text in texts)
    with urllib.request.urlopen(f"{server}/metrics", timeout=60) as answer:
        metrics = answer.read().decode()
    finished = dict(
        re.findall(r'^vllm:request_success_total\{engine="(\d)",finished_reason="stop".*\} (\d+)', metrics, re.M)
    )
    assert sorted(finished) == ["0", "1"]
    assert all(int(number) > 0 for number in finished.values())


def test_what_cannot_be_honoured_is_refused(server: str) -> None:
    status, answer = completion(server, {"regex": "(a"}, 0)
    assert status == 400
    assert "never closed (at position 0 of '(a')" in answer["error"]["message"]
    assert completion(server, {"regex": "[ab]"}, 0)[0] == 200
