"""A logits processor for llama-cpp-python, and the vocabulary of a model in its GGUF file.

    LlamaProcessor      constrains one call of `Llama.create_completion`, `create_chat_completion` or `generate`
    llama_vocabulary    the tokens of a `llama_cpp.Llama`

    processor = LlamaProcessor(constraint, llama, max_tokens=100)
    llama.create_completion(prompt, max_tokens=100, logits_processor=LogitsProcessorList([processor]))
    processor.check()

llama-cpp-python calls its processors from C, where exceptions are printed and lost, and the logits stay unmasked. So
any error ends the text: only end tokens are allowed from then on, the error is logged, and `check` raises it. If a call
has a `logit_bias`, llama-cpp-python does not call any processors; `check` reports this too.

With a draft model, the tokens passed to a processor end with drafts that come later. Each call is for exactly one more
token, so calls are counted. Without a draft model, the tokens are those written so far, even in custom loops
(`Llama.eval`, `Llama.sample`) that take tokens back.

The bytes of a token are the result of `Llama.detokenize` for this token alone, because the text of a completion is
assembled in this way. This holds for every kind of tokenizer that a GGUF file may have. The exception is a completion
of the empty prompt, which lacks a space at its beginning.

Rejected: a `LlamaGrammar` instead of a processor (llama.cpp's grammars are another language, and follow characters).
"""

from __future__ import annotations

from typing import Any, ClassVar, Final
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from llama_cpp import (
    LLAMA_TOKEN_ATTR_CONTROL,
    Llama,
    llama_model_get_vocab,
    llama_vocab_get_attr,
    llama_vocab_get_text,
    llama_vocab_is_eog,
)
from llama_cpp.llama_tokenizer import LlamaTokenizer

from automata.arrays import IntArray
from automata.errors import UnsupportedTokenizer
from automata.limits import DEFAULT_LIMITS, Limits
from decoding.inputs.constraints import ConstraintLike
from serving.sequences import SequenceProcessor
from tokenfst.vocabulary import Vocabulary

# The tokens of a model, and its end tokens, are read once, and kept as long as the model.
_vocabularies: Final[WeakKeyDictionary[Any, Vocabulary]] = WeakKeyDictionary()
_ends: Final[WeakKeyDictionary[Any, tuple[int, ...]]] = WeakKeyDictionary()


class LlamaProcessor(SequenceProcessor):
    """Constrains one text of a `llama_cpp.Llama`; make one for each call, and call `check` afterwards.

    A text ends within the context of the model, even if `max_tokens` is None.
    """

    _ending: ClassVar[tuple[type[Exception], ...]] = (Exception,)

    def __init__(
        self,
        constraint: ConstraintLike,
        llama: Llama,
        *,
        vocabulary: Vocabulary | None = None,
        max_tokens: int | None = None,
        at_text_start: bool = False,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """Compile the constraint, if it is not compiled yet.

        Args:
            constraint: what the text must match: anything that `tokenfst.compile` takes, an automaton over the tokens
                of the model, or a future of one.
            llama: the model.
            vocabulary: the model's tokens; by default `llama_vocabulary(llama)`.
            max_tokens: the `max_tokens` of the call; None if the call has none.
            at_text_start, limits: as for `tokenfst.compile`.

        Raises:
            UnsupportedTokenizer: the model has a tokenizer in Python, so `vocabulary` must be given.
            IncompleteOutput, VocabularyError, PatternError, EmptyLanguage, LimitExceeded: as for `SequenceProcessor`.
        """
        own = llama_vocabulary(llama) if vocabulary is None else vocabulary
        stops = () if vocabulary is None else _end_ids(llama)
        options: dict[str, Any] = {"max_tokens": max_tokens, "at_text_start": at_text_start, "limits": limits}
        super().__init__(constraint, own, stops=stops, **options)
        self._llama = llama
        self._length: int | None = None

    def __call__(self, input_ids: IntArray, scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Mask the logits of the next token in place.

        Args:
            input_ids: `[n]`, the prompt, the written tokens, and drafts.
            scores: `[V]`, the logits.

        Returns:
            `scores`.
        """
        scores += self.biases(input_ids, len(scores))
        return scores

    def _read(self, tokens: IntArray) -> IntArray:
        """Return the tokens without the drafts after them."""
        if self._length is None:
            self._length = len(tokens)
            # llama.cpp rounds its context up, but the array of the tokens that processors get may be shorter.
            room = min(self._llama.n_ctx(), len(self._llama.input_ids)) - len(tokens)
            self.max_tokens = room if self.max_tokens is None else min(room, self.max_tokens)
        elif self._llama.draft_model is not None:
            self._length += 1
            if self._length > len(tokens):
                raise ValueError("these tokens are not longer than before: a processor is made for one call")
            return tokens[: self._length]
        return tokens


def llama_vocabulary(llama: Llama) -> Vocabulary:
    """Return the tokens of a model, from its GGUF file. They are read once, and kept as long as the model exists.

    Tokens for which `Llama.detokenize` returns nothing are never written. All tokens at which llama.cpp ends a text are
    end tokens.

    Raises:
        UnsupportedTokenizer: the model has a tokenizer in Python, such as `LlamaHFTokenizer`.
    """
    found = _vocabularies.get(llama)
    if found is None:
        if type(llama.tokenizer_) is not LlamaTokenizer:
            name = type(llama.tokenizer_).__name__
            raise UnsupportedTokenizer(f"the model has a tokenizer in Python, {name}: give the vocabulary of that one")
        texts = [llama.detokenize([token]) for token in range(llama.n_vocab())]
        found = _vocabularies[llama] = Vocabulary(texts, _end_ids(llama), special_tokens=_special_tokens(llama))
    return found


def _end_ids(llama: Llama) -> tuple[int, ...]:
    """Return the tokens at which llama.cpp ends a text."""
    found = _ends.get(llama)
    if found is None:
        tokens = llama_model_get_vocab(llama.model)
        found = _ends[llama] = tuple(token for token in range(llama.n_vocab()) if llama_vocab_is_eog(tokens, token))
    return found


def _special_tokens(llama: Llama) -> dict[str, int]:
    """Return the ids of llama.cpp's control tokens, keyed by name."""
    tokens, ids = llama_model_get_vocab(llama.model), range(llama.n_vocab())
    control = [token for token in ids if llama_vocab_get_attr(tokens, token) & LLAMA_TOKEN_ATTR_CONTROL]
    return {llama_vocab_get_text(tokens, token).decode(errors="replace"): token for token in control}
