"""From token automata to text: tensors on the accelerator, and the loop.

    Arena                       automata side by side: masks, steps     arena
    CanonicalTensors            the same for canonical tokenization     canonical_tensors
    ConstraintLogitsProcessor   for `generate` of transformers          processor
    generate(...)               prompts and a constraint to texts       generate
    stream(...)                 a prompt to pieces of a text            streaming
    PartialJson                 the value of JSON that is not whole     partial_json
    BackgroundCompiler          automata made in threads, and kept      compiling
    vocabulary_of(tokenizer)    its vocabulary, prepared once           loop
    bundled_model()             a small model to try things with        bundled
    main()                      the `tokenfst` command                  command

Names are imported when they are first used: torch and transformers take seconds to load, and the command can say that a
pattern is wrong without them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decoding.arena import Arena
    from decoding.bundled import bundled_model
    from decoding.canonical_tensors import CanonicalTensors
    from decoding.compiling import BackgroundCompiler
    from decoding.loop import generate, vocabulary_of
    from decoding.partial_json import PartialJson
    from decoding.processor import ConstraintLogitsProcessor
    from decoding.streaming import stream

__all__ = [
    "Arena",
    "BackgroundCompiler",
    "CanonicalTensors",
    "ConstraintLogitsProcessor",
    "PartialJson",
    "bundled_model",
    "generate",
    "stream",
    "vocabulary_of",
]

_MODULES = {
    "Arena": "decoding.arena",
    "BackgroundCompiler": "decoding.compiling",
    "CanonicalTensors": "decoding.canonical_tensors",
    "ConstraintLogitsProcessor": "decoding.processor",
    "PartialJson": "decoding.partial_json",
    "bundled_model": "decoding.bundled",
    "generate": "decoding.loop",
    "stream": "decoding.streaming",
    "vocabulary_of": "decoding.loop",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
