"""`recall show`."""

from __future__ import annotations

import os
from typing import Any

import click

from cocorecall.cli.command import Settings, common_options, pass_settings
from cocorecall.cli.output import colored, on_terminal, print_json, print_text
from cocorecall.documents import session_document
from cocorecall.model import SessionView

_NUMBER = click.IntRange(min=0)
_PIPED_CALL = 200
"""Characters of a tool call that a pipe gets where only lines around matches were asked for."""


@click.command("show")
@click.argument("session_id", metavar="ID")
@click.option("--turn", type=_NUMBER, metavar="N", help="Only turn N.")
@click.option("--around", type=_NUMBER, metavar="N", help="Only N turns before and after each match.")
@click.option("-B", "before", type=_NUMBER, metavar="N", help="Only N lines before each match, as grep.")
@click.option("-A", "after", type=_NUMBER, metavar="N", help="Only N lines after each match.")
@click.option("-C", "context", type=_NUMBER, metavar="N", help="Only N lines before and after each match.")
@click.option("--query", metavar="WORDS", help="What to mark; else the last query that cited this session.")
@click.option("--thinking", is_flag=True, help="With the model's reasoning.")
@click.option("--full", is_flag=True, help="The whole input of tool calls.")
@click.option("--reveal", is_flag=True, help="Show secrets instead of masking them.")
@click.option("--no-pager", is_flag=True, help="Print straight to the terminal.")
@common_options
@pass_settings
def command(settings: Settings, /, session_id: str, **options: Any) -> None:
    """Print a session, or one turn, as it was said.

    ID is a session's id, a beginning of it, or a turn's id as a search prints it (SESSION:NUMBER).
    """
    context, full, no_pager = (options.pop(name) for name in ("context", "full", "no_pager"))
    for side in ("before", "after"):
        options[side] = context if options[side] is None else options[side]
    with settings.open() as recall:
        view = recall.show(session_id, **options)
    if settings.json:
        print_json("show", session_document(view))
    elif on_terminal():
        _print_on_terminal(view, full=full, color=colored(settings), pager=not no_pager)
    else:
        from cocorecall.plain import render  # noqa: PLC0415 - JSON and terminal need none

        by_line = options["before"] is not None or options["after"] is not None
        print_text(render(view, call_room=_PIPED_CALL if by_line and not full else None))


def _print_on_terminal(view: SessionView, *, full: bool, color: bool, pager: bool) -> None:
    from cocorecall.cli.show_terminal import render  # noqa: PLC0415 - loads rich

    text = render(view, full=full, color=color)
    if pager:
        # colours pass, a short session needs no key to leave, and what was read stays on the screen
        os.environ.setdefault("LESS", "FRX")
        click.echo_via_pager(text.rstrip("\n"), color=color)
    else:
        click.echo(text, nl=False, color=color)
