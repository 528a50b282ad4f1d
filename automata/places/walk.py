"""Walk: reads a text through an expression or a grammar, following all ways to read it side by side.

    walk_through     an expression, a pattern or a grammar -> Walk
    Walk.read        read one more byte; False if no way reads it; `read_label` for a label
    Walk.places      the places of all ways: the parts that read next

Leaves, which are expressions without places inside, are read by their automata. Each way stores the count of a
repetition as a number. Words are read as a lexer reads them (`automata.pushdown.grammar`): the longest match by whole
characters, lazy words first, then priority.

A walk reads all texts that the language allows, and may read more: assertions are ignored, a lexer's choice is not
undone if it leads to no end, and there is no choice among words in a composed grammar or in one with
`ambiguity="parallel"`. So the caller says which bytes may come next (`places(allowed)`), and places that read none of
these are left out.

Rejected: derivatives of expressions (they lose where a part came from); marks in the automata (which are minimized, and
serve masks).
"""

from __future__ import annotations

from dataclasses import replace

from automata.byte_automaton import ByteAutomaton
from automata.compile.blame import excerpt
from automata.compile.compiler import compile_expr
from automata.errors import WeightedLanguage
from automata.expressions import (
    EPSILON,
    Alternation,
    Call,
    Concatenation,
    Expr,
    Label,
    Literal,
    Lookahead,
    Lookbehind,
    Repetition,
    Weighted,
    alternation,
    repeat,
)
from automata.limits import spend
from automata.places.frames import END, EXPR, LOOP, PARTS, READ, RETURN, SPAN, Frame, Opened
from automata.places.place import Place
from automata.places.spans import Spanned, spanned_pattern
from automata.pushdown.grammar import Grammar
from automata.pushdown.layout import words_by_priority
from automata.texts import bytes_after
from automata.weighted import compile_weighted

# Appended to the name of an ignored word that is read between words. Ignored words follow any other word, but not this
# one, because it is already in a repetition.
_IGNORED = " (ignored)"
# The cost of following a frame, in steps of `spend`.
_FRAME_STEPS = 10


def walk_through(constraint: str | Expr | Grammar) -> Walk:
    """Return the walk through a constraint, before the first byte.

    Args:
        constraint: a pattern in Python's dialect, an expression or a grammar.

    Raises:
        PatternError: it is not a pattern.
        LimitExceeded: there are more ways than the current compilation has time for.
    """
    if isinstance(constraint, Grammar):
        return Walk(Call(constraint.start), constraint, None)
    pattern = constraint if isinstance(constraint, str) else None
    return Walk(spanned_pattern(constraint) if isinstance(constraint, str) else constraint, None, pattern)


class Walk:
    """The ways to read a text, as far as it has been read.

    Attributes:
        position: the number of bytes read.
        may_end: whether the text may end here by some way.
        labels: the labels that may come next, each with the frames after it.
    """

    def __init__(self, whole: Expr, grammar: Grammar | None, pattern: str | None) -> None:
        """Start before the first byte.

        Args:
            whole: the expression of whole texts.
            grammar: the rules that it calls.
            pattern: the pattern to which the spans of its parts refer.
        """
        self.position = 0
        self._grammar, self._pattern = grammar, pattern
        self._chooses_words = grammar is not None and grammar.ambiguity == "error" and not grammar.composing
        self._order = _priorities(grammar)
        names = dict.fromkeys(grammar.ignored) if grammar else ()
        ignored = repeat(alternation(*[Call(name + _IGNORED) for name in names]), 0) if names else EPSILON
        self._ignored = ignored
        self._leaves: dict[int, tuple[Expr, ByteAutomaton]] = {}
        self._next_bytes: dict[tuple[int, int], frozenset[int]] = {}
        # The number of bytes that are left of a character, and the ways that continue only if it continues no word.
        self._num_left, self._provisional = 0, set[Frame]()
        self._begin()
        end = Frame(END, None, None)
        self._push(Frame(EXPR, self._frame(EXPR, end, None, whole), None, ignored))
        self._close()

    def read(self, byte: int) -> bool:
        """Read a byte; return whether some way continues."""
        moved: list[tuple[Frame, int]] = []
        for frame in self._reading:
            assert frame.automaton is not None
            state = frame.automaton.step(frame.number, bytes([byte]))
            if state >= 0:
                moved.append((frame, state))
        if self._chooses_words:
            moved = self._without_ended(moved, byte)
        provisional = self._provisional
        self.position += 1
        self._begin()
        self._provisional = {
            entered for frame, state in moved if (entered := self._enter(frame, state)) and frame in provisional
        }
        self._close()
        return bool(moved)

    def _without_ended(self, moved: list[tuple[Frame, int]], byte: int) -> list[tuple[Frame, int]]:
        """Leave out the ways on which words have ended, if some word continues.

        Within a character they are not left out yet; see `native/automata/pushdown/provisional_ends.h`.
        """
        if self._provisional:
            ended = self._provisional
            self._num_left -= 1
        else:
            ended = self._ended
            self._num_left = bytes_after(byte)
        if not any(self._is_begun(frame) and frame not in ended for frame, _ in moved):
            self._provisional = set()
            return moved
        self._provisional = ended if self._num_left else set()
        return moved if self._num_left else [(frame, state) for frame, state in moved if frame not in ended]

    def read_label(self, names: frozenset[str]) -> bool:
        """Read a symbol that stands for some labels; return whether some way continues."""
        after = [frame for name in names for frame in self.labels.get(name, ())]
        self.position += 1
        self._begin()
        for frame in after:
            self._push(frame)
        self._close()
        return bool(after)

    def places(self, allowed: frozenset[int] | None = None) -> tuple[Place, ...]:
        """Return the parts that read next, each once, in the order in which they stand in the constraint.

        Args:
            allowed: the bytes that may come next; None for all that the ways read.
        """
        reads = [(frame, self._bytes_from(frame)) for frame in self._reading]
        if self._chooses_words:
            begun = frozenset[int]().union(*[own for frame, own in reads if self._is_begun(frame)])
            certain = frozenset(byte for byte in begun if not bytes_after(byte))
            reads = [(frame, own - certain if frame in self._ended else own) for frame, own in reads]
        found: dict[Place, frozenset[int]] = {}
        for frame, own in reads:
            expected = own if allowed is None else own & allowed
            if expected:
                place = self._place(frame)
                found[place] = found.get(place, frozenset()) | expected
        return tuple(replace(place, expected=expected) for place, expected in found.items())

    # Ways

    def _begin(self) -> None:
        """Clear everything that belongs to the previous position."""
        self.may_end = False
        self.labels: dict[str, list[Frame]] = {}
        self._known: dict[tuple[int, ...], Frame] = {}
        self._seen: set[Frame] = set()
        self._waiting: list[Frame] = []
        self._reading: list[Frame] = []
        self._ended: set[Frame] = set()  # those of `_reading` that come after the end of a word
        self._opened: dict[str, Opened] = {}
        self._words: list[Opened] = []

    def _frame(
        self, kind: int, next_: Frame | None, opened: Opened | None, expr: Expr | None, number: int = 0
    ) -> Frame:
        """Return a frame; at one position, equal frames are one object."""
        key = (kind, id(next_), id(opened), id(expr), number)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Frame(kind, next_, opened, expr, number, self.position)
        return found

    def _push(self, frame: Frame) -> None:
        if frame not in self._seen:
            self._seen.add(frame)
            self._waiting.append(frame)

    def _close(self) -> None:
        """Follow all ways to the leaves that read next; continue after words last, when all that end are known."""
        self._drain()
        if self._words:
            chosen = self._words
            if self._chooses_words:
                best = min(self._order[_plain(word.name)] for word in chosen)
                chosen = [word for word in chosen if self._order[_plain(word.name)] == best]
                if best[0] == 0:
                    self._reading = [frame for frame in self._reading if not self._is_begun(frame)]
            number = len(self._reading)
            for word in chosen:
                self._resume(word)
            self._drain()
            self._ended.update(self._reading[number:])

    def _drain(self) -> None:
        while self._waiting:
            spend(_FRAME_STEPS)
            frame = self._waiting.pop()
            if frame.kind == EXPR:
                self._open(frame)
            elif frame.kind == PARTS:
                self._parts(frame)
            elif frame.kind == LOOP:
                self._end_round(frame)
            elif frame.kind == RETURN:
                self._return(frame)
            elif frame.kind == END:
                self.may_end = True
            else:
                assert frame.next is not None
                self._push(frame.next)

    def _open(self, frame: Frame) -> None:
        """Begin to read an expression."""
        expr, after, opened = frame.expr, frame.next, frame.opened
        assert after is not None
        match expr:
            case Spanned(inner):
                self._push(self._frame(EXPR, self._frame(SPAN, after, opened, expr), opened, inner))
            case Weighted(inner, _, _):
                self._push(self._frame(EXPR, after, opened, inner))
            case Concatenation():
                self._parts(self._frame(PARTS, after, opened, expr))
            case Alternation(parts):
                for part in parts[::-1]:
                    self._push(self._frame(EXPR, after, opened, part))
            case Repetition(_, low, high):
                if low == 0:
                    self._push(after)
                if high != 0:
                    self._begin_round(frame, 1)
            case Call(name):
                self._call(name, after)
            case Label(name):
                self.labels.setdefault(name, []).append(after)
            case Lookahead() | Lookbehind():
                self._push(after)
            case _:
                assert expr is not None
                self._leaf(expr, after, opened)

    def _parts(self, frame: Frame) -> None:
        """Read the next part of a concatenation."""
        assert isinstance(frame.expr, Concatenation)
        assert frame.next is not None
        parts, at = frame.expr.parts, frame.number
        if at == len(parts):
            self._push(frame.next)
        else:
            after = self._frame(PARTS, frame.next, frame.opened, frame.expr, at + 1)
            self._push(self._frame(EXPR, after, frame.opened, parts[at]))

    def _begin_round(self, frame: Frame, number: int) -> None:
        """Begin round `number` of a repetition."""
        assert isinstance(frame.expr, Repetition)
        if frame.expr.high is None:
            number = min(number, frame.expr.low + 1)  # larger numbers make no difference
        after = self._frame(LOOP, frame.next, frame.opened, frame.expr, number)
        self._push(self._frame(EXPR, after, frame.opened, frame.expr.inner))

    def _end_round(self, frame: Frame) -> None:
        """Continue after a round of a repetition. If it read nothing, the missing rounds can read nothing as well."""
        assert isinstance(frame.expr, Repetition)
        assert frame.next is not None
        is_empty = frame.since == self.position
        if is_empty or frame.number >= frame.expr.low:
            self._push(frame.next)
        if not is_empty and (frame.expr.high is None or frame.number < frame.expr.high):
            self._begin_round(frame, frame.number + 1)

    def _leaf(self, expr: Expr, after: Frame, opened: Opened | None) -> None:
        """Begin to read a leaf by its automaton."""
        known = self._leaves.get(id(expr))
        if known is None:
            try:
                automaton = compile_expr(expr)
            except WeightedLanguage:
                automaton = compile_weighted(expr).support
            known = self._leaves[id(expr)] = expr, automaton
        if not known[1].is_empty:
            frame = self._frame(READ, after, opened, expr, known[1].start)
            frame.automaton = known[1]
            self._arrive(frame)

    def _enter(self, frame: Frame, state: int) -> Frame:
        """Continue in a leaf from a state; return the new frame."""
        after = self._frame(READ, frame.next, frame.opened, frame.expr, state)
        after.automaton, after.since = frame.automaton, frame.since
        self._arrive(after)
        return after

    def _arrive(self, frame: Frame) -> None:
        assert frame.automaton is not None
        assert frame.next is not None
        if frame not in self._seen:
            self._seen.add(frame)
            self._reading.append(frame)
            if frame.automaton.final[frame.number]:
                self._push(frame.next)

    # Rules

    def _call(self, name: str, after: Frame) -> None:
        """Call a rule; at each position it is opened only once."""
        opened = self._opened.get(name)
        if opened is None:
            assert self._grammar is not None
            lexical = self._grammar.lexical.get(_plain(name))
            body = self._grammar.rules[name] if lexical is None else lexical.expr
            opened = self._opened[name] = Opened(name, self.position, lexical is not None)
            self._push(self._frame(EXPR, Frame(RETURN, None, opened), opened, body))
        if after not in opened.callers:
            opened.callers.append(after)
            if opened.is_empty:
                self._push(after)

    def _return(self, frame: Frame) -> None:
        """Continue after a rule; words wait until it is known which of them ends here. No word is empty."""
        opened = frame.opened
        assert opened is not None
        if not opened.is_word:
            opened.is_empty = opened.is_empty or opened.begin == self.position
            self._resume(opened)
        elif opened.begin < self.position:
            self._words.append(opened)

    def _resume(self, opened: Opened) -> None:
        for after in opened.callers:
            if opened.is_word and not opened.name.endswith(_IGNORED):
                self._push(self._frame(EXPR, after, after.opened, self._ignored))
            else:
                self._push(after)

    def _is_begun(self, frame: Frame) -> bool:
        """Return whether a way is inside a word of which it has read at least one byte."""
        return frame.opened is not None and frame.opened.is_word and frame.opened.begin < self.position

    # Places

    def _bytes_from(self, frame: Frame) -> frozenset[int]:
        """Return the bytes that a leaf reads next."""
        automaton, state = frame.automaton, frame.number
        assert automaton is not None
        key = id(automaton), state
        if key not in self._next_bytes:
            found = (byte for byte in range(256) if automaton.step(state, bytes([byte])) >= 0)
            self._next_bytes[key] = frozenset(found)
        return self._next_bytes[key]

    def _place(self, frame: Frame) -> Place:
        """Return the place of a way, without the bytes that it expects: its leaf, or the repetition of that leaf."""
        expr, span, above = frame.expr, frame.next, frame.next
        done = self.position - frame.since
        rest = expr.value[done:] if isinstance(expr, Literal) and done else b""
        while span is not None and span.kind != SPAN:
            span = span.next
        if above is not None and above is span:
            above = above.next
        count = None
        if above is not None and above.kind == LOOP:
            expr, count = above.expr, above.number - 1
            span = above.next if above.next is not None and above.next.kind == SPAN else span
        assert expr is not None
        rules, word, begun = self._rules(frame)
        if self._pattern is not None and span is not None and isinstance(span.expr, Spanned):
            where = span.expr.start, span.expr.end
            return Place(frozenset(), self._pattern[slice(*where)], where, count, rest, rules, word, begun)
        return Place(frozenset(), excerpt(expr), None, count, rest, rules, word, begun)

    def _rules(self, frame: Frame) -> tuple[tuple[str, ...], str | None, int]:
        """Return the open rules of a way (the shortest chain), the word that it reads, and how much of that is read."""
        if frame.opened is None:
            return (), None, 0
        inner = frame.opened
        known = {id(inner)}
        # Rules in the order of their distance from the innermost one, and the place of the one that each has called.
        outwards, called = [inner], [-1]
        for place, opened in enumerate(outwards):
            spend(1)
            for caller in opened.callers:
                outer = caller.opened
                if outer is None:
                    word = _plain(inner.name) if inner.is_word else None
                    return _names(outwards, called, place), word, self.position - inner.begin if inner.is_word else 0
                if id(outer) not in known:
                    known.add(id(outer))
                    outwards.append(outer)
                    called.append(place)
        raise AssertionError("every rule was called from the start")


def _names(outwards: list[Opened], called: list[int], place: int) -> tuple[str, ...]:
    """Return the names of the rules from one of `outwards` to the innermost one, without a word."""
    names = list[str]()
    while place > 0:
        names.append(outwards[place].name)
        place = called[place]
    return tuple(names if outwards[0].is_word else [*names, outwards[0].name])


def _plain(name: str) -> str:
    return name.removesuffix(_IGNORED)


def _priorities(grammar: Grammar | None) -> dict[str, tuple[int, int]]:
    """Return the rank of each word, the least for the most preferred one: 0 if it is lazy, else 1; then its index in
    the order of priority."""
    if grammar is None:
        return {}
    names = words_by_priority(grammar)
    return {name: (0 if grammar.lexical[name].lazy else 1, place) for place, name in enumerate(names)}
