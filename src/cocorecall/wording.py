"""How faces word what they say: counts, times, paths and names of one line."""

from __future__ import annotations

import os

from cocorecall.terminal import visible


def one_line(text: str) -> str:
    """A title or name on one line, control characters made visible: it can't pass for lines of ours."""
    return visible(" ".join(text.split()))


def shortened(text: str, room: int) -> str:
    """The beginning of a text, with a mark that counts what is left out: about `room` characters in all."""
    if len(text) <= room:
        return text
    kept = max(1, room - len(" [… 1,234 characters …]"))
    return f"{text[:kept]} [… {len(text) - kept:,} characters …]"


def home_shortened(path: str) -> str:
    """A path with the home folder as `~`."""
    home = os.path.expanduser("~")  # noqa: PTH111 - pathlib would raise where there is no home
    return "~" + path[len(home) :] if home != "/" and path.startswith(home + os.sep) else path


def day_and_minute(time: str) -> str:
    """`2026-05-14 09:12` of an ISO time."""
    return time[:16].replace("T", " ")


def counted(n: int, noun: str) -> str:
    """`1 turn`, `2 turns`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
