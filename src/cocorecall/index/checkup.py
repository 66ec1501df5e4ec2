"""The doctor: what can be wrong with an index and what belongs to it, each with its remedy."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw

from cocorecall.errors import IndexDamagedError, RecallError
from cocorecall.index import tombstones
from cocorecall.index.docs import transaction
from cocorecall.index.forgetting import Forgetter, set_aside_files
from cocorecall.index.glance import damage_at_a_glance
from cocorecall.index.recovery import (
    count_orphans,
    deep_damage,
    drop_orphans,
    rebuild_words,
)
from cocorecall.index.schema import damage_note, note_damage, open_for_reading, open_for_writing, plain_errors
from cocorecall.index.volumes import network_type
from cocorecall.index.writer import IndexWriter
from cocorecall.model.doctor import DoctorReport, Finding, RecoveryReport, Severity
from cocorecall.project import IGNORED, Place, Source, keep_out_of_git
from cocorecall.sources import formats
from cocorecall.sources.discovery import Unreadable, walk

FIX = "recall doctor --fix"
FREE_SHARE = 0.2
"""Share of the file that may be unused pages before compacting is advised."""
FREE_BYTES = 10_000_000
LOG_BYTES = 64_000_000
STALE = timedelta(days=14)
"""A source none of whose transcripts is newer, while other files in it are, may have moved."""
_MANY_FILES = 20_000

Repair = Callable[[], str]
"""Mends something and says what it did."""


@dataclass(slots=True)
class _Checkup:
    place: Place
    sources: Sequence[Source]
    now: str
    connection: apsw.Connection | None = None
    checks: list[str] = field(default_factory=list)
    findings: list[tuple[Finding, Repair | None]] = field(default_factory=list)
    broken: bool = False

    def find(
        self, check: str, severity: Severity, problem: str, remedy: str, repair: Repair | None = None
    ) -> None:
        self.findings.append((Finding(check, severity, problem, remedy), repair))

    def report(self, findings: Sequence[Finding] | None = None) -> DoctorReport:
        found = findings if findings is not None else [f for f, _ in self.findings]
        return DoctorReport(str(self.place.index_path), tuple(self.checks), tuple(found))


def examine(place: Place, sources: Sequence[Source], now: str) -> DoctorReport:
    """Look at everything and change nothing."""
    checkup = _Checkup(place, sources, now)
    _run(checkup, open_for_reading)
    if checkup.connection is not None:
        checkup.connection.close()
    return checkup.report()


def mend_findings(place: Place, sources: Sequence[Source], now: str) -> DoctorReport:
    """Look at everything and mend what is safe to mend; the caller holds the import lock.

    A damaged file is no matter of this: an import mends it, as the transcripts must fill its gaps.
    """
    checkup = _Checkup(place, sources, now)
    _run(checkup, open_for_writing)
    try:
        done = [_mended(finding, repair) for finding, repair in checkup.findings]
    finally:
        if checkup.connection is not None:
            checkup.connection.close()
    return checkup.report(done)


def after_recovery(before: DoctorReport, recovered: RecoveryReport, after: DoctorReport) -> DoctorReport:
    """The report of a damaged index that an import has mended."""
    turns, sessions = sum(s.lost for s in recovered.lost), len(recovered.lost)
    saved = f"{turns:,} turns of {sessions:,} sessions are lost" if turns else "no turn is lost"
    if recovered.turns_unknown and not turns:
        saved = "what else it held cannot be told"
    done = f"Made a new index of what could be read and of the transcripts; {saved}. Damaged file: {recovered.set_aside}"
    first = tuple(
        replace(f, fixed=done) for f in before.findings if f.check == "database" and f.severity == "error"
    )
    return DoctorReport(after.index_path, after.checks, (*first, *after.findings), recovered)


def _mended(finding: Finding, repair: Repair | None) -> Finding:
    if repair is None:
        return finding
    try:
        return replace(finding, fixed=repair())
    except (apsw.Error, OSError, RecallError) as error:
        return replace(finding, remedy=f"recall import (mending failed: {error})")


def _run(checkup: _Checkup, opener: Callable[[Path], apsw.Connection]) -> None:
    checkup.checks.append("database")
    _check_file(checkup)
    if checkup.place.index_path.exists() and not checkup.broken:
        try:
            checkup.connection = opener(checkup.place.index_path)
            with plain_errors(checkup.place.index_path):
                _check_inside(checkup, checkup.connection)
        except IndexDamagedError as error:
            _found_damage(checkup, error.message.rstrip("."))
    for check in (
        _check_permissions,
        _check_gitignore,
        _check_sources,
        _check_leftovers,
        _check_space,
        _check_hooks,
    ):
        checkup.checks.append(check.__name__.removeprefix("_check_"))
        check(checkup)


# --- the database -------------------------------------------------------------------------------------


def _check_file(checkup: _Checkup) -> None:
    path = checkup.place.index_path
    if not path.exists():
        checkup.find("database", "note", "Nothing is indexed yet.", "recall import")
        return
    kind = network_type(path)
    if kind:
        checkup.find(
            "database", "note",
            f"The index lies on a network file system ({kind}): no write-ahead log is used, and nothing is repaired.",
            "Work on a local disk, or set COCORECALL_HOME to a local folder for the personal index.",
        )  # fmt: skip
    damage = damage_at_a_glance(path)
    if damage:
        _found_damage(checkup, f"The index is damaged ({damage})")


def _found_damage(checkup: _Checkup, problem: str) -> None:
    checkup.broken = True
    note_damage(checkup.place.index_path, problem)
    checkup.find("database", "error", problem + ".", "recall import, or " + FIX)


def _check_inside(checkup: _Checkup, connection: apsw.Connection) -> None:
    file, words = deep_damage(connection)
    if file:
        _found_damage(checkup, f"The index is damaged ({file})")
        return
    checkup.checks.append("words")
    _check_words(checkup, connection, words)
    checkup.checks.append("orphans")
    orphans = count_orphans(connection)
    if orphans:
        named = ", ".join(f"{n:,} in {table}" for table, n in orphans.items())
        checkup.find("orphans", "warning", f"Rows belong to no session or turn: {named}.", FIX,
                     lambda: _drop_orphans(connection))  # fmt: skip
    checkup.checks.append("totals")
    _check_totals(checkup, connection)
    checkup.checks.append("clock")
    _check_clock(checkup, connection)
    checkup.checks.append("forgotten")
    _check_forgotten(checkup, connection)
    checkup.checks.append("pages")
    _check_pages(checkup, connection)


def _one(connection: apsw.Connection, sql: str, *values: str) -> int:
    return int(connection.execute(sql, values).fetchall()[0][0] or 0)


def _check_words(checkup: _Checkup, connection: apsw.Connection, damage: str | None) -> None:
    def repair() -> str:
        rebuild_words(connection)
        damage_note(checkup.place.index_path).unlink(missing_ok=True)
        return "Derived the full text anew from the stored turns."

    if damage:
        note_damage(checkup.place.index_path, damage)  # an import mends it too, the hard way where it must
        checkup.find("words", "error", f"The full-text index is damaged ({damage}).", FIX, repair)
        return
    missing = _one(
        connection, "SELECT count(*) FROM turns WHERE doc NOT IN (SELECT id FROM turn_words_docsize)"
    )
    extra = _one(
        connection, "SELECT count(*) FROM turn_words_docsize WHERE id NOT IN (SELECT doc FROM turns)"
    )
    if missing or extra:
        problem = f"The full-text index misses {missing:,} turns and holds {extra:,} that are gone."
        checkup.find("words", "error", problem, FIX, repair)


def _drop_orphans(connection: apsw.Connection) -> str:
    with transaction(connection):
        dropped = drop_orphans(connection)
    return f"Deleted {dropped:,} rows that no search could reach."


def _check_totals(checkup: _Checkup, connection: apsw.Connection) -> None:
    counted = (
        "SELECT count(*) FROM sessions s WHERE turn_count <>"
        " (SELECT count(*) FROM turns WHERE doc BETWEEN s.number << 24 AND (s.number << 24) | 16777215)"
    )
    wrong = _one(connection, counted)
    if not wrong:
        return

    def repair() -> str:
        with transaction(connection):
            connection.execute(
                "UPDATE sessions SET (turn_count, chars) = (SELECT count(*), coalesce(sum(chars), 0) FROM turns"
                " WHERE doc BETWEEN sessions.number << 24 AND (sessions.number << 24) | 16777215)"
            )
            IndexWriter(connection).refresh_totals()
        return "Counted anew."

    checkup.find("totals", "warning", f"The counts of {wrong:,} sessions are wrong.", FIX, repair)


def _check_clock(checkup: _Checkup, connection: apsw.Connection) -> None:
    soon = datetime.fromisoformat(checkup.now) + timedelta(days=1)
    limit = soon.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    later = _one(connection, "SELECT count(*) FROM turns WHERE timestamp > ?", limit)
    if later:
        checkup.find(
            "clock", "note", f"{later:,} turns have a time in the future; they earn no recency.",
            "Check this machine's clock; if it is right, an agent's was wrong.",
        )  # fmt: skip
    row = connection.execute("SELECT value FROM import_meta WHERE key = 'last_import'").fetchall()
    if row and str(row[0][0]) > limit:
        checkup.find("clock", "warning", f"The last import was in the future ({row[0][0]}).",
                     "Check this machine's clock, then: recall import")  # fmt: skip


def _check_forgotten(checkup: _Checkup, connection: apsw.Connection) -> None:
    in_index, in_file = tombstones.read(connection), tombstones.read_file(checkup.place)
    if set(in_index) == set(in_file):
        return

    def repair() -> str:
        return f"{len(tombstones.merge(connection, checkup.place)):,} tombstones now stand in both."

    checkup.find(
        "forgotten", "warning", "The two records of forgotten sessions differ; one of them was lost or replaced.",
        FIX, repair,
    )  # fmt: skip


def _check_pages(checkup: _Checkup, connection: apsw.Connection) -> None:
    size = int(connection.pragma("page_size"))
    free = int(connection.pragma("freelist_count")) * size
    whole = int(connection.pragma("page_count")) * size

    def repair() -> str:
        emptied = Forgetter(connection).compact()
        return (
            "Compacted."
            if emptied
            else "Compacted; the log is in use and will be emptied by the next import."
        )

    if tombstones.compaction_is_due(connection):
        checkup.find("pages", "warning", "Something was forgotten, but its freed pages may still hold text.",
                     FIX, repair)  # fmt: skip
    elif free > FREE_BYTES and free > whole * FREE_SHARE:
        checkup.find("pages", "note", f"{free / 1e6:,.0f} MB of the file are unused.", FIX, repair)


# --- what lies beside it ------------------------------------------------------------------------------


def _private_files(place: Place) -> list[Path]:
    found = [p for p in place.home.glob("recall.db*") if p.is_file()]
    if place.receipts.is_dir():
        found += [p for p in place.receipts.iterdir() if p.is_file()]
    return sorted(found)


def _check_permissions(checkup: _Checkup) -> None:
    if sys.platform == "win32":
        return
    place = checkup.place
    folders = [place.receipts] if place.root else [place.receipts, place.home]
    wanted = [(p, 0o600) for p in _private_files(place)] + [(p, 0o700) for p in folders if p.is_dir()]
    wide = [(p, mode) for p, mode in wanted if stat.S_IMODE(p.stat().st_mode) & 0o077]
    if not wide:
        return

    def repair() -> str:
        for path, mode in wide:
            path.chmod(mode)
        return f"Closed {len(wide)} of them to others."

    named = ", ".join(str(p) for p, _ in wide[:3]) + (" …" if len(wide) > 3 else "")  # noqa: PLR2004 - three are enough
    checkup.find("permissions", "warning", f"Others on this machine can read {named}.", FIX, repair)


def _check_gitignore(checkup: _Checkup) -> None:
    place = checkup.place
    if place.root is None or not place.index_path.exists():
        return
    try:
        lines = {
            line.strip().removeprefix("/")
            for line in (place.home / ".gitignore").read_text("utf-8").splitlines()
        }
    except (OSError, UnicodeDecodeError):
        lines = set()
    missing = [name for name in IGNORED if name not in lines]
    if not missing or "*" in lines:
        return

    def repair() -> str:
        keep_out_of_git(place)
        return f"Added to {place.home / '.gitignore'}."

    checkup.find(
        "gitignore", "warning", f".cocoplus/.gitignore does not name {', '.join(missing)}.", FIX, repair
    )


def _check_sources(checkup: _Checkup) -> None:
    if not checkup.sources:
        checkup.find("sources", "warning", "No sources are configured.", "recall sources detect")
    for source in checkup.sources:
        if not source.folder.exists():
            checkup.find("sources", "warning", f"Source {source.path} does not exist.",
                         f"recall sources remove {source.path}")  # fmt: skip
        else:
            _check_source(checkup, source)


def _check_source(checkup: _Checkup, source: Source) -> None:
    """Whether an agent still writes there in a form that is known."""
    newest, transcripts = 0.0, 0
    for item in walk(source.folder, formats()):
        if not isinstance(item, Unreadable):
            transcripts += 1
            newest = max(newest, item.mtime)
    other = _newest_file(source.folder)
    if other is None:
        return
    path, changed = other
    now = datetime.fromisoformat(checkup.now).timestamp()
    if not transcripts:
        checkup.find(
            "sources", "warning", f"No transcript was recognised in {source.path}, but other files are there: {path}.",
            "See whether the agent keeps its sessions elsewhere: recall sources detect",
        )  # fmt: skip
    elif now - newest > STALE.total_seconds() and changed - newest > STALE.total_seconds():
        days = int((now - newest) // 86_400)
        checkup.find(
            "sources", "warning",
            f"No transcript in {source.path} is newer than {days} days, while other files change: {path}.",
            "The agent may write elsewhere, or in a new form: recall sources detect",
        )  # fmt: skip


def _newest_file(folder: Path) -> tuple[str, float] | None:
    if not folder.is_dir():
        return None
    newest: tuple[str, float] | None = None
    seen = 0
    for root, _, names in os.walk(folder):
        for name in names:
            seen += 1
            try:
                changed = os.stat(os.path.join(root, name)).st_mtime  # noqa: PTH116, PTH118 - of many files
            except OSError:
                continue
            if newest is None or changed > newest[1]:
                newest = (os.path.join(root, name), changed)  # noqa: PTH118
        if seen > _MANY_FILES:
            break
    return newest


def _check_leftovers(checkup: _Checkup) -> None:
    place = checkup.place
    name = place.index_path.name
    left = [p for s in ("recovering", "restoring", "replacing") for p in place.home.glob(f"{name}.{s}*")]
    left += [*place.home.glob(".*.tmp"), *place.receipts.glob(".*.tmp")]
    left += [p for p in [place.receipts / "import.holder"] if p.exists() and not _is_own(place)]
    if left and not _is_locked(place):

        def repair() -> str:
            for path in left:
                path.unlink(missing_ok=True)
            return "Removed."

        named = ", ".join(p.name for p in left[:3])
        checkup.find("leftovers", "note", f"A command that was cut short left {named}.", FIX, repair)
    aside = set_aside_files(place)
    if aside:
        size = sum(Path(p).stat().st_size for p in aside)
        checkup.find(
            "leftovers", "note", f"Indexes that were set aside take {size / 1e6:,.1f} MB: {', '.join(aside[:3])}.",
            "Delete them when you no longer need them; they hold the text of your sessions.",
        )  # fmt: skip


def _is_locked(place: Place) -> bool:
    """Whether a command holds the import lock; with `--fix`, it is this one that does, and no other."""
    from filelock import FileLock, Timeout  # noqa: PLC0415

    if not place.lock_path.exists():
        return False
    lock = FileLock(place.lock_path, timeout=0, mode=0o600)
    try:
        with lock:
            return False
    except Timeout:
        return not _is_own(place)
    except OSError:
        return True


def _is_own(place: Place) -> bool:
    try:
        return f"process {os.getpid()}," in (place.receipts / "import.holder").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def _check_space(checkup: _Checkup) -> None:
    path = checkup.place.index_path
    if not path.exists():
        return
    size, free = path.stat().st_size, shutil.disk_usage(path.parent).free
    if free < max(2 * size, 100_000_000):
        checkup.find(
            "space", "warning",
            f"{free / 1e6:,.0f} MB are free on the disk of {path.parent}; the index has {size / 1e6:,.0f} MB.",
            "Free some space, or move the index: COCORECALL_HOME for the personal one.",
        )  # fmt: skip
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size > LOG_BYTES:
        checkup.find(
            "space", "note", f"The index's log has {log.stat().st_size / 1e6:,.0f} MB.", "recall import"
        )


def _check_hooks(checkup: _Checkup) -> None:
    log = checkup.place.home / "hook-errors.log"
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        return
    if lines:
        checkup.find("hooks", "warning", f"A hook failed: {lines[-1][:300]}",
                     f"When its reason is gone, delete {log}")  # fmt: skip
