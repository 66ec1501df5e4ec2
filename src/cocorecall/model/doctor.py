"""What is said of the index's health, and of what keeps it: doctor, recovery, backup, restore."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
"""`error`: answers are wrong or missing; `warning`: they will be, or others can read along; `note`: good to know."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the doctor looked at and did not like.

    Attributes:
        check: the check's name, stable: `database`, `words`, `orphans`, `permissions`, …
        problem: what is wrong, one sentence.
        remedy: what to do about it: a command where one helps.
        fixed: what `--fix` did about it; None where it did nothing.
    """

    check: str
    severity: Severity
    problem: str
    remedy: str
    fixed: str | None = None


@dataclass(frozen=True, slots=True)
class PartlyLost:
    """A session of whose turns some could not be saved.

    Attributes:
        turns: turns that it held.
        lost: how many of them are in neither the damaged file nor a transcript.
    """

    session_id: str
    turns: int
    lost: int


@dataclass(frozen=True, slots=True)
class RecoveryReport:
    """What was saved of a damaged index.

    Attributes:
        what: `file` where a new file was made; `words` where only the full text was derived anew.
        set_aside: the damaged file, kept under another name; None where it was mended in place.
        carried: rows that were carried over, by table.
        unreadable: rows that could not be read, by table, where that is known; -1: some, nobody knows how many.
        lost: sessions that miss turns after their transcripts were read again.
    """

    what: Literal["file", "words"]
    set_aside: str | None = None
    carried: tuple[tuple[str, int], ...] = ()
    unreadable: tuple[tuple[str, int], ...] = ()
    lost: tuple[PartlyLost, ...] = ()

    @property
    def turns_unknown(self) -> bool:
        """Whether there may have been turns that nobody can count: rows of sessions or turns are gone."""
        return any(table in ("sessions", "turns") for table, _ in self.unreadable)


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """The doctor's findings.

    Attributes:
        index_path: the database file that was looked at.
        checks: names of the checks that ran, in their order.
        findings: what they found; nothing where all is well.
        recovered: what was saved of a damaged index, where `--fix` mended one.
    """

    index_path: str
    checks: tuple[str, ...]
    findings: tuple[Finding, ...]
    recovered: RecoveryReport | None = None

    @property
    def healthy(self) -> bool:
        """Whether nothing is left that needs mending; notes do not count."""
        return all(f.fixed or f.severity == "note" for f in self.findings)


@dataclass(frozen=True, slots=True)
class BackupReport:
    """What `backup` wrote.

    Attributes:
        path: the file.
        bytes: its size.
        sessions: sessions that it holds.
        turns: turns that it holds.
    """

    path: str
    bytes: int
    sessions: int
    turns: int


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """What `restore` put in place.

    Attributes:
        path: the backup.
        sessions: sessions that the index now holds.
        turns: turns that it now holds.
        set_aside: the index that was there before, kept under another name; None where there was none.
        forgotten_again: sessions of the backup that had been forgotten since, and stay so.
    """

    path: str
    sessions: int
    turns: int
    set_aside: str | None
    forgotten_again: int
