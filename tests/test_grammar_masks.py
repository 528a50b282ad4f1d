"""Masks of bundled grammars in full, along accepted texts, beside those of XGrammar and llguidance.

Where they differ, brute force decides: the Earley oracle says whether any text of the language begins with what has
been written and the token. It finds this project right each time; why the others differ is said here, and what is not
said here is a failure. The variable MASK_TEXTS is the number of texts for each grammar.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from random import Random
from typing import Literal

import numpy as np
import numpy.typing as npt
import pytest

# Before any engine starts its threads.
os.environ.setdefault("RAYON_NUM_THREADS", "1")

from differential import Tokens
from grammar_engines import LLGuidanceGrammar, TokenFstGrammar, XGrammarGrammar
from grammar_oracles.corpus import Corpus, corpus

from constraints.grammars.bundled import BUNDLED
from tokenfst import Vocabulary, from_tekken

TEXTS = int(os.environ.get("MASK_TEXTS", "2"))
MAX_LENGTH = 150
# Tokens of a mask on which engines differ that brute force decides.
DECIDED = 4
# Where a mask takes another engine seconds, not every step is compared but so many of each text, at random.
SLOW = {("sql", "xgrammar")}
SLOW_PLACES = 6

# What another engine does that brute force says is wrong: it refuses a text of the language, forbids a token that
# can be completed, or allows one that cannot.
Fault = Literal["refuses", "forbids", "allows"]

# llguidance knows words only, each of which matches longest, and so cuts plain rules into words. `a b` and then a space
# is, to it, within a scalar of YAML for good, and a comma that follows is refused; `''` is two quotes before an atom,
# and no list can follow; `floaton` is in C a name after `float` and nothing else, so no `[` can follow.
WORDS_ONLY: dict[str, set[Fault]] = {
    "domino_c": {"refuses", "forbids"},
    "s_expressions": {"refuses", "forbids"},
    "yaml_flow": {"refuses", "forbids"},
}
# It lets a word begin that may stand here but cannot be followed: a comment of Mermaid runs to the end of the line, and
# after `flowchart` no line may end.
LEADS_NOWHERE: dict[str, set[Fault]] = {"mermaid": {"allows"}}
# It ends a text where only ignored words could follow: no white space after the semicolon of SQL.
ENDS_AT_ONCE: dict[str, set[Fault]] = {"sql": {"forbids"}}
# XGrammar has no words: one may be cut short, so that `classfoo` is `class foo` as well.
NO_WORDS: dict[str, set[Fault]] = {"mermaid": {"allows"}, "python_expression": {"allows"}, "sql": {"allows"}}


@dataclass(frozen=True)
class Engines:
    tokens: Tokens
    own: TokenFstGrammar
    others: dict[str, tuple[XGrammarGrammar | LLGuidanceGrammar, dict[str, set[Fault]]]]


@pytest.fixture(scope="module")
def engines() -> Engines:
    vocabulary = from_tekken(str(files("mistral_common") / "data" / "tekken_240911.json"))
    others: dict[str, tuple[XGrammarGrammar | LLGuidanceGrammar, dict[str, set[Fault]]]] = {
        "xgrammar": (XGrammarGrammar(vocabulary), NO_WORDS),
        "llguidance": (LLGuidanceGrammar(vocabulary), WORDS_ONLY | LEADS_NOWHERE | ENDS_AT_ONCE),
    }
    return Engines(Tokens(vocabulary), TokenFstGrammar(vocabulary), others)


@pytest.mark.parametrize("name", list(BUNDLED))
def test_masks(name: str, engines: Engines) -> None:
    random, texts = Random(name), corpus(name)
    own = engines.own.compile(name)
    compiled = {other: engine.compile(name) for other, (engine, _) in engines.others.items()}
    short = [text for text in texts.accepted if len(text) < MAX_LENGTH]
    for text in random.sample(short, min(TEXTS, len(short))):
        token_ids = next(engines.tokens.cuts(text, random))
        masks = engines.own.masks(own, token_ids)
        for other, (engine, known) in engines.others.items():
            places: Sequence[int] = range(len(masks))
            if (name, other) in SLOW:
                places = random.sample(places, min(SLOW_PLACES, len(places)))
            try:
                theirs = engine.masks(engine.fresh(compiled[other]), token_ids, places)
            except ValueError:
                # The oracle has accepted the text.
                assert "refuses" in known.get(name, ()), (other, text)
                continue
            for place, their in zip(sorted(places), theirs, strict=True):
                prefix = engines.tokens.vocabulary.detokenize(token_ids[:place])
                faults = decided(prefix, masks[place], their, texts, engines.tokens.vocabulary, random)
                assert faults <= known.get(name, set()), (other, prefix)


def decided(
    prefix: bytes,
    mask: npt.NDArray[np.bool_],
    theirs: npt.NDArray[np.bool_],
    texts: Corpus,
    vocabulary: Vocabulary,
    random: Random,
) -> set[Fault]:
    """The faults of another engine's mask, after brute force has found this project's right."""
    differing = np.flatnonzero(mask != theirs).tolist()
    faults: set[Fault] = set()
    for token in random.sample(differing, min(DECIDED, len(differing))):
        if token in vocabulary.eos_ids:
            truth = texts.recognizer.accepts(prefix)
        else:
            truth = bool(vocabulary.tokens[token]) and texts.recognizer.viable(prefix + vocabulary.tokens[token])
        assert mask[token] == truth, (prefix, vocabulary.tokens[token])
        faults.add("forbids" if truth else "allows")
    return faults
