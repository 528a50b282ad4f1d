"""`tokenfst explain`: what may come next in a text, and why a token is refused.

Without `--vocab`, the command uses a vocabulary of all bytes and the token in question, so that a constraint can be
explored without a model.
"""

from __future__ import annotations

from pathlib import Path

import click

from decoding.command.options import ConstraintOptions, Mistake, as_json, eos_ids, takes_constraint, takes_vocabulary
from decoding.command.printing import print_json
from decoding.command.progress import progress


@click.command()
@takes_constraint
@takes_vocabulary(default="all bytes if left out")
@click.option("--prefix", default="", metavar="TEXT", help="What has been written.")
@click.option("--token", metavar="TEXT", help="The token to ask about, by its text or its special name.")
@click.option("--token-id", type=int, metavar="ID", help="The token to ask about, by its id.")
@click.option("--end", is_flag=True, help="Ask whether the text may end.")
@as_json
def explain(
    options: ConstraintOptions,
    vocab: Path | None,
    eos_id: tuple[int, ...],
    prefix: str,
    token: str | None,
    token_id: int | None,
    end: bool,
    as_json: bool,
) -> None:
    """Say what may come next in a text, and why a token may not."""
    from decoding.command.source import opened
    from tokenfst.compile import compile as compile_tokens
    from tokenfst.loaders import load_vocabulary
    from tokenfst.vocabulary import Vocabulary

    if (token is not None) + (token_id is not None) + end > 1:
        raise Mistake("tokenfst: give one of --token, --token-id and --end")
    if eos_id and vocab is None:
        raise Mistake("tokenfst: --eos-id goes with --vocab")
    with opened(options) as source:
        read = source.read_with_remarks()
        if vocab is None:
            tokens = [bytes([byte]) for byte in range(256)]
            own = token.encode() if token else b""
            tokens += [own] if len(own) > 1 else []
            vocabulary = Vocabulary([*tokens, b""], eos_ids=[len(tokens)])
        else:
            with progress("reading the vocabulary"):
                vocabulary = load_vocabulary(vocab, eos_ids=eos_ids(vocab, eos_id))
        asked = token if token is not None else token_id
        if end:
            if not vocabulary.eos_ids:
                raise Mistake("tokenfst: the vocabulary names no end token; give it by --eos-id")
            asked = vocabulary.eos_ids[0]
        with progress("compiling"):
            automaton = compile_tokens(source.explained(read), vocabulary)
        with progress("explaining"):
            explanation = automaton.explain(prefix, asked)
    if as_json:
        print_json(explanation.as_dict())
    else:
        click.echo(str(explanation))
