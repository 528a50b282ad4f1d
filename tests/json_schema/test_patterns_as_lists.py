"""Patterns that list their strings, and constants beside patterns: what tells variants apart."""

from __future__ import annotations

import json
import re
from random import Random

from constraints import json_schema
from constraints.json_schema.formulas.outlines import Outlines
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.formulas.statements import StringIn
from constraints.json_schema.reading import read_schema
from constraints.json_schema.strings import string_matches


def test_patterns_that_list_their_strings_are_lists() -> None:
    """`re` agrees on all strings over the letters of a pattern, whether it is read as a list or not."""
    random, num_listed = Random(4), 0
    for _ in range(400):
        words = ["".join(random.choices(["a", "b", "é", " ", "-", r"\.", r"\$", r"\\", "/"], k=3)) for _ in range(2)]
        words.append(random.choice(["", "ab", "a.", "a*", "[ab]", "(a|b)", r"\d", r"a\|b", "a|b"]))
        form = random.choice(["^({})$", "^(?:{})$", "^{}$", "^({})", "({})$", "^(?={})$", "^(({}))$", "^({})|a$"])
        source = form.format("|".join(random.sample(words, random.randint(1, 3))))
        formula = read_schema({"pattern": source}).root
        num_listed += isinstance(formula, StringIn)
        match = re.compile(source).search
        texts = {re.sub(r"\\(.)", r"\1", word) for word in words} | {
            "a",
            "b",
            "ab",
            "a.",
            "aé-",
            "a|b",
            "",
            "1",
            "(a|b)",
        }
        for text in texts:
            assert string_matches(formula, text) == bool(match(text)), (source, text)
    assert 40 < num_listed < 320
    assert not string_matches(read_schema({"pattern": "^a$"}).root, "a\n")


def test_patterns_that_list_their_strings_tell_variants_apart() -> None:
    tags = [f"^task-{number}@1$" for number in range(300)]
    variants = [
        {"properties": {"task": {"pattern": tag}, "of": {"type": "object", "properties": {tag: {"const": tag}}}}}
        for tag in tags
    ]
    schema = {"type": "object", "required": ["task"], "anyOf": variants, "properties": {"task": {"type": "string"}}}
    constraint = json_schema(schema)
    assert constraint.allows('{"task": "task-7@1", "of": {"^task-7@1$": "^task-7@1$", "^task-8@1$": 1}}')
    assert not constraint.allows('{"task": "task-7@1", "of": {"^task-7@1$": 1}}')
    assert not constraint.allows('{"task": "task-300@1", "of": {}}')


def test_constants_that_no_pattern_matches_tell_variants_apart() -> None:
    names = {"properties": {"kind": {"pattern": "^[+][A-Z]"}}, "required": ["kind"]}
    for constant, is_apart in (("Building", True), ("+Building", False)):
        variant = {"properties": {"kind": {"const": constant}, "of": {"const": 1}}, "required": ["kind", "of"]}
        constraint = json_schema({"type": "object", "oneOf": [names, variant]})
        assert constraint.allows(json.dumps({"kind": constant, "of": 1})) == is_apart
        assert constraint.allows('{"kind": "+More", "of": 1}')
        outlines = Outlines(Restriction({}))
        one, other = (read_schema({"type": "object", **part}).root for part in (names, variant))
        assert outlines.exclude(one, other) == outlines.exclude(other, one) == is_apart
