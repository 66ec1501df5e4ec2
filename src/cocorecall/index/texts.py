"""Every text that the index stores, one after the other: for what looks through all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import apsw

from cocorecall.index.docs import doc_range

EVERYTHING = (0, 1 << 62)


class StoredText(NamedTuple):
    """A text of a turn.

    Attributes:
        doc: number of the turn.
        field: `text`, `thinking` or `calls` (the input of one call, as JSON).
    """

    doc: int
    field: str
    text: str


class TurnPlace(NamedTuple):
    """Where a turn is: what a citation needs of it."""

    turn_id: str
    session_id: str
    speaker_role: str
    timestamp: str
    source_path: str
    source_line: int | None


def stored_texts(connection: apsw.Connection, session_id: str | None = None) -> Iterator[StoredText]:
    """The texts, reasoning and calls of all turns, or of one session's; read as they are asked for."""
    bounds = _bounds(connection, session_id)
    turns = connection.execute(
        "SELECT doc, text, thinking FROM turns WHERE doc BETWEEN ? AND ? ORDER BY doc", bounds
    )
    for doc, text, thinking in turns:
        yield StoredText(doc, "text", text)
        if thinking:
            yield StoredText(doc, "thinking", thinking)
    calls = connection.execute(
        "SELECT doc, payload FROM tool_calls WHERE doc BETWEEN ? AND ? AND payload IS NOT NULL ORDER BY doc, position",
        bounds,
    )
    for doc, payload in calls:
        yield StoredText(doc, "calls", payload)


def _bounds(connection: apsw.Connection, session_id: str | None) -> tuple[int, int]:
    if session_id is None:
        return EVERYTHING
    row = connection.execute("SELECT number FROM sessions WHERE id = ?", (session_id,)).fetchone()
    return doc_range(int(row[0])) if row else (1, 0)


def turn_place(connection: apsw.Connection, doc: int) -> TurnPlace:
    """Where a turn is.

    Raises:
        KeyError: there is no such turn.
    """
    row = connection.execute(
        "SELECT t.id, s.id, t.speaker_role, t.timestamp, s.source_path, t.source_line FROM turns t"
        " JOIN sessions s ON s.number = t.doc >> 24 WHERE t.doc = ?",
        (doc,),
    ).fetchone()
    if row is None:
        raise KeyError(doc)
    return TurnPlace(*row)


def note_secrets(connection: apsw.Connection, counts: str) -> None:
    """Keep what a look through all texts counted, for `status`."""
    with connection:
        connection.execute("INSERT OR REPLACE INTO import_meta VALUES ('secrets', ?)", (counts,))
