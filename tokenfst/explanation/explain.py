"""explain: what may come next in a text, and why a token is refused.

explain                   a constraint, a vocabulary, a prefix and a token -> Explanation
TokenAutomaton.explain    the same for an automaton that `tokenfst.compile` made
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal
from weakref import WeakKeyDictionary

from automata.limits import DEFAULT_LIMITS, Cancellation, Limits, Work
from tokenfst.compile import Constraint, compile  # noqa: A004
from tokenfst.explanation.explainer import Explainer
from tokenfst.explanation.explanation import Explanation
from tokenfst.finite.terminals import Terminals
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import Vocabulary


def explain(
    constraint: Constraint,
    vocabulary: Vocabulary,
    prefix: str | bytes | Iterable[int] = b"",
    token: int | str | bytes | None = None,
    *,
    at_text_start: bool = False,
    terminals: Terminals | None = None,
    tokenization: Literal["any", "canonical"] = "any",
    limits: Limits = DEFAULT_LIMITS,
    cancellation: Cancellation | None = None,
) -> Explanation:
    r"""Explain what may come next in a text, or why a token is refused.

    >>> import tokenfst
    >>> vocabulary = tokenfst.Vocabulary([b"0", b"2", b"20", b"-", b"x", b""], eos_ids=5)
    >>> print(tokenfst.explain(r"\d{4}-[01]\d", vocabulary, "20", "x"))
    token 4 ('x') is not allowed after '20'
      refused     'x', byte 0 of the token, byte 2 of the text
      expected    a digit
      pattern     \d{4}-[01]\d
                  ^^^^^ (read 2 times)
      nearest     '0' (token 0), '2' (token 1), '20' (token 2)
      to the end  '00-00'

    Args:
        constraint, vocabulary, at_text_start, terminals, tokenization: as for `tokenfst.compile`.
        prefix: the text so far: token ids, or a text.
        token: the id of a token, its text, or the name of a special token; None to ask what may come next.
        limits: the time, memory and states that compilation and explanation may take.
        cancellation: lets another thread stop the call.

    Raises:
        ValueError: no token writes the text `token`; or the prefix is a text, and either `tokenization` is "canonical"
            or the text contains that of a token that the constraint names.
        Exception: as for `tokenfst.compile`.
    """
    automaton = compile(
        constraint,
        vocabulary,
        at_text_start=at_text_start,
        terminals=terminals,
        tokenization=tokenization,
        limits=limits,
        cancellation=cancellation,
    )
    return automaton.explain(prefix, token, limits=limits, cancellation=cancellation)


_EXPLAINERS: WeakKeyDictionary[TokenAutomaton, Explainer] = WeakKeyDictionary()


def _explained(automaton: TokenAutomaton, prefix: Any, token: Any, work: Work) -> Explanation:
    explainer = _EXPLAINERS.get(automaton)
    if explainer is None:
        if automaton.source is None:
            raise ValueError("the automaton does not know its constraint: tokenfst.explain(constraint, ...) takes it")
        explainer = _EXPLAINERS[automaton] = Explainer(automaton.source, automaton, work)
    return explainer.explain(automaton, prefix, token)


TokenAutomaton._explained = _explained
