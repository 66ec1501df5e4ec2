"""`.cocoplus/memory/decisions.md`, `patterns.md`, `errors.md`.

Forms (CocoPlus, skill `memory-capture` and its session hooks): entries `## [YYYY-MM-DD HH:MM] title` with
`**Field:** value` lines (`Decision`, `Rationale`, `Pattern`, `Error`, `Resolution` …), and blocks
`## Session <id> - <time>` that hold what one session left.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from cocorecall.extract.cocoplus.instants import instant
from cocorecall.extract.sections import sections
from cocorecall.model import Skipped

_ENTRY = re.compile(r"\[(?P<time>[^\]\n]{1,40})\]\s*(?P<title>.*)")
_SESSION = re.compile(r"Session\s+`?(?P<id>[^\s`]+)`?(?:\s+[-–—]\s+(?P<time>.+))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """One section of a memory file.

    Attributes:
        kind: `entry` with a title of its own, or the `session` block of a session.
        title: the heading without its time; of a block the session's id.
        timestamp: ISO 8601 UTC; None where the heading's time cannot be read.
        fields: values by lower-cased field name.
        text: the section, verbatim.
        line: 1-based line of its heading.
    """

    kind: Literal["entry", "session"]
    title: str
    timestamp: str | None
    fields: dict[str, str]
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """A memory file: its sections, and headings of neither form."""

    entries: tuple[MemoryEntry, ...]
    skipped: tuple[Skipped, ...]


def parse_memory(text: str) -> MemoryFile:
    """Read a memory file. A heading of neither form is kept as an entry without time, and reported."""
    entries: list[MemoryEntry] = []
    skipped: list[Skipped] = []
    for section in sections(text):
        if match := _ENTRY.fullmatch(section.title):
            kind: Literal["entry", "session"] = "entry"
            title, time = match["title"].strip(), match["time"]
        elif match := _SESSION.fullmatch(section.title):
            kind, title, time = "session", match["id"], match["time"] or ""
        else:
            kind, title, time = "entry", section.title, ""
        timestamp = instant(time)
        if timestamp is None:
            reason = f"time {time!r} of the heading cannot be read" if time else "heading without a time"
            skipped.append(Skipped(reason, section.line))
        entries.append(MemoryEntry(kind, title, timestamp, section.fields, section.text, section.line))
    return MemoryFile(tuple(entries), tuple(skipped))
