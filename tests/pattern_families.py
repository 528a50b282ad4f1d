"""The patterns of the battery: families written by hand in `patterns/*.txt`, and others that follow a scheme.

A file is a list of families. A line `== name: how` begins one, and says how its patterns, one a line, are read:

    python           in Python's dialect, matching a whole text
    python search    in Python's dialect, matching somewhere
    ecma             in that of ECMA-262, matching a whole text and matching somewhere
    both             in Python's, matching a whole text, and in that of ECMA-262, matching somewhere
"""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

from matchers import Case

_HEADING = re.compile(r"== (.+): (python|python search|ecma|both)")


def families() -> dict[str, list[Case]]:
    """The cases of every family, by its name."""
    found: dict[str, list[Case]] = {}
    for path in sorted((Path(__file__).parent / "patterns").glob("*.txt")):
        how, cases = "", []
        for line in path.read_text(encoding="utf-8").split("\n"):
            heading = _HEADING.fullmatch(line)
            if heading:
                how, cases = heading[2], found.setdefault(f"{path.stem}: {heading[1]}", [])
            elif line:
                cases += _cases(line, how)
    for name, patterns in _schemes().items():
        found[f"scheme: {name}"] = [case for pattern in patterns for case in _cases(pattern, "both")]
    return found | {"scheme: operations": _operations()}


def _cases(pattern: str, how: str) -> list[Case]:
    if how == "ecma":
        return [Case(pattern, "ecma"), Case(pattern, "ecma", search=True)]
    if how == "both":
        return [Case(pattern), Case(pattern, "ecma", search=True)]
    return [Case(pattern, search=how == "python search")]


# Schemes

_ATOMS = ("a", "[ab]", "[^a]", ".", r"\d", r"\w", "(?:ab)", "(?:a|bc)", "(?:a|ab|)", "é", "[à-ü]", "😀")
_QUANTIFIERS = ("?", "*", "+", "{2}", "{1,2}", "{2,}", "{0,3}", "*?")
_FRAMES = ("{}", "^{}$", "^a{}b$", "^(?:{}|c)+$")
_LOOKED_FOR = ("a", "b", "ab", "a|b", "^", "$", ".", "a*b", r"\w$")
_ASSERTIONS = ("(?={})", "(?!{})", "(?<={})", "(?<!{})")
_AROUND = ("{}", "a{}", "{}a", "^.{}b", "^(?:a{}|b)*$")
_ANCHORS = ("^", "$", r"\b", r"\B")
_BETWEEN = ("{}{}", "{}a{}", "{}.*{}", "a{}b|b{}", "(?:{}|{})a")


_OPERANDS = (
    "a*",
    "[ab]+",
    "(?:ab)*",
    "a.?b",
    r"\w{1,3}",
    r"\d+",
    "[^a]*",
    "é|ab?",
    "(?:a|b)*a",
    ".{2}",
    "a(?=b).",
    r"\bb\b",
)


def _operations() -> list[Case]:
    """The operations on languages, which other engines spell as look-around up to the end of the text."""
    pairs = list(product(_OPERANDS, repeat=2))
    both = [Case(f"(?P<AND>(?:{a})(?:{b}))", reference=rf"(?=(?:{a})\Z)(?:{b})") for a, b in pairs]
    minus = [Case(f"(?P<MINUS>(?:{a})(?:{b}))", reference=rf"(?!(?:{b})\Z)(?:{a})") for a, b in pairs]
    return both + minus + [Case(f"(?P<NOT>{a})", reference=rf"(?!(?:{a})\Z)(?s:.*)") for a in _OPERANDS]


def _schemes() -> dict[str, list[str]]:
    return {
        "quantifiers": [frame.format(atom + mark) for atom, mark, frame in product(_ATOMS, _QUANTIFIERS, _FRAMES)],
        "assertions": [
            frame.format(assertion.format(inner))
            for assertion, inner, frame in product(_ASSERTIONS, _LOOKED_FOR, _AROUND)
        ],
        "anchors": [frame.format(*pair) for frame, pair in product(_BETWEEN, product(_ANCHORS, repeat=2))],
    }
