"""The part of an import that reads facets: which sessions are due, in which process, when they are written.

An import notes the sessions it changed in `sessions.facets_pending`. What an interrupted import left, and all of an
index that an older schema wrote, is due too, and read by the next one from the stored turns: no source is needed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from cocorecall.evidence import Vocabulary
from cocorecall.index.docs import SEQ_BITS, doc_range
from cocorecall.index.facet_rows import EXTRACTED_TABLES, FACET_TABLES, INSERTS

if TYPE_CHECKING:
    from cocorecall.index.extraction import SessionFacets
    from cocorecall.index.facet_worker import FacetWorker

VERSION = 1
"""Raised when extraction finds other facets in the same turns: every session is then read again."""

LARGE_IMPORT = 4 << 20
"""Bytes of transcripts from which on a second process pays (it takes a third of a second to start)."""
_SECONDS = 1.0
"""A transaction of facets is committed when it is this old: other writers need not wait longer."""
_WORD = re.compile(r"\w+")


class FacetImport:
    """Reads and writes the facets of every session that is due, beside the import or after it.

    Attributes:
        statements: SQL statements that were read.
        unparsed: of these, the ones that the grammar did not understand.
    """

    def __init__(self, connection: apsw.Connection, vocabulary: Vocabulary) -> None:
        self._db = connection
        self._vocabulary = vocabulary
        self._worker: FacetWorker | None = None
        self._given: set[int] = set()
        self.statements = 0
        self.unparsed = 0

    def begin(self, size: int) -> None:
        """Mark what must be read again, and start a second process where the import is large.

        Args:
            size: bytes of transcripts that will be read.
        """
        self._mark_due()
        # a reader beside a writer needs the write-ahead log
        if size >= LARGE_IMPORT and self._db.pragma("journal_mode") == "wal":
            from cocorecall.index.facet_worker import FacetWorker  # noqa: PLC0415 - small imports need none

            self._worker = FacetWorker(Path(self._db.filename), self._vocabulary)

    def go_on(self) -> None:
        """After a commit, outside a transaction: hand over what is new, write what is ready."""
        if self._worker is not None:
            self._hand_over(self._worker)
            self._write(self._worker.ready())

    def complete(self) -> int:
        """Read and write all that is still due; how many sessions that was. Call it outside a transaction."""
        if self._worker is not None:
            self._hand_over(self._worker)
            self._write(self._worker.rest())
        left = self._pending()
        if left:
            self._write(self._read(left))
        return len(self._given.union(left))

    def close(self) -> None:
        """End the second process, if there is one."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    # --- what is due ---

    def _pending(self) -> list[int]:
        rows = self._db.execute("SELECT number FROM sessions WHERE facets_pending ORDER BY number")
        return [int(n) for (n,) in rows]

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self._db.execute(sql).fetchall()

    def _hand_over(self, worker: FacetWorker) -> None:
        fresh = [n for n in self._pending() if n not in self._given]
        worker.give(fresh)
        self._given.update(fresh)

    def _read(self, numbers: list[int]) -> Iterator[SessionFacets]:
        from cocorecall.index.extraction import SessionExtractor  # noqa: PLC0415 - nothing new, nothing loaded

        extractor = SessionExtractor(self._db, self._vocabulary)
        return map(extractor.read, numbers)

    def _mark_due(self) -> None:
        """Mark sessions that another version of extraction read, or by other words of the project."""
        query = "SELECT key, value FROM import_meta WHERE key IN ('facets_version', 'vocabulary')"
        meta: dict[str, str] = dict(self._rows(query))
        words = "\n".join(self._vocabulary.words())
        if meta.get("facets_version") != str(VERSION):
            self._db.execute("UPDATE sessions SET facets_pending = 2 WHERE NOT facets_pending")
        elif meta.get("vocabulary") != words:
            before, now = (
                set(filter(None, text.split("\n"))) for text in (meta.get("vocabulary") or "", words)
            )
            for word in sorted(before ^ now):
                self._mark_holders(word)
        else:
            return
        self._db.execute(
            "INSERT OR REPLACE INTO import_meta VALUES ('facets_version', ?), ('vocabulary', ?)",
            (str(VERSION), words),
        )

    def _mark_holders(self, phrase: str) -> None:
        """Mark the sessions in which all words of a phrase occur."""
        expression = " AND ".join(f'"{word}"' for word in _WORD.findall(phrase))
        if expression:
            self._db.execute(
                "UPDATE sessions SET facets_pending = 2 WHERE NOT facets_pending AND number IN"
                " (SELECT DISTINCT rowid >> 24 FROM turn_words WHERE turn_words MATCH ?)",
                (expression,),
            )

    # --- writing ---

    def _write(self, sessions: Iterable[SessionFacets]) -> None:
        """Write sessions as they come, a transaction a second."""
        began: float | None = None
        try:
            for found in sessions:
                if began is None:
                    self._db.execute("BEGIN IMMEDIATE")
                    began = time.monotonic()
                self._write_session(found)
                if time.monotonic() - began >= _SECONDS:
                    self._db.execute("COMMIT")
                    began = None
            if began is not None:
                self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def _write_session(self, found: SessionFacets) -> None:
        """Replace what was extracted from a session's turns before."""
        row = self._db.execute(
            "SELECT id, facets_pending, said_entity_tags FROM sessions WHERE number = ?", (found.number,)
        ).fetchone()
        if row is None:
            return
        session_id, pending, said = row
        if pending != 1:
            self._clear(doc_range(found.number))
        base = found.number << SEQ_BITS
        for table, rows in found.rows.items():
            self._db.executemany(
                INSERTS[table],
                [(session_id, f"{session_id}:{seq}", base | seq, *values) for seq, *values in rows],
            )
        self._db.executemany(
            "UPDATE turns SET tags = CASE said_tags WHEN '' THEN ?1 ELSE said_tags || ',' || ?1 END WHERE doc = ?2",
            [(tags, base | seq) for seq, tags in found.tags],
        )
        names = dict.fromkeys([*filter(None, said.split(",")), *found.entity_tags])
        self._db.execute(
            "UPDATE sessions SET facets_pending = 0, entity_tags = ? WHERE number = ?",
            (",".join(names), found.number),
        )
        self.statements += found.statements
        self.unparsed += found.unparsed

    def _clear(self, bounds: tuple[int, int]) -> None:
        for table in FACET_TABLES:
            self._db.execute(f"DELETE FROM {table} WHERE doc BETWEEN ? AND ? AND NOT stated", bounds)
        for table in EXTRACTED_TABLES:
            self._db.execute(f"DELETE FROM {table} WHERE doc BETWEEN ? AND ?", bounds)
        self._db.execute(
            "UPDATE turns SET tags = said_tags WHERE doc BETWEEN ? AND ? AND tags <> said_tags", bounds
        )
