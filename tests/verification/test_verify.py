"""What `verify` says of turns whose transcripts were edited, cut, moved or deleted."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli_run import recall_process
from cocorecall.errors import UsageError
from cocorecall.model import CheckedTurn, VerifyReport
from cocorecall.verification.comparison import difference
from projects import Project
from transcripts import write_lines

CLAUDE = "0b6f6d3e-8a1b-4c55-9d52-3b0a35b1f0aa"
CORTEX = "5f1c7f0e-3a52-4f0e-9d5b-0c6f2f6a9a11"


def claude_record(n: int, words: str, session: str = CLAUDE, role: str = "user") -> dict[str, Any]:
    content: Any = words if role == "user" else [{"type": "text", "text": words}]
    message = {"role": role, "content": content} | ({"id": f"msg_{n:04d}"} if role == "assistant" else {})
    return {
        "type": role, "uuid": f"00000000-0000-4000-8000-{n:012d}", "sessionId": session, "cwd": "/w",
        "timestamp": f"2026-09-01T10:{n:02d}:00.000Z", "message": message,
    }  # fmt: skip


def cortex_row(n: int, words: str, role: str = "user") -> dict[str, Any]:
    return {
        "role": role,
        "id": f"msg_{n:08x}-0000-4000-8000-000000000000",
        "content": [{"type": "text", "text": words}],
    }


WORDS = ["Which threshold do we want?", "Decision: the threshold is 0.85.\nAgreed by all.", "Thanks, go on."]
ROLES = ["user", "assistant", "user"]


class Layout:
    """A session in one agent's layout, written from a list of texts, and written again with others."""

    def __init__(self, project: Project, name: str) -> None:
        self.project = project
        self.name = name
        self.has_lines = name in ("claude", "history", "lines")
        self.session = {"claude": CLAUDE, "history": CORTEX, "inline": CORTEX}.get(name, "plain")
        end = {"claude": ".jsonl", "history": ".history.jsonl", "lines": ".jsonl"}.get(name, ".json")
        self.path = project.transcripts / f"{self.session}{end}"

    def write(self, words: list[tuple[int, str]]) -> None:
        """Each text with the number that its message has carried from the beginning."""
        said = [(n, ROLES[n % 3], text) for n, text in words]
        if self.name == "claude":
            write_lines(self.path, [claude_record(n, text, role=role) for n, role, text in said])
        elif self.name == "history":
            write_lines(self.path, [cortex_row(n, text, role) for n, role, text in said])
            sidecar = {"session_id": CORTEX, "working_directory": "/w", "created_at": "2026-09-01T10:00:00Z"}
            (self.project.transcripts / f"{CORTEX}.json").write_text(json.dumps(sidecar), encoding="utf-8")
        elif self.name == "inline":
            sidecar = {"session_id": CORTEX, "working_directory": "/w", "created_at": "2026-09-01T10:00:00Z"}
            rows = [cortex_row(n, text, role) for n, role, text in said]
            self.path.write_text(json.dumps(sidecar | {"history": rows}), encoding="utf-8")
        elif self.name == "lines":
            write_lines(
                self.path, [{"session_id": "plain", "role": role, "text": text} for _, role, text in said]
            )
        else:
            turns = [{"role": role, "text": text} for _, role, text in said]
            document = {"session_id": "plain", "turns": turns}
            self.path.write_text(json.dumps(document, indent=1), encoding="utf-8")


@pytest.fixture(params=["claude", "history", "inline", "lines", "document"])
def layout(request: pytest.FixtureRequest, project: Project) -> Layout:
    written = Layout(project, request.param)
    written.write(list(enumerate(WORDS)))
    with project.open() as recall:
        assert recall.import_sources().turns_new == 3
    return written


def verify(project: Project, target: str | None = None, **options: Any) -> VerifyReport:
    with project.open() as recall:
        return recall.verify(target, **(options or ({} if target else {"all": True})))


def verdicts(report: VerifyReport) -> list[str]:
    return [turn.verdict for turn in report.listed]


def test_what_is_as_it_was_is_verified(layout: Layout) -> None:
    report = verify(layout.project, layout.session)
    assert verdicts(report) == ["verified"] * 3
    assert (report.scope, report.turns, report.transcripts_read) == ("session", 3, 1)
    everything = verify(layout.project)
    assert (everything.counts["verified"], everything.listed) == (3, ())


def test_what_was_appended_changes_nothing(layout: Layout) -> None:
    layout.write([*enumerate(WORDS), (3, "One more question.")])
    assert verdicts(verify(layout.project, layout.session)) == ["verified"] * 3


def test_an_edited_turn_is_changed_and_shows_where(layout: Layout) -> None:
    edited = WORDS[1].replace("0.85", "0.58")
    layout.write([(0, WORDS[0]), (1, edited), (2, WORDS[2])])
    report = verify(layout.project, layout.session)
    assert verdicts(report) == ["verified", "changed", "verified"]
    found = report.listed[1].difference
    assert found is not None
    assert WORDS[1][: found.offset] == edited[: found.offset]
    assert WORDS[1][found.offset] != edited[found.offset]
    assert (found.line, found.column, found.field) == (1, found.offset + 1, "text")
    assert found.stored == WORDS[1][found.start :]
    assert found.source == edited[found.start :]


def test_a_turn_that_its_transcript_dropped_is_missing_for_that_reason(layout: Layout) -> None:
    layout.write([(1, WORDS[1]), (2, WORDS[2])])
    report = verify(layout.project, layout.session)
    assert verdicts(report) == ["missing", "moved", "moved"]
    assert report.listed[0].reason == "no longer in its transcript"
    moved = report.listed[1]
    assert (moved.found_line, moved.source_line) == ((1, 2) if layout.has_lines else (None, None))
    assert moved.found_seq == 0


def test_a_transcript_that_was_cut_short_loses_its_end_only(layout: Layout) -> None:
    layout.write(list(enumerate(WORDS))[:2])
    assert verdicts(verify(layout.project, layout.session)) == ["verified", "verified", "missing"]


def test_a_deleted_transcript_is_missing_for_that_reason(layout: Layout) -> None:
    layout.path.unlink()
    (layout.project.transcripts / f"{CORTEX}.json").unlink(missing_ok=True)
    report = verify(layout.project, layout.session)
    assert verdicts(report) == ["missing"] * 3
    assert {t.reason for t in report.listed} == {"source gone"}
    assert report.counts["changed"] == 0


def test_a_transcript_that_was_moved_is_found(layout: Layout) -> None:
    folder = layout.project.transcripts / "archive"
    folder.mkdir()
    for path in list(layout.project.transcripts.glob("*.json*")):
        shutil.move(path, folder / path.name)
    report = verify(layout.project, layout.session)
    assert verdicts(report) == ["moved"] * 3
    assert {t.found_path for t in report.listed} == {str(folder / layout.path.name)}
    with layout.project.open() as recall:
        recall.import_sources()
    assert verdicts(verify(layout.project, layout.session)) == ["verified"] * 3


@pytest.mark.parametrize("content", [b"", b"\0" * 200, b"no JSON at all\n", b"[" * 5000])
def test_a_transcript_that_holds_something_else_is_never_called_verified(
    layout: Layout, content: bytes
) -> None:
    layout.path.write_bytes(content)
    if layout.name == "history":
        (layout.project.transcripts / f"{CORTEX}.json").unlink()
    report = verify(layout.project, layout.session)
    assert set(verdicts(report)) <= {"missing", "unverifiable"}
    assert all(t.reason for t in report.listed)


def test_a_damaged_line_makes_its_turn_unverifiable_and_no_other(project: Project) -> None:
    layout = Layout(project, "claude")
    layout.write(list(enumerate(WORDS)))
    with project.open() as recall:
        recall.import_sources()
    lines = layout.path.read_bytes().splitlines(keepends=True)
    layout.path.write_bytes(lines[0] + lines[1][:40] + b"\n" + lines[2])
    report = verify(project, CLAUDE)
    assert verdicts(report) == ["verified", "unverifiable", "verified"]
    assert "not JSON" in str(report.listed[1].reason)


def test_another_conversation_of_the_same_id_is_not_taken_for_it(project: Project) -> None:
    """Robustness D3."""
    path = project.session("same", ("user", "about deadlocks"))
    with project.open() as recall:
        recall.import_sources()
    path.unlink()
    (project.transcripts / "other").mkdir()
    project.session("same", ("user", "about retention")).rename(project.transcripts / "other" / "same.json")
    (turn,) = verify(project, "same").listed
    assert (turn.verdict, turn.reason) == ("missing", "source gone")


def test_a_renamed_claude_transcript_is_told_by_its_turns(project: Project) -> None:
    layout = Layout(project, "claude")
    layout.write(list(enumerate(WORDS)))
    with project.open() as recall:
        recall.import_sources()
    renamed = layout.path.rename(layout.path.with_name("another-name.jsonl"))
    for _ in range(2):
        report = verify(project, CLAUDE)
        assert verdicts(report) == ["moved"] * 3
        assert report.listed[0].found_path == str(renamed)
        with project.open() as recall:
            recall.import_sources()


def test_a_fork_still_holds_what_its_origin_lost(project: Project) -> None:
    """The turns are stored once, under the session that was imported first (robustness D1)."""
    records = [claude_record(n, text, role=ROLES[n]) for n, text in enumerate(WORDS)]
    origin = write_lines(project.transcripts / f"{CLAUDE}.jsonl", records)
    with project.open() as recall:
        recall.import_sources()
    fork = "7d0c0a58-1111-4222-8333-944455556666"
    copied = [r | {"sessionId": fork} for r in records]
    path = write_lines(project.transcripts / f"{fork}.jsonl", [*copied, claude_record(9, "Only here.", fork)])
    with project.open() as recall:
        recall.import_sources()
    assert verify(project).counts["verified"] == 4
    origin.unlink()
    report = verify(project, CLAUDE)
    assert verdicts(report) == ["moved"] * 3
    assert {t.found_path for t in report.listed} == {str(path)}


def test_turns_of_subagents_are_compared_with_their_own_records(project: Project) -> None:
    inside = claude_record(5, "Look for the merge key.") | {"isSidechain": True, "agentId": "abc123"}
    own = claude_record(6, "Count the rows.") | {"isSidechain": True, "agentId": "def456"}
    path = write_lines(project.transcripts / f"{CLAUDE}.jsonl", [claude_record(0, WORDS[0]), inside])
    write_lines(project.transcripts / CLAUDE / "subagents" / "agent-def456.jsonl", [own])
    with project.open() as recall:
        recall.import_sources()
    report = verify(project)
    assert (report.counts["verified"], report.transcripts_read) == (3, 2)
    path.write_text(path.read_text("utf-8").replace("merge key", "primary key"), encoding="utf-8")
    (changed,) = verify(project).listed
    assert (changed.verdict, changed.turn_id) == ("changed", "agent-abc123:0")


def test_the_inputs_of_tool_calls_are_compared_too(project: Project) -> None:
    def call(sql: str) -> dict[str, Any]:
        block = {"type": "tool_use", "id": "toolu_1", "name": "sql", "input": {"statement": sql}}
        record = claude_record(1, "", role="assistant")
        record["message"]["content"] = [{"type": "text", "text": "I look."}, block]
        return record

    path = project.transcripts / f"{CLAUDE}.jsonl"
    write_lines(path, [claude_record(0, WORDS[0]), call("SELECT 1")])
    with project.open() as recall:
        recall.import_sources()
    write_lines(path, [claude_record(0, WORDS[0]), call("SELECT 2")])
    (changed,) = verify(project).listed
    assert changed.difference is not None
    assert changed.difference.field == "calls"


def test_a_text_beyond_what_is_stored_counts_too(project: Project) -> None:
    long = "x" * (1 << 20)
    project.session("long", ("user", long + "the end"))
    with project.open() as recall:
        recall.import_sources()
    assert verify(project).counts["verified"] == 1
    project.session("long", ("user", long + "another end"))
    (changed,) = verify(project).listed
    assert changed.difference is not None
    assert (changed.difference.offset, changed.difference.source_length) == (1 << 20, (1 << 20) + 11)


def test_two_alike_turns_are_told_apart_when_one_goes(project: Project) -> None:
    path = project.transcripts / f"{CLAUDE}.jsonl"
    write_lines(path, [claude_record(n, text) for n, text in ((0, "go on"), (1, "yes"), (2, "go on"))])
    with project.open() as recall:
        recall.import_sources()
    write_lines(path, [claude_record(n, text) for n, text in ((1, "yes"), (2, "go on"))])
    assert verdicts(verify(project, CLAUDE)) == ["missing", "moved", "moved"]


def test_a_turn_can_be_asked_for_alone(layout: Layout) -> None:
    report = verify(layout.project, f"{layout.session}:1")
    assert (report.scope, verdicts(report)) == ("turn", ["verified"])
    with pytest.raises(UsageError, match="has no turn 7"):
        verify(layout.project, f"{layout.session}:7")


def test_what_was_cited_lately_is_compared(project: Project) -> None:
    project.session("one", ("user", "the threshold is 0.85"), ("assistant", "Noted."))
    project.session("two", ("user", "the retention is ninety days"))
    with project.open() as recall:
        recall.import_sources()
        recall.search("threshold")
    assert verify(project, cited=True).counts["verified"] == 1
    assert verify(project, cited=True, days=3).days == 3
    later = Project.__new__(Project)
    later.root, later.now = project.root, project.now.replace(year=project.now.year + 1)
    assert verify(later, cited=True).turns == 0


def test_verification_writes_nothing(layout: Layout) -> None:
    index, source = layout.project.index.read_bytes(), layout.path.read_bytes()
    verify(layout.project)
    assert (layout.project.index.read_bytes(), layout.path.read_bytes()) == (index, source)


def test_every_run_says_the_same(layout: Layout) -> None:
    layout.write([(1, WORDS[1] + "!"), (2, WORDS[2])])
    assert verify(layout.project) == verify(layout.project)


@pytest.fixture
def edited(project: Project) -> Project:
    path = project.session("one", ("user", "the threshold\nis 0.85 \x1b[31m"), ("assistant", "Noted."))
    assert recall_process(project.root, "import").returncode == 0
    path.write_text(path.read_text("utf-8").replace("0.85", "0.58"), encoding="utf-8")
    return project


def test_the_command_shows_where_texts_part_and_ends_with_1(edited: Project) -> None:
    for args in (["one"], ["one:0"], ["--all"]):
        process = recall_process(edited.root, "verify", *args)
        assert process.returncode == 1
        assert "parts at character 19 (line 2, column 6)" in process.stdout
        assert "stored  the threshold⏎is 0.85 ␛[31m" in process.stdout
        assert "source  the threshold⏎is 0.58 ␛[31m" in process.stdout
        assert "\x1b" not in process.stdout
    assert recall_process(edited.root, "verify", "one:1").returncode == 0


def test_missing_turns_are_no_failure(edited: Project) -> None:
    (edited.transcripts / "one.json").unlink()
    process = recall_process(edited.root, "verify", "--all")
    assert process.returncode == 0
    assert "2 turns of the index: 2 missing." in process.stdout
    assert "missing (source gone): one, turns 0, 1" in process.stdout


def test_the_command_as_a_document(edited: Project) -> None:
    process = recall_process(edited.root, "verify", "--all", "--json")
    told = json.loads(process.stdout)
    assert process.returncode == 1
    assert told["schema"] == "cocorecall.verify/1"
    assert told["counts"] == {"verified": 1, "changed": 1, "moved": 0, "missing": 0, "unverifiable": 0}
    assert told["listed"][0]["difference"]["stored"].startswith("the threshold\nis 0.85")


@pytest.mark.parametrize("args", [[], ["one", "--all"], ["--all", "--cited"], ["--cited", "--days", "0"]])
def test_what_makes_no_sense_is_wrong_usage(edited: Project, args: list[str]) -> None:
    process = recall_process(edited.root, "verify", *args)
    assert process.returncode == 2
    assert process.stderr.count("\n") == 1


def test_what_is_masked_is_masked_whole_where_texts_part() -> None:
    def mask(text: str) -> str:
        return text.replace("made-up-secret-0123456789", "[secret: made-up]")

    stored = "a" * 40 + " key made-up-secret-0123456789 end"
    for source in (stored + "!", stored.replace("key", "KEY"), stored.replace("0123", "9876")):
        found = difference("text", stored, source, mask=mask)
        assert stored[: found.offset] == source[: found.offset]
        assert "made-up-secret" not in found.stored
        assert "6789" not in found.stored


def test_an_import_may_run_meanwhile(project: Project) -> None:
    """Real processes: each verification sees a sound index, and nothing that is not so."""
    for n in range(20):
        project.session(f"session-{n:02d}", *[("user", f"Turn {k} of session {n}") for k in range(30)])
    with project.open() as recall:
        recall.import_sources()
    code = (
        "import sys; from cocorecall import Recall\n"
        "with Recall.open(sys.argv[1]) as r:\n    for _ in range(4): r.import_sources(rebuild=True)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(project.root)])
    counts = [verify(project).counts["verified"]]
    while process.poll() is None:
        counts.append(verify(project).counts["verified"])
        with project.open() as recall:
            report = recall.export(all=True, send=lambda _: None)
            assert report.turns == 20 * 30
    assert process.returncode == 0
    assert set(counts) == {20 * 30}


def test_a_predecessors_row_that_cannot_be_compared_says_so(project: Project) -> None:
    import apsw

    db = apsw.Connection(str(project.index))
    db.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY, start_time TEXT, source_path TEXT)")
    db.execute("CREATE TABLE turns (id TEXT, session_id TEXT, speaker_role TEXT, seq INTEGER, text TEXT)")
    path = project.session("kept", ("user", "as it was"), ("assistant", "fct_orders_daily"))
    db.execute("INSERT INTO sessions VALUES ('kept', '2026-01-01T00:00:00.000Z', ?)", (str(path),))
    db.execute("INSERT INTO turns VALUES ('kept:0', 'kept', 'user', 0, 'as it was')")
    db.execute("INSERT INTO turns VALUES ('kept:1', 'kept', 'assistant', 1, 'fct orders daily')")
    db.close()
    report = verify(project, "kept")
    assert verdicts(report) == ["verified", "unverifiable"]
    assert "predecessor" in str(report.listed[1].reason)


def turn(report: VerifyReport, number: int) -> CheckedTurn:
    return next(t for t in report.listed if t.seq == number)


def test_a_compaction_leaves_its_mark(project: Project) -> None:
    """Robustness Y5: the file shrinks; what stays in it is found, what went is missing."""
    rows = [cortex_row(n, f"turn {n}") for n in range(4)]
    path = write_lines(project.transcripts / f"{CORTEX}.history.jsonl", rows)
    with project.open() as recall:
        recall.import_sources()
    write_lines(path, [rows[3], cortex_row(9, "after the compaction")])
    assert verdicts(verify(project, CORTEX)) == ["missing", "missing", "missing", "moved"]
    with project.open() as recall:
        recall.import_sources()
    report = verify(project, CORTEX)
    assert verdicts(report) == ["missing", "missing", "missing", "verified", "verified"]
    assert (Path(turn(report, 3).source_path), turn(report, 3).source_line) == (path, 1)
