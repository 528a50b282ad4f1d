"""From bytes to tokens: vocabularies, detokenizers, and exact automata over tokens.

Vocabulary, from_transformers, from_tiktoken, from_sentencepiece, from_tekken
compile(constraint, vocabulary) -> TokenAutomaton
compile(constraint, vocabulary, tokenization="canonical") -> CanonicalAutomaton
compile(grammar, vocabulary) -> PushdownTokenAutomaton
compile(constraint, vocabulary, lazy=True) -> LazyAutomaton
fill_bitmasks(automata, states, out)       masks of a batch in one call
"""

import automata as _automata

# PyPI's automata-lib has a package of the same name; whichever is installed last would win silently.
if not hasattr(_automata, "compile_expr"):
    raise ImportError(
        f"tokenfst needs its own package `automata`, and {_automata.__file__} is another one (PyPI's automata-lib has "
        "that name too): install tokenfst in an environment without it"
    )

from tokenfst.automaton import TokenAutomaton
from tokenfst.batches import fill_bitmasks
from tokenfst.bpe import BPE, NotBPE
from tokenfst.canonical import CanonicalAutomaton
from tokenfst.compile import compile  # noqa: A004
from tokenfst.lazy import LazyAutomaton
from tokenfst.loaders import from_sentencepiece, from_tekken, from_tiktoken, from_transformers, load
from tokenfst.pushdown import PushdownTokenAutomaton
from tokenfst.text_start import TextStart
from tokenfst.vocabulary import Vocabulary

__version__ = "0.1.0"

__all__ = [
    "BPE",
    "CanonicalAutomaton",
    "LazyAutomaton",
    "NotBPE",
    "PushdownTokenAutomaton",
    "TextStart",
    "TokenAutomaton",
    "Vocabulary",
    "compile",
    "fill_bitmasks",
    "from_sentencepiece",
    "from_tekken",
    "from_tiktoken",
    "from_transformers",
    "load",
]
