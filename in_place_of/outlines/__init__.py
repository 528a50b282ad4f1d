"""In place of Outlines: `from in_place_of import outlines`; `docs/from-outlines.md` has the table.

types        constraints on texts: Regex, JsonSchema, CFG, Choice, Python's types, and combinations of these
models       from_transformers, Transformers, Generator
inputs       Chat
"""

from typing import NoReturn

from in_place_of.absent import missing
from in_place_of.outlines import inputs, types
from in_place_of.outlines.models import Chat, Generator, SteerableGenerator, Transformers, from_transformers
from in_place_of.outlines.types import cfg, json_schema, regex

__all__ = [
    "Chat",
    "Generator",
    "SteerableGenerator",
    "Transformers",
    "cfg",
    "from_transformers",
    "inputs",
    "json_schema",
    "regex",
    "types",
]

_SERVERS = "a model behind an interface of its own cannot be masked; serving has adapters of engines"
_MODELS = "Anthropic", "Dottxt", "Gemini", "LMStudio", "Mistral", "Ollama", "OpenAI", "SGLang", "TGI", "VLLM"
_PARTS = "prompts are texts, or chats of texts"
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
    "Audio": _PARTS,
    "Image": _PARTS,
    "LlamaCpp": "serving.llama_cpp.LlamaProcessor",
    "MLXLM": "serving.mlx_lm.MLXProcessor",
    "Model": "Transformers is the one model",
    "TransformersMultiModal": _PARTS,
    "VLLMOffline": "serving.vllm is a plugin of the engine",
    "Video": _PARTS,
    "Vision": _PARTS,
    "exceptions": "mistakes raise the errors of automata.errors, whose messages name the place",
} | dict.fromkeys(
    [*_MODELS, *(f"Async{name}" for name in _MODELS), *(f"from_{name.lower()}" for name in _MODELS)], _SERVERS
)


def __getattr__(name: str) -> NoReturn:
    missing(__name__, _INSTEAD, name)
