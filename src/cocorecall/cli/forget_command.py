"""`recall forget`."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from cocorecall.cli.command import Settings, common_options, pass_settings
from cocorecall.cli.output import counted, home_shortened, print_json, print_text
from cocorecall.terminal import visible


@click.command("forget")
@click.argument("session_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
@common_options
@pass_settings
def command(settings: Settings, session_id: str, *, yes: bool) -> None:
    """Remove a session from the index for good.

    Its turns, citations and words are erased, and later imports do not bring it back. The agent's own file
    is not touched.
    """
    with settings.open() as recall:
        if not yes:
            if not sys.stdin.isatty():
                raise click.UsageError("Forgetting cannot be undone; without a terminal to ask on, add --yes")
            session = recall.show(session_id, turn=None).session
            title = session.title or session.cwd or session.agent
            click.confirm(
                visible(f"Forget {session.session_id} ({title}, {session.turns:,} turns)?"), abort=True
            )
        report = recall.forget(session_id)
    if settings.json:
        print_json("forget", asdict(report))
        return
    lines = [
        f"Forgot {report.session_id}: {counted(report.turns, 'turn')}, {counted(report.citations, 'citation')}."
    ]
    lines += [f"Not touched, the agent's own file: {home_shortened(path)}" for path in report.remaining]
    print_text("\n".join(lines))
