"""The backend and the grammar of vLLM's structured outputs (`vllm.v1.structured_output.backend_types`).

    Backend      one for each engine: the vocabulary, and a cache of compiled constraints with a bound in bytes
    Grammar      one for each request: a `Matcher`
    validate     checks each request in the front end, before the engine sees it

vLLM calls `compile_grammar` in a pool of threads and passes an error on to its request. Requests with the same
constraint share one compilation and one automaton. Constraints that the front end has no time to read are read in these
threads (`serving.vllm.engine`).
"""

from __future__ import annotations

import logging
from contextlib import suppress
from threading import Lock
from typing import Any, Final, TypeAlias
from weakref import ref

import torch
from vllm.exceptions import VLLMValidationError
from vllm.sampling_params import SamplingParams
from vllm.v1.structured_output.backend_types import (
    StructuredOutputBackend,
    StructuredOutputGrammar,
    StructuredOutputOptions,
)
from vllm.v1.structured_output.request import get_structured_output_key

from automata.limits import Limits
from decoding.compiling import BackgroundCompiler
from serving.json_texts import Blanks
from serving.lru_cache import ENTRY_BYTES, LruCache
from serving.matcher import EXCEEDED, Matcher
from serving.settings import settings_from_environment
from serving.specifications import REFUSED, Kind, constraint_of, refusal
from serving.vllm.bitmask import Bitmask
from serving.vllm.engine import check_constraint, engine_vocabulary
from tokenfst.token_automaton import TokenAutomaton

_KINDS: Final[dict[StructuredOutputOptions, Kind]] = {
    StructuredOutputOptions.JSON: "json",
    StructuredOutputOptions.JSON_OBJECT: "json_object",
    StructuredOutputOptions.REGEX: "regex",
    StructuredOutputOptions.CHOICE: "choice",
    StructuredOutputOptions.GRAMMAR: "grammar",
    StructuredOutputOptions.STRUCTURAL_TAG: "structural_tag",
}
# Further options of requests; vLLM passes none of them to its backends.
_OPTIONS: Final = ("whitespace_pattern", "disable_any_whitespace", "disable_additional_properties")
logger = logging.getLogger(__name__)

_Request: TypeAlias = tuple[StructuredOutputOptions, str]


class Backend(StructuredOutputBackend):
    """Compiles the constraints of one engine."""

    def __init__(self, vllm_config: Any, tokenizer: Any, vocab_size: int) -> None:
        """Read the vocabulary of an engine's tokenizer.

        Args:
            vllm_config: the engine's settings.
            tokenizer: a fast tokenizer of `transformers`.
            vocab_size: the width of the model's logits.

        Raises:
            UnsupportedTokenizer: the tokenizer cannot be modelled exactly.
        """
        super().__init__(vllm_config, tokenizer, vocab_size)
        settings = settings_from_environment()
        self.limits: Limits = settings.limits
        self.threads = settings.threads
        self.vocabulary = engine_vocabulary(self.tokenizer, self.vllm_config.model_config, vocab_size)
        config = self.vllm_config.structured_outputs_config
        self.blanks: Blanks = "compact" if config.disable_any_whitespace else "default"
        for_automata = settings.cache_bytes * 7 // 8
        self.compiler = BackgroundCompiler(max_bytes=for_automata, threads=settings.threads, limits=settings.limits)
        # Automata that the compiler caches or a request uses, by text, so that the text need not be read again.
        self._lock = Lock()
        self._known = LruCache[_Request, ref[TokenAutomaton]](
            settings.cache_bytes - for_automata, lambda request, _: ENTRY_BYTES + len(request[1])
        )

    def compile_grammar(
        self,
        request_type: StructuredOutputOptions,
        grammar_spec: str,
        stop_token_ids: set[int] | None = None,
    ) -> Grammar:
        """Return the state of a request at its beginning.

        Raises:
            ValueError: the constraint cannot be honoured; the message says where and why.
            LimitExceeded: the compilation takes more time or memory than the settings allow.
        """
        request = (request_type, grammar_spec)
        with self._lock:
            found = self._known.get(request)
        automaton = None if found is None else found()
        if automaton is None:
            constraint = constraint_of(_KINDS[request_type], grammar_spec, blanks=self.blanks, limits=self.limits)
            # The engine reads no values, for which each request would need an automaton with its own constraint.
            automaton = self.compiler.submit(constraint, self.vocabulary).result().shared
            with self._lock:
                self._known[request] = ref(automaton)
        return Grammar(Matcher(automaton, stop_token_ids or ()))

    def allocate_token_bitmask(self, max_num_seqs: int) -> torch.Tensor:
        """Return masks that allow everything, `[max_num_seqs, W]` int32, as wide as the model's logits."""
        return Bitmask.of(max_num_seqs, -(-self.vocab_size // 32), self.threads)

    def destroy(self) -> None:
        """Stop running compilations, and drop compiled constraints."""
        self.compiler.close()


class Grammar(StructuredOutputGrammar):
    """The state of one request.

    An exception here would end the engine. So a lazy automaton that exceeds its limits refuses all further tokens: the
    request ends with an error, and other requests are not affected.
    """

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        """Continue the text with tokens; return whether they are allowed."""
        try:
            return self.matcher.accept(tokens)
        except EXCEEDED:
            logger.exception("the constraint of request %s exceeds its limits", request_id)
            return False

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        """Return the longest prefix of the tokens that is allowed; the padding of drafts is not allowed."""
        with suppress(*EXCEEDED):
            return tokens[: self.matcher.validate(tokens)]
        return []

    def rollback(self, num_tokens: int) -> None:
        """Take the last tokens back."""
        self.matcher.rollback(num_tokens)

    def fill_bitmask(self, bitmask: torch.Tensor, batch_index: int) -> None:
        """Write the mask of the next token into a row, at once or when the batch's masks are first accessed."""
        if isinstance(bitmask, Bitmask):
            bitmask.note(batch_index, self.matcher)
        else:
            self.matcher.fill(bitmask[batch_index].numpy())

    def is_terminated(self) -> bool:
        """Return False: even after the end, the mask applies, and allows the end token again.

        If this were True, vLLM would allow every token, and a request that ignores end tokens would continue without
        its constraint.
        """
        return False

    def reset(self) -> None:
        """Take all tokens back."""
        self.matcher.reset()


def validate(params: SamplingParams) -> None:
    """Refuse a request whose constraint cannot be honoured.

    Raises:
        VLLMValidationError: vLLM's answer is a 400 with the place and the reason.
    """
    asked = params.structured_outputs
    if asked is None or asked.all_constraints_none():
        return
    for option in _OPTIONS:
        if getattr(asked, option, None):
            raise VLLMValidationError(
                f"structured output: {option} is not supported in a request, since vLLM does not hand it to backends"
            )
    try:
        kind, text = get_structured_output_key(asked)
        check_constraint(_KINDS[kind], text)
    except REFUSED as error:
        raise VLLMValidationError(f"structured output: {refusal(error)}") from None
