"""ByteDecoder: how a decoder changes the bytes that tokens write, as a transducer.

A detokenizer is a transducer (Koo, Liu & He 2024, section 2.2). Most detokenizers write the bytes of the tokens
unchanged, except at the start of a text (`tokenfst.vocabulary.text_start`). Others clean up spaces, change case or
normalize characters. These are modelled as a transducer over the tokens' bytes, which a user writes with pynini:

    spelled(constraint)     the bytes for which a reader sees a text of the constraint: the preimage
    Reading                 bytes as they arrive -> the part of the reader's text that is certain

Constraints are compiled through `spelled`, so all automata and masks are about the bytes that tokens write, as without
a decoder.

Rejected: composing the transducer with the tokens' bytes before a constraint is known (a state of the decoder for each
state of the vocabulary's trie).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np

from automata import expressions as ex
from automata.arrays import int_rows
from automata.compile.nfa import FIRST_LABEL
from automata.drawing import shown
from automata.errors import FstError, VocabularyError
from automata.expressions import Acceptor, Expr, Label
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.grammar import Grammar
from automata.transducer_tables import NOTHING, SAME, TransducerTables, ascending
from automata.transducers import preimage, transducer_of

# If a transducer has more pending texts for the bytes that it has read, it is taken not to be a function.
_MAX_PENDING: Final = 1000


class ByteDecoder:
    """A transducer from the bytes that tokens write to the text that a reader sees; immutable.

    Attributes:
        tables: the transducer.
    """

    def __init__(self, fst: Any) -> None:
        """Read a transducer.

        Args:
            fst: anything that `automata.transducer_of` takes, or its result.

        Raises:
            VocabularyError: the transducer has weights or labels.
            FstError, TypeError: as for `automata.transducer_of`.
        """
        self.tables = fst if isinstance(fst, TransducerTables) else transducer_of(fst)
        if self.tables.costs is not None or self.tables.labels:
            what = "weights" if self.tables.costs is not None else f"labels ({', '.join(self.tables.labels)})"
            raise VocabularyError(f"a detokenizer maps bytes to text, and this transducer has {what}")
        self._with_labels = lru_cache(maxsize=16)(self._passing)

    def __reduce__(self) -> tuple[object, ...]:
        return ByteDecoder, (self.tables,)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the transducer."""
        return shown("detokenizer", "what the decoder does to the bytes of tokens") + self.tables._repr_html_()

    def spelled(self, constraint: Any) -> Expr:
        """Return the language of the bytes that may be written for a constraint; labels in the constraint are kept.

        Args:
            constraint: an expression, a byte automaton, or a constraint whose language is regular.

        Raises:
            FstError: the language is not regular.
        """
        if isinstance(constraint, Grammar | PushdownAutomaton):
            raise FstError("a detokenizer that is a transducer takes regular languages, and a grammar's is not")
        seen = preimage(self.tables, constraint)
        names = _label_names(seen)
        return ex.transduction(seen.operands()[0], self._with_labels(names).inverted()) if names else seen

    def _passing(self, labels: tuple[str, ...]) -> TransducerTables:
        """Return the transducer that also reads and writes labels, in every state."""
        loops = [
            number
            for state in range(self.tables.num_states)
            for symbol in range(FIRST_LABEL, FIRST_LABEL + len(labels))
            for number in (state, symbol, symbol, SAME, SAME, state)
        ]
        arcs = np.concatenate([self.tables.arcs, int_rows(loops, 6)])
        return TransducerTables(self.tables.num_states, arcs[ascending(arcs)], self.tables.epsilon, labels)

    def decode(self, written: bytes) -> bytes:
        """Return the text that a reader sees for some bytes; if these are not a whole text, the part that is certain.

        Raises:
            VocabularyError: the transducer writes several texts for these bytes.
        """
        reading = Reading(self)
        return reading.put(written) + reading.finish()

    @cached_property
    def arcs_from(self) -> dict[int, list[list[int]]]:
        """The arcs by source state, including arcs that neither read nor write."""
        found: dict[int, list[list[int]]] = {}
        for arc in self.tables.arcs.tolist():
            found.setdefault(arc[0], []).append(arc)
        for source, target in self.tables.epsilon.tolist():
            found.setdefault(source, []).append([source, NOTHING, NOTHING, NOTHING, NOTHING, target])
        return found


class Reading:
    """A text that is being read: the states of the transducer, and for each the output that is not yet certain."""

    def __init__(self, decoder: ByteDecoder) -> None:
        self._decoder = decoder
        self._at = self._closed({(0, b"")})

    def put(self, written: bytes) -> bytes:
        """Read more bytes, and return the text that has become certain since the last call.

        Raises:
            VocabularyError: the transducer writes too many texts for these bytes.
        """
        certain = b""
        for byte in written:
            self._at = self._closed({after for at in self._at for after in self._steps(*at, byte)})
            shared = _common_prefix([text for _, text in self._at])
            certain += shared
            self._at = {(state, text[len(shared) :]) for state, text in self._at}
        return certain

    def finish(self) -> bytes:
        """End the text here, and return the rest of it; b"" if the text is not whole.

        Raises:
            VocabularyError: the transducer writes several texts.
        """
        texts = sorted({text for state, text in self._at if state == 1})
        if len(texts) > 1:
            raise VocabularyError(
                f"the detokenizer writes several texts for the same bytes, which end in {texts[0]!r} or {texts[1]!r}"
            )
        return texts[0] if texts else b""

    def _closed(self, reached: set[tuple[int, bytes]]) -> set[tuple[int, bytes]]:
        """Add the states and texts that the transducer reaches from the given ones without reading."""
        waiting = list(reached)
        while waiting:
            state, text = waiting.pop()
            for _, low, _, *written, target in self._decoder.arcs_from.get(state, ()):
                if low != NOTHING:
                    continue
                for after in _texts(text, written, 0):
                    if (target, after) not in reached:
                        reached.add((target, after))
                        waiting.append((target, after))
            if len(reached) > _MAX_PENDING:
                raise VocabularyError(f"the detokenizer writes more than {_MAX_PENDING:,} texts for the same bytes")
        return reached

    def _steps(self, state: int, text: bytes, byte: int) -> Iterator[tuple[int, bytes]]:
        for _, low, high, *written, target in self._decoder.arcs_from.get(state, ()):
            if low <= byte <= high:
                for after in _texts(text, written, byte):
                    yield target, after


def _label_names(expr: Expr) -> tuple[str, ...]:
    """Return the names of tokens in an expression, ascending."""
    names, stack, seen = set[str](), [expr], {id(expr)}
    while stack:
        node = stack.pop()
        names.update([node.name] if isinstance(node, Label) else ())
        names.update(node.tables.labels if isinstance(node, Acceptor) else ())
        stack += [part for part in node.operands() if id(part) not in seen]
        seen.update(map(id, node.operands()))
    return tuple(sorted(names))


def _common_prefix(texts: list[bytes]) -> bytes:
    if not texts:
        return b""
    first, last = min(texts), max(texts)
    size = next((at for at in range(len(first)) if first[at] != last[at]), len(first))
    return first[:size]


def _texts(text: bytes, written: list[int], byte: int) -> Iterator[bytes]:
    """Yield a text followed by each possible output of an arc that reads a byte."""
    low, high = written
    if low == NOTHING:
        yield text
    elif low == SAME:
        yield text + bytes([byte])
    else:
        for each in range(low, high + 1):
            yield text + bytes([each])
