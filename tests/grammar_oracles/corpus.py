"""Texts for a bundled grammar, at least 200 that it accepts and 200 that it rejects, judged by the Earley oracle.

Some are samples, some changed samples, and where there are real texts these count too. The same ones on every run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import islice
from random import Random

from grammar_oracles.earley import Recognizer
from grammar_oracles.real import json_objects, python_expressions
from grammar_oracles.sampler import Sampler, changes

from constraints.grammars.bundled import bundled

ENOUGH = 200


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts and the oracle that judged them; the real ones are among the accepted."""

    recognizer: Recognizer
    accepted: tuple[bytes, ...]
    rejected: tuple[bytes, ...]
    real: tuple[bytes, ...]


@cache
def corpus(name: str) -> Corpus:
    """The corpus of a bundled grammar."""
    grammar = bundled(name)
    recognizer, sampler, random = Recognizer(grammar), Sampler(grammar), Random(name)
    real = _real(name)
    texts = {sampler.sample(random): None for _ in range(2 * ENOUGH)}
    verdicts = {text: recognizer.accepts(text) for text in [*texts, *real]}
    more = changes([text for text, verdict in verdicts.items() if verdict], random)
    while min(sum(verdicts.values()), len(verdicts) - sum(verdicts.values())) < ENOUGH:
        verdicts |= {text: recognizer.accepts(text) for text in islice(more, 20)}
    accepted = [text for text, verdict in verdicts.items() if verdict]
    rejected = [text for text, verdict in verdicts.items() if not verdict]
    return Corpus(recognizer, tuple(accepted), tuple(rejected), tuple(real))


def _real(name: str) -> list[bytes]:
    if name == "domino_json":
        return json_objects(100)
    return python_expressions(200, Random(name)) if name == "python_expression" else []
