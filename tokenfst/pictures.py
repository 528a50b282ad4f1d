"""Pictures of token classes and stacks; `tokenfst.drawing` draws states and arcs.

    draw_classes    the table of a finite automaton: the effect of each token class on each state
    draw_stacks     the stack of an automaton, after each token of a text

A table of at most `MAX_NAMED` states and classes has names, and in each cell the state to which a class leads; a larger
table has a dot for each transition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from automata.charts import Picture, cells, columns
from automata.errors import LimitExceeded
from tokenfst.drawing import ClassNames
from tokenfst.finite.automaton import FiniteTokenAutomaton
from tokenfst.finite.classes import END, NEVER
from tokenfst.finite.transitions import Counted
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.token_automaton import TokenAutomaton

# The maximum number of states, and of classes, of a table with names.
MAX_NAMED = 24
# The maximum number of cells of a picture.
MAX_CELLS = 1_000_000


def draw_classes(automaton: TokenAutomaton, *, title: str | None = None) -> Picture:
    """Draw the table of a finite automaton: a row for each class that is ever allowed, a column for each state.

    >>> import tokenfst
    >>> vocabulary = tokenfst.Vocabulary([b"a", b"b", b"ab", b""], eos_ids=3)
    >>> ">1</text>" in draw_classes(tokenfst.compile("(ab)+", vocabulary)).svg()
    True

    Args:
        automaton: the automaton; its tables are made if there are none.
        title: a line above the picture.

    Raises:
        ValueError: the automaton has a stack, a counter, costs or a memory of items, or is canonical.
        LimitExceeded: the table has more than `MAX_CELLS` cells, or the tables exceed the limits of the automaton.
    """
    finite = automaton.complete()
    if not isinstance(finite, FiniteTokenAutomaton) or isinstance(finite.transitions, Counted):
        raise ValueError(f"a {type(finite).__name__} has no table of states and token classes")
    high, wide = finite.num_classes, finite.num_states - 1  # the state after the end has no column
    if high * wide > MAX_CELLS:
        raise LimitExceeded(f"a picture of {high * wide:,} cells is refused: the limit is {MAX_CELLS:,}")
    source, number, target = finite.transitions.edges()
    inside = source < wide
    filled = np.zeros((high, wide), np.bool_)
    filled[number[inside], source[inside]] = True
    shown = [row for row in range(high) if row != NEVER and filled[row].any()]
    if max(len(shown), wide) > MAX_NAMED:
        return cells(filled[shown], size=3, title=title)
    names = ClassNames(finite.vocabulary, finite.token_class)
    words = {
        (shown.index(row), column): "end" if row == END else str(reached)
        for row, column, reached in zip(*(part[inside].tolist() for part in (number, source, target)), strict=True)
    }
    rows = [" ".join(names([row])) for row in shown]
    return cells(filled[shown], rows=rows, columns=list(map(str, range(wide))), words=words, size=30, title=title)


def draw_stacks(
    automaton: TokenAutomaton,
    tokens: Iterable[int],
    *,
    names: Mapping[int, str] | None = None,
    title: str | None = None,
) -> Picture:
    """Draw the stack after each token of a text, from the bottom up.

    If a text has several readings, the first one is drawn.

    Args:
        automaton: an automaton with a stack; its tables are made if there are none.
        tokens: token ids.
        names: the names of symbols of the stack; a symbol without a name is shown by its number.
        title: a line above the picture.

    Raises:
        TokenNotAllowed: no text of the language begins with `tokens`.
        ValueError: the automaton has no stack.
        LimitExceeded: the tables exceed the limits of the automaton.
    """
    tokens = list(tokens)
    complete = automaton.complete()
    if not isinstance(complete, PushdownTokenAutomaton):
        raise ValueError(f"a {type(complete).__name__} has no stack")
    stacks = [state.configurations[0][1] for state in complete.states_along(tokens)[1:]]
    named = ClassNames(automaton.vocabulary, complete.token_class)
    kinds = {symbol: str(symbol) for symbol in sorted({symbol for stack in stacks for symbol in stack})}
    # The labels are shown without their quotation marks, so that quotation marks within them need no backslash.
    labels = [name[1:-1].replace('\\"', '"') if name[0] == '"' else name for name in map(named.of_token, tokens)]
    return columns(list(zip(labels, stacks, strict=True)), kinds | dict(names or {}), title=title)
