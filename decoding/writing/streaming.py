"""Streaming: a text as it is written, with its value so far.

    TextSoFar    tokens -> text, in whole characters
    Pieces       tokens -> pieces: new text and, for JSON, the value so far
    Stream       a model, a prompt and a constraint -> an iterator of pieces
    stream(...)  makes a stream

`Pieces` is for custom loops: it takes tokens as they are written, and needs no model.

A stream writes tokens when the next piece is requested, so a stream that is no longer read writes nothing. It uses its
own random numbers (`decoding.sampling.Noise`) and does not affect those of the program.

Rejected: a thread that writes to a queue (it would continue to write when nobody reads, and share torch's random state
with the reader).
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar, Unpack, overload

import torch
from torch import Tensor

from automata.copying import NotCopied
from automata.errors import IncompleteOutput
from automata.limits import DEFAULT_LIMITS, Limits
from constraints.composing.parsed import Parsed
from constraints.json_schema import JsonSchema
from constraints.json_schema.alternatives import JsonTexts
from decoding.inputs.caches import cache_argument, cache_of
from decoding.inputs.constraints import ConstraintLike, check_count, constrained
from decoding.inputs.counts import token_count
from decoding.inputs.healing import Healed
from decoding.inputs.prompts import Prompt, prompt_tokens
from decoding.inputs.vocabularies import vocabulary_of
from decoding.masking.processor import ConstraintLogitsProcessor
from decoding.sampling import Noise, Sampling, SamplingOptions, choose, probabilities
from decoding.sampling.parameters import sampling_of
from decoding.sampling.penalties import History, penalized
from decoding.writing.partial_json import PartialJson
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import Vocabulary
from tokenfst.vocabulary.arguments import check_ids
from tokenfst.vocabulary.byte_decoder import Reading

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Piece(NamedTuple):
    """A piece of a text that is being written.

    Attributes:
        text: whole characters.
        value: for JSON, the value so far (`decoding.writing.partial_json`); None otherwise, and before there is a
            value. Arrays and objects in it grow with the text.
    """

    text: str
    value: Any


class TextSoFar:
    """Converts tokens to text as they are written."""

    def __init__(
        self, vocabulary: Vocabulary, *, at_text_start: bool = False, num_skipped: int = 0, errors: str = "strict"
    ) -> None:
        """Begin a text.

        Args:
            vocabulary: the tokens.
            at_text_start: whether the tokens are a text by themselves, and not the continuation of one.
            num_skipped: the number of bytes to leave out first, such as those of a healed prompt (`Healed.prefix`).
            errors: what to do with bytes that are not UTF-8, as for `bytes.decode`.
        """
        self._vocabulary, self._num_skipped = vocabulary, num_skipped
        self._rule = vocabulary.text_start if at_text_start else None
        self._reading = None if vocabulary.detokenizer is None else Reading(vocabulary.detokenizer)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors)

    def put(self, tokens: Iterable[int]) -> str:
        """Read more tokens, and return the characters that they complete; end tokens write nothing.

        Raises:
            UnicodeDecodeError: the text is not UTF-8, and `errors` is "strict".
            VocabularyError: the vocabulary has no such token; nothing has been read.
        """
        written, tokens = b"", list(tokens)
        check_ids(tokens, len(self._vocabulary))
        for token in tokens:
            new = self._vocabulary.tokens[token]
            if new and self._rule is not None:
                written += self._rule.first(token, new)
                self._rule = self._rule if token in self._rule.ignored else None
            else:
                written += new[self._num_skipped :]
                self._num_skipped = max(0, self._num_skipped - len(new))
            if self._reading is not None and token in self._vocabulary.eos_ids:
                return self._decoder.decode(self._reading.put(written) + self._reading.finish())
        return self._decoder.decode(written if self._reading is None else self._reading.put(written))

    def finish(self) -> str:
        """End the text, and return what an incomplete last character is decoded to.

        Raises:
            UnicodeDecodeError: a character has begun, and `errors` is "strict".
        """
        return self._decoder.decode(b"", final=True)


class Pieces:
    """Converts tokens to pieces as they are written.

    Attributes:
        text: the whole text so far.
    """

    def __init__(self, characters: TextSoFar, *, is_json: bool = False) -> None:
        """Begin a text.

        Args:
            characters: reads the tokens.
            is_json: whether the text is JSON, so that it has a value before it is complete.
        """
        self.text = ""
        self._characters = characters
        self._json = PartialJson() if is_json else None

    def put(self, tokens: Iterable[int]) -> Piece:
        """Read more tokens, and return the piece that they add.

        Raises:
            UnicodeDecodeError: as for `TextSoFar`.
            TextNotAllowed: with `is_json`, the text is not valid JSON.
        """
        return self._piece(self._characters.put(tokens))

    def finish(self) -> Piece:
        """End the text, and return the last piece; errors are those of `put`."""
        return self._piece(self._characters.finish())

    def _piece(self, text: str) -> Piece:
        self.text += text
        return Piece(text, self._json.feed(text) if self._json is not None else None)


class Stream(NotCopied, Generic[T_co]):
    """An iterator of pieces; made by `stream`.

    Attributes:
        tokens: the tokens written so far, including the end token.
    """

    _instead = "call `stream` again"

    def __init__(self, tokens: Iterator[int], begin: Callable[[], tuple[Pieces, object, Mapping[int, str]]]) -> None:
        self.tokens: list[int] = []
        self._next, self._begin = tokens, begin
        self._pieces: Pieces | None = None
        self._constraint: object = None
        # The names of tokens that write nothing, and the text with the names of those that were written.
        self._names: Mapping[int, str] = {}
        self._named = ""
        # True from the request for a piece until it is complete, and after an exception in between.
        self._is_writing = False

    def __iter__(self) -> Stream[T_co]:
        return self

    def __next__(self) -> Piece:
        """Return the next piece, with at least one character.

        Raises:
            StopIteration: the text is complete.
            IncompleteOutput: an earlier exception, such as that of Ctrl-C, stopped the text; make another stream. Or
                another thread is in this call.
            Exception: any error while writing.
        """
        if self._is_writing:
            raise IncompleteOutput(
                "an exception ended the writing of this text before it was complete, or another thread is writing it"
            )
        self._is_writing = True
        piece = self._piece()
        self._is_writing = False
        if piece is None:
            raise StopIteration
        return piece

    def _piece(self) -> Piece | None:
        """Write up to the next character; return the piece, or None if the text is complete."""
        for token in self._next:
            self.tokens.append(token)
            if self._pieces is None:
                self._pieces, self._constraint, self._names = self._begin()
            piece = self._pieces.put([token])
            self._named += piece.text + self._names.get(token, "")
            if piece.text:
                return piece
        last = None if self._pieces is None else self._pieces.finish()
        self._named += "" if last is None else last.text
        return last if last is not None and last.text else None

    @property
    def text(self) -> str:
        """The text so far."""
        return self._pieces.text if self._pieces is not None else ""

    def result(self) -> T_co:
        """Write the rest of the text, and return the value of the whole text.

        Returns:
            The result of `parse`, which reads the text with the names of tokens that write nothing, if the constraint
            has it; for a JSON Schema, the value of the JSON text; otherwise the text. For an automaton, the constraint
            is the one from which it was compiled.

        Raises:
            TextNotAllowed: the constraint's `parse` refuses the value, because of a model's validators, for example; or
                Python cannot read the JSON text, because it is nested too deeply.
            Exception: any error while writing.
        """
        for _ in self:
            pass
        found: Any = self.text
        if isinstance(self._constraint, JsonSchema):
            found = self._constraint.value(self.text)
        elif isinstance(self._constraint, Parsed):
            found = self._constraint.parse(self._named)
        value: T_co = found
        return value


@overload
def stream(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Parsed[T],
    *,
    max_new_tokens: int = 256,
    wrap_up_after: int | None = None,
    temperature: float = 1.0,
    seed: int | None = None,
    at_text_start: bool = False,
    max_depth: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    **options: Unpack[SamplingOptions],
) -> Stream[T]: ...


@overload
def stream(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: ConstraintLike,
    *,
    max_new_tokens: int = 256,
    wrap_up_after: int | None = None,
    temperature: float = 1.0,
    seed: int | None = None,
    at_text_start: bool = False,
    max_depth: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    **options: Unpack[SamplingOptions],
) -> Stream[Any]: ...


def stream(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Any,
    *,
    max_new_tokens: int = 256,
    wrap_up_after: int | None = None,
    temperature: float = 1.0,
    seed: int | None = None,
    at_text_start: bool = False,
    max_depth: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    **options: Unpack[SamplingOptions],
) -> Stream[Any]:
    """Let a model write a text that the constraint allows, and return it piece by piece.

    Args:
        model: a causal language model of `transformers`.
        tokenizer: the model's fast tokenizer; or its `Vocabulary` if the prompt is token ids.
        prompt: the prompt, as a text or as token ids; an empty text begins with the tokenizer's first special token.
        constraint: as for `generate`. Pieces have values if it is a JSON Schema, a type, a union of these (`|`), or an
            automaton compiled from one.
        max_new_tokens: the limit, including the end token; the text is complete within this limit.
        wrap_up_after, temperature, seed, at_text_start, max_depth, limits: as for `generate`.
        **options: further settings of `Sampling`, such as `top_k`.

    Returns:
        An iterator of pieces, which writes tokens when the next piece is requested.

    Raises:
        ValueError: there are several prompts.
        Exception: as for `generate`; errors while writing are raised with the next piece.
    """
    max_new_tokens = token_count("max_new_tokens", max_new_tokens, least=1)
    sampling = sampling_of("stream", temperature, seed, options)
    vocabulary, rows = vocabulary_of(tokenizer, model), prompt_tokens(tokenizer, prompt, model)
    if len(rows) != 1:
        raise ValueError(f"a stream is one text, and there are {len(rows)} prompts: use `generate`")
    each = constrained(constraint, vocabulary, at_text_start=at_text_start, limits=limits)
    check_count(len(each), 1)
    processor = ConstraintLogitsProcessor(
        each,
        vocabulary,
        max_new_tokens=max_new_tokens,
        wrap_up_after=wrap_up_after,
        at_text_start=at_text_start,
        max_depth=max_depth,
    )

    def begin() -> tuple[Pieces, object, Mapping[int, str]]:
        # Once there is a token, the automaton has been compiled.
        automaton = processor.automata()[0]
        meant = _constraint_of(automaton)
        pieces = Pieces(_characters(automaton, vocabulary, at_text_start), is_json=isinstance(meant, JsonTexts))
        return pieces, meant, _names(automaton, vocabulary)

    return Stream(_written(model, rows, processor, sampling, max_new_tokens), begin)


def _constraint_of(automaton: TokenAutomaton | None) -> object:
    """Return the constraint from which an automaton was compiled; None if it is not known, as after loading a file."""
    whole = automaton.inner if isinstance(automaton, Healed) else automaton
    return None if whole is None or whole.source is None else whole.source.constraint


def _names(automaton: TokenAutomaton | None, vocabulary: Vocabulary) -> dict[int, str]:
    """Return the names by which a constraint knows tokens that write nothing, other than end tokens."""
    whole = automaton.inner if isinstance(automaton, Healed) else automaton
    terminals = {} if whole is None or whole.source is None else whole.source.terminals
    found = {token: name for name, token in vocabulary.special_tokens.items()}
    found |= {token: name for name, ids in terminals.items() for token in ids}
    silent = [token for token in found if not vocabulary.tokens[token] and token not in vocabulary.eos_ids]
    return {token: found[token] for token in silent}


def _characters(automaton: TokenAutomaton | None, vocabulary: Vocabulary, at_text_start: bool) -> TextSoFar:
    """Return the converter of a text's tokens."""
    if automaton is None:
        return TextSoFar(vocabulary, at_text_start=at_text_start, errors="replace")  # it may be cut off anywhere
    skipped = len(automaton.prefix) if isinstance(automaton, Healed) else 0
    return TextSoFar(vocabulary, at_text_start=automaton.at_text_start, num_skipped=skipped)


def _written(
    model: Any,
    prompt: Sequence[Sequence[int]],
    processor: ConstraintLogitsProcessor,
    sampling: Sampling,
    max_new_tokens: int,
) -> Iterator[int]:
    """Yield the tokens, the end token last; each is written when it is requested."""
    rows: Tensor = torch.tensor(prompt, device=model.device)
    cache, name, begin = None, cache_argument(model), rows.shape[1]
    noise = Noise.of([sampling.seed], rows.device)
    for step in range(max_new_tokens):
        with torch.no_grad():
            new = rows if cache is None else rows[:, -1:]
            output = model(input_ids=new, use_cache=True, **{name: cache})
            logits, cache = output.logits[:, -1], cache_of(model, output)
            # What the model rules out may still be allowed, so the mask is kept apart from the logits.
            change = processor.apply_(rows, torch.zeros_like(logits, dtype=torch.float32))
            mask = change.isfinite()
            history = History(rows[:, begin:], rows[:, :begin])
            scores = penalized(logits.float(), sampling.on(logits.device), history) + change.where(mask, 0)
            chosen = choose(probabilities(scores, mask, sampling), noise, step)
            rows = torch.cat([rows, chosen[:, None]], dim=1)
        token = int(chosen)
        yield token
        if token in processor.vocabulary.eos_ids:
            break
    processor.check()
