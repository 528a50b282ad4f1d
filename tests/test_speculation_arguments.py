"""Arguments of the loop of speculative decoding, and proposers that are sent to another process."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from toy_models import LETTERS, PROMPT, Table

import tokenfst
from automata import VocabularyError
from decoding import Speculation, bundled_model
from decoding.speculation import DraftModel, ForcedText, ForcedTokens, decode_speculatively, tree_masks

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


@pytest.mark.parametrize("opportunistic", [False, True])
def test_logits_of_another_width_are_refused(opportunistic: bool) -> None:
    automaton = tokenfst.compile("[abc]*", LETTERS)
    options: Any = {"max_new_tokens": 6, "opportunistic": opportunistic}
    for width in range(1, 3 * len(LETTERS)):
        model = Table(seed=0, width=width)
        if len(LETTERS) <= width <= 2 * len(LETTERS):
            assert automaton.accepts(decode_speculatively(model, [PROMPT], automaton, [], **options).tokens[0])
            continue
        error: Any = (ValueError, "do not cover") if width < len(LETTERS) else (VocabularyError, "another model's")
        with pytest.raises(error[0], match=error[1]):
            decode_speculatively(model, [PROMPT], automaton, [], **options)
        # What a draft lacks is not proposed.
        draft = DraftModel(Table(seed=1, width=width), (2,))
        target = Table(seed=0)
        assert automaton.accepts(decode_speculatively(target, [PROMPT], automaton, [draft], **options).tokens[0])
