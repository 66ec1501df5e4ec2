"""A session as text: what `recall show` says of it, and the plain form that a pipe gets."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from cocorecall.model import CallView, SessionView, TurnView
from cocorecall.wording import counted, day_and_minute, home_shortened, one_line, shortened


class Piece(Enum):
    """What a part of a turn's printed text is."""

    TEXT = "text"
    MATCH = "match"
    GAP = "gap"


def render(view: SessionView, *, call_room: int | None) -> str:
    """The plain form: a header, then turn by turn; what is left out is counted.

    Args:
        view: the session.
        call_room: characters that a tool call may take; None: all that it has.
    """
    parts = ["\n".join(header(view))]
    for turn in view.turns:
        parts += [turns_left_out(turn.omitted_before)] if turn.omitted_before else []
        parts.append(_turn(turn, call_room))
    parts += [turns_left_out(view.omitted_after)] if view.omitted_after else []
    return "\n\n".join(parts)


def _turn(turn: TurnView, call_room: int | None) -> str:
    lines = [turn_head(turn), *_thinking(turn)]
    body = "".join(text for text, _ in pieces(turn)).rstrip("\n")
    lines += [body] if body else []
    lines += [call_line(call, call_room) for call in turn.calls]
    return "\n".join(lines)


def header(view: SessionView) -> Iterator[str]:
    """What is known of the session, and of the choice of its turns, a line each."""
    session = view.session
    yield f"Session {one_line(session.session_id)}"
    if session.title:
        yield f"Title: {one_line(session.title)}"
    times = f"{day_and_minute(session.start_time)} to {_end(session.start_time, session.end_time)} UTC"
    yield f"{one_line(session.agent)}, {times}, {counted(session.turns, 'turn')}"
    state = "" if session.source_exists else "  SOURCE GONE"
    yield f"Source: {one_line(home_shortened(session.source_path))}{state}"
    if session.cwd:
        branch = f", branch {one_line(session.git_branch)}" if session.git_branch else ""
        yield f"Folder: {one_line(session.cwd)}{branch}"
    if session.phase_context:
        yield f"Phase: {one_line(session.phase_context)}"
    if session.parent_id:
        yield f"Part of: {one_line(session.parent_id)}"
    if view.shared_turns and view.shared_with:
        other = one_line(view.shared_with)
        yield f"Begins with {counted(view.shared_turns, 'turn')} of another session: recall show {other}"
    masked = sum(turn.secrets for turn in view.turns)
    if masked:
        yield f"{counted(masked, 'secret')} masked; --reveal shows {'it' if masked == 1 else 'them'}"
    if view.query:
        marks = "* marks what matches" if any(t.matched for t in view.turns) else "no turn here matches"
        yield f"Query: {one_line(view.query)} ({marks})"
    elif not view.turns:
        yield "No query led here, so nothing matches: say one with --query"


def _end(start: str, end: str) -> str:
    """The end's clock time, with its day where that is another one."""
    return day_and_minute(end) if end[:10] != start[:10] else end[11:16]


def turn_head(turn: TurnView) -> str:
    """`[41]* assistant · 2026-05-14 09:12 · <turn id>`, and what else should be known."""
    facts = [one_line(turn.speaker_role), day_and_minute(turn.timestamp), one_line(turn.turn_id)]
    facts += [one_line(turn.kind)] if turn.kind != "message" else []
    facts += [] if turn.in_source else ["no longer in its transcript"]
    facts += ["printed by recall"] if turn.echo else []
    return f"[{turn.seq}]{'*' if turn.matched else ''} {' · '.join(facts)}"


def _thinking(turn: TurnView) -> list[str]:
    return [f"(thinking) {turn.thinking}"] if turn.thinking else []


def pieces(turn: TurnView) -> Iterator[tuple[str, Piece]]:
    """The turn's text in order: plain parts, matches, and marks that count the lines left out."""
    done = 0
    for start, end in turn.spans:
        if start > done:
            yield f"[… {counted(_lines(turn.text[done:start]), 'line')} …]\n", Piece.GAP
        yield from _marked(turn, start, end)
        done = end
    if done < len(turn.text):
        yield f"[… {counted(_lines(turn.text[done:]), 'line')} …]", Piece.GAP
    if turn.not_stored:
        yield f"\n[… {turn.not_stored:,} characters are not in the index …]", Piece.GAP


def _marked(turn: TurnView, start: int, end: int) -> Iterator[tuple[str, Piece]]:
    for a, b in turn.highlights:
        if start <= a and b <= end:
            yield turn.text[start:a], Piece.TEXT
            yield turn.text[a:b], Piece.MATCH
            start = b
    yield turn.text[start:end], Piece.TEXT


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))


def call_line(call: CallView, room: int | None) -> str:
    """`→ tool {input}`, shortened to about `room` characters with a mark that counts the rest."""
    name = one_line(call.name)
    status = f" ({one_line(call.status)})" if call.status and call.status != "success" else ""
    payload = call.payload
    if room is not None:
        payload = shortened(payload, max(40, room - len(name) - len(status) - len("→  ")))
    return f"→ {name} {payload}{status}"


def turns_left_out(n: int) -> str:
    """The mark for turns that are not shown."""
    return f"[… {counted(n, 'turn')} …]"
