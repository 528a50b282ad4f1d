"""Patterns compiled, their languages by `re`, and characters to try them on."""

from __future__ import annotations

import re
import sys

import numpy as np
from strategies import strings

from automata import ByteAutomaton, compile_expr, parse


def compiled(pattern: str) -> ByteAutomaton:
    return compile_expr(parse(pattern))


def language_by_re(pattern: str, length: int, alphabet: bytes = b"abc") -> set[bytes]:
    match = re.compile(pattern, re.ASCII).fullmatch
    return {text for text in strings(alphabet, length) if match(text.decode())}


CLASSES = [r"\d", r"\w", r"\s", r"\D", r"\W", r"\S"]


def in_utf8(automaton: ByteAutomaton) -> list[int]:
    """How many byte strings of each length up to 6 an automaton accepts."""
    table = automaton.by_byte()
    counts, found = {automaton.start: 1} if automaton.start >= 0 else {}, []
    for _ in range(7):
        found.append(sum(ways for state, ways in counts.items() if automaton.final[state]))
        following: dict[int, int] = {}
        for state, ways in counts.items():
            for target in table[state][table[state] >= 0].tolist():
                following[target] = following.get(target, 0) + ways
        counts = following
    return found


def by_length(characters: list[str]) -> list[int]:
    """How many characters take each number of bytes up to 6 in UTF-8 (RFC 3629, section 3)."""
    codes = np.frombuffer("".join(characters).encode("utf-32-le"), np.uint32)
    lengths = 1 + (codes >= 0x80) + (codes >= 0x800) + (codes >= 0x10000)
    found: list[int] = np.bincount(lengths, minlength=7).tolist()
    return found


CHARACTERS = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]
