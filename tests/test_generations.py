"""Texts within budgets by writers who want anything but to end: all are complete, and valid as others say."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import generations
import pytest

from decoding import bundled_model, vocabulary_of
from tokenfst import Vocabulary

sys.path.append(str(Path(__file__).parent / "json_schema"))

SCHEMAS: dict[str, Any] = {
    "record": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 3, "maxLength": 12},
            "age": {"type": "integer", "minimum": 0, "maximum": 150},
            "tags": {"type": "array", "items": {"enum": ["red", "green"]}, "uniqueItems": True},
        },
        "required": ["name", "age"],
        "additionalProperties": False,
    },
    "tree": {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                    "id": {"type": "number"},
                },
                "required": ["id"],
            }
        },
    },
    "either": {"oneOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "array", "minItems": 2}]},
    "pairs": {"type": "array", "contains": {"const": 7}, "minContains": 2, "maxItems": 5},
    "anything": True,
    "records that differ": {
        "type": "array",
        "items": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
        "uniqueItems": True,
    },
    "texts that differ": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "minItems": 2},
}
# The others take seconds to compile, or Earley seconds to read.
GRAMMARS = ["arithmetic", "domino_json", "s_expressions", "xml"]


@pytest.fixture(scope="module")
def vocabulary() -> Iterator[Vocabulary]:
    with pytest.MonkeyPatch.context() as patch:
        # Shorter texts than the script's.
        patch.setattr(generations, "EXTRA", (0, 0, 1, 2, 5, 20))
        yield vocabulary_of(bundled_model()[1])


def check(subjects: list[generations.Subject], count: int, vocabulary: Vocabulary) -> generations.Result:
    writers = generations.writers(vocabulary)
    model = generations.ModelWriter()
    result = generations.run(subjects, count, vocabulary, {"model": model, **writers})
    assert not result.failures, result.failures[0]
    assert not result.refused
    assert result.done["all"] == count
    assert result.done["valid"] > 0.9 * count
    assert result.done["budget:none to spare"] > 0.1 * count
    assert all(result.done[f"writer:{name}"] for name in ("model", *writers))
    return result


def test_schemas(vocabulary: Vocabulary) -> None:
    result = check([generations.schema_subject(*each) for each in SCHEMAS.items()], 40, vocabulary)
    assert min(result.done["kind:complete"], result.done["kind:lazy"]) > 10


def test_grammars(vocabulary: Vocabulary) -> None:
    check([generations.grammar_subject(name) for name in GRAMMARS], 20, vocabulary)


def test_patterns(vocabulary: Vocabulary) -> None:
    subjects = [generations.pattern_subject(*each) for each in generations.PATTERNS.items()]
    result = check(subjects, 24, vocabulary)
    assert result.done["kind:canonical"] > 2


def test_what_fails_is_told(vocabulary: Vocabulary) -> None:
    real = generations.pattern_subject("[0-9]{2,9}", ("complete", "lazy"))
    wrong = generations.Subject(real.name, real.constraint, real.kinds, lambda: lambda text: len(text) > 99)
    result = generations.run([wrong], 4, vocabulary, generations.writers(vocabulary))
    assert [failure["wrong"] for failure in result.failures] == ["the text is not valid"] * 4
    assert "4 failed" in next(result.report())
