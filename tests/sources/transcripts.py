"""Writing transcripts for one test, in the agents' layouts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cocorecall.model import Event, SessionHead, Skipped, Turn, UnknownRecord
from cocorecall.sources import formats, recognise
from cocorecall.sources.discovery import Unreadable, walk
from cocorecall.sources.transcript import Transcript

Record = dict[str, Any]


def write_lines(path: Path, records: Sequence[Record | str | bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        r if isinstance(r, bytes) else (r if isinstance(r, str) else json.dumps(r)).encode() for r in records
    ]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def found(root: Path) -> list[Transcript]:
    return [item for item in walk(root, formats()) if not isinstance(item, Unreadable)]


def parsed(transcript: Transcript) -> list[Event]:
    with transcript.path.open("rb") as file:
        chosen = recognise(transcript, file.read(1 << 16))
    assert chosen is not None, f"nobody recognises {transcript.path}"
    return list(chosen.parse(transcript))


def events(path: Path) -> list[Event]:
    """The events of the one transcript at a path, or in a folder."""
    (transcript,) = found(path)
    return parsed(transcript)


def turns(path: Path) -> list[Turn]:
    return [e for e in events(path) if isinstance(e, Turn)]


def said(path: Path) -> list[tuple[str, str]]:
    return [(t.role, t.text) for t in turns(path)]


def head(path: Path) -> SessionHead:
    return [e for e in events(path) if isinstance(e, SessionHead)][-1]


def skipped(path: Path) -> list[tuple[str, int | None]]:
    return [(e.reason, e.line) for e in events(path) if isinstance(e, Skipped)]


def unknown(path: Path) -> list[str]:
    return [e.type for e in events(path) if isinstance(e, UnknownRecord)]
