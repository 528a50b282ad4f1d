"""From a grammar, or its network, to a pushdown automaton."""

from __future__ import annotations

from collections.abc import Mapping

from automata._native import CollectionsPaused
from automata.limits import Work, current_work
from automata.pushdown.ambiguity import explained
from automata.pushdown.assembly import Assembly
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.construction import Construction
from automata.pushdown.grammar import Ambiguity, Grammar, Place, check_ambiguity
from automata.pushdown.network import Network, build_network


def compile_grammar(grammar: Grammar, *, work: Work | None = None) -> PushdownAutomaton:
    """Return the pushdown automaton of a grammar; it is deterministic unless `grammar.ambiguity` is "parallel".

    Args:
        grammar: the grammar.
        work: the limits of the compilation, and the means to stop it; by default, those of the current compilation.

    Raises:
        GrammarError: the grammar cannot be honoured; the message says where and why.
        NondeterministicGrammar: two derivations cannot be told apart, and `ambiguity` is "error".
        EmptyLanguage: the grammar has no text.
        LimitExceeded: a limit was exceeded.
        Cancelled: another thread cancelled the compilation.
        TypeError: the argument is not a grammar; the message says how to make one.
    """
    if not isinstance(grammar, Grammar):
        hint = ": constraints.grammar(...) reads a grammar's text" if isinstance(grammar, str) else ""
        raise TypeError(f"expected a grammar, not {type(grammar).__name__}{hint}")
    work = current_work(work)
    with CollectionsPaused():
        return compile_network(
            build_network(grammar, work),
            ambiguity=grammar.ambiguity,
            max_configurations=grammar.max_configurations,
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
    """Return the pushdown automaton of a network; see `compile_grammar`.

    Args:
        network: the network.
        ambiguity, max_configurations: as for `Grammar`.
        places: where rules were defined, for errors.
        work: as for `compile_grammar`.
    """
    work = current_work(work)
    check_ambiguity(ambiguity, max_configurations)
    side_by_side = ambiguity == "parallel"
    carried = max_configurations if side_by_side else 1
    found = Construction(network, work, side_by_side=side_by_side, max_configurations=carried)
    assembly = Assembly(found, carried, work, places or {})
    if found.unbounded:
        raise explained(found, found.unbounded, *assembly.automaton(), places or {})
    if len(network.word):
        assembly.prune()
    return assembly.automaton()[0]
