"""The main job on real input, offline: a bundled language model writes what patterns allow.

    make demo        or        python examples/demo.py [--output DIR]

It loads the bundled model, compiles patterns, grammars and a JSON Schema over its vocabulary, lets it write, and checks
every text with Python's `re`, `json` or `eval`. It draws the automata of the paper's Figures 4 and 5. If PyPI's
mistral-common is installed, it compiles the paper's constraints over the 131,072 tokens of a production model, which
that package contains. Every stage is timed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokenfst import TokenAutomaton, Vocabulary

PATTERNS = (
    ("a date", "Date: ", r"(19|20)\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"),
    ("a name", "Name: ", r"[A-Z][a-z]{2,9} ([A-Z]\. )?[A-Z][a-z]{2,11}"),
    (
        "a sentence",
        "My name is ",
        r"[A-Z][a-z]+\. I live in [A-Z][a-z]+( [A-Z][a-z]+)? and I work as an? [a-z ]{4,20}\.",
    ),
    (
        "a record",
        "A person as JSON:\n",
        r'\{"name": "[A-Z][a-z]+ [A-Z][a-z]+", "age": [1-9][0-9]?, "email": "[a-z.]+@[a-z]+\.(com|org)", '
        r'"city": "[A-Z][a-z]+( [A-Z][a-z]+)?"\}',
    ),
)

# Brackets to any depth.
CALCULATION = """
start: group ("*" group)+ "="
group: "(" item (("+" | "-" | "*") item)+ ")"
item: NUMBER | group
NUMBER: /[1-9][0-9]?/
"""

# An adult whose age is not a multiple of 10, with friends of the same kind.
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[A-Z][a-z]{1,11}$"},
        "age": {"type": "integer", "minimum": 18, "maximum": 99, "not": {"multipleOf": 10}},
        "friends": {"type": "array", "items": {"$ref": "#"}, "maxItems": 2},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Print how long the body takes, in milliseconds."""
    began = time.perf_counter()
    yield
    print(f"  {(time.perf_counter() - began) * 1e3:10.2f} ms  {name}", flush=True)


def write_texts() -> None:
    """Compile each constraint over the model's vocabulary, and let the model write."""
    print("A bundled language model, and its vocabulary as bytes")
    with stage("importing torch and transformers"):
        from decoding import bundled_model, generate, vocabulary_of
    with stage("loading the model"):
        model, tokenizer = bundled_model()
    with stage("preparing the vocabulary"):
        vocabulary = vocabulary_of(tokenizer)
    import tokenfst

    print(f"  {sum(p.numel() for p in model.parameters()):,} parameters, {len(vocabulary):,} tokens")

    def write(automaton: TokenAutomaton, prompt: str, max_new_tokens: int) -> list[str]:
        print(f"  {automaton}")
        with stage("writing three texts"):
            return generate(
                model, tokenizer, [prompt] * 3, automaton, max_new_tokens=max_new_tokens, temperature=0.7, seed=1
            )

    for what, prompt, pattern in PATTERNS:
        print(f"\n{what}: {pattern}")
        with stage("pattern to token automaton"):
            automaton = tokenfst.compile(pattern, vocabulary)
        for text in write(automaton, prompt, 96):
            if not re.fullmatch(pattern, text):
                raise SystemExit(f"{text!r} does not match {pattern}")
            print(f"    {text}")
    write_grammars(vocabulary, write)


def write_grammars(vocabulary: Vocabulary, write: Callable[[TokenAutomaton, str, int], list[str]]) -> None:
    """Do the same for grammars, whose texts are nested to any depth."""
    import tokenfst
    from constraints import grammar
    from constraints import json as any_json

    print("\nJSON of any depth")
    with stage("grammar to token automaton"):
        automaton = tokenfst.compile(any_json(), vocabulary)
    for text in write(automaton, "A person as JSON:\n", 64):
        json.loads(text)
        print(f"    {text}")
    print(f"\na calculation, by a grammar in Lark's syntax:\n{CALCULATION}")
    with stage("grammar to token automaton"):
        automaton = tokenfst.compile(grammar(CALCULATION), vocabulary)
    for text in write(automaton, "(12+3)*((4-2)+7)=135\n", 32):
        print(f"    {text}{eval(text.removesuffix('='), {}):,}")
    write_values(vocabulary, write)


def write_values(vocabulary: Vocabulary, write: Callable[[TokenAutomaton, str, int], list[str]]) -> None:
    """Do the same for a JSON Schema that is recursive and has a negation."""
    import tokenfst
    from constraints import json_schema

    print(f"\na JSON Schema:\n{json.dumps(SCHEMA)}")
    with stage("schema to token automaton"):
        automaton = tokenfst.compile(json_schema(SCHEMA, whitespace="python"), vocabulary)
    for text in write(automaton, "A person as JSON:\n", 64):
        if not is_person(json.loads(text)):
            raise SystemExit(f"{text!r} does not satisfy the schema")
        print(f"    {text}")


def is_person(value: dict[str, Any]) -> bool:
    """Return whether a value satisfies the schema."""
    named = re.fullmatch("[A-Z][a-z]{1,11}", value["name"]) is not None
    friends = value.get("friends", [])
    return named and 18 <= value["age"] <= 99 and value["age"] % 10 != 0 and all(map(is_person, friends))


def draw_figures(folder: Path) -> None:
    """Draw the paper's Figures 4 and 5: the detokenizer, and an automaton over bytes and over tokens."""
    import tokenfst
    from automata import compile_expr, parse
    from tokenfst.drawing import draw_detokenizer

    print("\nThe paper's Figures 4 and 5: /(foo)+d/ over bytes and over tokens")
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = tokenfst.Vocabulary([b"d", b"f", b"foo", b"food", b"o", b""], eos_ids=[5])
    with stage("three drawings"):
        drawings = {
            "detokenizer": draw_detokenizer(vocabulary),
            "bytes": compile_expr(parse("(foo)+d")).draw(),
            "tokens": tokenfst.compile("(foo)+d", vocabulary).draw(),
        }
        paths = [drawing.save(folder / f"{name}.svg") for name, drawing in drawings.items()]
    for path in paths:
        print(f"    {path}")
    if any(path.suffix == ".dot" for path in paths):
        try:
            drawings["bytes"].svg()
        except ImportError as error:
            print(f"    as DOT text: {error}")


def compile_paper() -> None:
    """Compile the paper's constraints over the vocabulary of a production model."""
    package = importlib.util.find_spec("mistral_common")
    if package is None or not package.submodule_search_locations:
        print("\nmistral-common is not installed, so there is no production vocabulary to compile over")
        return
    import tokenfst
    from constraints.paper import PATTERNS as PAPER

    print("\nThe paper's constraints over the vocabulary of a production model (Tekken)")
    with stage("preparing the vocabulary"):
        folder = Path(package.submodule_search_locations[0])
        vocabulary = tokenfst.from_tekken(folder / "data" / "tekken_240911.json")
    print(f"  {len(vocabulary):,} tokens")
    for name, pattern in PAPER.items():
        times = []
        for _ in range(15):
            began = time.perf_counter()
            automaton = tokenfst.compile(pattern, vocabulary)
            times.append(time.perf_counter() - began)
        tables = automaton.complete()
        sizes = f"{tables.nbytes / 1024:6.0f} KiB of tables"
        print(f"  {sorted(times)[7] * 1e3:10.2f} ms  {name:<16} {sizes}")


def main() -> None:
    """Run the demonstration."""
    parser = argparse.ArgumentParser(description="What tokenfst does, in one go.")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), metavar="DIR", help="where drawings go")
    options = parser.parse_args()
    write_texts()
    draw_figures(options.output)
    compile_paper()


if __name__ == "__main__":
    main()
