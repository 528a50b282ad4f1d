"""Tokens that write a text, for packages whose matchers read texts.

A token automaton reads tokens; all sequences of tokens that write the same text lead to equivalent states. The search
records the states that are reached at each offset, as `TokenAutomaton.accepts` does, and traces back from the last one.
"""

from __future__ import annotations

from typing import Any

from automata.errors import VocabularyError
from serving.matcher import Matcher
from tokenfst.tokenizations import first_steps


def tokens_of(matcher: Matcher, text: bytes) -> list[int] | None:
    """Return tokens that write a text from the current state of a matcher, or None if the text is not allowed there.

    Raises:
        VocabularyError: no tokens of the vocabulary write the text, so a matcher has no state after it.
        LimitExceeded: a lazy automaton exceeds its limits.
    """
    automaton, now = matcher.automaton, matcher.state
    came: list[dict[Any, tuple[int, int, Any]]] = [{} for _ in range(len(text) + 1)]
    came[0][now] = (-1, 0, None)
    begins = automaton.at_text_start and now == automaton.start
    for token, length, after in first_steps(automaton, text) if begins else ():
        came[length].setdefault(after, (token, 0, now))
    for begin, states in enumerate(came[:-1]):
        for state in list(states):
            if state == automaton.end_state or (begins and begin == 0 and state == now):
                continue
            for token, length in automaton.vocabulary.tokens_at(text, begin):
                after = automaton.step(state, token)
                if after is not None:
                    came[begin + length].setdefault(after, (token, begin, state))
    if not came[-1]:
        _check_writable(matcher, text)
        return None
    return _way_back(came, next(iter(came[-1])))


def _way_back(came: list[dict[Any, tuple[int, int, Any]]], state: Any) -> list[int]:
    at, tokens = len(came) - 1, list[int]()
    while True:
        token, at, state = came[at][state]
        if token < 0:
            return tokens[::-1]
        tokens.append(token)


def _check_writable(matcher: Matcher, text: bytes) -> None:
    """Raise if no tokens of the vocabulary write a text, whether it is allowed or not.

    Raises:
        VocabularyError: no tokens write the text.
    """
    reached = {0}
    for begin in range(len(text)):
        if begin in reached:
            reached |= {begin + length for _, length in matcher.automaton.vocabulary.tokens_at(text, begin)}
    if len(text) not in reached:
        raise VocabularyError(f"no tokens of the vocabulary write {text!r} exactly, so there is no state after it")
