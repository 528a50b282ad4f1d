"""From bytes to tokens: vocabularies, detokenizers, and exact automata over tokens.

vocabulary       the tokens of a model, sorted into tries               Vocabulary, from_transformers, ...
compile          a constraint and a vocabulary -> TokenAutomaton        compile
lazy             masks that are made when they are needed
finite, counted, pushdown, canonical     complete tables, by kind
batches          the masks of a batch in one call                       fill_bitmasks
files            automata as safetensors                                load_automaton
queries, drawing, reference              counts, pictures, and OpenFst's own composition
"""

import automata as _automata

# PyPI's automata-lib has a package of the same name; whichever is installed last would win silently.
if not hasattr(_automata, "compile_expr"):
    raise ImportError(
        f"tokenfst needs its own package `automata`, and {_automata.__file__} is another one (PyPI's automata-lib has "
        "that name too): install tokenfst in an environment without it"
    )

from tokenfst.batches import fill_bitmasks
from tokenfst.compile import compile  # noqa: A004
from tokenfst.load_automaton import load_automaton
from tokenfst.loaders import from_sentencepiece, from_tekken, from_tiktoken, from_transformers, load_vocabulary
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import BPE, NotBPE, TextStart, Vocabulary

__version__ = "0.1.0"

__all__ = [
    "BPE",
    "NotBPE",
    "TextStart",
    "TokenAutomaton",
    "Vocabulary",
    "compile",
    "fill_bitmasks",
    "from_sentencepiece",
    "from_tekken",
    "from_tiktoken",
    "from_transformers",
    "load_automaton",
    "load_vocabulary",
]
