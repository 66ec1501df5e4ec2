"""`recall facets`."""

from __future__ import annotations

import click

from cocorecall.cli.command import Settings, common_options, pass_settings
from cocorecall.cli.output import print_json, print_text
from cocorecall.documents import document


@click.command("facets")
@click.argument("kind", required=False)
@click.option(
    "--type", "of_type", metavar="TYPE", help="Only of this type: snowflake_object, e2e pass, user, …"
)
@click.option("--like", metavar="TEXT", help="Only values that hold this text.")
@click.option("--limit", type=click.IntRange(min=1), default=50, metavar="N", help="At most so many (50).")
@click.option("--all", "every", is_flag=True, help="Every value.")
@common_options
@pass_settings
def command(
    settings: Settings, kind: str | None, of_type: str | None, like: str | None, limit: int, *, every: bool
) -> None:
    """Say what there is to filter by, with counts.

    \b
    KIND  functions, entities, outcomes, metrics, decisions, strategies, stages,
          errors, tools, phases, agents or roles; without it, an overview
    """  # noqa: D301 - click's own mark for lines that stay as they are
    with settings.open() as recall:
        report = recall.facets(kind, type=of_type, like=like, limit=None if every else limit)
        if settings.json:
            print_json("facets", document(report))
        else:
            print_text(recall.render(report))
