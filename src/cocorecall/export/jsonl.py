"""Export as JSON lines: what `sources.export` reads back, hash for hash."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from cocorecall.index.docs import load_payload
from cocorecall.index.exporting import ArchivedSession, ArchivedTurn
from cocorecall.sources.export import FORMAT_NAME
from cocorecall.terminal import json_escaped


def head(session: ArchivedSession, *, masked: bool) -> str:
    """The session's line.

    Args:
        session: the session.
        masked: whether secrets are masked where they were found; each masked turn says so itself.
    """
    return _line({
        "type": "session", "format": FORMAT_NAME, "masked": masked, "id": session.native_id, "agent": session.agent,
        "session_id": session.session_id, "title": session.title, "summary": session.summary, "cwd": session.cwd,
        "folders": list(session.folders), "git_branch": session.git_branch, "start_time": session.start_time,
        "end_time": session.end_time, "phase_context": session.phase_context, "parent_id": session.parent_id,
        "session_type": session.session_type, "entity_tags": list(session.entity_tags), "turns": session.turn_count,
        "shared_turns": session.shared_turns, "shared_with": session.shared_with,
        "source_path": session.source_path,
    })  # fmt: skip


def turn(turn: ArchivedTurn, *, masked: bool) -> str:
    """A turn's line."""
    return _line({
        "type": "turn", "seq": turn.seq, "role": turn.role, "text": turn.text, "text_hash": turn.text_hash,
        "text_length": turn.text_length, "timestamp": turn.timestamp, "time_source": turn.time_source,
        "zoned": turn.zoned, "kind": turn.kind, "echo": turn.echo, "in_source": turn.in_source,
        "id": turn.native_id, "line": turn.source_line, "tags": list(turn.tags), "thinking": turn.thinking,
        "calls": [
            # of a call that a turn answers, its result says how it went
            {"name": c.name, "payload": load_payload(c.payload), "call_id": c.call_id}
            | ({} if c.answered else {"status": c.status, "duration_ms": c.duration_ms})
            for c in turn.calls
        ],
        "results": [r._asdict() for r in turn.results],
    } | ({"masked": True} if masked else {}))  # fmt: skip


def _line(record: dict[str, Any]) -> str:
    return json_escaped(orjson.dumps(record).decode()) + "\n"


def session_lines(
    session: ArchivedSession, turns: Iterator[tuple[ArchivedTurn, bool]], *, masked: bool
) -> Iterator[str]:
    """A session's lines."""
    yield head(session, masked=masked)
    for one, is_masked in turns:
        yield turn(one, masked=is_masked)
