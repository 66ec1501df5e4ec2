"""The inventory: what a project remembers, how large and how old it is; nothing of it is changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from cocorecall.model import MemoryStore
from cocorecall.project import Place

AGENTS_LINES = 200
"""Lines that AGENTS.md should not exceed; it is measured, never edited."""
_MAX_READ = 4 << 20
"""Bytes of the largest file whose lines are counted."""


def inventory(place: Place, memory: Path, memory_lines: int, now: datetime) -> tuple[MemoryStore, ...]:
    """What there is: the memory file, AGENTS.md, CocoWisdom, CocoGrove, the personas."""
    stores = [_store("MEMORY.md", memory, memory_lines, now)]
    if place.root is not None:
        stores.append(_store("AGENTS.md", place.root / "AGENTS.md", AGENTS_LINES, now))
    stores.append(_store("CocoWisdom", place.home / "wisdom", None, now))
    stores.append(_store("CocoGrove", place.home / "grove", None, now))
    try:
        personas = sorted((place.home / "personas").iterdir())
    except OSError:
        personas = []
    stores += [_store(f"persona {path.stem}", path, None, now) for path in personas]
    return tuple(stores)


def _store(name: str, path: Path, ceiling: int | None, now: datetime) -> MemoryStore:
    files = size = lines = 0
    newest = None
    for file in _files(path):
        try:
            found = file.stat()
            lines += len(file.read_bytes().splitlines()) if found.st_size <= _MAX_READ else 0
        except OSError:
            continue
        files, size = files + 1, size + found.st_size
        newest = max(newest or 0.0, found.st_mtime)
    age = None if newest is None else round(max(0.0, now.timestamp() - newest) / 86_400, 1)
    return MemoryStore(name, str(path), path.exists(), files, size, lines, ceiling, age)


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            file = Path(folder, name)
            if not file.is_symlink() and file.is_file():
                yield file
