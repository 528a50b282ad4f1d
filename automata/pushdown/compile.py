"""From a grammar, or its network, to a pushdown automaton."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from automata.limits import Work, current_work
from automata.pushdown.ambiguity import explained
from automata.pushdown.assembly import Assembly
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.construction import Construction
from automata.pushdown.grammar import Grammar, Place
from automata.pushdown.network import Network, build_network

Ambiguity = Literal["error", "parallel"]


def compile_grammar(
    grammar: Grammar,
    *,
    ambiguity: Ambiguity = "error",
    max_configurations: int = 8,
    work: Work | None = None,
) -> PushdownAutomaton:
    """Compile a grammar.

    Args:
        grammar: the grammar.
        ambiguity: "error": the automaton is deterministic, or an error says why there is none. "parallel": several
            configurations are carried side by side, and lexical rules are resolved in each of them separately.
        max_configurations: how many are carried at most, for "parallel".
        work: the limits, and how the compilation is stopped; without it, those of the current compilation.

    Raises:
        GrammarError: the grammar cannot be honoured; the message says where and why.
        NondeterministicGrammar: two derivations that cannot be told apart.
        EmptyLanguage: the grammar has no text.
        LimitExceeded: a limit was passed.
        Cancelled: another thread cancelled the compilation.
        TypeError: it is no grammar; the message says what makes one.
    """
    if not isinstance(grammar, Grammar):
        hint = ": constraints.grammar(...) reads a grammar's text" if isinstance(grammar, str) else ""
        raise TypeError(f"expected a grammar, not {type(grammar).__name__}{hint}")
    work = current_work(work)
    return compile_network(
        build_network(grammar, work),
        ambiguity=ambiguity,
        max_configurations=max_configurations,
        places=grammar.places,
        work=work,
    )


def compile_network(
    network: Network,
    *,
    ambiguity: Ambiguity = "error",
    max_configurations: int = 8,
    places: Mapping[str, Place] | None = None,
    work: Work | None = None,
) -> PushdownAutomaton:
    """Compile the network of a grammar; see `compile_grammar`.

    Args:
        network: the network.
        ambiguity, max_configurations, work: as for `compile_grammar`.
        places: where rules were defined, for errors.
    """
    work = current_work(work)
    if ambiguity not in ("error", "parallel") or max_configurations < 1:
        raise ValueError('`ambiguity` is "error" or "parallel", and `max_configurations` at least 1')
    side_by_side = ambiguity == "parallel"
    carried = max_configurations if side_by_side else 1
    found = Construction(network, work, side_by_side=side_by_side, max_configurations=carried)
    assembly = Assembly(found, carried, work, places or {})
    if found.unbounded:
        raise explained(found, found.unbounded, *assembly.automaton(), places or {})
    if len(network.word):
        assembly.prune()
    return assembly.automaton()[0]
