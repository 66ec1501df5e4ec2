"""The state of an index and of its sources, with what is wrong and how to mend it."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from cocorecall.evidence import evidence_files
from cocorecall.index.importer import signature_of
from cocorecall.index.schema import SCHEMA_VERSION
from cocorecall.index.sessions import IndexState, SessionStore
from cocorecall.lifecycle import freshness
from cocorecall.model import RetentionReport, SkippedInput, StatusReport
from cocorecall.project import Place, Source, read_ignored, read_phases
from cocorecall.sources import formats
from cocorecall.sources.discovery import Unreadable, walk
from cocorecall.sources.ignoring import Ignore
from cocorecall.sources.retention import Retention, retentions


def report_status(
    place: Place, sources: Sequence[Source], store: SessionStore | None, now: datetime
) -> StatusReport:
    """Look at the index, if there is one, and at what lies in the sources."""
    state = store.state() if store else None
    ignore = Ignore(read_ignored(place))
    lying, unreadable = _scan(sources, place.root, ignore)
    indexed = state.transcripts if state else {}
    waiting = sum(indexed.get(path, ("", 0))[0] != signature for path, signature in lying.items())
    gone = (
        sum(n for path, n in state.source_paths.items() if path not in lying and _is_gone(path))
        if state
        else 0
    )
    problems = _problems(place, sources, store, state, len(lying))
    counted = json.loads((store and store.meta("secrets")) or "null")
    problems += _indexed_though_ignored(state, ignore)
    return StatusReport(
        project=str(place.root) if place.root else None,
        index_path=str(place.index_path),
        index_bytes=_size(place, ""),
        wal_bytes=_size(place, "-wal"),
        free_bytes=store.free_bytes() if store else 0,
        schema_version=SCHEMA_VERSION if store else 0,
        sessions=state.sessions if state else 0,
        turns=state.turns if state else 0,
        agents=state.agents if state else {},
        last_import=store.meta("last_import") if store else None,
        newest_turn=state.newest_turn if state else None,
        transcripts=len(lying),
        not_indexed=waiting,
        sessions_gone=gone,
        turns_not_in_source=state.turns_not_in_source if state else 0,
        unreadable=(*(state.unreadable if state else ()), *unreadable),
        unknown_records=state.unknown_records if state else {},
        citations=state.citations if state else 0,
        phase=read_phases(place).current,
        dream=freshness(place.home, int(now.timestamp() * 1000)),
        problems=problems,
        retention=_retention(store, now) if store else (),
        secrets=counted["kinds"] if counted else None,
        secrets_counted=counted["ts"] if counted else None,
    )


DUE_DAYS = 7
"""How long before an agent deletes a transcript its session is named."""
_NAMED = 3


def _retention(store: SessionStore, now: datetime) -> tuple[RetentionReport, ...]:
    """What agents have deleted of their transcripts, and will delete soon."""
    limits = {limit.agent: limit for limit in retentions()}
    gone: dict[str, list[str]] = {}
    due: dict[str, list[tuple[float, str]]] = {}
    states: dict[str, float | None] = {}
    for session_id, agent, path in store.transcripts_of():
        if path not in states:
            states[path] = _last_change(path)
        changed, limit = states[path], limits.get(agent)
        if changed is None:
            gone.setdefault(agent, []).append(session_id)
        elif limit and any(path.startswith(f"{root}{os.sep}") for root in limit.roots):
            left = limit.days - (now.timestamp() - changed) / 86_400
            if left <= DUE_DAYS:
                due.setdefault(agent, []).append((left, session_id))
    known = {agent: limit for agent, limit in limits.items() if store.transcripts_of(agent)}
    return tuple(
        _agent_retention(agent, known.get(agent), sorted(due.get(agent, [])), gone.get(agent, []))
        for agent in sorted({*known, *gone})
    )


def _agent_retention(
    agent: str, limit: Retention | None, due: list[tuple[float, str]], gone: list[str]
) -> RetentionReport:
    return RetentionReport(
        agent=agent,
        days=limit.days if limit else None,
        setting=limit.setting if limit else None,
        due=len(due),
        due_sessions=tuple(session_id for _, session_id in due[:_NAMED]),
        gone=len(gone),
        gone_sessions=tuple(gone[:_NAMED]),
    )


def _last_change(path: str) -> float | None:
    """When a file was last written, in seconds since the epoch; None where it is not there."""
    try:
        return os.stat(path).st_mtime  # noqa: PTH116 - thousands of paths, as text
    except (OSError, ValueError):
        return None


def _indexed_though_ignored(state: IndexState | None, ignore: Ignore) -> tuple[str, ...]:
    if state is None or not ignore:
        return ()
    n = sum(count for path, count in state.source_paths.items() if ignore.path(path))
    if not n:
        return ()
    some = (
        "1 session that an `ignore` pattern names is"
        if n == 1
        else f"{n:,} sessions that `ignore` patterns name are"
    )
    return (f"{some} still indexed; `recall forget --path PATTERN` removes them.",)


def _scan(
    sources: Sequence[Source], root: Path | None, ignore: Ignore
) -> tuple[dict[str, str], list[SkippedInput]]:
    """Transcripts that lie in the sources, with their signatures, and what could not be looked at."""
    known = formats()
    lying: dict[str, str] = {}
    unreadable: list[SkippedInput] = []
    for source in sources:
        if not source.folder.exists():
            continue
        for item in walk(source.folder, known):
            if isinstance(item, Unreadable):
                unreadable.append(SkippedInput(str(item.path), item.reason))
            elif not ignore.path(item.location):
                lying.setdefault(item.location, signature_of(item))
    for item in evidence_files(root) if root else ():
        if isinstance(item, Unreadable):
            unreadable.append(SkippedInput(str(item.path), item.reason))
        else:
            lying.setdefault(item.location, signature_of(item))
    return lying, unreadable


def _is_gone(path: str) -> bool:
    return not Path(path).exists()


def _size(place: Place, suffix: str) -> int:
    path = place.index_path.with_name(place.index_path.name + suffix)
    return path.stat().st_size if path.exists() else 0


def _problems(
    place: Place, sources: Sequence[Source], store: SessionStore | None, state: IndexState | None, lying: int
) -> tuple[str, ...]:
    found: list[str] = []
    found += [f"Source {s.path} does not exist; `recall sources remove {s.path}` takes it out."
              for s in sources if not s.folder.exists()]  # fmt: skip
    if not sources:
        found.append(
            "No sources are configured; `recall sources detect` shows agents' folders on this machine."
        )
    if state is not None and lying and not state.sessions:
        found.append(
            "Transcripts lie in the sources but no session was recognised in them; see the files named above."
        )
    found += _hook_failure(place)
    if store is not None:
        words = store.words_problem()
        found += [words] if words else []
        due = store.facets_pending()
        found += [f"{due:,} sessions are not read for facets yet; `recall import` reads them."] if due else []
        found += _open_to_others(place)
    return tuple(found)


def _hook_failure(place: Place) -> list[str]:
    """The newest line that one of our hooks left in the log of hooks' errors."""
    path = place.home / "hook-errors.log"
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    ours = [line for line in lines if " recall hook " in line[:60]]
    return [f"A hook failed: {ours[-1]} (delete {path} when it is dealt with)."] if ours else []


def _open_to_others(place: Place) -> list[str]:
    if sys.platform == "win32" or not place.index_path.exists():
        return []
    mode = stat.S_IMODE(place.index_path.stat().st_mode)
    return [f"{place.index_path} can be read by others; `chmod 600` it."] if mode & 0o077 else []
