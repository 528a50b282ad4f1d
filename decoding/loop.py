"""The short way: prompts and a constraint in, complete texts out."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import torch
from transformers import LogitsProcessorList

import tokenfst
from automata.errors import IncompleteOutput, VocabularyError
from decoding.processor import Automaton, Constrained, ConstraintLogitsProcessor
from tokenfst.compile import Constraint
from tokenfst.loaders import from_transformers
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import Vocabulary

# What a text may be asked to satisfy; None is nothing.
ConstraintLike: TypeAlias = Constraint | Constrained

# Preparing a vocabulary takes up to a second, and tokenizers live as long as the program.
_vocabularies: WeakKeyDictionary[Any, Vocabulary] = WeakKeyDictionary()


def vocabulary_of(tokenizer: Any) -> Vocabulary:
    """The vocabulary of a `transformers` tokenizer, prepared once."""
    vocabulary = _vocabularies.get(tokenizer)
    if vocabulary is None:
        vocabulary = _vocabularies[tokenizer] = from_transformers(tokenizer)
    return vocabulary


def generate(
    model: Any,
    tokenizer: Any,
    prompts: str | Sequence[str],
    constraint: ConstraintLike | Sequence[ConstraintLike],
    *,
    max_new_tokens: int = 256,
    wrap_up_after: int | None = None,
    temperature: float = 1.0,
    seed: int | None = None,
    num_beams: int = 1,
    at_text_start: bool = False,
    max_depth: int | None = None,
    **options: Any,
) -> list[str]:
    """Lets a model write, after each prompt, a text that the constraint allows.

    Args:
        model: a causal language model of `transformers`.
        tokenizer: its fast tokenizer.
        prompts: one prompt or several; an empty one begins with the tokenizer's first special token.
        constraint: anything that `tokenfst.compile` takes, a compiled automaton, or one that is being compiled
            (`BackgroundCompiler`), which is waited for when the prompts have been read. Or a list with one for each
            prompt, None where anything may be written.
        max_new_tokens: the limit for each text, the end token counted. Texts are complete whatever it is.
        wrap_up_after: after how many tokens texts are urged to end, more with every token
            (`ConstraintLogitsProcessor`); None for never.
        temperature: 0 takes the likeliest token, anything above samples.
        seed: makes sampling repeatable; the program's own random state is left alone.
        num_beams: more than one searches for the likeliest text.
        at_text_start: what the constraint is about, and what is returned. False: what is added to the prompt. True: the
            text that the new tokens are by themselves, as chat programs show an answer, and as it has to be where all
            prompts are empty. It makes a difference for tokenizers that mark words (`tokenfst.compile`), and a compiled
            automaton brings its own.
        max_depth: for grammars, how many symbols the stack may hold; `Arena` says what it is by itself.
        **options: passed on to `model.generate`, such as `num_return_sequences`, `assistant_model` or
            `cache_implementation`.

    Returns:
        One text for each prompt, without the prompt; `num_return_sequences` times as many where that is among the
        options.

    Raises:
        PatternError, EmptyLanguage, LimitExceeded: as `tokenfst.compile`.
        TooManyConfigurations: a text has more derivations side by side than the automaton carries.
        IncompleteOutput: the shortest text takes more than `max_new_tokens`; or other options stopped a text early.
        VocabularyError: the tokenizer has no end token, or the automaton is for another vocabulary.
        ValueError: `at_text_start` with an automaton that was compiled without it; a list of constraints that has
            another length than that of the prompts; or `wrap_up_after` below 0.
    """
    vocabulary = vocabulary_of(tokenizer)
    if not vocabulary.eos_ids:
        raise VocabularyError("the tokenizer names no end-of-sequence token, so no text could end")
    prompts = [prompts] if isinstance(prompts, str) else list(prompts)
    constrained = _constrained(constraint, len(prompts), vocabulary, at_text_start)
    encoded = encode(tokenizer, prompts, model.device)
    processor = ConstraintLogitsProcessor(
        constrained, max_new_tokens=max_new_tokens, wrap_up_after=wrap_up_after, max_depth=max_depth
    )
    sampling = {"do_sample": True, "temperature": temperature} if temperature > 0 else {"do_sample": False}
    with torch.no_grad(), _seeded(seed):
        written = model.generate(
            **encoded,
            logits_processor=LogitsProcessorList([processor]),
            max_new_tokens=max_new_tokens,
            num_beams=num_beams,
            eos_token_id=list(vocabulary.eos_ids),
            pad_token_id=_pad_id(tokenizer, vocabulary),
            **sampling,
            **options,
        )
    rows = written[:, encoded["input_ids"].shape[1] :].tolist()
    automata = processor.automata()
    texts = []
    for at, row in enumerate(rows):
        automaton = automata[at * len(automata) // len(rows)]
        texts.append(_text(row, automaton, vocabulary, at_text_start))
    return texts


def _constrained(
    constraint: ConstraintLike | Sequence[ConstraintLike], count: int, vocabulary: Vocabulary, at_text_start: bool
) -> list[Constrained]:
    """The automata, one for all prompts or one for each; equal constraints are compiled once."""
    # A pattern is a sequence too.
    if isinstance(constraint, str) or not isinstance(constraint, Sequence):
        return [automaton_of(constraint, vocabulary, at_text_start)]
    if len(constraint) != count:
        raise ValueError(f"there are {len(constraint)} constraints for {count} prompts")
    known: dict[int, Constrained] = {}
    for one in constraint:
        if id(one) not in known:
            known[id(one)] = automaton_of(one, vocabulary, at_text_start)
    return [known[id(one)] for one in constraint]


def automaton_of(constraint: ConstraintLike, vocabulary: Vocabulary, at_text_start: bool) -> Constrained:
    """The automaton that is meant, None for none.

    Raises:
        PatternError, EmptyLanguage, LimitExceeded: as `tokenfst.compile`.
        VocabularyError: the automaton is for another vocabulary.
        ValueError: `at_text_start` with an automaton that was compiled without it.
    """
    if constraint is None or isinstance(constraint, Future):
        return constraint
    if not isinstance(constraint, TokenAutomaton):
        return tokenfst.compile(constraint, vocabulary, at_text_start=at_text_start)
    if constraint.vocabulary.digest != vocabulary.digest:
        raise VocabularyError("the automaton was made for another vocabulary than the tokenizer's")
    if at_text_start and not constraint.at_text_start:
        raise ValueError("the automaton continues a text: compile it with at_text_start")
    return constraint


def _pad_id(tokenizer: Any, vocabulary: Vocabulary) -> int:
    return int(tokenizer.pad_token_id) if tokenizer.pad_token_id is not None else vocabulary.eos_ids[0]


def encode(tokenizer: Any, prompts: list[str], device: torch.device) -> dict[str, torch.Tensor]:
    """Token ids and attention mask, `[B, T]` each, padded on the left."""
    rows = [tokenizer(prompt)["input_ids"] for prompt in prompts]
    first = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    rows = [row or [first] for row in rows]
    longest = max(map(len, rows))
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    ids = [[pad] * (longest - len(row)) + row for row in rows]
    mask = [[0] * (longest - len(row)) + [1] * len(row) for row in rows]
    return {
        "input_ids": torch.tensor(ids, device=device),
        "attention_mask": torch.tensor(mask, device=device),
    }


def _text(row: list[int], automaton: Automaton | None, vocabulary: Vocabulary, at_text_start: bool) -> str:
    ends = [place for place, token in enumerate(row) if token in vocabulary.eos_ids]
    tokens = row[: ends[0]] if ends else row
    if automaton is None:
        # Free text may be cut off anywhere.
        return vocabulary.detokenize(tokens, at_text_start=at_text_start).decode(errors="replace")
    if not automaton.accepts(tokens):
        raise IncompleteOutput(f"the text stopped before it was complete: {automaton.text(tokens)!r}")
    return automaton.text(tokens).decode()


@contextlib.contextmanager
def _seeded(seed: int | None) -> Iterator[None]:
    if seed is None:
        yield
        return
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
