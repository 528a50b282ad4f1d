"""The detokenizer as a transducer from tokens to bytes (Koo, Liu & He 2024, Algorithm 1).

Each token is a cycle through the root. The cycle writes the bytes of the token, and reads the token together with the
last byte. A path through the transducer reads a sequence of tokens and writes its text.

    plain       one cycle for each token, as in Algorithm 1
    compact     cycles share the arcs of common prefixes, as in a trie: the paper's Figures 4 and 9

Some decoders write other bytes at the start of a text (`tokenfst.vocabulary.text_start`). The transducer then has a
start state before the root. The bytes of a token there are a path from the start state to the root, or back to the
start state if the token is ignored. If the vocabulary has a detokenizer that is a transducer, this transducer is
composed with it.

The result is a `pynini.Fst`. Token i has input label i + 1, and a symbol table names the tokens (`Vocabulary.names`);
bytes have output labels as in `automata.openfst`.

`tokenfst.reference` composes constraints with the detokenizer, and `tokenfst.drawing` draws it. The fast path
(`tokenfst.finite.classes`) walks the vocabulary's trie instead.
"""

from __future__ import annotations

import numpy as np

from automata.arrays import int_rows
from automata.openfst import EPSILON, Fst, SymbolTable, openfst_module, symbol_of_byte, symbol_table, to_transducer
from automata.transducer_tables import NOTHING, SAME, TransducerTables
from tokenfst.vocabulary.vocabulary import Vocabulary

ROOT = 0


def detokenizer(vocabulary: Vocabulary, *, compact: bool = True, at_text_start: bool = False) -> Fst:
    """Return the transducer of a vocabulary, from tokens to bytes, as a `pynini.Fst`.

    >>> vocabulary = Vocabulary([b"a", b"b", b"ab", b""], eos_ids=3)
    >>> transducer = detokenizer(vocabulary)
    >>> import pynini
    >>> tokens = pynini.project(transducer @ "ab", "input").rmepsilon()
    >>> sorted(tokens.paths(input_token_type=tokens.input_symbols()).istrings())
    ['a b', 'ab']

    Tokens with equal bytes have parallel arcs. Tokens that write nothing have no arcs.

    Args:
        vocabulary: the tokens.
        compact: whether tokens share the arcs of common prefixes.
        at_text_start: whether the tokens begin a text; False if they continue one.
    """
    paths = _Paths(compact)
    for token_id, token in enumerate(vocabulary.tokens):
        if token:
            paths.add(ROOT, token_id, token, ROOT)
    start, rule = ROOT, vocabulary.text_start if at_text_start else None
    if rule:
        start = paths.state("start")
        for token_id, token in enumerate(vocabulary.tokens):
            if token:
                target = start if token_id in rule.ignored else ROOT
                paths.add(start, token_id, rule.first(token_id, token), target)
    columns = np.array(list(paths.arcs), np.int32).reshape(-1, 4).T
    final = np.zeros(len(paths.states), np.bool_)
    final[[ROOT, start]] = True
    fst = to_transducer(start, final, *columns)
    if vocabulary.detokenizer is not None:
        pynini = openfst_module("pynini")

        fst = pynini.compose(fst, _fst_of(vocabulary.detokenizer.tables))
    fst.set_input_symbols(token_symbols(vocabulary))
    return fst


def _fst_of(tables: TransducerTables) -> Fst:
    """Return a transducer over bytes as an FST."""
    rows = [(source, EPSILON, EPSILON, target) for source, target in tables.epsilon.tolist()]
    for source, low, high, *written, target in tables.arcs.tolist():
        for byte in range(low, high + 1):
            reads = EPSILON if byte == NOTHING else symbol_of_byte(byte)
            if written[0] == SAME:
                rows.append((source, reads, reads, target))
            elif written[0] == NOTHING:
                rows.append((source, reads, EPSILON, target))
            else:
                rows += [(source, reads, symbol_of_byte(each), target) for each in range(written[0], written[1] + 1)]
    final = np.arange(tables.num_states) == 1
    return to_transducer(0, final, *int_rows([number for row in rows for number in row], 4).T)


def token_symbols(vocabulary: Vocabulary) -> SymbolTable:
    """Return the OpenFst symbol table of the names of tokens; token i has label i + 1."""
    return symbol_table((name, token) for token, name in enumerate(vocabulary.names))


class _Paths:
    """The states and arcs of a transducer, built path by path.

    Attributes:
        compact: whether paths share the arcs of common prefixes.
        states: the number of each state by its name. Inside a path this is the state in which the path begins, and the
            bytes written since or, if paths are not compact, the token and how many bytes it has written.
        arcs: source, input, output and target of each arc, in order and without duplicates.
    """

    def __init__(self, compact: bool) -> None:
        self.compact = compact
        self.states: dict[object, int] = {"root": ROOT}
        self.arcs: dict[tuple[int, int, int, int], None] = {}

    def state(self, name: object) -> int:
        """Return the number of a state; add the state if it is new."""
        return self.states.setdefault(name, len(self.states))

    def add(self, source: int, token_id: int, text: bytes, target: int) -> None:
        """Add a path that writes a text, and reads the token together with the last byte."""
        state = source
        for length, byte in enumerate(text[:-1], 1):
            prefix = text[:length] if self.compact else (token_id, length)
            following = self.state((source, prefix))
            self.arcs[state, EPSILON, symbol_of_byte(byte), following] = None
            state = following
        self.arcs[state, token_id, symbol_of_byte(text[-1]) if text else EPSILON, target] = None
