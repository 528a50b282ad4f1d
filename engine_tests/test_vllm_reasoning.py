"""Reasoning: what the model thinks is free, and what it answers is constrained; with and without drafts.

The bundled model does not think, so a copy of it gets tokens that begin and end a thought.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import openai
import pytest
from safetensors.torch import load_file, save_file
from vllm_server import model_folder, running

# Tokens of the bundled model that are given another meaning.
MARKS = {"<think>": "mark", "</think>": "655"}
NGRAM = {"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 4, "prompt_lookup_min": 2}
END, PAD = 0, 1
PATTERN = "[0-9]{3}-[a-z]{1,8}!"


def write_thinking_model(folder: Path) -> None:
    """Write a copy of the bundled model that thinks before it answers."""
    shutil.copytree(model_folder(), folder)
    path, number = folder / "tokenizer.json", -1
    tokenizer = json.loads(path.read_text())
    for mark, text in MARKS.items():
        number = tokenizer["model"]["vocab"].pop(text)
        tokenizer["model"]["merges"] = [merge for merge in tokenizer["model"]["merges"] if "".join(merge) != text]
        flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
        tokenizer["added_tokens"].append({"id": number, "content": mark, **flags})
    path.write_text(json.dumps(tokenizer))
    weights = load_file(folder / "model.safetensors")
    for name in ("model.embed_tokens.weight", "lm_head.weight"):
        if name in weights:
            # Where the bundled model would end, this one ends its thought.
            weights[name][number] = weights[name][END]
            weights[name][END] = weights[name][PAD]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


@pytest.fixture(scope="module", params=["plain", "ngram"])
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[openai.OpenAI]:
    folder = tmp_path_factory.mktemp("thinking")
    write_thinking_model(folder / "model")
    options = ["--reasoning-parser", "deepseek_r1"]
    if request.param == "ngram":
        options += ["--speculative-config", json.dumps(NGRAM)]
    with running(folder / "server.log", *options, model=folder / "model") as server:
        yield openai.OpenAI(base_url=server.url, api_key="none", max_retries=0, timeout=60)


def test_what_is_answered_is_constrained_and_what_is_thought_is_not(client: openai.OpenAI) -> None:
    prompt: Any = [{"role": "user", "content": "A person as JSON"}]
    asked: Any = {"structured_outputs": {"regex": PATTERN}}

    def answer(seed: int) -> Any:
        return client.chat.completions.create(
            model="bundled", messages=prompt, max_tokens=300, temperature=1.0, seed=seed, extra_body=asked
        ).choices[0]

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(answer, range(60)))
    # A model may also end while it thinks; then there is no answer.
    finished = [each for each in answers if each.finish_reason == "stop" and each.message.content is not None]
    assert len(finished) > 20
    assert [each.message.content for each in finished if not re.fullmatch(PATTERN, each.message.content)] == []
    thoughts = [each.message.reasoning or "" for each in finished]
    assert sum(bool(thought) and not re.match("[0-9]{3}-", thought) for thought in thoughts) > 10
