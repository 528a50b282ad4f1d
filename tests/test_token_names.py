"""Names of tokens are readable and all different."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tokenfst import Vocabulary
from tokenfst.vocabulary.names import escaped

PIECES = [b"", b" ", b"a", b"\\", b"#", b"1", b"\xff", b"\xc3", b"\xa9", b"\x85", b"\n", b"<epsilon>", b"x85"]
PIECES += [char.encode() for char in ("␣", "\x85", "\u200b", "\U000e0001")]


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=3).map(b"".join), min_size=1, max_size=12), st.data())
def test_names_are_different_and_print(tokens: list[bytes], data: st.DataObject) -> None:
    tokens += data.draw(st.lists(st.sampled_from(tokens), max_size=3))
    ids = st.integers(0, len(tokens) - 1)
    special = data.draw(st.dictionaries(st.sampled_from(["a", "<|x|>", "two words", "", "\\#1"]), ids, max_size=2))
    names = Vocabulary(tokens, special_tokens=special).names
    assert len({*names, "<epsilon>"}) == len(tokens) + 1
    assert all(name and name.isprintable() and " " not in name for name in names)


@given(st.binary(max_size=6), st.binary(max_size=6))
def test_escapes_tell_bytes_apart(left: bytes, right: bytes) -> None:
    assert (escaped(left) == escaped(right)) == (left == right)


def test_escapes_tell_bytes_from_characters() -> None:
    assert [escaped(text) for text in (b"\x7f", b"\x80", "\x80".encode())] == [r"\x7f", r"\x80", r"\u0080"]


def test_names_by_hand() -> None:
    tokens = ["é".encode(), b" the", b"a\tb", b"", b"", b"\xf0\x9f", b"\\n", b"a", b"a", b"<|call|>", "\u00a0".encode()]
    names = Vocabulary(tokens, eos_ids=3, special_tokens={"<|call|>": 4}).names
    assert names == (
        *("é", "␣the", r"a\tb", r"\#3", "<|call|>", r"\xf0\x9f", r"\\n", "a", r"a\#8", r"<|call|>\#9", r"\u00a0"),
    )
