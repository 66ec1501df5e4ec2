"""How results leave the process: one JSON document, or lines of text that a terminal can show."""

from __future__ import annotations

import os
import sys
from typing import Any

from cocorecall.cli.command import Settings
from cocorecall.terminal import json_escaped, visible
from cocorecall.wording import counted, day_and_minute, home_shortened, one_line, shortened

# commands take their wording from here, too
__all__ = ["counted", "day_and_minute", "home_shortened", "one_line", "shortened"]


def print_json(command: str, content: dict[str, Any]) -> None:
    """One document with its schema's name; letters stand as they are, control characters as escapes."""
    import json  # noqa: PLC0415 - the plain form needs none

    document = {"schema": f"cocorecall.{command}/1"} | content
    sys.stdout.write(json_escaped(json.dumps(document, ensure_ascii=False, indent=2)) + "\n")


def print_text(text: str) -> None:
    """Text with control characters made visible, ending with a newline."""
    sys.stdout.write(visible(text).rstrip("\n") + "\n")


def print_table(rows: list[tuple[str, str]]) -> None:
    """Two columns, the second one wrapped at the terminal's width."""
    left = max((len(name) for name, _ in rows), default=0) + 2
    print_text("\n".join(_row(name, value, left) for name, value in rows))


def _row(name: str, value: str, left: int) -> str:
    return f"{name:<{left}}" + wrapped(value, left)


def wrapped(text: str, left: int) -> str:
    """Text wrapped at the terminal's width, lines after the first one indented by `left` columns."""
    import textwrap  # noqa: PLC0415 - a search prints no table

    room = max(20, width() - left)
    # a path stays in one piece, so that it can be copied
    lines = textwrap.wrap(visible(text), room, break_long_words=False, break_on_hyphens=False) or [""]
    return f"\n{'':<{left}}".join(lines)


def on_terminal() -> bool:
    """Whether a person reads along: answers are laid out for the terminal's width."""
    return sys.stdout.isatty()


def colored(settings: Settings) -> bool:
    """Whether to send colour; where not, no escape sequence at all is sent."""
    wanted = settings.color is not False and not os.environ.get("NO_COLOR")
    return wanted and on_terminal() and os.environ.get("TERM") != "dumb"


def width() -> int:
    """Columns of the terminal."""
    import shutil  # noqa: PLC0415 - loads every compression of the standard library

    return shutil.get_terminal_size((80, 24)).columns


def cut(text: str, room: int) -> str:
    """One line of at most `room` characters, its end left out: for titles, not for what is cited."""
    line = one_line(text)
    return line if len(line) <= room else line[: room - 1].rstrip() + "…"


def cut_path(path: str, room: int) -> str:
    """A path of at most `room` characters, its beginning left out: the file's name tells most."""
    line = one_line(home_shortened(path))
    return line if len(line) <= room else "…" + line[len(line) - room + 1 :]


def size(n: int) -> str:
    """Bytes as a person reads them."""
    value = float(n)
    for unit in ("B", "kB", "MB"):
        if value < 1000:  # noqa: PLR2004 - SI prefixes
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"
