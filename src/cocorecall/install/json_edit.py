"""Editing JSON text in place: every byte that is not ours stays.

Each edit has an exact inverse: `remove` after `append` gives the text back. Two marks in the whitespace tell
later whether a container was there before. A container that *we* wrote has whitespace behind its opening
bracket; into an empty one that was there before, the first child is written directly behind the bracket.
So an empty list that a person left there survives a round trip, and one that came with us goes with us.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cocorecall.install.jsonc import Child, Node

Item = tuple[str | None, Any]
"""What is added: (name, value) to an object, (None, value) to an array."""

_SAME_LINE = re.compile(r"(?:[ \t]*(?:/\*(?:(?!\*/)[^\r\n])*\*/))*(?P<line>[ \t]*//[^\r\n]*)?")
"""Comments that follow on the same line: they belong to what stands before them."""


@dataclass(frozen=True, slots=True)
class _Style:
    """How a file is laid out: its line break, one level of indentation, and whether it has lines at all."""

    newline: str
    unit: str
    lines: bool


def append(text: str, root: Node, container: Node, items: Sequence[Item]) -> str:
    """The text with the items at the end of an object or array of it, laid out as their neighbours are.

    Args:
        text: a JSON text.
        root: its tree, as `scan` gives it.
        container: the object or array, a node of that tree.
        items: what to add, in this order.
    """
    style = _style(text, root)
    if container.children:
        return _append_behind(text, container, items, style)
    if container is root:
        return _fill_root(text, container, items, style)
    inner = _line_indent(text, container.start) + style.unit
    gap = "," + style.newline + inner if style.lines else ", "
    at = container.start + 1
    return text[:at] + gap.join(_rendered(i, inner, style) for i in items) + text[at:]


def _append_behind(text: str, container: Node, items: Sequence[Item], style: _Style) -> str:
    last = container.children[-1]
    at = last.end if last.comma is None else last.comma + 1
    follows = _SAME_LINE.match(text, at)
    indent = _own_line(text, last.start)
    if follows:
        at = follows.end()
        if follows["line"] is not None and indent is None:
            indent = _line_indent(text, container.start) + style.unit
    inline = _Style(style.newline, style.unit, lines=False)
    gap = " " if indent is None else style.newline + indent
    body = ("," + gap).join(_rendered(i, indent or "", inline if indent is None else style) for i in items)
    before = text[: last.end] + ("," if last.comma is None else "") + text[last.end : at]
    return before + gap + body + ("," if last.comma is not None else "") + text[at:]


def _fill_root(text: str, root: Node, items: Sequence[Item], style: _Style) -> str:
    """Fill an empty document on lines of its own; what stood between its brackets stays behind them."""
    style = _Style(style.newline, style.unit, lines=True)
    gap = style.newline + style.unit
    body = ",".join(gap + _rendered(i, style.unit, style) for i in items)
    at = root.start + 1
    return text[:at] + body + style.newline + text[at:]


def remove(text: str, container: Node, child: Child) -> str:
    """The text without one child of an object or array of it, with the comma and whitespace it came with."""
    siblings = container.children
    k = siblings.index(child)
    if k + 1 < len(siblings):
        return _remove_before_others(text, child, siblings[k + 1])
    end = child.end if child.comma is None else child.comma + 1
    start = child.start if child.below_comment and not _breaks(text, end) else child.lead
    if k > 0:
        return _remove_last(text, siblings[k - 1], child, start)
    if child.lead == container.start + 1 < child.start and _breaks(text, end):
        return text[: child.lead] + text[end + len(_newline(text, end)) :]
    return text[: child.start] + text[end:]


def _remove_before_others(text: str, child: Child, following: Child) -> str:
    """Remove a child that others follow: the comma is the one behind it."""
    comma = child.comma if child.comma is not None else child.end
    between = text[child.end : comma]
    kept = between if between.strip(" \t\r\n") else ""
    rest = following.start if following.lead == comma + 1 else comma + 1
    return text[: child.start] + kept + text[rest:]


def _remove_last(text: str, previous: Child, child: Child, start: int) -> str:
    """Remove the last of several: its comma is the one behind it, or else the one in front of it."""
    if child.comma is not None:
        return text[:start] + text[child.end : child.comma] + text[child.comma + 1 :]
    comma = previous.comma if previous.comma is not None else previous.end
    return text[:comma] + text[comma + 1 : start] + text[child.end :]


def replace(text: str, node: Node, value: str) -> str:
    """The text with another string in place of a scalar."""
    return text[: node.start] + json.dumps(value, ensure_ascii=False) + text[node.end :]


def came_with_us(text: str, container: Node) -> bool:
    """Whether a container with one child left was written by `append` and holds nobody's comment."""
    return not container.comments and text[container.start + 1] in " \t\r\n"


# --- layout ------------------------------------------------------------------------------------------


def _style(text: str, root: Node) -> _Style:
    found = re.search(r"\r\n|\n|\r", text)
    lines = re.search(r"[\r\n]", text[root.start : root.end]) is not None
    return _Style(found[0] if found else "\n", _unit(text, root) or "  ", lines)


def _unit(text: str, node: Node) -> str | None:
    """One level of indentation, told from the first child that stands on a line of its own."""
    outer = _line_indent(text, node.start)
    for child in node.children:
        own = _own_line(text, child.start)
        if own is not None and own.startswith(outer) and len(own) > len(outer):
            return own[len(outer) :]
        deeper = _unit(text, child.value)
        if deeper:
            return deeper
    return None


def _line_start(text: str, at: int) -> int:
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def _line_indent(text: str, at: int) -> str:
    """The indentation of the line that holds an offset."""
    line = text[_line_start(text, at) : at].removeprefix("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _own_line(text: str, at: int) -> str | None:
    """The indentation of what begins its line at an offset; None where something stands before it."""
    start = _line_start(text, at)
    line = text[start:at]
    return line if start > 0 and not line.strip(" \t") else None


def _breaks(text: str, at: int) -> bool:
    return text[at : at + 1] in ("\r", "\n")


def _newline(text: str, at: int) -> str:
    return "\r\n" if text.startswith("\r\n", at) else text[at : at + 1]


def _rendered(item: Item, indent: str, style: _Style) -> str:
    key, value = item
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    return name + _render(value, indent, style)


def _render(value: Any, indent: str, style: _Style) -> str:
    """A value as JSON text; whitespace behind every bracket but those of a list of plain values."""
    plain = isinstance(value, list) and not any(isinstance(v, dict | list) for v in value)
    if not isinstance(value, dict | list) or not value or plain:
        return json.dumps(value, ensure_ascii=False)
    inner = indent + style.unit
    items: list[Item] = list(value.items()) if isinstance(value, dict) else [(None, v) for v in value]
    gap, end = (style.newline + inner, style.newline + indent) if style.lines else (" ", " ")
    body = ",".join(gap + _rendered(i, inner, style) for i in items)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + body + end + closing
