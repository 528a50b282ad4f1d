"""Requests as users of a server send them, with an oracle for each output: `re`, `json` and `jsonschema`.

Asked               one request: its kind, what is sent, and what must be true of the answer
mixed(...)          schemas, patterns, choices, grammars, tools and free text in turn, from seeds
refused(...)        requests that are broken, with what the answer must name
hostile(...)        requests that would take an engine's time or memory if it let them
schema_of(seed)     a JSON Schema
schemas_from(...)   the schemas of a file of JSON lines, or of `schema_of` where there is none
"""

from __future__ import annotations

import gzip
import json
import os
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema

Schema = Mapping[str, Any]
PROMPT = "A person as JSON: "
GRAMMAR = 'start: term | term "+" term | term "-" start\nterm: NUMBER | "(" start ")"\nNUMBER: /[0-9]+/'
PATTERNS = [
    r"\d{4}-[01]\d-[0-3]\d",
    "[a-c]{3,9}",
    r"[A-Z][a-z]{1,10} [A-Z]\.",
    r"(\+\d{1,3} )?\d{3}-\d{4}",
    "(yes|no)!?",
]
CHOICES = [["red", "green", "blue"], ["a", "ab", "abc"], ["1", "2", "3"], ["Yes, it is.", "No, it is not."]]
KINDS = ["schema", "schema", "schema", "pattern", "choice", "grammar", "json object", "tag", "tool", "free"]


@dataclass(frozen=True)
class Asked:
    """One request.

    Attributes:
        kind: what constrains it.
        chat: whether it goes to the chat endpoint.
        body: what is sent, beside the model's name.
        check: raises unless a finished output is valid; None if everything is.
        reason: what the answer to a broken request must name; "" if the request is not broken.
        stream: whether the answer comes in pieces.
        cancelled: whether the client goes away half way.
    """

    kind: str
    chat: bool
    body: Mapping[str, Any]
    check: Callable[[str], object] | None = None
    reason: str = ""
    stream: bool = False
    cancelled: bool = False


@dataclass
class _Mix:
    schemas: list[Schema]
    draw: random.Random
    max_tokens: int

    def request(self) -> Asked:
        """Return the next request."""
        kind = self.draw.choice(KINDS)
        stream = self.draw.random() < 0.5
        body: dict[str, Any] = {"max_tokens": self.max_tokens, "temperature": 1.0, "seed": self.draw.randrange(1 << 30)}
        chat, more, check = self.constrained(kind)
        return Asked(kind, chat, body | more, check, stream=stream)

    def constrained(self, kind: str) -> tuple[bool, dict[str, Any], Callable[[str], object] | None]:
        """Return the endpoint, what constrains a request of a kind, and its oracle."""
        if kind == "schema":
            schema = self.draw.choice(self.schemas)
            if self.draw.random() < 0.5:
                form = {"type": "json_schema", "json_schema": {"name": "asked", "schema": schema, "strict": True}}
                return True, {"response_format": form}, valid(schema)
            return False, structured(json=schema), valid(schema)
        if kind == "pattern":
            pattern = self.draw.choice(PATTERNS)
            return False, structured(regex=pattern), full_match(pattern)
        if kind == "choice":
            choices = self.draw.choice(CHOICES)
            return False, structured(choice=choices), one_of(choices)
        if kind == "grammar":
            return False, structured(grammar=GRAMMAR), full_match(r"[0-9()+-]+")
        if kind == "json object":
            return True, {"response_format": {"type": "json_object"}}, valid({"type": "object"})
        if kind == "tag":
            schema = self.draw.choice(self.schemas)
            return False, structured(structural_tag=tag_of(schema)), tagged(schema)
        if kind == "tool":
            return True, *tools(self.draw)
        return self.draw.random() < 0.5, {}, None


def mixed(count: int, schemas: list[Schema], seed: int, max_tokens: int = 200) -> list[Asked]:
    """Return requests of all kinds."""
    mix = _Mix(schemas, random.Random(seed), max_tokens)
    return [mix.request() for _ in range(count)]


def schema_requests(schemas: list[Schema], seed: int, max_tokens: int = 200) -> list[Asked]:
    """Return a streamed request for each schema."""
    body = {"max_tokens": max_tokens, "temperature": 1.0}
    return [
        Asked(
            "schema",
            False,
            {**body, "seed": seed * 1000 + number, **structured(json=schema)},
            valid(schema),
            stream=True,
        )
        for number, schema in enumerate(schemas)
    ]


def refused(seed: int) -> Asked:
    """Return a request that is broken; the answer is to name the place and the reason."""
    broken: list[tuple[dict[str, Any], str]] = [
        ({"json": {"type": "nosuch"}}, "no type 'nosuch' (at /type"),
        ({"json": {"properties": {"a": {"$ref": "#/nowhere"}}}}, "/properties/a"),
        ({"json": {"not": {"uniqueItems": True}}}, "at /not/uniqueItems"),
        ({"json": {"pattern": "(a"}}, "never closed (at position 0 of '(a')"),
        ({"regex": "(a|b"}, "never closed"),
        ({"regex": "a{3,1}"}, "3"),
        ({"grammar": "root ::= nothing"}, "no rule is named 'nothing'"),
        ({"grammar": 'root ::= "a" ('}, "1"),
    ]
    asked, reason = broken[seed % len(broken)]
    return Asked("broken", False, {"max_tokens": 8, **structured(**asked)}, reason=reason)


def hostile(seed: int) -> Asked:
    """Return a request whose compilation has no end in sight."""
    nested: dict[str, Any] = {"level 0": {"type": "string"}}
    for level in range(1, 30):
        below = {"$ref": f"#/$defs/level {level - 1}"}
        choices = [{"type": "object", "properties": {f"{side} {seed}": below}} for side in "abc"]
        nested[f"level {level}"] = {"oneOf": choices}
    deep = {"$defs": nested, "$ref": "#/$defs/level 29"}
    asked: list[dict[str, Any]] = [
        {"regex": "(a|b)*a" + "(a|b)" * (60 + seed % 40)},
        {"regex": "(?!.*(" + "|".join(f"x{seed}{number}.*y" for number in range(40)) + ")).*"},
        {"json": deep},
        {"grammar": 'root ::= a a a a a a a a\na ::= ("x" | "y")* "x" ("x" | "y"){50}'},
    ]
    return Asked("hostile", False, {"max_tokens": 8, **structured(**asked[seed % len(asked)])})


def structured(**asked: Any) -> dict[str, Any]:
    """Return what carries vLLM's own parameter."""
    return {"structured_outputs": asked}


def tag_of(schema: Schema) -> str:
    content = {"type": "json_schema", "json_schema": schema}
    return json.dumps(
        {"type": "structural_tag", "format": {"type": "tag", "begin": "<f>", "content": content, "end": "</f>"}}
    )


def tools(draw: random.Random) -> tuple[dict[str, Any], Callable[[str], object] | None]:
    """Return tools, one of which is to be called, by name or not; an output is the text of the calls as JSON."""
    names, parameters = ["weather", "time"], schema_of(draw.randrange(8))
    functions = [{"name": name, "parameters": parameters, "strict": True} for name in names]
    chosen: Any = draw.choice(["auto", "required", {"type": "function", "function": {"name": "time"}}])
    asked = {"tools": [{"type": "function", "function": each} for each in functions], "tool_choice": chosen}
    return asked, None if chosen == "auto" else called(parameters)


def called(parameters: Schema) -> Callable[[str], object]:
    def check(text: str) -> None:
        calls = json.loads(text)
        assert calls
        for call in calls:
            assert call["name"] in ("weather", "time"), call
            jsonschema.validate(json.loads(call["arguments"]), parameters)

    return check


def valid(schema: Schema) -> Callable[[str], object]:
    validator = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
    return lambda text: validator(schema).validate(json.loads(text))


def tagged(schema: Schema) -> Callable[[str], object]:
    def check(text: str) -> None:
        assert text.startswith("<f>"), text
        assert text.endswith("</f>"), text
        valid(schema)(text[3:-4])

    return check


def full_match(pattern: str) -> Callable[[str], object]:
    def check(text: str) -> None:
        assert re.fullmatch(pattern, text), text

    return check


def one_of(choices: list[str]) -> Callable[[str], object]:
    def check(text: str) -> None:
        assert text in choices, text

    return check


def schema_of(seed: int, depth: int = 2) -> Schema:
    """Return the schema of an object with a few properties, some of them optional."""
    draw = random.Random(seed * 1000 + depth)
    names = draw.sample(["name", "age", "city", "tags", "price", "status", "email", "active", "parent", "note"], 4)
    properties = {name: _value(draw, seed, depth) for name in names[: draw.randint(2, 4)]}
    required = [name for name in properties if draw.random() < 0.7]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _value(draw: random.Random, seed: int, depth: int) -> Schema:
    kind = draw.choice(["text", "text", "integer", "number", "enum", "boolean", "pattern", "array", "object", "union"])
    if depth == 0 or kind in ("text", "integer", "number", "enum", "boolean", "pattern"):
        low = draw.randint(0, 50)
        kinds: dict[str, Schema] = {
            "text": {"type": "string", "maxLength": draw.randint(4, 24)},
            "integer": {"type": "integer", "minimum": low, "maximum": low + draw.randint(1, 900)},
            "number": {"type": "number", "minimum": low},
            "enum": {"enum": [f"value {seed} {number}" for number in range(draw.randint(1, 6))] + [None]},
            "pattern": {
                "type": "string",
                "pattern": f"^[a-z]{{{draw.randint(1, 3)}}}-[0-9]{{2,{draw.randint(2, 6)}}}$",
            },
        }
        return kinds.get(kind, {"type": "boolean"})
    if kind == "array":
        return {"type": "array", "items": _value(draw, seed, depth - 1), "maxItems": draw.randint(1, 4)}
    if kind == "object":
        return schema_of(seed + 1, depth - 1)
    return {"anyOf": [_value(draw, seed, depth - 1), {"type": "null"}]}


def schemas_from(count: int, path: str | None = None, seed: int = 0) -> list[Schema]:
    """Return schemas of a file, drawn among those that are not too long for the bundled model; or made from seeds.

    Args:
        count: how many.
        path: JSON lines, each with a schema under "schema", gzipped or not; None for what the variable SCHEMAS names.
        seed: which are drawn.
    """
    path = path or os.environ.get("SCHEMAS")
    if not path:
        return [schema_of(seed * count + number) for number in range(count)]
    content = Path(path).read_bytes()
    texts = (gzip.decompress(content) if path.endswith(".gz") else content).decode().splitlines()
    found = [json.loads(line)["schema"] for line in random.Random(seed).sample(texts, len(texts))]
    usable: list[Schema] = [schema for schema in found if isinstance(schema, dict) and _usable(schema)]
    return usable[:count]


def _usable(schema: Schema) -> bool:
    """Return whether vLLM takes a schema and tokenfst can honour it."""
    from constraints import json_schema

    try:
        json_schema(schema)
    except (ValueError, RuntimeError):
        return False
    return 50 < len(json.dumps(schema)) < 4000
