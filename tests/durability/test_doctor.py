"""The doctor: what is wrong is found, each with what helps; what can be mended is."""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from cli_run import recall_process
from cocorecall.index.schema import open_for_writing
from cocorecall.model import DoctorReport, Finding
from damage import is_sound
from projects import Project


@pytest.fixture
def well(project: Project) -> Project:
    for n in range(3):
        project.session(
            f"session-{n}", *[("user", f"Turn {k} of session {n}: merge key.") for k in range(5)], days_ago=1
        )
    with project.open() as recall:
        recall.import_sources()
        recall.search("merge key")
    return project


def finding(report: DoctorReport, check: str) -> Finding:
    (found,) = [f for f in report.findings if f.check == check]
    return found


def execute(project: Project, *statements: str) -> None:
    connection = open_for_writing(project.index)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def examined(project: Project, check: str) -> tuple[Finding, Finding]:
    """A finding, and the same after it was mended; nothing is left afterwards."""
    with project.open() as recall:
        before = recall.doctor()
        assert not before.healthy
        mended = recall.doctor(fix=True)
        after = recall.doctor()
    assert mended.healthy
    assert after.healthy
    assert [f for f in after.findings if f.severity != "note"] == []
    return finding(before, check), finding(mended, check)


def test_a_healthy_index_has_no_findings(well: Project) -> None:
    process = recall_process(well.root, "doctor", "--json")
    document = json.loads(process.stdout)
    assert process.returncode == 0
    assert (document["schema"], document["healthy"]) == ("cocorecall.doctor/1", True)
    assert [f for f in document["findings"] if f["check"] != "installed"] == []
    assert {"database", "words", "orphans", "permissions", "gitignore", "sources", "clock", "space"} <= set(
        document["checks"]
    )


def test_before_the_first_import_there_is_nothing_to_mend(project: Project) -> None:
    process = recall_process(project.root, "doctor", "--fix")
    assert process.returncode == 0
    assert "recall import" in process.stdout
    assert not project.index.exists()


def test_rows_that_belong_to_nothing(well: Project) -> None:
    execute(
        well,
        "INSERT INTO entities (name, type, session_id) VALUES ('x', 'function', 'nobody')",
        "INSERT INTO citations VALUES ('q', 'nobody', 'nobody:1', 1, '2026-01-01T00:00:00.000Z')",
        "INSERT INTO tool_calls (session_id, name, doc) VALUES ('session-0', 'bash', 5)",
    )
    before, mended = examined(well, "orphans")
    assert "1 in citations, 1 in entities, 1 in tool_calls" in before.problem
    assert mended.fixed is not None
    assert "3 rows" in mended.fixed


def test_full_text_that_misses_turns_or_holds_too_many(well: Project) -> None:
    execute(
        well,
        "DELETE FROM turn_words WHERE rowid = (SELECT min(doc) FROM turns)",
        "INSERT INTO turn_words (rowid, text) VALUES (99, 'stray')",
    )
    before, _ = examined(well, "words")
    assert "misses 1 turns and holds 1" in before.problem
    assert before.severity == "error"
    assert is_sound(well.index)


def test_wrong_counts(well: Project) -> None:
    execute(well, "UPDATE sessions SET turn_count = 2 WHERE id = 'session-1'")
    examined(well, "totals")
    with well.open() as recall:
        assert recall.show("session-1").session.turns == 5


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file modes")
def test_files_that_others_can_read(well: Project) -> None:
    """Robustness S3."""
    well.index.chmod(0o644)
    receipts = well.root / ".cocoplus" / "recall"
    receipts.chmod(0o755)
    before, _ = examined(well, "permissions")
    assert str(well.index) in before.problem
    assert stat.S_IMODE(well.index.stat().st_mode) == 0o600
    assert stat.S_IMODE(receipts.stat().st_mode) == 0o700


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file modes")
def test_every_file_of_ours_is_private_whatever_the_umask(project: Project) -> None:
    """Robustness S3."""
    project.session("one", ("user", "Hello there."))
    project.session("two", ("user", "Hello again."))
    previous = os.umask(0)
    try:
        with project.open() as recall:
            recall.import_sources()
            recall.backup(project.root / "kept.db")
            recall.forget("two")
            recall.restore(project.root / "kept.db")
    finally:
        os.umask(previous)
    home = project.root / ".cocoplus"
    ours = [project.root / "kept.db", *home.glob("recall.db*"), *(home / "recall").iterdir()]
    assert len(ours) > 5
    assert {p.name: oct(stat.S_IMODE(p.stat().st_mode)) for p in ours if p.stat().st_mode & 0o077} == {}
    assert stat.S_IMODE((home / "recall").stat().st_mode) == 0o700


def test_lines_missing_in_gitignore(well: Project) -> None:
    (well.root / ".cocoplus" / ".gitignore").write_text("mine\nrecall.db\n", encoding="utf-8")
    before, _ = examined(well, "gitignore")
    assert "recall.db.*" in before.problem
    assert (well.root / ".cocoplus" / ".gitignore").read_text(encoding="utf-8").startswith("mine\n")


def test_a_source_that_is_gone_is_not_mended_by_itself(well: Project) -> None:
    for path in well.transcripts.iterdir():
        path.unlink()
    well.transcripts.rmdir()
    process = recall_process(well.root, "doctor", "--fix")
    assert process.returncode == 1
    assert "recall sources remove" in " ".join(process.stdout.split())


def test_an_agent_that_writes_in_a_form_nobody_knows(well: Project) -> None:
    """Robustness F3."""
    now = well.now.timestamp()
    for path in well.transcripts.iterdir():
        os.utime(path, (now - 40 * 86_400, now - 40 * 86_400))
    strange = well.transcripts / "sessions.sqlite3"
    strange.write_bytes(b"new form")
    os.utime(strange, (now, now))
    with well.open() as recall:
        found = finding(recall.doctor(), "sources")
    assert (found.severity, str(strange) in found.problem) == ("warning", True)
    for path in well.transcripts.glob("*.json"):
        path.unlink()
    with well.open() as recall:
        assert "No transcript was recognised" in finding(recall.doctor(), "sources").problem


def test_turns_and_imports_from_the_future(well: Project) -> None:
    """Robustness T2."""
    well.session("ahead", ("user", "From tomorrow's tomorrow."), days_ago=-30)
    with well.open() as recall:
        recall.import_sources()
        assert finding(recall.doctor(), "clock").severity == "note"
    well.now -= timedelta(days=400)
    with well.open() as recall:
        problems = [f.problem for f in recall.doctor().findings if f.check == "clock"]
    assert any("last import was in the future" in p for p in problems)


def test_leftovers_of_a_killed_command(well: Project) -> None:
    home = well.root / ".cocoplus"
    for name in (
        "recall.db.recovering",
        "recall.db.restoring",
        ".gitignore.4711.tmp",
        "recall/import.holder",
    ):
        (home / name).write_text("process 4711, since yesterday", encoding="utf-8")
        (home / name).chmod(0o600)
    with well.open() as recall:
        assert finding(recall.doctor(), "leftovers").severity == "note"
        recall.doctor(fix=True)
        assert recall.doctor().findings == ()
    assert not (home / "recall.db.recovering").exists()
    assert not (home / "recall" / "import.holder").exists()


def test_unused_pages_are_given_back(project: Project) -> None:
    """Robustness L4."""
    for n in range(12):
        project.session(f"s-{n}", *[("user", f"{n} {k} " + "word " * 20_000) for k in range(12)])
    with project.open() as recall:
        recall.import_sources()
    execute(project, "PRAGMA secure_delete = OFF", "DELETE FROM turn_words", "DELETE FROM turns",
            "DELETE FROM sessions", "INSERT INTO turn_words (turn_words) VALUES ('optimize')",
            "DELETE FROM records", "DELETE FROM folders", "PRAGMA wal_checkpoint(TRUNCATE)")  # fmt: skip
    before = project.index.stat().st_size
    with project.open() as recall:
        assert "unused" in finding(recall.doctor(), "pages").problem
        recall.doctor(fix=True)
    assert project.index.stat().st_size < before / 5


def test_lost_tombstones_are_restored_from_their_copy(well: Project) -> None:
    with well.open() as recall:
        recall.forget("session-0")
    (well.root / ".cocoplus" / "recall" / "forgotten.json").unlink()
    examined(well, "forgotten")
    assert (well.root / ".cocoplus" / "recall" / "forgotten.json").exists()


def test_a_failed_hook_is_told(well: Project) -> None:
    log = well.root / ".cocoplus" / "hook-errors.log"
    log.write_text("first\n2026-11-29 session-end: no such table\n", encoding="utf-8")
    log.chmod(0o600)
    with well.open() as recall:
        found = finding(recall.doctor(), "hooks")
    assert "no such table" in found.problem


def test_indexes_that_were_set_aside_are_named(well: Project) -> None:
    aside = well.index.with_name("recall.db.damaged-20261130T120000")
    aside.write_bytes(b"old")
    aside.chmod(0o600)
    with well.open() as recall:
        report = recall.doctor(fix=True)
    assert report.healthy
    assert str(aside) in finding(report, "leftovers").problem
    assert aside.exists()


def test_examining_changes_nothing(well: Project) -> None:
    execute(well, "INSERT INTO entities (name, type, session_id) VALUES ('x', 'function', 'nobody')")
    paths = [well.index, well.root / ".cocoplus" / ".gitignore"]
    before = [p.read_bytes() for p in paths]
    time.sleep(0.01)
    assert recall_process(well.root, "doctor").returncode == 1
    assert [p.read_bytes() for p in paths] == before


def test_mending_waits_for_no_import(well: Project) -> None:
    """Examining needs no lock; mending does."""
    from filelock import FileLock

    with FileLock(well.root / ".cocoplus" / "recall.db.lock"):
        assert recall_process(well.root, "doctor").returncode == 0


def test_what_is_printed_fits_eighty_columns(well: Project) -> None:
    execute(well, "INSERT INTO entities (name, type, session_id) VALUES ('x', 'function', 'nobody')")
    printed = recall_process(well.root, "doctor", COLUMNS="80").stdout
    long = [line for line in printed.splitlines() if len(line) > 80 and "/" not in line]
    assert long == []
    assert "warning: " in printed
    assert "do: recall doctor --fix" in printed


def test_the_index_is_private_after_the_predecessor_left_it_open(project: Project) -> None:
    connection = apsw.Connection(str(project.index))
    connection.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY)")
    connection.close()
    Path(project.index).chmod(0o644)
    with project.open() as recall:
        recall.import_sources()
        report = recall.doctor(fix=True)
    assert report.healthy
    if sys.platform != "win32":
        assert stat.S_IMODE(project.index.stat().st_mode) == 0o600


def test_what_agents_have_of_us_is_compared_with_what_this_version_installs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cocorecall.cli.command import Settings
    from cocorecall.cli.doctor_command import _installation
    from cocorecall.cli.install_command import own_program, record_path
    from cocorecall.install import apply, plan_install

    for name in ("SNOWFLAKE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COCORECALL_HOME", str(tmp_path / "ours"))
    program = tmp_path / ("recall.exe" if os.name == "nt" else "recall")
    program.touch(mode=0o755)
    monkeypatch.setattr(sys, "argv", [str(program)])
    settings = Settings(project=str(tmp_path))
    assert [f.severity for f in _installation(settings)] == ["note"]
    apply(
        plan_install("claude", home=tmp_path, project=tmp_path, command=own_program(), record=record_path())
    )
    assert _installation(settings) == []
    (skill,) = tmp_path.rglob("SKILL.md")
    skill.write_text(skill.read_text(encoding="utf-8") + "an older text\n", encoding="utf-8")
    (found,) = _installation(settings)
    assert (found.severity, found.remedy) == ("warning", "recall install claude")
    assert "SKILL.md" in found.problem
