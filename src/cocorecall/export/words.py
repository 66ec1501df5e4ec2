"""What both readable forms say of a session and its turns."""

from __future__ import annotations

from collections.abc import Iterator

from cocorecall.index.exporting import ArchivedSession, ArchivedTurn
from cocorecall.terminal import visible


def one_line(text: str) -> str:
    """A title or name on one line, control characters made visible."""
    return visible(" ".join(text.split()))


def moment(time: str | None) -> str:
    """`2026-05-14 09:12 UTC` of an ISO time."""
    return f"{time[:16].replace('T', ' ')} UTC" if time else "unknown"


def time_of(turn: ArchivedTurn) -> str:
    """A turn's time; `about` where the transcript gave it none and it is its neighbour's or its session's."""
    return moment(turn.timestamp) if turn.time_source == "own" else f"about {moment(turn.timestamp)}"


def counted(n: int, noun: str) -> str:
    """`1 turn`, `2 turns`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def title_of(session: ArchivedSession) -> str:
    """What a person would call the session."""
    return one_line(session.title or "") or f"Session {one_line(session.session_id)}"


def facts(session: ArchivedSession, *, masked: bool) -> Iterator[tuple[str, str]]:
    """Names and values, for a list at the top."""
    yield "Session", one_line(session.session_id)
    yield "Agent", one_line(session.agent)
    yield "Time", f"{moment(session.start_time)} to {moment(session.end_time)}"
    for name, value in (
        ("Folder", session.cwd),
        ("Branch", session.git_branch),
        ("Phase", session.phase_context),
        ("Part of", session.parent_id),
        ("Transcript", session.source_path),
    ):
        if value:
            yield name, one_line(value)
    yield "Turns", f"{session.turn_count:,}"
    if session.shared_turns and session.shared_with:
        turns = counted(session.shared_turns, "turn")
        yield "Begins with", f"{turns} that are indexed in session {one_line(session.shared_with)}"
    if masked:
        yield "Secrets", "masked where they were found"


def marks(turn: ArchivedTurn, *, masked: bool) -> Iterator[str]:
    """What a reader should know of a turn."""
    if turn.kind == "summary":
        yield "summary by the agent"
    if not turn.in_source:
        yield "no longer in its transcript"
    if turn.echo:
        yield "printed by recall"
    if masked:
        yield "secrets masked"
    if turn.text_length > len(turn.text):
        yield f"{turn.text_length - len(turn.text):,} characters more were not stored"
