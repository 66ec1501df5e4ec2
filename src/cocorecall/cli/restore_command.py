"""`recall restore`."""

from __future__ import annotations

import click

from cocorecall.cli.command import Settings, common_options, pass_settings
from cocorecall.cli.output import counted, home_shortened, print_json, print_text
from cocorecall.documents import document


@click.command("restore")
@click.argument("file", type=click.Path(dir_okay=True))
@common_options
@pass_settings
def command(settings: Settings, file: str) -> None:
    """Put a backup in the index's place.

    The present index is set aside, not deleted. Sessions that were forgotten since stay forgotten. What has
    come since is in the transcripts: `recall import` brings it in.
    """
    with settings.open() as recall:
        report = recall.restore(file)
    if settings.json:
        print_json("restore", document(report))
        return
    holds = f"{counted(report.sessions, 'session')}, {counted(report.turns, 'turn')}"
    lines = [f"Restored {home_shortened(report.path)}: {holds}. Next: recall import"]
    if report.set_aside:
        lines.append(f"The index that was there is kept: {home_shortened(report.set_aside)}")
    if report.forgotten_again:
        was = "was" if report.forgotten_again == 1 else "were"
        stays = "stays" if report.forgotten_again == 1 else "stay"
        lines.append(
            f"{counted(report.forgotten_again, 'session')} of the backup {was} forgotten since and {stays} so."
        )
    print_text("\n".join(lines))
