"""The `tokenfst` command.

    tokenfst generate CONSTRAINT [--prompt P] [--model DIR-or-name]     let a model write what a constraint allows
    tokenfst compile CONSTRAINT --vocab FILE [--output FILE]            states, classes, bytes, a time per stage
    tokenfst draw CONSTRAINT --tokens a,b,ab [--output DIR]             both automata as SVG, or DOT without Graphviz

A constraint is `--regex R` or `--grammar FILE-or-NAME` (`decoding.command_constraint`). A mistake gets one message and
exit status 2; one in a pattern or in a file with a grammar is shown with a caret where it goes wrong. Libraries are
imported where they are needed: a message about a bad pattern should not wait for torch.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from automata.compile import compile_expr
from automata.errors import GrammarError, PatternError, TokenfstError
from automata.pattern import parse
from automata.pushdown.compile import compile_grammar
from decoding.command_constraint import GrammarSource, add_constraint, grammar_source, shown
from decoding.progress import progress

if TYPE_CHECKING:
    from automata.drawing import Drawing
    from tokenfst.automaton import TokenAutomaton
    from tokenfst.pushdown.automaton import PushdownTokenAutomaton
    from tokenfst.vocabulary import Vocabulary

T = TypeVar("T")
REPEATS = 7  # each stage of `compile` is timed this often; the median is shown


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit status."""
    options = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace, GrammarSource | None], None] = options.run
    source = None
    try:
        source = grammar_source(options)
        run(options, source)
    except (PatternError, GrammarError) as error:
        print(shown(error, source), file=sys.stderr)
        return 2
    except (TokenfstError, ImportError, OSError) as error:
        print(f"tokenfst: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tokenfst", description="Make a language model write what a constraint allows."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    generate = commands.add_parser("generate", help="let a model write what a constraint allows")
    add_constraint(generate)
    generate.add_argument("--prompt", default="", help="what comes before the text")
    generate.add_argument(
        "--model", help="a folder or a name that transformers can load; the bundled model if left out"
    )
    generate.add_argument("--max-new-tokens", type=int, default=128, metavar="N")
    generate.add_argument("--temperature", type=float, default=0.7, metavar="T", help="0 takes the likeliest token")
    generate.add_argument("--seed", type=int, default=0, metavar="S")
    generate.set_defaults(run=_generate)

    compile_ = commands.add_parser("compile", help="compile a constraint over a vocabulary and time each stage")
    add_constraint(compile_)
    compile_.add_argument(
        "--vocab", required=True, type=Path, help="tokenizer.json, .tiktoken, Tekken or SentencePiece"
    )
    compile_.add_argument("--output", type=Path, help="where to save the automaton (safetensors)")
    compile_.set_defaults(run=_compile)

    draw = commands.add_parser("draw", help="draw the automata over bytes and over tokens")
    add_constraint(draw)
    draw.add_argument("--tokens", required=True, help="the vocabulary, with commas between tokens")
    draw.add_argument(
        "--output", type=Path, default=Path(), metavar="DIR", help="a folder; the current one if left out"
    )
    draw.set_defaults(run=_draw)
    return parser


def _generate(options: argparse.Namespace, source: GrammarSource | None) -> None:
    constraint = source.compiled() if source else parse(options.regex)
    with progress("loading torch and the model"):
        model, tokenizer = _load_model(options.model)
    from decoding.loop import generate

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


def _load_model(name: str | None) -> tuple[Any, Any]:
    if name is None:
        from decoding.bundled import bundled_model

        return bundled_model()
    from transformers import AutoModelForCausalLM, AutoTokenizer

    return AutoModelForCausalLM.from_pretrained(name), AutoTokenizer.from_pretrained(name)


def _compile(options: argparse.Namespace, source: GrammarSource | None) -> None:
    from tokenfst.loaders import load

    if source:
        source.compiled()
    else:
        parse(options.regex)
    with progress("reading the vocabulary"):
        vocabulary = load(options.vocab)
    automaton = _compile_grammar(source, vocabulary) if source else _compile_regex(options.regex, vocabulary)
    if options.output:
        automaton.save(options.output)
        print(f"saved {options.output}")


def _compile_regex(regex: str, vocabulary: Vocabulary) -> TokenAutomaton:
    from tokenfst.compile import from_bytes

    with progress("compiling kernels, which later runs find ready"):
        from_bytes(compile_expr(parse(regex)), vocabulary)
    expr, parsing = _timed(lambda: parse(regex))
    byte_automaton, determinizing = _timed(lambda: compile_expr(expr))
    automaton, composing = _timed(lambda: from_bytes(byte_automaton, vocabulary))
    _, masking = _timed(lambda: automaton.mask(automaton.start))
    print(f"vocabulary         {len(vocabulary):>9,} tokens")
    print(f"byte automaton     {byte_automaton.num_states:>9,} states  {byte_automaton.num_classes:>7,} byte classes")
    print(f"token automaton    {automaton.num_states:>9,} states  {automaton.num_classes:>7,} token classes")
    print(
        f"                   {automaton.nbytes:>9,} bytes   {automaton.min_tokens(automaton.start):>7,} tokens at least"
    )
    _print_times(
        ("pattern to expression", parsing),
        ("expression to bytes", determinizing),
        ("bytes to tokens", composing),
        ("a mask", masking),
    )
    return automaton


def _compile_grammar(source: GrammarSource, vocabulary: Vocabulary) -> PushdownTokenAutomaton:
    from tokenfst.compile import compile as compile_tokens
    from tokenfst.pushdown.distance import distances

    with progress("compiling kernels, which later runs find ready"):
        least = distances(compile_tokens(source.compiled(), vocabulary).tables).first
    grammar, reading = _timed(source.grammar)
    pushdown, determinizing = _timed(lambda: compile_grammar(grammar, ambiguity=source.ambiguity))
    automaton, composing = _timed(lambda: compile_tokens(pushdown, vocabulary))
    _, masking = _timed(lambda: automaton.mask(automaton.start))
    print(f"vocabulary         {len(vocabulary):>9,} tokens")
    print(f"byte automaton     {pushdown.num_states:>9,} states  {pushdown.num_classes:>7,} byte classes")
    print(f"                   {len(pushdown.step_target):>9,} steps   {pushdown.num_symbols:>7,} symbols on the stack")
    print(f"token automaton    {len(automaton.tables.child):>9,} nodes   {automaton.num_classes:>7,} token classes")
    print(f"                   {automaton.nbytes:>9,} bytes   {least:>7,} tokens at least")
    _print_times(
        ("text to grammar", reading),
        ("grammar to bytes", determinizing),
        ("bytes to tokens", composing),
        ("a mask", masking),
    )
    return automaton


def _print_times(*stages: tuple[str, float]) -> None:
    for stage, seconds in stages:
        print(f"{stage:<22} {seconds * 1e3:>8.3f} ms")


def _timed(run: Callable[[], T]) -> tuple[T, float]:
    """The result, and the median time in seconds."""
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - began)
    return result, statistics.median(times)


def _draw(options: argparse.Namespace, source: GrammarSource | None) -> None:
    from tokenfst.vocabulary import Vocabulary

    tokens = [token.encode() for token in options.tokens.split(",") if token]
    vocabulary = Vocabulary([*tokens, b""], eos_ids=[len(tokens)])
    drawings = _draw_grammar(source, vocabulary) if source else _draw_regex(options.regex, vocabulary)
    options.output.mkdir(parents=True, exist_ok=True)
    for name, drawing in zip(("bytes.svg", "tokens.svg"), drawings, strict=True):
        print(drawing.save(options.output / name))


def _draw_regex(regex: str, vocabulary: Vocabulary) -> tuple[Drawing, Drawing]:
    from automata.drawing import draw_byte_automaton
    from tokenfst.compile import from_bytes
    from tokenfst.drawing import draw_token_automaton

    byte_automaton = compile_expr(parse(regex))
    with progress("compiling kernels, which later runs find ready"):
        automaton = from_bytes(byte_automaton, vocabulary)
    return draw_byte_automaton(byte_automaton), draw_token_automaton(automaton)


def _draw_grammar(source: GrammarSource, vocabulary: Vocabulary) -> tuple[Drawing, Drawing]:
    from tokenfst.compile import compile as compile_tokens
    from tokenfst.drawing import draw_pushdown_token_automaton

    pushdown = source.compiled()
    with progress("compiling kernels, which later runs find ready"):
        automaton = compile_tokens(pushdown, vocabulary)
    return pushdown.draw(), draw_pushdown_token_automaton(automaton)


if __name__ == "__main__":
    sys.exit(main())
