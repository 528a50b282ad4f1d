"""One of several texts, equally preferred or weighted by their frequencies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import exp, fsum, inf, log

import numpy as np

from automata.acceptor_tables import AcceptorTables, ArcCosts
from automata.arrays import int_rows
from automata.errors import wrong_type
from automata.expressions import Acceptor, Expr, strings
from automata.fst_type import is_fst
from automata.texts import common_prefix_length


def choice(texts: Iterable[str] | Mapping[str, float]) -> Expr:
    """Return the language of the given texts; there may be millions.

    >>> from automata.weighted import compile_weighted
    >>> names = compile_weighted(choice({"Ada": 120, "Bob": 40}))
    >>> round(names.weight("Bob") - names.weight("Ada"), 3)  # log(120 / 40)
    1.099

    Args:
        texts: the texts; duplicates are ignored. Or a mapping from texts to counts: then the cost of a text is the
            negative logarithm of its share, and is subtracted from the logits (`Expr.weighted`).

    Raises:
        TypeError: the argument is a single text, a value is not text, or a count is not a number.
        ValueError: there are no texts, one has half of a surrogate pair, or a count is not finite or not above 0.
    """
    if is_fst(texts):
        raise wrong_type("several texts", texts)
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise TypeError(f"choice takes several texts, choice([...]), not {texts!r}")
    texts = texts if isinstance(texts, Mapping) else list(texts)
    if not set(map(type, texts)) <= {str}:
        for option in texts:
            if not isinstance(option, str):
                raise TypeError(f"a choice is one of some texts, and {option!r} is not text")
    options = frozenset(texts)
    if not options:
        raise ValueError("a choice needs at least one text")
    try:
        return _by_counts(texts) if isinstance(texts, Mapping) else strings(options)
    except UnicodeEncodeError as error:
        raise ValueError(f"half of a surrogate pair is not text: {error.object!r}") from None


def _by_counts(counts: Mapping[str, float]) -> Expr:
    """Return the prefix tree of the texts; each text ends with its cost."""
    for text, count in counts.items():
        if not isinstance(count, int | float | np.number):
            raise TypeError(f"the count of {text!r} is {count!r}, and counts are int or float")
        if not 0 < count < inf:
            raise ValueError(f"the count of {text!r} is {count!r}, and counts are finite and above 0")
    # Counts may be beyond all floats, and so may their sum.
    logs = [log(count) for count in counts.values()]
    most = max(logs)
    total = most + log(fsum(exp(each - most) for each in logs))
    arcs, epsilon, costs = list[int](), list[int](), list[float]()
    # State 0 is the root and 1 the end; `path` holds the states along the previous word.
    num_states, path, before = 2, [0], b""
    for word, count in sorted((text.encode(), count) for text, count in counts.items()):
        shared = common_prefix_length(before, word)
        del path[shared + 1 :]
        for byte in word[shared:]:
            arcs += (path[-1], byte, byte, num_states)
            path.append(num_states)
            num_states += 1
        epsilon += (path[-1], 1)
        costs.append(total - log(count))
        before = word
    rows, ends = int_rows(arcs, 4), int_rows(epsilon, 2)
    return Acceptor(
        AcceptorTables(num_states, rows, ends, (), ArcCosts("tropical", np.zeros(len(rows)), np.array(costs)))
    )
