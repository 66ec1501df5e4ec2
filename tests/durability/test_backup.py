"""Backup and restore."""

from __future__ import annotations

import shutil
import stat
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from cli_run import recall_process
from cocorecall import Recall
from cocorecall.errors import IndexDamagedError, IndexTooNewError, RecallError, UsageError
from cocorecall.index.schema import SCHEMA_VERSION
from damage import is_sound, overwrite_pages
from projects import Project

SEARCH = (
    "import sys, time; from cocorecall import Recall\n"
    "with Recall.open(sys.argv[1]) as recall:\n"
    "    print('ready', flush=True)\n"
    "    until = time.monotonic() + 60\n"
    "    seen = set()\n"
    "    while time.monotonic() < until and not (len(seen) > 1):\n"
    "        seen.add(recall.search('merge key').total_turns)\n"
    "    print(sorted(seen))"
)


@pytest.fixture
def kept(project: Project) -> Project:
    for n in range(6):
        project.session(
            f"session-{n}", *[("user", f"Turn {k} of session {n}: merge key. " * 20) for k in range(20)]
        )
    with project.open() as recall:
        recall.import_sources()
        recall.backup(project.root / "kept.db")
    return project


def count(path: Path) -> int:
    connection = apsw.Connection(str(path))
    try:
        return int(str(connection.execute("SELECT count(*) FROM turns").fetchall()[0][0]))
    finally:
        connection.close()


def test_a_backup_is_one_sound_private_file(kept: Project) -> None:
    backup = kept.root / "kept.db"
    assert is_sound(backup)
    assert count(backup) == 120
    assert [p.name for p in kept.root.iterdir() if "kept" in p.name] == ["kept.db"]
    if sys.platform != "win32":
        assert stat.S_IMODE(backup.stat().st_mode) == 0o600


def test_a_backup_overwrites_only_when_told_to(kept: Project) -> None:
    backup = kept.root / "kept.db"
    before = backup.read_bytes()
    refused = recall_process(kept.root, "backup", "kept.db")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "--force" in refused.stderr
    assert backup.read_bytes() == before
    kept.session("new", ("user", "One more."))
    with kept.open() as recall:
        recall.import_sources()
    assert recall_process(kept.root, "backup", "kept.db", "--force").returncode == 0
    assert count(backup) == 121


@pytest.mark.parametrize("target", [".", ".cocoplus/recall.db", "missing/folder/kept.db"])
def test_a_backup_to_a_place_that_makes_no_sense_is_refused(kept: Project, target: str) -> None:
    before = kept.index.read_bytes()
    refused = recall_process(kept.root, "backup", target, "--force")
    assert refused.returncode in (1, 2)
    assert refused.stderr.count("\n") == 1
    assert kept.index.read_bytes() == before


def test_no_backup_is_made_of_a_damaged_index(kept: Project) -> None:
    overwrite_pages(kept.index, seed=1, pages=10, first=3)
    with kept.open() as recall, pytest.raises(IndexDamagedError):
        recall.backup(kept.root / "bad.db")
    assert not [p for p in kept.root.iterdir() if "bad.db" in p.name]


def test_a_backup_is_consistent_while_an_import_runs(kept: Project) -> None:
    for n in range(150):
        kept.session(f"more-{n}", *[("user", f"More of {n}, turn {k}: merge key. " * 20) for k in range(20)])
    code = "import sys; from cocorecall import Recall\nwith Recall.open(sys.argv[1]) as r: r.import_sources()"
    process = subprocess.Popen([sys.executable, "-c", code, str(kept.root)])
    made: list[Path] = []
    while process.poll() is None:
        path = kept.root / f"during-{len(made)}.db"
        with kept.open() as recall:
            recall.backup(path)
        made.append(path)
    assert process.returncode == 0
    assert made
    for path in made:
        assert is_sound(path)
        assert count(path) % 20 == 0  # whole transcripts


def test_a_restore_brings_the_backup_back_and_keeps_what_was_there(kept: Project) -> None:
    kept.session("new", ("user", "Only in the present index."))
    with kept.open() as recall:
        recall.import_sources()
        report = recall.restore(kept.root / "kept.db")
        assert recall.status().turns == 120
        assert (report.turns, report.sessions, report.forgotten_again) == (120, 6, 0)
    assert report.set_aside is not None
    assert count(Path(report.set_aside)) == 121
    assert is_sound(kept.index)
    with kept.open() as recall:
        recall.import_sources()
        assert recall.status().turns == 121
        assert recall.doctor().healthy


def test_a_restore_without_an_index_and_over_a_damaged_one(kept: Project) -> None:
    kept.index.unlink()
    with kept.open() as recall:
        assert recall.restore(kept.root / "kept.db").set_aside is None
        assert recall.status().turns == 120
    kept.index.write_bytes(b"no database" * 1000)
    with kept.open() as recall:
        report = recall.restore(kept.root / "kept.db")
        assert recall.status().turns == 120
    assert report.set_aside is not None
    assert Path(report.set_aside).read_bytes() == b"no database" * 1000


def test_what_was_forgotten_since_stays_forgotten(kept: Project) -> None:
    """Robustness R2."""
    kept.session("zebra", ("user", "The zebraword."))
    with kept.open() as recall:
        recall.import_sources()
        recall.backup(kept.root / "with-zebra.db")
        recall.forget("zebra")
        report = recall.restore(kept.root / "with-zebra.db")
        assert report.forgotten_again == 1
        recall.import_sources(rebuild=True)
        assert recall.search("zebraword").total_turns == 0
    home = kept.root / ".cocoplus"
    assert not [p for p in home.rglob("*") if p.is_file() and b"zebraword" in p.read_bytes().lower()]
    said = recall_process(kept.root, "restore", "with-zebra.db").stdout
    assert "1 session of the backup was forgotten since and stays so." in said


def test_searches_go_on_while_a_backup_is_restored(kept: Project) -> None:
    kept.session("new", ("user", "Another merge key."))
    with kept.open() as recall:
        recall.import_sources()
    searching = subprocess.Popen(
        [sys.executable, "-c", SEARCH, str(kept.root)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert searching.stdout is not None
    assert searching.stdout.readline() == "ready\n"
    with kept.open() as recall:
        recall.restore(kept.root / "kept.db")
    out, error = searching.communicate(timeout=90)
    assert (searching.returncode, error) == (0, "")
    assert "120" in out


@pytest.mark.parametrize("content", [b"", b"nonsense" * 1000, b"SQLite format 3\0" + bytes(4080)])
def test_a_backup_that_is_none_is_refused(kept: Project, content: bytes) -> None:
    (kept.root / "bad.db").write_bytes(content)
    refused(kept, kept.root / "bad.db", IndexDamagedError)


def test_a_damaged_backup_a_strange_database_and_no_file_are_refused(kept: Project) -> None:
    bad = kept.root / "bad.db"
    shutil.copy(kept.root / "kept.db", bad)
    overwrite_pages(bad, seed=2, pages=4, first=2)
    refused(kept, bad, IndexDamagedError)
    bad.unlink()
    strange = apsw.Connection(str(bad))
    strange.execute("CREATE TABLE things (x)")
    strange.close()
    refused(kept, bad, IndexDamagedError)
    refused(kept, kept.root / "missing.db", UsageError)


def test_a_newer_backup_is_refused(kept: Project) -> None:
    newer = apsw.Connection(str(kept.root / "kept.db"))
    newer.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    newer.close()
    refused(kept, kept.root / "kept.db", IndexTooNewError)


def refused(project: Project, backup: Path, error: type[RecallError]) -> None:
    before = project.index.read_bytes()
    names = {p.name for p in project.index.parent.iterdir()}
    with Recall.open(project.root) as recall, pytest.raises(error):
        recall.restore(backup)
    assert project.index.read_bytes() == before
    assert {p.name for p in project.index.parent.iterdir()} <= names | {
        "recall.db.lock",
        ".gitignore",
        "recall",
    }
