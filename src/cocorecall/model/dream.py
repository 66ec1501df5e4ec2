"""What the Dream Cycle finds, keeps and reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

KINDS = ("preference", "governance", "schema correction", "performance")
"""Kinds of signals, in the order of the sections of `MEMORY.md`."""


@dataclass(frozen=True, slots=True)
class Signal:
    """Something worth keeping that one turn says.

    Attributes:
        kind: one of `KINDS`.
        sentence: verbatim, credentials masked; of a schema correction the statement that worked.
        error: of a schema correction, the error that it ended; else empty.
        error_turn_id: the turn that reports that error.
        timestamp: ISO 8601 UTC.
        text_hash: digest of the turn's whole text.
        source_exists: whether its transcript is still there.
    """

    kind: str
    sentence: str
    session_id: str
    turn_id: str
    timestamp: str
    text_hash: str
    source_exists: bool
    role: str
    error: str = ""
    error_turn_id: str = ""


@dataclass(frozen=True, slots=True, order=True)
class DreamCitation:
    """Where an entry's evidence stands: a turn, and the day or moment of it (ISO 8601 UTC)."""

    turn_id: str
    date: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the managed block of `MEMORY.md`.

    Attributes:
        kind: one of `KINDS`.
        text: what it says, on one line, harmless in Markdown.
        citations: the turns that say so, newest first.
        superseded: what it replaces, newest first; themselves without `superseded`.
        subject: the words by which another value of the same thing is recognized.
    """

    kind: str
    text: str
    citations: tuple[DreamCitation, ...]
    superseded: tuple[Entry, ...] = ()
    subject: tuple[str, ...] = ()

    @property
    def sessions(self) -> int:
        """How many sessions say so."""
        return len({c.turn_id.rpartition(":")[0] for c in self.citations})

    @property
    def newest(self) -> str:
        """When it was last said: a day, or a moment."""
        return max((c.date for c in self.citations), default="")


@dataclass(frozen=True, slots=True)
class MemoryStore:
    """A file or folder of what a project remembers, for the inventory.

    Attributes:
        name: `MEMORY.md`, `AGENTS.md`, `CocoWisdom`, `CocoGrove`, `persona NAME`.
        path: where it lies, or would.
        exists: whether it does.
        files: how many files it has.
        bytes: their size.
        lines: their lines.
        ceiling: most lines that it should have; None where none is set.
        age_days: days since its last change; None where it does not exist.
    """

    name: str
    path: str
    exists: bool
    files: int
    bytes: int
    lines: int
    ceiling: int | None
    age_days: float | None


@dataclass(frozen=True, slots=True)
class DreamReport:
    """What one run did, or would do.

    Attributes:
        memory: the memory file.
        archive: the file that overflow went to; None where nothing did.
        window_start: only turns from this moment on were read.
        turns: how many.
        signals: signals found, by kind.
        entries: entries of the block, in its order.
        added: of these, how many are new.
        merged: signals and entries that said again what another one says.
        superseded: entries that a newer one contradicts, kept below it.
        archived: entries moved to the archive by this run.
        held_back: signals from fewer sessions than `min_evidence_sessions`.
        moved_out: lines of others in the block, moved below it.
        lines: lines of the memory file after the run.
        ceiling: most lines that it may have.
        changed: whether the memory file changed, or would.
        stores: the inventory.
        sessions: sessions in the index.
        problems: what a person should know.
    """

    memory: str
    archive: str | None
    dry_run: bool
    window_start: str
    turns: int
    signals: Mapping[str, int]
    entries: tuple[Entry, ...]
    added: int
    merged: int
    superseded: int
    archived: int
    held_back: int
    moved_out: int
    lines: int
    ceiling: int
    changed: bool
    stores: tuple[MemoryStore, ...] = ()
    sessions: int = 0
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DreamLogEntry:
    """A line of the consolidation log.

    Attributes:
        ts: when, ISO time.
        status: `requested`, `completed` or `failed`.
        trigger: what asked for it: `stop-hook`, `command`.
        counts: of a completed run, what it found and wrote.
        error: of a failed one, why.
    """

    ts: str
    session_id: str | None
    phases: tuple[str, ...]
    status: str
    trigger: str
    counts: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None


@dataclass(frozen=True, slots=True)
class DreamStatus:
    """How fresh the memory is.

    Attributes:
        state: `green` (consolidated within 48 hours), `amber` or `never`.
        last: when the last consolidation was asked for or done, ISO time; None before the first.
        last_completed: the last completed run of the log.
        due: whether another one is.
        unreadable: lines of the log that are no JSON.
        stores: the inventory.
    """

    state: str
    last: str | None
    last_completed: DreamLogEntry | None
    due: bool
    unreadable: int
    stores: tuple[MemoryStore, ...]
