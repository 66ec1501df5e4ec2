"""The files of an export: private to their owner, named for every file system, never written over unasked."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path

from cocorecall.errors import RecallError, UsageError

_OTHER = re.compile(r"[^A-Za-z0-9._~-]")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
"""What Windows takes for a device, whatever stands behind the point."""
_LONGEST = 100


def file_names(session_ids: Iterable[str], suffix: str) -> dict[str, str]:
    """A file's name for each session; the id itself where every file system can carry it.

    Where it cannot, or where two names differ in case alone, a digest of the id stands behind what is left.
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for session_id in session_ids:
        stem = _OTHER.sub("_", session_id)[:_LONGEST].rstrip(".")
        altered = stem != session_id or stem.startswith((".", "-")) or _RESERVED.fullmatch(stem)
        if altered or stem.casefold() in taken:
            digest = hashlib.sha256(session_id.encode("utf-8", "replace")).hexdigest()[:12]
            stem = f"s_{stem.lstrip('.-')}-{digest}"
        taken.add(stem.casefold())
        names[session_id] = stem + suffix
    return names


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, for its owner alone; one that is there stays as it is.

    Raises:
        RecallError: it cannot be made.
    """
    missing = [f for f in (folder, *folder.parents) if not f.exists()]
    try:
        for each in reversed(missing):
            each.mkdir(mode=0o700)
            each.chmod(0o700)  # the umask may have taken from it
    except OSError as error:
        raise RecallError(f"Cannot make the folder {folder}: {error.strerror or error}.") from error
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder.", "Name another one with --output.")


def refuse_to_overwrite(paths: Iterable[Path]) -> None:
    """Check, before anything is written, that no file is in the way.

    Raises:
        UsageError: one is.
    """
    there = [path for path in paths if os.path.lexists(path)]
    if there:
        more = f" and {len(there) - 1:,} more" if len(there) > 1 else ""
        raise UsageError(
            f"{there[0]}{more} exist{'s' if len(there) == 1 else ''} already.", "--force writes over."
        )


def write(path: Path, parts: Iterable[str], *, force: bool) -> int:
    """Write a file of mode 0600, as a whole or not at all; the bytes written.

    Raises:
        RecallError: the disk is full, or the folder cannot be written to.
        UsageError: the file is there and may not be written over.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    size = 0
    try:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor has no path
            for part in parts:
                size += file.write(part.encode())
        beside.chmod(0o600)
        if not force:
            refuse_to_overwrite([path])
        beside.replace(path)
    except OSError as error:
        raise RecallError(
            f"Cannot write {path}: {error.strerror or error}.", "What was written before it stays."
        ) from error
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
    return size
