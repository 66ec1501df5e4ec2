"""The four phases in a row: orient, gather, consolidate, prune. Deterministic; no model."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from cocorecall.dream.block import parse
from cocorecall.dream.consolidate import consolidate
from cocorecall.dream.entries import block_lines, entry_of, read_block
from cocorecall.dream.gather import gather
from cocorecall.dream.orient import inventory
from cocorecall.dream.prune import (
    append_archive,
    composed,
    count_lines,
    not_archived,
    prune,
    read_memory,
    room_for_block,
    write_whole,
)
from cocorecall.errors import RecallError
from cocorecall.index.facets import FacetReader
from cocorecall.index.recent import RecentReader
from cocorecall.model import DreamLogEntry, DreamReport, Entry, MemoryStore
from cocorecall.model.dream import KINDS
from cocorecall.project import Place, read_settings

PHASES = ("orient", "gather", "consolidate", "prune")
MEMORY_LINES = 200


class DreamSettings(NamedTuple):
    """The settings of `[recall]` that a dream goes by.

    Attributes:
        memory: the memory file.
        memory_lines: most lines that it may have.
        min_evidence_sessions: from how many sessions an entry needs evidence.
    """

    memory: Path
    memory_lines: int = MEMORY_LINES
    min_evidence_sessions: int = 1


def read_dream_settings(place: Place) -> DreamSettings:
    """The project's settings, or the defaults.

    Raises:
        RecallError: a setting is none, or names a file outside of the project.
    """
    table = read_settings(place)
    return DreamSettings(
        _memory_path(place, table.get("memory")),
        _positive(table, "memory_lines", MEMORY_LINES),
        _positive(table, "min_evidence_sessions", 1),
    )


def _memory_path(place: Place, configured: Any) -> Path:
    base = place.root or place.home
    if configured is None:
        path = place.home / "memory" / "MEMORY.md"
    elif isinstance(configured, str) and configured.strip() and "\0" not in configured:
        path = Path(os.path.abspath(base / configured))  # noqa: PTH100 - a link is looked at below
    else:
        raise RecallError(
            "cocoplus.toml: memory in [recall] must be a path.", 'Such as memory = "docs/MEMORY.md".'
        )
    real = Path(os.path.realpath(path))  # `.cocoplus` may itself be a link
    inside = any(real.is_relative_to(os.path.realpath(folder)) for folder in (base, place.home))
    if not inside or path.suffix.lower() not in (".md", ".markdown", ".txt"):
        raise RecallError(
            f"{path} cannot be the memory file.", "It must be a Markdown file inside of the project."
        )
    if path.name.lower() in ("agents.md", "claude.md"):
        raise RecallError(f"{path.name} is never edited.", "Name another file as memory in [recall].")
    return path


def _positive(table: Mapping[str, Any], name: str, default: int) -> int:
    value = table.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise RecallError(
            f"cocoplus.toml: {name} in [recall] must be a whole number from 1 on, not {value!r:.40}."
        )
    return value


def stores(place: Place, now: datetime) -> tuple[MemoryStore, ...]:
    """The inventory alone."""
    settings = read_dream_settings(place)
    return inventory(place, settings.memory, settings.memory_lines, now)


def dream(
    place: Place, connection: apsw.Connection, *, since: str, now: datetime, sessions: int, dry_run: bool
) -> DreamReport:
    """Run the phases over the turns from a moment on.

    Args:
        place: the project.
        connection: its index, open.
        since: the moment, ISO 8601 UTC.
        now: gives the archive its name.
        sessions: how many the index holds, for the report.
        dry_run: write nothing.

    Raises:
        RecallError: a setting is none, the markers of the memory file do not pair, a file cannot be written.
    """
    settings = read_dream_settings(place)
    found = inventory(place, settings.memory, settings.memory_lines, now)
    gathered = gather(RecentReader(connection, since), FacetReader(connection))

    data = read_memory(settings.memory)
    file = parse(data)
    known, foreign = read_block(file.lines())
    entries, merged = consolidate(known, [entry_of(signal) for signal in gathered.signals])
    old = {entry.text for entry in known} | {o.text for entry in known for o in entry.superseded}

    enough = [e for e in entries if e.sessions >= settings.min_evidence_sessions]
    too_few = [e for e in entries if e.sessions < settings.min_evidence_sessions]
    room = room_for_block(file, len(foreign), settings.memory_lines)
    standing, overflow = prune(enough, room)

    folder = place.home / "memory" / "archive"
    leaving = not_archived(folder, [*overflow, *(e for e in too_few if e.text in old)])
    archive = folder / f"{now:%Y-%m-%d}.md" if leaving else None
    written = block_lines(standing)
    new = composed(file, written, foreign) if written or file.body else data
    if not dry_run:
        if archive:
            append_archive(archive, leaving)
        if new != data:
            write_whole(settings.memory, new)
    ordered = _in_order(standing)
    return DreamReport(
        memory=str(settings.memory),
        archive=str(archive) if archive else None,
        dry_run=dry_run,
        window_start=since,
        turns=gathered.turns,
        signals={kind: n for kind in KINDS if (n := Counter(s.kind for s in gathered.signals)[kind])},
        entries=ordered,
        added=sum(e.text not in old for e in ordered),
        merged=merged,
        superseded=sum(len(e.superseded) for e in ordered),
        archived=len(leaving),
        held_back=sum(e.text not in old for e in too_few),
        moved_out=len(foreign),
        lines=count_lines(new),
        ceiling=settings.memory_lines,
        changed=new != data,
        stores=found,
        sessions=sessions,
        problems=_problems(count_lines(new), settings, found),
    )


def _in_order(entries: list[Entry]) -> tuple[Entry, ...]:
    return tuple(entry for kind in KINDS for entry in entries if entry.kind == kind)


def _problems(lines: int, settings: DreamSettings, found: tuple[MemoryStore, ...]) -> tuple[str, ...]:
    problems = []
    if lines > settings.memory_lines:
        problems.append(
            f"{settings.memory.name} has {lines:,} lines, more than {settings.memory_lines:,}: what stands outside of the block is yours to shorten."
        )
    problems += [
        f"{store.name} has {store.lines:,} lines, more than {store.ceiling:,}; it is not edited."
        for store in found
        if store.name == "AGENTS.md" and store.ceiling and store.lines > store.ceiling
    ]
    return tuple(problems)


def log_entry(line: Mapping[str, Any]) -> DreamLogEntry:
    """A line of the consolidation log, whoever wrote it; what is missing or of another type is empty."""

    def text(key: str) -> str:
        value = line.get(key)
        return value if isinstance(value, str) else ""

    phases, counts = line.get("phases"), line.get("counts")
    return DreamLogEntry(
        ts=text("ts"),
        session_id=text("session_id") or None,
        phases=tuple(p for p in phases if isinstance(p, str)) if isinstance(phases, list) else (),
        status=text("status"),
        trigger=text("trigger"),
        counts={k: v for k, v in counts.items() if isinstance(v, int)} if isinstance(counts, dict) else {},
        error=text("error") or None,
    )
