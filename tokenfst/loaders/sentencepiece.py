"""Load vocabularies from SentencePiece `.model` files, with the sentencepiece package.

The decoder concatenates pieces and writes ▁ as a space; byte pieces (`<0x0A>`) are one byte. Only the start of a text
differs. There the first piece loses its first ▁, because the encoder adds one (`add_dummy_prefix`). If the encoder
drops leading spaces (`remove_extra_whitespaces`), later pieces lose theirs too, up to the first piece that writes
something. A model with neither setting writes every ▁. The space of the byte piece <0x20> is never dropped. This
becomes the `text_start` of the vocabulary.

Control and unused pieces write nothing. Neither does the unknown piece, which would decode to ` ⁇ ` in place of text
that is lost.

Two kinds of models are refused: those that treat whitespace as a suffix, because their additional space is at the end
of a text, which a token cannot know; and those with denormalization rules, which rewrite the text after decoding.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from automata.errors import UnsupportedTokenizer, VocabularyError
from tokenfst.loaders.common import assemble, require_agreement, text_start_rule

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping

    from sentencepiece import SentencePieceProcessor

    from tokenfst.vocabulary import Vocabulary
    from tokenfst.vocabulary.text_start import TextStart

Fields = dict[int, int | bytes]

# Field numbers in sentencepiece_model.proto.
_TRAINER_SPEC, _WHITESPACE_AS_SUFFIX = 2, 24
_NORMALIZER_SPEC, _DUMMY_PREFIX, _REMOVE_EXTRA = 3, 3, 4
_DENORMALIZER_SPEC, _CHARACTER_MAP = 5, 2


def from_sentencepiece(path: str | os.PathLike[str], *, eos_ids: int | Iterable[int] | None = None) -> Vocabulary:
    """Return the vocabulary of a SentencePiece model file.

    >>> from tempfile import TemporaryDirectory
    >>> from sentencepiece import SentencePieceTrainer
    >>> with TemporaryDirectory() as folder, Path(folder, "small.model").open("wb") as file:
    ...     texts = iter(["a b ab ba"] * 4)
    ...     SentencePieceTrainer.train(sentence_iterator=texts, model_writer=file, vocab_size=7, minloglevel=2)
    ...     file.flush()
    ...     vocabulary = from_sentencepiece(file.name)
    >>> vocabulary.tokens, vocabulary.eos_ids
    ((b'', b'', b'', b' a', b'b', b'a', b' '), (2,))

    Args:
        path: the `.model` file.
        eos_ids: the id or ids that end a sequence; by default that of the model's own `</s>`, if it has one.

    Raises:
        ImportError: the sentencepiece package is missing.
        UnsupportedTokenizer: the model cannot be modelled exactly; the message gives the reason.
        VocabularyError: the file is not a SentencePiece model, or an id in `eos_ids` is not a token id.
        OSError: the file cannot be read.
    """
    file = Path(path)
    model = file.read_bytes()
    processor = _processor(model, file)
    try:
        specs = _specs(model)
        written, silent = _pieces(processor)
    except (LookupError, ValueError) as error:
        raise VocabularyError(f"{file}: a damaged SentencePiece model ({type(error).__name__}: {error})") from error
    _check_specs(specs, file)
    start = _text_start(processor, written, specs[_NORMALIZER_SPEC])
    require_agreement(written, processor.is_byte, processor.decode, str(file), start)
    own_eos = [processor.eos_id()] if processor.eos_id() >= 0 else []
    return assemble(written, silent, own_eos if eos_ids is None else eos_ids, str(file), start)


def _processor(model: bytes, file: Path) -> SentencePieceProcessor:
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError as error:
        raise ImportError("SentencePiece models need a package: pip install 'tokenfst[sentencepiece]'") from error
    try:
        processor = SentencePieceProcessor()
        processor.LoadFromSerializedProto(model)
    except (RuntimeError, UnicodeDecodeError) as error:  # the message of the first may quote a damaged piece
        raise VocabularyError(f"{file}: not a SentencePiece model ({error})") from error
    return processor


def _pieces(processor: SentencePieceProcessor) -> tuple[dict[int, bytes], dict[str, int]]:
    """Return the bytes of each token that writes some, and the ids of the others by name."""
    silent = {
        processor.id_to_piece(token): token
        for token in range(processor.vocab_size())
        if processor.is_control(token) or processor.is_unknown(token) or processor.is_unused(token)
    }
    visible = sorted(set(range(processor.vocab_size())) - set(silent.values()))
    return {token: _text(processor, token) for token in visible}, silent


def _text(processor: SentencePieceProcessor, token: int) -> bytes:
    """Return the bytes that a token writes inside a text."""
    piece: str = processor.id_to_piece(token)
    if processor.is_byte(token):
        return bytes([int(piece[3:5], 16)])
    return piece.replace("▁", " ").encode()


def _text_start(
    processor: SentencePieceProcessor, written: Mapping[int, bytes], normalizer: Fields
) -> TextStart | None:
    """Return what the decoder does differently at the start of a text; None if it does nothing differently.

    Args:
        processor: the model.
        written: the bytes that each token writes inside a text.
        normalizer: the settings of the normalizer.
    """
    # A setting that the file does not contain is on.
    if not normalizer.get(_DUMMY_PREFIX, 1) and not normalizer.get(_REMOVE_EXTRA, 1):
        return None
    meta = [token for token in written if not processor.is_byte(token) and processor.id_to_piece(token)[:1] == "▁"]
    first = {**written, **{token: written[token][1:] for token in meta}}
    spaces = [token for token in meta if not first[token]] if normalizer.get(_REMOVE_EXTRA, 1) else []
    return text_start_rule(written, first, ignored=spaces)


def _specs(model: bytes) -> dict[int, Fields]:
    """Return the settings in a model file, which the sentencepiece package does not give access to."""
    specs: dict[int, Fields] = {number: {} for number in (_TRAINER_SPEC, _NORMALIZER_SPEC, _DENORMALIZER_SPEC)}
    for number, value in _fields(model):
        if number in specs and isinstance(value, bytes):
            specs[number] |= dict(_fields(value))
    return specs


def _check_specs(specs: dict[int, Fields], file: Path) -> None:
    if specs[_TRAINER_SPEC].get(_WHITESPACE_AS_SUFFIX):
        raise UnsupportedTokenizer(f"{file}: treat_whitespace_as_suffix: its extra space is at the end of a text")
    if specs[_DENORMALIZER_SPEC].get(_CHARACTER_MAP):
        raise UnsupportedTokenizer(f"{file}: its denormalizer rewrites text after decoding, across tokens")


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the number of each field of a protobuf message, and its integer or its uninterpreted bytes."""
    position = 0
    while position < len(message):
        key, position = _varint(message, position)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, position = _varint(message, position)
            yield number, value
            continue
        # Wire type 2 is a length followed by this number of bytes; types 1 and 5 have fixed sizes.
        size, position = _varint(message, position) if kind == 2 else ({1: 8, 5: 4}[kind], position)
        yield number, message[position : position + size]
        position += size


def _varint(message: bytes, position: int) -> tuple[int, int]:
    """Return the variable-length integer at a position of a protobuf message, and the position after it."""
    value = shift = 0
    while True:
        byte = message[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, position
