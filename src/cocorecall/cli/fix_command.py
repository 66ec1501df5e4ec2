"""`recall fix`."""

from __future__ import annotations

import click

from cocorecall.cli.command import Settings, common_options, pass_settings
from cocorecall.cli.output import print_json, print_text
from cocorecall.documents import document


@click.command("fix")
@click.argument("error", nargs=-1, required=True)
@click.option(
    "--budget", type=click.IntRange(min=1), default=1000, metavar="N", help="At most so many tokens (1000)."
)
@common_options
@pass_settings
def command(settings: Settings, error: tuple[str, ...], budget: int) -> None:
    """Find how the same error was solved before.

    ERROR is a message as it was printed, or its number. Numbers, names and paths in it do not matter. What failed, the
    error and what then worked are shown as they stand in the transcripts.
    """
    with settings.open() as recall:
        report = recall.fix(" ".join(error), budget=budget)
        if settings.json:
            print_json("fix", document(report))
        else:
            print_text(recall.render(report))
