"""`recall forget`."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from cocorecall.cli.command import Settings, common_options, pass_settings
from cocorecall.cli.output import counted, home_shortened, one_line, print_json, print_text
from cocorecall.errors import RecallError
from cocorecall.model import SessionInfo


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
    if not yes and not sys.stdin.isatty():
        raise click.UsageError("Forgetting cannot be undone; without a terminal to ask on, add --yes")
    with settings.open() as recall:
        if not yes:
            _confirm(recall.show(session_id).session)
        report = recall.forget(session_id)
    if settings.json:
        print_json("forget", asdict(report))
        return
    lines = [
        f"Forgot {report.session_id}: {counted(report.turns, 'turn')}, {counted(report.citations, 'citation')}."
    ]
    lines += [f"Not touched, the agent's own file: {home_shortened(path)}" for path in report.remaining]
    print_text("\n".join(lines))


def _confirm(session: SessionInfo) -> None:
    """Ask.

    Raises:
        RecallError: the answer is no.
    """
    title = one_line(session.title or session.cwd or session.agent)
    what = f"{one_line(session.session_id)} ({title}, {counted(session.turns, 'turn')})"
    if not click.confirm(f"Forget {what}?", err=True):
        raise RecallError("Nothing was forgotten.")
