from __future__ import annotations

import hashlib
import sqlite3
import stat
import sys
from pathlib import Path

import pytest

from cocorecall.errors import IndexDamagedError, IndexTooNewError
from cocorecall.index.schema import SCHEMA_VERSION, open_for_reading, open_for_writing

CONTRACT = {
    "sessions": ["id", "start_time", "end_time", "phase_context", "entity_tags", "source_path"],
    "turns": ["id", "session_id", "speaker_role", "seq", "summary", "text_hash", "tags", "text"],
    "tool_calls": ["session_id", "name", "payload"],
    "function_touches": ["session_id", "function_name"],
    "evaluation_results": ["session_id", "metric", "value", "payload"],
    "outcome_contracts": ["session_id", "function_name", "outcome_type", "status", "payload"],
    "strategy_usage": ["session_id", "strategy_id"],
    "key_decisions": ["session_id", "decision"],
    "entities": ["name", "type", "session_id", "turn_id"],
    "citations": ["query", "session_id", "turn_id", "source_exists", "ts"],
    "import_meta": ["key", "value"],
}


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "recall.db"


@pytest.mark.parametrize("table", CONTRACT)
def test_other_tools_find_the_tables_of_the_contract(index: Path, table: str) -> None:
    open_for_writing(index).close()
    with sqlite3.connect(index) as other:
        columns = [row[1] for row in other.execute(f"PRAGMA table_info({table})")]
    assert set(CONTRACT[table]) <= set(columns)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file modes")
def test_the_index_is_its_owners_alone(index: Path) -> None:
    open_for_writing(index).close()
    assert stat.S_IMODE(index.stat().st_mode) == 0o600


def test_the_index_is_in_wal_mode_with_its_version(index: Path) -> None:
    connection = open_for_writing(index)
    assert connection.pragma("journal_mode") == "wal"
    assert connection.pragma("user_version") == SCHEMA_VERSION
    connection.close()


@pytest.mark.parametrize("opener", [open_for_writing, open_for_reading])
def test_a_newer_index_is_refused_and_left_as_it_is(index: Path, opener: object) -> None:
    with sqlite3.connect(index) as other:
        other.execute("CREATE TABLE future (x)")
        other.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 8}")
    before = index.read_bytes()
    with pytest.raises(IndexTooNewError, match=rf"{SCHEMA_VERSION + 8}.*{SCHEMA_VERSION}.*intact"):
        opener(index)  # type: ignore[operator]
    assert index.read_bytes() == before


@pytest.mark.parametrize("content", [b"not a database, " * 500, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_said_to_be_damaged(index: Path, content: bytes) -> None:
    index.write_bytes(content)
    with pytest.raises(IndexDamagedError, match="damaged"):
        open_for_writing(index)
    assert index.read_bytes() == content


def test_the_predecessors_index_is_carried_over(index: Path) -> None:
    text = "We keep the threshold of classify_ticket at 0.85."
    with sqlite3.connect(index) as other:
        other.executescript(
            """
            CREATE TABLE sessions (id TEXT PRIMARY KEY, start_time TEXT, end_time TEXT, phase_context TEXT,
                                   entity_tags TEXT, source_path TEXT);
            CREATE TABLE turns (id TEXT PRIMARY KEY, session_id TEXT, speaker_role TEXT, seq INTEGER, summary TEXT,
                                text_hash TEXT, tags TEXT, text TEXT);
            CREATE INDEX turns_session ON turns (session_id);
            CREATE TABLE function_touches (session_id TEXT, function_name TEXT);
            CREATE TABLE citations (query TEXT, session_id TEXT, turn_id TEXT, source_exists INTEGER, ts TEXT);
            CREATE TABLE import_meta (key TEXT PRIMARY KEY, value TEXT);
            """
        )
        other.execute(
            "INSERT INTO sessions VALUES ('s1', '2026-01-05T10:00:00.000Z', NULL, 'build', 'a,b', '/gone')"
        )
        other.execute("INSERT INTO turns VALUES ('s1:0', 's1', 'user', 0, '', '', 'tag', 'Hello')")
        other.execute("INSERT INTO turns VALUES ('s1:1', 's1', 'assistant', 1, 'short', '', '', ?)", (text,))
        other.execute("INSERT INTO function_touches VALUES ('s1', 'classify_ticket')")
        other.execute("INSERT INTO citations VALUES ('q', 's1', 's1:1', 1, '2026-01-06T00:00:00.000Z')")
        other.execute("INSERT INTO import_meta VALUES ('last_import', '2026-01-06T00:00:00.000Z')")
    connection = open_for_writing(index)
    turns = connection.execute(
        "SELECT id, speaker_role, text, text_hash, tags FROM turns ORDER BY seq"
    ).fetchall()
    assert turns == [
        ("s1:0", "user", "Hello", hashlib.sha256(b"Hello").hexdigest(), "tag"),
        ("s1:1", "assistant", text, hashlib.sha256(text.encode()).hexdigest(), ""),
    ]
    for table, rows in (("function_touches", 1), ("citations", 1), ("sessions", 1)):
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchall() == [(rows,)]
    found = connection.execute("SELECT rowid FROM turn_words WHERE turn_words MATCH 'threshold'").fetchall()
    assert len(found) == 1
    left = connection.execute("SELECT name FROM sqlite_schema WHERE name LIKE 'predecessor%'").fetchall()
    assert left == []
    connection.close()


def test_a_failed_migration_leaves_the_file_as_it_was(index: Path) -> None:
    with sqlite3.connect(index) as other:
        other.execute("CREATE TABLE turns (id INTEGER)")
        other.execute("INSERT INTO turns VALUES (1)")
        other.execute("CREATE TABLE turn_words (x)")
    with pytest.raises(IndexDamagedError, match="not CocoRecall's"):
        open_for_writing(index)
    with sqlite3.connect(index) as other:
        assert other.execute("SELECT * FROM turns").fetchall() == [(1,)]
        assert other.execute("PRAGMA user_version").fetchone() == (0,)
