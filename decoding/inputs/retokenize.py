"""Model-preferred tokenization: the tokens with which a model itself would have written a text.

DOMINO's Algorithm 3 (Beurer-Kellner, Fischer & Vechev 2024, appendix B) takes, at each position, the token that the
model finds likeliest among those that begin the rest of the text. This is greedy decoding with a constraint that
allows only this text, and takes a forward pass for each token.

Here a few passes are enough for the whole text: tokens for all of the rest are proposed, the longest at each position,
and one pass shows the model's choice at every position. At the first position where it prefers another token, that
token is taken, and the rest is proposed again. The result is that of the algorithm, except for the last bits of logits.

If some bytes are not tokens by themselves, a token after which the text could not be finished is not a choice; the
published algorithm would get stuck there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from automata.errors import EmptyLanguage
from automata.texts import text_bytes
from decoding.inputs.prompts import prompt_tokens, token_ids
from decoding.inputs.tokens_by_bytes import TokensByBytes, tokens_by_bytes
from decoding.inputs.vocabularies import checked_vocabulary
from decoding.speculation.reader import CachedModel, Reader, Reading
from tokenfst.vocabulary import Vocabulary


@dataclass(frozen=True)
class Retokenized:
    """A text in the tokens that a model prefers.

    Attributes:
        tokens: the token ids.
        log_probability: the natural logarithm of the probability of these tokens after the prompt, by the model's
            distribution over all tokens and not only over those that spell the text.
        forwards: the number of forward passes.
    """

    tokens: tuple[int, ...]
    log_probability: float
    forwards: int


def retokenize(model: Any, vocabulary: Vocabulary, prompt: Sequence[int], text: str | bytes) -> Retokenized:
    """Return the tokens with which a model would have written a text (DOMINO, Algorithm 3).

    Args:
        model: a causal language model of `transformers`, or a `Reader` for one text.
        vocabulary: the model's tokens.
        prompt: the token ids before the text, at least one.
        text: the text, as a continuation of the prompt.

    Raises:
        EmptyLanguage: no tokens spell the text.
        ValueError: the prompt is empty, or has a token that the model does not have.
        TypeError: the prompt is not a list of token ids.
    """
    ids = token_ids(prompt)
    if not ids:
        raise ValueError("a model has to read a token before it prefers one: the prompt is empty")
    prompt_tokens(checked_vocabulary(vocabulary), ids, model)
    reader: Reader = model if hasattr(model, "read") else CachedModel(model)
    spelling = _Spelling(tokens_by_bytes(vocabulary), text_bytes(text))
    written: list[int] = []
    log_probability, begun, at = 0.0, reader.forwards, 0
    while at < len(spelling.text):
        proposed = spelling.longest(at)
        (logits,) = reader.read([_reading([*ids, *written], proposed)])
        scores = logits.float().log_softmax(-1)
        for row, token in zip(scores, proposed, strict=True):
            choices = spelling.choices(at)
            best = choices[int(row[torch.tensor(choices, device=row.device)].argmax())]
            written.append(best)
            log_probability += float(row[best])
            at += len(vocabulary.tokens[best])
            if best != token:
                break
    return Retokenized(tuple(written), log_probability, reader.forwards - begun)


def _reading(text: list[int], proposed: list[int]) -> Reading:
    """Return the request for the logits in place of each proposed token; the tokens are a chain after the text."""
    chain = range(-1, len(proposed) - 2)
    return Reading(row=0, text=text, tokens=proposed[:-1], parents=list(chain), places=[*chain, len(proposed) - 2])


class _Spelling:
    """The tokens that can spell the rest of a text, from each place on."""

    def __init__(self, known: TokensByBytes, text: bytes) -> None:
        self.known, self.text = known, text
        # By place, filled from the end: the lengths of the tokens after which the rest can be spelled.
        self.ends: list[list[int]] = [[] for _ in text]
        can_be_spelled = [False] * len(text) + [True]
        for at in range(len(text) - 1, -1, -1):
            self.ends[at] = [length for length in self.lengths(at) if can_be_spelled[at + length]]
            can_be_spelled[at] = bool(self.ends[at])
        if not can_be_spelled[0]:
            raise EmptyLanguage(f"no tokens of the vocabulary spell {text!r}")

    def lengths(self, at: int) -> list[int]:
        """Return the lengths of the tokens that begin the rest of the text, in ascending order."""
        longest = min(self.known.longest, len(self.text) - at)
        return [length for length in range(1, longest + 1) if self.known.ids(self.text[at : at + length])]

    def choices(self, at: int) -> list[int]:
        """Return the tokens that may come next, those after which the rest can be spelled."""
        return [token for length in self.ends[at] for token in self.known.ids(self.text[at : at + length])]

    def longest(self, at: int) -> list[int]:
        """Return tokens for all of the rest, the longest at each place."""
        tokens = []
        while at < len(self.text):
            length = self.ends[at][-1]
            tokens.append(self.known.ids(self.text[at : at + length])[0])
            at += length
        return tokens
