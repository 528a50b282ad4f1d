"""Run the benchmarks of docs/benchmarks.md one after the other, and keep what each prints in a file of its own.

    python benchmarks/sitting.py OUT [--vocab FILE] [--schemas FILE] [--hard FILE] [--only NAME,...] [--list]

OUT gets `machine.txt`, with the date, the processor and the versions of all packages, and for each benchmark a file
NAME.txt, which ends with its exit status and the time that it took. Tables and figures that benchmarks write as files
are in OUT too. MaskBench and `exactness.py` are left out without `--schemas`, and `hard_schemas.py` without `--hard`.
Benchmarks run one at a time, so that none disturbs another. All of them take a morning, most of it for engines that are
stopped at their limits. Not among them are `servers.py`, `nemo_grammars.py` and `gpu_times.py`, which need an
environment, files or a machine of their own, and `paired.py`, which compares two versions.
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
        script: the name of its file, without `.py`.
        arguments: its arguments; OUT, VOCAB, SCHEMAS and HARD stand for what this script was given.
    """

    script: str
    arguments: str = "--vocab VOCAB"


# Benchmarks of short times come first; last come those that only show what happens within a limit.
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
    """Return the command of a benchmark; None if it needs a file of schemas that was not given.

    Args:
        benchmark: the benchmark.
        out: the directory in which it may leave files.
        files: for VOCAB, SCHEMAS and HARD the file that was given, or None.
    """
    arguments = benchmark.arguments if files["VOCAB"] else benchmark.arguments.replace("--vocab VOCAB", "")
    values = {name: file for name, file in files.items() if file}
    if any(name in arguments.split() for name in files.keys() - values):
        return None
    words = [values.get(word, word.replace("OUT", str(out), 1)) for word in arguments.split()]
    return [sys.executable, str(HERE / f"{benchmark.script}.py"), *words]


def describe(out: Path) -> None:
    """Write the date, the machine, and the versions of Python and of all packages to `machine.txt`."""
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
    parser.add_argument("--vocab", help="a vocabulary file; without it each benchmark uses its own default")
    parser.add_argument("--schemas", help="a file of schemas as `maskbench.py` takes it")
    parser.add_argument("--hard", help="a file of schemas as `hard_schemas.py` takes it")
    parser.add_argument("--only", help="the names of the benchmarks to run, separated by commas")
    parser.add_argument("--list", action="store_true", help="print the commands without running them")
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
