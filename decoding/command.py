"""The `tokenfst` command.

    tokenfst generate --regex R [--prompt P] [--model DIR-or-name]     let a model write what a pattern allows
    tokenfst compile --regex R --vocab FILE [--output FILE]            states, classes, bytes, a time per stage
    tokenfst draw --regex R --tokens a,b,ab [--output DIR]             both automata as SVG, or DOT without Graphviz

A mistake gets one message and exit status 2; a bad pattern is shown with a caret where it goes wrong. Libraries are
imported where they are needed: a message about a bad pattern should not wait for torch.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from automata.compile import compile_expr
from automata.errors import PatternError, TokenfstError
from automata.pattern import parse
from decoding.progress import progress

T = TypeVar("T")
REPEATS = 7  # each stage of `compile` is timed this often; the median is shown


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit status."""
    options = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], None] = options.run
    try:
        run(options)
    except PatternError as error:
        print(_with_caret(error), file=sys.stderr)
        return 2
    except (TokenfstError, ImportError, OSError) as error:
        print(f"tokenfst: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tokenfst", description="Make a language model write what a pattern allows.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    generate = commands.add_parser("generate", help="let a model write what a pattern allows")
    generate.add_argument("--regex", required=True, help="what a whole text must match")
    generate.add_argument("--prompt", default="", help="what comes before the text")
    generate.add_argument(
        "--model", help="a folder or a name that transformers can load; the bundled model if left out"
    )
    generate.add_argument("--max-new-tokens", type=int, default=128, metavar="N")
    generate.add_argument("--temperature", type=float, default=0.7, metavar="T", help="0 takes the likeliest token")
    generate.add_argument("--seed", type=int, default=0, metavar="S")
    generate.set_defaults(run=_generate)

    compile_ = commands.add_parser("compile", help="compile a pattern over a vocabulary and time each stage")
    compile_.add_argument("--regex", required=True, help="what a whole text must match")
    compile_.add_argument(
        "--vocab", required=True, type=Path, help="tokenizer.json, .tiktoken, Tekken or SentencePiece"
    )
    compile_.add_argument("--output", type=Path, help="where to save the automaton (safetensors)")
    compile_.set_defaults(run=_compile)

    draw = commands.add_parser("draw", help="draw the automata over bytes and over tokens")
    draw.add_argument("--regex", required=True, help="what a whole text must match")
    draw.add_argument("--tokens", required=True, help="the vocabulary, with commas between tokens")
    draw.add_argument(
        "--output", type=Path, default=Path(), metavar="DIR", help="a folder; the current one if left out"
    )
    draw.set_defaults(run=_draw)
    return parser


def _with_caret(error: PatternError) -> str:
    """The pattern, and under it one line: a caret where it goes wrong, and why."""
    # Characters that would break the line are shown as a space, so that the caret stays in place.
    shown = "".join(char if char.isprintable() else " " for char in error.pattern)
    return f"{shown}\n{' ' * error.position}^ {error.reason}"


def _generate(options: argparse.Namespace) -> None:
    expr = parse(options.regex)
    with progress("loading torch and the model"):
        model, tokenizer = _load_model(options.model)
    from decoding.loop import generate

    with progress("writing"):
        texts = generate(
            model,
            tokenizer,
            options.prompt,
            expr,
            max_new_tokens=options.max_new_tokens,
            temperature=options.temperature,
            seed=options.seed,
        )
    print(texts[0])


def _load_model(name: str | None) -> tuple[Any, Any]:
    if name is None:
        from decoding.bundled import bundled_model

        return bundled_model()
    from transformers import AutoModelForCausalLM, AutoTokenizer

    return AutoModelForCausalLM.from_pretrained(name), AutoTokenizer.from_pretrained(name)


def _compile(options: argparse.Namespace) -> None:
    from tokenfst.compile import from_bytes
    from tokenfst.loaders import load

    parse(options.regex)
    with progress("reading the vocabulary"):
        vocabulary = load(options.vocab)
    with progress("compiling kernels, which later runs find ready"):
        from_bytes(compile_expr(parse(options.regex)), vocabulary)
    expr, parsing = _timed(lambda: parse(options.regex))
    byte_automaton, determinizing = _timed(lambda: compile_expr(expr))
    automaton, composing = _timed(lambda: from_bytes(byte_automaton, vocabulary))
    _, masking = _timed(lambda: automaton.mask(automaton.start))
    print(f"vocabulary         {len(vocabulary):>9,} tokens")
    print(f"byte automaton     {byte_automaton.num_states:>9,} states  {byte_automaton.num_classes:>7,} byte classes")
    print(f"token automaton    {automaton.num_states:>9,} states  {automaton.num_classes:>7,} token classes")
    print(
        f"                   {automaton.nbytes:>9,} bytes   {automaton.min_tokens(automaton.start):>7,} tokens at least"
    )
    for stage, seconds in (
        ("pattern to expression", parsing),
        ("expression to bytes", determinizing),
        ("bytes to tokens", composing),
        ("a mask", masking),
    ):
        print(f"{stage:<22} {seconds * 1e3:>8.3f} ms")
    if options.output:
        automaton.save(options.output)
        print(f"saved {options.output}")


def _timed(run: Callable[[], T]) -> tuple[T, float]:
    """The result, and the median time in seconds."""
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - began)
    return result, statistics.median(times)


def _draw(options: argparse.Namespace) -> None:
    from automata.drawing import draw_byte_automaton
    from tokenfst.compile import from_bytes
    from tokenfst.drawing import draw_token_automaton
    from tokenfst.vocabulary import Vocabulary

    byte_automaton = compile_expr(parse(options.regex))
    tokens = [token.encode() for token in options.tokens.split(",") if token]
    vocabulary = Vocabulary([*tokens, b""], eos_ids=[len(tokens)])
    with progress("compiling kernels, which later runs find ready"):
        automaton = from_bytes(byte_automaton, vocabulary)
    options.output.mkdir(parents=True, exist_ok=True)
    print(draw_byte_automaton(byte_automaton).save(options.output / "bytes.svg"))
    print(draw_token_automaton(automaton).save(options.output / "tokens.svg"))


if __name__ == "__main__":
    sys.exit(main())
