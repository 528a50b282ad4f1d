"""Structural tags: JSON that says where constraints begin and end in free text, as engines pass it.

Two forms are in use: that of the engines' first versions (`structures` and `triggers`), and XGrammar's (`format`). A
field that the constraint would not enforce is refused, and the error names it. `constraints.tools.tagged` describes
arguments between tags (`style`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from automata import expressions as ex
from automata.errors import NondeterministicGrammar
from automata.expressions import ANY_CHAR, ANY_TEXT, Expr
from automata.limits import Limits, spend
from automata.pattern import parse
from constraints import free_text, grammar, sequence, token
from constraints.composing.language import part_grammar
from constraints.composing.parsed import Composed, composed
from constraints.composing.part import Composable, Part, concatenated, either, part_of, repeated
from constraints.composing.rules import ByRules
from constraints.json_schema.building.tagged import strings_alone
from constraints.json_schema.building.tags import Tags
from constraints.json_schema.containers.objects import PropertyOrder
from constraints.tools.tagged import DEEPSEEK, DEEPSEEK_41, GLM, MINIMAX, QWEN, QWEN_COMPACT, TaggedArguments
from serving.json_texts import Blanks, blanks_up_to, schema_texts
from serving.tag_fields import Malformed, check_characters, check_fields, count, field, flag, shown, texts_in

# The steps (`spend`) that reading one format takes, without the formats in it.
_STEPS: Final = 100
# How the object of a schema is written, by style. `_COMPACT` is set by `_without_breaks`; no request has this key.
_COMPACT: Final = object()
_STYLES: Final[Mapping[object, Tags | None]] = {
    "json": None,
    "qwen_xml": QWEN,
    _COMPACT: QWEN_COMPACT,
    "glm_xml": GLM,
    "minimax_xml": MINIMAX,
    "deepseek_xml": DEEPSEEK,
    "deepseek_v4_1_xml": DEEPSEEK_41,
}


def structural_tag(tag: Any, blanks: Blanks, limits: Limits, content: Composable | None = None) -> Composable:
    """Return the constraint of a structural tag, in either form.

    Args:
        tag: the tag, as `json.loads` returns it.
        blanks, limits: see `constraint_of`.
        content: the constraint that replaces every format of type "content".

    Raises:
        ValueError: the tag cannot be honoured; the message says where and why.
    """
    if not isinstance(tag, dict):
        raise ValueError(f"a structural tag is an object, not {shown(tag)}")
    return _compilable(_read(tag, _Formats(blanks, limits, content)))


def _compilable(constraint: Composable) -> Composable:
    """Return a constraint; if its rules are nondeterministic, return its grammar with derivations side by side.

    They are nondeterministic if, for example, alternatives with schemas have a common beginning.
    """
    if isinstance(constraint, Composed) and isinstance(constraint, ByRules):
        try:
            _ = constraint.rules
        except NondeterministicGrammar:
            return part_grammar(constraint.to_part(), parallel=True)
    return constraint


def _read(tag: dict[str, Any], formats: _Formats) -> Composable:
    if "format" in tag:
        check_fields(tag, "structural_tag", "")
        return formats.constraint(tag["format"], "format")
    structures, triggers = tag.get("structures"), tag.get("triggers")
    if not isinstance(structures, list) or not isinstance(triggers, list):
        raise ValueError("a structural tag has `format`, or `structures` and `triggers`")
    check_fields(tag, "structures", "")
    tags = []
    for number, each in enumerate(structures):
        where = f"structures[{number}]"
        inside = {"type": "json_schema", "json_schema": field(each, "schema", where)}
        check_fields(each, "structure", where)
        begin, end = field(each, "begin", where), each.get("end", "")
        tags.append({"type": "tag", "begin": begin, "content": inside, "end": end})
    how = {name: tag.get(name) for name in ("at_least_one", "stop_after_first")}
    whole = {"type": "triggered_tags", "triggers": triggers, "tags": tags, **how}
    return formats.constraint(whole, "structures")


class _Ends(NamedTuple):
    """What ends the tag around a format.

    Attributes:
        texts: end texts, none of them empty.
        tokens: end tokens, by number or name.
    """

    texts: Sequence[str] = ()
    tokens: Sequence[int | str] = ()


_NO_ENDS: Final = _Ends()


class _Formats:
    """Reads the formats of XGrammar's structural tags.

    A tag is over as soon as one of its ends is written. So free text anywhere in the tag's content contains none of its
    end texts, and formats that match any token do not match its end token. The content of a tag within it has
    ends of its own. As in XGrammar, a token does not end free text, and a text does not end free tokens.
    """

    def __init__(self, blanks: Blanks, limits: Limits, content: Composable | None) -> None:
        self.blanks: Blanks = blanks
        self.limits = limits
        self.content = content

    def constraint(self, value: Any, where: str, ends: _Ends = _NO_ENDS) -> Composable:
        """Return the constraint of a format.

        Args:
            value: the format.
            where: its place in the structural tag.
            ends: what ends the tag in whose content the format stands.

        Raises:
            ValueError: the format cannot be honoured, or has an unknown type; the message begins with the place.
        """
        spend(_STEPS)
        kind = field(value, "type", where)
        if kind == "content" and self.content is not None:
            return self.content
        read = self._readers(value, where, ends).get(kind) if isinstance(kind, str) else None
        if read is None:
            raise Malformed(f"{where}: a structural tag of type {kind!r} is not supported")
        check_fields(value, kind, where)
        try:
            return read()
        except Malformed:
            raise
        except ValueError as error:
            raise Malformed(f"{where}: {error}") from None

    def _readers(self, value: Any, where: str, ends: _Ends) -> dict[str, Callable[[], Composable]]:
        """Return the function that reads a format of each type."""
        return {
            "const_string": lambda: ex.literal(self._text(value, "value", where)),
            "json_schema": lambda: self._schema(value, where, value.get("style", "json"), ends),
            "qwen_xml_parameter": lambda: self._schema(value, where, "qwen_xml", ends),
            "regex": lambda: parse(self._text(value, "pattern", where)),
            "grammar": lambda: grammar(self._text(value, "grammar", where)),
            "any_text": lambda: self._any_text(value, where, ends),
            "token": lambda: self._token(value, where),
            "exclude_token": lambda: self._other_token(value, where, ends),
            "any_tokens": lambda: self._other_tokens(value, where, ends),
            "sequence": lambda: self._sequence(value, where, ends),
            "or": lambda: self._either(value, where, ends),
            "optional": lambda: self._repeated(value, where, ends, 0, 1),
            "star": lambda: self._repeated(value, where, ends, 0, None),
            "plus": lambda: self._repeated(value, where, ends, 1, None),
            "repeat": lambda: self._repeated(value, where, ends, *self._bounds(value, where)),
            "tag": lambda: sequence(*self._tag(value, where, ends)),
            "triggered_tags": lambda: self._triggered(value, where, ends),
            "tags_with_separator": lambda: self._separated(value, where, ends),
        }

    def _text(self, value: Any, name: str, where: str) -> str:
        text = field(value, name, where)
        if not isinstance(text, str):
            raise Malformed(f"{where}.{name} is text, not {shown(text)}")
        check_characters(text, f"{where}.{name}")
        return text

    def _elements(self, value: Any, where: str) -> list[Any]:
        elements = field(value, "elements", where)
        if not isinstance(elements, list) or not elements:
            raise Malformed(f"{where}.elements is a list of formats, not {shown(elements)}")
        return elements

    def _sequence(self, value: Any, where: str, ends: _Ends) -> Composable:
        elements = enumerate(self._elements(value, where))
        return sequence(*[self.constraint(each, f"{where}.elements[{at}]", ends) for at, each in elements])

    def _schema(self, value: Any, where: str, style: Any, ends: _Ends) -> Composable:
        if not isinstance(style, Hashable) or style not in _STYLES:
            raise Malformed(f"{where}.style is not supported: {shown(style)}")
        schema, most = field(value, "json_schema", where), value.get("max_whitespace_cnt")
        blanks = self.blanks if most is None else blanks_up_to(count(most, f"{where}.max_whitespace_cnt"))
        order: PropertyOrder = "any" if flag(value, "any_order", where) else "schema"
        # Engines write null where no schema was given.
        texts, tags = schema_texts({} if schema is None else schema, blanks, self.limits, order), _STYLES[style]
        if tags is None:
            return texts
        strings = strings_alone(texts.layout.document, tags)
        if strings is None:
            return TaggedArguments(texts, tags)
        ended = ex.alternation(*map(ex.literal, ends.texts))
        return strings - ex.concat(ANY_TEXT, ended, ANY_TEXT) if ends.texts else strings

    def _token(self, value: Any, where: str) -> Expr:
        return token(_token_name([field(value, "token", where)], f"{where}.token"))

    def _other_token(self, value: Any, where: str, ends: _Ends) -> Expr:
        without, place = value.get("exclude_tokens") or [], f"{where}.exclude_tokens"
        if ends.tokens and isinstance(without, list):
            without = [*without, *(each for each in ends.tokens if each not in without)]
            place += " and the end token of the tag around it"
        return token(_token_name(without, place, others=True) if without else "<[*]>")

    def _other_tokens(self, value: Any, where: str, ends: _Ends) -> Expr:
        most = value.get("max_tokens")
        high = None if most is None else count(most, f"{where}.max_tokens")
        return ex.repeat(self._other_token(value, where, ends), 0, high)

    def _repeated(self, value: Any, where: str, ends: _Ends, low: int, high: int | None) -> Composable:
        content = self.constraint(field(value, "content", where), f"{where}.content", ends)
        return composed(repeated(part_of(content), low, high), str)

    def _bounds(self, value: Any, where: str) -> tuple[int, int | None]:
        low, high = count(field(value, "min", where), f"{where}.min"), field(value, "max", where)
        bound = None if high == -1 else count(high, f"{where}.max")
        if bound is not None and bound < low:
            raise Malformed(f"{where}.max is {bound}, which is less than {where}.min, {low}")
        return low, bound

    def _excluded(self, value: Any, where: str) -> list[str]:
        """Return the texts that may not occur."""
        given = value.get("excludes") or []
        without = texts_in(given, f"{where}.excludes") if given else []
        if "" in without:
            raise Malformed(f"{where}.excludes[{without.index('')}] is the empty text, which occurs in every text")
        return without

    def _any_text(self, value: Any, where: str, ends: _Ends) -> Expr:
        without = [*self._excluded(value, where), *ends.texts]
        return free_text(*without) if without else ANY_TEXT

    def _either(self, value: Any, where: str, ends: _Ends) -> Composable:
        elements = enumerate(self._elements(value, where))
        return _any_of([self.constraint(each, f"{where}.elements[{at}]", ends) for at, each in elements])

    def _tag(self, value: Any, where: str, ends: _Ends) -> tuple[Composable, ...]:
        begin, end = field(value, "begin", where), value.get("end", "")
        check_fields(value, "tag", where)
        first = self._token(begin, where) if isinstance(begin, dict) else ex.literal(self._text(value, "begin", where))
        last, within = self._end(end, f"{where}.end", ends)
        content = field(value, "content", where)
        if isinstance(begin, str) and not begin.endswith("\n"):
            content = _without_breaks(content)
        return first, self.constraint(content, f"{where}.content", within), last

    def _end(self, end: Any, where: str, around: _Ends) -> tuple[Expr, _Ends]:
        """Return the end of a tag, and what ends its content, which may be an end of the tag around it."""
        if isinstance(end, dict):
            return self._token(end, where), _Ends(tokens=[end["token"]])
        texts = texts_in([end] if isinstance(end, str) else end, where)
        outer = around if "" in texts else _NO_ENDS
        return ex.alternation(*map(ex.literal, texts)), _Ends([*filter(None, texts), *outer.texts], outer.tokens)

    def _separated(self, value: Any, where: str, ends: _Ends) -> Composable:
        """Return one tag, or any number of tags with a separator between them."""
        tags = field(value, "tags", where)
        if not isinstance(tags, list) or not tags:
            raise Malformed(f"{where}.tags is a list of tags, not {shown(tags)}")
        parts = [part_of(sequence(*self._tag(tag, f"{where}.tags[{at}]", ends))) for at, tag in enumerate(tags)]
        tag, separator = either(parts), Part(ex.literal(self._text(value, "separator", where)))
        more = repeated(concatenated([separator, tag]), 0, None)
        once = tag if flag(value, "stop_after_first", where) else concatenated([tag, more])
        return composed(once if flag(value, "at_least_one", where) else repeated(once, 0, 1), str)

    def _triggered(self, value: Any, where: str, ends: _Ends) -> Composable:
        """Return free text in which triggers begin tags; if a tag is required, the text begins with it."""
        switched, without = self._switched(value, where, ends), [*self._excluded(value, where), *ends.texts]
        free, later = Part(free_text(*switched, *without)), either(_after_text(switched, without))
        stops = flag(value, "stop_after_first", where)
        if flag(value, "at_least_one", where):
            first = either([concatenated([Part(ex.literal(each)), part_of(rest)]) for each, rest in switched.items()])
            more = [] if stops else [repeated(later, 0, None), free]
            return composed(concatenated([first, *more]), str)
        if stops:
            return composed(either([free, later]), str)
        return composed(concatenated([repeated(later, 0, None), free]), str)

    def _switched(self, value: Any, where: str, ends: _Ends) -> dict[str, Composable]:
        """Return the constraint on the text after each trigger."""
        triggers = texts_in(field(value, "triggers", where), f"{where}.triggers")
        tags = field(value, "tags", where)
        if not isinstance(tags, list) or not tags:
            raise Malformed(f"{where}.tags is a list of tags, not {shown(tags)}")
        switched: dict[str, list[Composable]] = {}
        for number, tag in enumerate(tags):
            spend(len(triggers))
            _, content, end = self._tag(tag, f"{where}.tags[{number}]", ends)
            text = self._text(tag, "begin", f"{where}.tags[{number}]")
            trigger = next((each for each in triggers if each and text.startswith(each)), None)
            if trigger is None:
                raise Malformed(f"{where}.tags[{number}] begins with {text!r}, which no trigger begins")
            switched.setdefault(trigger, []).append(sequence(ex.literal(text[len(trigger) :]), content, end))
        for number, each in enumerate(triggers):
            spend(len(tags))
            if not any(tag["begin"].startswith(each) for tag in tags):
                raise Malformed(f"{where}.triggers[{number}] is {each!r}, with which no tag begins")
            if each not in switched:
                raise Malformed(f"{where}.triggers[{number}] is {each!r}, and its tags begin with other triggers")
        return {trigger: _any_of(rests) for trigger, rests in switched.items()}


def _without_breaks(content: Any) -> Any:
    """Return the content of a tag that begins without a line break, as MiMo's tags do.

    Then there are no line breaks around the tags of arguments, so line breaks at the ends of a value belong to it.
    """
    if isinstance(content, Mapping) and content.get("style") == "qwen_xml":
        return {**content, "style": _COMPACT}
    return content


def _after_text(switched: Mapping[str, Composable], without: Sequence[str]) -> list[Part]:
    """Return, for each trigger, a part: free text up to this trigger, if it is the first, and what may follow.

    Args:
        switched: the constraint on the text after each trigger.
        without: texts that may not occur, not even at the end of a trigger.
    """
    early = ex.concat(ANY_TEXT, ex.alternation(*map(ex.literal, [*switched, *without])), ANY_CHAR, ANY_TEXT)
    ways = []
    for trigger, rest in switched.items():
        # Of the triggers that end at the same place, the longest counts.
        longer = [each for each in switched if each != trigger and each.endswith(trigger)]
        others = ANY_TEXT + ex.alternation(*map(ex.literal, [*without, *longer]))
        ways.append(concatenated([Part(ANY_TEXT + ex.literal(trigger) - (early | others)), part_of(rest)]))
    return ways


def _any_of(constraints: Sequence[Composable]) -> Composable:
    if len(constraints) == 1:
        return constraints[0]
    exprs = [each for each in constraints if isinstance(each, Expr)]
    if len(exprs) == len(constraints):
        return ex.alternation(*exprs)
    return composed(either([part_of(each) for each in constraints]), str)


def _token_name(tokens: Any, where: str, *, others: bool = False) -> str:
    """Return the name of a set of tokens, given as numbers or as the name of one token, or of all `others`."""
    if isinstance(tokens, list) and all(type(each) is int and each >= 0 for each in tokens):
        return f"<[{'^' if others else ''}{','.join(map(str, tokens))}]>"
    if isinstance(tokens, list) and len(tokens) == 1 and isinstance(tokens[0], str):
        return f"!{tokens[0]}" if others else tokens[0]
    raise Malformed(f"{where} are numbers of tokens, or the name of one, not {shown(tokens)}")
