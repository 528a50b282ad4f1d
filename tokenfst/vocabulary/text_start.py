"""What a decoder does at the start of a text, where the tokens are not the end of an earlier one.

Most decoders do nothing there. Those that mark words do: a piece that begins a word writes a space in front of it, and
the first of a text does not. They are one rule on the bytes that a text begins with, and a few tokens apart:

    rule         a leading space is dropped; in front of any other byte comes a prefix
    exceptions   tokens that write something else as the first of a text
    ignored      tokens that write nothing there, and after which the text has still to begin

    SentencePiece      prefix "", and with `remove_extra_whitespaces` every leading piece that is one space is ignored;
                       the byte piece <0x20> is an exception, for only ▁ is dropped
    Strip (Llama 2)    prefix "", nothing else: the space is dropped from the finished text, whoever wrote it
    Metaspace (T5)     prefix "", and a first token with several ▁ is an exception, since it loses them all
    WordPiece (BERT)   prefix "##": a piece in the middle of a word is written as it is; what clean-up joins to the
                       word before it (".", ",") is an exception, since it has neither a space nor a mark

So the detokenizer has two states, "at the start" and "inside", and `tokenfst.text_beginning` makes the automaton
that goes with it: the rule is one more state of the byte automaton, and the walk over the vocabulary knows nothing of
it.

Rejected: the text of every token as the first one (twice the tokens, and a second walk for a handful of differences).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

SPACE = b" "


@dataclass(frozen=True, eq=False)
class TextStart:
    """The rule and its exceptions; immutable. Tokens that write nothing anywhere do not count.

    Attributes:
        prefix: what comes in front of a text whose first byte is not a space; a space is dropped instead.
        exceptions: what tokens write as the first of a text, where it is not what the rule says.
        ignored: tokens that write nothing at the start, and after which the text has still to begin.
    """

    prefix: bytes = b""
    exceptions: Mapping[int, bytes] = field(default_factory=dict)
    ignored: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "exceptions", MappingProxyType(dict(self.exceptions)))

    def is_plain(self, token_id: int) -> bool:
        """Whether the rule alone says what a token does."""
        return token_id not in self.exceptions and token_id not in self.ignored

    def first(self, token_id: int, token: bytes) -> bytes:
        """What a token writes as the first of a text.

        Args:
            token_id: the token.
            token: the bytes that it adds to earlier text, at least one.
        """
        if token_id in self.ignored:
            return b""
        return self.exceptions.get(token_id, self.by_rule(token))

    def by_rule(self, token: bytes) -> bytes:
        """What a token writes as the first of a text if it is no exception."""
        return token[len(SPACE) :] if token.startswith(SPACE) else self.prefix + token

    def fingerprint(self) -> bytes:
        """Bytes that are the same for the same rule and exceptions."""
        return repr((self.prefix, sorted(self.exceptions.items()), sorted(self.ignored))).encode()

    def detokenize(self, token_ids: Iterable[int], tokens: Sequence[bytes] | Mapping[int, bytes]) -> bytes:
        """The text that tokens write by themselves.

        Args:
            token_ids: the tokens.
            tokens: the bytes that each of them adds to earlier text.
        """
        written = bytearray()
        begun = False
        for token_id in token_ids:
            token = tokens[token_id]
            written += token if begun or not token else self.first(token_id, token)
            begun = begun or (bool(token) and token_id not in self.ignored)
        return bytes(written)
