"""The commands of docs/serving.md run as they stand there; `make serve-test` runs this.

What differs is what a machine without accelerators and without a network asks for: the bundled model is in the place
of MODEL, servers have options for CPUs and a port that is free, and what `pip` would fetch is checked against what is
installed. Commands that need Docker or a cluster have tests of their own.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import distribution, version
from pathlib import Path

import jsonschema
import pytest
from packaging.requirements import Requirement
from test_vllm_device_server import SETTINGS as V2_SETTINGS
from vllm_server import OPTIONS, SETTINGS, free_port, model_folder, wait_for

ROOT = Path(__file__).parent.parent
COMMANDS = [
    line.strip()
    for line in (ROOT / "docs" / "serving.md").read_text("utf-8").splitlines()
    if re.match(r"    (\w+=\w+ )?(pip|vllm|curl|python|docker|kubectl) ", line)
]
ELSEWHERE = ("docker", "kubectl")
FOR_CPUS = {
    "vllm": OPTIONS,
    "sglang": "--device cpu --attention-backend torch_native --sampling-backend pytorch --disable-cuda-graph "
    "--max-total-tokens 8192 --max-running-requests 16 --served-model-name bundled",
}
# SGLang imports torchvision, which has no build for this torch.
WITHOUT_TORCHVISION = {"PYTHONPATH": str(Path(__file__).parent / "without_torchvision")}


def documented(*parts: str) -> str:
    """The one command that has all of some parts."""
    (found,) = (command for command in COMMANDS if all(part in command for part in parts))
    return found


def run(command: str, folder: Path) -> str:
    """Run a command in a shell that finds this environment's programs; return what it prints."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"} | SETTINGS
    done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@contextmanager
def served(command: str, engine: str, folder: Path, settings: dict[str, str]) -> Iterator[int]:
    """Run a command that starts a server; yield its port."""
    port, log = free_port(), folder / "server.log"
    command = command.replace("MODEL", shlex.quote(str(model_folder())))
    environment = os.environ | SETTINGS | settings | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    with log.open("wb") as output:
        process = subprocess.Popen(
            f"{command} {FOR_CPUS[engine]} --host 127.0.0.1 --port {port}",
            shell=True,
            stdout=output,
            stderr=output,
            env=environment,
            start_new_session=True,
        )
        try:
            wait_for(f"http://127.0.0.1:{port}/health", process, log)
            yield port
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)


def asked(port: int, folder: Path, **instead: object) -> str:
    """Send the documented request, or the same with something else in the place of the constraint."""
    command = re.fullmatch(r"curl (\S+) --json '(.*)'", documented("curl"))
    assert command is not None
    address, body = command.groups()
    sent = {**json.loads(body), "model": "bundled"}
    if instead:
        del sent["structured_outputs"]
    address = address.replace("localhost:8000", f"127.0.0.1:{port}")
    answer = json.loads(run(f"curl --silent {address} --json {shlex.quote(json.dumps(sent | instead))}", folder))
    return str(answer["choices"][0]["text"])


def test_all_commands_are_known() -> None:
    known = [documented("curl"), documented("vllm serve", "outlines"), documented("vllm serve", "DeviceProcessor")]
    known += [documented("sglang.launch_server"), documented("example_prompts.py"), documented("batch_job.py ")]
    rest = [one for one in COMMANDS if one not in known and not one.startswith(("pip install ", *ELSEWHERE))]
    assert rest == []


@pytest.mark.parametrize("command", [one for one in COMMANDS if one.startswith("pip install ")])
def test_what_pip_would_install_is_here(command: str) -> None:
    ours = distribution("tokenfst")
    for argument in shlex.split(command)[2:]:
        asked = Requirement(f"tokenfst{argument[1:]}" if argument.startswith(".") else argument)
        assert asked.specifier.contains(version(asked.name))
        if asked.name != "tokenfst":
            continue
        assert asked.extras <= set(ours.metadata.get_all("Provides-Extra") or [])
        for needed in map(Requirement, ours.requires or []):
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in asked.extras):
                assert needed.specifier.contains(version(needed.name)), needed


def test_vllm_answers(tmp_path: Path) -> None:
    with served(documented("vllm serve", "outlines"), "vllm", tmp_path, {}) as port:
        assert re.fullmatch("[0-9]{4}-[0-9]{2}", asked(port, tmp_path))


def test_vllm_answers_with_masks_on_the_device(tmp_path: Path) -> None:
    settings = {name: value for name, value in V2_SETTINGS.items() if name != "TOKENFST_VLLM"}
    with served(documented("vllm serve", "DeviceProcessor"), "vllm", tmp_path, settings) as port:
        constraint = {"tokenfst": json.dumps({"regex": "[0-9]{4}"})}
        assert re.fullmatch("[0-9]{4}", asked(port, tmp_path, vllm_xargs=constraint))


def test_sglang_answers(tmp_path: Path) -> None:
    with served(documented("sglang.launch_server"), "sglang", tmp_path, WITHOUT_TORCHVISION) as port:
        assert re.fullmatch("[0-9]{4}", asked(port, tmp_path, regex="[0-9]{4}"))


def test_the_batch_job_writes_a_value_for_each_prompt(tmp_path: Path) -> None:
    for command in (documented("example_prompts.py"), documented("batch_job.py ")):
        run(command.replace("examples/", f"{ROOT}/examples/"), tmp_path)
    written = finished = 0
    for shard in sorted((tmp_path / "prompts").iterdir()):
        schemas = {}
        for line in shard.read_text("utf-8").splitlines():
            with suppress(ValueError):  # some are broken
                record = json.loads(line)
                schemas[record["id"]] = record.get("schema")
        answers = [json.loads(line) for line in (tmp_path / "output" / shard.name).read_text("utf-8").splitlines()]
        values = [(answer["value"], schemas[answer["id"]]) for answer in answers if "value" in answer]
        for value, schema in values:
            jsonschema.validate(value, schema)
        written, finished = written + len(answers), finished + len(values)
    assert written == 12 * 24
    assert finished == 12 * 22  # one in twelve is broken
