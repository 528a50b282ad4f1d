"""Checks of the arguments that vocabularies are made from; each error says what was probably meant."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import index
from os import PathLike
from types import NoneType
from typing import Any

from automata.errors import VocabularyError


def check_tokens(tokens: Any) -> None:
    """Check that `tokens` is a sequence that may hold the bytes of tokens; the items are not checked.

    Raises:
        TypeError: `tokens` is something else, such as a tokenizer or a path.
        VocabularyError: `tokens` is empty.
    """
    hint = vocabulary_hint(tokens)
    if hint is None and (isinstance(tokens, bytes | bytearray) or not isinstance(tokens, Sequence)):
        hint = "give the bytes of each token in order of their ids, as in [b'a', b'b']"
    if hint is not None:
        raise TypeError(f"{shown(tokens)} is not a list of tokens; {hint}")
    if not tokens:
        raise VocabularyError("a vocabulary needs at least one token")


def check_kind(name: str, value: object, *kinds: type) -> None:
    """Check that an argument is of one of the given types.

    Raises:
        TypeError: it is of another type.
    """
    if not isinstance(value, kinds):
        names = " or ".join("None" if kind is NoneType else kind.__name__ for kind in kinds)
        raise TypeError(f"{name} is {names}, not {shown(value)}")


def not_bytes(tokens: Sequence[Any]) -> VocabularyError:
    """Return the error for a list of tokens that are not all bytes; it names the first one that is not."""
    token_id = next(token_id for token_id, token in enumerate(tokens) if not isinstance(token, bytes))
    token = tokens[token_id]
    hint = f": encode it, as in {token[:20]!r}.encode()" if isinstance(token, str) else ""
    return VocabularyError(f"token {token_id} is a {type(token).__name__}, not bytes{hint}")


def id_tuple(eos_ids: int | Iterable[int]) -> tuple[int, ...]:
    """Return end-of-sequence ids as a tuple, given one id or several.

    Raises:
        TypeError: an id is not an integer.
    """
    if isinstance(eos_ids, str | bytes):
        raise TypeError(f"eos_ids are token ids, not names such as {eos_ids!r}")
    try:
        return tuple([index(token) for token in (eos_ids if isinstance(eos_ids, Iterable) else [eos_ids])])
    except TypeError:
        raise TypeError(f"eos_ids is a token id or a list of token ids, not {shown(eos_ids)}") from None


def special_ids(special_tokens: Mapping[str, int] | None) -> dict[str, int]:
    """Return special tokens as a dictionary from name to id, empty for None.

    Raises:
        TypeError: the argument is not a mapping from names to ids.
    """
    if special_tokens is None:
        return {}
    if not isinstance(special_tokens, Mapping):
        raise TypeError(f"special_tokens maps names to ids, as in {{'<|end|>': 7}}; {shown(special_tokens)} does not")
    for name, token_id in special_tokens.items():
        if not isinstance(name, str) or not hasattr(token_id, "__index__"):
            raise TypeError(f"special_tokens maps names to ids, and not {name!r} to {token_id!r}")
    return {name: index(token_id) for name, token_id in special_tokens.items()}


def check_ids(token_ids: Collection[int], number: int) -> None:
    """Check that all ids are token ids.

    Raises:
        VocabularyError: an id is negative, or is `number` or more.
    """
    if token_ids and not (min(token_ids) >= 0 and max(token_ids) < number):
        wrong = next(token_id for token_id in token_ids if not 0 <= token_id < number)
        raise VocabularyError(f"id {wrong} is outside the {number} tokens")


def vocabulary_hint(value: Any) -> str | None:
    """Return a hint on how to make a vocabulary from a tokenizer, a path or a dictionary; None for other values."""
    if hasattr(value, "get_vocab") or hasattr(value, "backend_tokenizer"):
        return (
            "prepare its vocabulary once: decoding.vocabulary_of(tokenizer), or tokenfst.from_transformers(tokenizer)"
        )
    if isinstance(value, str | PathLike):
        return "read the file with tokenfst.load_vocabulary(path)"
    if isinstance(value, Mapping):
        return "give the bytes of each token in order of their ids: tokenfst.Vocabulary(tokens, eos_ids)"
    return None


def shown(value: Any) -> str:
    """Describe a value for a message: the start of its `repr`, and its type."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    text = repr(value)
    return f"{text[:60]}{'...' * (len(text) > 60)} ({type(value).__name__})"
