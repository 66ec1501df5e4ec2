"""`recall mcp`."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import click

from cocorecall.cli.command import Settings, common_options, pass_settings

_LAST_SECONDS = 0.3
"""How long calls that nobody waits for may still run when the client has gone."""


@click.command("mcp")
@click.option("--text-only", is_flag=True, help="Answers as text alone, without structured content.")
@common_options
@pass_settings
def command(settings: Settings, *, text_only: bool) -> None:
    """Serve an agent over MCP, on standard input and output.

    The agent starts it; `recall install AGENT --mcp` tells it how. The index is that of the client's first root
    with a `.cocoplus/` at or above it, else of this folder; `--project DIR` and `--global` name another.
    """
    from cocorecall.mcp.place import Indexes  # noqa: PLC0415 - heavy: the SDK takes half a second
    from cocorecall.mcp.server import serve  # noqa: PLC0415

    if sys.stdin.isatty():
        sys.stderr.write(
            "recall mcp speaks MCP on standard input and output; an agent starts it. Ctrl-C ends it.\n"
        )
    # a thread that reads standard input would keep a Ctrl-C waiting
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    serve(
        Indexes(project=settings.project if settings.project != "." else None, personal=settings.personal),
        structured=not text_only,
        debug=settings.debug,
    )
    _leave()


def _leave() -> None:
    """End although a thread still works for a client that has gone: what it writes is a transaction."""
    until = time.monotonic() + _LAST_SECONDS
    while threading.active_count() > 1:
        if time.monotonic() > until:
            sys.stderr.flush()
            os._exit(0)
        time.sleep(0.01)
