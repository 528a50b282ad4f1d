"""The backend of SGLang's constrained decoding (`sglang.srt.constrained.base_grammar_backend`).

    create      SGLang calls it to make the backend
    Backend     one for each scheduler: the vocabulary, the compiler, and the cache

The backend reads constraints in threads of its own. SGLang polls the returned future at each step, and cancels it when
the request is aborted; then the compilation stops (`serving.stoppable`). SGLang stores compiled constraints by their
text in a dict of the backend, which is replaced by a bounded one (`serving.lru_cache`). It stores them only at its next
step, but the compiler caches automata by content, so concurrent requests share one. Each of the two caches may take
half of the memory that the settings allow.

Each rank of a distributed model has a scheduler, and compiles for itself. The ranks agree on when a constraint is
ready, but each uses its own result, and if one rank refuses a request that another serves, the model hangs. So with
several ranks, no result may depend on a clock: compilations have no deadline of their own. They stop when SGLang gives
up a request, which it decides by counting steps, the same on all ranks. Limits on memory and states still apply; they
depend on what is built, which is the same on every rank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import torch
from sglang.srt.constrained.base_grammar_backend import (
    BaseGrammarBackend,
    BaseGrammarObject,
    GrammarStats,
    InvalidGrammarObject,
    register_vocab_mask_buffer,
)
from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend
from sglang.srt.parser.reasoning_parser import ReasoningParser
from sglang.srt.runtime_context import get_parallel, get_serving

from automata.errors import Cancelled, LimitExceeded
from decoding.compiling import BackgroundCompiler
from serving.json_texts import Blanks, blanks_like, blanks_up_to
from serving.lru_cache import ENTRY_BYTES, LruCache
from serving.matcher import Matcher
from serving.packed_masks import all_allowed
from serving.settings import Settings, settings_from_environment
from serving.sglang.grammar import Grammar
from serving.specifications import REFUSED, Kind, constraint_of, framed, refusal
from serving.stoppable import StoppableThreads, result_of
from tokenfst.loaders import from_transformers
from tokenfst.packed_words import set_tokens
from tokenfst.vocabulary import NotBPE, Vocabulary

# SGLang's name for any JSON.
_ANY_JSON: Final = "$$ANY$$"
# A deadline in seconds that is too far away to matter.
_NO_DEADLINE: Final = 1e6
# The bytes that the text of a constraint and the constraint that is read from it take, for each character.
_TEXT_BYTES: Final = 8
# The number of calls that may wait for compilations at a time; each takes a thread, but no processor time.
_WAITING: Final = 256


class _OutOfTime(InvalidGrammarObject):
    """A refusal because the time was up; not cached, because the next attempt may succeed."""


class Backend(BaseGrammarBackend):
    """Compiles the constraints of one scheduler.

    Attributes:
        vocabulary: the tokens.
        vocab_size: the width of the model's logits.
        blanks: the whitespace allowed in JSON.
        compiler: the threads that compile.
    """

    def __init__(self, vocabulary: Vocabulary, vocab_size: int, blanks: Blanks, settings: Settings) -> None:
        """Make a backend; `settings.seconds` is the deadline of a compilation."""
        super().__init__()
        self.vocabulary, self.vocab_size, self.blanks = vocabulary, vocab_size, blanks
        self.limits, self.threads = settings.limits, settings.threads
        self._framing: Vocabulary | None = None
        each = settings.cache_bytes // 2
        self.compiler = BackgroundCompiler(max_bytes=each, threads=settings.threads, limits=self.limits)
        self.executor = StoppableThreads(_WAITING, self.limits)
        self.cache = LruCache(each, _size)

    def dispatch_json(self, key_string: str) -> BaseGrammarObject:
        """Return the grammar of a JSON Schema, or its error."""
        return self._grammar("json", "{}" if key_string == _ANY_JSON else key_string)

    def dispatch_regex(self, key_string: str) -> BaseGrammarObject:
        """Return the grammar of a pattern, or its error."""
        return self._grammar("regex", key_string)

    def dispatch_ebnf(self, key_string: str) -> BaseGrammarObject:
        """Return the grammar of rules, or their error."""
        return self._grammar("grammar", key_string)

    def dispatch_structural_tag(self, key_string: str) -> BaseGrammarObject:
        """Return the grammar of a structural tag, or its error."""
        return self._grammar("structural_tag", key_string)

    def _grammar(self, kind: Kind, text: str) -> BaseGrammarObject:
        return self._compiled(
            kind, lambda: constraint_of(kind, text, blanks=self.blanks, limits=self.limits), self.vocabulary
        )

    def _compiled(self, kind: Kind, read: Callable[[], Any], vocabulary: Vocabulary) -> BaseGrammarObject:
        try:
            constraint = read()
            # The engine reads no values, for which each request would need an automaton with its own constraint.
            automaton = result_of(self.compiler.submit(constraint, vocabulary)).shared
        except Cancelled:
            raise
        except LimitExceeded as error:
            return (_OutOfTime if error.limit == "seconds" else InvalidGrammarObject)(str(error))
        except REFUSED as error:
            return InvalidGrammarObject(refusal(error))
        return Grammar(Matcher(automaton), self.threads, GrammarStats(dispatch_type=kind), constraint)

    def reset(self) -> None:
        """Drop all compiled constraints."""
        self.cache.clear()
        self.compiler.clear()

    # Masks without a grammar

    def initialize_vocab_mask_buffer(self, name: str, vocab_size: int, max_rows: int, device: Any) -> torch.Tensor:
        """Return masks that allow everything, `[max_rows, W]` int32, which SGLang keeps under a name."""
        masks: torch.Tensor = register_vocab_mask_buffer(
            name, self.allocate_vocab_mask(vocab_size, max_rows, device), max_rows
        )
        return masks

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> torch.Tensor:
        """Return masks that allow everything, `[batch_size, W]` int32, on the host."""
        return all_allowed(batch_size, max(vocab_size, len(self.vocabulary)))

    move_vocab_mask = staticmethod(Grammar.move_vocab_mask)
    apply_vocab_mask = staticmethod(Grammar.apply_vocab_mask)

    @property
    def is_support_token_filter(self) -> bool:
        """Whether `set_token_filter` has an effect: always True."""
        return True

    @staticmethod
    def set_token_filter(
        vocab_mask: torch.Tensor,
        token_ids: Iterable[int],
        batch_idx: int,
        is_allowed: bool = True,
        reset_vocab_mask: bool = True,
    ) -> None:
        """Allow or mask the tokens that fit into a row; with a reset, set all others to the opposite."""
        token_ids = [token for token in token_ids if 0 <= token < 32 * vocab_mask.shape[1]]
        if reset_vocab_mask:
            vocab_mask[batch_idx].fill_(0 if is_allowed else -1)
        set_tokens(vocab_mask[batch_idx].numpy(), token_ids, allowed=is_allowed)

    # Frames of messages

    def reserve_framing_tokens(self, token_ids: Sequence[int]) -> None:
        """Reserve tokens for frames, in which they write no text and match only themselves."""
        known = self.vocabulary
        silent = set(token_ids)
        self._framing = Vocabulary(
            [b"" if token in silent else text for token, text in enumerate(known.tokens)],
            known.eos_ids,
            special_tokens=known.special_tokens,
            bpe=NotBPE("its tokens are those of frames"),
            text_start=known.text_start,
            detokenizer=known.detokenizer,
        )

    def compile_framed_grammar(
        self, grammar: BaseGrammarObject, frame: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> BaseGrammarObject | None:
        """Return the grammar of a constraint in a frame; None for a copy, whose constraint is no longer known."""
        if not isinstance(grammar, Grammar) or grammar.constraint is None:
            return None
        content, tag = grammar.constraint, frame({"type": "content"})
        return self._compiled("structural_tag", lambda: framed(tag, content), self._framing or self.vocabulary)


def create(server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: Iterable[int] | None) -> Any:
    """Return the backend of a scheduler, wrapped in SGLang's own for models that reason first.

    Args:
        server_args: SGLang's arguments.
        tokenizer: a fast tokenizer of `transformers`.
        vocab_size: the width of the model's logits.
        eos_token_ids: the end tokens in the model's settings.

    Raises:
        UnsupportedTokenizer: the tokenizer cannot be modelled exactly.
        ValueError: the arguments ask for whitespace in JSON that is not supported.
    """
    settings, parallel = settings_from_environment(), get_parallel()
    if parallel.tp_size * parallel.pp_size > 1:
        settings = replace(settings, seconds=_NO_DEADLINE)
    vocabulary = _vocabulary(tokenizer, eos_token_ids).truncated(vocab_size)
    backend = Backend(vocabulary, vocab_size, _blanks(get_serving()), settings)
    name = get_serving().reasoning_parser
    parser = ReasoningParser(model_type=name, stream_reasoning=False, tokenizer=tokenizer) if name else None
    if parser is None or not parser.detector.get_think_end_token_ids(tokenizer):
        return backend
    strict = get_serving().enable_strict_thinking
    reasoner = ReasonerGrammarBackend(backend, parser, tokenizer, enable_strict_thinking=strict)
    # Its own threads and dict have no deadlines and no bounds.
    reasoner.executor, reasoner.cache = backend.executor, backend.cache
    return reasoner


def _vocabulary(tokenizer: Any, eos_token_ids: Iterable[int] | None) -> Vocabulary:
    """Return the vocabulary, with every end token that SGLang stops at."""
    ends = {*(eos_token_ids or ()), *(getattr(tokenizer, "additional_stop_token_ids", None) or ())}
    return from_transformers(tokenizer, eos_ids=sorted(ends | {tokenizer.eos_token_id} - {None}))


def _blanks(serving: Any) -> Blanks:
    """Return the whitespace that SGLang's arguments allow in JSON.

    Raises:
        ValueError: two arguments exclude each other, or a pattern matches text that is not whitespace.
    """
    ways: dict[str, Callable[[Any], Blanks]] = {
        "constrained_json_whitespace_pattern": blanks_like,
        "constrained_json_disable_any_whitespace": lambda _: "compact",
        "constrained_json_max_whitespace_cnt": blanks_up_to,
    }
    asked = {name: value for name in ways if (value := getattr(serving, name)) is not None and value is not False}
    if len(asked) > 1:
        names = " and ".join(f"--{name.replace('_', '-')}" for name in asked)
        raise ValueError(f"{names} exclude each other")
    for name, value in asked.items():
        return ways[name](value)
    return "default"


def _size(key: tuple[str, str], value: Any) -> int | None:
    """Return the memory of an entry of the cache in bytes, or None if it should not be cached."""
    if isinstance(value, _OutOfTime):
        return None
    grammar = getattr(value, "grammar", value)
    automaton = grammar.matcher.automaton.nbytes if isinstance(grammar, Grammar) else 0
    return ENTRY_BYTES + _TEXT_BYTES * len(key[1]) + len(getattr(value, "error_message", "")) + int(automaton)
