"""A session for a person at a terminal: colour, matches marked, wrapped at words."""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from cocorecall.cli.output import width
from cocorecall.model import SessionView, TurnView
from cocorecall.plain import Piece, call_line, header, pieces, turn_head, turns_left_out
from cocorecall.terminal import visible

_STYLES = {Piece.TEXT: "", Piece.MATCH: "bold yellow", Piece.GAP: "dim"}


def render(view: SessionView, *, full: bool, color: bool) -> str:
    """The session as text with escape sequences of ours alone, for the terminal's width.

    Args:
        view: the session.
        full: the whole input of tool calls, not only what fits on their line.
        color: False: no escape sequences.
    """
    console = Console(
        file=io.StringIO(), width=width(), highlight=False, markup=False, emoji=False, force_terminal=color,
        color_system="standard" if color else None,
    )  # fmt: skip
    with console.capture() as captured:
        for text in _texts(view, None if full else console.width):
            for line in text.wrap(console, console.width):
                line.rstrip()
                console.print(line, no_wrap=True, overflow="ignore", crop=False)
    return captured.get()


def _texts(view: SessionView, call_room: int | None) -> Iterator[Text]:
    for i, line in enumerate(header(view)):
        # the terminal breaks a long path, so that it is copied in one piece
        yield Text(line, style="dim" if i else "bold", no_wrap=True, overflow="ignore")
    for turn in view.turns:
        yield Text()
        if turn.omitted_before:
            yield Text(turns_left_out(turn.omitted_before) + "\n", style="dim")
        yield from _turn(turn, call_room)
    if view.omitted_after:
        yield Text("\n" + turns_left_out(view.omitted_after), style="dim")


def _turn(turn: TurnView, call_room: int | None) -> Iterator[Text]:
    yield Text(turn_head(turn), style="bold cyan" if turn.matched else "cyan")
    if turn.thinking:
        yield Text(_shown(f"(thinking) {turn.thinking}"), style="italic")
    body = Text.assemble(*((_shown(text), _STYLES[kind]) for text, kind in pieces(turn)))
    body.rstrip()
    if body:
        yield body
    for call in turn.calls:
        yield Text(_shown(call_line(call, call_room)), style="magenta")


def _shown(text: str) -> str:
    return visible(text).replace("\r\n", "\n")
