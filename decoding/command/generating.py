"""`tokenfst generate`: a model writes what a constraint allows."""

from __future__ import annotations

from typing import Any

import click

from decoding.command.options import (
    STANDARD_INPUT,
    ConstraintOptions,
    Mistake,
    as_json,
    first_line,
    read_temperature,
    takes_constraint,
)
from decoding.command.printing import print_json, print_text
from decoding.command.progress import progress
from decoding.command.reading import decoded, standard_input


@click.command()
@takes_constraint
@click.option("--prompt", default="", metavar="TEXT", help="What comes before the text; - for standard input.")
@click.option("--model", metavar="NAME", help="A folder or a name for transformers; the bundled model if left out.")
@click.option("--max-new-tokens", type=click.IntRange(min=1), default=128, show_default=True, metavar="N")
@click.option(
    "--temperature",
    default="0.7",
    show_default=True,
    metavar="T",
    callback=read_temperature,
    help="0 takes the likeliest token each time.",
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="S")
@as_json
def generate(
    options: ConstraintOptions,
    prompt: str,
    model: str | None,
    max_new_tokens: int,
    temperature: float,
    seed: int,
    as_json: bool,
) -> None:
    """Let a model write what a constraint allows."""
    from decoding.command.source import opened

    with opened(options) as source:
        if prompt == STANDARD_INPUT:
            prompt = decoded(standard_input("--prompt"), "--prompt")
        prompt.encode()  # report an argument that is not UTF-8 here, and not in the tokenizer
        constraint = source.constraint(source.read_with_remarks())
        with progress("loading torch and the model"):
            loaded, tokenizer = _load_model(model)
        from decoding.writing.generate import generate as write

        with progress("writing"):
            text = write(
                loaded,
                tokenizer,
                prompt,
                constraint,
                max_new_tokens=max_new_tokens,
                temperature=temperature,
                seed=seed,
            )[0]
        if as_json:
            print_json({"prompt": prompt, "text": text})
        else:
            print_text(text)


def _load_model(name: str | None) -> tuple[Any, Any]:
    if name is None:
        from decoding.bundled import bundled_model

        return bundled_model()
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        return AutoModelForCausalLM.from_pretrained(name), AutoTokenizer.from_pretrained(name)
    except Exception as error:
        raise Mistake(f"tokenfst: transformers cannot load the model {name!r}: {first_line(error)}") from error
