"""Carries over an index that the JavaScript predecessor wrote: same table names, `user_version` 0."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import apsw

from cocorecall.index.docs import SEQ_BITS
from cocorecall.index.facet_rows import FACET_TABLES
from cocorecall.index.writer import IndexWriter

_UNKNOWN_TIME = "1970-01-01T00:00:00.000Z"


def carry_over(connection: apsw.Connection, tables: Sequence[str]) -> None:
    """Copy the predecessor's rows into the new tables and drop the old ones.

    Runs inside the migration's transaction. Columns are matched by name; what the predecessor did not have
    is derived (hash, length, numbers), or left empty until the next import reads the transcript.
    """
    old = set(tables)
    numbers = _sessions(connection) if "sessions" in old else {}
    if "turns" in old:
        _turns(connection, numbers)
    for table in ("tool_calls", *FACET_TABLES, "citations", "import_meta"):
        if table in old:
            _copy(connection, table)
    for table in tables:
        connection.execute(f'DROP TABLE "predecessor_{table}"')
    writer = IndexWriter(connection)
    connection.execute(
        "UPDATE sessions SET (turn_count, chars) = (SELECT count(*), coalesce(sum(chars), 0) FROM turns"
        " WHERE turns.session_id = sessions.id)"
    )
    writer.rebuild_words(tags="tags")  # the first schema has no other
    writer.refresh_totals()


def _rows(connection: apsw.Connection, table: str, order: str) -> list[dict[str, Any]]:
    cursor = connection.execute(f'SELECT * FROM "predecessor_{table}" ORDER BY {order}')
    rows = cursor.fetchall()
    if not rows:
        return []
    names = [r[1] for r in connection.execute(f'PRAGMA table_info("predecessor_{table}")')]
    return [dict(zip(names, row, strict=True)) for row in rows]


def _sessions(connection: apsw.Connection) -> dict[str, int]:
    numbers: dict[str, int] = {}
    columns = {r[1] for r in connection.execute('PRAGMA table_info("predecessor_sessions")')}
    order = "start_time, id" if "start_time" in columns else "id"
    for number, row in enumerate(_rows(connection, "sessions", order), 1):
        sid = str(row["id"])
        numbers[sid] = number
        connection.execute(
            "INSERT INTO sessions (id, start_time, end_time, phase_context, entity_tags, source_path, number,"
            " native_id, agent) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'reference')",
            (sid, row.get("start_time"), row.get("end_time"), row.get("phase_context"), row.get("entity_tags") or "",
             row.get("source_path") or "", number, sid),
        )  # fmt: skip
    return numbers


def _turns(connection: apsw.Connection, numbers: dict[str, int]) -> None:
    seen: dict[str, int] = {}
    for row in _rows(connection, "turns", "session_id, seq"):
        sid = str(row["session_id"])
        if sid not in numbers:
            continue
        seq = int(row["seq"]) if row.get("seq") is not None else seen.get(sid, -1) + 1
        seq = max(seq, seen.get(sid, -1) + 1)
        seen[sid] = seq
        text = str(row.get("text") or "").replace("\0", "\ufffd")
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        start = connection.execute("SELECT start_time FROM sessions WHERE id = ?", (sid,)).fetchone()
        connection.execute(
            "INSERT OR IGNORE INTO turns (id, session_id, speaker_role, seq, summary, text_hash, tags, doc, timestamp,"
            " time_source, chars, text_length, content_key, text) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (f"{sid}:{seq}", sid, row.get("speaker_role") or "user", seq, row.get("summary") or "", digest,
             row.get("tags") or "", numbers[sid] << SEQ_BITS | seq, (start[0] if start else None) or _UNKNOWN_TIME,
             "session", len(text), len(text), b"", text),
        )  # fmt: skip


def _copy(connection: apsw.Connection, table: str) -> None:
    theirs = {r[1] for r in connection.execute(f'PRAGMA table_info("predecessor_{table}")')}
    ours = {r[1]: (bool(r[3]), r[4]) for r in connection.execute(f'PRAGMA table_info("{table}")')}
    shared = [c for c in ours if c in theirs]
    needed = [c for c, (not_null, default) in ours.items() if not_null and default is None]
    if any(c not in theirs for c in needed):
        return
    columns = ", ".join(f'"{c}"' for c in shared)
    where = " AND ".join(f'"{c}" IS NOT NULL' for c in needed) or "1"
    connection.execute(
        f'INSERT OR IGNORE INTO "{table}" ({columns}) SELECT {columns} FROM "predecessor_{table}" WHERE {where}'
    )
