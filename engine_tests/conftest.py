"""What tests of several modules are given; an engine's package is imported where it is asked for."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compilations that hold up a step take as long as they take on a busy machine."""
    monkeypatch.setenv("TOKENFST_STEP_SECONDS", "60")


@pytest.fixture(scope="session")
def config() -> Any:
    """The settings of vLLM with the bundled model."""
    from vllm.engine.arg_utils import EngineArgs
    from vllm_server import model_folder

    return EngineArgs(str(model_folder()), max_model_len=512, max_num_seqs=16).create_engine_config()


@pytest.fixture(scope="session")
def vocabulary(config: Any) -> Any:
    """The vocabulary of the bundled model, as vLLM's tokenizer has it."""
    from vllm.tokenizers import cached_tokenizer_from_config

    from serving.vllm.engine import engine_vocabulary

    model = config.model_config
    return engine_vocabulary(cached_tokenizer_from_config(model), model, model.get_vocab_size())
