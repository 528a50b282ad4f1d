"""vLLM without a server: `LLM.generate`, and beam search, which copies states as it branches."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

PROMPT = "A person as JSON: "
DATE = r"\d{4}-[01]\d-[0-3]\d"
SETTINGS = {
    "TOKENFST_VLLM": "outlines",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_NO_USAGE_STATS": "1",
    "HF_HUB_OFFLINE": "1",
}


@pytest.fixture(scope="module")
def llm() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SETTINGS.items():
            patch.setenv(name, value)
        from vllm import LLM

        from serving.vllm.plugin import register

        # vLLM loads plugins once in a process, where tests of another module may have come before.
        register()
        spec = find_spec("decoding")
        assert spec is not None
        model = Path(str(spec.origin)).parent / "model"
        settings: Any = {"backend": "outlines"}
        yield LLM(
            str(model), enforce_eager=True, max_model_len=512, max_num_seqs=16, structured_outputs_config=settings
        )


def asked(**constraint: Any) -> Any:
    from vllm.sampling_params import StructuredOutputsParams

    return StructuredOutputsParams(**constraint)


def test_generate(llm: Any) -> None:
    from vllm import SamplingParams

    parameters = SamplingParams(max_tokens=32, temperature=1.0, seed=1, structured_outputs=asked(regex=DATE))
    outputs = llm.generate([PROMPT] * 4, parameters, use_tqdm=False)
    assert all(re.fullmatch(DATE, output.outputs[0].text) for output in outputs)


@pytest.mark.parametrize(("constraint", "pattern"), [({"regex": DATE}, DATE), ({"choice": ["Yes", "No"]}, "Yes|No")])
def test_beam_search(llm: Any, constraint: dict[str, Any], pattern: str) -> None:
    from vllm.sampling_params import BeamSearchParams

    parameters = BeamSearchParams(beam_width=3, max_tokens=16, structured_outputs=asked(**constraint))
    (output,) = llm.beam_search([{"prompt": PROMPT}], parameters)
    texts = [sequence.text.removeprefix(PROMPT) for sequence in output.sequences]
    assert texts
    assert all(re.fullmatch(pattern, text.removesuffix("<|endoftext|>")) for text in texts)


@pytest.mark.parametrize(
    "option", [{"whitespace_pattern": " ?"}, {"disable_any_whitespace": True}, {"disable_additional_properties": True}]
)
def test_options_that_vllm_keeps_to_itself_are_refused(llm: Any, option: dict[str, Any]) -> None:
    from vllm import SamplingParams
    from vllm.exceptions import VLLMValidationError

    parameters = SamplingParams(max_tokens=8, structured_outputs=asked(json={"type": "object"}, **option))
    with pytest.raises(VLLMValidationError, match=f"{next(iter(option))} is not supported in a request"):
        llm.generate([PROMPT], parameters, use_tqdm=False)


def test_texts_that_mean_the_same_are_not_kept_without_bound(llm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from vllm.v1.structured_output.backend_types import StructuredOutputOptions

    from serving.vllm.backend import Backend

    monkeypatch.setenv("TOKENFST_CACHE_BYTES", str(1 << 20))
    engine = llm.llm_engine
    backend = Backend(engine.vllm_config, llm.get_tokenizer(), engine.model_config.get_vocab_size())
    try:
        for number in range(100):
            text = json.dumps({"type": "integer", "description": f"{number}" + "x" * 20_000})
            first, again = (backend.compile_grammar(StructuredOutputOptions.JSON, text) for _ in range(2))
            assert first.matcher.automaton is again.matcher.automaton
            assert backend._known.nbytes + backend.compiler.nbytes < 1 << 20
        assert len(backend._known) < 10
    finally:
        backend.destroy()
