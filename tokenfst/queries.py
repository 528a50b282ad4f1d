"""Questions about token automata: how many sequences of tokens are there, which is the shortest, what are some of them.

    count(automaton, max_tokens)        how many there are up to a length
    shortest(automaton)                 the one of fewest tokens
    sample(automaton, ...)              random ones, uniform over those of a length

A text has many tokenizations, so these are not the questions of `automata.queries` about texts. Sequences are counted
without an end token. Numbers are Python integers and so exact; only states that can be reached in so many tokens are
looked at, by what every automaton answers of a state: which classes it allows and where they lead.
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
    """The number of sequences of at most `max_tokens` tokens that the automaton accepts."""
    automaton = require_finite(automaton)
    steps = _ClassGraph(automaton)
    # How many sequences lead to each state, length by length.
    reached, total = {automaton.start: 1}, 0
    for _ in range(max_tokens + 1):
        total += sum(number for state, number in reached.items() if automaton.is_final(state))
        following: dict[int, int] = defaultdict(int)
        for state, number in reached.items():
            for token_class, target in steps.of(state):
                following[target] += number * steps.size(token_class)
        reached = following
    return total


def shortest(automaton: TokenAutomaton) -> list[int]:
    """The first in order of token ids among the accepted sequences of the fewest tokens."""
    automaton = require_finite(automaton)
    steps, state, tokens = _ClassGraph(automaton), automaton.start, list[int]()
    while not automaton.is_final(state):
        nearer = automaton.min_tokens(state) - 1
        token, state = min(
            (steps.token(token_class, 0), target)
            for token_class, target in steps.of(state)
            if automaton.min_tokens(target) == nearer
        )
        tokens.append(token)
    return tokens


def sample(automaton: TokenAutomaton, number: int, *, length: int, seed: int) -> list[list[int]]:
    """Random accepted sequences of just `length` tokens, each as likely as any other.

    Args:
        automaton: the automaton.
        number: how many sequences; they may repeat.
        length: in tokens, without an end token.
        seed: the same seed gives the same sequences.

    Raises:
        EmptyLanguage: no sequence has this length.
    """
    automaton = require_finite(automaton)
    steps, generator = _ClassGraph(automaton), random.Random(seed)
    levels = steps.completions(length)
    if not levels[0].get(automaton.start):
        raise EmptyLanguage(f"no sequence of {length} tokens spells a text of the language")
    return [steps.draw(generator, levels) for _ in range(number)]


def require_finite(automaton: TokenAutomaton) -> FiniteTokenAutomaton:
    """Return the tables of an automaton without a stack.

    Raises:
        ValueError: it has a stack, or a state for each last token.
        LimitExceeded: the tables exceed the limits.
    """
    complete = automaton.complete()
    if not isinstance(complete, FiniteTokenAutomaton):
        raise ValueError(f"only finite automata are counted and sampled, and this is {complete!r}")
    return complete


class _ClassGraph:
    """The transitions of an automaton, without those to the end, as they are asked for."""

    def __init__(self, automaton: FiniteTokenAutomaton) -> None:
        self.automaton = automaton
        # Token ids by class, and where each class begins.
        self.by_class = np.argsort(automaton.token_class, kind="stable").tolist()
        sizes = np.bincount(automaton.token_class, minlength=automaton.num_classes)
        self.bounds = [0, *np.cumsum(sizes).tolist()]
        self.known: dict[int, list[tuple[int, int]]] = {}

    def of(self, state: int) -> list[tuple[int, int]]:
        """Every class that a state allows, and the state that it leads to."""
        if state not in self.known:
            moves = zip(*(column.tolist() for column in self.automaton.moves(state)), strict=True)
            self.known[state] = [(number, target) for number, target in moves if number != END]
        return self.known[state]

    def size(self, token_class: int) -> int:
        """The number of tokens of a class."""
        return int(self.bounds[token_class + 1] - self.bounds[token_class])

    def token(self, token_class: int, place: int) -> int:
        """One of them, by ascending id."""
        return int(self.by_class[self.bounds[token_class] + place])

    def completions(self, length: int) -> list[dict[int, int]]:
        """For each number of tokens written, the states that can be reached, and in how many ways each is completed by
        the tokens that are left."""
        reached = [{self.automaton.start}]
        for _ in range(length):
            reached.append({target for state in reached[-1] for _, target in self.of(state)})
        levels = [{state: 1 for state in reached[-1] if self.automaton.is_final(state)}]
        for states in reversed(reached[:-1]):
            after = levels[-1]
            levels.append({
                state: sum(self.size(token_class) * after.get(target, 0) for token_class, target in self.of(state))
                for state in states
            })  # fmt: skip
        return levels[::-1]

    def draw(self, generator: random.Random, levels: list[dict[int, int]]) -> list[int]:
        """A random sequence: that of a random number, in some fixed order."""
        state, tokens = self.automaton.start, list[int]()
        number = generator.randrange(levels[0][state])
        for after in levels[1:]:
            for token_class, target in self.of(state):
                ways = after.get(target, 0)
                if number < ways * self.size(token_class):
                    break
                number -= ways * self.size(token_class)
            tokens.append(self.token(token_class, number // ways))
            number, state = number % ways, target
        return tokens
