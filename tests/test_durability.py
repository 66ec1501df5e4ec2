"""Real processes, killed and crowded: what was committed stays, and nobody is locked out."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest

from projects import Project

IMPORT = "import sys; from cocorecall import Recall\nwith Recall.open(sys.argv[1]) as r: r.import_sources()"
SEARCH = (
    "import sys; from cocorecall import Recall\n"
    "with Recall.open(sys.argv[1]) as r:\n"
    "    for _ in range(20): r.search('pipeline table tests')"
)


def start(code: str, project: Project) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", code, str(project.root)], stderr=subprocess.PIPE)


def stocked(project: Project, sessions: int) -> Project:
    for n in range(sessions):
        turns = [("user", f"Turn {k} of session {n}: pipeline, table and tests. " * 5) for k in range(40)]
        project.session(f"session-{n:03d}", *turns)
    return project


def indexed_turns(index: Path) -> int:
    connection = apsw.Connection(str(index))
    try:
        assert connection.pragma("integrity_check") == "ok"
        connection.execute("INSERT INTO turn_words (turn_words) VALUES ('integrity-check')")
        turns = connection.execute("SELECT count(*) FROM turns").fetchall()[0][0]
        words = connection.execute("SELECT count(*) FROM turn_words_docsize").fetchall()[0][0]
        assert turns == words
        return int(turns or 0)
    finally:
        connection.close()


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_an_import_killed_at_any_moment_leaves_a_sound_index(project: Project) -> None:
    stocked(project, 60)
    rng = random.Random(20261130)  # noqa: S311 - the moments are to be the same in every run
    before = 0
    for _ in range(12):
        process = start(IMPORT, project)
        time.sleep(rng.uniform(0.05, 0.6))
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert process.stderr is not None
        process.stderr.close()
        if project.index.exists() and project.index.stat().st_size:
            connection = apsw.Connection(str(project.index))
            has_schema = connection.pragma("user_version")
            connection.close()
            if has_schema:
                now = indexed_turns(project.index)
                assert now >= before
                before = now
    with project.open() as recall:
        recall.import_sources()
        assert recall.status().turns == 60 * 40
    assert indexed_turns(project.index) == 60 * 40


def test_two_imports_and_five_searches_at_once(project: Project) -> None:
    stocked(project, 30)
    with project.open() as recall:
        recall.import_sources()
    for n in range(30):
        project.session(f"more-{n:03d}", *[("assistant", f"More pipeline work {k}") for k in range(40)])
    running = [start(IMPORT, project), start(IMPORT, project), *(start(SEARCH, project) for _ in range(5))]
    failed = [(p.wait(), p.stderr.read() if p.stderr else b"") for p in running]
    for process in running:
        assert process.stderr is not None
        process.stderr.close()
    assert failed == [(0, b"")] * len(running)
    assert indexed_turns(project.index) == 30 * 40 + 30 * 40


def test_a_second_import_waits_and_then_names_who_holds_the_lock(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from filelock import FileLock

    from cocorecall import recall as door
    from cocorecall.errors import BusyError

    monkeypatch.setattr(door, "LOCK_SECONDS", 0.2)
    project.session("one", ("user", "Hello there"))
    with FileLock(project.root / ".cocoplus" / "recall.db.lock"):
        holder = project.root / ".cocoplus" / "recall" / "import.holder"
        holder.parent.mkdir()
        holder.write_text("process 4711, since 2026-11-30T12:00:00.000Z", encoding="utf-8")
        with project.open() as recall, pytest.raises(BusyError, match="4711") as caught:
            recall.import_sources()
    assert caught.value.exit_code == 1


@pytest.mark.skipif(not Path("/dev/full").exists() or os.name == "nt", reason="needs a small file system")
def test_a_full_disk_ends_the_import_with_a_sentence_and_keeps_what_was_committed(project: Project) -> None:
    """SQLite is told that the file may not grow, which is what it hears from a full disk."""
    stocked(project, 5)
    with project.open() as recall:
        recall.import_sources()
    stocked(project, 40)
    code = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))\n"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "from cocorecall import Recall\nfrom cocorecall.errors import RecallError\n"
        "try:\n"
        "    with Recall.open(sys.argv[1]) as r: r.import_sources()\n"
        "except RecallError as e: sys.exit(str(e))"
    )
    process = start(code, project)
    _, said = process.communicate()
    assert process.returncode == 1
    assert b"Traceback" not in said
    assert str(project.root).encode() in said
    assert indexed_turns(project.index) >= 5 * 40
    with project.open() as recall:
        recall.import_sources()
        assert recall.status().turns == 40 * 40
