"""Writes of the index: sessions, turns and facets, a batch at a time.

Rows are gathered in memory and written by `executemany`, one transaction a batch, so that an interrupted
import keeps what it committed. Full text goes into `turn_words` in the same transaction as the turns.
"""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import apsw
import orjson

from cocorecall.analysis import calls_text, cues, index_text
from cocorecall.index.docs import MAX_SEQ, SEQ_BITS, doc_range, load_payload, turn_id
from cocorecall.index.facet_rows import FACET_TABLES, as_json, facet_row, insert_statement
from cocorecall.model import (
    Facet,
    SessionHead,
    Turn,
)


@dataclass(slots=True)
class Known:
    """An indexed turn, as a re-import compares it with what the transcript now says."""

    seq: int
    native_id: str | None
    text_hash: str
    content_key: bytes
    in_source: bool
    seen: bool = False
    line: int | None = None


@dataclass(slots=True)
class Prepared:
    """A parsed turn with all that is derived from it before it is compared and written."""

    turn: Turn
    position: int
    text_hash: str
    payloads: list[bytes | None]
    calls_text: str
    content_key: bytes
    keys: list[int] = field(default_factory=list)


def prepare(turn: Turn, position: int) -> Prepared:
    """Hash a turn and serialize its calls."""
    text_hash = hashlib.sha256(turn.text.encode()).hexdigest()
    if turn.calls:
        payloads = [None if c.payload is None else as_json(c.payload) for c in turn.calls]
        calls = calls_text((c.name, c.payload) for c in turn.calls)
    else:
        payloads, calls = [], ""
    return Prepared(turn, position, text_hash, payloads, calls, _content_key(turn, text_hash, payloads))


def _content_key(turn: Turn, text_hash: str, payloads: Sequence[bytes | None]) -> bytes:
    # a derived time is no fact of the turn: it may come from the file's own, which every write moves
    own_time = turn.timestamp if turn.time_source == "own" else ""
    seen = f"{text_hash}\0{turn.role}\0{turn.kind}\0{turn.echo:d}\0{','.join(turn.tags)}\0{own_time}"
    digest = hashlib.blake2b(seen.encode(), digest_size=8)
    for call, payload in zip(turn.calls, payloads, strict=True):
        digest.update(f"\0{call.name}\0{call.status}\0".encode())
        digest.update(payload or b"")
    if turn.thinking:
        digest.update(turn.thinking.encode())
    return digest.digest()


def record_key(record_id: str) -> int:
    """Eight bytes of a record id's digest as SQLite's signed integer.

    Not of the id itself: ids that begin with a time share their first bytes.
    """
    return int.from_bytes(hashlib.blake2b(record_id.encode(), digest_size=8).digest(), signed=True)


@dataclass(slots=True)
class Tally:
    """What one session's import changed."""

    new: int = 0
    changed: int = 0
    gone: int = 0
    shared: int = 0


@dataclass(frozen=True, slots=True)
class TranscriptState:
    """What became of a transcript, as it is stored.

    Attributes:
        state: `ok`, `empty`, `unreadable` or `unrecognised`.
        skipped: JSON list of what was left out, with reasons.
        unknown: JSON map of unknown record types to counts.
        sessions: sessions that were imported from it.
    """

    agent: str | None
    state: str
    skipped: str
    unknown: str
    sessions: int
    imported_at: str


@dataclass(frozen=True, slots=True)
class IndexedSession:
    """A session that the index already has."""

    session_id: str
    number: int
    path: str


class SessionWriter:
    """Brings one session's turns into the index, in batches; made by `IndexWriter.session`."""

    BATCH = 400

    def __init__(
        self, index: IndexWriter, session_id: str, number: int, *, known: list[Known], twins: dict[str, int]
    ) -> None:
        self.session_id = session_id
        self.number = number
        self.tally = Tally()
        self._index = index
        self._twins = twins
        self._base = number << SEQ_BITS
        self._known = known
        self._by_native: dict[str, deque[Known]] = {}
        self._by_hash: dict[str, deque[Known]] = {}
        for turn in known:
            if turn.native_id:
                self._by_native.setdefault(turn.native_id, deque()).append(turn)
            else:
                self._by_hash.setdefault(turn.text_hash, deque()).append(turn)
        self._next_seq = max((k.seq for k in known), default=-1) + 1
        self._position = 0
        self.seqs: dict[int, int] = {}
        self._pending: list[Prepared] = []
        self._calls: dict[str, tuple[int, int]] = {}
        self.first_time: str | None = None
        self.last_time: str | None = None
        self.shared_with: str | None = None
        self.shared_native: str | None = None

    def add(self, turn: Turn) -> None:
        """Take the transcript's next turn."""
        position = self._position if turn.seq is None else max(turn.seq, self._position)
        self._pending.append(prepare(turn, position))
        self._position = position + 1
        if len(self._pending) >= self.BATCH:
            self.flush()

    def flush(self) -> None:
        """Compare what is pending with the index and write what is new or changed."""
        if not self._pending:
            return
        pending, self._pending = self._pending, []
        self._note_times(pending)
        own = [
            p for p, owner in zip(pending, self._owners(pending), strict=True) if not self._is_copy(p, owner)
        ]
        fresh: list[tuple[int, Prepared]] = []
        placed: list[tuple[int, Prepared]] = []
        for prepared in own:
            known = self._match(prepared)
            seq = known.seq if known else self._new_seq(prepared)
            if seq > MAX_SEQ:
                continue
            placed.append((seq, prepared))
            self.seqs[prepared.position] = seq
            if known is None:
                fresh.append((seq, prepared))
            else:
                self._keep(known, prepared)
        self.tally.new += len(fresh)
        self._index.insert_turns(self.session_id, self._base, fresh)
        self._pair_results(placed)

    def _new_seq(self, prepared: Prepared) -> int:
        seq = max(self._next_seq, prepared.position)
        self._next_seq = seq + 1
        return seq

    def finish(self, *, complete: bool) -> None:
        """Write the rest; with `complete`, mark turns that the transcript no longer holds."""
        self.flush()
        if not complete:
            return
        gone = [k for k in self._known if not k.seen and k.in_source]
        self.tally.gone += len(gone)
        self._index.mark_gone([self._base | k.seq for k in gone])

    def _note_times(self, pending: list[Prepared]) -> None:
        for prepared in pending:
            if prepared.turn.timestamp:
                self.first_time = self.first_time or prepared.turn.timestamp
                self.last_time = prepared.turn.timestamp

    def _owners(self, pending: list[Prepared]) -> list[int | None]:
        """For each turn the `doc` in another session that holds a record of the same id, if any."""
        for prepared in pending:
            prepared.keys = [record_key(r) for r in prepared.turn.record_ids]
        owned = self._index.owners([key for p in pending for key in p.keys])
        out: list[int | None] = []
        for prepared in pending:
            docs = [owned[k] for k in prepared.keys if k in owned and owned[k] >> SEQ_BITS != self.number]
            name = prepared.turn.native_id or place_name(prepared.position)
            out.append(docs[0] if docs else self._twins.get(name))
        return out

    def _is_copy(self, prepared: Prepared, owner: int | None) -> bool:
        """Whether another session already holds this turn, word for word."""
        if owner is None:
            return False
        other = self._index.turn_at(owner)
        if other is None or other[2] != prepared.text_hash:
            return False
        self.shared_with = self.shared_with or other[0]
        self.shared_native = self.shared_native or other[1]
        self.tally.shared += 1
        self._index.add_copy(owner, self.session_id)
        return True

    def _match(self, prepared: Prepared) -> Known | None:
        native = prepared.turn.native_id
        candidates = self._by_native.get(native) if native else self._by_hash.get(prepared.text_hash)
        if not candidates:
            return None
        same = next((k for k in candidates if k.text_hash == prepared.text_hash), None)
        # an id that occurs once names its message even when the text has grown since
        known = same or candidates[0]
        candidates.remove(known)
        return known

    def _keep(self, known: Known, prepared: Prepared) -> None:
        known.seen = True
        if known.content_key != prepared.content_key:
            self.tally.changed += 1
            self._index.replace_turn(self.session_id, self._base, known.seq, prepared)
        elif not known.in_source:
            self.tally.changed += 1
            self._index.mark_present(self._base | known.seq)
        if known.line != prepared.turn.line:
            self._index.mark_line(self._base | known.seq, prepared.turn.line)

    def _pair_results(self, placed: list[tuple[int, Prepared]]) -> None:
        """Give calls the status and the turn of their results."""
        rows: list[_Row] = []
        for seq, prepared in placed:
            for position, call in enumerate(prepared.turn.calls):
                if call.call_id:
                    self._calls[call.call_id] = (self._base | seq, position)
            for result in prepared.turn.results:
                made_by = self._calls.get(result.call_id) if result.call_id else None
                if made_by:
                    result_id = turn_id(self.session_id, seq)
                    rows.append((result.status, result.duration_ms, result_id, *made_by))
        self._index.pair_results(rows)


EXPORT = "export"
"""The format of exports, as the index names it (`sources.export`)."""


def place_name(seq: int) -> str:
    """What stands for the native id of a turn that has none, where its number is sure: no agent's id holds NUL."""
    return f"\0{seq}"


_Row = tuple[Any, ...]
_TURN_COLUMNS = (
    "id, session_id, speaker_role, seq, summary, text_hash, tags, doc, timestamp, time_source, zoned, kind,"
    " echo, cues, in_source, native_id, source_line, chars, text_length, content_key, text, thinking, said_tags"
)
_INSERT_TURN = f"INSERT INTO turns ({_TURN_COLUMNS}) VALUES ({','.join('?' * 23)})"
_INSERT_WORDS = "INSERT INTO turn_words (rowid, text, calls, tags) VALUES (?, ?, ?, ?)"
_INSERT_CALL = (
    "INSERT INTO tool_calls (session_id, name, payload, turn_id, doc, position, call_id, status, duration_ms)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


class IndexWriter:
    """All writes of an import. Not thread-safe; one at a time holds the import lock."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._speakers: Counter[str] = Counter()

    # --- transactions ---

    def begin(self) -> None:
        """Start a batch."""
        self.connection.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Make the batch permanent, totals included."""
        self._write_speakers()
        self.refresh_totals()
        self.connection.execute("COMMIT")

    def rollback(self) -> None:
        """Undo the batch, if one is open."""
        self._speakers.clear()
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def _write_speakers(self) -> None:
        self.connection.executemany(
            "INSERT INTO speakers VALUES (?1, ?2) ON CONFLICT (role) DO UPDATE SET turns = turns + ?2",
            list(self._speakers.items()),
        )
        self._speakers.clear()

    def refresh_totals(self) -> None:
        """Write the totals that ranking reads: sessions, turns, characters."""
        row = self.connection.execute(
            "SELECT count(*), coalesce(sum(turn_count), 0), coalesce(sum(chars), 0) FROM sessions"
        ).fetchone()
        for key, value in zip(("sessions", "turns", "chars"), row or (0, 0, 0), strict=True):
            self.set_meta(key, str(value))

    def set_meta(self, key: str, value: str) -> None:
        """Write one line of `import_meta`."""
        self.connection.execute("INSERT OR REPLACE INTO import_meta VALUES (?, ?)", (key, value))

    # --- sessions ---

    def known_turns(self, number: int) -> list[Known]:
        """The indexed turns of a session, in order."""
        rows = self.connection.execute(
            "SELECT seq, native_id, text_hash, content_key, in_source, source_line FROM turns WHERE doc BETWEEN ? AND ?",
            doc_range(number),
        )
        return [Known(s, n, h, k, bool(i), line=line) for s, n, h, k, i, line in rows]

    def next_number(self) -> int:
        """A number for a new session, above all others."""
        row = self.connection.execute("SELECT coalesce(max(number), 0) + 1 FROM sessions").fetchone()
        return int(row[0]) if row else 1

    def sessions_of(self, native_id: str, agent: str) -> list[IndexedSession]:
        """Sessions that carry an agent's id; more than one where two conversations share it."""
        rows = self.connection.execute(
            # 'unknown': of a damaged index only the session's turns could be saved
            "SELECT id, number, source_path FROM sessions WHERE native_id = ? AND agent IN (?, 'unknown') ORDER BY number",
            (native_id, agent),
        )
        return [IndexedSession(*row) for row in rows]

    def free_id(self, native_id: str) -> str:
        """The agent's id where no other session has it; else with `~2`, `~3`, … behind."""
        candidate, n = native_id, 1
        while self.connection.execute("SELECT 1 FROM sessions WHERE id = ?", (candidate,)).fetchone():
            n += 1
            candidate = f"{native_id}~{n}"
        return candidate

    def turns_by_native_id(self, number: int, *, by_place: bool = False) -> dict[str, int]:
        """`doc` by native id, for a session's turns that have one; `by_place`, the others by `place_name`."""
        rows = self.connection.execute(
            "SELECT native_id, doc FROM turns WHERE doc BETWEEN ? AND ? AND (native_id IS NOT NULL OR ?)",
            (*doc_range(number), by_place),
        )
        return {native or place_name(doc & MAX_SEQ): doc for native, doc in rows}

    def is_export(self, path: str) -> bool:
        """Whether a transcript is an export of CocoRecall, which stands in for the agent's own."""
        row = self.connection.execute("SELECT agent FROM transcripts WHERE path = ?", (path,)).fetchone()
        return row is not None and row[0] == EXPORT

    def drop_empty_session(self, session_id: str) -> None:
        """Take back a session that turned out to hold nothing of its own."""
        self.connection.execute("DELETE FROM sessions WHERE id = ?", (session_id,))
        self.connection.execute("DELETE FROM copies WHERE session_id = ?", (session_id,))

    def create_session(self, session_id: str, number: int, head: SessionHead, path: str) -> None:
        """Insert a session's row; `update_session` fills it in."""
        self.connection.execute(
            "INSERT INTO sessions (id, number, native_id, agent, source_path) VALUES (?, ?, ?, ?, ?)",
            (session_id, number, head.id, head.agent, path),
        )

    def update_session(
        self, session_id: str, number: int, head: SessionHead, *, path: str, phase: str | None,
        start: str | None, end: str | None, shared: int, shared_with: str | None, now: str,
    ) -> None:  # fmt: skip
        """Write what the transcript says of its session, and the totals of its turns."""
        self.connection.execute(
            "UPDATE sessions SET start_time = ?, end_time = ?, phase_context = ?, source_path = ?, title = ?,"
            " summary = ?, cwd = ?, git_branch = ?, parent_id = ?, session_type = ?, shared_turns = ?,"
            " shared_with = ?, imported_at = ?, said_entity_tags = ?, agent = ?,"
            " (turn_count, chars) = (SELECT count(*), coalesce(sum(chars), 0) FROM turns WHERE doc BETWEEN ? AND ?)"
            " WHERE id = ?",
            (start, end, phase, path, head.title, head.summary, head.cwd, head.git_branch,
             head.parent_id or shared_with, head.session_type, shared, shared_with, now,
             ",".join(head.entity_tags), head.agent, *doc_range(number), session_id),
        )  # fmt: skip
        if head.cwd:
            self.add_folder(session_id, head.cwd)

    def add_folder(self, session_id: str, cwd: str) -> None:
        """Note a folder that the session worked in."""
        self.connection.execute("INSERT OR IGNORE INTO folders VALUES (?, ?)", (session_id, cwd))

    # --- turns ---

    def insert_turns(self, session_id: str, base: int, turns: Sequence[tuple[int, Prepared]]) -> None:
        """Insert new turns with their full text, calls and record ids."""
        if not turns:
            return
        execute = self.connection.executemany
        execute(_INSERT_TURN, [_turn_row(session_id, base, seq, p) for seq, p in turns])
        execute(_INSERT_WORDS, [_words_row(base | seq, p) for seq, p in turns])
        calls = [
            row for seq, p in turns if p.turn.calls for row in _call_rows(session_id, base | seq, seq, p)
        ]
        if calls:
            execute(_INSERT_CALL, calls)
        records = [(key, base | seq) for seq, p in turns for key in p.keys]
        if records:
            execute("INSERT OR IGNORE INTO records VALUES (?, ?)", records)
        self._speakers.update(p.turn.role for _, p in turns)

    def replace_turn(self, session_id: str, base: int, seq: int, prepared: Prepared) -> None:
        """Rewrite a turn that its transcript has changed; its number stays."""
        doc = base | seq
        self.connection.execute("DELETE FROM turns WHERE doc = ?", (doc,))
        self.connection.execute("DELETE FROM turn_words WHERE rowid = ?", (doc,))
        self.connection.execute("DELETE FROM tool_calls WHERE doc = ?", (doc,))
        self.insert_turns(session_id, base, [(seq, prepared)])
        self._speakers[prepared.turn.role] -= 1

    def mark_gone(self, docs: Iterable[int]) -> None:
        """Note turns that have left their transcript; they stay."""
        self.connection.executemany("UPDATE turns SET in_source = 0 WHERE doc = ?", [(d,) for d in docs])

    def mark_present(self, doc: int) -> None:
        """Note a turn that has come back into its transcript."""
        self.connection.execute("UPDATE turns SET in_source = 1 WHERE doc = ?", (doc,))

    def mark_line(self, doc: int, line: int | None) -> None:
        """Note where in its transcript a turn stands now, so that its citation leads there."""
        self.connection.execute("UPDATE turns SET source_line = ? WHERE doc = ?", (line, doc))

    def owners(self, keys: list[int]) -> dict[int, int]:
        """`doc` of the turn that holds each record, for the records that are known."""
        if not keys:
            return {}
        rows = self.connection.execute(
            "SELECT key, doc FROM records WHERE key IN (SELECT value FROM json_each(?))",
            (orjson.dumps(keys).decode(),),
        )
        return dict(rows)

    def turn_at(self, doc: int) -> tuple[str, str, str] | None:
        """Session id, the session's native id, and text hash of a turn."""
        row = self.connection.execute(
            "SELECT t.session_id, s.native_id, t.text_hash FROM turns t JOIN sessions s ON s.id = t.session_id"
            " WHERE t.doc = ?", (doc,),
        ).fetchone()  # fmt: skip
        return (str(row[0]), str(row[1]), str(row[2])) if row else None

    def add_copy(self, doc: int, session_id: str) -> None:
        """Note that a turn also stands in another session's transcript."""
        self.connection.execute("INSERT OR IGNORE INTO copies VALUES (?, ?)", (doc, session_id))

    def pair_results(self, rows: Sequence[_Row]) -> None:
        """Note status, duration and turn of calls' results: (status, ms, result turn id, doc, position)."""
        if rows:
            self.connection.executemany(
                "UPDATE tool_calls SET status = coalesce(?, status), duration_ms = coalesce(?, duration_ms),"
                " result_turn_id = ? WHERE doc = ? AND position = ?",
                rows,
            )

    # --- facets ---

    def write_stated(
        self, session_id: str, number: int, facets: Sequence[Facet], seqs: Mapping[int, int]
    ) -> None:
        """Replace what the session's transcript stated in so many words by what it states now.

        Args:
            session_id: the session.
            number: its number.
            facets: what is stated; `turn_seq` is the turn's place in the transcript.
            seqs: the `seq` of the turn at each place.
        """
        for table in FACET_TABLES:
            # what a turn stated that has left its transcript stays with the turn
            self.connection.execute(
                f"DELETE FROM {table} WHERE session_id = ? AND stated AND NOT EXISTS"
                f" (SELECT 1 FROM turns t WHERE t.doc = {table}.doc AND NOT t.in_source)",
                (session_id,),
            )
        base = number << SEQ_BITS
        for facet in facets:
            seq = None if facet.turn_seq is None else seqs.get(facet.turn_seq)
            where = (None, None) if seq is None else (turn_id(session_id, seq), base | seq)
            table, values = facet_row(facet)
            self.connection.execute(insert_statement(table, stated=True), (session_id, *where, *values))

    def facets_are_due(self, number: int) -> None:
        """Note that a session's turns are to be read for facets."""
        self.connection.execute(
            "UPDATE sessions SET facets_pending = 2 WHERE number = ? AND NOT facets_pending", (number,)
        )

    # --- transcripts and sources ---

    def save_transcript(self, path: str, source: str, signature: str, state: TranscriptState) -> None:
        """Note how a transcript looked when it was read, so that it is opened again only when it changes."""
        self.connection.execute(
            "INSERT OR REPLACE INTO transcripts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (path, source, signature, state.agent, state.state, state.skipped, state.unknown, state.sessions,
             state.imported_at),
        )  # fmt: skip

    def save_source(self, path: str, now: str, found: int) -> None:
        """Note when a source was scanned and how many transcripts it held."""
        self.connection.execute("INSERT OR REPLACE INTO sources VALUES (?, ?, ?)", (path, now, found))

    # --- care of the files ---

    def rebuild_words(self, tags: str = "said_tags") -> None:
        """Derive the full-text index anew from stored turns; sources are not needed.

        Args:
            tags: the column of the tags that the transcript itself attaches.
        """
        self.connection.execute("INSERT INTO turn_words (turn_words) VALUES ('delete-all')")
        rows = self.connection.execute(f"SELECT doc, text, {tags} FROM turns ORDER BY doc")
        while batch := [row for _, row in zip(range(SessionWriter.BATCH), rows, strict=False)]:
            calls = self.calls_between(batch[0][0], batch[-1][0])
            words = [
                (doc, index_text(text), index_text(calls.get(doc, "")), index_text(said))
                for doc, text, said in batch
            ]
            self.connection.executemany(_INSERT_WORDS, words)

    def calls_between(self, first: int, last: int) -> dict[int, str]:
        """The text of calls as it is indexed, by `doc`, of turns in a range."""
        rows = self.connection.execute(
            "SELECT doc, name, payload FROM tool_calls WHERE doc BETWEEN ? AND ? ORDER BY doc, position",
            (first, last),
        )
        by_doc: dict[int, list[tuple[str, Any]]] = {}
        for doc, name, payload in rows:
            by_doc.setdefault(doc, []).append((name, load_payload(payload)))
        return {doc: calls_text(calls) for doc, calls in by_doc.items()}

    def settle(self, new_turns: int) -> None:
        """After a batch of changes: merge full-text segments and empty the write-ahead log.

        Every search pays for every segment, so after a large import they are merged into one; after a
        small one FTS5 merges as much as costs little.
        """
        large = new_turns > LARGE_IMPORT
        self.connection.execute(
            "INSERT INTO turn_words (turn_words) VALUES ('optimize')" if large
            else "INSERT INTO turn_words (turn_words, rank) VALUES ('merge', 100)"
        )  # fmt: skip
        self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


LARGE_IMPORT = 2_000
"""Turns from which on an import merges the whole full-text index (0.3 s for 100,000 turns)."""


def _summary(turn: Turn) -> str:
    """The turn's first sentence; a tool's output has lines instead."""
    if turn.role == "tool":
        return " ".join(turn.text[:_MAX_LINE].lstrip().split("\n", 1)[0].split())
    from cocorecall.extract.summary import summary_of  # noqa: PLC0415 - an import without new turns needs none

    return summary_of(turn.text)


_MAX_LINE = 240
"""Characters of a tool's first line that serve as its summary."""


def _turn_row(session_id: str, base: int, seq: int, prepared: Prepared) -> _Row:
    turn = prepared.turn
    tags = ",".join(turn.tags)
    return (
        f"{session_id}:{seq}", session_id, turn.role, seq, _summary(turn), prepared.text_hash, tags,
        base | seq, turn.timestamp, turn.time_source, turn.zoned, turn.kind, turn.echo, 0 if turn.role == "tool" else cues(turn.text), 1, turn.native_id, turn.line,
        len(turn.text) + len(prepared.calls_text), turn.text_length or len(turn.text), prepared.content_key,
        turn.text, turn.thinking, tags,
    )  # fmt: skip


def _words_row(doc: int, prepared: Prepared) -> _Row:
    turn = prepared.turn
    calls = index_text(prepared.calls_text) if prepared.calls_text else ""
    return doc, index_text(turn.text), calls, index_text(", ".join(turn.tags)) if turn.tags else ""


def _call_rows(session_id: str, doc: int, seq: int, prepared: Prepared) -> Iterable[_Row]:
    for position, (call, payload) in enumerate(zip(prepared.turn.calls, prepared.payloads, strict=True)):
        yield (
            session_id, call.name, payload.decode() if payload is not None else None, turn_id(session_id, seq), doc,
            position, call.call_id, call.status, call.duration_ms,
        )  # fmt: skip
