"""From token automata to text: tensors on the accelerator, and the loop.

    Arena                       automata side by side: masks, steps     arena
    CanonicalTensors            the same for canonical tokenization     canonical_tensors
    ConstraintLogitsProcessor   for `generate` of transformers          processor
    generate(...)               prompts and a constraint to texts       generate
    stream(...)                 a prompt to pieces of a text            streaming
    PartialJson                 the value of JSON that is not whole     partial_json
    BackgroundCompiler          automata made in threads, and kept      compiling
    Sampling, probabilities     from logits and a mask to a token       sampling
    beam_search, best_of_n      searches for a text                     search
    speculate(...)              fewer forward passes                    speculation
    Difficulty                  what a constraint takes away            difficulty
    heal(...)                   prompts that end inside a word          healing
    retokenize(...)             the tokens that a model prefers         retokenize
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
    from decoding.difficulty import Difficulty
    from decoding.healing import heal
    from decoding.loop import generate, vocabulary_of
    from decoding.partial_json import PartialJson
    from decoding.processor import ConstraintLogitsProcessor
    from decoding.retokenize import retokenize
    from decoding.sampling import Sampling, probabilities
    from decoding.search import beam_search, best_of_n
    from decoding.speculation import speculate
    from decoding.streaming import stream

__all__ = [
    "Arena",
    "BackgroundCompiler",
    "CanonicalTensors",
    "ConstraintLogitsProcessor",
    "Difficulty",
    "PartialJson",
    "Sampling",
    "beam_search",
    "best_of_n",
    "bundled_model",
    "generate",
    "heal",
    "probabilities",
    "retokenize",
    "speculate",
    "stream",
    "vocabulary_of",
]

_MODULES = {
    "Arena": "decoding.arena",
    "BackgroundCompiler": "decoding.compiling",
    "CanonicalTensors": "decoding.canonical_tensors",
    "ConstraintLogitsProcessor": "decoding.processor",
    "Difficulty": "decoding.difficulty",
    "PartialJson": "decoding.partial_json",
    "Sampling": "decoding.sampling",
    "beam_search": "decoding.search",
    "best_of_n": "decoding.search",
    "bundled_model": "decoding.bundled",
    "generate": "decoding.loop",
    "heal": "decoding.healing",
    "probabilities": "decoding.sampling",
    "retokenize": "decoding.retokenize",
    "speculate": "decoding.speculation",
    "stream": "decoding.streaming",
    "vocabulary_of": "decoding.loop",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
