"""Programs that a bundled grammar of a whole language writes: random walks over its automaton, with a vocabulary of
parts of programs and, after them, all other single bytes; and what models write.

    Walks           the automaton, and what it writes
    by_models       what the bundled model writes within a budget of tokens, and one with random weights
    refused_at      where the tokens of a text are refused
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from random import Random
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM

import tokenfst
from automata import compile_grammar
from automata.pushdown.automaton import PushdownAutomaton
from constraints.grammars.bundled import bundled
from decoding import bundled_model, generate
from tokenfst import TokenAutomaton, Vocabulary


class Walks:
    """Random walks over the automaton of a bundled grammar."""

    def __init__(self, name: str, closing: Sequence[str], parts: Sequence[str]) -> None:
        """Name the grammar and the parts of its programs; `closing` are those that end a program soon, in the order in
        which they are tried."""
        self.name, self.num_closing = name, len(closing)
        self.parts = list(dict.fromkeys([*closing, *parts]))

    @cached_property
    def automaton(self) -> PushdownAutomaton:
        """The automaton over bytes."""
        return compile_grammar(bundled(self.name))

    @cached_property
    def over_parts(self) -> TokenAutomaton:
        """The automaton over parts of programs, and after them all other single bytes."""
        parts = [part.encode() for part in self.parts]
        single = [bytes([byte]) for byte in range(256) if bytes([byte]) not in parts]
        vocabulary = Vocabulary([*parts, *single, b""], eos_ids=[len(parts) + len(single)])
        return tokenfst.compile(self.automaton, vocabulary)

    def program(self, random: Random, length: int) -> bytes | None:
        """A random program: any parts up to some number of them, and then those that end it; None if they do not."""
        over = self.over_parts
        end, state = over.vocabulary.eos_ids[0], over.start
        written: list[int] = []
        for place in range(3 * length + 20):
            if place >= length and over.is_final(state):
                return over.text(written)
            allowed = over.mask(state).nonzero()[0].tolist()
            if allowed == [end]:
                return over.text(written)
            parts = [token for token in allowed if token < len(self.parts)]
            parts = parts or [token for token in allowed if token != end]
            is_closing = place >= length and allowed[0] < self.num_closing
            written.append(allowed[0] if is_closing else random.choice(parts))
            state = over.advance(state, written[-1])
        return None

    def programs(self, random: Random, count: int, length: int) -> Iterator[bytes]:
        """Random programs of up to `length` parts before they end."""
        while count:
            found = self.program(random, random.randint(1, length))
            if found is not None:
                yield found
                count -= 1


def adversary(width: int) -> Any:
    """A model with random weights: whatever it writes, it writes against its will."""
    torch.manual_seed(width)
    sizes: Any = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=width, max_position_embeddings=256, **sizes)).eval()


def by_models(walks: Walks, count: int, seed: int) -> Iterator[bytes]:
    """Programs that models write, half by the bundled one and half by an adversary, each of 80 tokens at most."""
    model, tokenizer = bundled_model()
    over = tokenfst.compile(walks.automaton, tokenfst.from_transformers(tokenizer))
    for place, writer in enumerate((model, adversary(len(over.vocabulary)))):
        left = count // 2 if place else count - count // 2
        while left:
            prompts = ["A program: "] * min(left, 50)
            for text in generate(writer, tokenizer, prompts, over, max_new_tokens=80, seed=seed + left):
                yield text.encode()
            left -= len(prompts)


def refused_at(over: TokenAutomaton, ids: Sequence[int]) -> int | None:
    """Return the place of the token that is not allowed, len(ids) if the text may not end there, None if it may."""
    state = over.start
    for place, token in enumerate(ids):
        following = over.step(state, token)
        if following is None:
            return place
        state = following
    return None if over.is_final(state) else len(ids)
