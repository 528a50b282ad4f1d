"""Explanation: what may come next in a text, and why a token is refused, as an object that prints as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from automata.places import Place
from automata.texts import readable
from tokenfst.explanation.html import table
from tokenfst.explanation.place_rows import Row, aligned, place_rows
from tokenfst.explanation.reasons import SchemaPlace
from tokenfst.explanation.wording import quoted, symbols_in_words

# Why something is refused.
Reason: TypeAlias = Literal["byte", "end", "ended", "silent", "label", "vocabulary", "tokenization"]

_WHY = {
    "ended": "the text has ended",
    "label": "tokens with this name may not come here",
    "silent": "it writes nothing; such tokens come only where the constraint has their names",
    "vocabulary": "no tokens of the vocabulary lead from there to the end of a text",
    "tokenization": "the encoder writes no text of the constraint with this token here (tokenization='canonical')",
}


class NamedToken(NamedTuple):
    """A token and the bytes that it writes."""

    id: int
    text: bytes


@dataclass(frozen=True, slots=True)
class Explanation:
    """What may come next in a text, and why a token is refused. `print` and notebooks show it.

    The attributes from `expected` to `is_syntax` describe one point of the text: `offset`, if a byte is refused; the
    end of the prefix, if the end or a token without text is refused; otherwise the end of the token.

    Attributes:
        prefix: the text so far, in bytes.
        token: the id of the token that was asked about; None if there was none.
        written: the bytes that the token writes.
        is_end: whether the token is an end token.
        reason: why the token is refused; None if it is allowed. "byte": no text of the constraint continues with one of
            its bytes; "end": no text ends here; "ended": the text has already ended; "silent": the token writes nothing
            and has no name in the constraint; "label": it has a name, which may not come here; "vocabulary": its bytes
            may come, but no tokens complete the text after it; "tokenization": the same for the encoder's tokens.
        offset: the position of the refused byte in `prefix + written`; None if no byte is refused.
        expected: the bytes that may come at this point.
        may_end: whether the text may end at this point.
        labels: the names of tokens that may come at this point.
        completion: a shortest text from this point to the end; None if it needs named tokens or is long.
        places: this point in the constraint: parts of a pattern, rules of a grammar, or schemas.
        keywords: the keywords of a schema, as JSON pointers, each of which alone forbids the byte or the end.
        together: keywords that forbid it only together, if none does alone.
        settings: the same as `keywords` for the options of `json_schema`, as they are written in a call.
        is_syntax: whether no JSON text continues in this way, whatever the schema is.
        num_allowed: the number of tokens, including the end token, that may come after the prefix or, if the token is
            allowed, after the token.
        nearest: those of the allowed tokens that are nearest to the refused token (`tokenfst.explanation.nearest`), or
            to `completion` if the refused token writes nothing or no token is refused.
        pattern: the pattern, if the constraint is one.
    """

    prefix: bytes
    token: int | None
    written: bytes
    is_end: bool
    reason: Reason | None
    offset: int | None
    expected: frozenset[int]
    may_end: bool
    labels: tuple[str, ...]
    completion: bytes | None
    places: tuple[Place | SchemaPlace, ...]
    keywords: tuple[str, ...]
    together: tuple[str, ...]
    settings: tuple[str, ...]
    is_syntax: bool
    num_allowed: int
    nearest: tuple[NamedToken, ...]
    pattern: str | None

    @property
    def allowed(self) -> bool:
        """Whether the token is allowed; without a token, whether some text of the constraint begins with the prefix."""
        return self.reason is None

    @property
    def refused_byte(self) -> int | None:
        """The byte that is refused."""
        return None if self.offset is None else (self.prefix + self.written)[self.offset]

    @property
    def token_offset(self) -> int | None:
        """The position of the refused byte in the token; None if it is in the prefix, or no byte is refused."""
        return self.offset - len(self.prefix) if self.offset is not None and self.offset >= len(self.prefix) else None

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation as a dict for `json.dumps`; bytes that are not valid UTF-8 are written as `\\xff`."""
        return {
            "allowed": self.allowed,
            "reason": self.reason,
            "prefix": readable(self.prefix),
            "token": self.token,
            "written": readable(self.written),
            "is_end": self.is_end,
            "offset": self.offset,
            "token_offset": self.token_offset,
            "expected": sorted(self.expected),
            "expected_in_words": self.expected_in_words(),
            "may_end": self.may_end,
            "labels": list(self.labels),
            "completion": None if self.completion is None else readable(self.completion),
            "places": [_place_as_dict(place) for place in self.places],
            "keywords": list(self.keywords),
            "together": list(self.together),
            "settings": list(self.settings),
            "is_syntax": self.is_syntax,
            "num_allowed": self.num_allowed,
            "nearest": [{"id": token, "text": readable(text)} for token, text in self.nearest],
        }

    def expected_in_words(self) -> str:
        """Return in words what may come at this point."""
        return symbols_in_words(self.expected, self.labels, self.may_end)

    def headline(self) -> str:
        """Return the answer in one line."""
        after = f"after {quoted(self.prefix)}" if self.prefix else "at the start"
        if self.token is None:
            return f"{after}:" if self.allowed else f"no text of the constraint begins with {quoted(self.prefix)}"
        name = f"token {self.token} ({quoted(self.written)})" if self.written else f"token {self.token}"
        if self.is_end and self.offset is None:
            return f"the text {'may' if self.allowed else 'may not'} end {after}"
        if self.reason is not None and self.offset is not None and self.token_offset is None:
            return f"no text of the constraint begins with {quoted(self.prefix)}, so {name} is not allowed after it"
        return f"{name} is {'allowed' if self.allowed else 'not allowed'} {after}"

    def rows(self) -> list[Row]:
        """Return the rest of the explanation besides the headline: labels, each with its lines."""
        return list(self._rows())

    def _rows(self) -> Iterator[Row]:
        if self.offset is not None:
            yield "refused", [self._refused()]
        if self.reason in _WHY:
            yield "because", [_WHY[self.reason]]
        if not (self.is_end and self.allowed):
            yield ("then" if self.allowed and self.token is not None else "expected"), [self.expected_in_words()]
        yield from place_rows(self.places, self.pattern, (self.prefix + self.written)[: self.offset])
        yield from self._forbidden()
        yield from self._tokens()
        if self.completion:
            yield "to the end", [quoted(self.completion, len(self.completion))]

    def _forbidden(self) -> Iterator[Row]:
        alone = [*(pointer or "the schema" for pointer in self.keywords), *self.settings]
        if alone:
            each = "it" if len(alone) == 1 else "any one of them"
            how = "with another value" if not self.keywords else f"without {each}"
            yield "forbidden by", [f"{', '.join(alone)}; {how}, this is allowed"]
        if self.together:
            yield "forbidden by", [f"{' and '.join(self.together)} together; without all of them, this is allowed"]
        if self.is_syntax:
            how = "ends here" if self.reason == "end" else "continues like this"
            yield "forbidden by", [f"JSON itself: no JSON text {how}"]

    def _refused(self) -> str:
        assert self.offset is not None
        text = self.prefix + self.written
        places = [f"byte {self.offset} of the text"]
        if self.token_offset is not None and self.token is not None:
            places.insert(0, f"byte {self.token_offset} of the token")
        return f"{quoted(text[self.offset : self.offset + 1])}, {', '.join(places)}"

    def _tokens(self) -> Iterator[Row]:
        if self.num_allowed:
            named = ", ".join(_named(token) for token in self.nearest)
            more = f"; {self.num_allowed:,} tokens are allowed" if len(self.nearest) < self.num_allowed else ""
            yield "allowed" if self.allowed else "nearest", [named + more]

    def __str__(self) -> str:
        """Write the explanation as lines of text."""
        return "\n".join([self.headline(), *(f"  {line}" for line in aligned(self.rows()))])

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return table(self.headline(), self.allowed, self.rows())


def _place_as_dict(place: Place | SchemaPlace) -> dict[str, Any]:
    names = place.__slots__
    found: dict[str, Any] = {name: getattr(place, name) for name in names}
    found["expected"] = sorted(place.expected)
    if isinstance(place, Place):
        found["rest"] = readable(place.rest)
    return found


def _named(token: NamedToken) -> str:
    return f"{quoted(token.text)} (token {token.id})" if token.text else f"the end (token {token.id})"
