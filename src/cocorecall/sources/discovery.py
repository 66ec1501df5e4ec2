"""Finding transcripts below a source: every folder once, no link that leads outside, nothing opened."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cocorecall.sources.transcript import FileStat, Transcript, TranscriptFormat

SUFFIXES = (".json", ".jsonl")
"""What a transcript's name can end with; content decides, but a picture need not be opened."""

OUTSIDE = "link that leads out of the source"
UNNAMED = "its name is not UTF-8, so it cannot be cited: rename it"
"""Why something is left out."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file or folder that cannot be looked at, and why."""

    path: Path
    reason: str


def walk(root: Path, formats: Sequence[TranscriptFormat]) -> Iterator[Transcript | Unreadable]:
    """The transcripts at or below a path, folder by folder in the order of their names.

    What a link inside the root points to inside the root is read where it really lies, so once and without
    loops; a link that leads out of the root is left out and said to be.
    """
    if not os.path.isdir(root):  # noqa: PTH112 - Path.is_dir raises where a folder above is forbidden
        yield from _lone_file(root, formats)
        return
    top = os.path.realpath(root)
    pending = [str(root)]
    while pending:
        folder = pending.pop()
        try:
            found = _scan(folder, top)
        except OSError as error:
            yield Unreadable(_printable(folder), f"cannot be read: {error.strerror}")
            continue
        pending.extend(reversed(found.folders))
        yield from found.problems
        yield from _group(found.files, formats)


def lying_in(folder: Path, formats: Sequence[TranscriptFormat]) -> dict[str, Transcript]:
    """The transcripts that lie in one folder itself, by location; none where it cannot be looked at."""
    try:
        files = _scan(str(folder), os.path.realpath(folder)).files
    except OSError:
        return {}
    return {t.location: t for t in _group(files, formats)}


def lone(path: Path) -> Transcript:
    """A transcript of one file, without companions.

    Raises:
        OSError: it cannot be looked at.
    """
    stat = path.stat()
    return Transcript((FileStat(str(path), stat.st_size, stat.st_mtime_ns),))


@dataclass(slots=True)
class _Folder:
    """What lies in one folder: folders to go on with, files that may be transcripts, what was left out."""

    folders: list[str] = field(default_factory=list)
    files: dict[str, FileStat] = field(default_factory=dict)
    problems: list[Unreadable] = field(default_factory=list)


def _scan(folder: str, top: str) -> _Folder:
    out = _Folder()
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda e: e.name):
            try:
                _sort_in(entry, out, top)
            except OSError as error:
                out.problems.append(Unreadable(_printable(entry.path), f"cannot be read: {error.strerror}"))
    return out


def _sort_in(entry: os.DirEntry[str], out: _Folder, top: str) -> None:
    wanted = entry.name.endswith(SUFFIXES) and not entry.name.startswith(".")
    if entry.is_symlink():
        _follow(entry, out, top, wanted=wanted)
    elif entry.is_dir(follow_symlinks=False):
        if _is_utf8(entry.name):
            out.folders.append(entry.path)
        else:
            out.problems.append(Unreadable(_printable(entry.path), UNNAMED))
    elif not wanted:
        return
    elif not entry.is_file(follow_symlinks=False):
        out.problems.append(Unreadable(_printable(entry.path), "not a regular file"))
    elif not _is_utf8(entry.name):
        out.problems.append(Unreadable(_printable(entry.path), UNNAMED))
    else:
        stat = entry.stat(follow_symlinks=False)
        out.files[entry.name] = FileStat(entry.path, stat.st_size, stat.st_mtime_ns)


def _follow(entry: os.DirEntry[str], out: _Folder, top: str, *, wanted: bool) -> None:
    """A link: what it points to is read where it lies, if that is inside; a broken one points to nothing."""
    real = os.path.realpath(entry.path)
    is_folder, is_file = os.path.isdir(real), os.path.isfile(real)  # noqa: PTH112, PTH113 - paths are text here
    if not is_folder and not (is_file and wanted):
        return
    if not (real == top or real.startswith(top.rstrip(os.sep) + os.sep)):
        out.problems.append(Unreadable(_printable(entry.path), OUTSIDE))
    elif is_file and not real.endswith(SUFFIXES) and _is_utf8(entry.name):
        stat = entry.stat()  # the target's own name says nothing, so only the link leads to it
        out.files[entry.name] = FileStat(entry.path, stat.st_size, stat.st_mtime_ns)


def _is_utf8(name: str) -> bool:
    """Whether a file's name is text; bytes that are not UTF-8 are lone surrogates in Python."""
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _printable(path: str) -> Path:
    """A path for a report, whatever bytes its name is made of."""
    return Path(path.encode("utf-8", "backslashreplace").decode())


def _lone_file(path: Path, formats: Sequence[TranscriptFormat]) -> Iterator[Transcript | Unreadable]:
    """A source that is one file: with its companions, which lie beside it."""
    try:
        files = _scan(str(path.parent), os.path.realpath(path.parent)).files
        if path.name not in files:
            stat = path.stat()
            files[path.name] = FileStat(str(path), stat.st_size, stat.st_mtime_ns)
    except OSError as error:
        yield Unreadable(_printable(str(path)), f"cannot be read: {error.strerror}")
        return
    for transcript in _group(files, formats):
        if any(file.location == str(path) for file in transcript.files):
            yield transcript


def _group(files: dict[str, FileStat], formats: Sequence[TranscriptFormat]) -> Iterator[Transcript]:
    left = dict(files)
    for format_ in formats:
        yield from format_.group(left)
    for stat in left.values():
        yield Transcript((stat,))
