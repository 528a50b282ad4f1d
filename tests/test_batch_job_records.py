"""The batch job of `examples/`, without a cluster: records, their texts and their files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import batch_job
import jsonschema
import pytest
from batch_job import Job, Worker, Writer, begin, write_whole
from example_prompts import write_shards

from automata import LimitExceeded
from decoding import generate

JOB = Job(max_new_tokens=64, batch=4)
SCHEMA = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}


@pytest.fixture(scope="module")
def writer() -> Writer:
    return Writer(JOB)


def record(name: Any = "a", prompt: Any = "A person as JSON: ", schema: Any = SCHEMA) -> dict[str, Any]:
    return {"id": name, "prompt": prompt, "schema": schema}


def written(writer: Writer, folder: Path, *lines: bytes | dict[str, Any]) -> list[dict[str, Any]]:
    """What comes out for a shard of these lines."""
    shard = folder / "shard.jsonl"
    shard.write_bytes(
        b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines)
    )
    return [json.loads(line) for line in writer.lines(shard)]


def test_each_record_has_a_line_in_its_order(writer: Writer, tmp_path: Path) -> None:
    write_shards(tmp_path, 1, 48)
    (shard,) = tmp_path.glob("*.jsonl")
    lines, results = shard.read_text().splitlines(), [json.loads(line) for line in writer.lines(shard)]
    assert len(results) == len(lines) == 48
    for line, result in zip(lines, results, strict=True):
        if "error" in result:
            assert set(result) == {"id", "error"}
            assert result["id"] is None or "broken" in result["id"]
        else:
            asked = json.loads(line)
            assert result["id"] == asked["id"]
            assert json.loads(result["text"]) == result["value"]
            jsonschema.validate(result["value"], asked["schema"])
    assert sum("error" in result for result in results) == 4


@pytest.mark.parametrize(
    ("line", "name", "reason"),
    [
        (b"{]\n", None, "line 2: not JSON: Expecting property name .* .at column 2."),
        (b'{"id": "\xff"}\n', None, "line 2: 'utf-8' codec can't decode"),
        (b"[" * 100_000 + b"\n", None, "line 2: (maximum recursion depth|Stack overflow)"),
        (b"7\n", None, "line 2: a record is an object, not int"),
        ({"prompt": "", "schema": {}}, None, "line 2: the record has no 'id'"),
        ({"id": "b", "prompt": ""}, "b", "line 2: the record has no 'schema'"),
        (record([1]), None, r"line 2: an id is a text or a number, not \[1\]"),
        (record("b", 7), "b", "line 2: prompt: a prompt is a text, not int"),
        (record("b", "\ud800"), "b", "line 2: prompt: .*surrogates not allowed"),
        (record("b", "a" * 2000), "b", "line 2: prompt: .* and 64 new ones, are more than the model's 1024"),
        (record("b", schema=7), "b", "line 2: schema: a schema must be an object or a boolean, not 7"),
        (record("b", schema={"type": "int"}), "b", "line 2: schema: there is no type 'int' .at /type"),
        (record("b", schema={"items": {"pattern": "(a"}}), "b", "line 2: schema: a group is opened and never closed"),
        (
            record("b", schema={"type": "string", "minLength": 900}),
            "b",
            "line 2: schema: the constraint takes at least",
        ),
    ],
)
def test_what_cannot_be_written_says_where_and_why(
    writer: Writer, tmp_path: Path, line: bytes | dict[str, Any], name: Any, reason: str
) -> None:
    before, result, after = written(writer, tmp_path, record("a"), line, record("c"))
    assert set(result) == {"id", "error"}
    assert result["id"] == name
    with pytest.raises(ValueError, match=f"^shard.jsonl, {reason}"):
        raise ValueError(result["error"])
    for other in (before, after):
        jsonschema.validate(other["value"], SCHEMA)


def test_a_schema_beyond_the_limits_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TOKENFST_COMPILE_BYTES", "100000")
    patterns = {"allOf": [{"pattern": f"a.{{{number}}}b"} for number in range(9, 14)], "type": "string"}
    refused, fine = written(Writer(JOB), tmp_path, record(schema=patterns), record(schema={"enum": [1, 2]}))
    assert "schema: " in refused["error"]
    assert "memory" in refused["error"]
    assert fine["value"] in (1, 2)


def test_values_keep_their_digits(writer: Writer, tmp_path: Path) -> None:
    shard = tmp_path / "shard.jsonl"
    shard.write_text('{"id": 1, "prompt": "", "schema": {"const": [123456789012345678901234567890, 0.1000]}}\n')
    (line,) = writer.lines(shard)
    value = json.loads(line, parse_int=Decimal, parse_float=Decimal)["value"]
    assert value == [Decimal("123456789012345678901234567890"), Decimal("0.1")]


def test_blank_lines_are_none_and_the_last_needs_no_end(writer: Writer, tmp_path: Path) -> None:
    results = written(writer, tmp_path, b"\n", record(1), b"  \r\n", json.dumps(record(2)).encode())
    assert [result["id"] for result in results] == [1, 2]
    assert written(writer, tmp_path) == []


def test_a_text_depends_on_the_job_and_its_record_alone(writer: Writer, tmp_path: Path) -> None:
    lines = [record(name, schema={"type": "string", "maxLength": 20}) for name in "abcdefgh"]
    results = {result["id"]: result["text"] for result in written(writer, tmp_path, *lines)}
    assert len(set(results.values())) > 4
    again = written(writer, tmp_path, *lines[5:], b"{]\n", *lines[:3])
    assert {result["id"]: result["text"] for result in again if "text" in result}.items() <= results.items()
    other = Writer(Job(seed=1, max_new_tokens=64, batch=4))
    assert {result["id"]: result["text"] for result in written(other, tmp_path, *lines)} != results


def test_a_text_that_fails_takes_none_with_it(writer: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(model: Any, tokenizer: Any, prompts: list[list[int]], *others: Any, **options: Any) -> list[str]:
        if tokenizer("fails")["input_ids"] in prompts:
            raise LimitExceeded("the tables are too large")
        texts: list[str] = generate(model, tokenizer, prompts, *others, **options)
        return texts

    lines = [record("a"), record("b", "fails"), record("c")]
    expected = written(writer, tmp_path, *lines)
    monkeypatch.setattr(batch_job, "generate", failing)
    first, failed, last = written(writer, tmp_path, *lines)
    assert failed == {"id": "b", "error": "shard.jsonl, line 2: the tables are too large"}
    assert [first, last] == [expected[0], expected[2]]


def test_files_appear_whole(tmp_path: Path) -> None:
    def lines() -> Iterator[str]:
        yield "a"
        assert not (tmp_path / "file").exists()
        raise KeyError

    with pytest.raises(KeyError):
        write_whole(tmp_path / "file", lines())
    assert list(tmp_path.iterdir()) == []
    write_whole(tmp_path / "file", ["ä", "b"])
    assert (tmp_path / "file").read_bytes() == "ä\nb\n".encode()
    assert len(list(tmp_path.iterdir())) == 1


def test_a_job_goes_on_only_as_it_was_begun(tmp_path: Path) -> None:
    prompts, output = tmp_path / "prompts", tmp_path / "output"
    with pytest.raises(ValueError, match=r"has no files \*\.jsonl"):
        begin(JOB, prompts, output)
    write_shards(prompts, 3, 2)
    names = ["shard-000.jsonl", "shard-001.jsonl", "shard-002.jsonl"]
    assert begin(JOB, prompts, output) == names
    (output / names[1]).write_text("")
    assert begin(JOB, prompts, output) == [names[0], names[2]]
    with pytest.raises(ValueError, match="another job, which differs in: batch, seed"):
        begin(Job(seed=1, max_new_tokens=64), prompts, output)
    (prompts / names[2]).write_text("{}\n")
    with pytest.raises(ValueError, match=r"another job, which differs in: shard shard-002\.jsonl"):
        begin(JOB, prompts, output)


def test_a_shard_that_kills_its_worker_is_not_begun_for_ever(tmp_path: Path) -> None:
    prompts, output = tmp_path / "prompts", tmp_path / "output"
    write_shards(prompts, 1, 2)
    begin(JOB, prompts, output)
    worker = Worker(JOB, prompts, output, 1)
    for number in range(batch_job.MAX_ATTEMPTS):
        (output / f".shard-000.jsonl.{number}").touch()
    with pytest.raises(RuntimeError, match=r"shard-000\.jsonl was begun 5 times, and each time its worker died"):
        worker({"shard": ["shard-000.jsonl"]})
    (output / ".shard-000.jsonl.0").unlink()
    report = {"shard": ["shard-000.jsonl"], "records": [2], "errors": [0]}
    assert worker({"shard": ["shard-000.jsonl"]}) == report
    before = (output / "shard-000.jsonl").stat().st_mtime_ns
    assert worker({"shard": ["shard-000.jsonl"]}) == report
    assert (output / "shard-000.jsonl").stat().st_mtime_ns == before
