"""Count, find and sample the sequences of tokens that an automaton accepts.

    count(automaton, max_tokens)        the number of sequences up to a length
    shortest(automaton)                 a sequence of the fewest tokens
    sample(automaton, ...)              random sequences, uniformly among those of one length

A text has many tokenizations, so the results differ from those of `automata.queries`, which are about texts. Sequences
do not include an end token. Numbers are exact Python integers. Only states that are reachable within the given length
are visited.
"""

from __future__ import annotations

import random
from collections import defaultdict

import numpy as np

from automata.errors import EmptyLanguage
from tokenfst.finite.automaton import FiniteTokenAutomaton
from tokenfst.finite.classes import END
from tokenfst.token_automaton import TokenAutomaton


def count(automaton: TokenAutomaton, max_tokens: int) -> int:
    """Return the number of accepted sequences of at most `max_tokens` tokens.

    >>> import tokenfst
    >>> vocabulary = tokenfst.Vocabulary([b"a", b"b", b"ab", b""], eos_ids=3)
    >>> count(tokenfst.compile("(ab)+", vocabulary), max_tokens=2)  # ab, a b, ab ab
    3

    Args:
        automaton: the automaton.
        max_tokens: the greatest length, without an end token.

    Raises:
        ValueError: the automaton has a stack, costs or a memory of items, or is canonical. All functions here raise it.
        LimitExceeded: the tables of the automaton exceed its limits. All functions here raise it.
    """
    automaton = require_finite(automaton)
    graph = _ClassGraph(automaton)
    # The number of sequences that lead to each state, by length.
    reached, total = {automaton.start: 1}, 0
    for _ in range(max_tokens + 1):
        total += sum(number for state, number in reached.items() if automaton.is_final(state))
        following: dict[int, int] = defaultdict(int)
        for state, number in reached.items():
            for token_class, target in graph.successors(state):
                following[target] += number * graph.size(token_class)
        reached = following
    return total


def shortest(automaton: TokenAutomaton) -> list[int]:
    """Return the accepted sequence of the fewest tokens; of several, the first in lexicographic order of ids.

    >>> import tokenfst
    >>> vocabulary = tokenfst.Vocabulary([b"a", b"b", b"ab", b""], eos_ids=3)
    >>> shortest(tokenfst.compile("(ab)+", vocabulary))
    [2]
    """
    automaton = require_finite(automaton)
    graph, state, tokens = _ClassGraph(automaton), automaton.start, list[int]()
    while not automaton.is_final(state):
        nearer = automaton.min_tokens(state) - 1
        token, state = min(
            (graph.token(token_class, 0), target)
            for token_class, target in graph.successors(state)
            if automaton.min_tokens(target) == nearer
        )
        tokens.append(token)
    return tokens


def sample(automaton: TokenAutomaton, number: int, *, length: int, seed: int) -> list[list[int]]:
    """Return random accepted sequences of exactly `length` tokens, all equally likely.

    >>> import tokenfst
    >>> vocabulary = tokenfst.Vocabulary([b"a", b"b", b"ab", b""], eos_ids=3)
    >>> sample(tokenfst.compile("(ab)+", vocabulary), 2, length=1, seed=0)
    [[2], [2]]

    Args:
        automaton: the automaton.
        number: the number of sequences; the same one may be drawn several times.
        length: the number of tokens, without an end token.
        seed: the seed of the generator; equal seeds give equal sequences.

    Raises:
        ValueError: `number` is negative; or the automaton is not finite, see `require_finite`.
        EmptyLanguage: no accepted sequence has this length.
    """
    if number < 0:
        raise ValueError(f"a number of sequences is 0 or more, not {number}")
    automaton = require_finite(automaton)
    graph, generator = _ClassGraph(automaton), random.Random(seed)
    completions = graph.completions(length)
    if length < 0 or not completions[0].get(automaton.start):
        raise EmptyLanguage(f"no sequence of {length} tokens spells a text of the language")
    return [graph.draw(generator, completions) for _ in range(number)]


def require_finite(automaton: TokenAutomaton) -> FiniteTokenAutomaton:
    """Return the complete automaton, which must be finite.

    Raises:
        ValueError: the automaton has a stack, costs or a memory of items, or is canonical.
        LimitExceeded: the tables exceed the limits.
    """
    complete = automaton.complete()
    if not isinstance(complete, FiniteTokenAutomaton):
        raise ValueError(f"only finite automata are counted and sampled, and this is {complete!r}")
    return complete


class _ClassGraph:
    """The graph of an automaton's states and token classes, without the end; transitions are cached by state."""

    def __init__(self, automaton: FiniteTokenAutomaton) -> None:
        self.automaton = automaton
        # Token ids ordered by class, and the index of the first token of each class.
        self.by_class = np.argsort(automaton.token_class, kind="stable").tolist()
        sizes = np.bincount(automaton.token_class, minlength=automaton.num_classes)
        self.bounds = [0, *np.cumsum(sizes).tolist()]
        self.known: dict[int, list[tuple[int, int]]] = {}

    def successors(self, state: int) -> list[tuple[int, int]]:
        """Return the classes that a state allows, each with the state that it leads to."""
        if state not in self.known:
            moves = zip(*(column.tolist() for column in self.automaton.moves(state)), strict=True)
            self.known[state] = [(number, target) for number, target in moves if number != END]
        return self.known[state]

    def size(self, token_class: int) -> int:
        """Return the number of tokens in a class."""
        return int(self.bounds[token_class + 1] - self.bounds[token_class])

    def token(self, token_class: int, index: int) -> int:
        """Return the id of a token of a class, by its index in ascending order of ids."""
        return int(self.by_class[self.bounds[token_class] + index])

    def completions(self, length: int) -> list[dict[int, int]]:
        """Return the number of completions of each state that is reachable by n tokens, for n from 0 to `length`.

        A completion is a sequence of the remaining `length - n` tokens that leads to the end.
        """
        reached = [{self.automaton.start}]
        for _ in range(length):
            reached.append({target for state in reached[-1] for _, target in self.successors(state)})
        completions = [{state: 1 for state in reached[-1] if self.automaton.is_final(state)}]
        for states in reversed(reached[:-1]):
            after = completions[-1]
            completions.append({
                state: sum(self.size(number) * after.get(target, 0) for number, target in self.successors(state))
                for state in states
            })  # fmt: skip
        return completions[::-1]

    def draw(self, generator: random.Random, completions: list[dict[int, int]]) -> list[int]:
        """Return a random sequence, by drawing its index in a fixed order of all sequences."""
        state, tokens = self.automaton.start, list[int]()
        number = generator.randrange(completions[0][state])
        for after in completions[1:]:
            for token_class, target in self.successors(state):
                ways = after.get(target, 0)
                if number < ways * self.size(token_class):
                    break
                number -= ways * self.size(token_class)
            tokens.append(self.token(token_class, number // ways))
            number, state = number % ways, target
        return tokens
