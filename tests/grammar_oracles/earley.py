"""An oracle for grammars: Earley's algorithm over bytes or words, which shares no code with the pushdown automata.

    item          a state of a rule's automaton, and the place where the rule began
    column        the items that hold at one place of the text
    State         a column for each place so far; where there are words, also how far each one that may be next is read
    Recognizer    steps from state to state by one byte

Grammars without lexical rules are read byte by byte. Otherwise rules hold nothing but calls, and the text is cut into
words first, in context: at each place those that an item waits for and the ignored ones compete; all that can go on
with the next byte do; where none can, the word that ends there with the greatest priority is read, and none other.

Earley 1970, "An efficient context-free parsing algorithm"; the treatment of empty rules is Aycock and Horspool's
(2002): a call of a rule that may be empty is passed at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from grammar_oracles.rule_automata import RuleAutomata, Symbol

from automata import compile_expr
from automata.pushdown.grammar import Grammar

Item = tuple[int, int]

# How many words have to be read for a beginning to count as one.
CROSSINGS = 3


@dataclass(frozen=True, eq=False, slots=True)
class Column:
    """The items at one place, and for each rule that some wait for, where these go on after it."""

    items: frozenset[Item]
    waiting: dict[str, list[Item]]


@dataclass(frozen=True, eq=False, slots=True)
class State:
    """What has been read: whole words, and of the word at hand whether a byte of it, and where in each that it may
    be."""

    columns: tuple[Column, ...]
    inside: bool = False
    words: tuple[tuple[str, int], ...] = ()


class Recognizer:
    """Says of texts whether they are in a grammar's language, and of bytes whether a text begins with them."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.automata = RuleAutomata()
        for name, expr in grammar.rules.items():
            self.automata.add(name, expr)
        self.nullable = self._least(lambda symbol, known: isinstance(symbol, str) and symbol in known)
        productive = self._least(lambda symbol, known: symbol in known or symbol not in grammar.rules)
        assert productive == set(grammar.rules), f"rules without a text: {set(grammar.rules) - productive}"
        self.words = {name: compile_expr(rule.expr) for name, rule in grammar.lexical.items()}
        self.tables = {name: automaton.by_byte().tolist() for name, automaton in self.words.items()}
        # Of words that end together the first in this order is read.
        self.order = sorted(grammar.lexical, key=lambda name: grammar.lexical[name].priority, reverse=True)
        first = self._column([(self.automata.start[grammar.start], 0)], ())
        self.start = self._ready((first,))

    def accepts(self, text: bytes) -> bool:
        """Whether a text is in the language."""
        state = self.read(text)
        return state is not None and self.is_final(state)

    def viable(self, prefix: bytes) -> bool:
        """Whether some text of the language begins so.

        For grammars with words it says so as soon as some words in a row can be read from there, each ended by the next
        one; that the text can be finished after those, it takes for granted.
        """
        state = self.read(prefix)
        return state is not None and self.leads_on(state)

    def read(self, text: bytes) -> State | None:
        """The state after a text from the start, or None where it cannot be read."""
        state: State | None = self.start
        for byte in text:
            if state is None:
                return None
            state = self.step(state, byte)
        return state

    def step(self, state: State, byte: int) -> State | None:
        """The state after one more byte, or None."""
        if not self.words:
            column = self._scan(state.columns, byte)
            return None if column is None else State((*state.columns, column))
        further = self._further(state.words, byte)
        if not further and state.inside:
            ended = self._ended(state)
            if ended is None:
                return None
            state = self._ready(ended)
            further = self._further(state.words, byte)
        return State(state.columns, True, further) if further else None

    def is_final(self, state: State) -> bool:
        """Whether the text may end here."""
        columns = self._ended(state) if state.inside else state.columns
        return columns is not None and any(
            self.automata.final[place] and origin == 0 and self.automata.rule_of[place] == self.grammar.start
            for place, origin in columns[-1].items
        )

    def leads_on(self, state: State) -> bool:
        """As `viable`, after the state's text."""
        if not self.words:
            return True
        seen = set()
        stack = [(state, 0)]
        while stack:
            at, crossed = stack.pop()
            if crossed == CROSSINGS or self.is_final(at):
                return True
            for byte in self._bytes_on(at):
                further = self.step(at, byte)
                assert further is not None
                place = (len(further.columns), further.columns[-1].items, further.words)
                if place not in seen:
                    seen.add(place)
                    stack.append((further, crossed + (not self._further(at.words, byte))))
        return False

    def cut(self, text: bytes) -> list[bytes]:
        """The words of a text that can be read, ignored ones left out."""
        state, begin, found = self.start, 0, []
        for place, byte in enumerate([*text, None]):
            if state.inside and (byte is None or not self._further(state.words, byte)):
                if self._winner(state) not in self.grammar.ignored:
                    found.append(text[begin:place])
                begin = place
            if byte is not None:
                following = self.step(state, byte)
                assert following is not None, text
                state = following
        return found

    # Words

    def _ready(self, columns: tuple[Column, ...]) -> State:
        """Before a word: all that may be next, from their starts."""
        rows = self.automata.next
        wanted = {symbol for place, _ in columns[-1].items for symbol in rows[place]} & self.words.keys()
        wanted |= set(self.grammar.ignored)
        return State(columns, False, tuple((word, self.words[word].start) for word in self.order if word in wanted))

    def _further(self, words: tuple[tuple[str, int], ...], byte: int) -> tuple[tuple[str, int], ...]:
        moved = [(word, self.tables[word][place][byte]) for word, place in words]
        return tuple((word, place) for word, place in moved if place >= 0)

    def _bytes_on(self, state: State) -> set[int]:
        """One byte for each continuation: first in the word at hand, then in the next one."""
        found = {byte for word, place in state.words for byte in self._leading(word, place)}
        ended = self._ended(state) if state.inside else None
        if ended is not None:
            begun = {byte for word, place in self._ready(ended).words for byte in self._leading(word, place)}
            found |= {byte for byte in begun if not self._further(state.words, byte)}
        return found

    def _leading(self, word: str, place: int) -> list[int]:
        automaton = self.words[word]
        first = {int(k): byte for byte, k in reversed(list(enumerate(automaton.byte_class.tolist())))}
        return [byte for k, byte in first.items() if automaton.next[place, k] >= 0]

    def _winner(self, state: State) -> str | None:
        """Of the words that could end here the one that does."""
        return next((word for word, place in state.words if self.words[word].final[place]), None)

    def _ended(self, state: State) -> tuple[Column, ...] | None:
        """The columns once the word at hand ends, or None where none can or the winner does not fit."""
        word = self._winner(state)
        if word is None or word in self.grammar.ignored:
            return None if word is None else state.columns
        column = self._scan(state.columns, word)
        return None if column is None else (*state.columns, column)

    # Earley's algorithm

    def _scan(self, columns: tuple[Column, ...], symbol: Symbol) -> Column | None:
        rows = self.automata.next
        kernel = [(rows[place][symbol], origin) for place, origin in columns[-1].items if symbol in rows[place]]
        return self._column(kernel, columns) if kernel else None

    def _column(self, kernel: Iterable[Item], before: tuple[Column, ...]) -> Column:
        """Completes and predicts from the items that were scanned."""
        automata, here = self.automata, len(before)
        items, queue = set(kernel), list(set(kernel))
        waiting: dict[str, list[Item]] = {}
        while queue:
            place, origin = item = queue.pop()
            new: list[Item] = []
            if automata.final[place] and origin < here:
                new += before[origin].waiting.get(automata.rule_of[place], ())
            for symbol, target in automata.next[place].items():
                if symbol in automata.start:
                    name = str(symbol)
                    waiting.setdefault(name, []).append((target, origin))
                    new.append((automata.start[name], here))
                    if name in self.nullable:
                        new.append((target, origin))
            for item in new:
                if item not in items:
                    items.add(item)
                    queue.append(item)
        return Column(frozenset(items), waiting)

    def _least(self, passes: Callable[[Symbol, set[str]], bool]) -> set[str]:
        """The least set of rules of which an automaton comes to an end over symbols that pass, given the set so far."""
        automata, known = self.automata, set[str]()
        while True:
            found = set()
            for name, start in automata.start.items():
                seen, queue = {start}, [start]
                while queue:
                    for symbol, target in automata.next[queue.pop()].items():
                        if target not in seen and passes(symbol, known):
                            seen.add(target)
                            queue.append(target)
                if any(automata.final[place] for place in seen):
                    found.add(name)
            if found == known:
                return known
            known = found
