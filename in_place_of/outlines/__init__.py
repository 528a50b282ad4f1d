"""In place of Outlines: `from in_place_of import outlines`; `docs/from-outlines.md` has the table.

types        what a text has to be: Regex, JsonSchema, CFG, Choice, Python's types, and what is made of these
models       from_transformers, Transformers
generator    Generator
"""

from typing import NoReturn

from in_place_of.absent import missing
from in_place_of.outlines import types
from in_place_of.outlines.models import Chat, Generator, SteerableGenerator, Transformers, from_transformers
from in_place_of.outlines.types import cfg, json_schema, regex

__all__ = [
    "Chat",
    "Generator",
    "SteerableGenerator",
    "Transformers",
    "cfg",
    "from_transformers",
    "json_schema",
    "regex",
    "types",
]

_SERVERS = "a model behind an interface of its own cannot be masked; serving has adapters of engines"
_INSTEAD = {
    "Application": "call a Generator with the text of a prompt",
    "Template": "call a Generator with the text of a prompt",
    "clear_cache": "automata are kept by their generators",
    "disable_cache": "automata are kept by their generators",
    "from_llamacpp": "serving.llama_cpp.LlamaProcessor",
    "from_mlxlm": "serving.mlx_lm.MLXProcessor",
    "from_vllm_offline": "serving.vllm is a plugin of the engine",
    "get_cache": "automata are kept by their generators",
    "grammars": "constraints.json, and the grammars of constraints.grammars",
    "processors": "decoding.ConstraintLogitsProcessor",
} | dict.fromkeys(
    [f"from_{name}" for name in ("anthropic", "gemini", "mistral", "ollama", "openai", "sglang", "tgi", "vllm")],
    _SERVERS,
)


def __getattr__(name: str) -> NoReturn:
    missing(__name__, _INSTEAD, name)
