"""Hostile patterns: see `hostile_inputs`."""

from __future__ import annotations

from hostile_input import Hostile, Inputs, just

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)
LETTERS = "abcdefghijklmnopqrstuvwxyz"

_MISTAKES = (
    *("(", ")", "[", "a{2,1}", "*", "a**", "(?P<n", "\\", "[z-a]", "\\1", "(a)\\1", "(?i", "(?", "[[:foo:]]"),
    *(
        "\\p{Nope}",
        "\\N{NOPE}",
        "(?P=x)",
        "(?(1)a|b)",
        "\\k<x>",
        "(?<=a*)b",
        "a{99999999999999999999}",
        "\\x4",
        "\\u12",
    ),
    *("\\U00110000", "[\\d-z]", "(?<n>a)(?<n>b)", "{1}", "+a", "(?z)a", "\\c", "[]", "[^]", "a{,}", "(?-)"),
)
_STRANGE = {
    "a byte of zeros": "\x00",
    "half a surrogate pair": "\ud800",
    "a set of halves": "[\ud800-\udfff]",
    "two halves": "\\ud83d\\ude00",
    "letters of any script, 1,000": "\\p{L}{1,1000}",
    "every character in any case": "(?i)[\\x00-\\U0010ffff]{100}",
    "Unicode words": "(?u)\\w{50}( \\w{1,50}){0,50}",
    "a long dot": ".{10000}",
    "all but one, 5,000": "[^\\x00]{5000}",
    "sharp s in any case": "(?i)ß+[ſK]*",
    "names in two cases": "(\\p{Lu}\\p{Ll}+ ?){1,100}",
    "lines": "(?m)(^.*$\\n?){50}",
    "boundaries": "(\\b\\w+\\b ?){100}",
    "no boundaries": "(\\Ba\\B|\\bb\\b)*",
    "only anchors": "^$" * 5000,
    "only boundaries": "\\b" * 5000 + "a",
}


def add(inputs: Inputs) -> None:
    """Add all hostile patterns to the inputs."""
    _bounds(inputs)
    _alternatives(inputs)
    _assertions(inputs)
    _sizes(inputs)
    for pattern in _MISTAKES:
        inputs.add(f"pattern, a mistake: {pattern}", Hostile("pattern", just(pattern)))
    for name, pattern in _STRANGE.items():
        inputs.add(f"pattern: {name}", Hostile("pattern", just(pattern)))


def _bounds(inputs: Inputs) -> None:
    many = [(10, 2), (10, 3), (100, 2), (100, 3), (100, 4), (1000, 2), (1000, 3), (10**4, 1), (10**4, 2)]
    for bound, depth in [*many, (10**5, 1), (10**6, 1), (10**9, 1), (2, 12), (2, 16), (2, 30), (3, 12)]:
        pattern = _nested(f"{{1,{bound}}}", depth)
        name = f"pattern: up to {bound:,}, {depth} deep"
        inputs.add(name, Hostile("pattern", just(pattern), ("a", "aa"), ("b", "")))
    for bound, depth in [(10, 3), (100, 2), (100, 3), (1000, 2)]:
        pattern = _nested(f"{{{bound}}}", depth)
        invalid = ("b", "a")
        inputs.add(f"pattern: just {bound:,}, {depth} deep", Hostile("pattern", just(pattern), (), invalid))
    for count in (5, 10, 15, 20, 25, 30, 60, 100, 1000):
        pattern = f"(a|b)*a(a|b){{{count}}}"
        valid, invalid = ("a" * (count + 1), "b" + "a" * count + "b" * 3), ("b" * (count + 1), "")
        inputs.add(
            f"pattern: the letter {count:,} from the end",
            Hostile("pattern", just(pattern), valid if count < 20 else valid[:1], invalid),
        )
    for count in (8, 16, 32, 64, 256):
        name, pattern = f"pattern: any character, then {count} more", f".*a.{{{count}}}"
        inputs.add(name, Hostile("pattern", just(pattern), ("a" + "x" * count,), ("x",)))
    inputs.add("pattern: a count of 5,000 digits", Hostile("pattern", just("a{" + "9" * 5000 + "}")))


def _nested(bound: str, depth: int) -> str:
    pattern = "a" + bound
    for _ in range(depth - 1):
        pattern = f"({pattern}){bound}"
    return pattern


def _alternatives(inputs: Inputs) -> None:
    for name, pattern in {
        "stars of stars": "((((a*)*)*)*)*",
        "pluses of pluses": "(((a+)+)+)+",
        "the same twice": "((a|a)*|(a|a)*)*",
        "one, two or more": "(" + "|".join("a" * size for size in range(1, 51)) + ")*",
        "pairs": "(a|b)" * 30 + "|a*",
        "two pluses": "(a+a+)+b|a",
        "an option in a plus": "(a|a?)+",
        "twenty options": "(a?){20}a{20}|a",
        "a hundred options": "(a?){100}a{100}|a",
        "a thousand options": "(a?){1000}a{1000}|a",
        "stars in a row": "a*" * 1000,
        "stars of letters in a row": "".join(f"{letter}*" for letter in LETTERS) * 20,
        "sets that overlap": "|".join(f"[a-{letter}]*{letter}" for letter in LETTERS[1:]) + "|a",
        "any of two, in the middle": "(a|b)*(a(a|b){8}b|b(a|b){8}a)(a|b)*|a",
    }.items():
        inputs.add(f"pattern: {name}", Hostile("pattern", just(pattern), ("a",), ("?",)))
    for count in (5, 8, 12):
        pattern = "|".join(f"(a{{{prime}}})*" for prime in PRIMES[:count])
        inputs.add(
            f"pattern: a multiple of any of {count} primes",
            Hostile("pattern", just(pattern), ("", "aa", "aaa"), ("a", "b")),
        )


def _assertions(inputs: Inputs) -> None:
    for count in (4, 6, 8, 12):
        pattern = "".join(f"(?=(a{{{prime}}})*$)" for prime in PRIMES[:count]) + "a*"
        inputs.add(
            f"pattern: a multiple of each of {count} primes",
            Hostile("pattern", just(pattern), ("",), ("a", "aa", "aaaaaa"[:5])),
        )
    for count in (5, 10, 16, 26):
        pattern = "".join(f"(?=.*{letter})" for letter in LETTERS[:count]) + "[a-z]+"
        inputs.add(
            f"pattern: each of {count} letters in any order",
            Hostile("pattern", just(pattern), (LETTERS,), ("a", "zyx")),
        )
        pattern = "".join(f"(?!.*{letter}.*{letter})" for letter in LETTERS[:count]) + "[a-z]+"
        inputs.add(
            f"pattern: none of {count} letters twice",
            Hostile("pattern", just(pattern), (LETTERS[:20], "zz" if count < 26 else "z"), ("aa", "bab")),
        )
    for count in (10, 30, 100):
        pattern = f"[ab]*(?<=a.{{{count}}})"
        inputs.add(
            f"pattern: looks {count} back",
            Hostile("pattern", just(pattern), ("a" * (count + 1),), ("b" * (count + 1),)),
        )
    for depth in (10, 100, 1000):
        pattern = "(?=" * depth + "a" + ")" * depth + "a"
        inputs.add(f"pattern: looks ahead {depth} deep", Hostile("pattern", just(pattern), ("a",), ("b",)))
    for name, pattern in {
        "in a loop": "((?=a)a|(?!a)b)*",
        "to the end, in a loop": "(a(?=.*b)|b)*",
        "for a loop, in a loop": "(a(?=(aa)*(b|$))|b)*",
        "both ways, in a loop": "((?<=^|b)a(?=b|$)|b)*",
        "for what cannot be": "(?=b)a|b",
        "and denies it": "(?!(?!(?!a)))a|b|(?=a)a",
    }.items():
        inputs.add(f"pattern: looks ahead {name}", Hostile("pattern", just(pattern), ("b",), ("c",)))


def _sizes(inputs: Inputs) -> None:
    for count in (100, 1000, 10_000, 100_000):
        inputs.add(
            f"pattern: {count:,} parentheses",
            Hostile("pattern", just("(" * count + "a" + ")" * count), ("a",), ("b",)),
        )
        inputs.add(
            f"pattern: {count:,} words",
            Hostile(
                "pattern",
                just("|".join(f"word{number * 7919 % 1_000_003}" for number in range(count))),
                ("word0",),
                ("word",),
            ),
        )
        inputs.add(
            f"pattern: a search for {count:,} words",
            Hostile(
                "pattern",
                just(".*(" + "|".join(f"word{number * 7919 % 1_000_003}" for number in range(count)) + ").*"),
                ("a word0",),
                ("word",),
            ),
        )
    for name, pattern, valid in (
        ("a literal of 100,000", "ab" * 50_000, ()),
        ("a literal of a million", "ab" * 500_000, ()),
        ("a literal of a million in any case", "(?i)" + "ab" * 500_000, ()),
        ("100,000 that stay open", "(" * 100_000, ()),
        ("100,000 sets that stay open", "[" * 100_000, ()),
        ("100,000 empty alternatives", "a|" * 100_000, ("a", "")),
        ("10,000 options", "a?" * 10_000, ("a", "")),
        ("10,000 groups that nest in alternatives", "(a|" * 10_000 + "b" + ")" * 10_000, ("a", "b")),
        ("100,000 backslashes", "\\" * 100_001, ()),
        ("1,000 stars that nest", "(?:" * 1000 + "a" + ")*" * 1000, ("a", "")),
        ("1,000 sets in a row", "[a-z0-9_]" * 1000, ()),
        ("a set of 100,000 characters", "[" + "".join(chr(0x4E00 + 2 * n) for n in range(10_000)) * 10 + "]", ("一",)),
    ):
        inputs.add(f"pattern: {name}", Hostile("pattern", just(pattern), valid, ()))
