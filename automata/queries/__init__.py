"""Questions about languages: inclusion, size, texts in order, random texts.

    equivalent, includes, is_empty, is_finite      yes or no
    counterexample                                 the shortest text of one language that is not in another
    shortest, enumerate                            the first text; all texts in order
    count                                          the number of texts
    sample, random_strings                         random texts: uniform over texts; uniform over next bytes

    counting, walks                                texts by number, and paths byte by byte, for the functions above

Every function takes an automaton or an expression (anything else is a TypeError), and every answer is exact. Texts are
bytes and lengths are in bytes, because a language may have texts that are not valid UTF-8.
`language & ANY_CHAR.repeat(0, n)` limits the length in characters.

If a language has labels (`automata.expressions.Label`), the yes-or-no questions treat them like any other symbol;
questions about texts raise an error, because a text has no labels.

Rejected: OpenFst's `randgen` and `shortestpath` (how they break ties is not specified, so neither a seed nor "the first
in byte order" would mean the same in the next version; `randgen` is not uniform over texts).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from operator import index

from automata.algebra.operations import RegularLanguage, automaton_of, difference
from automata.byte_automaton import ByteAutomaton
from automata.errors import EmptyLanguage, InfiniteLanguage, LabelledLanguage
from automata.graph import bottom_up
from automata.openfst import openfst_module
from automata.queries.counting import Unranking, lengths, total
from automata.queries.walks import Walks


def equivalent(left: RegularLanguage, right: RegularLanguage) -> bool:
    """Return whether two languages are equal."""
    pywrapfst = openfst_module("pywrapfst")

    a, b = automaton_of(left), automaton_of(right)
    labels = tuple(sorted({*a.labels, *b.labels}))
    return bool(pywrapfst.equivalent(a.fst(labels), b.fst(labels)))


def includes(big: RegularLanguage, small: RegularLanguage) -> bool:
    """Return whether every text of `small` is in `big`; if not, `counterexample` returns one that is missing."""
    return _lacking(big, small).is_empty


def counterexample(big: RegularLanguage, small: RegularLanguage) -> bytes | None:
    """Return the shortest text of `small` that is not in `big`, the first in byte order; None if `big` includes
    `small`.

    Raises:
        LabelledLanguage: the difference of `small` and `big` has labels.
    """
    return shortest(_lacking(big, small))


def is_empty(language: RegularLanguage) -> bool:
    """Return whether the language has no texts."""
    return automaton_of(language).is_empty


def is_finite(language: RegularLanguage) -> bool:
    """Return whether the language has finitely many texts."""
    automaton = automaton_of(language)
    # Every state of a trim automaton is on a path to an end, so any cycle makes the language infinite.
    return len(bottom_up(automaton.num_states, *automaton.edges())) == automaton.num_states


def shortest(language: RegularLanguage) -> bytes | None:
    """Return the shortest text, the first in byte order if there are several; None if the language is empty.

    Raises:
        LabelledLanguage: the language has labels.
    """
    automaton = _without_labels(language)
    return None if automaton.is_empty else Walks(automaton).finish(automaton.start)


def enumerate(language: RegularLanguage) -> Iterator[bytes]:  # noqa: A001
    """Yield every text of the language, by length and then in byte order; never stop if the language is infinite.

    Raises:
        LabelledLanguage: the language has labels.
    """
    return Walks(_without_labels(language)).texts()


def count(language: RegularLanguage, max_length: int | None = None) -> int:
    """Count the texts of at most `max_length` bytes, or all texts if it is None. The number is exact, however large.

    Raises:
        InfiniteLanguage: `max_length` is None, and the language is infinite.
        LabelledLanguage: the language has labels.
        Cancelled, LimitExceeded: as for `sample`.
    """
    automaton = _without_labels(language)
    if max_length is not None:
        numbers = islice(lengths(automaton), max(index(max_length) + 1, 0))
        return sum(int(of_length[automaton.start]) for of_length in numbers)
    number = total(automaton)
    if number is None:
        raise InfiniteLanguage("the language has infinitely many texts: count those up to a length")
    return number


def sample(language: RegularLanguage, number: int, *, length: int | range, seed: int) -> list[bytes]:
    """Draw random texts of the language; all texts of the given length are equally likely.

    Args:
        language: the language.
        number: the number of texts to draw; texts may repeat.
        length: the length in bytes; or a range of lengths, and the draw is uniform over all texts of these lengths.
        seed: the same seed gives the same texts.

    Raises:
        EmptyLanguage: the language has no text of such a length.
        ValueError: `number` is negative.
        Cancelled, LimitExceeded: the current compilation has to stop; if there is none, the default limits apply.
        LabelledLanguage: the language has labels.
    """
    lengths_ = length if isinstance(length, range) else range(index(length), index(length) + 1)
    _check_number(number)
    texts = Unranking(_without_labels(language), lengths_)
    if not texts.total:
        raise EmptyLanguage(f"the language has no text of length {length}")
    generator = random.Random(seed)
    return [texts.text(generator.randrange(texts.total)) for _ in range(number)]


def random_strings(language: RegularLanguage, number: int, *, seed: int, max_length: int = 64) -> list[bytes]:
    """Draw random texts of the language. At each step all possible next bytes are equally likely, and so is the end if
    the text may end there.

    Args:
        language: the language.
        number: the number of texts to draw; texts may repeat.
        seed: the same seed gives the same texts.
        max_length: from this length on, in bytes, a text takes a shortest path to an end.

    Raises:
        ValueError: `number` is negative.
        EmptyLanguage: the language is empty.
        LabelledLanguage: the language has labels.
    """
    _check_number(number)
    automaton = _without_labels(language)
    if automaton.is_empty:
        raise EmptyLanguage("there is no text to choose from")
    walks, generator = Walks(automaton), random.Random(seed)
    return [walks.random(generator, max_length) for _ in range(number)]


def _check_number(number: int) -> None:
    if number < 0:
        raise ValueError(f"a number of texts is 0 or more, not {number}")


def _lacking(big: RegularLanguage, small: RegularLanguage) -> ByteAutomaton:
    return difference(automaton_of(small), automaton_of(big))


def _without_labels(language: RegularLanguage) -> ByteAutomaton:
    automaton = automaton_of(language)
    if automaton.labels:
        raise LabelledLanguage(f"texts are bytes, and this language has the label {automaton.labels[0]!r}")
    return automaton
