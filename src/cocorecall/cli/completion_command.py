"""`recall completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from cocorecall.cli.command import common_options, recall_command


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@common_options
def command(shell: str) -> None:
    r"""Print the script that completes recall in your shell.

    \b
    bash   eval "$(recall completion bash)"
    zsh    eval "$(recall completion zsh)"
    fish   recall completion fish | source
    """
    made = get_completion_class(shell)
    if made is None:
        raise click.UsageError(f"No completion for {shell}")
    click.echo(made(recall_command, {}, "recall", "_RECALL_COMPLETE").source())
