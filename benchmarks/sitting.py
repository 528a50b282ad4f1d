"""One sitting: every benchmark of docs/benchmarks.md, one after the other, with what each prints in a file of its own.

    python benchmarks/sitting.py OUT [--vocab FILE] [--schemas FILE] [--hard FILE] [--only NAME,...] [--list]

OUT gets `machine.txt`, with the date, the processor and the versions of all packages, and NAME.txt for each benchmark,
which ends in its exit status and the time that it took. What draws or writes tables as files leaves them in OUT too.
MaskBench and the league of exactness are left out without `--schemas`, and hard schemas without `--hard`. One benchmark
at a time, so that none disturbs another; all of them take a morning, most of it for engines that are stopped at their
limits. `servers.py` has an environment of its own and is not among them.
"""

from __future__ import annotations

import argparse
import datetime
import shlex
import subprocess
import sys
import time
from importlib.metadata import distributions
from pathlib import Path
from typing import Final, NamedTuple

from table2 import machine

HERE: Final = Path(__file__).parent


class Benchmark(NamedTuple):
    """One benchmark.

    Attributes:
        script: its file, without the ending.
        arguments: in which OUT, VOCAB, SCHEMAS and HARD stand for what the sitting was given.
    """

    script: str
    arguments: str = "--vocab VOCAB"


# Those whose times are short come first, and last those that only tell what happens within a limit.
BENCHMARKS: Final = {
    "table2": Benchmark("table2", "--vocab VOCAB --output OUT"),
    "cold_start": Benchmark("cold_start"),
    "threads": Benchmark("threads"),
    "weights": Benchmark("weights"),
    "fst_import": Benchmark("fst_import", ""),
    "prefill": Benchmark("prefill"),
    "maskbench_two": Benchmark("maskbench", "SCHEMAS --vocab VOCAB --engines tokenfst,llguidance --report OUT/two.md"),
    "maskbench": Benchmark(
        "maskbench",
        "SCHEMAS --vocab VOCAB --engines tokenfst,llguidance,glrmask --failures OUT/failures.txt"
        " --report OUT/maskbench.md --figure OUT/maskbench.svg",
    ),
    "hard_schemas": Benchmark("hard_schemas", "HARD --vocab VOCAB"),
    "decode": Benchmark("decode", "--vocab VOCAB --sizes 32000,128000,262144 --json OUT/decode.json"),
    "speculation": Benchmark("speculation", ""),
    "maskbench_complete": Benchmark(
        "maskbench",
        "SCHEMAS --vocab VOCAB --engines tokenfst,llguidance,glrmask,xgrammar,outlines-core --limit 10 --every 12",
    ),
    "grammars": Benchmark("grammars", "--vocab VOCAB --rounds 3 --grammars json --output OUT"),
    "grammars_domino": Benchmark(
        "grammars", "--vocab VOCAB --rounds 3 --grammars domino_xml,domino_c --batches , --output OUT/domino"
    ),
    "large": Benchmark("large", "--vocab VOCAB --seconds 40 --output OUT"),
    "exactness": Benchmark(
        "exactness",
        "--schemas SCHEMAS --vocab VOCAB --every 24 --witnesses OUT/witnesses.jsonl --report OUT/exactness.md",
    ),
    "hostile": Benchmark("hostile", "--vocab VOCAB --results OUT/hostile.jsonl"),
}


def command(benchmark: Benchmark, out: Path, files: dict[str, str | None]) -> list[str] | None:
    """Return the command of a benchmark; None where it needs schemas and there are none.

    Args:
        benchmark: the benchmark.
        out: where it may leave files.
        files: VOCAB, SCHEMAS and HARD, each with the file that was given.
    """
    arguments = benchmark.arguments if files["VOCAB"] else benchmark.arguments.replace("--vocab VOCAB", "")
    values = {name: file for name, file in files.items() if file}
    if any(name in arguments.split() for name in files.keys() - values):
        return None
    words = [values.get(word, word.replace("OUT", str(out), 1)) for word in arguments.split()]
    return [sys.executable, str(HERE / f"{benchmark.script}.py"), *words]


def describe(out: Path) -> None:
    """Write down where and when this is, and with what."""
    versions = sorted(f"{found.metadata['Name']} {found.version}" for found in distributions())
    lines = [f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC", machine(), sys.version, "", *versions]
    (out / "machine.txt").write_text("\n".join(lines) + "\n")


def measure(name: str, words: list[str], out: Path) -> int:
    """Run one benchmark; return its exit status."""
    print(shlex.join(words), flush=True)
    begun = time.monotonic()
    with (out / f"{name}.txt").open("w") as file:
        status = subprocess.run(words, stdout=file, stderr=subprocess.STDOUT, check=False).returncode
        file.write(f"\nexit status {status}, {time.monotonic() - begun:.0f} seconds\n")
    return status


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--vocab", help="a vocabulary file; without it each benchmark takes one that packages carry")
    parser.add_argument("--schemas", help="a file of schemas as `maskbench.py` takes it")
    parser.add_argument("--hard", help="a file of schemas as `hard_schemas.py` takes it")
    parser.add_argument("--only", help="the names of some, with commas")
    parser.add_argument("--list", action="store_true", help="print the commands alone")
    given = parser.parse_args()
    out = given.out.resolve()
    names = given.only.split(",") if given.only else list(BENCHMARKS)
    files = {"VOCAB": given.vocab, "SCHEMAS": given.schemas, "HARD": given.hard}
    commands = {name: command(BENCHMARKS[name], out, files) for name in names}
    if given.list:
        print("\n".join(shlex.join(words) for words in commands.values() if words))
        return 0
    out.mkdir(parents=True, exist_ok=True)
    describe(out)
    failed = [name for name, words in commands.items() if words and measure(name, words, out)]
    if failed:
        print("failed:", *failed)
    return bool(failed)


if __name__ == "__main__":
    raise SystemExit(main())
