"""What is wrong with a grammar, and what is known about its rules before they are compiled.

    check_names(grammar)        names that nothing defines, or that two things do; calls where none can be
    productive(parts)           which rules have a text at all
    nullable(parts)             which rules match the empty text
    components(successors)      rules that call each other, those called first
    report(grammar)             rules without a text, and rules that the start never reaches

All of it takes time in proportion to the grammar, and nothing recurses with its depth.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from automata.errors import EmptyLanguage, GrammarError
from automata.expr import Call, Complement, Difference, Expr, Intersection, Label, Literal, Lookahead, Lookbehind
from automata.limits import Work, under_way
from automata.pushdown.grammar import Grammar
from automata.pushdown.parts import END, RESERVED, START, Part, Rules, lay_rules

# What compares whole texts, or looks at what stands around.
_WITHOUT_CALLS = Intersection | Difference | Complement | Lookahead | Lookbehind


@dataclass(frozen=True, slots=True)
class Report:
    """What is odd about a grammar, though nothing is wrong with it.

    Attributes:
        unproductive: the rules without any text, in the order of definition.
        unreachable: the rules that no text of the start has a part of, the unproductive ones left out.
    """

    unproductive: tuple[str, ...]
    unreachable: tuple[str, ...]


def report(grammar: Grammar, work: Work | None = None) -> Report:
    """Which rules have no text, and which are never called on the way from the start.

    Raises:
        GrammarError: the grammar means nothing.
        LimitExceeded: a rule is larger than allowed, or the time is up.
    """
    with under_way(work) as work:
        check_names(grammar)
        rules = lay_rules(grammar, work)
        have_text = productive(rules.parts, work)
        drop_calls(rules.parts, have_text)
        called = reachable(rules)
        names = range(rules.num_rules)
        return Report(
            tuple(rules.names[rule] for rule in names if not have_text[rule]),
            tuple(rules.names[rule] for rule in names if have_text[rule] and rule not in called),
        )


def error(grammar: Grammar, reason: str, rule: str | None = None) -> GrammarError:
    """An error in a rule, with its place."""
    place = grammar.places.get(rule) if rule is not None else None
    if place is None:
        return GrammarError(reason, rule=rule)
    return GrammarError(reason, rule=rule, line=place.line, column=place.column)


def check_names(grammar: Grammar) -> None:
    """Goes on where every name has one meaning.

    Raises:
        GrammarError: the start, an ignored word or a called rule is not defined; a name is that of a rule and of a
            lexical rule; a call stands in a lexical rule, in an operand of an intersection, difference or complement,
            or in an assertion; a label's name is reserved.
    """
    if grammar.start not in grammar.rules and grammar.start not in grammar.lexical:
        raise GrammarError(f"the start rule {grammar.start!r} is not defined")
    for name in grammar.lexical:
        if name in grammar.rules:
            raise error(grammar, f"{name!r} is both a rule and a lexical rule", name)
    for name in grammar.ignored:
        if name not in grammar.lexical:
            raise GrammarError(f"{name!r} is ignored between words and is no lexical rule")
    for name, expr in grammar.rules.items():
        _check_calls(grammar, name, expr)
    for name, lexical in grammar.lexical.items():
        for part, _ in _calls_and_labels(lexical.expr):
            if isinstance(part, Call):
                raise error(grammar, f"a lexical rule cannot call another rule, {part.name!r}", name)
            _check_label(grammar, name, part)


def _check_calls(grammar: Grammar, name: str, expr: Expr) -> None:
    for part, compared in _calls_and_labels(expr):
        if not isinstance(part, Call):
            _check_label(grammar, name, part)
        elif part.name not in grammar.rules and part.name not in grammar.lexical:
            raise error(grammar, f"rule {part.name!r} is not defined", name)
        elif compared is not None:
            raise error(grammar, f"the call of rule {part.name!r} stands within {_KINDS[compared]}", name)


_KINDS: dict[type[Expr], str] = {
    Intersection: "an intersection",
    Difference: "a difference",
    Complement: "a complement",
    Lookahead: "a look-ahead",
    Lookbehind: "a look-behind",
}


def _check_label(grammar: Grammar, name: str, label: Expr) -> None:
    if isinstance(label, Label) and label.name.startswith(RESERVED):
        raise error(grammar, f"the label {label.name!r} has a reserved name", name)


def _calls_and_labels(expr: Expr) -> Iterable[tuple[Expr, type[Expr] | None]]:
    """The calls and labels of an expression, and the kind of node that they may not stand in, if they do."""
    seen: set[tuple[int, type[Expr] | None]] = set()
    waiting: list[tuple[Expr, type[Expr] | None]] = [(expr, None)]
    while waiting:
        node, compared = waiting.pop()
        if isinstance(node, Call | Label):
            yield node, compared
        elif not isinstance(node, Literal) and (operands := node.operands()) and (id(node), compared) not in seen:
            seen.add((id(node), compared))
            if compared is None and isinstance(node, _WITHOUT_CALLS):
                compared = type(node)
            waiting += [(part, compared) for part in operands]


def productive(parts: Sequence[Part], work: Work) -> list[bool]:
    """Which rules have a text."""
    steps = []
    for part in parts:
        marks = [(source, target) for source, _, target in part.marks]
        steps.append([*part.arcs[:, ::3].tolist(), *part.epsilon.tolist(), *marks])
    return _finished(parts, steps, work)


def nullable(parts: Sequence[Part], work: Work) -> list[bool]:
    """Which rules match the empty text."""
    return _finished(parts, [part.epsilon.tolist() for part in parts], work)


def _finished(parts: Sequence[Part], steps: Sequence[Iterable[Sequence[int]]], work: Work) -> list[bool]:
    """Which parts lead from their start to their end by some steps, and by calls of other parts that do."""
    calls: list[list[tuple[int, int, int]]] = [[] for _ in parts]  # of each part: from where to where it is called
    after: list[dict[int, list[int]]] = []
    for number, part in enumerate(parts):
        targets: dict[int, list[int]] = {}
        for source, target in steps[number]:
            targets.setdefault(source, []).append(target)
        after.append(targets)
        for source, callee, target in part.calls:
            calls[callee].append((number, source, target))
    seen = [{START} for _ in parts]
    waiting = [(number, START) for number in range(len(parts))]
    finished = [False] * len(parts)
    while waiting:
        number, state = waiting.pop()
        for target in after[number].get(state, ()):
            if target not in seen[number]:
                seen[number].add(target)
                waiting.append((number, target))
        if state == END and not finished[number]:
            work.check()
            finished[number] = True
            # From now on a call of this part is a step like any other.
            for caller, source, target in calls[number]:
                after[caller].setdefault(source, []).append(target)
                if source in seen[caller] and target not in seen[caller]:
                    seen[caller].add(target)
                    waiting.append((caller, target))
    return finished


def drop_calls(parts: Sequence[Part], have_text: Sequence[bool]) -> None:
    """Leaves out the calls of rules without a text."""
    if not all(have_text):
        for part in parts:
            part.calls = [call for call in part.calls if have_text[call[1]]]


def reachable(rules: Rules) -> set[int]:
    """The parts that are called, by way of others or not, from the whole text, and that one."""
    seen, waiting = {rules.text}, [rules.text]
    while waiting:
        for _, callee, _ in rules.parts[waiting.pop()].calls:
            if callee not in seen:
                seen.add(callee)
                waiting.append(callee)
    return seen


def check_texts(grammar: Grammar, rules: Rules, have_text: Sequence[bool]) -> None:
    """Goes on where the start and every word have a text.

    Raises:
        EmptyLanguage: the start has none.
        GrammarError: a lexical rule matches nothing, or only the empty text.
    """
    for number in range(len(grammar.rules), rules.num_rules):
        if not have_text[number]:
            name = rules.names[number]
            raise error(grammar, f"the lexical rule {name!r} matches no text but the empty one", name)
    if not have_text[rules.text]:
        without = [name for name, has_text in zip(grammar.rules, have_text, strict=False) if not has_text]
        raise EmptyLanguage(f"the grammar has no text: {_listed(without)} can never come to an end")


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:5]))
    return ("rule " if len(names) == 1 else "rules ") + shown + (" and others" if len(names) > 5 else "")


def components(successors: Sequence[Iterable[int]]) -> list[list[int]]:
    """The strongly connected components of a graph, each after those that it leads to (Tarjan 1972)."""
    index = [-1] * len(successors)
    low = [0] * len(successors)
    on_path = [False] * len(successors)
    path: list[int] = []
    found: list[list[int]] = []
    count = 0
    for root in range(len(successors)):
        if index[root] >= 0:
            continue
        waiting = [(root, iter(successors[root]))]
        index[root] = low[root] = count
        count += 1
        path.append(root)
        on_path[root] = True
        while waiting:
            node, rest = waiting[-1]
            for target in rest:
                if index[target] < 0:
                    index[target] = low[target] = count
                    count += 1
                    path.append(target)
                    on_path[target] = True
                    waiting.append((target, iter(successors[target])))
                    break
                if on_path[target]:
                    low[node] = min(low[node], index[target])
            else:
                waiting.pop()
                if waiting:
                    low[waiting[-1][0]] = min(low[waiting[-1][0]], low[node])
                if low[node] == index[node]:
                    members: list[int] = []
                    while not members or members[-1] != node:
                        members.append(path.pop())
                        on_path[members[-1]] = False
                    found.append(members)
    return found
