"""Markdown as CocoPlus writes it: `##` sections with `**Field:** value` lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*?)[ \t]*#*[ \t]*$")
_FIELD = re.compile(
    r"^[ \t]*(?:[-*][ \t]+)?(?:\*\*(?P<bold>[^*\n:]{1,60}?)[ \t]*(?::\*\*|\*\*[ \t]*:)|(?P<plain>[A-Z][\w /-]{1,40}):(?=[ \t]|$))"
    r"[ \t]*(?P<value>.*)$"
)
_FENCE = re.compile(r"[ \t]{0,3}(```|~~~)")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what stands under it, up to the next heading of its level or above.

    Attributes:
        title: the heading without its marks.
        level: 1 to 6.
        line: 1-based line of the heading.
        text: heading and body, verbatim, without blank lines at the end.
        fields: `**Field:** value` lines of the body, by lower-cased name; a value may go on over lines.
    """

    title: str
    level: int
    line: int
    text: str
    fields: dict[str, str]


def sections(text: str, level: int = 2) -> Iterator[Section]:
    """The sections of one level, in order. Headings inside fences are text. Never raises."""
    lines = text.split("\n")
    headings = _headings(lines)
    starts = [(at, title) for at, depth, title in headings if depth == level]
    borders = [at for at, depth, _ in headings if depth <= level]
    for at, title in starts:
        end = next((border for border in borders if border > at), len(lines))
        body = lines[at + 1 : end]
        yield Section(title, level, at + 1, "\n".join(lines[at:end]).rstrip(), _fields(body))


def _headings(lines: list[str]) -> list[tuple[int, int, str]]:
    found, fenced = [], False
    for at, line in enumerate(lines):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and line.startswith("#") and (match := _HEADING.match(line.rstrip("\r"))):
            found.append((at, len(match[1]), match[2]))
    return found


def _fields(body: list[str]) -> dict[str, str]:
    fields: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in body:
        if match := _FIELD.match(line.rstrip("\r")):
            name = " ".join((match["bold"] or match["plain"]).lower().split())
            current = fields.setdefault(name, [])
            if not current:
                current.append(match["value"].strip())
                continue
            current = None  # a field that comes twice keeps its first value
        elif current is not None:
            if line.startswith("#"):
                current = None
            else:
                current.append(line.strip())
    return {name: "\n".join(value).strip() for name, value in fields.items()}


def field_of(section: Section, *names: str) -> str:
    """The value of the first of these fields that the section has; empty where it has none."""
    for name in names:
        value = section.fields.get(name.lower())
        if value:
            return value
    return ""


def items_of(value: str) -> tuple[str, ...]:
    """The items of a comma-separated or bulleted value; `None` and dashes are no item."""
    parts = (re.sub(r"^[-*][ \t]+", "", part.strip()).strip(" `\"'[]") for part in re.split(r"[,;\n]", value))
    return tuple(dict.fromkeys(p for p in parts if p and p.lower() not in {"none", "n/a", "-", "—"}))
