"""A complete text, and how texts of different length compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from automata.errors import IncompleteOutput
from tokenfst.token_automaton import TokenAutomaton


@dataclass(frozen=True)
class Hypothesis:
    """A complete text.

    Attributes:
        text: its bytes.
        tokens: its tokens, with the end token.
        log_probability: of the tokens given the prompt, in nats, by the model and not by the sampler; the end counts as
            what all end tokens have together.
        score: what it is ranked by.
        group: the group of beams that found it.
    """

    text: bytes
    tokens: tuple[int, ...]
    log_probability: float
    score: float
    group: int = 0


def normalized(log_probability: float, length: int, penalty: float) -> float:
    """The log-probability divided by `length ** penalty`: 0 is the plain one, 1 the mean over tokens."""
    return log_probability / float(length**penalty)


def automata_of(
    constraint: TokenAutomaton | Sequence[TokenAutomaton], prompts: int, max_new_tokens: int
) -> list[TokenAutomaton]:
    """The automaton of each prompt.

    Raises:
        ValueError: there are more or fewer automata than prompts.
        IncompleteOutput: the shortest text of one takes more than `max_new_tokens`.
    """
    automata = [constraint] * prompts if isinstance(constraint, TokenAutomaton) else list(constraint)
    if len(automata) != prompts:
        raise ValueError(f"{prompts} prompts need as many automata or one for all, and {len(automata)} are given")
    for place, automaton in enumerate(automata):
        least = automaton.min_tokens(automaton.start)
        if max_new_tokens < least:
            message = f"prompt {place}: the constraint takes at least {least} tokens, and the limit is {max_new_tokens}"
            raise IncompleteOutput(message)
    return automata
