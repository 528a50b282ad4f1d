"""Masks of bundled grammars in full, along accepted texts, beside those of XGrammar and llguidance.

Where they differ, brute force decides: the Earley oracle says whether any text of the language begins with what has
been written and the token. It finds this project right each time; why the others differ is said here, and what is not
said here is a failure. The variable MASK_TEXTS is the number of texts for each grammar.
"""

from __future__ import annotations

import os
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

TEXTS = int(os.environ.get("MASK_TEXTS", "1"))
MAX_LENGTH = 150
# Tokens of a mask on which engines differ that brute force decides.
DECIDED = 4
# XGrammar, which has no words, looks at nearly every token again at most places of a text in SQL, at some 0.1 ms each.
# There, and in Python's expressions, the vocabulary is one token of so many, and all bytes.
SLOW = {("python_expression", "xgrammar"), ("sql", "xgrammar")}
SHARE = 97

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
# It ends a text where only ignored words could follow: no whitespace after the semicolon of SQL.
ENDS_AT_ONCE: dict[str, set[Fault]] = {"sql": {"forbids"}}
# XGrammar has no words: one may be cut short, so that `classfoo` is `class foo` as well.
NO_WORDS: dict[str, set[Fault]] = {"mermaid": {"allows"}, "python_expression": {"allows"}, "sql": {"allows"}}


@dataclass(frozen=True)
class Engines:
    """The engines over one vocabulary."""

    tokens: Tokens
    own: TokenFstGrammar
    others: dict[str, XGrammarGrammar | LLGuidanceGrammar]


KNOWN = {"xgrammar": NO_WORDS, "llguidance": WORDS_ONLY | LEADS_NOWHERE | ENDS_AT_ONCE}


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return from_tekken(str(files("mistral_common") / "data" / "tekken_240911.json"))


@pytest.fixture(scope="module")
def engines(vocabulary: Vocabulary) -> Engines:
    both: dict[str, XGrammarGrammar | LLGuidanceGrammar] = {
        "xgrammar": XGrammarGrammar(vocabulary),
        "llguidance": LLGuidanceGrammar(vocabulary),
    }
    return Engines(Tokens(vocabulary), TokenFstGrammar(vocabulary), both)


@pytest.fixture(scope="module")
def few(vocabulary: Vocabulary) -> Engines:
    """The slow engine, over a share of the vocabulary."""
    some = dict.fromkeys(
        [bytes([byte]) for byte in range(256)] + [token for token in vocabulary.tokens if token][::SHARE]
    )
    smaller = Vocabulary([*some, b""], eos_ids=[len(some)])
    return Engines(Tokens(smaller), TokenFstGrammar(smaller), {"xgrammar": XGrammarGrammar(smaller)})


@pytest.mark.parametrize("name", list(BUNDLED))
def test_masks(name: str, engines: Engines) -> None:
    others = {other: engine for other, engine in engines.others.items() if (name, other) not in SLOW}
    compare(name, Engines(engines.tokens, engines.own, others))


@pytest.mark.parametrize(("name", "other"), sorted(SLOW))
def test_masks_over_fewer_tokens(name: str, other: str, few: Engines) -> None:
    compare(name, Engines(few.tokens, few.own, {other: few.others[other]}))


def compare(name: str, engines: Engines) -> None:
    """The masks of a grammar at every place of some texts."""
    random, texts, vocabulary = Random(name), corpus(name), engines.tokens.vocabulary
    own = engines.own.compile(engines.own.given(name))
    compiled = {other: engine.compile(engine.given(name)) for other, engine in engines.others.items()}
    short = [text for text in texts.accepted if len(text) < MAX_LENGTH]
    for text in random.sample(short, min(TEXTS, len(short))):
        token_ids = next(engines.tokens.cuts(text, random))
        masks = engines.own.masks(own, token_ids)
        for other, engine in engines.others.items():
            known = KNOWN[other].get(name, set())
            try:
                theirs = engine.masks(engine.fresh(compiled[other]), token_ids)
            except ValueError:
                # The oracle has accepted the text.
                assert "refuses" in known, (other, text)
                continue
            for place, (mask, their) in enumerate(zip(masks, theirs, strict=True)):
                prefix = vocabulary.detokenize(token_ids[:place])
                assert decided(prefix, mask, their, texts, vocabulary, random) <= known, (other, prefix)


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
