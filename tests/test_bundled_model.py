"""The bundled model: small, whole without a network, and a model of English and JSON rather than of noise."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest
import torch

from decoding.bundled import bundled_model

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

    Bundle = tuple[Any, PreTrainedTokenizerFast]

OFFLINE = """
import socket, warnings

def refuse(*args, **kwargs):
    raise AssertionError("the network was asked for")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse

from decoding.bundled import bundled_model

warnings.simplefilter("error")
model, tokenizer = bundled_model()
ids = tokenizer("Date: ", return_tensors="pt")
print(repr(tokenizer.decode(model.generate(**ids, max_new_tokens=4, do_sample=False)[0])))
"""

TEXTS = [
    "",
    " ",
    "  two  spaces , and don't 'll ",
    "\n\n\tindented\r\n    code(x)[0] != {'a': 1}  \n",
    "naïve café, Ærøskøbing, İstanbul, ﬁ, e\u0301",
    "Ελληνικά, русский, 日本語、中文, 한국어, हिन्दी, עברית, العربية, ไทย",
    "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇰 👍🏽 \U0010ffff \ufeff \u200b \u2028",
    "0 1 12 123 1234 12345 3.14159 2024-02-29T23:59:60Z",
    '{"key": "va\\"lue", "n": [1, 2.5e-3, null, true]}',
    "def f(x: int) -> str:\n\treturn f'{x:>8}'  # <- not a comment",
    "".join(map(chr, range(0x250))),
]

PROSE = "Mary Johnson was born on 4 May 1987 in London, England. She works as a teacher and lives in Boston."
RECORD = '{"name": "John Smith", "age": 30, "email": "john.smith@example.com", "city": "New York"}'


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return bundled_model()


def nats_per_byte(bundle: Bundle, text: str) -> float:
    """How badly the model predicts the text after its first token."""
    model, tokenizer = bundle
    ids = tokenizer(text, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        loss = model(ids, labels=ids).loss
    return float(loss.item() * (ids.shape[1] - 1) / len(text.encode()))


def continuations(bundle: Bundle, prompt: str, count: int, length: int) -> list[str]:
    """Samples of what the model writes after the prompt; the likeliest tokens alone when only one is asked for."""
    model, tokenizer = bundle
    inputs = tokenizer([prompt] * count, return_tensors="pt")
    torch.manual_seed(0)
    choice: dict[str, Any] = {"do_sample": True, "temperature": 0.7} if count > 1 else {"do_sample": False}
    written = model.generate(**inputs, max_new_tokens=length, **choice)
    return tokenizer.batch_decode(written[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True)


def likeliest(bundle: Bundle, prompt: str) -> str:
    """What the model writes after the prompt when it takes the likeliest token each time."""
    return continuations(bundle, prompt, count=1, length=16)[0]


def test_the_files_fit_in_six_megabytes() -> None:
    folder = files("decoding") / "model"
    sizes = {entry.name: len(entry.read_bytes()) for entry in folder.iterdir()}
    assert sizes.keys() == {
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    }
    assert sum(sizes.values()) <= 6_000_000


def test_it_loads_and_generates_without_a_network_and_without_a_word() -> None:
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": os.devnull}
    done = subprocess.run([sys.executable, "-c", OFFLINE], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("'Date: ")
    assert "warn" not in done.stderr.lower()


def test_it_is_a_float32_model_in_eval_mode(bundle: Bundle) -> None:
    model, tokenizer = bundle
    assert model.dtype == torch.float32
    assert not model.training
    assert model.config.vocab_size == len(tokenizer) == 2048
    assert model.config.eos_token_id == tokenizer.eos_token_id == tokenizer.bos_token_id
    assert tokenizer.pad_token_id not in (None, tokenizer.eos_token_id)


@pytest.mark.parametrize("text", TEXTS)
def test_the_tokenizer_gives_back_what_it_was_given(bundle: Bundle, text: str) -> None:
    _, tokenizer = bundle
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_the_tokenizer_gives_back_random_code_points(bundle: Bundle) -> None:
    _, tokenizer = bundle
    rng = random.Random(5)
    points = [*range(0xD800), *range(0xE000, 0x110000)]
    for length in range(1, 100):
        text = "".join(map(chr, rng.choices(points, k=length)))
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_every_byte_is_a_token(bundle: Bundle) -> None:
    _, tokenizer = bundle
    pieces = {tokenizer.convert_ids_to_tokens(token) for token in range(len(tokenizer))}
    assert sum(len(piece) == 1 for piece in pieces) >= 256


@pytest.mark.parametrize("text", [PROSE, RECORD])
def test_writing_is_far_likelier_than_the_same_bytes_shuffled(bundle: Bundle, text: str) -> None:
    shuffled = "".join(random.Random(1).sample(text, len(text)))
    assert nats_per_byte(bundle, text) < 1.0
    assert nats_per_byte(bundle, shuffled) > 3 * nats_per_byte(bundle, text)


@pytest.mark.parametrize("text", [PROSE, RECORD])
def test_words_in_order_are_likelier_than_out_of_order(bundle: Bundle, text: str) -> None:
    words = text.split(" ")
    shuffled = " ".join(random.Random(2).sample(words, len(words)))
    assert nats_per_byte(bundle, text) < 0.7 * nats_per_byte(bundle, shuffled)


def test_the_likeliest_date_is_a_date(bundle: Bundle) -> None:
    assert re.match(r"\d{4}-\d\d-\d\d|\d+ [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d+, \d{4}", likeliest(bundle, "Date: "))


def test_most_names_sampled_are_names(bundle: Bundle) -> None:
    samples = continuations(bundle, "Name: ", count=16, length=8)
    assert sum(re.match(r"[A-Z]\w+ [A-Z]\w+", sample) is not None for sample in samples) >= 10


def test_a_string_in_json_begins_with_a_letter_and_ends(bundle: Bundle) -> None:
    assert re.match(r'[^\W\d_][^"]*"', likeliest(bundle, '{"name": "'))


def test_most_people_sampled_as_json_are_json(bundle: Bundle) -> None:
    def is_json(text: str) -> bool:
        try:
            json.loads(text)
        except ValueError:
            return False
        return True

    samples = continuations(bundle, 'A person as JSON:\n{"name": ', count=16, length=80)
    assert sum(is_json('{"name": ' + sample) for sample in samples) >= 10
