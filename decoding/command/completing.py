"""`tokenfst completion`: a script that lets a shell complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script that lets the shell complete commands and options.

    For bash: tokenfst completion bash >> ~/.bashrc
    """
    found, root = get_completion_class(shell), click.get_current_context().find_root().command
    assert found is not None
    click.echo(found(root, {}, "tokenfst", "_TOKENFST_COMPLETE").source())
