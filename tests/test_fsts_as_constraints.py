"""Acceptors of OpenFst where patterns stand: in compile, grammars, JSON Schemas; and FSTs as they are, which are
refused."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pynini
import pytest

import constraints
import tokenfst
from automata import (
    FstError,
    Grammar,
    Label,
    LexicalRule,
    SchemaError,
    UnsatisfiableSchema,
    UnsupportedSchema,
    WeightedLanguage,
    call,
    compile_expr,
    compile_grammar,
    complement,
    concat,
    equivalent,
    from_fst,
    image,
    includes,
    parse,
    preimage,
)
from constraints import Value, json_schema, typed
from tokenfst import Vocabulary

BYTES = Vocabulary([bytes([byte]) for byte in range(256)] + [b"abc", b""], eos_ids=[257])
FST = pynini.union('a"b', "né", "x\ny")
EXPR = from_fst(FST)
NUMBER = pynini.string_map([("1", "one"), ("2", "two"), ("3", "three")])


def test_token_automata() -> None:
    automaton = tokenfst.compile("<" + image("1", NUMBER) + "|" + EXPR + ">", BYTES)
    assert automaton.accepts('<one|a"b>')
    assert not automaton.accepts("<two|né>")
    vocabulary = Vocabulary([b"a", b"ab", b"b", b"<stop>", b""], [4])
    labelled = tokenfst.compile(from_fst(pynini.accep("ab[stop]")), vocabulary, terminals={"stop": [3]})
    assert labelled.accepts([1, 3])
    assert not labelled.accepts([1])


def test_fsts_within_large_bounds() -> None:
    bounded = concat(image("1", NUMBER).repeat(0, 3000), EXPR, parse("[a-z]{2,2000}"))
    automaton = tokenfst.compile(bounded, BYTES)
    assert automaton.accepts("one" * 3000 + "né" + "a" * 2000)
    assert not automaton.accepts("one" * 3001 + "né" + "a" * 2000)
    assert not automaton.accepts("one" * 3000 + "né" + "a")
    assert tokenfst.compile(image("a", pynini.cross("a", "b").closure()) | "x", BYTES).accepts("b")
    copied = tokenfst.compile(image(parse("[ab]{0,3000}"), pynini.union("a", "b").closure()), BYTES)
    assert copied.accepts("ab" * 1500)
    assert not copied.accepts("ab" * 1500 + "a")


def test_grammars_with_rules_of_fsts() -> None:
    word = LexicalRule(from_fst(pynini.union("good", "home")))
    rules = {"start": concat("(", call("start"), ")") | call("WORD")}
    automaton = compile_grammar(Grammar(rules, "start", lexical={"WORD": word}))
    assert automaton.accepts(b"((home))")
    assert not automaton.accepts(b"((house))")


def accepts(schema: Any, text: str) -> bool:
    return tokenfst.compile(json_schema(schema), BYTES).accepts(text.encode())


def test_expressions_as_patterns_of_schemas() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "string", "pattern": EXPR}}, "required": ["n"]}
    for text in (r'{"n": "a\"b"}', '{"n": "né"}', r'{"n": "n\u00e9"}', r'{"n": "x\ny"}'):
        assert accepts(schema, text)
    # An expression is the whole string, where a pattern matches somewhere in it.
    for text in ('{"n": "anéb"}', '{"n": ""}', "{}"):
        assert not accepts(schema, text)
    assert accepts({"pattern": EXPR}, "7")
    assert accepts({"pattern": EXPR, "maxLength": 2}, '"né"')
    assert not accepts({"pattern": EXPR, "maxLength": 2}, r'"x\ny"')
    assert accepts({"type": "string", "not": {"pattern": EXPR}}, '"z"')
    assert not accepts({"type": "string", "not": {"pattern": EXPR}}, '"né"')
    assert accepts({"enum": ["né", "no"], "pattern": EXPR}, '"né"')
    assert not accepts({"enum": ["né", "no"], "pattern": EXPR}, '"no"')
    made = json_schema(schema)
    assert made.parse('{"n": "né"}') == {"n": "né"}
    assert pickle.loads(pickle.dumps(made)).allows('{"n": "né"}')
    assert str(constraints.json_schema_to_regex({"type": "string", "pattern": image("1", NUMBER)})) == '"one"'


def test_expressions_as_annotations_of_types() -> None:
    texts = typed(Annotated[str, EXPR])
    assert texts.parse('"né"') == "né"
    assert texts.parse(r'"x\ny"') == "x\ny"
    assert not texts.allows('"nö"')
    assert typed(list[Annotated[str, EXPR]]).parse('["né", "né"]') == ["né", "né"]
    for both in (Annotated[str, parse("a|b"), parse("b|c")], Annotated[str, parse("a|b"), Value(parse("b|c"), str)]):
        assert [typed(both).allows(f'"{text}"') for text in "abc"] == [False, True, False]
        assert [constraints.dataclass(both).allows(f"'{text}'") for text in "abc"] == [False, True, False]
    with pytest.raises(UnsupportedSchema, match="an expression in Annotated is for str only"):
        typed(Annotated[int, EXPR])

    @dataclasses.dataclass
    class Item:
        name: Annotated[str, EXPR]

    items = constraints.dataclass(Item)
    for text in ("Item(name='né')", 'Item(name="a\\"b")', "Item(name='a\"b')"):
        assert items.parse(text).name in ("né", 'a"b')
    assert not items.allows("Item(name='nö')")
    with pytest.raises(UnsupportedSchema, match="patterns are for text"):
        constraints.dataclass(dataclasses.make_dataclass("Wrong", [("x", Annotated[int, EXPR])]))


def test_constraints_that_transducers_take() -> None:
    values = json_schema({"type": "integer", "minimum": 2, "maximum": 3})
    assert equivalent(image(values, NUMBER), from_fst(pynini.union("two", "three")))
    assert equivalent(preimage(pynini.invert(NUMBER), values), from_fst(pynini.union("two", "three")))
    spoken = image(constraints.choice(["1", "3", "4"]), NUMBER)
    assert equivalent(spoken, from_fst(pynini.union("one", "three")))
    assert includes(image(constraints.integer(1, 9), NUMBER), spoken)
    with pytest.raises(FstError, match="the language of JsonSchema is not regular, and transducers take regular"):
        image(json_schema({}), NUMBER)


def test_expressions_that_no_string_holds() -> None:
    message = "a string holds no tokens by name, and the expression has 'stop'"
    with pytest.raises(UnsupportedSchema, match=message) as raised:
        json_schema({"properties": {"n": {"pattern": EXPR + Label("stop")}}})
    assert raised.value.pointer == "/properties/n/pattern"
    with pytest.raises(WeightedLanguage, match="has weights"):
        json_schema({"pattern": from_fst(pynini.accep("a", weight=1))})
    with pytest.raises(UnsatisfiableSchema, match=r"pattern Acceptor\(<.*>\) \(at /pattern\)"):
        json_schema({"type": "string", "pattern": EXPR, "minLength": 7})


MEANT = r"automata\.from_fst\(fst\) makes an expression of an acceptor, automata\.image and automata\.preimage take"
TAKERS: dict[str, Callable[[Any], Any]] = {
    "compile": lambda fst: tokenfst.compile(fst, BYTES),
    "compile_expr": compile_expr,
    "concat": lambda fst: concat("a", fst),
    "complement": complement,
    "equivalent": lambda fst: equivalent(fst, EXPR),
    "sequence": constraints.sequence,
    "choice": constraints.choice,
    "rule": lambda fst: compile_grammar(Grammar({"start": fst}, "start")),
    "word": lambda fst: compile_grammar(Grammar({"s": call("W")}, "s", lexical={"W": LexicalRule(fst)})),
}


@pytest.mark.parametrize("name", TAKERS)
def test_an_fst_as_it_is_is_refused_with_the_function_that_takes_it(name: str) -> None:
    with pytest.raises(TypeError, match=MEANT):
        TAKERS[name](FST)


def test_an_fst_in_a_schema_is_refused() -> None:
    with pytest.raises(SchemaError, match=MEANT):
        json_schema({"pattern": FST})


def test_paths_of_fsts_are_refused(tmp_path: Path) -> None:
    path: Any = tmp_path / "some.fst"
    FST.write(str(path))
    with pytest.raises(ValueError, match=r"a file of OpenFst: write automata\.from_fst\(path\)"):
        tokenfst.compile(str(path), BYTES)
    with pytest.raises(TypeError, match=r"automata\.from_fst\(path\) reads a file of OpenFst"):
        tokenfst.compile(path, BYTES)
