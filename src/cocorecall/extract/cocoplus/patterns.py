"""Patterns promoted to the grove: `.cocoplus/grove/patterns/*.md`, a file each."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cocorecall.extract.cocoplus.instants import instant
from cocorecall.extract.sections import Section, sections

_FRONT_MATTER = re.compile(r"---\n(?P<lines>.*?)\n---\n", re.DOTALL)
_KEY = re.compile(r"(?P<key>[A-Za-z_][\w -]*):[ \t]+(?P<value>\S.*)")
_DATES = ("date", "added", "promoted", "created", "created_at", "promoted_at", "extracted", "timestamp")


@dataclass(frozen=True, slots=True)
class GrovePattern:
    """One pattern.

    Attributes:
        title: its first heading, else the file's stem.
        timestamp: ISO 8601 UTC, where front matter or fields say one.
        fields: front matter and `**Field:** value` lines, by lower-cased name.
        sections: its `##` sections; a file without any is one section.
    """

    title: str
    timestamp: str | None
    fields: dict[str, str]
    sections: tuple[Section, ...]


def parse_pattern(text: str, stem: str) -> GrovePattern:
    """Read a pattern file; `stem` is its name without `.md`."""
    fields: dict[str, str] = {}
    front = _FRONT_MATTER.match(text.lstrip("\ufeff"))
    for line in front["lines"].splitlines() if front else ():
        if match := _KEY.fullmatch(line.strip()):
            fields.setdefault(match["key"].strip().lower(), match["value"].strip(" \"'"))
    tops = list(sections(text, level=1))
    parts = list(sections(text))
    for section in (*tops, *parts):
        for name, value in section.fields.items():
            fields.setdefault(name, value)
    title = fields.get("name") or (tops[0].title if tops else "") or fields.get("title") or stem
    whole = Section(title, 1, 1, text.strip(), fields)
    time = next((found for key in _DATES if (found := instant(fields.get(key))) is not None), None)
    return GrovePattern(title, time, fields, tuple(parts) or (whole,))
