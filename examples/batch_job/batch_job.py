"""A batch job on many machines: from prompts, each with its own JSON Schema, to values that satisfy the schemas.

    python batch_job.py PROMPTS OUTPUT [--address HOST:PORT] [--workers 8] [--gpus 1] [--model FOLDER]

PROMPTS is a folder of JSON Lines files, the shards. Each line is a record `{"id": ..., "prompt": ..., "schema": ...}`.
For each shard, a file of the same name appears in OUTPUT, with a line for each record, in the same order:

    {"id": ..., "text": ..., "value": ...}   the text that was written, and its JSON value with every digit
    {"id": ..., "error": ...}                where and why the schema cannot be honoured, or the record cannot be read

Both folders must be on a file system that all machines share and that renames files atomically.

    Job           the settings on which the texts depend
    Request       one record: its prompt and its automaton, or the error in it
    Writer        a model, its vocabulary and a compiler; turns the lines of a shard into those of its output
    write_whole   writes a file that appears complete or not at all
    Worker        an actor of Ray Data with one writer
    run           runs the job: writes the missing outputs with a number of workers

Ray Data distributes the shards. If a node dies, it starts the node's actor again where there is room, and runs the
actor's shard again. This works only while the driver runs; beyond that, the job relies on its files. The output of a
shard is written to a temporary file in OUTPUT, which is renamed once it is on disk, so the output is complete or
missing. A job that is started again runs the shards that have no output yet. If a node dies, the unfinished output of
its shard is lost, so a shard should take only minutes.

It does no harm if a shard runs twice, because its texts are the same each time. Each record has its own seed, derived
from the job's seed and the record's id. Batches are taken from a shard in order, so even the last bits of the logits
are the same on machines of the same kind. Only a schema that takes about as long to compile as the limit allows
(`TOKENFST_COMPILE_SECONDS`) may be honoured in one run and refused in another.

Rejected, of Ray Data: `read_json` (the id "1" becomes a number, and one line that is not JSON ends the job); the files
of `write_json` (each run chooses new names, and the files appear before they are complete); its checkpoint of ids
(after a restart, the remaining records form other batches, and the order of records is lost); more than one shard in
flight for each actor (if the actor's node dies, all of them wait).
"""

from __future__ import annotations

import argparse
import glob
import hashlib
import itertools
import json
import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from automata.errors import TokenfstError
from decoding import BackgroundCompiler, Speculation, bundled_model, generate, vocabulary_of
from decoding.inputs.constraints import check_limit
from decoding.inputs.prompts import prompt_tokens
from decoding.speculation import ForcedTokens
from serving.settings import settings_from_environment
from serving.specifications import constraint_of
from tokenfst import TokenAutomaton

# The maximum number of attempts at a shard in one run. Ray Data would retry a shard that kills its worker forever.
MAX_ATTEMPTS: Final = 5
MANIFEST: Final = "job.json"
# The errors of a record that cannot be read, or a schema that cannot be honoured.
_REFUSALS: Final = (TokenfstError, ValueError, TypeError, RecursionError)


@dataclass(frozen=True)
class Job:
    """The settings on which the texts depend, besides the records.

    Attributes:
        model: a folder or a name that `transformers` loads; "bundled" for the model that comes with the package.
        seed: the seed from which the seeds of all records are derived.
        temperature: as for `generate`.
        max_new_tokens: the limit for each text, including the end token.
        batch: the number of texts that are written at a time.
    """

    model: str = "bundled"
    seed: int = 0
    temperature: float = 1.0
    max_new_tokens: int = 256
    batch: int = 16

    def seed_of(self, record: str | int | None) -> int:
        """Return the seed of the record with this id."""
        return int.from_bytes(hashlib.sha256(json.dumps([self.seed, record]).encode()).digest()[:8])


@dataclass
class Request:
    """One record.

    Attributes:
        place: the shard and the line.
        id: the id of the record; None if it could not be read.
        prompt: the token ids of its prompt.
        automaton: a future of the automaton of its schema; None until it is requested.
        text: the text that was written.
        error: why no text is written; "" if there is no error.
    """

    place: str
    id: str | int | None = None
    prompt: list[int] = field(default_factory=list)
    automaton: Future[TokenAutomaton] | None = None
    text: str = ""
    error: str = ""

    def refuse(self, error: BaseException, part: str = "") -> None:
        """Record why no text is written."""
        self.error = ": ".join(filter(None, (self.place, part, str(error))))

    def line(self) -> str:
        """Return the line for the output."""
        if self.error:
            return json.dumps({"id": self.id, "error": self.error})
        # Line ends in JSON are whitespace, so blanks can replace them. Parsing and writing the value could lose digits.
        value = self.text.replace("\n", " ")
        return f'{json.dumps({"id": self.id, "text": self.text})[:-1]}, "value": {value}}}'


class Writer:
    """A model, its vocabulary and a compiler, which turn the lines of a shard into those of its output."""

    def __init__(self, job: Job, threads: int = 1) -> None:
        """Load the model.

        Args:
            job: the model, and the settings of its texts.
            threads: the number of threads of the model on a CPU.
        """
        torch.set_num_threads(threads)
        self.job = job
        self.model, self.tokenizer = _loaded(job.model)
        self.vocabulary = vocabulary_of(self.tokenizer)
        settings = settings_from_environment()
        self.limits = settings.limits
        self.compiler = BackgroundCompiler(
            max_bytes=settings.cache_bytes, threads=settings.threads, limits=settings.limits
        )

    def lines(self, shard: Path) -> Iterator[str]:
        """Yield the output of a shard; the constraints of a batch are compiled while the previous batch is written."""
        before: list[Request] = []
        for numbered in _batched(_records(shard), self.job.batch):
            requests = [self.request(line, f"{shard.name}, line {number}") for number, line in numbered]
            yield from self.written(before)
            before = requests
        yield from self.written(before)

    def request(self, line: bytes, place: str) -> Request:
        """Read a record, and start compiling its schema."""
        request, part = Request(place), ""
        try:
            record = _record(line)
            request.id = _id(record)
            prompt, schema = _field(record, "prompt"), _field(record, "schema")
            part = "prompt"
            request.prompt = self._prompt(prompt)
            part = "schema"
            constraint = constraint_of("json", json.dumps(schema), limits=self.limits)
            request.automaton = self.compiler.submit(constraint, self.vocabulary)
        except _REFUSALS as error:
            request.refuse(error, part)
        return request

    def written(self, requests: Sequence[Request]) -> Iterator[str]:
        """Write the texts of a batch, and yield the lines for the output."""
        for request in requests:
            if request.automaton is not None:
                try:
                    check_limit(request.automaton.result(), self.job.max_new_tokens)
                except _REFUSALS as error:
                    request.refuse(error, "schema")
        self._write([request for request in requests if not request.error])
        yield from (request.line() for request in requests)

    def _prompt(self, prompt: Any) -> list[int]:
        if not isinstance(prompt, str):
            raise ValueError(f"a prompt is a text, not {type(prompt).__name__}")
        prompt.encode()  # raises for lone surrogates, which a tokenizer cannot encode
        (tokens,) = prompt_tokens(self.tokenizer, prompt)
        places = getattr(self.model.config, "max_position_embeddings", None)
        if places is not None and len(tokens) + self.job.max_new_tokens > places:
            raise ValueError(
                f"{len(tokens)} tokens, and {self.job.max_new_tokens} new ones, are more than the model's {places}"
            )
        return tokens

    def _write(self, requests: Sequence[Request]) -> None:
        """Write texts; if one of them cannot be written, write the others one by one."""
        if not requests:
            return
        try:
            texts = generate(
                self.model,
                self.tokenizer,
                [request.prompt for request in requests],
                [request.automaton for request in requests],
                max_new_tokens=self.job.max_new_tokens,
                temperature=self.job.temperature,
                seed=[self.job.seed_of(request.id) for request in requests],
                speculation=Speculation([ForcedTokens()]),
            )
        except TokenfstError as error:
            if len(requests) == 1:
                requests[0].refuse(error)
            else:
                for request in requests:
                    self._write([request])
            return
        for request, text in zip(requests, texts, strict=True):
            request.text = text


def _loaded(name: str) -> tuple[Any, Any]:
    """Return a model, on an accelerator if this process has one, and its tokenizer."""
    if name == "bundled":
        return bundled_model()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model: Any = AutoModelForCausalLM.from_pretrained(name, dtype="auto")
    return model.to(device), AutoTokenizer.from_pretrained(name)


def _records(shard: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a shard that are not blank, each with its number, counted from 1."""
    with shard.open("rb") as file:
        yield from ((number, line) for number, line in enumerate(file, 1) if line.strip())


def _batched(items: Iterable[tuple[int, bytes]], size: int) -> Iterator[list[tuple[int, bytes]]]:
    iterator = iter(items)
    while batch := list(itertools.islice(iterator, size)):
        yield batch


def _record(line: bytes) -> dict[str, Any]:
    """Return the record in a line.

    Raises:
        ValueError: the line is not a JSON object.
    """
    try:
        record = json.loads(line.decode().strip())
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} (at column {error.colno})") from None
    if not isinstance(record, dict):
        raise ValueError(f"a record is an object, not {type(record).__name__}")
    return record


def _field(record: dict[str, Any], name: str) -> Any:
    if name not in record:
        raise ValueError(f"the record has no {name!r}")
    return record[name]


def _id(record: dict[str, Any]) -> str | int:
    found: str | int = _field(record, "id")
    if not isinstance(found, str | int):
        raise ValueError(f"an id is a text or a number, not {found!r}")
    return found


def write_whole(path: Path, lines: Iterable[str]) -> None:
    """Write a file that appears only when it is complete and on disk."""
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}")  # a name that `_unfinished` finds
    try:
        with beside.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # so that the name is on disk, too
    finally:
        os.close(folder)


def _unfinished(folder: Path, pattern: str) -> list[Path]:
    """Return the temporary files that were left behind by processes that were killed."""
    return list(folder.glob(f".{pattern}.*"))


class Worker:
    """An actor of Ray Data, which takes the name of one shard at a time."""

    def __init__(self, job: Job, prompts: Path, output: Path, threads: int) -> None:
        self.writer, self.prompts, self.output = Writer(job, threads), prompts, output

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        """Write the output of a shard; return its number of records, and how many of them have errors."""
        name = str(batch["shard"][0])
        # A shard also runs again if its node died after finishing it, but before reporting so.
        if not (self.output / name).exists():
            attempts = len(_unfinished(self.output, glob.escape(name)))
            if attempts >= MAX_ATTEMPTS:
                raise RuntimeError(f"{name} was begun {attempts} times, and each time its worker died")
            write_whole(self.output / name, self.writer.lines(self.prompts / name))
        with (self.output / name).open(encoding="utf-8") as file:
            refused = ["error" in json.loads(line) for line in file]
        return {"shard": [name], "records": [len(refused)], "errors": [sum(refused)]}


def begin(job: Job, prompts: Path, output: Path) -> list[str]:
    """Return the names of the shards that have no output yet.

    Raises:
        ValueError: there are no shards; or the output belongs to another job, or the prompts have changed since.
    """
    shards = {}
    for path in sorted(prompts.glob("*.jsonl")):
        with path.open("rb") as file:
            shards[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    if not shards:
        raise ValueError(f"{prompts} has no files *.jsonl")
    asked = {**asdict(job), **{f"shard {name}": digest for name, digest in shards.items()}}
    output.mkdir(parents=True, exist_ok=True)
    if (output / MANIFEST).exists():
        known = json.loads((output / MANIFEST).read_text("utf-8"))
        differ = sorted(name for name in {*asked, *known} if asked.get(name) != known.get(name))
        if differ:
            raise ValueError(f"{output} was begun by another job, which differs in: {', '.join(differ)}")
    else:
        write_whole(output / MANIFEST, [json.dumps(asked, indent=1)])
    return [name for name in shards if not (output / name).exists()]


def _tidy(output: Path) -> None:
    for path in _unfinished(output, "*.jsonl"):
        path.unlink(missing_ok=True)


def run(job: Job, prompts: Path, output: Path, *, workers: int, threads: int, gpus: float) -> None:
    """Write the output of all shards that have none, on the Ray cluster to which this process is connected.

    Raises:
        RuntimeError: a shard has no output at the end.
        ValueError: as for `begin`.
    """
    import ray

    left = begin(job, prompts, output)
    _tidy(output)
    print(f"{len(left)} shards to run", flush=True)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    if left:
        shards = ray.data.from_items([{"shard": name} for name in left], override_num_blocks=len(left))
        reports = shards.map_batches(
            Worker,
            fn_constructor_args=(job, prompts, output, threads),
            batch_size=1,
            compute=ray.data.ActorPoolStrategy(size=min(workers, len(left)), max_tasks_in_flight_per_actor=1),
            num_cpus=threads,
            num_gpus=gpus,
        )
        for report in reports.iter_rows():
            print("{shard}: {records} records, {errors} of them refused".format(**report), flush=True)
    missing = begin(job, prompts, output)
    if missing:
        raise RuntimeError(f"{len(missing)} shards have no output: {', '.join(missing)}")
    _tidy(output)
    print("all shards are finished", flush=True)


def main() -> None:
    """Run the job that the command line describes."""
    parser = argparse.ArgumentParser(description="Prompts, each with a JSON Schema, to values; on a Ray cluster.")
    parser.add_argument("prompts", type=Path, help="a folder of JSON Lines files")
    parser.add_argument("output", type=Path, help="a folder, the same when the job is started again")
    parser.add_argument("--address", help="of a Ray cluster; without it, the one of RAY_ADDRESS, or of this machine")
    parser.add_argument("--workers", type=int, default=1, help="how many processes write, each with a model of its own")
    parser.add_argument("--threads", type=int, default=1, help="cores of each worker")
    parser.add_argument("--gpus", type=float, default=0, help="accelerators of each worker")
    known = Job()
    parser.add_argument("--model", default=known.model)
    parser.add_argument("--seed", type=int, default=known.seed)
    parser.add_argument("--temperature", type=float, default=known.temperature)
    parser.add_argument("--max-new-tokens", type=int, default=known.max_new_tokens)
    parser.add_argument("--batch", type=int, default=known.batch, help="how many texts a worker writes at a time")
    asked = parser.parse_args()
    import ray

    ray.init(address=asked.address, log_to_driver=False)
    job = Job(asked.model, asked.seed, asked.temperature, asked.max_new_tokens, asked.batch)
    prompts, output = asked.prompts.resolve(), asked.output.resolve()
    run(job, prompts, output, workers=asked.workers, threads=asked.threads, gpus=asked.gpus)


if __name__ == "__main__":
    main()
