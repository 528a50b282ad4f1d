"""Load vocabularies from fast tokenizers of transformers, and from the `tokenizers.Tokenizer` inside them.

A fast tokenizer decodes in two steps: ids become pieces (strings), and a pipeline of decoders turns the list of pieces
into text. The loader reads both from the tokenizer's own JSON. Three families of pipelines concatenate pieces, so that
each piece has bytes of its own:

* **ByteLevel** (GPT-2, Llama 3, Qwen): every character of a piece is one byte, by a table of 256 characters. A piece
  with a character outside the table, such as an added token, is written as it is.
* **SentencePiece** (Llama 2, Mistral, Gemma, T5): `Replace` or `Metaspace` writes ▁ as a space, `ByteFallback` writes
  `<0x0A>` as one byte, `Fuse` joins.
* **WordPiece** (BERT): a piece with the prefix `##` is written without the prefix, any other piece after a space. The
  clean-up, which removes spaces before punctuation, looks at one piece at a time, so its result is part of the bytes of
  the piece. A piece that is only the prefix writes nothing.

At the start of a text, `WordPiece` writes the first piece as it is, and `Metaspace` (unless its scheme is "never")
writes it without any ▁; a `Strip` after `Fuse` drops one space of the joined text. This becomes the `text_start` of the
vocabulary.

The decoder determines the bytes, not the model: `<0x0A>` is one byte if the pipeline has `ByteFallback`, as it does for
models with byte fallback, and six characters otherwise. A model that marks pieces inside a word needs a decoder for the
mark.

Some pipelines are refused because the text of a piece depends on its neighbours or is rewritten afterwards: BPEDecoder
and CTC decoders, end-of-word suffixes, replacements across pieces, no decoder at all (pieces are joined by spaces), and
classes that decode with Python code of their own (slow tokenizers, Whisper, CPM).

Normalizers and pre-tokenizers determine which tokenization the encoder chooses, but not what a token writes.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

from automata.errors import UnsupportedTokenizer
from tokenfst.loaders.byte_level import BYTE_OF, bpe_of
from tokenfst.loaders.common import Json, assemble, flattened, require_agreement, text_start_rule
from tokenfst.vocabulary.arguments import id_tuple

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerBase

    from tokenfst.vocabulary import Vocabulary

_WHY_NOT = {
    "WordPiece": "its marks inside of words need the decoder WordPiece",
    "BPEDecoder": "an end-of-word suffix is a space, except at the end of a text",
    "CTC": "it merges repeated tokens",
}
# The position of each decoder in a SentencePiece pipeline; those at position 1 and later see several pieces at once.
_STAGE = {"Replace": 0, "Metaspace": 0, "WordPiece": 0, "ByteFallback": 1, "Fuse": 2, "Strip": 3}
_BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
# The `decode` methods of these classes add nothing unless they are given a pattern to truncate at.
_DECODE_AS_USUAL = {"CodeGenTokenizer", "CodeGenTokenizerFast"}
# The replacements of WordPiece's clean-up, in this order (tokenizers, `decoders/wordpiece.rs`).
_CLEAN_UP = [
    *[(" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m")],
    *[(" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re")],
]


class Spelling(NamedTuple):
    """The bytes that a pipeline of decoders writes for a piece.

    Attributes:
        inside: returns the bytes of a piece inside a text.
        first: returns the bytes of a piece at the start of a text; None if they are the same.
        mark: the prefix of pieces that continue a word, empty if there is none.
    """

    inside: Callable[[str], bytes]
    first: Callable[[str], bytes] | None = None
    mark: str = ""


def from_transformers(
    tokenizer: PreTrainedTokenizerBase | Tokenizer, *, eos_ids: int | Iterable[int] | None = None
) -> Vocabulary:
    """Return the vocabulary of a fast tokenizer, or of a `tokenizers.Tokenizer`.

    >>> from tokenizers import Tokenizer, decoders, models
    >>> tokenizer = Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")]))
    >>> tokenizer.decoder = decoders.ByteLevel()
    >>> tokenizer.add_special_tokens(["</s>"])
    1
    >>> vocabulary = from_transformers(tokenizer, eos_ids=3)
    >>> vocabulary.tokens
    (b'a', b'b', b'ab', b'')

    Special tokens and the unknown token write nothing. Other added tokens write their text. `text_start` describes what
    `decode` does after it has skipped special tokens. (`tokenizers` does not skip a special token whose text the
    normalizer changes; here it writes nothing all the same.)

    `clean_up_tokenization_spaces` is not modelled: with it, `tokenizer.decode` rewrites the finished text, and serving
    engines turn it off. If a tokenizer has it on, there is a warning.

    Args:
        tokenizer: the tokenizer.
        eos_ids: the id or ids that end a sequence, as in a generation configuration. By default
            `tokenizer.eos_token_id`; a `tokenizers.Tokenizer` has none, so give them.

    Raises:
        UnsupportedTokenizer: the tokenizer cannot be modelled exactly; the message names the class or the decoder, and
            the reason.
        VocabularyError: an id in `eos_ids` is not a token id.
        TypeError: `tokenizer` is a name or a path, or `eos_ids` are not integers.
    """
    if isinstance(tokenizer, str | PathLike):
        raise TypeError(
            f"from_transformers takes a tokenizer, not the name {str(tokenizer)!r}: load it first with "
            f"transformers.AutoTokenizer.from_pretrained({str(tokenizer)!r}), or a file with tokenfst.load_vocabulary"
        )
    name = type(tokenizer).__name__
    backend = _backend(tokenizer, name)
    definition = _definition(backend, name)
    spell = _spelling(flattened(definition["decoder"], "decoders"), name)
    _check_model(definition["model"], spell.mark, name)
    _warn_of_clean_up(tokenizer, definition["model"]["type"])
    pieces, silent = _pieces(definition, backend)
    written = {token: spell.inside(piece) for token, piece in pieces.items()}
    start = None
    if spell.first:
        first = {token: spell.first(piece) for token, piece in pieces.items()}
        start = text_start_rule(written, first, prefix=spell.mark.encode())
    decode = partial(backend.decode, skip_special_tokens=False)
    require_agreement(written, lambda token: _BYTE_PIECE.fullmatch(pieces[token]) is not None, decode, name, start)
    ends = _own_eos(tokenizer) if eos_ids is None else id_tuple(eos_ids)
    silent |= {piece: token for token, piece in pieces.items() if token in ends}
    return assemble(written, silent, ends, name, start, bpe=bpe_of(backend, definition, silent.values()))


def _backend(tokenizer: object, name: str) -> Tokenizer:
    """Return the `tokenizers.Tokenizer` that decodes for a tokenizer.

    Raises:
        UnsupportedTokenizer: the tokenizer decodes, at least in part, with Python code.
    """
    from tokenizers import Tokenizer

    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not isinstance(backend, Tokenizer):
        raise UnsupportedTokenizer(
            f"{name}: not a fast tokenizer (no `backend_tokenizer`), so its decoder is Python code and not a "
            "definition to read; use the fast class, or load the vocabulary's file"
        )
    for method in ("decode", "_decode"):
        owner = next((base for base in type(tokenizer).__mro__ if method in vars(base)), None)
        if owner is None or owner.__name__ in _DECODE_AS_USUAL or owner is Tokenizer:
            continue
        if not owner.__module__.startswith("transformers.tokenization_utils"):
            raise UnsupportedTokenizer(f"{name}: {owner.__name__}.{method} decodes with Python code of its own")
    return backend


def _definition(backend: Tokenizer, name: str) -> Json:
    try:
        definition: Json = json.loads(backend.to_str())
    except Exception as error:  # tokenizers raises bare Exception, for components that are Python objects
        raise UnsupportedTokenizer(f"{name}: its definition cannot be read ({error})") from error
    return definition


def _check_model(model: Json, mark: str, name: str) -> None:
    """Raise if a model writes marks into its pieces that the decoder does not remove."""
    if model["type"] not in {"BPE", "Unigram", "WordLevel"} and not (model["type"] == "WordPiece" and mark):
        raise UnsupportedTokenizer(f"{name}: model {model['type']}: {_WHY_NOT.get(model['type'], 'unknown')}")
    for affix in ("end_of_word_suffix", "continuing_subword_prefix"):
        if model.get(affix) and (affix, model[affix]) != ("continuing_subword_prefix", mark):
            raise UnsupportedTokenizer(
                f"{name}: model {model['type']} with {affix} {model[affix]!r}, which marks a place in a word "
                "and is not text"
            )


def _warn_of_clean_up(tokenizer: object, model_type: str) -> None:
    # Newer versions ignore the setting for BPE unless this attribute, which older ones lack, is set.
    forced = getattr(tokenizer, "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output", True)
    if getattr(tokenizer, "clean_up_tokenization_spaces", False) and (model_type != "BPE" or forced):
        warnings.warn(
            f"{type(tokenizer).__name__}.decode removes spaces before punctuation from finished text; pass "
            "clean_up_tokenization_spaces=False to it to see what was generated",
            stacklevel=3,
        )


def _spelling(stages: list[Json], name: str) -> Spelling:
    """Return the functions from a piece to its bytes, for the decoders of a pipeline."""
    kinds = [stage["type"] for stage in stages]
    if not kinds:
        raise UnsupportedTokenizer(f"{name}: no decoder, so pieces are joined by spaces that no token writes")
    if kinds[0] == "ByteLevel" and set(kinds[1:]) <= {"Fuse"}:
        return Spelling(_byte_level)
    for kind in kinds:
        if kind not in _STAGE:
            reason = _WHY_NOT.get(kind, "not known to write every piece by itself")
            raise UnsupportedTokenizer(f"{name}: decoder {kind} in {' + '.join(kinds)}: {reason}")
    return _by_piece(stages, name)


def _by_piece(stages: list[Json], name: str) -> Spelling:
    """Return the functions for a pipeline of SentencePiece or WordPiece.

    Raises:
        UnsupportedTokenizer: the text of a piece depends on other pieces.
    """
    kinds = [stage["type"] for stage in stages]
    rewriting = [stage for stage in stages if _STAGE[stage["type"]] == 0]
    later = [_STAGE[kind] for kind in kinds[len(rewriting) :]]
    if later != sorted(set(later) - {0}) or ("Strip" in kinds and "Fuse" not in kinds):
        raise UnsupportedTokenizer(
            f"{name}: decoder {' + '.join(kinds)}: in this order, a piece's text depends on others"
        )
    for stage in stages:
        if stage["type"] == "Strip" and (stage["content"] != " " or stage["start"] > 1 or stage["stop"] > 0):
            raise UnsupportedTokenizer(f"{name}: decoder Strip removes more than one space at the start of a text")
    starting = [stage["type"] for stage in stages if _treats_the_first_apart(stage)]
    if len(starting) > 1:
        raise UnsupportedTokenizer(f"{name}: decoders {' + '.join(starting)}: each changes the start of a text")
    inside, first = ([_rewrite(stage, is_first, name) for stage in rewriting] for is_first in (False, True))
    byte_fallback, strips = "ByteFallback" in kinds, starting == ["Strip"]

    def spell(rewrites: list[Callable[[str], str]], piece: str) -> bytes:
        for rewrite in rewrites:
            piece = rewrite(piece)
        byte = _BYTE_PIECE.fullmatch(piece) if byte_fallback else None
        return bytes.fromhex(byte[1]) if byte else piece.encode()

    def spell_first(piece: str) -> bytes:
        written = spell(first, piece)
        return written.removeprefix(b" ") if strips else written

    mark = next((stage["prefix"] for stage in stages if stage["type"] == "WordPiece"), "")
    return Spelling(partial(spell, inside), spell_first if starting else None, mark)


def _treats_the_first_apart(stage: Json) -> bool:
    kind: str = stage["type"]
    if kind == "Metaspace":
        return bool(stage.get("prepend_scheme") != "never")
    return kind == "WordPiece" or (kind == "Strip" and stage["start"] == 1)


def _rewrite(stage: Json, is_first: bool, name: str) -> Callable[[str], str]:
    """Return the function by which a decoder rewrites one piece: the first one of a text, or a later one."""
    if stage["type"] == "WordPiece":
        return partial(_word_piece, stage["prefix"], stage["cleanup"], is_first)
    if stage["type"] == "Metaspace":
        old, new = stage["replacement"], "" if is_first and _treats_the_first_apart(stage) else " "
    else:
        old, new = stage["pattern"].get("String"), stage["content"]
    if not old:
        raise UnsupportedTokenizer(
            f"{name}: decoder Replace with the pattern {stage['pattern']}; only a string is read"
        )
    return lambda piece: piece.replace(old, new)


def _word_piece(mark: str, cleanup: bool, is_first: bool, piece: str) -> str:
    if not is_first:
        piece = piece.removeprefix(mark) if piece.startswith(mark) else f" {piece}"
    for old, new in _CLEAN_UP if cleanup else ():
        piece = piece.replace(old, new)
    return piece


def _byte_level(piece: str) -> bytes:
    try:
        return bytes([BYTE_OF[character] for character in piece])
    except KeyError:
        return piece.encode()


def _pieces(definition: Json, backend: Tokenizer) -> tuple[dict[int, str], dict[str, int]]:
    """Return the pieces that write text, by id, and the ids of tokens that do not, by name."""
    pieces, unknown = _model_pieces(definition["model"])
    silent = {pieces[unknown]: unknown} if unknown in pieces else {}
    for added in definition["added_tokens"]:
        # A special token that is added again as an ordinary one is still skipped, but its definition does not show it.
        if added["special"] or _is_skipped(added["id"], backend):
            silent[added["content"]] = added["id"]
        else:
            # Depending on the version of the library, the decoder is given the content or its normalized form.
            pieces[added["id"]] = backend.id_to_token(added["id"]) or added["content"]
    without_text = set(silent.values())
    # Special tokens are skipped by their text, so all tokens that a Unigram model lists under this text are skipped.
    without_text |= {token for token, piece in pieces.items() if piece in silent and _is_skipped(token, backend)}
    return {token: piece for token, piece in pieces.items() if token not in without_text}, silent


def _is_skipped(token: int, backend: Tokenizer) -> bool:
    """Return whether a token has text that a decoder skips when it skips special tokens."""
    return backend.decode([token], skip_special_tokens=True) == "" != backend.decode([token], skip_special_tokens=False)


def _model_pieces(model: Json) -> tuple[dict[int, str], int | None]:
    """Return all pieces of a model, by id, and the id of the piece for unknown text; None if there is no such piece."""
    if model["type"] != "Unigram":
        return {token: piece for piece, token in model["vocab"].items()}, model["vocab"].get(model.get("unk_token"))
    return dict(enumerate(piece for piece, _ in model["vocab"])), model["unk_id"]


def _own_eos(tokenizer: object) -> tuple[int, ...]:
    own = getattr(tokenizer, "eos_token_id", None)
    return () if own is None else id_tuple(own)
