"""Whole Python programs: what the bundled grammar writes can be parsed, and what it accepts of real modules.

`python tests/python_programs.py` does the same for 1,000 programs and 1,000 modules.
"""

from __future__ import annotations

from functools import cache, reduce
from itertools import islice, product
from random import Random
from typing import Any

import pytest
from grammar_oracles.sampler import Sampler, changes
from program_walks import by_models
from python_programs import WALKS, modules, parses

import tokenfst
from constraints.grammars.bundled import WHOLE_LANGUAGES, bundled
from tokenfst import Vocabulary
from tokenfst.lazy import LazyTokenAutomaton

ACCEPTED = [
    "",
    "\n# nothing\n\n",
    "x\n",
    "x = y = *a, b = 1, 2\n",
    "(a, b), [c, *d.e] = x\n",
    "x.y[z:1:2, ...] += yield\n",
    "x: int = 1; y: str\n",
    "def f(a, /, b: int = 1, *c, d, e=2, **g) -> None: pass\n",
    "async def f():\n    async with a as b, c as (d, e):\n        await g()\n    return\n",
    "class A(B, metaclass=C):\n\n    x = 1  # a comment\n  # another one\n    def f(self): return 1\n",
    "if a:\n    b\nelif c: d\nelse:\n    if e:\n        f\nx\n",
    "if(a): b\nwhile not(a) and(b): c\n",
    "try:\n    a\nexcept (B, C) as d:\n    e\nexcept:\n    f\nelse:\n    g\nfinally:\n    h\n",
    "for x, (y, *z) in a, b:\n    continue\nelse:\n    break\n",
    "@a.b(c)\n@d\ndef f():\n    global x, y\n    del x.y, z[0]\n    raise E from e\n",
    "from . import a\nfrom ..b.c import (d as e,\n    f, # g\n)\nfrom x import *\nimport a.b as c, d\n",
    "f(\n    a,  # b\n\n  *c, d=1, **e)\n",
    "x = [a for b in c if d for e in f if g] + {a: b for c in d} | {*a, b} - {**a, b: c}\n",
    "x = lambda a, *b, c=1: a if b else c\n",
    "x = not a == b in c is not d not in e and -f ** ~g @ h\n",
    "if (x := 1) and [y := 2]:\n    print(f'{x!r:>{y}}', f\"{x['a']} {{}}\" r'\\d' '''\n''', rb'a' b\"b\")\n",
    "x = 1 + \\\n    2\nassert x, 'y'\nwith a: pass\n",
    "(a): int = 1\n(a.b) += c\n( # d\na): int\n",
    "return...\nx = not.5 or... and.1.real in.2\nassert...\nif.5: a\n",
    "rf'\\{a}\\{{ \\}}\\'' f'\\{a}\\{{\\}}{b:\\n\\x41\"}'\n",
    "f'{ a }{a !r}{\ta = !s:{ b.c !a}>#}{(a)}{(a, 1).b}{f(a , b=1)}{a[\"#{\"]}{a + b//c **1}'\n",
    "".join(f"{'    ' * depth}if a:\n" for depth in range(7)) + f"{'    ' * 7}h\ni\n",
]
REFUSED = [
    "  x\n",
    "if a:\nb\n",
    "if a:\n    b\n  c\n",
    "if a:\n    b\n     c\n",
    "x\n    y\n",
    "else:\n    x\n",
    "for x in y: pass\nelif z: pass\n",
    "try:\n    a\nb\n",
    "if a: if b: c\n",
    "f() = 1\n",
    "a + b = 1\n",
    "(a + b) = 1\n",
    "x = if\n",
    "None = 1\n",
    "x = 1 = y\n",
    "x += y += z\n",
    "a, b += 1\n",
    "f(a=1, b)\n",
    "f(**a, *b)\n",
    "def f(a=1, b): pass\n",
    "def f(*): pass\n",
    "def f(**a, b): pass\n",
    "lambda a: b = 1\n",
    "x := 1\n",
    "[x for y in z if w := 1]\n",
    "x = (*a)\n",
    "del *a,\n",
    "(a).b: int\n",
    "(a)[0]: int = 1\n",
    "(a, b): int\n",
    "(a, b) += c\n",
    "(a()) += b\n",
    "return.a\n",
    "return.5.a.\n",
    "'a' b'b'\n",
    "'a\n'\n",
    "'\\x4'\n",
    "f'{x'\n",
    "f'{}'\n",
    "f'{if}'\n",
    "f'\\}'\n",
    "f'}'\n",
    "f'{ }'\n",
    "f'{a! r}'\n",
    "f'{a !x}'\n",
    "f'{f(b=1, a)}'\n",
    "f'{a=b}'\n",
    "f'{a:\\x4}'\n",
    "f'{a:}}'\n",
    "f'{a[\"\\n\"]}'\n",
    "rf'\\}'\n",
    "rf'{a:\\'\n",
    "'''a''''\n",
    "x = (1\n",
    "x = 1)\n",
    "x y\n",
    "return = 1\n",
    "import a.b.\n",
    "from a import (b\n",
    "x = 01\n",
    "1a\n",
    "x not in\n",
    "x inlist\n",
    "notx y\n",
    "print 'x'\n",
    "with a as f(): pass\n",
    "for f() in x: pass\n",
    "a ? b\n",
    "x = 1 \\\n",
]


def test_it_is_bundled() -> None:
    assert "python" in WHOLE_LANGUAGES
    assert bundled("python").ambiguity == "error"


@pytest.mark.parametrize("text", ACCEPTED)
def test_programs_that_are_accepted(text: str) -> None:
    assert parses(text.encode())
    assert WALKS.automaton.accepts(text.encode())


@pytest.mark.parametrize("text", REFUSED)
def test_texts_that_are_no_programs(text: str) -> None:
    assert not parses(text.encode())
    assert not WALKS.automaton.accepts(text.encode())


def test_random_walks_write_programs() -> None:
    written = list(WALKS.programs(Random(11), 60, 60))
    assert [text for text in written if not parses(text)] == []
    assert len(set(written)) > 50


def test_models_write_programs_within_a_budget() -> None:
    written = list(by_models(WALKS, 12, seed=0))
    assert len(set(written)) > 9
    assert [text for text in written if not parses(text)] == []


def test_samples_and_changed_samples_are_programs() -> None:
    sampler, random = Sampler(bundled("python"), depth=18), Random(7)
    samples = [text for text in (sampler.sample(random) for _ in range(250)) if WALKS.automaton.accepts(text)]
    texts = [*samples, *(text.encode() for text in ACCEPTED)]
    changed = [text for text in islice(changes(texts, random), 1000) if WALKS.automaton.accepts(text)]
    assert min(len(samples), len(changed)) > 50
    assert [text for text in samples + changed if not parses(text)] == []


def test_modules_of_the_standard_library() -> None:
    small = [text for text in modules(80, Random(3)) if len(text) < 4_000]
    accepted = [WALKS.automaton.accepts(text) for text in small]
    assert len(small) > 15
    assert sum(accepted) >= 0.85 * len(small)


@cache
def over_bytes() -> LazyTokenAutomaton:
    """The automaton over single bytes; 256 is the end token."""
    vocabulary = Vocabulary([*(bytes([byte]) for byte in range(256)), b""], eos_ids=[256])
    compiled = tokenfst.compile(WALKS.automaton, vocabulary)
    assert isinstance(compiled, LazyTokenAutomaton)
    return compiled


def after(text: str) -> Any:
    """The state after a text."""
    over = over_bytes()
    return reduce(over.advance, text.encode(), over.start)


@pytest.mark.parametrize(
    ("prefix", "ending"),
    [
        ("", ""),
        ("x", "\n"),
        ("x = (1, [", "])\n"),
        ("x = {'''a", "'''}\n"),
        ("def f(", "):a\n"),
        ("f'{x[", "a]}'\n"),
        ("try: a\n", "except:a\n"),
        ("class A:\n    def f(self):\n        if x:\n            return (", ")\n"),
        ("for x in y:\n    while z:\n        if a: b\n        else ", ":a\n"),
    ],
)
def test_budgets_of_bytes_that_just_suffice(prefix: str, ending: str) -> None:
    over, state = over_bytes(), after(prefix)
    # The end token is counted.
    remaining = len(ending) + 1
    assert over.core.min_tokens(state) == remaining
    dice, text = Random(prefix), prefix.encode()
    for place in range(remaining, 1, -1):
        byte = dice.choice(over.mask(state, place).nonzero()[0].tolist())
        state, text = over.advance(state, byte), text + bytes([byte])
    assert over.mask(state, 1).nonzero()[0].tolist() == [256]
    assert len(text) == len(prefix + ending)
    assert parses(text)


@pytest.mark.parametrize("prefix", ["x = (1, [", "if a", "lambda", "f'{x", "x, y", "return x if y", "(a, b), c.d[:"])
def test_no_fewer_bytes_end_a_program(prefix: str) -> None:
    least = over_bytes().core.min_tokens(after(prefix)) - 1
    shorter = (
        prefix + "".join(each) for length in range(min(least, 3)) for each in product("\n )]a:'}1", repeat=length)
    )
    assert not any(WALKS.automaton.accepts(text.encode()) for text in shorter)
