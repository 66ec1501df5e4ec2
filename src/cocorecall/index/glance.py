"""A look at an index that costs nothing: what its first bytes and its size tell."""

from __future__ import annotations

from pathlib import Path

from cocorecall.index.schema import damage_note

MAGIC = b"SQLite format 3\0"
_HEADER = 100


def may_need_mending(path: Path) -> bool:
    """Whether an import must look closer: damage is seen, was met before, or a recovery was cut short."""
    unfinished = path.with_name(path.name + ".recovered")
    return unfinished.exists() or damage_note(path).exists() or damage_at_a_glance(path) is not None


def damage_at_a_glance(path: Path) -> str | None:
    """What a look at the file's first bytes and its size tells; costs nothing on a large index."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            header = file.read(_HEADER)
    except OSError:
        return None
    if size == 0:
        return None  # made, but not yet written to
    if not header.startswith(MAGIC):
        return "file is not a database"
    page = int.from_bytes(header[16:18], "big")
    page = 65_536 if page == 1 else page
    pages = int.from_bytes(header[28:32], "big")
    in_header = header[24:28] == header[92:96]  # else an old program wrote it, and the count says nothing
    if in_header and size < page * pages and not _has_log(path):
        return f"the file ends after {size:,} of {page * pages:,} bytes"
    return None


def _has_log(path: Path) -> bool:
    logs = (path.with_name(path.name + suffix) for suffix in ("-wal", "-journal"))
    return any(log.exists() and log.stat().st_size for log in logs)
