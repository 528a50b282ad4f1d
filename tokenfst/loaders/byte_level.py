"""Read the encoder of a byte-level BPE from the definition of a `tokenizers.Tokenizer`.

Such an encoder normalizes the text, cuts out added tokens, cuts the rest into pieces, writes each piece in characters
that stand for bytes, and merges them. The model of an encoder (`tokenfst.vocabulary.bpe`) covers definitions without a
normalizer, without added tokens other than special ones, and without dropout. Pieces are the matches of one regular
expression, possibly the one built into `ByteLevel`, or the whole text is one piece. The name of a special token in a
text is ordinary text, as with `encode_special_tokens = True` (`split_special_tokens` in transformers); an encoder that
looks whole pieces up must not find it there. For any other definition the result is a `NotBPE` with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tokenfst.loaders.common import Json, flattened
from tokenfst.vocabulary.bpe import BPE, GPT2_PATTERN, NotBPE

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def _byte_table() -> dict[str, int]:
    """Return GPT-2's table from characters to bytes.

    Bytes that are visible characters of Latin-1 are written as these. The others are written, in order, as the
    characters from U+0100, so that no piece contains a space or a control character.
    """
    visible = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    hidden = [byte for byte in range(256) if byte not in visible]
    return {chr(byte): byte for byte in visible} | {chr(256 + n): byte for n, byte in enumerate(hidden)}


BYTE_OF = _byte_table()


def bpe_of(backend: Tokenizer, definition: Json, silent: Iterable[int]) -> BPE | NotBPE:
    """Return the encoder of a tokenizer, or the reason why it is not modelled.

    Args:
        backend: the tokenizer.
        definition: the content of its `tokenizer.json`.
        silent: the ids of tokens that write nothing.
    """
    model, without_text = definition["model"], set(silent)
    if model["type"] != "BPE" or (definition["decoder"] or {}).get("type") != "ByteLevel":
        return NotBPE(f"model {model['type']} is not byte-level BPE")
    if definition["normalizer"] is not None:
        return NotBPE(f"its normalizer {definition['normalizer']['type']} changes texts before they are cut")
    if model.get("dropout") or model.get("byte_fallback"):
        return NotBPE("its merges are not the same each time, or bytes have tokens of another kind (byte_fallback)")
    for added in definition["added_tokens"]:
        if not added["special"]:
            return NotBPE(f"the added token {added['content']!r} is cut out of texts before anything else")
    for piece, token in model["vocab"].items():
        if token not in without_text and not BYTE_OF.keys() >= set(piece):
            return NotBPE(f"token {token} ({piece!r}) is not spelled in the characters that stand for bytes")
    pattern = _pattern(flattened(definition["pre_tokenizer"], "pretokenizers"))
    if isinstance(pattern, NotBPE):
        return pattern
    whole_pieces = bool(model.get("ignore_merges"))
    for piece, token in model["vocab"].items() if whole_pieces else ():
        if token in without_text and _is_piece(piece, backend):
            return NotBPE(f"token {token} ({piece!r}) writes nothing, and the encoder writes it in texts as well")
    merges = _merges(model)
    return merges if isinstance(merges, NotBPE) else BPE(merges, pattern, whole_pieces)


def _is_piece(spelled: str, backend: Tokenizer) -> bool:
    """Return whether the pre-tokenizer leaves a text whole, given in the characters that stand for bytes."""
    try:
        text = bytes([BYTE_OF[character] for character in spelled]).decode()
    except (KeyError, UnicodeDecodeError):
        return False
    return len(backend.pre_tokenizer.pre_tokenize_str(text)) == 1


def _pattern(stages: list[Json]) -> str | NotBPE | None:
    """Return the regular expression that matches pieces; None if a text is one piece."""
    kinds = [stage["type"] for stage in stages]
    if kinds not in (["ByteLevel"], ["Split", "ByteLevel"]):
        return NotBPE(f"the pre-tokenizer {' + '.join(kinds) or 'none'} is not modelled")
    last = stages[-1]
    if last["add_prefix_space"]:
        return NotBPE("its pre-tokenizer puts a space before the text")
    if kinds == ["ByteLevel"]:
        return GPT2_PATTERN if last.get("use_regex", True) else None
    first = stages[0]
    if last.get("use_regex", True) or "Regex" not in first["pattern"]:
        return NotBPE("its pre-tokenizer cuts twice, or at a string")
    # With both settings the matches are the pieces. They differ only in text between matches, and there is none.
    if (first["behavior"], bool(first["invert"])) not in (("Isolated", False), ("Removed", True)):
        return NotBPE(f"its pre-tokenizer joins pieces (Split, {first['behavior']})")
    return str(first["pattern"]["Regex"])


def _merges(model: Json) -> tuple[tuple[int, int, int], ...] | NotBPE:
    """Return the ids of left, right and merged token for each merge, in order of precedence."""
    vocab: dict[str, int] = model["vocab"]
    # Older files write both halves as one string.
    pairs = [tuple(merge.split(" ", 1)) if isinstance(merge, str) else tuple(merge) for merge in model["merges"]]
    try:
        return tuple((vocab[left], vocab[right], vocab[left + right]) for left, right in pairs)
    except KeyError as error:
        return NotBPE(f"a merge is of or into {error}, which is no token")
