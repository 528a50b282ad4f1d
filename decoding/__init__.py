"""From token automata to text: masks on the accelerator, and the generation loop.

    generate(...)               from prompts and a constraint to texts  writing.generate
    stream(...)                 from a prompt to pieces of a text       writing.streaming
    beam_search, best_of_n      searches for texts                      search
    Speculation                 fewer forward passes for `generate`     speculation
    ConstraintLogitsProcessor   for `model.generate` of transformers    masking.processor
    Arena                       masks and steps of many automata        arena
    Sampling, probabilities     from logits and a mask to a token       sampling
    BackgroundCompiler          compiles in threads, and caches         compiling
    vocabulary_of(tokenizer)    its vocabulary, prepared once           inputs.vocabularies
    heal(...)                   prompts that end inside a word          inputs.healing
    retokenize(...)             the tokens that a model prefers         inputs.retokenize
    PartialJson                 the value of incomplete JSON            writing.partial_json
    Difficulty                  the probability that a mask removes     difficulty
    Trace                       what happened at each token             tracing
    bundled_model()             a small model for trying things out     bundled

A call passes through the packages in this order: `inputs` turns the arguments into token ids and automata, `masking`
finds the state of each row and lets the `arena` mask its logits, and `sampling` chooses a token. `writing`, `search`
and `speculation` are the loops around them, and `command` is the command line (`__main__`: `python -m decoding`).

`devices` has the functions that all code for GPUs shares.

Names are imported on first use, because torch and transformers take seconds to load, and the command can report a wrong
pattern without them.

`docs/glossary.md` defines the terms.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decoding.arena import Arena
    from decoding.bundled import bundled_model
    from decoding.compiling import BackgroundCompiler
    from decoding.difficulty import Difficulty
    from decoding.inputs.healing import heal
    from decoding.inputs.retokenize import retokenize
    from decoding.inputs.vocabularies import vocabulary_of
    from decoding.masking.processor import ConstraintLogitsProcessor
    from decoding.sampling import Sampling, probabilities
    from decoding.search import beam_search, best_of_n
    from decoding.speculation import Speculation
    from decoding.tracing import Trace
    from decoding.writing.generate import generate
    from decoding.writing.partial_json import PartialJson
    from decoding.writing.streaming import stream

__all__ = [
    "Arena",
    "BackgroundCompiler",
    "ConstraintLogitsProcessor",
    "Difficulty",
    "PartialJson",
    "Sampling",
    "Speculation",
    "Trace",
    "beam_search",
    "best_of_n",
    "bundled_model",
    "generate",
    "heal",
    "probabilities",
    "retokenize",
    "stream",
    "vocabulary_of",
]

_MODULES = {
    "Arena": "decoding.arena",
    "BackgroundCompiler": "decoding.compiling",
    "ConstraintLogitsProcessor": "decoding.masking.processor",
    "Difficulty": "decoding.difficulty",
    "PartialJson": "decoding.writing.partial_json",
    "Sampling": "decoding.sampling",
    "Speculation": "decoding.speculation",
    "Trace": "decoding.tracing",
    "beam_search": "decoding.search",
    "best_of_n": "decoding.search",
    "bundled_model": "decoding.bundled",
    "generate": "decoding.writing.generate",
    "heal": "decoding.inputs.healing",
    "probabilities": "decoding.sampling",
    "retokenize": "decoding.inputs.retokenize",
    "stream": "decoding.writing.streaming",
    "vocabulary_of": "decoding.inputs.vocabularies",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import_module("tokenfst")  # raises a clear error if another package is named `automata`
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
