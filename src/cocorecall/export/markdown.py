"""Export as Markdown: every text in a fence of its own, so that nothing in it is markup."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from cocorecall.export.words import facts, marks, one_line, time_of, title_of
from cocorecall.index.exporting import ArchivedSession, ArchivedTurn
from cocorecall.terminal import visible

_MARKUP = re.compile(r"([\\`*_\[\]<>&~|#])")
_NAMES = frozenset({"Session", "Folder", "Branch", "Part of", "Transcript"})
"""Facts that are ids or paths."""
_RUN = re.compile("`+")


def session_lines(
    session: ArchivedSession, turns: Iterator[tuple[ArchivedTurn, bool]], *, masked: bool
) -> Iterator[str]:
    """A session as Markdown, part by part."""
    yield f"# {plain(title_of(session))}\n\n"
    for name, value in facts(session, masked=masked):
        yield f"- {name}: {code(value) if name in _NAMES else plain(value)}\n"
    yield "\n"
    for turn, is_masked in turns:
        yield _turn(turn, masked=is_masked)


def _turn(turn: ArchivedTurn, *, masked: bool) -> str:
    heading = " · ".join(
        plain(part) for part in (one_line(turn.role), time_of(turn), *marks(turn, masked=masked))
    )
    parts = [f'<a id="{html.escape(one_line(turn.turn_id))}"></a>\n\n## {turn.seq} · {heading}\n']
    if turn.thinking:
        parts.append(f"\nThinking:\n\n{fenced(turn.thinking)}")
    if turn.text:
        parts.append(f"\n{fenced(turn.text)}")
    for call in turn.calls:
        status = f" ({code(one_line(call.status))})" if call.status and call.status != "success" else ""
        parts.append(f"\nCalls {code(one_line(call.name))}{status}:\n\n{fenced(call.payload or '', 'json')}")
    return "".join(parts) + "\n"


def plain(text: str) -> str:
    """A text on one line in which nothing is markup."""
    return _MARKUP.sub(r"\\\1", text)


def code(text: str) -> str:
    """A value as a code span, whatever backticks it holds."""
    fence = "`" * (_longest_run(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") or not text.strip() else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def fenced(text: str, language: str = "") -> str:
    """A text in a fence that is longer than any run of backticks in it; control characters made visible."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{visible(text)}\n{fence}\n"


def _longest_run(text: str) -> int:
    return max(map(len, _RUN.findall(text)), default=0)
