"""The grammar of one request to SGLang (`sglang.srt.constrained.base_grammar_backend`).

A row of masks without any allowed token belongs to an automaton that exceeds its limits. Draft tokens are refused then,
any token may be written (`serving.packed_masks`), and `accept_token` refuses it, which ends only this request.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from sglang.srt.constrained.base_grammar_backend import BaseGrammarObject, GrammarRow, GrammarStats

from automata.texts import common_prefix_length
from serving.matcher import EXCEEDED, Matcher, fill_masks
from serving.packed_masks import all_allowed, apply_

logger = logging.getLogger(__name__)


class Grammar(BaseGrammarObject):
    """The state of one request.

    Attributes:
        matcher: the state of the request.
        threads: the maximum number of threads that fill the masks of a batch.
        constraint: the constraint, for a frame around it; the copies in the cache do not have it.
    """

    def __init__(self, matcher: Matcher, threads: int, stats: GrammarStats, constraint: Any = None) -> None:
        super().__init__()
        self.matcher = matcher
        self.threads = threads
        self.grammar_stats = stats
        self.constraint = constraint

    def accept_token(self, token: int) -> None:
        """Continue the text with a token; tokens after the end are ignored.

        Raises:
            ValueError: the token is not allowed; SGLang ends the request with an error.
        """
        if self.matcher.has_ended:
            return
        if not _accepted(self.matcher, [token]):
            raise ValueError(f"token {token} may not come after the {self.matcher.num_tokens} tokens before it")
        self.current_token = token

    def rollback(self, k: int) -> None:
        """Take the last tokens back."""
        self.matcher.rollback(k)

    def is_terminated(self) -> bool:
        """Return whether an end token was accepted."""
        return self.matcher.has_ended

    def copy(self) -> Grammar:
        """Return an independent copy with the same state."""
        stats = replace(self.grammar_stats, is_cache_hit=True, tree_traversal_time=[])
        other = Grammar(self.matcher.copy(), self.threads, stats)
        other.current_token, other.finished = self.current_token, self.finished
        return other

    # Masks

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> torch.Tensor:
        """Return masks that allow everything, `[batch_size, W]` int32, on the host."""
        return all_allowed(batch_size, max(vocab_size, len(self.matcher.automaton.vocabulary)))

    def fill_vocab_mask(self, vocab_mask: torch.Tensor, idx: int) -> None:
        """Write the mask of the next token into a row."""
        self.fill_vocab_mask_batched([GrammarRow(idx, self)], vocab_mask)

    @staticmethod
    def fill_vocab_mask_batched(entries: Sequence[GrammarRow], vocab_mask: torch.Tensor) -> None:
        """Write the masks of some rows; those of this class in one call without Python's global interpreter lock."""
        ours = {entry.row: entry.grammar for entry in entries if isinstance(entry.grammar, Grammar)}
        for entry in entries:
            if entry.row not in ours:
                entry.grammar.fill_vocab_mask(vocab_mask, entry.row)
        most = max((grammar.threads for grammar in ours.values()), default=1)
        positions = {row: grammar.matcher.position for row, grammar in ours.items()}
        exceeded = fill_masks(positions, vocab_mask.numpy(), most)
        if exceeded:
            logger.warning("the automata of %d requests exceed their limits, which ends them", len(exceeded))
            vocab_mask[exceeded] = 0

    @staticmethod
    def reset_vocab_mask(vocab_mask: torch.Tensor) -> None:
        """Set masks to allow everything."""
        vocab_mask.fill_(-1)

    @staticmethod
    def move_vocab_mask(vocab_mask: torch.Tensor, device: Any) -> torch.Tensor:
        """Return masks on a device."""
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: torch.Tensor, vocab_mask: torch.Tensor) -> None:
        """Set the logits of masked tokens to minus infinity (`serving.packed_masks`).

        Args:
            logits: `[B, V]`.
            vocab_mask: `[B, W]` int32, on the same device.
        """
        apply_(logits, vocab_mask)

    # Forced text

    def try_jump_forward(self, tokenizer: Any) -> tuple[list[int], str] | None:
        """Return an empty list of tokens and the text that must come next; None if there is no such text."""
        try:
            text = self.matcher.forced_text()
        except EXCEEDED:
            return None
        return ([], text) if text else None

    def jump_forward_str_state(self, helper: tuple[list[int], str]) -> tuple[str, int]:
        """Return the text of `try_jump_forward`, and an unused state."""
        return helper[1], -1

    def jump_and_retokenize(self, old_output_ids: list[int], new_output_ids: list[int], next_state: int) -> None:
        """Replace all accepted tokens with others.

        Raises:
            ValueError: the tokens are not allowed; nothing has changed.
        """
        same = common_prefix_length(old_output_ids, new_output_ids)
        matcher = self.matcher.copy()
        matcher.rollback(len(old_output_ids) - same)
        if not _accepted(matcher, new_output_ids[same:]):
            raise ValueError(f"the tokens {new_output_ids} may not be written in the place of {old_output_ids}")
        self.matcher = matcher

    def __repr__(self) -> str:
        return f"Grammar({self.grammar_stats.dispatch_type}, {self.matcher.num_tokens} tokens)"


def _accepted(matcher: Matcher, tokens: Sequence[int]) -> bool:
    """Continue a text with tokens; return False, and change nothing, if they are not allowed.

    Raises:
        ValueError: the automaton exceeds its limits.
    """
    try:
        return matcher.accept(tokens)
    except EXCEEDED as error:
        raise ValueError(f"the constraint exceeds its limits: {error}") from None
