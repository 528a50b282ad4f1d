"""VisiblyPushdownGrammar: rules that call each other only after a byte of their own, as in any bracketed language.

    rule    an NFA over expressions, byte automata and calls
    call    at a state where nothing else is read: another rule is read, and then the text continues at a state that
        depends on the exit at which the rule ended. A call may be nondeterministic: several rules after the same text
    exit    how a rule ended: a number that the rule gives to each of its ends
    flag    something that has happened since the rule was called; guarded arcs test flags and set them

In a JSON text, the caller reads `{` and calls; the rule reads everything up to and including `}` and ends at a state
without arcs. So the text alone shows when the stack is pushed and popped. These are the visibly pushdown languages
(Alur & Madhusudan 2004), which are closed under union, intersection and complement, and whose automata can be made
deterministic. Determinization needs exits: one rule reads the text between two brackets for all conditions on it at
once, and its exit says which of the conditions hold.

With flags, a rule that reads each of n things once, in any order, takes one state for each thing. Without flags it
takes 2^n states; `unfolded` writes these out if an automaton must have all of its states. A lazy automaton makes only
the states that texts reach. For this, the grammar must guarantee two properties:

- from every state that a text leads to, with the flags that it has set, an end can be reached;
- it can be reached along the first guarded arc that is open in each state.

Only lazy automata support nondeterministic calls: they follow all of the called rules until the text tells them apart.

`automata.pushdown.network.Network` is the counterpart for general grammars. Visibly pushdown grammars have no left
recursion, no tail calls, no lexical rules and no look-ahead after an end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from automata.byte_automaton import ByteAutomaton
from automata.drawing import shown, shown_table
from automata.expressions import Expr
from automata.visibly_pushdown.conditions import TRUE, Conditions
from automata.visibly_pushdown.paths import CountedPaths
from automata.visibly_pushdown.units import CountedUnits

ArcLanguage: TypeAlias = Expr | ByteAutomaton | CountedUnits | CountedPaths


class VisiblyPushdownCall(NamedTuple):
    """A call: `rule` is read at `source`, and the text continues at `targets[i]` if the rule ended at exit i; -1
    forbids that exit."""

    source: int
    rule: int
    targets: tuple[int, ...]


# A detour of this length means that distances count no way through the state.
MAX_DETOUR: Final = 1 << 29


class GuardedArc(NamedTuple):
    """An arc that reads nothing; only guarded arcs leave its source.

    Attributes:
        source, target: the states.
        sets: the flag that the arc sets; -1 for none. The arc is closed if the flag is set already.
        condition: the number of the condition under which the arc is open, in the rule's conditions.
    """

    source: int
    target: int
    sets: int = -1
    condition: int = TRUE


@dataclass(slots=True)
class VisiblyPushdownRule:
    """One rule, as it is being built; states are numbered from 0, the start.

    Attributes:
        num_states: the number of states.
        arcs: source, language and target of each arc; expressions have no calls.
        epsilon: source and target of each epsilon arc.
        calls: at most one from each state; nothing else leaves a state with a call.
        ends: pairs of a state and an exit; nothing leaves these states.
        num_exits: the number of exits.
        guarded: the guarded arcs; following the first open one in each state leads to an end.
        conditions: the conditions under which guarded arcs are open.
        detours: pairs of a state and a number of tokens, which distances add for a text that passes through the state,
            because something that the rules do not describe may forbid the shortest way from there. Only lazy automata
            use them.
    """

    num_states: int = 1
    arcs: list[tuple[int, ArcLanguage, int]] = field(default_factory=list)
    epsilon: list[tuple[int, int]] = field(default_factory=list)
    calls: list[VisiblyPushdownCall] = field(default_factory=list)
    ends: list[tuple[int, int]] = field(default_factory=list)
    num_exits: int = 1
    guarded: list[GuardedArc] = field(default_factory=list)
    conditions: Conditions | None = None
    detours: list[tuple[int, int]] = field(default_factory=list)

    def state(self) -> int:
        """Add a state."""
        self.num_states += 1
        return self.num_states - 1

    @property
    def only_read(self) -> ByteAutomaton | CountedUnits | CountedPaths | None:
        """The language of the rule's only arc, if the rule consists of this arc and one end; None for an expression or
        for any other rule."""
        if len(self.arcs) != 1 or len(self.ends) != 1 or self.epsilon or self.calls or self.guarded:
            return None
        source, language, target = self.arcs[0]
        if isinstance(language, Expr) or source != 0 or target == 0 or self.ends[0][0] != target:
            return None
        return language


@dataclass(frozen=True, slots=True)
class VisiblyPushdownGrammar:
    """Rules by number. The rule `start` reads the whole text; it has one exit and no guarded arcs; nothing calls it.

    Attributes:
        has_nondeterministic_calls: whether several rules may be called after the same text.
    """

    rules: tuple[VisiblyPushdownRule, ...]
    start: int = 0
    has_nondeterministic_calls: bool = False

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the rules, with their sizes and what they call."""
        rows = [
            (
                f"{number}{' (start)' if number == self.start else ''}",
                f"{rule.num_states:,}",
                ", ".join(map(str, sorted({called.rule for called in rule.calls}))),
                f"{rule.num_exits:,}",
            )
            for number, rule in enumerate(self.rules)
        ]
        head = ("rule", "states", "calls", "ways to end")
        return shown("visibly pushdown grammar", f"{len(self.rules):,} rules") + shown_table(head, rows)
