"""The plain form of an answer: what a pipe gets, what MCP sends, and what the token budget counts.

A header line; then for each hit one citation line, its excerpt, and a blank line; last, one line that says
how to follow up. A citation line spends at most 45 tokens: the turn id holds the session id, so that it is
printed once, and the follow-up's sentence stands once for all in the last line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cocorecall.model import Hit, Results, WordReport
from cocorecall.terminal import visible

if TYPE_CHECKING:
    from cocorecall.model import FacetReport, FixReport, PreMortemReport, Timeline

_FOLLOW_UP_START = "search for `"


def plain_form(report: Results | FacetReport | Timeline | FixReport | PreMortemReport) -> str:
    """The plain form of any answer."""
    if isinstance(report, Results):
        return render_plain(report)
    from cocorecall.search import render_evidence as plain  # noqa: PLC0415 - a search needs none

    forms: dict[str, Callable[[Any], str]] = {
        "FacetReport": plain.render_facets,
        "Timeline": plain.render_timeline,
        "FixReport": plain.render_fix,
        "PreMortemReport": plain.render_premortems,
    }
    return forms[type(report).__name__](report)


def render_plain(results: Results) -> str:
    """The answer as text, control characters made visible; ends with a newline."""
    parts = [header(results)]
    parts += [render_hit(hit) for hit in results.hits]
    if results.hits:
        parts.append(FOOTER)
    return visible("\n\n".join(parts)) + "\n"


FOOTER = 'Each "next" leads to other sessions: recall search NAME. Whole session: recall show ID.'


def header(results: Results) -> str:
    """Totals before any cut, where words were missed, and notes."""
    lines = [_totals(results)]
    if results.words:
        lines.append(_words(results.words))
    lines.extend(results.notes)
    return "\n".join(lines)


def _totals(results: Results) -> str:
    if not results.total_turns:
        return "Nothing found."
    turns = _count(results.total_turns, "turn")
    if results.mode == "session-diverse":
        shown = len({h.session_id for h in results.hits})
        return f"{shown:,} of {_count(results.total_sessions, 'session')}, {turns} matched."
    return f"{results.returned:,} of {turns} in {_count(results.total_sessions, 'session')} matched."


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def _words(words: tuple[WordReport, ...]) -> str:
    found = [w for w in words if w.turns]
    lead = "No turn holds all words: " if len(words) > 1 and found else ""
    return lead + ", ".join(_word(w) for w in words) + "."


def _word(word: WordReport) -> str:
    if word.turns:
        return f"`{word.word}` in {_count(word.sessions, 'session')}"
    near = f" (near: {', '.join(word.near)})" if word.near else ""
    return f"`{word.word}` in none{near}"


def render_hit(hit: Hit) -> str:
    """A hit: its citation line and its excerpt."""
    return f"{citation_line(hit)}\n{hit.text}"


def citation_line(hit: Hit) -> str:
    """Rank, turn id, who, when, whether the source is there, and the follow-up's name."""
    name = hit.suggested_follow_up.removeprefix(_FOLLOW_UP_START).split("`")[0]
    source = "source ok" if hit.source_exists else "SOURCE GONE"
    marks = [source]
    if hit.verified is not None:
        marks.append("verified" if hit.verified else "NOT VERIFIED")
    if not hit.in_source:
        marks.append("no longer in source")
    if hit.field in ("calls", "tags", "context"):
        marks.append(hit.field)
    if hit.kind == "summary":
        marks.append("summary")
    if hit.also_in:
        marks.append(f"also in {len(hit.also_in)} more")
    return (
        f"[{hit.rank}] {hit.turn_id} {hit.speaker_role} {hit.timestamp[:10]} {', '.join(marks)}, next: {name}"
    )
