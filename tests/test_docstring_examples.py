"""The examples in docstrings run, and print what they show."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("automata", "tokenfst", "constraints", "decoding", "serving", "in_place_of")
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
    if ">>> " in path.read_text("utf-8")
]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_show(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    failed, attempted = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert attempted > 0
    assert failed == 0


@pytest.mark.parametrize(
    "name",
    [
        "tokenfst.batches",
        "tokenfst.compile",
        "tokenfst.finite.terminals",
        "tokenfst.load_automaton",
        "tokenfst.loaders.files",
        "tokenfst.loaders.huggingface",
        "tokenfst.loaders.sentencepiece",
        "tokenfst.loaders.tekken",
        "tokenfst.loaders.tiktoken",
        "tokenfst.queries",
        "tokenfst.token_automaton",
        "tokenfst.vocabulary.detokenizer",
        "tokenfst.vocabulary.text_start",
        "tokenfst.vocabulary.vocabulary",
    ],
)
def test_public_functions_have_an_example(name: str) -> None:
    assert name in MODULES
