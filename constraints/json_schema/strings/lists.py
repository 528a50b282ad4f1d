"""Lists: the spellings of the strings on a list, and of all strings that are not on it, directly from the list.

Most objects allow any name besides those that their schema lists, so nearly every object has such a language. The
native core makes it in time linear in the length of the list (`native/constraints/lists.h`).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from automata import expressions as ex
from automata.byte_automaton import ByteAutomaton
from automata.compile.compiler import compile_expr
from automata.errors import LimitExceeded
from automata.limits import current_work
from constraints import _native
from constraints.json_schema.strings.spelling import spelled


def spellings_of(texts: list[str]) -> ByteAutomaton:
    """Return all spellings, in quotes, of some strings.

    Args:
        texts: strings that UTF-8 can write.

    Raises:
        LimitExceeded: the list is too long, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    if not texts:
        return compile_expr(ex.EMPTY)
    return _made(texts, every_spelling(plain=False), besides=False)


def spellings_besides(texts: list[str], *, plain: bool = False) -> ByteAutomaton:
    """Return the spellings, in quotes, of all strings except some.

    Args:
        texts: strings that UTF-8 can write.
        plain: whether only plain spellings are wanted (`spelling`).

    Raises:
        LimitExceeded: the list is too long, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    every = every_spelling(plain=plain)
    return _made(texts, every, besides=True) if texts else every


@lru_cache(maxsize=2)
def every_spelling(*, plain: bool) -> ByteAutomaton:
    """Return the automaton of all spellings, or of the plain ones."""
    return spelled(compile_expr(ex.ANY_TEXT), plain=plain)


def _made(texts: list[str], every: ByteAutomaton, *, besides: bool) -> ByteAutomaton:
    ascending = sorted(set(texts))
    codes = np.frombuffer("".join(ascending).encode("utf-32-le"), "<i4")
    offsets = np.array([0, *map(len, ascending)], np.int32).cumsum(dtype=np.int32)
    try:
        tables = _native.listed_spellings(codes, offsets, every.tables, besides, current_work().budget)
    except LimitExceeded as error:
        raise error.of(f"a list of {len(ascending):,} strings, as JSON spells them,") from None
    return ByteAutomaton(tables)
