"""How results leave the process: one JSON document, or lines of text that a terminal can show."""

from __future__ import annotations

import os
import sys
from typing import Any

from cocorecall.cli.command import Settings
from cocorecall.terminal import visible


def print_json(command: str, content: dict[str, Any]) -> None:
    """One document with its schema's name; non-ASCII and control characters escaped by JSON where needed."""
    import json  # noqa: PLC0415 - the plain form needs none

    document = {"schema": f"cocorecall.{command}/1"} | content
    text = json.dumps(document, ensure_ascii=False, indent=2)
    # a lone surrogate can come from an argument, never from the index; UTF-8 cannot carry it
    sys.stdout.write(text.encode("utf-8", "replace").decode("utf-8") + "\n")


def print_text(text: str) -> None:
    """Text with control characters made visible, ending with a newline."""
    sys.stdout.write(visible(text).rstrip("\n") + "\n")


def print_table(rows: list[tuple[str, str]]) -> None:
    """Two aligned columns."""
    width = max((len(name) for name, _ in rows), default=0)
    print_text("\n".join(f"{name:<{width}}  {value}".rstrip() for name, value in rows))


def on_terminal(settings: Settings) -> bool:
    """Whether to print for a person: colour and wrapping."""
    return sys.stdout.isatty() and settings.color is not False and "NO_COLOR" not in os.environ


def width() -> int:
    """Columns of the terminal."""
    import shutil  # noqa: PLC0415 - loads every compression of the standard library

    return shutil.get_terminal_size((80, 24)).columns


def shortened(text: str, room: int) -> str:
    """One line of at most `room` characters; what is cut is counted."""
    line = " ".join(text.split())
    if len(line) <= room:
        return line
    mark = f" [… {len(line) - room:,} more …]"
    return (
        line[: max(1, room - len(mark))].rstrip()
        + f" [… {len(line) - max(1, room - len(mark)):,} characters …]"
    )


def home_shortened(path: str) -> str:
    """A path with the home folder as `~`."""
    home = os.path.expanduser("~")  # noqa: PTH111 - pathlib would raise where there is no home
    return "~" + path[len(home) :] if home != "/" and path.startswith(home + os.sep) else path


def counted(n: int, noun: str) -> str:
    """`1 turn`, `2 turns`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def size(n: int) -> str:
    """Bytes as a person reads them."""
    value = float(n)
    for unit in ("B", "kB", "MB"):
        if value < 1000:  # noqa: PLR2004 - SI prefixes
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"
