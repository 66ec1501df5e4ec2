from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cocorecall import Recall
from cocorecall.errors import SourceConfigError, UsageError
from cocorecall.model import Event, ImportReport, SessionHead, Turn
from projects import Project
from transcripts import write_lines

CORTEX = "5f1c7f0e-3a52-4f0e-9d5b-0c6f2f6a9a11"


def run(project: Project, **options: Any) -> ImportReport:
    with project.open() as recall:
        return recall.import_sources(**options)


def texts(project: Project, session: str) -> list[tuple[int, str, bool]]:
    with project.open() as recall:
        return [(t.seq, t.text, t.in_source) for t in recall.show(session).turns]


def row(n: int, words: str, role: str = "user") -> dict[str, Any]:
    return {
        "role": role,
        "id": f"msg_{n:08x}-0000-4000-8000-000000000000",
        "content": [{"type": "text", "text": words}],
    }


def history(project: Project, *rows: dict[str, Any]) -> Path:
    return write_lines(project.transcripts / f"{CORTEX}.history.jsonl", rows)


def test_what_has_not_changed_is_not_opened(project: Project) -> None:
    """Robustness I1."""
    project.session("one", ("user", "Hello"))
    first, second = run(project), run(project)
    assert (first.sessions_new, first.turns_new, first.transcripts_read) == (1, 1, 1)
    assert (second.sessions_unchanged, second.transcripts_read, second.bytes_read) == (1, 0, 0)


def test_only_new_turns_of_a_grown_session_are_written(project: Project) -> None:
    history(project, row(1, "one"), row(2, "two"))
    run(project)
    history(project, row(1, "one"), row(2, "two"), row(3, "three"))
    report = run(project)
    assert (report.sessions_changed, report.turns_new, report.turns_changed) == (1, 1, 0)
    assert texts(project, CORTEX) == [(0, "one", True), (1, "two", True), (2, "three", True)]


def test_turns_that_compaction_removed_stay_and_say_so(project: Project) -> None:
    """Robustness Y5."""
    history(project, *(row(n, f"turn {n}") for n in range(4)))
    run(project)
    history(project, row(3, "turn 3"), row(9, "after the compaction"))
    report = run(project)
    assert (report.turns_gone, report.turns_new) == (3, 1)
    assert texts(project, CORTEX) == [
        (0, "turn 0", False), (1, "turn 1", False), (2, "turn 2", False), (3, "turn 3", True),
        (4, "after the compaction", True),
    ]  # fmt: skip
    with project.open() as recall:
        (hit,) = recall.search('"turn 1"').hits
        assert not hit.in_source
        assert recall.status().turns_not_in_source == 3


def test_a_turn_that_comes_back_is_in_its_source_again(project: Project) -> None:
    history(project, row(1, "one"), row(2, "two"))
    run(project)
    history(project, row(1, "one"))
    run(project)
    history(project, row(1, "one"), row(2, "two"))
    run(project)
    assert texts(project, CORTEX) == [(0, "one", True), (1, "two", True)]


def test_a_turn_with_nothing_to_show_leaves_the_others_their_numbers(project: Project) -> None:
    project.session("one", ("user", "first"), ("assistant", ""), ("user", "third"))
    run(project)
    assert texts(project, "one") == [(0, "first", True), (2, "third", True)]
    with project.open() as recall:
        assert recall.search("third").hits[0].turn_id == "one:2"


def test_a_rewritten_turn_keeps_its_number(project: Project) -> None:
    history(project, row(1, "first draft"), row(2, "two"))
    run(project)
    history(project, row(1, "first draft, finished"), row(2, "two"))
    assert run(project).turns_changed == 1
    assert texts(project, CORTEX)[0] == (0, "first draft, finished", True)
    with project.open() as recall:
        assert recall.search("finished").total_turns == 1
        assert recall.search("draft").total_turns == 1


def test_a_deleted_transcript_stays_in_the_index_through_a_rebuild(project: Project) -> None:
    """Robustness R1."""
    path = project.session("one", ("user", "The retention is ninety days."))
    project.session("two", ("user", "Something else."))
    run(project)
    path.unlink()
    assert run(project).sessions_gone == 1
    run(project, rebuild=True)
    with project.open() as recall:
        (hit,) = recall.search("retention").hits
        assert (hit.session_id, hit.source_exists) == ("one", False)
        assert recall.status().sessions_gone == 1


def test_since_takes_only_sessions_that_started_after(project: Project) -> None:
    project.session("old", ("user", "old words"), days_ago=40)
    project.session("new", ("user", "new words"), days_ago=2)
    assert run(project, since="7d").sessions_new == 1
    assert run(project).sessions_new == 1


def test_bad_input_costs_only_itself_and_is_counted(project: Project) -> None:
    project.session("good", ("user", "sound"))
    (project.transcripts / "empty.json").write_bytes(b"")
    (project.transcripts / "binary.jsonl").write_bytes(os.urandom(4000))
    (project.transcripts / "torn.json").write_text('{"session_id": "x", "turns": [{"ro', encoding="utf-8")
    (project.transcripts / "latin.json").write_bytes(
        '{"session_id":"l","turns":[{"role":"user","text":"caf\xe9"}]}'.encode("latin-1")
    )
    (project.transcripts / "deep.json").write_text("[" * 10_000 + "]" * 10_000, encoding="utf-8")
    (project.transcripts / "dir.json").mkdir()
    report = run(project)
    assert report.sessions_new == 2
    assert {Path(s.path).name for s in report.skipped} >= {
        "empty.json",
        "binary.jsonl",
        "torn.json",
        "deep.json",
    }
    again = run(project)
    assert (again.transcripts_read, len(again.skipped)) == (0, len(report.skipped))
    with project.open() as recall:
        assert recall.search("caf*").hits[0].text == "caf\ufffd"
        assert len(recall.status().unreadable) == len(report.skipped)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_forbidden_file_is_reported_and_read_when_it_may_be(project: Project) -> None:
    path = project.session("closed", ("user", "sound"))
    path.chmod(0)
    assert "Permission denied" in run(project).skipped[0].reason
    path.chmod(0o600)


def test_two_conversations_with_one_id_stay_apart(project: Project) -> None:
    """Robustness D3."""
    for folder, words in (("a", "about deadlocks"), ("b", "about retention")):
        path = project.session("same", ("user", words))
        (project.transcripts / folder).mkdir()
        path.rename(project.transcripts / folder / "same.json")
    assert run(project).sessions_new == 2
    with project.open() as recall:
        assert {recall.search(w).hits[0].session_id for w in ("deadlocks", "retention")} == {"same", "same~2"}
        with pytest.raises(UsageError, match="2 sessions") as caught:
            recall.show("same")
        assert "same~1  " in str(caught.value)
        assert "same~2  " in str(caught.value)
        for word in ("deadlocks", "retention"):
            hit = recall.search(word).hits[0]
            assert recall.show(hit.turn_id).turns[0].text == f"about {word}"
        assert recall.show("same~1").session.session_id == "same"
    assert run(project, rebuild=True).sessions_new == 0


def test_a_renamed_transcript_is_the_same_session(project: Project) -> None:
    """Robustness I4."""
    path = project.session("one", ("user", "words"))
    run(project)
    path.rename(path.with_name("renamed.json"))
    assert run(project).sessions_new == 0
    with project.open() as recall:
        (hit,) = recall.search("words").hits
        assert hit.source_path.endswith("renamed.json")
        assert hit.source_exists


def claude(project: Project, name: str, *rows: tuple[int, str]) -> None:
    records = [
        {"type": "user", "uuid": f"00000000-0000-4000-8000-{n:012d}", "sessionId": name, "cwd": "/w",
         "timestamp": f"2026-09-01T10:{n:02d}:00.000Z", "message": {"role": "user", "content": words}}
        for n, words in rows
    ]  # fmt: skip
    write_lines(project.transcripts / f"{name}.jsonl", records)


@pytest.mark.parametrize("order", [("parent", "fork"), ("fork", "parent")])
def test_a_copied_record_belongs_to_one_session(project: Project, order: tuple[str, str]) -> None:
    """Robustness D1."""
    shared = [(1, "The shared beginning."), (2, "The shared answer.")]
    write = {
        "parent": lambda: claude(project, "parent", *shared, (3, "The parent goes on.")),
        "fork": lambda: claude(project, "fork", *shared, (4, "The fork goes its way.")),
    }
    for name in order:
        write[name]()
        run(project)
    with project.open() as recall:
        (hit,) = recall.search("shared beginning", all=True, limit=1).hits
        assert recall.search("shared beginning").total_turns == 2
        assert hit.also_in == (order[1],)
        assert recall.search("goes", all=True).total_turns == 2
        child = recall.show(order[1])
        assert (child.shared_turns, child.shared_with) == (2, order[0])
        assert child.session.parent_id == order[0]
        assert [t.seq for t in child.turns] == [2]


def test_an_identical_copy_elsewhere_adds_nothing(project: Project) -> None:
    claude(project, "one", (1, "Only once."))
    (project.transcripts / "copy").mkdir()
    original = (project.transcripts / "one.jsonl").read_bytes()
    (project.transcripts / "copy" / "one.jsonl").write_bytes(original)
    run(project)
    with project.open() as recall:
        assert recall.status().sessions == 1


def test_forgetting_lasts(project: Project) -> None:
    """Robustness R2."""
    project.session("secret", ("user", "The zebracode is 4711."))
    project.session("other", ("user", "Plain words."))
    run(project)
    with project.open() as recall:
        recall.search("zebracode")
        report = recall.forget("secret")
    assert (report.turns, report.citations, len(report.remaining)) == (1, 1, 1)
    run(project)
    run(project, rebuild=True)
    with project.open() as recall:
        assert recall.search("zebracode").total_turns == 0
        assert recall.search("plain").total_turns == 1
    for path in (project.root / ".cocoplus").rglob("*"):
        if path.is_file():
            assert b"zebracode" not in path.read_bytes().lower(), path


def test_receipts_say_what_was_done_and_the_newest_twenty_stay(project: Project) -> None:
    from datetime import timedelta

    project.session("one", ("user", "words of the turn"))
    for _ in range(23):
        report = run(project)
        project.now += timedelta(seconds=1)
    receipts = sorted((project.root / ".cocoplus" / "recall").glob("import-*.json"))
    assert len(receipts) == 20
    assert report.receipt == str(receipts[-1])
    assert json.loads(receipts[-1].read_text())["sessions_unchanged"] == 1
    assert "words of the turn" not in receipts[-1].read_text()


def test_the_index_is_kept_out_of_git(project: Project) -> None:
    (project.root / ".cocoplus" / ".gitignore").write_text("mine.txt", encoding="utf-8")
    run(project)
    run(project)
    lines = (project.root / ".cocoplus" / ".gitignore").read_text().splitlines()
    assert lines == [
        "mine.txt",
        "recall.db",
        "recall.db-wal",
        "recall.db-shm",
        "recall.db.lock",
        "recall/",
        "recall.db.*",
        "recall.dream.lock",
    ]


@pytest.mark.parametrize("content", ["{nonsense", '{"sources": 5}', '[{"no": "path"}]', "[7]"])
def test_a_sources_file_that_makes_no_sense_is_named(project: Project, content: str) -> None:
    path = project.root / "cocoplus" / "recall-sources.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(SourceConfigError, match=r"recall-sources\.json") as caught:
        run(project)
    assert caught.value.exit_code == 2


def test_the_hash_is_of_the_text_and_the_text_is_the_files(project: Project) -> None:
    words = "Ünïcode, tabs\tand\nlines — 東京 😀  "
    project.session("one", ("user", words))
    run(project)
    with project.open() as recall:
        (turn,) = recall.show("one").turns
    assert turn.text == words
    assert turn.text_hash == hashlib.sha256(words.encode()).hexdigest()


def test_sources_are_listed_added_removed_and_detected(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.delenv("SNOWFLAKE_HOME", raising=False)
    project.session("one", ("user", "words"))
    run(project)
    (tmp_path / ".claude" / "projects").mkdir(parents=True)
    with project.open() as recall:
        (source,) = recall.sources()
        assert (source.sessions, source.turns, source.exists, source.configured) == (1, 1, True, True)
        assert source.last_import == "2026-11-30T12:00:00.000Z"
        (detected,) = recall.detect_sources()
        assert detected.agent == "claude"
        recall.add_source(detected.path, agent="claude", description="mine")
        assert [s.agent for s in recall.sources()] == [None, "claude"]
        recall.remove_source(detected.path)
        assert len(recall.sources()) == 1


def test_the_personal_index_needs_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COCORECALL_HOME", str(tmp_path / "mine"))
    folder = tmp_path / "transcripts"
    folder.mkdir()
    document = {"session_id": "s1", "turns": [{"role": "user", "text": "personal words"}]}
    (folder / "s1.json").write_text(json.dumps(document), encoding="utf-8")
    with Recall.personal() as recall:
        recall.add_source(str(folder))
        recall.import_sources()
        assert recall.search("personal").hits[0].session_id == "s1"
    if sys.platform != "win32":
        assert (tmp_path / "mine" / "recall.db").stat().st_mode & 0o077 == 0


def test_a_session_takes_the_phase_that_was_in_force_when_it_started(project: Project) -> None:
    (project.root / ".cocoplus" / "lifecycle").mkdir()
    meta = {
        "current_phase": "test",
        "phase_history": [
            {"phase": "spec", "completed_at": "2026-11-01T00:00:00Z"},
            {"phase": "build", "completed_at": "2026-11-20T00:00:00Z"},
        ],
    }
    (project.root / ".cocoplus" / "lifecycle" / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    for name, days in (("early", 60), ("middle", 20), ("late", 1)):
        project.session(name, ("user", f"words {name}"), days_ago=days)
    run(project)
    with project.open() as recall:
        phases = {h.session_id: h.phase_context for h in recall.search("words").hits}
        assert recall.status().phase == "test"
    assert phases == {"early": "spec", "middle": "build", "late": "test"}


def test_calls_learn_the_status_of_their_results(project: Project) -> None:
    rows = [
        {"role": "assistant", "id": "1", "content": [
            {"type": "tool_use", "tool_use": {"tool_use_id": "t1", "name": "bash", "input": {"command": "dbt run"}}}]},
        {"role": "user", "id": "2", "content": [
            {"type": "tool_result", "tool_result": {"tool_use_id": "t1", "status": "error", "content": "failed"}}]},
    ]  # fmt: skip
    history(project, *rows)
    run(project)
    with project.open() as recall:
        assert recall.show(CORTEX).turns[0].calls[0].status == "error"


def test_a_turns_summary_is_its_first_sentence(project: Project) -> None:
    import sqlite3

    project.session(
        "one",
        ("assistant", "# Plan\n\nWe load month by month. Then we compare."),
        ("tool", "| ID | NAME |\n| --- | --- |"),
        ("user", "word " * 200),
    )
    run(project)
    with sqlite3.connect(project.index) as other:
        summaries = [row[0] for row in other.execute("SELECT summary FROM turns ORDER BY seq")]
    assert summaries[:2] == ["We load month by month.", "| ID | NAME |"]
    assert len(summaries[2]) <= 240


class FaultyFormat:
    """A format whose parser has a fault that no file should be able to cause."""

    agent = "faulty"

    def default_roots(self, _home: Path, _environ: Any) -> list[Path]:
        return []

    def group(self, _files: dict[str, Any]) -> list[Any]:
        return []

    def recognises(self, _transcript: Any, head: bytes) -> bool:
        return b"faulty" in head

    def parse(self, _transcript: Any) -> Iterator[Event]:
        yield SessionHead("faulty", "faulty")
        yield Turn("user", "read before the fault", timestamp="2026-11-01T00:00:00.000Z", time_source="own")
        raise ZeroDivisionError("a fault")


def test_a_parsers_fault_costs_its_file_and_keeps_what_was_read(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cocorecall import sources
    from cocorecall.index import importer

    every = (FaultyFormat(), *sources.formats())
    monkeypatch.setattr(importer, "formats", lambda: every)
    monkeypatch.setattr(sources, "formats", lambda: every)
    project.session("good", ("user", "sound words"))
    (project.transcripts / "bad.json").write_text('{"faulty": 1}', encoding="utf-8")
    report = run(project)
    assert report.sessions_new == 2
    assert [s.reason for s in report.skipped] == ["the faulty parser failed: ZeroDivisionError: a fault"]
    assert texts(project, "faulty") == [(0, "read before the fault", True)]


def test_status_answers_while_an_import_writes(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    import apsw

    from cocorecall.index import schema

    monkeypatch.setattr(schema, "BUSY_TIMEOUT_MS", 50)
    project.session("one", ("user", "words"))
    run(project)
    writing = apsw.Connection(str(project.index))
    writing.execute("BEGIN IMMEDIATE")
    try:
        with project.open() as recall:
            assert recall.status().turns == 1
    finally:
        writing.close()
