"""The prefix function that `generate` of transformers calls to find which tokens may come next.

As in lm-format-enforcer, sequences are identified by their tokens: a sequence whose prefix is not known is a prompt. So
beams and batches need no special treatment. The table grows while texts are written, so make a new function for
each call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import tokenfst
from automata.errors import NotOffered
from decoding.inputs.vocabularies import vocabulary_of
from in_place_of.lmformatenforcer.parsers import CharacterLevelParser
from in_place_of.vocabularies import adjusted
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import Vocabulary


@dataclass(frozen=True)
class TokenEnforcerTokenizerData:
    """The tokens of a model, for several functions."""

    vocabulary: Vocabulary


def build_token_enforcer_tokenizer_data(
    tokenizer: Any, use_bitmask: bool = False, vocab_size: int | None = None
) -> TokenEnforcerTokenizerData:
    """Return the tokens of a fast tokenizer of transformers.

    Args:
        tokenizer: the tokenizer.
        use_bitmask: must be False.
        vocab_size: the width of the model's logits; None for the number of tokens.

    Raises:
        NotOffered: `use_bitmask` is true.
        UnsupportedTokenizer: the tokenizer's decoder cannot be modelled exactly.
    """
    if use_bitmask:
        raise NotOffered("use_bitmask", "tokenfst.TokenAutomaton.fill_bitmask writes packed masks")
    return TokenEnforcerTokenizerData(adjusted(vocabulary_of(tokenizer), vocab_size))


class TransformersPrefixAllowedTokensFn:
    """Returns the tokens that may follow a sequence; made by `build_transformers_prefix_allowed_tokens_fn`.

    Attributes:
        automaton: the constraint.
    """

    def __init__(self, automaton: TokenAutomaton) -> None:
        self.automaton = automaton
        self._states: dict[tuple[int, ...], Any] = {}

    def __call__(self, batch_id: int, sent: Any) -> list[int]:
        """Return the ids of the tokens that may come next.

        After a token that is not allowed, such as the padding after a finished text, only end tokens are allowed.

        Args:
            batch_id: has no effect.
            sent: the prompt and the written tokens, `[T]` int64, or a list.

        Raises:
            LimitExceeded, TooManyConfigurations: as for `TokenAutomaton.advance`.
        """
        tokens = tuple(sent.tolist() if hasattr(sent, "tolist") else sent)
        if tokens not in self._states:
            before = tokens[:-1]
            is_prompt = not tokens or before not in self._states
            self._states[tokens] = self.automaton.start if is_prompt else self._after(self._states[before], tokens[-1])
        state = self._states[tokens]
        if state is None:
            return list(self.automaton.vocabulary.eos_ids)
        return [int(token) for token in np.flatnonzero(self.automaton.mask(state))]

    def _after(self, state: Any, token: int) -> Any:
        return None if state is None else self.automaton.step(state, token)


def build_transformers_prefix_allowed_tokens_fn(
    tokenizer_data: Any, character_level_parser: CharacterLevelParser
) -> TransformersPrefixAllowedTokensFn:
    """Return a function for the argument `prefix_allowed_tokens_fn` of `model.generate`.

    Args:
        tokenizer_data: a fast tokenizer of transformers, or the result of `build_token_enforcer_tokenizer_data` for it.
        character_level_parser: the constraint on texts.

    Raises:
        EmptyLanguage, LimitExceeded: as for `tokenfst.compile`.
    """
    is_made = isinstance(tokenizer_data, TokenEnforcerTokenizerData)
    data = tokenizer_data if is_made else build_token_enforcer_tokenizer_data(tokenizer_data)
    return TransformersPrefixAllowedTokensFn(tokenfst.compile(character_level_parser.constraint, data.vocabulary))


def generate_enforced(model: Any, tokenizer: Any, character_level_parser: CharacterLevelParser, **kwargs: Any) -> Any:
    """Call `model.generate` with the prefix function; further arguments are passed on to it.

    Raises:
        NotOffered: a report of scores is requested.
    """
    if kwargs.get("output_scores") and kwargs.get("return_dict_in_generate"):
        raise NotOffered("a report with output_scores", "decoding.Difficulty says what a constraint takes away")
    function = build_transformers_prefix_allowed_tokens_fn(tokenizer, character_level_parser)
    return model.generate(**kwargs, prefix_allowed_tokens_fn=function)
