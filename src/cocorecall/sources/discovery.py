"""Finding transcripts below a source: every folder once, no link that leads outside, nothing opened."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cocorecall.sources.transcript import FileStat, Transcript, TranscriptFormat

SUFFIXES = (".json", ".jsonl")
"""What a transcript's name can end with; content decides, but a picture need not be opened."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file or folder that cannot be looked at, and why."""

    path: Path
    reason: str


def walk(root: Path, formats: Sequence[TranscriptFormat]) -> Iterator[Transcript | Unreadable]:
    """The transcripts at or below a path, folder by folder in the order of their names.

    A linked folder inside the root is read once, under whichever name comes first; a link that leads out of
    the root is left out and said to be. A loop of links ends.
    """
    if root.is_file():
        yield from _lone_file(root, formats)
        return
    top = os.path.realpath(root)
    seen: set[str] = set()
    pending = [str(root)]
    while pending:
        folder = pending.pop()
        real = os.path.realpath(folder)
        if real in seen:
            continue
        seen.add(real)
        if not _inside(real, top):
            yield Unreadable(Path(folder), "link that leads out of the source")
            continue
        try:
            folders, files, unnamed = _entries(folder, top)
        except OSError as error:
            yield Unreadable(Path(folder), f"cannot be read: {error.strerror}")
            continue
        yield from (
            Unreadable(Path(path), "its name is not UTF-8, so it cannot be cited: rename it")
            for path in unnamed
        )
        pending.extend(reversed(folders))
        yield from _group(files, formats)


def _inside(real: str, top: str) -> bool:
    return real == top or real.startswith(top.rstrip(os.sep) + os.sep)


def _entries(folder: str, top: str) -> tuple[list[str], dict[str, FileStat], list[str]]:
    """Folders, possible transcripts by name, and what is named in bytes that are no text."""
    folders: list[str] = []
    files: dict[str, FileStat] = {}
    unnamed: list[str] = []
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda e: e.name):
            is_folder = entry.is_dir()
            if not is_folder and (not entry.name.endswith(SUFFIXES) or entry.name.startswith(".")):
                continue
            if not entry.name.isascii() and _is_bytes(entry.name):
                unnamed.append(entry.path.encode("utf-8", "backslashreplace").decode())
            elif is_folder:
                folders.append(entry.path)
            elif stat := _stat(entry, top):
                files[entry.name] = stat
    return folders, files, unnamed


def _is_bytes(name: str) -> bool:
    """Whether a file's name holds bytes that are not UTF-8 (Python keeps them as lone surrogates)."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return True
    return False


def _stat(entry: os.DirEntry[str], top: str) -> FileStat | None:
    try:
        if entry.is_symlink() and not _inside(os.path.realpath(entry.path), top):
            return None
        found = entry.stat()
    except OSError:  # a broken link, or a file that went away since
        return None
    return FileStat(entry.path, found.st_size, found.st_mtime_ns)


def _lone_file(path: Path, formats: Sequence[TranscriptFormat]) -> Iterator[Transcript | Unreadable]:
    """A source that is one file: with its companions, which lie beside it."""
    try:
        _, files, _ = _entries(str(path.parent), os.path.realpath(path.parent))
        if path.name not in files:
            stat = path.stat()
            files[path.name] = FileStat(str(path), stat.st_size, stat.st_mtime_ns)
    except OSError as error:
        yield Unreadable(path, f"cannot be read: {error.strerror}")
        return
    for transcript in _group(files, formats):
        if path in (transcript.path, *transcript.companions):
            yield transcript


def _group(files: dict[str, FileStat], formats: Sequence[TranscriptFormat]) -> Iterator[Transcript]:
    left = dict(files)
    for format_ in formats:
        yield from format_.group(left)
    for stat in left.values():
        yield Transcript((stat,))
