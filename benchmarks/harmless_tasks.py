"""Tasks for the bundled model that have a right answer, and the grade of a text.

    Task        prompts, the schema of the answers, the answers, and a template of an answer's JSON text
    records     sentences about an invented person, who is to be written as JSON
    sums        two numbers, whose sum is to be written as JSON

The sentences and the heading of the record occur in the texts that the model was trained on. A sum comes after three
worked examples.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from naive_constraints import Slot

sys.path.append(str(Path(__file__).resolve().parents[1] / "scripts"))

from invented_texts import invented

SENTENCES = (
    "My name is {name} and I am {age} years old. I live in {city} and I work as {a_job}. You can reach me at {email}."
)


@dataclass(frozen=True)
class Task:
    """A task with many prompts.

    Attributes:
        name: the name of the task.
        prompts: the texts that the model continues.
        schema: the JSON Schema of what the model writes; all properties are required.
        answers: for each prompt the right values of the properties that are graded.
        template: the object as `json.dumps` writes it, with slots for the values.
    """

    name: str
    prompts: Sequence[str]
    schema: dict[str, Any]
    answers: Sequence[dict[str, Any]]
    template: Sequence[str | Slot]

    def grade(self, number: int, text: str) -> float:
        """Return the share of the graded properties that are right in a text; 0 if it is not a JSON object."""
        try:
            found = json.loads(text)
        except ValueError:
            return 0.0
        if not isinstance(found, dict):
            return 0.0
        answer = self.answers[number]
        right = [key for key, value in answer.items() if found.get(key) == value and not isinstance(found[key], bool)]
        return len(right) / len(answer)


def records(number: int, seed: int) -> Task:
    """Return the task to write people, described in sentences, as JSON."""
    rng = Random(seed)
    people = [invented(rng) for _ in range(number)]
    schema: dict[str, Any] = {
        key: {"type": "string", "maxLength": 40} for key in ("name", "age", "email", "city", "job")
    }
    schema["age"] = {"type": "integer", "minimum": 0, "maximum": 120}
    return Task(
        "records",
        [SENTENCES.format(**person) + "\nA person as JSON:\n" for person in people],
        _object(schema),
        [{key: person[key] for key in schema} for person in people],
        _template({key: Slot.NUMBER if key == "age" else Slot.STRING for key in schema}),
    )


def sums(number: int, seed: int) -> Task:
    """Return the task to add two numbers of one digit."""
    rng = Random(seed)
    sampled = [[(rng.randint(0, 9), rng.randint(0, 9)) for _ in range(4)] for _ in range(number)]
    schema = {key: {"type": "integer", "minimum": 0, "maximum": 18} for key in ("a", "b", "sum")}

    def prompt(pairs: list[tuple[int, int]]) -> str:
        lines = [f"{a} + {b} as JSON:\n" + json.dumps({"a": a, "b": b, "sum": a + b}) + "\n" for a, b in pairs[:-1]]
        a, b = pairs[-1]
        return "".join(lines) + f"{a} + {b} as JSON:\n"

    return Task(
        "sums",
        [prompt(pairs) for pairs in sampled],
        _object(schema),
        [{"sum": sum(pairs[-1])} for pairs in sampled],
        _template(dict.fromkeys(schema, Slot.NUMBER)),
    )


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _template(slots: dict[str, Slot]) -> list[str | Slot]:
    parts, before = list[str | Slot](), "{"
    for key, slot in slots.items():
        quote = '"' if slot is Slot.STRING else ""
        parts += [f'{before}"{key}": {quote}', slot]
        before = f"{quote}, "
    return [*parts, before[:-2] + "}"]
