"""`recall premortems`."""

from __future__ import annotations

import click

from cocorecall.cli.command import Settings, common_options, pass_settings
from cocorecall.cli.output import print_json, print_text
from cocorecall.documents import document


@click.command("premortems")
@click.option("--stage", metavar="ID", help="Only of this stage.")
@click.option("--status", metavar="TEXT", help="Only those whose prevention status holds this.")
@common_options
@pass_settings
def command(settings: Settings, stage: str | None, status: str | None) -> None:
    """List what was feared before stages ran.

    Pre-mortems of CocoPlus, newest first, each with the section of PROGRESS.md that says so. They stay when that file
    is rewritten.
    """
    with settings.open() as recall:
        report = recall.premortems(stage=stage, status=status)
        if settings.json:
            print_json("premortems", document(report))
        else:
            print_text(recall.render(report))
