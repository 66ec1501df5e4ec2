"""The state of an index and of its sources, with what is wrong and how to mend it."""

from __future__ import annotations

import stat
import sys
from collections.abc import Sequence

from cocorecall.index.importer import signature_of
from cocorecall.index.schema import SCHEMA_VERSION
from cocorecall.index.sessions import IndexState, SessionStore
from cocorecall.model import SkippedInput, StatusReport
from cocorecall.project import Place, Source, read_ignored, read_phases
from cocorecall.sources import formats
from cocorecall.sources.discovery import Unreadable, walk
from cocorecall.sources.ignoring import Ignore


def report_status(place: Place, sources: Sequence[Source], store: SessionStore | None) -> StatusReport:
    """Look at the index, if there is one, and at what lies in the sources."""
    state = store.state() if store else None
    ignore = Ignore(read_ignored(place))
    lying, unreadable = _scan(sources, ignore)
    indexed = state.transcripts if state else {}
    waiting = sum(indexed.get(path, ("", 0))[0] != signature for path, signature in lying.items())
    gone = (
        sum(n for path, n in state.source_paths.items() if path not in lying and _is_gone(path))
        if state
        else 0
    )
    problems = _problems(place, sources, store, state, len(lying))
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
        problems=problems,
    )


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


def _scan(sources: Sequence[Source], ignore: Ignore) -> tuple[dict[str, str], list[SkippedInput]]:
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
    return lying, unreadable


def _is_gone(path: str) -> bool:
    from pathlib import Path  # noqa: PLC0415

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
    if store is not None:
        words = store.words_problem()
        found += [words] if words else []
        found += _open_to_others(place)
    return tuple(found)


def _open_to_others(place: Place) -> list[str]:
    if sys.platform == "win32" or not place.index_path.exists():
        return []
    mode = stat.S_IMODE(place.index_path.stat().st_mode)
    return [f"{place.index_path} can be read by others; `chmod 600` it."] if mode & 0o077 else []
