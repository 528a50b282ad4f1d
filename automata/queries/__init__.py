"""Questions about languages: inclusion, size, texts in order, random texts.

    equivalent, includes, is_empty, is_finite      yes or no
    counterexample                                 the shortest text that a language lacks of another
    shortest, enumerate                            the first text, and all of them in order
    count                                          how many there are
    sample, random_strings                         random texts: uniform over texts, uniform over next bytes

Every question takes an automaton or an expression, and every answer is exact. Texts are bytes, and so are lengths: a
language may hold texts that are not valid UTF-8. `language & ANY_CHAR.repeat(0, n)` limits the length in characters.

Where a language has labels (`automata.expressions.Label`), the yes and no questions treat them like any other symbol;
questions about texts are refused, because a text has none.

Rejected: OpenFst's `randgen` and `shortestpath` (their choice among equals is not specified, so neither a seed nor "the
first in byte order" would mean the same in the next version; `randgen` is not uniform over texts).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice

from automata.algebra.operations import RegularLanguage, automaton_of, difference
from automata.byte_automaton import ByteAutomaton
from automata.errors import EmptyLanguage, InfiniteLanguage, LabelledLanguage
from automata.graph import bottom_up
from automata.queries.counting import Unranking, lengths, total
from automata.queries.walks import Walks


def equivalent(left: RegularLanguage, right: RegularLanguage) -> bool:
    """Return whether both are the same language."""
    import pywrapfst

    a, b = automaton_of(left), automaton_of(right)
    labels = tuple(sorted({*a.labels, *b.labels}))
    return bool(pywrapfst.equivalent(a.fst(labels), b.fst(labels)))


def includes(big: RegularLanguage, small: RegularLanguage) -> bool:
    """Return whether every text of `small` is in `big`; `counterexample` says which is not."""
    return _lacking(big, small).is_empty


def counterexample(big: RegularLanguage, small: RegularLanguage) -> bytes | None:
    """Return the shortest text of `small` that is not in `big`, the first in byte order; None where `big` includes
    `small`.

    Raises:
        LabelledLanguage: what is not in `big` has labels.
    """
    return shortest(_lacking(big, small))


def is_empty(language: RegularLanguage) -> bool:
    """Return whether no text is in the language."""
    return automaton_of(language).is_empty


def is_finite(language: RegularLanguage) -> bool:
    """Return whether the language has finitely many texts."""
    automaton = automaton_of(language)
    # Every state of a trim automaton is on a path to an end, so any cycle makes the language infinite.
    return len(bottom_up(automaton.num_states, *automaton.edges())) == automaton.num_states


def shortest(language: RegularLanguage) -> bytes | None:
    """Return the first in byte order among the shortest texts; None where there is no text.

    Raises:
        LabelledLanguage: the language has labels.
    """
    automaton = _without_labels(language)
    return None if automaton.is_empty else Walks(automaton).finish(automaton.start)


def enumerate(language: RegularLanguage) -> Iterator[bytes]:  # noqa: A001
    """Yield every text of the language, by length and then in byte order, without end where the language is infinite.

    Raises:
        LabelledLanguage: the language has labels.
    """
    return Walks(_without_labels(language)).texts()


def count(language: RegularLanguage, max_length: int | None = None) -> int:
    """Count the texts of at most `max_length` bytes, or all texts if it is None. Exact, however large.

    Raises:
        InfiniteLanguage: there is no `max_length`, and the language is infinite.
        LabelledLanguage: the language has labels.
        Cancelled, LimitExceeded: as for `sample`.
    """
    automaton = _without_labels(language)
    if max_length is not None:
        numbers = islice(lengths(automaton), max(max_length + 1, 0))
        return sum(int(of_length[automaton.start]) for of_length in numbers)
    number = total(automaton)
    if number is None:
        raise InfiniteLanguage("the language has infinitely many texts: count those up to a length")
    return number


def sample(language: RegularLanguage, number: int, *, length: int | range, seed: int) -> list[bytes]:
    """Draw random texts of the language; all of its texts of that length are equally likely.

    Args:
        language: the language.
        number: how many texts; they may repeat.
        length: in bytes; or a range of lengths, over all of whose texts the choice is uniform.
        seed: the same seed gives the same texts.

    Raises:
        EmptyLanguage: there is no text of such a length.
        Cancelled, LimitExceeded: the current compilation has to stop; where there is none, one with default limits.
        LabelledLanguage: the language has labels.
    """
    texts = Unranking(_without_labels(language), range(length, length + 1) if isinstance(length, int) else length)
    if not texts.total:
        raise EmptyLanguage(f"the language has no text of length {length}")
    generator = random.Random(seed)
    return [texts.text(generator.randrange(texts.total)) for _ in range(number)]


def random_strings(language: RegularLanguage, number: int, *, seed: int, max_length: int = 64) -> list[bytes]:
    """Draw random texts of the language: at each step all next bytes, and the end where a text may end, are equally
    likely.

    Args:
        language: the language.
        number: how many texts; they may repeat.
        seed: the same seed gives the same texts.
        max_length: from this length on, a text takes a shortest path to an end.

    Raises:
        EmptyLanguage: there is no text.
        LabelledLanguage: the language has labels.
    """
    automaton = _without_labels(language)
    if automaton.is_empty:
        raise EmptyLanguage("there is no text to choose from")
    walks, generator = Walks(automaton), random.Random(seed)
    return [walks.random(generator, max_length) for _ in range(number)]


def _lacking(big: RegularLanguage, small: RegularLanguage) -> ByteAutomaton:
    return difference(automaton_of(small), automaton_of(big))


def _without_labels(language: RegularLanguage) -> ByteAutomaton:
    automaton = automaton_of(language)
    if automaton.labels:
        raise LabelledLanguage(f"texts are bytes, and this language has the label {automaton.labels[0]!r}")
    return automaton
