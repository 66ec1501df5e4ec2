"""`recall hook`: what agents' hooks run; see `cocorecall.hooks`, which the entry point calls directly."""

from __future__ import annotations

import sys

import click

from cocorecall.cli.command import common_options
from cocorecall.hooks import EVENTS, main


@click.command("hook")
@click.argument("event", type=click.Choice(EVENTS))
@common_options
def command(event: str) -> None:
    """Do what an agent's event asks for; for hooks, not for people.

    \b
    session-start  import what an earlier end missed; one line of context if wanted
    stop           note once a day that a consolidation is due
    session-end    import what is new, in a process of its own
    pre-compact    the same, before the agent shortens its transcript

    Reads the host's JSON on standard input, ends with 0 whatever happens, and writes
    what went wrong to .cocoplus/hook-errors.log. `recall install` sets it up.
    """  # noqa: D301 - click's own mark for lines that stay as they are
    sys.exit(main([event]))
