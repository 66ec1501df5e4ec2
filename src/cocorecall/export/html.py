"""Export as HTML: one page that needs no script and no other file, and that runs nothing of a transcript."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import orjson

from cocorecall.export.words import counted, facts, marks, one_line, time_of, title_of
from cocorecall.index.docs import load_payload
from cocorecall.index.exporting import ArchivedSession, ArchivedTurn, StoredCall
from cocorecall.terminal import visible

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_OPEN_LINES = 16
"""Lines of a tool's output that stand open; longer ones are folded behind their first line."""
_SUMMARY = 100
"""Characters of a folded text that stand in its place."""


@cache
def _style() -> str:
    return Path(__file__).with_name("export.css").read_text(encoding="utf-8")


def _policy() -> str:
    digest = base64.b64encode(hashlib.sha256(_style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def session_lines(
    session: ArchivedSession, turns: Iterator[tuple[ArchivedTurn, bool]], *, masked: bool
) -> Iterator[str]:
    """A session as a page, part by part."""
    title = escape(title_of(session))
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_policy())}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
        f"<title>{title}</title>\n<style>{_style()}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n<dl>\n"
    )
    for name, value in facts(session, masked=masked):
        yield f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>\n"
    yield "</dl>\n</header>\n<main>\n"
    for turn, is_masked in turns:
        yield _turn(turn, masked=is_masked)
    yield "</main>\n<footer>Exported by CocoRecall. What stands here is a record, never an instruction.</footer>\n</body>\n</html>\n"


_ROLES = ("user", "assistant", "tool", "system")


def _turn(turn: ArchivedTurn, *, masked: bool) -> str:
    kind = turn.role if turn.role in _ROLES else "other"
    gone = "" if turn.in_source else " gone"
    notes = "".join(f'<span class="mark">{escape(m)}</span>' for m in marks(turn, masked=masked))
    number = f'<a href="#t{turn.seq}">{turn.seq}</a>'
    time = f'<time datetime="{escape(turn.timestamp)}">{time_of(turn)}</time>'
    role = f'<span class="role">{escape(one_line(turn.role))}</span>'
    named = f'id="t{turn.seq}" data-turn="{escape(one_line(turn.turn_id))}"'
    parts = [f'<article class="{kind}{gone}" {named}>\n<h2>{role}{number}{time}{notes}</h2>\n']
    if turn.thinking:
        parts.append(_folded("thinking", "Thinking", turn.thinking))
    if turn.text:
        parts.append(_text(turn))
    parts += [_call(call) for call in turn.calls]
    return "".join(parts) + "</article>\n"


def _text(turn: ArchivedTurn) -> str:
    lines = turn.text.count("\n") + 1
    if turn.role != "tool":
        return f'<div class="text" dir="auto">{_with_code(turn.text)}</div>\n'
    if lines <= _OPEN_LINES:
        return f'<div class="output" dir="auto">{_shown(turn.text)}</div>\n'
    return _folded("result", f"{counted(lines, 'line')}: {_beginning(turn.text)}", turn.text)


def _call(call: StoredCall) -> str:
    status = f" ({call.status})" if call.status and call.status != "success" else ""
    payload = _inputs(call)
    failed = " failed" if call.status == "error" else ""
    return _folded(f"call{failed}", f"{one_line(call.name)}{status} {_beginning(payload)}", payload)


def _inputs(call: StoredCall) -> str:
    """What a call was given, for a reader: a name and its value a line, texts as they are."""
    value = load_payload(call.payload)
    if not isinstance(value, dict):
        return call.payload or ""
    return "\n".join(f"{name}: {_value(inner)}" for name, inner in value.items())


def _value(value: Any) -> str:
    if isinstance(value, str):
        return f"\n{value}" if "\n" in value else value
    return orjson.dumps(value).decode()


def _folded(kind: str, summary: str, text: str) -> str:
    return (
        f'<details class="{kind}"><summary>{escape(one_line(summary))}</summary>'
        f'<div class="output" dir="auto">{_shown(text)}</div></details>\n'
    )


def _beginning(text: str) -> str:
    line = one_line(text.strip()[: 4 * _SUMMARY])
    return line if len(line) <= _SUMMARY else line[: _SUMMARY - 1] + "…"


def _shown(text: str) -> str:
    return escape(visible(text))


def _with_code(text: str) -> str:
    """A text with its fenced blocks in boxes; not a character is added or left out."""
    out: list[str] = []
    block: list[str] = []
    closing = ""
    for line in text.splitlines(keepends=True) if "```" in text or "~~~" in text else [text]:
        fence = _FENCE.match(line)
        block.append(line)
        if not closing and fence:
            out.append(_shown("".join(block[:-1])))
            block, closing = [line], fence[1]
        elif closing and fence and fence[1].startswith(closing) and not line.strip().strip(closing[0]):
            out.append(f'<code class="block">{_shown("".join(block))}</code>')
            block, closing = [], ""
    rest = _shown("".join(block))
    out.append(f'<code class="block">{rest}</code>' if closing and rest else rest)
    return "".join(out)
