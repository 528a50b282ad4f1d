"""vLLM without a server: `LLM.generate`, and beam search, which copies states as it branches."""

from __future__ import annotations

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
