"""Combine recorded steps and written tokens into texts with their steps."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from decoding.tracing.places import Place, PlaceReader
from decoding.tracing.recorder import RecordedStep
from decoding.tracing.traced_text import Candidate, TracedText, TraceStep
from tokenfst.vocabulary import Vocabulary


@dataclass(frozen=True)
class Written:
    """A text that was written.

    Attributes:
        prompt: the tokens before the text.
        tokens: the tokens of the text, padded after the end token.
        text: the text that these tokens write.
        at_text_start: whether these tokens begin a text (`tokenfst.compile`).
        readers: the readers that follow its place; used once.
    """

    prompt: Sequence[int]
    tokens: Sequence[int]
    text: str
    at_text_start: bool
    readers: Sequence[PlaceReader]


def traced_texts(
    recorded: Sequence[RecordedStep], written: Sequence[Written], vocabulary: Vocabulary
) -> list[TracedText]:
    """Return the texts with their steps.

    Args:
        recorded: the steps of all rows, in order, on the host.
        written: the text of each row.
        vocabulary: the tokens.
    """
    return [_traced(row, one, recorded, vocabulary) for row, one in enumerate(written)]


def _traced(row: int, written: Written, recorded: Sequence[RecordedStep], vocabulary: Vocabulary) -> TracedText:
    ends = [place for place, token in enumerate(written.tokens) if token in vocabulary.eos_ids]
    tokens = list(written.tokens[: ends[0] + 1]) if ends else list(written.tokens)
    decoder, found = codecs.getincrementaldecoder("utf-8")("replace"), []
    pieces = _pieces(tokens, vocabulary, written.at_text_start)
    for step, token, piece in zip(recorded, tokens, pieces, strict=False):
        place = Place()
        for reader in written.readers:
            place = reader.place(place)
        found.append(_step(step, row, decoder.decode(piece), place, vocabulary))
        for reader in written.readers:
            reader.put(token, piece)
    prompt = vocabulary.detokenize(written.prompt).decode(errors="replace")
    return TracedText(prompt, written.text, tuple(found))


def _step(step: RecordedStep, row: int, text: str, place: Place, vocabulary: Vocabulary) -> TraceStep:
    columns = (part[row].tolist() for part in (step.tokens, step.before, step.after, step.allowed))
    several = [Candidate(token, _name(token, vocabulary), *rest) for token, *rest in zip(*columns, strict=True)]
    each = {one.token: one for one in several}
    return TraceStep(
        chosen=several[-1],
        text=text,
        candidates=tuple(sorted(each.values(), key=lambda one: (-one.before, one.token))),
        num_allowed=int(step.num_allowed[row]),
        removed=float(step.removed[row]),
        surprise=float(step.surprise[row]),
        stacks=place.stacks,
        pointer=place.pointer,
        notes=place.notes,
    )


def _name(token: int, vocabulary: Vocabulary) -> str:
    """Return the name of a token; models pad their logits beyond the vocabulary."""
    return vocabulary.names[token] if token < len(vocabulary) else f"\\#{token}"


def _pieces(tokens: list[int], vocabulary: Vocabulary, at_text_start: bool) -> list[bytes]:
    """Return what each token adds to the text."""
    texts = [vocabulary.text(tokens[:end], at_text_start=at_text_start) for end in range(len(tokens) + 1)]
    return [after[len(before) :] for before, after in pairwise(texts)]
