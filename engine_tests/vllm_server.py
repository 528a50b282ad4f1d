"""vLLM's own server with the bundled model on the loopback interface, as a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
# Seconds until the server answers.
START = 240.0
SETTINGS = {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
OPTIONS = "--served-model-name bundled --enforce-eager --max-model-len 1024 --max-num-seqs 64"
OPTIONS += f" --chat-template {HERE / 'conversation.jinja'} --enable-auto-tool-choice --tool-call-parser hermes"


class Server(NamedTuple):
    """A server that answers.

    Attributes:
        url: where OpenAI's interface is.
        process: the front end; the engine's processes are its children.
        log: what they print.
    """

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    def memory(self) -> int:
        """Return the memory of the server's processes, in bytes; what several share counts once for each."""
        listed = subprocess.run(["ps", "-o", "rss=", "--sid", str(self.process.pid)], capture_output=True, check=True)
        return 1024 * sum(int(kilobytes) for kilobytes in listed.stdout.split())

    def metric(self, name: str) -> float:
        """Return the sum of one of vLLM's own metrics over its labels."""
        with urllib.request.urlopen(self.url.removesuffix("/v1") + "/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith((name + "{", name + " ")))


def model_folder() -> Path:
    spec = find_spec("decoding")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "model"


@contextmanager
def running(
    log: Path,
    *options: str,
    backend: str = "outlines",
    settings: dict[str, str] | None = None,
    model: Path | None = None,
    command: Sequence[str] = (str(Path(sys.executable).parent / "vllm"),),
) -> Iterator[Server]:
    """Start a server, and stop it afterwards.

    Args:
        log: what it prints goes there.
        options: of `vllm serve`, beside those that all servers here have.
        backend: vLLM's name of the backend of structured outputs.
        settings: environment variables; None puts ours in the place of outlines.
        model: None for the bundled one.
        command: how vLLM is called.
    """
    port = free_port()
    arguments = ["serve", str(model or model_folder()), *OPTIONS.split(), "--host", "127.0.0.1", "--port", str(port)]
    arguments += ["--structured-outputs-config.backend", backend, *options]
    asked = {"TOKENFST_VLLM": "outlines"} if settings is None else settings
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, *arguments],
            stdout=output,
            stderr=output,
            env=os.environ | SETTINGS | asked,
            start_new_session=True,
        )
        try:
            wait_for(f"http://127.0.0.1:{port}/health", process, log)
            yield Server(f"http://127.0.0.1:{port}/v1", process, log)
        finally:
            process.terminate()
            process.wait(60)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"the server has ended:\n{log.read_text()[-6000:]}")
        try:
            with urllib.request.urlopen(url, timeout=10):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
    raise TimeoutError(log.read_text()[-6000:])
