"""TextStart: the rule by which a decoder treats the start of a text differently.

Most decoders do not do this. In vocabularies that mark words, a piece that begins a word writes a space before it,
except at the start of a text. All such decoders follow one rule on the first byte of a text, with a few exceptions:

    rule         a leading space is dropped; a prefix is put before any other first byte
    exceptions   tokens that write other bytes as the first token of a text
    ignored      tokens that write nothing there, so that the text has not begun after them

    SentencePiece      prefix "". With `remove_extra_whitespaces`, leading pieces of one space are ignored. The byte
                       piece <0x20> is an exception, because only ▁ is dropped
    Strip (Llama 2)    prefix "", no exceptions: one space is dropped from the finished text, whichever token wrote it
    Metaspace (T5)     prefix "". A token with several ▁ is an exception, because it loses all of them
    WordPiece (BERT)   prefix "##": a piece inside a word is written as it is. Tokens that clean-up joins to the word
                       before them (".", ",") are exceptions, because they have neither a space nor a mark

The detokenizer thus has two states, at the start and inside a text. `tokenfst.text_beginning` constructs the automata:
the rule adds one state to the byte automaton, and the walk over the vocabulary does not change.

Rejected: storing the bytes of every token at the start of a text (twice the tokens, and a second walk, for a few
differences).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import index
from types import MappingProxyType

SPACE = b" "


@dataclass(frozen=True, eq=False)
class TextStart:
    """The rule of a decoder for the start of a text, and its exceptions; immutable.

    >>> rule = TextStart(exceptions={2: b" "})
    >>> rule.detokenize([0, 1], [b" a", b" b", b" "]), rule.detokenize([2, 0], [b" a", b" b", b" "])
    (b'a b', b'  a')

    Tokens that write nothing inside a text write nothing at its start either, and do not begin it.

    Attributes:
        prefix: the bytes before a text whose first byte is not a space; a leading space is dropped.
        exceptions: the bytes of tokens that write something else as the first token, by id.
        ignored: the ids of tokens that write nothing at the start, so that the text has not begun after them.
    """

    prefix: bytes = b""
    exceptions: Mapping[int, bytes] = field(default_factory=dict)
    ignored: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        # Ids may be NumPy integers, which equal Python's but have another `repr`, and so another fingerprint.
        exceptions = {index(token_id): text for token_id, text in self.exceptions.items()}
        object.__setattr__(self, "exceptions", MappingProxyType(exceptions))
        object.__setattr__(self, "ignored", frozenset(map(index, self.ignored)))

    def __reduce__(self) -> tuple[object, ...]:
        return TextStart, (self.prefix, dict(self.exceptions), self.ignored)

    def is_plain(self, token_id: int) -> bool:
        """Return whether a token is listed neither in `exceptions` nor in `ignored`."""
        return token_id not in self.exceptions and token_id not in self.ignored

    def first(self, token_id: int, token: bytes) -> bytes:
        """Return the bytes that a token writes as the first one of a text.

        Args:
            token_id: the token.
            token: the bytes that it adds to earlier text, at least one.
        """
        if token_id in self.ignored:
            return b""
        return self.exceptions.get(token_id, self.by_rule(token))

    def by_rule(self, token: bytes) -> bytes:
        """Return the bytes that a token writes as the first one of a text if it is not an exception."""
        return token[len(SPACE) :] if token.startswith(SPACE) else self.prefix + token

    def fingerprint(self) -> bytes:
        """Return bytes that are equal for equal rules."""
        return repr((self.prefix, sorted(self.exceptions.items()), sorted(self.ignored))).encode()

    def detokenize(self, token_ids: Iterable[int], tokens: Sequence[bytes] | Mapping[int, bytes]) -> bytes:
        """Return the text that tokens write if the first one begins it.

        Args:
            token_ids: the tokens.
            tokens: the bytes that each token adds to earlier text.
        """
        written = bytearray()
        begun = False
        for token_id in token_ids:
            token = tokens[token_id]
            written += token if begun or not token else self.first(token_id, token)
            begun = begun or (bool(token) and token_id not in self.ignored)
        return bytes(written)
