"""Arguments of the loop of speculative decoding, and proposers that are sent to another process."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from toy_models import LETTERS

import tokenfst
from decoding import Speculation, bundled_model
from decoding.speculation import ForcedText, ForcedTokens, decode_speculatively, tree_masks

MODEL, TOKENIZER = bundled_model()


def encode(text: str) -> list[int]:
    found: list[int] = TOKENIZER(text)["input_ids"]
    return found


def test_proposers_can_be_sent_to_another_process() -> None:
    sent = pickle.loads(pickle.dumps(Speculation([ForcedTokens(), OwnText(encode, verified=False)])))
    forced = sent.proposers[1]
    assert (type(forced), forced.encode, forced.verified) == (OwnText, encode, False)


class OwnText(ForcedText):
    """A proposer of a user."""


def test_mistakes_in_the_loop_s_arguments() -> None:
    automaton = tokenfst.compile("(ab|b)*(a|cc)b?", LETTERS)
    no_automaton: Any = "a"
    with pytest.raises(TypeError, match="not an automaton over tokens"):
        decode_speculatively(MODEL, [[1]], no_automaton, [])
    with pytest.raises(ValueError, match="max_proposed is 0 or more, not -1"):
        decode_speculatively(MODEL, [[1]], automaton, [], max_proposed=-1)
    with pytest.raises(ValueError, match="max_new_tokens is 1 or more, not 0"):
        decode_speculatively(MODEL, [[1]], automaton, [], max_new_tokens=0)
    with pytest.raises(ValueError, match="there are 2 tokens, and 1 parents"):
        tree_masks(automaton, automaton.start, [0, 1], [-1])
