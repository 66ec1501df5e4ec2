"""A damaged index: found, set aside, carried over, filled from the transcripts; what is lost is said."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import apsw
import pytest

from cli_run import recall_process
from cocorecall.errors import IndexDamagedError, IndexTooNewError
from cocorecall.index import recovery
from cocorecall.index.glance import damage_at_a_glance
from cocorecall.index.schema import SCHEMA_VERSION, damage_note, open_for_writing
from damage import is_sound, overwrite, overwrite_pages, pages_of
from projects import Project

TURNS = 25
SESSIONS = 12


@pytest.fixture
def full(project: Project) -> Project:
    for n in range(SESSIONS):
        said = [
            (("user", "assistant")[k % 2], f"Turn {k} of session {n}: merge key. " * (1 + k * 9))
            for k in range(TURNS)
        ]
        project.session(f"session-{n:02d}", *said)
    with project.open() as recall:
        recall.import_sources()
        recall.search("merge key")
    return project


def lose_transcripts(project: Project) -> None:
    shutil.rmtree(project.transcripts)
    project.transcripts.mkdir()


def aside(project: Project) -> list[Path]:
    return sorted((project.root / ".cocoplus").glob("recall.db.damaged-*"))


@pytest.mark.parametrize("content", [b"not a database, " * 500, b"SQLite format 3\0" + b"\xff" * 5000])
def test_an_import_sets_a_file_that_is_no_database_aside_and_reads_everything_anew(
    full: Project, content: bytes
) -> None:
    full.index.write_bytes(content)
    with full.open() as recall:
        with pytest.raises(IndexDamagedError, match="recall import"):
            recall.search("merge key")
        report = recall.import_sources()
        assert report.recovered is not None
        assert recall.status().turns == SESSIONS * TURNS
    (kept,) = aside(full)
    assert kept.read_bytes() == content
    assert report.recovered.set_aside == str(kept)
    assert is_sound(full.index)


@pytest.mark.parametrize("seed", range(4))
def test_what_can_be_read_is_carried_over_where_the_transcripts_are_gone(full: Project, seed: int) -> None:
    before = texts(full)
    lose_transcripts(full)
    overwrite_pages(full.index, seed=seed, pages=6)
    with full.open() as recall:
        report = recall.doctor(fix=True)
    assert is_sound(full.index)
    after = texts(full)
    assert after.items() <= before.items()  # verbatim, or not at all
    assert report.recovered is not None
    assert len(after) > len(before) * 0.7
    assert "set aside" in " ".join(f.problem for f in report.findings)


def texts(project: Project) -> dict[str, str]:
    connection = apsw.Connection(str(project.index))
    try:
        return {str(k): str(v) for k, v in connection.execute("SELECT id, text FROM turns")}
    finally:
        connection.close()


def test_lost_turns_are_counted_by_session(full: Project) -> None:
    lose_transcripts(full)
    before = texts(full)
    for page in pages_of(full.index, "turns")[3:6]:
        overwrite(full.index, page)
    printed = recall_process(full.root, "doctor")
    assert printed.returncode == 1
    assert "damaged" in printed.stdout
    process = recall_process(full.root, "import", "--json")
    recovered = json.loads(process.stdout)["recovered"]
    lost = sum(session["lost"] for session in recovered["lost"])
    assert lost == len(before) - len(texts(full)) > 0
    assert dict(map(tuple, recovered["unreadable"]))["turns"] == lost


def test_a_damaged_schema_costs_no_turn(full: Project) -> None:
    """SQLite itself then finds no table; the rows are read from their pages."""
    lose_transcripts(full)
    before = texts(full)
    overwrite(full.index, 0)
    with full.open() as recall:
        report = recall.import_sources()
        assert recall.search("merge key", record=False).total_turns > 0
        assert recall.status().sessions == SESSIONS
    assert report.recovered is not None
    assert texts(full) == before


def test_sessions_whose_rows_are_lost_keep_their_turns_and_get_their_rows_back(full: Project) -> None:
    for page in pages_of(full.index, "sessions"):
        overwrite(full.index, page)
    damage_note(full.index).write_text("met by a search", encoding="utf-8")
    transcripts = sorted(full.transcripts.iterdir())
    for path in transcripts[SESSIONS // 2 :]:
        path.unlink()
    with full.open() as recall:
        recall.import_sources()
        assert recall.status().turns == SESSIONS * TURNS
        back = recall.show("session-00").session
        orphan = recall.show(f"session-{SESSIONS - 1:02d}").session
    assert (back.agent, back.source_exists, back.turns) == ("reference", True, TURNS)
    assert (orphan.agent, orphan.source_exists, orphan.turns) == ("unknown", False, TURNS)


def test_a_cut_off_file_is_noticed_without_reading_it(full: Project) -> None:
    size = full.index.stat().st_size
    with full.index.open("r+b") as file:
        file.truncate(size // 2)
    assert damage_at_a_glance(full.index)
    with full.open() as recall:
        assert recall.import_sources().recovered is not None
        assert recall.status().turns == SESSIONS * TURNS


def test_what_the_log_holds_is_carried_over_too(full: Project) -> None:
    """A killed import leaves its last batches in the write-ahead log."""
    before = texts(full)
    connection = open_for_writing(full.index)
    connection.execute("UPDATE turns SET tags = 'in the log'")
    copy = full.root / "killed"
    shutil.copytree(full.root / ".cocoplus", copy)
    connection.close()
    for path in copy.iterdir():
        if path.is_file():
            shutil.copy(path, full.root / ".cocoplus" / path.name)
    lose_transcripts(full)
    overwrite(full.index, 0)
    with full.open() as recall:
        recall.import_sources()
    assert texts(full) == before
    connection = apsw.Connection(str(full.index))
    assert connection.execute("SELECT DISTINCT tags FROM turns").fetchall() == [("in the log",)]
    connection.close()
    assert len(aside(full)) > 1  # the log went with its database


def test_full_text_damage_alone_is_mended_from_stored_text(full: Project) -> None:
    """Robustness X2: without reading any source."""
    connection = open_for_writing(full.index)
    connection.execute("DELETE FROM turn_words_docsize WHERE id % 3 = 0")
    connection.execute("UPDATE turn_words_data SET block = zeroblob(40) WHERE id > 1000")
    connection.close()
    assert not is_sound(full.index)
    lose_transcripts(full)
    printed = recall_process(full.root, "doctor")
    assert printed.returncode == 1
    assert "full-text index" in printed.stdout.lower()
    mended = recall_process(full.root, "doctor", "--fix")
    assert "from the stored turns" in " ".join(mended.stdout.split())
    assert is_sound(full.index)
    assert aside(full) == []
    with full.open() as recall:
        assert recall.search("merge key").total_turns == SESSIONS * TURNS


def test_an_import_mends_full_text_that_a_search_found_damaged(full: Project) -> None:
    connection = open_for_writing(full.index)
    connection.execute("UPDATE turn_words_data SET block = zeroblob(40) WHERE id > 1000")
    connection.close()
    with full.open() as recall:
        with pytest.raises(IndexDamagedError, match="doctor --fix"):
            recall.search("merge key")
        report = recall.import_sources()
        assert report.recovered is not None
        assert report.recovered.what == "words"
        assert report.bytes_read == 0
        assert recall.search("merge key").total_turns == SESSIONS * TURNS


def test_a_missing_full_text_table_costs_no_turn(full: Project) -> None:
    lose_transcripts(full)
    connection = apsw.Connection(str(full.index))
    connection.execute("DROP TABLE turn_words_data")
    connection.close()
    with full.open() as recall:
        assert not recall.doctor().healthy
        recall.import_sources()
        assert recall.search("merge key").total_turns == SESSIONS * TURNS
    assert is_sound(full.index)


def test_a_crash_before_the_new_file_is_in_place_is_made_good_by_the_next_import(full: Project) -> None:
    lose_transcripts(full)
    whole = full.index.with_name("recall.db.recovered")
    shutil.copy(full.index, whole)
    full.index.rename(full.index.with_name("recall.db.damaged-x"))
    with full.open() as recall:
        recall.import_sources()
        assert recall.status().turns == SESSIONS * TURNS
    assert not whole.exists()


def test_a_newer_index_is_not_taken_for_a_damaged_one(full: Project) -> None:
    """Robustness X3."""
    connection = apsw.Connection(str(full.index))
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 5}")
    connection.close()
    before = full.index.read_bytes()
    for command in (["import"], ["doctor", "--fix"], ["search", "merge"], ["backup", "x.db"]):
        process = recall_process(full.root, *command)
        assert process.returncode == 1
        assert "intact" in process.stderr
        assert process.stderr.count("\n") == 1
    with full.open() as recall, pytest.raises(IndexTooNewError):
        recall.import_sources()
    assert full.index.read_bytes() == before


def test_nothing_is_repaired_on_a_network_file_system(full: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Robustness X1; the type is told by a function of its own, for there is no such disk here."""
    monkeypatch.setattr(recovery, "network_type", lambda _: "nfs4")
    full.index.write_bytes(b"no database" * 100)
    with full.open() as recall, pytest.raises(IndexDamagedError, match=r"nfs4.*COCORECALL_HOME"):
        recall.import_sources()
    assert full.index.read_bytes() == b"no database" * 100
    assert aside(full) == []


@pytest.mark.parametrize("seed", range(3))
def test_bits_that_flip_never_change_what_is_cited(full: Project, seed: int) -> None:
    before = texts(full)
    lose_transcripts(full)
    rng = random.Random(seed)  # noqa: S311 - the same bits in every run
    pages = rng.sample(pages_of(full.index, "turns"), 5)
    with full.index.open("r+b") as file:
        for page in pages:
            at = page * 4096 + rng.randrange(200, 4096)
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 1 << rng.randrange(8)]))
    damage_note(full.index).write_text("suspected", encoding="utf-8")
    with full.open() as recall:
        recall.doctor(fix=True)
    assert is_sound(full.index)
    assert texts(full).items() <= before.items()
