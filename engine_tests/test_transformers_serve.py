"""`transformers serve` has no way in for a constraint of a request: what asks for one is taken, and not honoured.

This shows that it is still so, and where. When one of these tests fails, there is something to build on.
"""

from __future__ import annotations

import inspect
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import openai
import pytest
from transformers import GenerationConfig
from transformers.cli.serving import utils
from transformers.cli.serving.chat_completion import ChatCompletionHandler

# Seconds until the server answers.
START = 120.0
FORM: Any = {"type": "json_schema", "json_schema": {"name": "one", "schema": {"const": "one"}, "strict": True}}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled model with a template for conversations."""
    spec = find_spec("decoding")
    assert spec is not None
    copied = tmp_path_factory.mktemp("serve") / "model"
    shutil.copytree(Path(str(spec.origin)).parent / "model", copied)
    shutil.copy(Path(__file__).parent / "conversation.jinja", copied / "chat_template.jinja")
    return copied


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[openai.OpenAI]:
    port, log = free_port(), folder.parent / "server.log"
    command = [str(Path(sys.executable).parent / "transformers"), "serve", str(folder), "--port", str(port)]
    with log.open("wb") as output:
        environment = os.environ | {"HF_HUB_OFFLINE": "1"}
        server = subprocess.Popen([*command, "--host", "127.0.0.1"], stdout=output, stderr=output, env=environment)
        try:
            wait_for(f"http://127.0.0.1:{port}/health", server, log)
            yield openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0, timeout=60)
        finally:
            server.terminate()
            server.wait(60)


def wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START
    while time.monotonic() < end:
        assert server.poll() is None, log.read_text()[-4000:]
        try:
            urlopen(address).close()
            return
        except URLError:
            time.sleep(0.5)
    raise TimeoutError(log.read_text()[-4000:])


def test_response_formats_are_ignored(client: openai.OpenAI, folder: Path) -> None:
    message: Any = {"role": "user", "content": "A person as JSON"}
    answer = client.chat.completions.create(
        model=str(folder), messages=[message], max_tokens=20, response_format=FORM, temperature=0
    )
    assert answer.choices[0].message.content != json.dumps("one")


def test_other_fields_are_refused(client: openai.OpenAI, folder: Path) -> None:
    message: Any = {"role": "user", "content": "A person as JSON"}
    with pytest.raises(openai.UnprocessableEntityError) as refused:
        client.chat.completions.create(
            model=str(folder), messages=[message], max_tokens=20, extra_body={"structured_outputs": {"regex": "a"}}
        )
    assert "structured_outputs" in refused.value.response.text


def test_there_is_no_hook() -> None:
    assert "response_format" in ChatCompletionHandler._unused_fields
    for manager in (utils.GenerateManager, utils.CBGenerateManager):
        taken = list(inspect.signature(manager.generate_non_streaming).parameters)
        assert taken == ["self", "model", "processor", "inputs", "gen_config", "request_id"]
    # What a request may bring of the settings is text, and no setting is a processor of logits.
    assert not [name for name in vars(GenerationConfig()) if "processor" in name]
