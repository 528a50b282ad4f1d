"""Pictures of what happens over tokens: the detokenizing transducer, and token automata.

They are for small examples and for looking at a part: a picture of thousands of states is black, so more states
than `MAX_STATES` are refused, and an arc names a few of its tokens and how many there are.
"""

from __future__ import annotations

import numpy as np

from automata.drawing import Drawing, byte_label, character_label, draw_fst, draw_graph
from automata.errors import LimitExceeded
from tokenfst.automaton import TokenAutomaton
from tokenfst.detokenizer import detokenizer
from tokenfst.token_classes import END
from tokenfst.vocabulary import Vocabulary

MAX_STATES = 500
# An arc with more tokens than this names the first ones only.
MAX_NAMES = 6


def draw_detokenizer(
    vocabulary: Vocabulary, *, compact: bool = True, at_text_start: bool = False, title: str | None = None
) -> Drawing:
    """The transducer from tokens to bytes, `token:byte` on its arcs, as in the paper's Figures 4 and 9; with
    `at_text_start` the one for a text of its own, which may begin in another state.

    Raises:
        LimitExceeded: it has more than `MAX_STATES` states.
    """
    fst = detokenizer(vocabulary, compact=compact, at_text_start=at_text_start)
    _check(fst.num_states())
    return draw_fst(fst, lambda token: token_label(vocabulary.tokens[token]), byte_label, title=title)


def draw_token_automaton(automaton: TokenAutomaton, *, title: str | None = None) -> Drawing:
    """An automaton over tokens, as in the paper's Figure 5 (right); the state after the end is a black dot.

    Raises:
        LimitExceeded: it has more than `MAX_STATES` states.
    """
    _check(automaton.num_states)
    classes: dict[tuple[int, int], list[int]] = {}
    for source, number, target in zip(*(array.tolist() for array in automaton.transitions.edges()), strict=True):
        classes.setdefault((source, target), []).append(number)
    end = automaton.end_state
    # That end tokens may be repeated after the end is not worth an arc.
    classes.pop((end, end), None)
    labels = {pair: _tokens(automaton, numbers) for pair, numbers in classes.items()}
    # Nothing leads to the end where the vocabulary has no end token.
    states = range(end + 1 if automaton.vocabulary.eos_ids else end)
    shape = {end: 'shape=point, width=0.15, xlabel="end"'}
    return draw_graph(states, automaton.start, automaton.final.tolist(), labels, title=title, attributes=shape)


def token_label(token: bytes) -> str:
    """A token as it can be read in a picture: as text where it is text."""
    try:
        return "".join(map(character_label, token.decode()))
    except UnicodeDecodeError:
        return "".join(map(byte_label, token))


def _tokens(automaton: TokenAutomaton, classes: list[int]) -> str:
    """A line for each token of the classes, the first few only."""
    if classes == [END]:
        return "end"
    tokens = np.flatnonzero(np.isin(automaton.token_class, classes))
    names = [token_label(automaton.vocabulary.tokens[token]) for token in tokens[:MAX_NAMES].tolist()]
    if len(tokens) > MAX_NAMES:
        names.append(f"… ({len(tokens):,} tokens)")
    return "\n".join(names)


def _check(num_states: int) -> None:
    if num_states > MAX_STATES:
        raise LimitExceeded(f"a picture of {num_states:,} states is refused: the limit is {MAX_STATES:,}")
