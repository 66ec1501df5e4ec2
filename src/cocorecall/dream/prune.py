"""The memory file and its archive: what stands in the block, what gives way, and how both are written.

What gives way is on disk in the archive before the memory file is replaced, so a process that ends between two writes
loses nothing: the next run finds the line in both and writes it to neither twice.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from cocorecall.dream.block import MemoryFile
from cocorecall.dream.entries import TITLES, block_lines, lines_of
from cocorecall.errors import RecallError
from cocorecall.model import Entry

_DAYS_A_SESSION = 30
"""Another session that says the same counts as much as so many days."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


class Pruned(NamedTuple):
    """The entries that stand, in the order of the file, and those that give way."""

    standing: list[Entry]
    overflow: list[Entry]


def prune(entries: Iterable[Entry], room: int) -> Pruned:
    """Keep the newest and best-evidenced entries whose block has at most `room` lines."""
    best = sorted(entries, key=lambda e: (-worth(e), list(TITLES).index(e.kind), e.text))
    low, high = 0, len(best)
    while low < high:
        middle = (low + high + 1) // 2
        if len(block_lines(best[:middle])) <= room:
            low = middle
        else:
            high = middle - 1
    return Pruned(best[:low], best[low:])


def worth(entry: Entry) -> int:
    """By which entries are ordered: the day of the newest evidence, later by a month for each further session."""
    day = _DAY.match(entry.newest)
    try:
        newest = date.fromisoformat(day[0]).toordinal() if day else 0
    except ValueError:
        newest = 0
    return newest + _DAYS_A_SESSION * (entry.sessions - 1)


# --- the memory file -----------------------------------------------------------------------------------


def read_memory(path: Path) -> bytes:
    """The memory file's bytes; none where there is no file.

    Raises:
        RecallError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise RecallError(f"Cannot read {path}: {error.strerror or error}.") from error


def count_lines(data: bytes) -> int:
    """Lines of a file, a last one without its end included."""
    return len(data.splitlines())


def room_for_block(file: MemoryFile, moved: int, ceiling: int) -> int:
    """Lines that a block may have, those of others and the two markers counted."""
    return ceiling - count_lines(file.before) - count_lines(file.after) - moved


def composed(file: MemoryFile, lines: Sequence[str], foreign: Sequence[str]) -> bytes:
    """The whole file with a new block, and what others wrote into the old one below it."""
    if foreign:
        marker, *rest = file.after.splitlines(keepends=True)
        end = b"" if marker.endswith((b"\n", b"\r")) else file.line_end
        moved = b"".join(line.encode("utf-8", "surrogateescape") + file.line_end for line in foreign)
        file = MemoryFile(file.before, file.body, marker + end + moved + b"".join(rest), file.line_end)
    return file.with_lines(lines)


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file so that a reader, or a crash, sees the old or the new one; its mode stays.

    Raises:
        RecallError: it cannot be written.
    """
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(mode)
        os.replace(beside, target)  # noqa: PTH105 - the last step, by its own name
        _sync_folder(target.parent)
    except OSError as error:
        raise RecallError(f"Cannot write {path}: {error.strerror or error}.") from error
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    with contextlib.suppress(OSError):  # some file systems sync no folders
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# --- the archive ---------------------------------------------------------------------------------------


def not_archived(folder: Path, entries: Iterable[Entry]) -> list[Entry]:
    """The entries that no file of the archive holds yet, as they are now."""
    entries = list(entries)
    if not entries:
        return []
    present = set()
    for path in sorted(folder.glob("*.md")):
        try:
            present |= set(path.read_text(encoding="utf-8", errors="replace").splitlines())
        except OSError as error:
            raise RecallError(f"Cannot read {path}: {error.strerror or error}.") from error
    return [entry for entry in entries if not present.issuperset(lines_of(entry))]


def append_archive(path: Path, entries: Sequence[Entry]) -> None:
    """Append entries to a file of the archive, and see them to the disk.

    Raises:
        RecallError: it cannot be written.
    """
    lines: list[str] = []
    for kind, title in TITLES.items():
        own = [entry for entry in entries if entry.kind == kind]
        if own:
            lines += ["", f"### {title}", "", *(line for entry in own for line in lines_of(entry))]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = not path.exists()
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "ab+") as file:
            text = "\n".join([*(["# Moved out of the memory file"] if new else []), *lines]) + "\n"
            if not new and file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                text = text if file.read(1) == b"\n" else "\n" + text
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        _sync_folder(path.parent)
    except OSError as error:
        raise RecallError(f"Cannot write {path}: {error.strerror or error}.") from error
