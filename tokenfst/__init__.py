"""Exact automata over the tokens of a language model, for constraints on its output.

    vocabulary, loaders      the tokens of a model, from tokenizers and files     Vocabulary, from_transformers, ...
    compile                  a constraint and a vocabulary -> TokenAutomaton      compile
    token_automaton          states, masks and steps, for every constraint        TokenAutomaton
    lazy                     automata that compute masks when they are needed
    lazy_tables              their complete tables
    finite, counted, pushdown, canonical      automata with complete tables, by kind
    weighted                 automata with a cost for every token
    unique_items             automata that remember the items of arrays in which items must differ
    batches                  the masks of a batch in one call                     fill_bitmasks
    load_automaton, files    automata as safetensors files                        load_automaton
    vocabulary.detokenizer   the transducer from tokens to bytes, for OpenFst     detokenizer
    explanation              what may come next, and why a token is refused       explain
    queries                  counting, shortest and random sequences              queries.count, ...
    jump_forward             tokens and text that must follow a state             jump_forward.forced_text, ...
    drawing, pictures        automata, token classes and stacks as pictures
    reference                token automata by their definition, with OpenFst
    tokenizations            the tokenizations of a text that an automaton accepts
    native_automaton         the base class of most kinds, which the native core implements
    text_beginning, labels, packed_words, read_only, misuse      what these share

`docs/glossary.md` defines the terms that this package uses.

>>> vocabulary = Vocabulary([b"d", b"f", b"foo", b"food", b"o", b""], eos_ids=5)
>>> automaton = compile("(foo)+d", vocabulary)
>>> automaton.mask(automaton.start).nonzero()[0].tolist()
[1, 2, 3]
"""

import automata as _automata

# PyPI's automata-lib has a package of the same name; the one installed last silently replaces the other.
if not hasattr(_automata, "compile_expr"):
    raise ImportError(
        f"tokenfst needs its own package `automata`, and {_automata.__file__} is another one (PyPI's automata-lib has "
        "that name too): install tokenfst in an environment without it"
    )

from tokenfst.batches import fill_bitmasks
from tokenfst.compile import compile  # noqa: A004
from tokenfst.explanation import Explanation
from tokenfst.explanation.explain import explain
from tokenfst.finite import from_fst as _from_fst  # noqa: F401 (registers `TokenAutomaton.from_fst`)
from tokenfst.load_automaton import load_automaton
from tokenfst.loaders import from_sentencepiece, from_tekken, from_tiktoken, from_transformers, load_vocabulary
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import BPE, NotBPE, TextStart, Vocabulary
from tokenfst.vocabulary.detokenizer import detokenizer

__version__ = "0.1.0"

__all__ = [
    "BPE",
    "Explanation",
    "NotBPE",
    "TextStart",
    "TokenAutomaton",
    "Vocabulary",
    "compile",
    "detokenizer",
    "explain",
    "fill_bitmasks",
    "from_sentencepiece",
    "from_tekken",
    "from_tiktoken",
    "from_transformers",
    "load_automaton",
    "load_vocabulary",
]
