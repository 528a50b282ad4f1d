"""Adapters of parsers for libraries: `transformers`. For engines, `serving` has its own adapters."""

from typing import NoReturn

from in_place_of.absent import missing

_INSTEAD = {
    "exllamav2": "decoding.ConstraintLogitsProcessor, or a Matcher of serving.matcher in its loop",
    "haystackv1": "decoding.ConstraintLogitsProcessor is the logits processor for transformers",
    "haystackv2": "decoding.ConstraintLogitsProcessor is the logits processor for transformers",
    "llamacpp": "serving.llama_cpp.LlamaProcessor",
    "trtllm": "a Matcher of serving.matcher in its loop",
    "vllm": "serving.vllm is a plugin of the engine",
}


def __getattr__(name: str) -> NoReturn:
    missing(__name__, _INSTEAD, name)
