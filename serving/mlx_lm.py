"""A logits processor for MLX-LM.

    MLXProcessor    constrains one text of `generate`, `stream_generate`, `generate_step` or a `BatchGenerator`

    processor = MLXProcessor(constraint, tokenizer, max_tokens=100)
    generate(model, tokenizer, prompt, max_tokens=100, logits_processors=[processor])

Each sequence has its own processor: `BatchGenerator` takes a list of lists. The tokens of the first call are the
prompt, or the part of it that is not in a prompt cache; in speculative generation, the last token of the prompt. A
prompt that consists only of embeddings is not supported, because MLX-LM calls no processor for the first token after
it.

MLX-LM computes a token while it returns the previous one. A processor reads the tokens so far, and so waits for them.

MLX-LM leaves out a space at the beginning of the text that it shows, although the tokens have it.
"""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np
from mlx_lm.tokenizer_utils import TokenizerWrapper

from automata.limits import DEFAULT_LIMITS, Limits
from decoding.inputs.constraints import ConstraintLike
from decoding.inputs.vocabularies import vocabulary_of
from serving.sequences import SequenceProcessor


class MLXProcessor(SequenceProcessor):
    """Constrains one sequence; make one for each text."""

    def __init__(
        self,
        constraint: ConstraintLike,
        tokenizer: Any,
        *,
        max_tokens: int | None = None,
        at_text_start: bool = False,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """Compile the constraint, if it is not compiled yet.

        Args:
            constraint: what the text must match: anything that `tokenfst.compile` takes, an automaton, or a future of
                one, for which the first call waits.
            tokenizer: the tokenizer that `mlx_lm.load` returns, or the model's fast tokenizer, or its `Vocabulary`.
            max_tokens: the `max_tokens` of the call; None if it has none.
            at_text_start, limits: as for `tokenfst.compile`.

        Raises:
            UnsupportedTokenizer: the tokenizer cannot be modelled exactly.
            IncompleteOutput, VocabularyError, PatternError, EmptyLanguage, LimitExceeded: as for `SequenceProcessor`.
        """
        stops = tokenizer.eos_token_ids if isinstance(tokenizer, TokenizerWrapper) else ()
        plain = tokenizer._tokenizer if isinstance(tokenizer, TokenizerWrapper) else tokenizer
        options: dict[str, Any] = {"max_tokens": max_tokens, "at_text_start": at_text_start, "limits": limits}
        super().__init__(constraint, vocabulary_of(plain), stops=stops, **options)

    def __call__(self, tokens: mx.array, logits: mx.array) -> mx.array:
        """Return the masked logits of the next token.

        Args:
            tokens: `[n]`, the prompt and the written tokens.
            logits: `[1, V]`, of any floating type.

        Raises:
            ValueError: there is more than one sequence; or as for `biases`.
            TokenNotAllowed, VocabularyError: as for `biases`.
        """
        if logits.shape[0] != 1:
            raise ValueError(f"a processor is for one sequence, not {logits.shape[0]}: give each its own")
        biases = self.biases(np.array(tokens), logits.shape[-1])
        return logits + mx.array(biases).astype(logits.dtype)[None]
