"""Disks that are full or read-only, locked files, and locks of processes that are gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from cli_run import recall_process
from cocorecall.errors import BusyError
from cocorecall.index import schema
from damage import is_sound
from projects import Project

CAN_MOUNT = sys.platform == "linux" and hasattr(os, "geteuid") and os.geteuid() == 0


def mount(*args: str) -> None:
    done = subprocess.run(["/bin/mount", *args], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"cannot mount here: {done.stderr.strip()}")


@pytest.fixture
def small_disk(project: Project) -> Iterator[Project]:
    """A project whose `.cocoplus/` is a disk of 2 MB."""
    if not CAN_MOUNT:
        pytest.skip("mounting a small disk needs Linux and root")
    home = project.root / ".cocoplus"
    mount("-t", "tmpfs", "-o", "size=2m,mode=755", "tmpfs", str(home))
    try:
        yield project
    finally:
        subprocess.run(["/bin/umount", str(home)], check=True)


def stock(project: Project, name: str, sessions: int) -> None:
    for n in range(sessions):
        said = [("user", f"Turn {k} of {name} {n}: pipeline, table and tests. " * 20) for k in range(20)]
        project.session(f"{name}-{n:03d}", *said)


def one_line(process: subprocess.CompletedProcess[str]) -> str:
    assert process.returncode == 1, process.stdout
    assert process.stderr.count("\n") == 1, process.stderr
    return process.stderr


def test_a_full_disk_is_named_and_costs_nothing_committed(small_disk: Project) -> None:
    """Robustness X4."""
    stock(small_disk, "first", 5)
    assert recall_process(small_disk.root, "import").returncode == 0
    stock(small_disk, "second", 200)
    said = one_line(recall_process(small_disk.root, "import"))
    assert "full" in said
    assert str(small_disk.root / ".cocoplus") in said
    assert is_sound(small_disk.index)
    assert "100 turns matched" in recall_process(small_disk.root, "search", "first", "pipeline").stdout
    assert recall_process(small_disk.root, "doctor").returncode == 1  # little space is left
    mount("-o", "remount,size=60m", str(small_disk.root / ".cocoplus"))
    assert recall_process(small_disk.root, "import").returncode == 0
    with small_disk.open() as recall:
        assert recall.status().turns == 205 * 20
    assert is_sound(small_disk.index)


def test_a_full_disk_loses_no_index_to_a_backup_restore_or_recovery(small_disk: Project) -> None:
    stock(small_disk, "first", 8)
    assert recall_process(small_disk.root, "import").returncode == 0
    assert recall_process(small_disk.root, "backup", "kept.db").returncode == 0
    home = small_disk.root / ".cocoplus"
    ballast = home / "ballast"
    left = os.statvfs(home).f_bavail * os.statvfs(home).f_frsize
    ballast.write_bytes(bytes(max(0, left - 8192)))
    for command in (["backup", ".cocoplus/again.db"], ["restore", "kept.db"]):
        assert "full" in one_line(recall_process(small_disk.root, *command))
        assert "160 turns matched" in recall_process(small_disk.root, "search", "pipeline").stdout
    ballast.write_bytes(bytes(max(0, left - 100_000)))  # room for SQLite's shared memory, not for a copy
    assert is_sound(small_disk.index)
    with small_disk.index.open("r+b") as file:
        file.write(os.urandom(4096))
    damaged = small_disk.index.read_bytes()
    assert "full" in one_line(recall_process(small_disk.root, "import"))
    assert small_disk.index.read_bytes() == damaged
    ballast.unlink()
    assert recall_process(small_disk.root, "import").returncode == 0
    with small_disk.open() as recall:
        assert recall.status().turns == 8 * 20
    assert "again.db" not in [p.name for p in home.iterdir()]


def test_a_read_only_disk_can_be_searched(small_disk: Project) -> None:
    stock(small_disk, "first", 3)
    assert recall_process(small_disk.root, "import").returncode == 0
    home = str(small_disk.root / ".cocoplus")
    mount("-o", "remount,ro", home)
    try:
        assert "60 turns matched" in recall_process(small_disk.root, "search", "pipeline").stdout
        assert recall_process(small_disk.root, "doctor").returncode in (0, 1)
        assert recall_process(small_disk.root, "backup", "kept.db").returncode == 0
        for command in (
            ["import"],
            ["forget", "first-000", "--yes"],
            ["restore", "kept.db"],
            ["doctor", "--fix"],
        ):
            assert home in one_line(recall_process(small_disk.root, *command))
    finally:
        mount("-o", "remount,rw", home)


def test_a_file_that_another_program_has_locked(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Robustness C1."""
    monkeypatch.setattr(schema, "BUSY_TIMEOUT_MS", 50)
    stock(project, "first", 2)
    with project.open() as recall:
        recall.import_sources()
        stock(project, "second", 2)
        other = apsw.Connection(str(project.index))
        other.execute("BEGIN EXCLUSIVE")
        for refused in (recall.import_sources, lambda: recall.forget("first-000")):
            with pytest.raises(BusyError, match="in use"):
                refused()
        assert recall.search("pipeline").total_turns == 40
        other.execute("ROLLBACK")
        other.close()
        recall.import_sources()
        assert recall.status().turns == 80


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_lock_of_a_dead_process_stops_nobody(project: Project) -> None:
    """Robustness C2."""
    stock(project, "first", 1)
    code = (
        "import sys, time; from cocorecall import Recall\n"
        "with Recall.open(sys.argv[1]) as recall, recall._import_lock():\n"
        "    print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(project.root)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    holder.stdout.readline()
    assert (project.root / ".cocoplus" / "recall" / "import.holder").exists()
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    with project.open() as recall:
        assert recall.import_sources().sessions_new == 1
    assert not Path(project.root / ".cocoplus" / "recall" / "import.holder").exists()
