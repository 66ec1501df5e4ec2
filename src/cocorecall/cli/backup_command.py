"""`recall backup`."""

from __future__ import annotations

import click

from cocorecall.cli.command import Settings, common_options, pass_settings
from cocorecall.cli.output import counted, home_shortened, print_json, print_text, size
from cocorecall.documents import document


@click.command("backup")
@click.argument("file", type=click.Path(dir_okay=True))
@click.option("--force", is_flag=True, help="Replace FILE where it exists.")
@common_options
@pass_settings
def command(settings: Settings, file: str, *, force: bool) -> None:
    """Write the whole index into one file, and check it.

    Searches and imports go on meanwhile. The file holds the text of your sessions and can be read by you
    alone; `recall restore FILE` puts it back.
    """
    with settings.open() as recall:
        report = recall.backup(file, force=force)
    if settings.json:
        print_json("backup", document(report))
        return
    print_text(
        f"Wrote {home_shortened(report.path)}: {counted(report.sessions, 'session')},"
        f" {counted(report.turns, 'turn')}, {size(report.bytes)}; checked."
    )
