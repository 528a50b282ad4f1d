"""TaggedBuilder: the grammar of an object whose members stand between tags: `<parameter=city>Bergen</parameter>`.

Models such as Qwen3-Coder, GLM, MiniMax and DeepSeek write the arguments of a call in this way: strings as they are,
without quotes and escapes, all other values as JSON.

    TaggedMembers   the members of an object, from its container automaton (`containers`)
    TaggedBuilder   builds the grammar: its first rule reads the object, the other rules read arrays and objects in it
    strings_alone   the strings of a schema that allows nothing else

The container automaton is the one from which JSON objects are built, so everything that a schema says about an object
holds: required members, the values of each, their number, and how members depend on each other.

Some tags say whether a value is a string. With others the text decides: it is a string unless it is the JSON of another
value that may stand under this name. So a string that would be read as such a value is left out:

    null, a boolean or a number may stand there     strings that spell one, also for lenient readers: `NULL`, `1_0`
    an array or an object may stand there           strings that begin with `[` or `{`, since JSON nests to any depth

No string contains the tags themselves, not even within JSON. No name contains quotes or angle brackets, or begins or
ends with a blank; a schema that lists such a name is refused.

Rejected: a grammar composed of one schema for each property, which loses what the schema says about several members;
and the language that XGrammar has for these styles, in which a string with a length or a pattern may contain tags.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

from automata import expressions as ex
from automata.byte_automaton import ByteAutomaton
from automata.cache import kept
from automata.errors import SchemaError, UnsupportedSchema
from automata.expressions import ANY_TEXT, Expr
from automata.limits import spend
from automata.pattern import parse
from automata.visibly_pushdown import ArcLanguage, CountedPaths, VisiblyPushdownCall
from constraints.json_schema.building.builder import Earlier, SchemaGrammarBuilder
from constraints.json_schema.building.container_rule import STATE_WEIGHT
from constraints.json_schema.building.layout import Layout
from constraints.json_schema.building.tags import BREAK, Tags
from constraints.json_schema.containers.automaton import ContainerAutomaton, Outcome, State
from constraints.json_schema.formulas.connectives import Always, Formula, Never, Not, conjunction
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.formulas.statements import Kind, Matches, OfKind, Pattern
from constraints.json_schema.reading.document import SchemaDocument
from constraints.json_schema.strings.content import content, string_matches
from constraints.json_schema.strings.language import counted_content, string_is_empty

# The names that can stand in tags: without quotes and angle brackets, and without blanks at their ends.
_NAME: Final = Pattern(r"""^[^\s\u001c-\u001f\u0085<>"'](?:[^<>"'\u0000-\u001f]*[^\s\u001c-\u001f\u0085<>"'])?$""")
_NOT_TEXT: Final = Not(OfKind(Kind.STRING))
# Texts that are read as a value of a kind, without the blanks around them. Python's `int` reads digits of all scripts.
_SPELLED: Final = {
    Kind.NULL: "(?i:null)",
    Kind.BOOLEAN: "(?i:true|false)|[01]",
    Kind.NUMBER: r"(?u:[+-]?[\d_.]*\d[\d_.]*(?:[eE][+-]?[\d_]+)?)",
    Kind.ARRAY: r"\[(?s:.*)",
    Kind.OBJECT: r"\{(?s:.*)",
}
_BREAK: Final = ord("\n")
_BEGINS: Final = "\n" + ANY_TEXT
_ENDS: Final = ANY_TEXT + "\n"
_BLANKS: Final = r"[\s\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*"

# The kinds of values other than strings that may stand under a name, or under the names for which a formula holds.
MemberKinds: TypeAlias = dict[str | Formula, frozenset[Kind]]


class _Member(NamedTuple):
    """A member that may come next: its source, its name, and the states that its values lead to."""

    source: int
    name: str | Formula
    outcomes: Sequence[tuple[Formula, int]]


class _Text(NamedTuple):
    """Strings between tags: whether they stand after a line break of the tags, and whether before one."""

    after_break: bool
    language: ArcLanguage
    before_break: bool


class TaggedMembers:
    """The members of an object.

    Attributes:
        num_states: the number of states of the container automaton.
        members: the members that may come next in each state.
        skips: pairs of states; what may come in the second one may come in the first as well.
        ends: the states in which the object may end.
        kinds: the kinds of values other than strings that may stand under a name, or under the names for which a
            formula holds.
    """

    def __init__(self, automaton: ContainerAutomaton, restriction: Restriction, count: Callable[[int], None]) -> None:
        """Find the members that may come in each state.

        Args:
            automaton: the container automaton of the object.
            restriction: what a formula says about each kind of value.
            count: is called with the weight of each state, and may raise an error if there are too many.
        """
        self.members: list[_Member] = []
        self.skips: list[tuple[int, int]] = []
        self.ends: list[int] = []
        self.kinds: MemberKinds = {}
        self._restriction, self._count = restriction, count
        self._numbers: dict[State, int] = {}
        self._found: list[State] = []
        self._number(automaton.start)
        for source, state in enumerate(self._found):
            spend(200)
            for name, outcomes in automaton.moves(state):
                self._add(source, name, outcomes)
            self.skips += [(source, self._number(skipped)) for skipped in automaton.skips(state)]
            if automaton.end(state) >= 0:
                self.ends.append(source)

    @property
    def num_states(self) -> int:
        return len(self._found)

    def _number(self, state: State) -> int:
        number = self._numbers.setdefault(state, len(self._found))
        if number == len(self._found):
            self._found.append(state)
            self._count(STATE_WEIGHT)
        return number

    def _add(self, source: int, name: str | Formula | None, outcomes: Sequence[Outcome]) -> None:
        assert name is not None
        possible = [(value, self._number(state)) for value, state in outcomes if type(value) is not Never]
        if possible:
            self.members.append(_Member(source, name, possible))
            kinds = (_other_kinds(value, self._restriction) for value, _ in possible)
            self.kinds[name] = self.kinds.get(name, frozenset()).union(*kinds)

    def kinds_under(self, name: str | Formula) -> frozenset[Kind]:
        """Return the kinds that may stand under a name, or under one of the names for which a formula holds."""
        if isinstance(name, str):
            return self.kinds[name]
        others = ((other, kinds) for other, kinds in self.kinds.items() if not isinstance(other, str))
        return frozenset().union(
            *(kinds for other, kinds in others if other == name or not string_is_empty(conjunction((name, other))))
        )


class TaggedBuilder(SchemaGrammarBuilder):
    """Builds one grammar.

    Attributes:
        kinds: those of `TaggedMembers`.
    """

    def __init__(self, restriction: Restriction, layout: Layout, tags: Tags, earlier: Earlier) -> None:
        super().__init__(restriction, layout, earlier, every_string=_without(tags.own))
        self.tags = tags
        self.kinds: MemberKinds = {}
        self._num_container_states = 0
        # By the state after a value, and whether the value is a string: the state before the tag that closes it.
        self._closing: dict[tuple[int, bool], int] = {}

    def _read_root(self, root: Formula) -> None:
        """Build the rule of the whole text, which is that of an object.

        Raises:
            SchemaError: no object satisfies the formula.
            UnsupportedSchema: a name cannot stand in a tag.
        """
        formula = self.restriction.object(root)
        if type(formula) is Never:
            raise SchemaError(
                "arguments between tags are an object, and the schema says something else", keyword="type"
            )
        members = TaggedMembers(self.without_flags((formula,)), self.restriction, self.count_states)
        self.kinds = members.kinds
        # Two states for each state of the container: before a member, and after the tag that closes one.
        rule, num_states = self.rules[0], members.num_states
        self._num_container_states, rule.num_states = num_states, 2 * num_states
        rule.epsilon += members.skips
        end = rule.state()
        rule.ends.append((end, 0))
        rule.epsilon += [(0, end)] * (0 in members.ends)
        targets = [(state, state) for state in range(num_states)] + [(state, end) for state in members.ends]
        rule.arcs += [(self._closed(state), _pattern(BREAK), target) for state, target in targets]
        for member in members.members:
            self._add_member(member, members.kinds_under(member.name))

    def _add_member(self, member: _Member, kinds: frozenset[Kind]) -> None:
        named = self._read(self._read(member.source, _pattern(self.tags.name)), self._name(member.name))
        is_anything = len(member.outcomes) == 1 and type(member.outcomes[0][0]) is Always
        if is_anything and not self.tags.marks_strings:
            kinds = frozenset()  # whichever value is read, it may stand there
        for value, target in member.outcomes:
            if type(self.restriction.string(value)) is not Never:
                begun = self._read(named, _pattern(self.tags.text))
                for text in texts_between(self.plans.string(value), self.tags, kinds):
                    self._add_text(begun, text, self._before_close(target, True))
        if kinds:
            self._add_values(self._read(named, _pattern(self.tags.value or self.tags.text)), member.outcomes)

    def _add_text(self, source: int, text: _Text, target: int) -> None:
        """Add strings, with the line breaks around them that belong to the tags."""
        if text.after_break:
            source = self._read(source, _pattern("\n"))
        if text.before_break:
            source = self._read(source, text.language)
            self._read(source, _pattern("\n"), target)
        else:
            self._read(source, text.language, target)

    def _add_values(self, source: int, outcomes: Sequence[tuple[Formula, int]]) -> None:
        """Add values other than strings, as JSON."""
        if self.tags.is_padded:
            source = self._read(source, _pattern(BREAK))
        targets = [self._before_close(target, False) for _, target in outcomes]
        languages, calls = self.ways([conjunction((value, _NOT_TEXT)) for value, _ in outcomes])
        for language, way in languages:
            self._read(source, language, targets[way])
        for opening, rule, ways in calls:
            called = self._read(source, opening)
            self.rules[0].calls.append(VisiblyPushdownCall(called, rule, tuple([targets[way] for way in ways])))

    def _name(self, name: str | Formula) -> ArcLanguage:
        """Return the language of a name, or of names.

        Raises:
            UnsupportedSchema: the name cannot stand in a tag.
        """
        if not isinstance(name, str):
            return content(conjunction((name, _NAME)))
        if not string_matches(_NAME, name):
            raise UnsupportedSchema(f"the name {name!r} cannot be written in a tag", keyword="properties")
        return ex.literal(name)

    def _before_close(self, target: int, is_text: bool) -> int:
        """Return the state before the tag that closes a value and leads to a state."""
        found = self._closing.get((target, is_text))
        if found is None:
            found = self._closing[target, is_text] = self._state()
            # The line break at the end of a string is in its language.
            close = self.tags.close if is_text or not self.tags.is_padded else BREAK + self.tags.close
            self._read(found, _pattern(close), self._closed(target))
        return found

    def _closed(self, state: int) -> int:
        return self._num_container_states + state

    def _state(self) -> int:
        return self.rules[0].state()

    def _read(self, source: int, language: ArcLanguage, target: int | None = None) -> int:
        target = self._state() if target is None else target
        self.rules[0].arcs.append((source, language, target))
        return target


def strings_alone(document: SchemaDocument, tags: Tags) -> ByteAutomaton | None:
    """Return the strings that satisfy a schema, as they are, if nothing else satisfies it; None if something else does.

    Args:
        document: the schema.
        tags: what no string contains.

    Raises:
        PatternError: a pattern is malformed, or is not regular.
        LimitExceeded: an automaton is too large.
    """
    to, root = Restriction(document.definitions), document.root
    text = to.string(root)
    if type(text) is Never or _other_kinds(root, to):
        return None
    return content(conjunction((text, _without(tags.own))))


def _other_kinds(formula: Formula, to: Restriction) -> frozenset[Kind]:
    """Return the kinds of values, other than strings, for which a formula may hold."""
    others = ((Kind.NUMBER, to.number), (Kind.ARRAY, to.array), (Kind.OBJECT, to.object))
    found = [kind for kind, restricted in others if type(restricted(formula)) is not Never]
    found += [Kind.NULL] * to.null(formula) + [Kind.BOOLEAN] * bool(to.booleans(formula))
    return frozenset(found)


def texts_between(formula: Formula, tags: Tags, kinds: frozenset[Kind]) -> list[_Text]:
    """Return the texts between tags that are read as a string for which a formula about strings holds.

    Args:
        formula: about strings; they contain no tags.
        tags: the tags.
        kinds: the kinds of other values that may stand there.

    Raises:
        PatternError: a pattern is malformed, or is not regular.
        LimitExceeded: an automaton is too large.
    """
    if kinds and not tags.marks_strings:
        spelled = "|".join(_SPELLED[kind] for kind in sorted(kinds, key=lambda kind: kind.value))
        formula = conjunction((formula, Not(Matches(_pattern(f"{_BLANKS}(?:{spelled}){_BLANKS}")))))
    language = counted_content(formula)
    if not tags.is_padded or formula == _without(tags.own):
        return [_Text(False, language, False)]
    # A reader drops one line break at each end. Where the tags have none, the string has none of its own there.
    own = _own_breaks(language)
    found = []
    for breaks in itertools.product((True, False), repeat=2):
        without = [
            Not(Matches(expr))
            for expr, is_own, is_dropped in zip((_BEGINS, _ENDS), own, breaks, strict=True)
            if is_own and not is_dropped
        ]
        found.append(_Text(breaks[0], counted_content(conjunction((formula, *without))), breaks[1]))
    return found


def _own_breaks(language: ByteAutomaton | CountedPaths) -> tuple[bool, bool]:
    """Return whether some string of a language begins with a line break, and whether one ends with one."""
    automaton = language.automaton if isinstance(language, CountedPaths) else language
    arcs = automaton.range_arcs()
    over_break = (arcs.low <= _BREAK) & (arcs.high >= _BREAK)
    return bool(over_break[arcs.source == automaton.start].any()), bool(automaton.final[arcs.target[over_break]].any())


@kept(16)
def _without(pattern: str) -> Formula:
    """Return the formula of the strings in which a pattern matches nowhere."""
    return Not(Matches(ex.concat(ANY_TEXT, _pattern(pattern), ANY_TEXT)))


@kept(256)
def _pattern(pattern: str) -> Expr:
    return parse(pattern)
