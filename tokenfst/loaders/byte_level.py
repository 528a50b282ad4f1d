"""How a byte-level BPE of `tokenizers` cuts a text into tokens, read from its definition.

The encoder normalizes the text, takes the added tokens out, cuts the rest into pieces, spells the pieces in characters
that stand for bytes, and merges. What is modelled (`tokenfst.vocabulary.bpe`): no normalizer; no added tokens but
special ones; pieces by one regular expression, or the one that `ByteLevel` has built in, or a text as one piece; and
merges without dropout. Names of special tokens in a text are text, as with `encode_special_tokens = True`
(`split_special_tokens` in transformers). Whatever else a definition says is a `NotBPE` with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tokenfst.vocabulary.bpe import BPE, GPT2_PATTERN, NotBPE

Json = dict[str, Any]


def _byte_table() -> dict[str, int]:
    """GPT-2's table, from character to byte.

    Bytes that are visible characters of Latin-1 stand for themselves. The others, in order, are the
    characters from U+0100 on, so that no piece contains a space or a control character.
    """
    visible = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    hidden = [byte for byte in range(256) if byte not in visible]
    return {chr(byte): byte for byte in visible} | {chr(256 + n): byte for n, byte in enumerate(hidden)}


BYTE_OF = _byte_table()


def bpe_of(definition: Json, silent: Iterable[int]) -> BPE | NotBPE:
    """The encoder in a definition.

    Args:
        definition: a `tokenizer.json`.
        silent: the tokens that write nothing.
    """
    model, without_text = definition["model"], set(silent)
    if model["type"] != "BPE" or (definition["decoder"] or {}).get("type") != "ByteLevel":
        return NotBPE(f"model {model['type']} is no byte-level BPE")
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
    stages = _stages(definition["pre_tokenizer"])
    pattern = _pattern(stages)
    if isinstance(pattern, NotBPE):
        return pattern
    return BPE(_merges(model), pattern, whole_pieces=bool(model.get("ignore_merges")))


def _stages(pre_tokenizer: Json | None) -> list[Json]:
    """The pre-tokenizers in order, sequences within sequences laid flat."""
    if pre_tokenizer is None:
        return []
    if pre_tokenizer["type"] == "Sequence":
        return [stage for inner in pre_tokenizer["pretokenizers"] for stage in _stages(inner)]
    return [pre_tokenizer]


def _pattern(stages: list[Json]) -> str | NotBPE | None:
    """The regular expression of the pieces, None where a text is one piece."""
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
    # Pieces are the matches; what lies between them, of which there is nothing, would be kept or not.
    if (first["behavior"], bool(first["invert"])) not in (("Isolated", False), ("Removed", True)):
        return NotBPE(f"its pre-tokenizer joins pieces (Split, {first['behavior']})")
    return str(first["pattern"]["Regex"])


def _merges(model: Json) -> tuple[tuple[int, int, int], ...]:
    vocab: dict[str, int] = model["vocab"]
    # Older files have both halves in one string.
    pairs = [tuple(merge.split(" ", 1)) if isinstance(merge, str) else tuple(merge) for merge in model["merges"]]
    return tuple((vocab[left], vocab[right], vocab[left + right]) for left, right in pairs)
