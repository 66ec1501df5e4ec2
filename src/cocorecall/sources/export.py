"""CocoRecall's own export: JSON lines, a session's head and then one line a turn.

    {"type": "session", "format": "cocorecall.export/1", "masked": false, "id": …, "agent": …, …}
    {"type": "turn", "seq": 0, "role": "user", "text": …, "text_hash": …, …}

An exported session is the agent's own again: same id, same agent, same numbers and hashes of its turns. Where
the index has it from the agent's transcript, the export adds nothing (`SessionHead.exported`); where it was
forgotten, it stays forgotten. A turn whose text is not the one its hash was made of (secrets were masked, the
file was edited) is left out and counted: what is imported is what was stored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cocorecall.model import (
    Event,
    SessionHead,
    Skipped,
    TimeSource,
    ToolCall,
    ToolResult,
    Turn,
    UnknownRecord,
)
from cocorecall.sources.blocks import clean_json, cut, stored_name
from cocorecall.sources.transcript import (
    FileStat,
    Line,
    Transcript,
    clean,
    first_records,
    is_global_id,
    read_lines,
)
from cocorecall.times import format_instant, parse_instant

AGENT = "export"
FORMAT_NAME = "cocorecall.export/1"
"""Names the layout in a file's first line; the number counts changes that an older reader would misread."""

_ANY_VERSION = "cocorecall.export/"


class ExportFormat:
    """See the module's docstring."""

    agent = AGENT

    def default_roots(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        """Nowhere: only what is configured."""
        del home, environ
        return []

    def group(self, files: dict[str, FileStat]) -> list[Transcript]:
        """Every file stands alone."""
        del files
        return []

    def recognises(self, transcript: Transcript, head: bytes) -> bool:
        """A head that names the format."""
        del transcript
        return any(_is_head(record) for record in first_records(head))

    def parse(self, transcript: Transcript) -> Iterator[Event]:
        """Yield every session of the file."""
        return _timed(_parse(transcript), transcript.mtime)

    def turns_at(self, transcript: Transcript, line: int) -> Iterator[Turn]:
        """Yield the turn of one line."""
        for item in read_lines(transcript.path, line):
            turn = None if isinstance(item, Skipped) else _turn(item, None)
            if isinstance(turn, Turn):
                yield turn
            break


FORMAT = ExportFormat()


def _is_head(record: dict[str, Any]) -> bool:
    name = record.get("format")
    return record.get("type") == "session" and isinstance(name, str) and name.startswith(_ANY_VERSION)


def _parse(transcript: Transcript) -> Iterator[Event]:
    in_session = False
    folders: list[str] = []
    for line in read_lines(transcript.path):
        if isinstance(line, Skipped):
            yield line
            continue
        kind = line.record.get("type")
        if kind == "session":
            head = _head(line)
            in_session = isinstance(head, SessionHead)
            folders = _texts(line.record.get("folders"))
            yield head
        elif kind == "turn" and in_session:
            turn = _turn(line, folders[0] if folders else None)
            if isinstance(turn, Turn):
                folders = folders[1:]
            yield turn
        elif kind == "turn":
            yield Skipped("turn without a session before it", line.number)
        else:
            yield UnknownRecord(clean(str(kind)))


def _timed(events: Iterable[Event], mtime: float) -> Iterator[Event]:
    """Times as the export gives them; a turn without one (an export written by hand) takes the last before it."""
    last: tuple[str, TimeSource] | None = None
    for event in events:
        if isinstance(event, SessionHead):
            last = (event.start_time, "session") if event.start_time else None
        elif isinstance(event, Turn):
            if event.timestamp is None:
                time, source = last or (format_instant(datetime.fromtimestamp(mtime, UTC)), "file")
                yield replace(event, timestamp=time, time_source=source)
                continue
            last = (event.timestamp, "before")
        yield event


def _head(line: Line) -> SessionHead | Skipped:
    record = line.record
    name, session_id, agent = (stored_name(record.get(key)) for key in ("format", "id", "agent"))
    if name != FORMAT_NAME:
        return Skipped(
            f"{name or 'nameless format'} is not {FORMAT_NAME}: upgrade CocoRecall to read it", line.number
        )
    if session_id is None or agent is None:
        return Skipped("session without an id or an agent", line.number)
    facts = {
        key: stored_name(record.get(key))
        for key in ("title", "cwd", "git_branch", "parent_id", "session_type", "phase_context", "summary")
    }
    return SessionHead(
        session_id, agent, **facts, start_time=_instant(record.get("start_time")),
        end_time=_instant(record.get("end_time")), entity_tags=tuple(_texts(record.get("entity_tags"))),
        exported=True,
    )  # fmt: skip


def _turn(line: Line, folder: str | None) -> Turn | Skipped:
    record = line.record
    role, text = stored_name(record.get("role")), record.get("text")
    if role is None or not isinstance(text, str):
        return Skipped("turn without a role or a text", line.number)
    if record.get("masked"):
        return Skipped("its secrets are masked: export it with --reveal to import it", line.number)
    text, length = cut(clean(text))
    expected = record.get("text_hash")
    if expected is not None and hashlib.sha256(text.encode()).hexdigest() != expected:
        return Skipped("its text is not the one its hash was made of", line.number)
    native, timestamp = stored_name(record.get("id")), _instant(record.get("timestamp"))
    true_length = _number(record.get("text_length"))
    return Turn(
        role, text, seq=_number(record.get("seq")), native_id=native,
        record_ids=(native,) if native and is_global_id(native) and "#" not in native else (),
        timestamp=timestamp, time_source=_time_source(record) if timestamp else "none",
        zoned=record.get("zoned") is not False, thinking=_text(record.get("thinking")) or "",
        calls=tuple(_calls(record.get("calls"))), results=tuple(_results(record.get("results"))),
        tags=tuple(_texts(record.get("tags"))), line=line.number, cwd=folder,
        kind="summary" if record.get("kind") == "summary" else "message", echo=record.get("echo") is True,
        text_length=true_length if true_length and true_length > len(text) else length,
    )  # fmt: skip


def _time_source(record: dict[str, Any]) -> TimeSource:
    known: tuple[TimeSource, ...] = ("own", "before", "after", "session", "file")
    return next((source for source in known if source == record.get("time_source")), "own")


def _calls(value: Any) -> Iterator[ToolCall]:
    for entry in value if isinstance(value, list) else []:
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            yield ToolCall(
                clean(entry["name"]), clean_json(entry.get("payload")), stored_name(entry.get("call_id")),
                stored_name(entry.get("status")), _number(entry.get("duration_ms")),
            )  # fmt: skip


def _results(value: Any) -> Iterator[ToolResult]:
    for entry in value if isinstance(value, list) else []:
        if isinstance(entry, dict):
            yield ToolResult(
                stored_name(entry.get("call_id")),
                stored_name(entry.get("status")),
                _number(entry.get("duration_ms")),
            )


def _instant(value: Any) -> str | None:
    found = parse_instant(value) if isinstance(value, str) else None
    return found[0] if found else None


def _number(value: Any) -> int | None:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 0 <= value < 1 << 53 else None


def _text(value: Any) -> str | None:
    return clean(value) if isinstance(value, str) else None


def _texts(value: Any) -> list[str]:
    return [clean(v) for v in value if isinstance(v, str) and v] if isinstance(value, list) else []
