"""Carrying out a plan: each file is the old one or the new one, whatever happens between."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cocorecall.errors import RecallError
from cocorecall.install.plan import FileEdit, Plan, read_exactly
from cocorecall.install.record import InstallRecord


@dataclass(frozen=True, slots=True)
class Applied:
    """What was done.

    Attributes:
        edits: the edits of the plan, all carried out.
        backups: backups that were written.
    """

    edits: tuple[FileEdit, ...]
    backups: tuple[Path, ...]


def apply(plan: Plan) -> Applied:
    """Carry out a plan.

    Every file is written beside itself, flushed to disk and put in place in one step. Nothing is written
    where a file has changed since the plan was made.

    Raises:
        RecallError: a file changed meanwhile, or cannot be written.
    """
    for edit in plan.edits:
        if read_exactly(edit.path) != edit.before:
            raise RecallError(
                f"{edit.path} has changed in the meantime.", "Nothing was written; run this again."
            )
    record = InstallRecord.read(plan.record)
    _register(plan, record)
    backups = []
    for edit in plan.edits:
        with _named(edit.path):
            backups += _carry_out(edit, record)
    if plan.action == "uninstall":
        _remove_folders(plan, record)
    with _named(plan.record):
        _keep(record)
    return Applied(plan.edits, tuple(backups))


def _carry_out(edit: FileEdit, record: InstallRecord) -> list[Path]:
    backups = []
    if edit.backup == "write" and edit.before is not None:
        write_whole(edit.backup_path, edit.before, like=edit.path)
        backups.append(edit.backup_path)
    if edit.after is None:
        edit.path.unlink(missing_ok=True)
        record.files.discard(str(edit.path))
    else:
        edit.path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(edit.path, edit.after, like=edit.path)
    if edit.backup == "drop":
        edit.backup_path.unlink(missing_ok=True)
    return backups


def _register(plan: Plan, record: InstallRecord) -> None:
    """Remember what is about to be created; first, so that a crash leaves nothing that nobody knows of."""
    created = [e.path for e in plan.edits if e.before is None and e.after is not None]
    record.files.update(map(str, created))
    record.folders.update(str(f) for path in created for f in path.parents if not f.exists())
    if created:
        with _named(plan.record):
            _keep(record)


def _remove_folders(plan: Plan, record: InstallRecord) -> None:
    """Remove folders of removed files that are empty: the skill's own, and those that we made."""
    for edit in plan.edits:
        if edit.after is not None:
            continue
        for folder in edit.path.parents:
            ours = str(folder) in record.folders or (
                folder == edit.path.parent and edit.path.name == "SKILL.md"
            )
            if not ours or not _remove_if_empty(folder):
                break
            record.folders.discard(str(folder))


def _remove_if_empty(folder: Path) -> bool:
    try:
        folder.rmdir()
    except OSError:
        return False
    return True


def _keep(record: InstallRecord) -> None:
    text = record.as_text()
    if text:
        record.path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(record.path, text, like=record.path)
    else:
        record.path.unlink(missing_ok=True)
        _remove_if_empty(record.path.parent)


def write_whole(path: Path, text: str, *, like: Path) -> None:
    """Write a file so that a reader, or a crash, sees the old or the new one.

    Args:
        path: the file.
        text: its text, written as it is, without a change of line breaks.
        like: a file whose permissions it gets, where that exists.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    beside.unlink(missing_ok=True)
    try:
        with beside.open("xb") as file:
            if like.exists():
                beside.chmod(stat.S_IMODE(like.stat().st_mode))
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    _flush_folder(path.parent)


def _flush_folder(folder: Path) -> None:
    """Make a rename last through a power failure; not every system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RecallError(f"{path} cannot be written: {error.strerror}.") from error
