"""Tokens that write a text, for packages whose matchers read texts.

A token automaton reads tokens, and any tokens that write a text lead to where the text leads. The search keeps the
states that are reached at each offset, as `TokenAutomaton.accepts` does, and goes back from the last one.
"""

from __future__ import annotations

from typing import Any

from automata.errors import VocabularyError
from serving.matcher import Matcher


def tokens_of(matcher: Matcher, text: bytes) -> list[int] | None:
    """Return tokens that write a text from where a matcher stands, None if the text may not come there.

    Raises:
        VocabularyError: no tokens of the vocabulary write the text, so a matcher cannot stand behind it.
        LimitExceeded: a lazy automaton exceeds its limits.
    """
    automaton = matcher.automaton
    came: list[dict[Any, tuple[int, int, Any]]] = [{} for _ in range(len(text) + 1)]
    came[0][matcher.state] = (-1, 0, None)
    for begin, states in enumerate(came[:-1]):
        for state in states:
            if state == automaton.end_state:
                continue
            is_first = automaton.at_text_start and state == automaton.start
            for token, length in automaton.vocabulary.tokens_at(text, begin, at_text_start=is_first):
                after = automaton.step(state, token)
                if after is not None:
                    came[begin + length].setdefault(after, (token, begin, state))
    if not came[-1]:
        _check_writable(matcher, text)
        return None
    return _way_back(came, next(iter(came[-1])))


def _way_back(came: list[dict[Any, tuple[int, int, Any]]], state: Any) -> list[int]:
    at, tokens = len(came) - 1, list[int]()
    while at:
        token, at, state = came[at][state]
        tokens.append(token)
    return tokens[::-1]


def _check_writable(matcher: Matcher, text: bytes) -> None:
    """Tell a text that is not allowed from one that no tokens write."""
    reached = {0}
    for begin in range(len(text)):
        if begin in reached:
            reached |= {begin + length for _, length in matcher.automaton.vocabulary.tokens_at(text, begin)}
    if len(text) not in reached:
        raise VocabularyError(f"no tokens of the vocabulary write {text!r} exactly, so no state is behind it")
