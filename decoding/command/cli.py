"""The subcommands of `tokenfst`.

    tokenfst generate CONSTRAINT [--prompt P] [--model DIR-or-name]     let a model write what a constraint allows
    tokenfst compile CONSTRAINT --vocab FILE [--output FILE]            states, classes, bytes, a time per stage
    tokenfst draw CONSTRAINT --tokens a,b,ab [--output DIR]             both automata as SVG, or DOT without Graphviz

A constraint is `--regex R`, `--grammar FILE-or-NAME` or `--json-schema FILE` (`decoding.command.source`). A mistake
gives one message and exit status 2. A mistake in a pattern or in a file with a grammar is shown with a caret, one in a
schema with its JSON pointer. Libraries are imported where they are needed: a message about a bad pattern does not wait
for torch.
"""

from __future__ import annotations

import argparse
import math
import re
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from automata.byte_automaton import ByteAutomaton
from automata.errors import TokenfstError
from automata.pushdown.automaton import PushdownAutomaton
from decoding.command.progress import progress
from decoding.command.source import Source, add_constraint, source_of

if TYPE_CHECKING:
    from automata.drawing import Drawing
    from tokenfst.token_automaton import TokenAutomaton

T = TypeVar("T")
REPEATS = 7  # each stage of `compile` is timed this often; the median is shown


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    options = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace, Source[Any], Any], None] = options.run
    source: Source[Any] | None = None
    try:
        source = source_of(options)
        read = source.read()
        for remark in source.remarks(read):
            print(f"tokenfst: {remark}", file=sys.stderr)
        run(options, source, read)
    except TokenfstError as error:
        print(source.shown(error) if source else f"tokenfst: {error}", file=sys.stderr)
        return 2
    except (ImportError, OSError, ValueError) as error:
        print(f"tokenfst: {_first_line(error)}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tokenfst", description="Make a language model write what a constraint allows."
    )
    parser.add_argument("--version", action="version", version=f"tokenfst {_version()}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    generate = commands.add_parser("generate", help="let a model write what a constraint allows")
    add_constraint(generate)
    generate.add_argument("--prompt", default="", help="what comes before the text")
    generate.add_argument(
        "--model", help="a folder or a name that transformers can load; the bundled model if left out"
    )
    generate.add_argument("--max-new-tokens", type=_positive, default=128, metavar="N")
    generate.add_argument(
        "--temperature", type=_temperature, default=0.7, metavar="T", help="0 takes the likeliest token"
    )
    generate.add_argument("--seed", type=int, default=0, metavar="S")
    generate.set_defaults(run=_generate)

    compile_ = commands.add_parser("compile", help="compile a constraint over a vocabulary and time each stage")
    add_constraint(compile_)
    compile_.add_argument(
        "--vocab", required=True, type=Path, help="tokenizer.json, .tiktoken, Tekken or SentencePiece"
    )
    compile_.add_argument(
        "--eos-id", type=int, action="append", metavar="ID", help="a token that ends a text, where the file names none"
    )
    compile_.add_argument("--output", type=Path, help="where to save the automaton (safetensors)")
    compile_.set_defaults(run=_compile)

    draw = commands.add_parser("draw", help="draw the automata over bytes and over tokens")
    add_constraint(draw)
    draw.add_argument(
        "--tokens",
        required=True,
        type=_tokens,
        action="extend",
        metavar="A,B,...",
        help=r"the vocabulary, with commas between tokens; \, is a comma, \\ a backslash; repeat it for more tokens",
    )
    draw.add_argument(
        "--output", type=Path, default=Path(), metavar="DIR", help="a folder; the current one if left out"
    )
    draw.set_defaults(run=_draw)
    return parser


def _version() -> str:
    from tokenfst import __version__

    return __version__


def _positive(text: str) -> int:
    """Read a number of tokens."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 on, not {text!r}")
    return int(text)


def _temperature(text: str) -> float:
    """Read a temperature."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"a number from 0 on, not {text!r}")
    return number


def _tokens(text: str) -> list[bytes]:
    r"""Read tokens with commas between them; `\,` is a comma, and `\\` a backslash.

    Raises:
        ArgumentTypeError: a token is empty.
    """
    tokens = [""]
    for part in re.findall(r"\\[,\\]|.", text, re.DOTALL):
        if part == ",":
            tokens.append("")
        else:
            tokens[-1] += part[-1]
    if "" in tokens:
        raise argparse.ArgumentTypeError(rf"{text!r} has an empty token; a comma in a token is written \,")
    return [token.encode() for token in tokens]


def _first_line(error: BaseException) -> str:
    """Return the first line of an error's message; libraries append advice to theirs."""
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)


def _generate(options: argparse.Namespace, source: Source[Any], read: Any) -> None:
    constraint = source.constraint(read)
    with progress("loading torch and the model"):
        model, tokenizer = _load_model(options.model)
    from decoding.writing.generate import generate

    with progress("writing"):
        texts = generate(
            model,
            tokenizer,
            options.prompt,
            constraint,
            max_new_tokens=options.max_new_tokens,
            temperature=options.temperature,
            seed=options.seed,
        )
    print(texts[0])


def _eos_ids(options: argparse.Namespace) -> list[int] | tuple[()] | None:
    """Return the end tokens that are given; none for a file of ranks, which names none; otherwise None."""
    if options.eos_id is not None:
        return list(options.eos_id)
    return () if options.vocab.suffix == ".tiktoken" else None


def _load_model(name: str | None) -> tuple[Any, Any]:
    if name is None:
        from decoding.bundled import bundled_model

        return bundled_model()
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        return AutoModelForCausalLM.from_pretrained(name), AutoTokenizer.from_pretrained(name)
    except Exception as error:
        raise TokenfstError(f"transformers cannot load the model {name!r}: {_first_line(error)}") from error


def _compile(options: argparse.Namespace, source: Source[Any], read: Any) -> None:
    from tokenfst.compile import compile as compile_tokens
    from tokenfst.loaders import load_vocabulary

    source.constraint(read)
    with progress("reading the vocabulary"):
        vocabulary = load_vocabulary(options.vocab, eos_ids=_eos_ids(options))
    with progress("compiling"):
        # Any: states are numbers, or configurations where there is a stack.
        first: Any = compile_tokens(source.compiled(read), vocabulary)
        least: int = first.min_tokens(first.start)
    _, reading = _timed(source.read)
    over_bytes, determinizing = _timed(lambda: source.compiled(read))
    over_tokens, composing = _timed(lambda: compile_tokens(over_bytes, vocabulary).complete())
    _, masking = _timed(lambda: first.mask(first.start))
    print(f"vocabulary         {len(vocabulary):>9,} tokens")
    _print_sizes(over_bytes, over_tokens, least)
    stages = (*source.stages, "bytes to tokens", "a mask")
    for stage, seconds in zip(stages, (reading, determinizing, composing, masking), strict=True):
        print(f"{stage:<22} {seconds * 1e3:>8.3f} ms")
    if options.output:
        over_tokens.save(options.output)
        print(f"saved {options.output}")


def _print_sizes(over_bytes: ByteAutomaton | PushdownAutomaton, over_tokens: TokenAutomaton, least: int) -> None:
    from tokenfst.finite.automaton import FiniteTokenAutomaton
    from tokenfst.pushdown.automaton import PushdownTokenAutomaton

    print(f"byte automaton     {over_bytes.num_states:>9,} states  {over_bytes.num_classes:>7,} byte classes")
    if isinstance(over_bytes, PushdownAutomaton):
        steps, symbols = len(over_bytes.step_target), over_bytes.num_symbols
        print(f"                   {steps:>9,} steps   {symbols:>7,} symbols on the stack")
    if isinstance(over_tokens, PushdownTokenAutomaton):
        states, classes = f"{len(over_tokens.tables.child):>9,} nodes ", over_tokens.num_classes
    else:
        assert isinstance(over_tokens, FiniteTokenAutomaton)
        states, classes = f"{over_tokens.num_states:>9,} states", over_tokens.num_classes
    print(f"token automaton    {states}  {classes:>7,} token classes")
    print(f"                   {over_tokens.nbytes:>9,} bytes   {least:>7,} tokens at least")


def _timed(run: Callable[[], T]) -> tuple[T, float]:
    """Return the result, and the median time in seconds."""
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - began)
    return result, statistics.median(times)


def _draw(options: argparse.Namespace, source: Source[Any], read: Any) -> None:
    from tokenfst.compile import compile as compile_tokens
    from tokenfst.vocabulary import Vocabulary

    tokens = options.tokens
    vocabulary = Vocabulary([*tokens, b""], eos_ids=[len(tokens)])
    over_bytes = source.compiled(read)
    with progress("compiling"):
        over_tokens = compile_tokens(over_bytes, vocabulary)
    drawings = _bytes_drawn(over_bytes), over_tokens.draw()
    options.output.mkdir(parents=True, exist_ok=True)
    for name, drawing in zip(("bytes.svg", "tokens.svg"), drawings, strict=True):
        print(drawing.save(options.output / name))


def _bytes_drawn(automaton: ByteAutomaton | PushdownAutomaton) -> Drawing:

    return automaton.draw()


if __name__ == "__main__":
    sys.exit(main())
