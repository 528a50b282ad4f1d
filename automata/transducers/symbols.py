"""The meaning of an FST's labels: bytes, characters, texts, or names of tokens.

    TokenType       how to read labels, as the user specifies it
    Symbols         the meaning of the labels that occur on one side of an FST

Every label stands for a sequence of codes. A code is a byte or a code point. The codes of names of tokens are above all
code points, and differ by two, so that they are never joined to runs of consecutive codes.

    "byte"          labels are bytes, as in pynini's strings, and 256 is byte 0, which pynini's strings cannot hold
    "utf8"          labels are code points, as with pynini's `token_type="utf8"`
    symbol table    the text of a symbol is text, but <...> and [...] name tokens
    mapping         from labels to texts, or `Label(name)`

In the first two, symbols that pynini has generated (`[name]` in its strings) name tokens. pynini numbers them from
U+F0000 up, a plane for private use, and knows their names only in the process that made them.

Symbols that are words need a separator between their texts, and symbols that are phones or pieces of words need none; a
symbol table does not say which. So symbols of more than one character are an error unless the caller passes
`separator=" "` or `separator=""`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from automata.arrays import BoolArray, IntArray, int_array, offsets_of
from automata.errors import FstError
from automata.expressions import Label
from automata.openfst import SymbolTable, byte_symbol_table, generated_symbols, openfst_module

# `Any` is a `pywrapfst.SymbolTable`, which has no types of its own.
TokenType: TypeAlias = str | Mapping[int, str | Label] | Any

_NUM_BYTES: Final = 256
# The label of byte 0 where a byte automaton becomes an FST, since label 0 is epsilon's.
_LABEL_OF_ZERO: Final = 256
_NUM_CODE_POINTS: Final = 0x110000
_SURROGATES: Final = (0xD800, 0xDFFF)
# The code of the first name; the next ones follow in steps of two.
FIRST_NAME: Final = _NUM_CODE_POINTS + 2
_BRACKETS: Final = ("<>", "[]")
_HINT: Final = "; a symbol table, or a mapping from labels to texts and Label(name), says what labels stand for"


class Names:
    """The names of tokens that the labels of an FST stand for, and their codes."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}

    def code(self, name: str) -> int:
        """Return the code of a name."""
        return self.codes.setdefault(name, FIRST_NAME + 2 * len(self.codes))


@dataclass(frozen=True)
class Symbols:
    """The labels of one side of an FST and the codes that they stand for.

    Attributes:
        labels: `[n]`, ascending; 0 is epsilon.
        offsets: `[n + 1]`, where the codes of each label begin.
        codes: the codes of all labels in order; epsilon has none.
        is_text: whether codes are code points, which are written in UTF-8.
    """

    labels: IntArray
    offsets: IntArray
    codes: IntArray
    is_text: bool

    @property
    def sizes(self) -> IntArray:
        """`[n]`, the number of codes of each label."""
        return np.diff(self.offsets)

    def spelled(self, places: IntArray, without: BoolArray | None = None) -> tuple[IntArray, IntArray, IntArray]:
        """Return the sequences of codes of the symbols at some places, as `Arcs.chained` takes them.

        The result is the number of codes of each symbol, `[k]`, and the codes of all of them in order, twice: as the
        first and as the last symbols of runs. Where `without` is True, a symbol counts as one without codes.
        """
        sizes = self.sizes[places]
        if without is not None:
            sizes[without] = 0
        starts = np.cumsum(sizes) - sizes
        at = np.arange(sizes.sum()) + np.repeat(self.offsets[places] - starts, sizes)
        return sizes, self.codes[at], self.codes[at]

    def with_separator(self, separator: str) -> Symbols:
        """Return the symbols, and after them one more, without a label, that stands for a separator."""
        codes = np.concatenate([self.codes, int_array([*map(ord, separator)])])
        return Symbols(self.labels, np.append(self.offsets, np.int32(len(codes))), codes, self.is_text)

    def are_names(self) -> BoolArray:
        """Return whether each label names tokens, `[n]`."""
        first: IntArray = np.append(self.codes, 0)[np.minimum(self.offsets[:-1], len(self.codes))]
        named: BoolArray = (self.sizes > 0) & (first >= FIRST_NAME)
        return named


def symbols_of(labels: IntArray, token_type: TokenType, separator: str | None, names: Names) -> Symbols:
    """Return the meaning of labels.

    Args:
        labels: `[n]`, ascending.
        token_type: how they are read; see `TokenType`.
        separator: the text between the texts of symbols, if the caller gave one.
        names: the names of tokens; new ones are added.

    Raises:
        FstError: a label stands for nothing, or its text has more than one character and no separator is given.
        TypeError: `token_type` is not a token type, or maps a label to another type.
        ValueError: there is no such token type.
    """
    if isinstance(token_type, str):
        if token_type not in ("byte", "utf8"):
            raise ValueError(f"a token type is 'byte', 'utf8', a symbol table or a mapping, not {token_type!r}")
        return _characters(labels, token_type == "utf8", names, _generated(labels, token_type))
    if not isinstance(token_type, Mapping) and is_byte_table(token_type):
        beyond = labels[labels > _LABEL_OF_ZERO].tolist()
        return _characters(labels, False, names, {label: token_type.find(label) for label in beyond})
    return _texts(labels, _reader(token_type), separator, names)


def is_byte_table(table: SymbolTable) -> bool:
    """Return whether a symbol table is that of a byte automaton with labels (`ByteAutomaton.fst`).

    A name of tokens may stand in place of a byte's name, so it is enough if most of the names agree.
    """
    if not hasattr(table, "find"):
        return False
    known = byte_symbol_table(())
    shared: int = sum(table.find(label) == known.find(label) for label in range(1, _NUM_BYTES + 1))
    return shared > _NUM_BYTES // 2


def _characters(labels: IntArray, is_text: bool, names: Names, named: Mapping[int, str]) -> Symbols:
    codes = labels.copy()
    if not is_text:
        codes[labels == _LABEL_OF_ZERO] = 0
    # `named` may have the generated symbols of the whole process; only labels that occur here get a name.
    for place, label in enumerate(labels.tolist()):
        if label in named:
            codes[place] = names.code(named[label])
    is_wrong = (codes < 0) | ((codes >= (_NUM_CODE_POINTS if is_text else _NUM_BYTES)) & (codes < FIRST_NAME))
    is_wrong |= (labels >= _NUM_CODE_POINTS) & (codes == labels)
    if is_text:
        is_wrong |= (codes >= _SURROGATES[0]) & (codes <= _SURROGATES[1])
    if is_wrong.any():
        raise _no_character(int(labels[is_wrong.argmax()]), is_text)
    sizes = (labels != 0).astype(np.int32)
    return Symbols(labels, offsets_of(sizes), codes[labels != 0], is_text)


def _no_character(label: int, is_text: bool) -> FstError:
    if is_text:
        is_surrogate = _SURROGATES[0] <= label <= _SURROGATES[1]
        kind = "a surrogate, which UTF-8 cannot write" if is_surrogate else "not a code point"
        return FstError(f"label {label} is {kind}, and not a symbol that pynini has generated in this process{_HINT}")
    return FstError(
        f"label {label} is neither a byte nor a symbol that pynini has generated in this process; "
        f"token_type='utf8' reads code points{_HINT}"
    )


def _generated(labels: IntArray, token_type: str) -> dict[int, str]:
    """Return pynini's generated symbols, if any label could be one."""
    return generated_symbols(token_type) if len(labels) and labels[-1] >= _NUM_BYTES else {}


def _reader(token_type: TokenType) -> Callable[[int], str | Label | None]:
    """Return the function from a label to what it stands for, or to None if the label is unknown."""
    if isinstance(token_type, Mapping):
        return token_type.get
    pywrapfst = openfst_module("pywrapfst")

    if not isinstance(token_type, pywrapfst.SymbolTableView):
        raise TypeError(f"a token type is 'byte', 'utf8', a symbol table or a mapping, not {type(token_type).__name__}")

    def read(label: int) -> str | Label | None:
        if not token_type.member(label):
            return None
        text: str = token_type.find(label)
        is_name = len(text) > 2 and text[0] + text[-1] in _BRACKETS
        return Label(text) if is_name else text

    return read


def _texts(labels: IntArray, read: Callable[[int], str | Label | None], separator: str | None, names: Names) -> Symbols:
    sizes: list[int] = []
    codes: list[int] = []
    for label in labels.tolist():
        meant = read(label) if label else ""
        if isinstance(meant, Label):
            own = [names.code(meant.name)]
        elif isinstance(meant, str):
            own = [*map(ord, meant)]
            _check_text(label, meant, separator)
        elif meant is None:
            raise FstError(f"label {label} is not in the symbol table")
        else:
            raise TypeError(f"label {label} stands for a text or a Label, not for {type(meant).__name__}")
        sizes.append(len(own))
        codes += own
    return Symbols(labels, offsets_of(sizes), int_array(codes), is_text=True)


def check_separator(separator: Any) -> None:
    """Check the text between symbols.

    Raises:
        FstError: it has a surrogate, which UTF-8 cannot encode.
        TypeError: it is not text.
    """
    if not isinstance(separator, str):
        raise TypeError(f"a separator is text, not {type(separator).__name__}")
    try:
        separator.encode()
    except UnicodeEncodeError:
        raise FstError(f"the separator {separator!r} has a surrogate, which UTF-8 cannot write") from None


def _check_text(label: int, text: str, separator: str | None) -> None:
    if label and not text:
        raise FstError(f"label {label} stands for an empty text; label 0 is epsilon")
    if separator is None and len(text) > 1:
        raise FstError(
            f"the symbol {text!r} has more than one character: say what stands between symbols, separator=' ' for "
            "words or separator='' for pieces of words"
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise FstError(f"the symbol {text!r} has a surrogate, which UTF-8 cannot write") from None
