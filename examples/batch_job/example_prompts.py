"""Prompts for trying the batch job: shards of invented records, some of which are broken.

    python example_prompts.py FOLDER [--shards 12] [--records 24] [--seed 0]

The bundled model knows descriptions of people, so every prompt asks for a person and ends where the value begins. The
properties of each schema, their order and their bounds are drawn at random. One record in twelve is broken; its id says
how, unless the line cannot be read.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

NAMES: Final = ("Anna Weber", "Luis Romero", "Mei Tanaka", "Omar Haddad", "Sofia Rossi", "Jan Novak")
CITIES: Final = ("Berlin", "Madrid", "Osaka", "Cairo", "Rome", "Prague")

Draw = Callable[[random.Random], Any]

# The schema of a property's value, by the property's name.
PROPERTIES: Final[dict[str, Draw]] = {
    "name": lambda draw: {"type": "string", "maxLength": draw.randint(8, 30)},
    "age": lambda draw: {"type": "integer", "minimum": draw.randint(0, 18), "maximum": draw.randint(60, 120)},
    "city": lambda draw: {"enum": draw.sample(CITIES, draw.randint(2, 4))},
    "email": lambda draw: {"type": "string", "pattern": r"^[a-z]{3,10}@[a-z]{3,8}\.(com|org)$"},
    "joined": lambda draw: {"type": "string", "format": "date", "pattern": draw.choice(["^20", "^19[89]", "^201"])},
    "is_member": lambda draw: {"type": "boolean"},
    "height": lambda draw: {"type": "number", "minimum": 1, "maximum": draw.choice([2, 2.5])},
    "tags": lambda draw: {"type": "array", "items": {"type": "string", "maxLength": 8}, "maxItems": draw.randint(1, 3)},
    "phone": lambda draw: {"anyOf": [{"type": "null"}, {"type": "string", "pattern": r"^\+[0-9]{6,9}$"}]},
}

# Schemas that cannot be honoured.
BROKEN: Final[dict[str, Any]] = {
    "type": {"type": "object", "properties": {"age": {"type": "int"}}},
    "reference": {"type": "array", "items": {"$ref": "#/$defs/nobody"}},
    "contradiction": {"allOf": [{"type": "null"}, {"type": "array"}]},
    "pattern": {"type": "string", "pattern": "^(a"},
    "length": {"type": "string", "minLength": 4000},
}


def schema(draw: random.Random) -> dict[str, Any]:
    """Return a schema of an object with some of the properties."""
    names = draw.sample(sorted(PROPERTIES), draw.randint(2, 4))
    return {
        "type": "object",
        "properties": {name: PROPERTIES[name](draw) for name in names},
        "required": sorted(draw.sample(names, draw.randint(1, len(names)))),
        "additionalProperties": False,
    }


def line(draw: random.Random, name: str, number: int) -> str:
    """Return the line of a record; every twelfth is broken."""
    record = {
        "id": name,
        "prompt": f"{draw.choice(NAMES)} lives in {draw.choice(CITIES)}. A person as JSON: ",
        "schema": schema(draw),
    }
    if number % 12 != 11:
        return json.dumps(record)
    kind = draw.choice([*BROKEN, "record", "line"])
    if kind == "line":
        return json.dumps(record)[:-9]
    if kind == "record":
        del record["schema"]
    else:
        record["schema"] = BROKEN[kind]
    return json.dumps({**record, "id": f"{name}-broken-{kind}"})


def write_shards(folder: Path, shards: int, records: int, seed: int = 0) -> None:
    """Write shards with the given number of records each; the same seed writes the same shards."""
    draw = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    for shard in range(shards):
        lines = [line(draw, f"{shard:03}-{number:03}", number) for number in range(records)]
        (folder / f"shard-{shard:03}.jsonl").write_text("".join(f"{each}\n" for each in lines), "utf-8")


def main() -> None:
    """Write the shards that the command line requests."""
    parser = argparse.ArgumentParser(description="Write shards of prompts for the batch job.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--shards", type=int, default=12)
    parser.add_argument("--records", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    write_shards(asked.folder, asked.shards, asked.records, asked.seed)


if __name__ == "__main__":
    main()
