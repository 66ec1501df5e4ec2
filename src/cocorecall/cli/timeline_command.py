"""`recall timeline`."""

from __future__ import annotations

import click

from cocorecall.cli.command import Settings, common_options, pass_settings
from cocorecall.cli.output import print_json, print_text
from cocorecall.documents import document


@click.command("timeline")
@click.argument("name")
@click.option(
    "--budget", type=click.IntRange(min=1), metavar="N", help="At most so many tokens, newest kept (1000)."
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most so many events.")
@common_options
@pass_settings
def command(settings: Settings, name: str, budget: int | None, limit: int | None) -> None:
    """Tell what happened to one function or object, in order.

    When it was touched, evaluated, decided about, contracted, feared for, when it failed: each event cited. The last
    part of a dotted name will do.
    """
    if budget is None and limit is None:
        budget = 1000
    with settings.open() as recall:
        timeline = recall.timeline(name, budget=budget, limit=limit)
        if settings.json:
            print_json("timeline", document(timeline))
        else:
            print_text(recall.render(timeline))
