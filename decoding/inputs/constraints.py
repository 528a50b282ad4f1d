"""Constraints as arguments of a call, and their automata.

A constraint is anything that `tokenfst.compile` takes, an automaton over the call's vocabulary, a future of one
(`decoding.BackgroundCompiler`), or None if anything may be written. A list has one constraint for each prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from typing import Any, Final, TypeAlias

import tokenfst
from automata.errors import Cancelled, IncompleteOutput, VocabularyError
from automata.limits import DEFAULT_LIMITS, Limits
from tokenfst.compile import Constraint
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import Vocabulary

# An automaton, one that is still being compiled, or None for free text.
Constrained: TypeAlias = TokenAutomaton | Future[Any] | None
ConstraintLike: TypeAlias = Constraint | Constrained
ConstraintLikes: TypeAlias = ConstraintLike | Sequence[ConstraintLike]

# Models pad their logits beyond the vocabulary, but none by this factor.
_MAX_PADDING: Final = 2


def constrained(
    constraint: ConstraintLikes,
    vocabulary: Vocabulary,
    *,
    at_text_start: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> list[Constrained]:
    """Compile a constraint, or a list of constraints; the same object is compiled once.

    Args:
        constraint: one constraint, or a list (see the module).
        vocabulary: the tokens of the model.
        at_text_start, limits: as for `tokenfst.compile`.

    Returns:
        One automaton, future or None for each constraint given.

    Raises:
        PatternError, EmptyLanguage, LimitExceeded: as for `tokenfst.compile`.
        VocabularyError: an automaton is over another vocabulary, or the vocabulary has no end token.
        ValueError: `at_text_start` is true, and an automaton was compiled without it.
    """
    check_has_end(vocabulary)
    several: Sequence[Any] = constraint if isinstance(constraint, list | tuple) else [constraint]
    known: dict[int, Constrained] = {}
    for one in several:
        if id(one) not in known:
            known[id(one)] = _constrained(one, vocabulary, at_text_start, limits)
    return [known[id(one)] for one in several]


def _constrained(constraint: Any, vocabulary: Vocabulary, at_text_start: bool, limits: Limits) -> Constrained:
    if constraint is None or isinstance(constraint, Future):
        return constraint
    if not isinstance(constraint, TokenAutomaton):
        compiled: TokenAutomaton = tokenfst.compile(constraint, vocabulary, at_text_start=at_text_start, limits=limits)
        return compiled
    _check(constraint, vocabulary, at_text_start)
    return constraint


def _check(automaton: TokenAutomaton, vocabulary: Vocabulary, at_text_start: bool) -> None:
    check_vocabulary(automaton, vocabulary)
    if at_text_start and not automaton.at_text_start:
        raise ValueError("the automaton continues a text: compile it with at_text_start=True")


def check_count(number: int, prompts: int) -> None:
    """Raise ValueError unless there is one constraint, or one for each prompt."""
    if number not in (1, prompts):
        hint = "; constraints.choice([...]) is one constraint, for one of several texts" if prompts == 1 else ""
        raise ValueError(
            f"there are {number} constraints for {prompts} prompt{'s' * (prompts != 1)}: "
            f"give one for all, or one for each{hint}"
        )


def check_has_end(vocabulary: Vocabulary) -> None:
    """Raise VocabularyError unless the vocabulary has an end token."""
    if not vocabulary.eos_ids:
        raise VocabularyError("the vocabulary has no end-of-sequence token, so no text could end")


def check_vocabulary(automaton: TokenAutomaton, vocabulary: Vocabulary) -> None:
    """Raise VocabularyError unless an automaton is over the vocabulary."""
    if automaton.vocabulary.digest != vocabulary.digest:
        raise VocabularyError(
            f"the automaton was compiled for another vocabulary than the tokenizer's, of "
            f"{len(automaton.vocabulary):,} tokens and not {len(vocabulary):,}"
        )


def resolved(
    one: Constrained, vocabulary: Vocabulary, max_new_tokens: int | None, *, at_text_start: bool = False
) -> TokenAutomaton | None:
    """Return the automaton of a constraint; wait for one that is being compiled.

    Raises:
        IncompleteOutput: the shortest text takes more than `max_new_tokens` tokens.
        VocabularyError: the automaton is over another vocabulary.
        ValueError: `at_text_start` is true, and the automaton was compiled without it.
        TypeError: the result of a future is not an automaton.
        Cancelled: the compilation was given up.
        Exception: the error of the compilation.
    """
    try:
        automaton = one.result() if isinstance(one, Future) else one
    except CancelledError:
        raise Cancelled("the compilation of a constraint was given up before it was done") from None
    if automaton is None:
        return None
    if not isinstance(automaton, TokenAutomaton):
        raise TypeError(f"the result of the future is no automaton: it is of type {type(automaton).__name__}")
    _check(automaton, vocabulary, at_text_start)
    if max_new_tokens is not None:
        check_limit(automaton, max_new_tokens)
    return automaton


def check_width(width: int, vocabulary: Vocabulary) -> None:
    """Check that logits of this width may belong to a model with the vocabulary.

    Raises:
        ValueError: the logits are narrower than the vocabulary.
        VocabularyError: the logits are more than twice as wide, so they belong to another model.
    """
    if width < len(vocabulary):
        raise ValueError(
            f"logits of width {width} do not cover the vocabulary of {len(vocabulary)}; if the model cannot write its "
            f"last tokens, leave them out with vocabulary.truncated({width}), or take vocabulary_of(tokenizer, model)"
        )
    if width > _MAX_PADDING * len(vocabulary):
        raise VocabularyError(
            f"logits of width {width} are another model's: the vocabulary has {len(vocabulary)} tokens"
        )


def check_limit(automaton: TokenAutomaton, max_new_tokens: int) -> None:
    """Check that some text of an automaton fits a limit.

    Raises:
        IncompleteOutput: the shortest text takes more tokens.
    """
    if not automaton.fits(automaton.start, max_new_tokens):
        least = automaton.min_tokens(automaton.start)
        tokens = "token" if least == 1 else "tokens"
        raise IncompleteOutput(f"the constraint takes at least {least} {tokens}, and the limit is {max_new_tokens}")


def dead_end() -> IncompleteOutput:
    """Return the error for a text that no token may follow: some text is within each of two limits, but not both."""
    return IncompleteOutput("a text cannot be completed within both `max_new_tokens` and `max_depth`")


def automata_for(
    constraint: ConstraintLikes,
    vocabulary: Vocabulary,
    prompts: int,
    max_new_tokens: int,
    *,
    at_text_start: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> list[TokenAutomaton]:
    """Return the automaton of each prompt, for loops that keep states on the host; wait for running compilations.

    Raises:
        ValueError: a prompt has no constraint, or there are more or fewer constraints than prompts.
        IncompleteOutput: the shortest text of a prompt takes more than `max_new_tokens` tokens.
        Exception: as for `constrained`.
    """
    each = constrained(constraint, vocabulary, at_text_start=at_text_start, limits=limits)
    check_count(len(each), prompts)
    automata = []
    for number, one in enumerate(each):
        try:
            automaton = resolved(one, vocabulary, max_new_tokens, at_text_start=at_text_start)
        except IncompleteOutput as error:
            raise IncompleteOutput(f"prompt {number}: {error}") from None
        if automaton is None:
            raise ValueError(f"prompt {number} has no constraint: r'(?s:.)*' allows any text")
        automata.append(automaton)
    return automata * prompts if len(automata) == 1 else automata
