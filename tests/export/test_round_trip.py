"""An export, imported elsewhere, is the session it was made of."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import apsw
from hypothesis import given, settings
from hypothesis import strategies as st

from cocorecall import Recall
from cocorecall.errors import RecallError
from cocorecall.export.exporter import Exporter
from cocorecall.index.exporting import ExportStore
from projects import Project
from transcripts import write_lines

CLAUDE = "0b6f6d3e-8a1b-4c55-9d52-3b0a35b1f0aa"

TURNS = (
    "SELECT id, session_id, speaker_role, seq, summary, text_hash, said_tags, timestamp, time_source, zoned, kind, echo,"
    " native_id, chars, text_length, content_key, text, thinking FROM turns ORDER BY id"
)
CALLS = (
    "SELECT session_id, name, payload, turn_id, position, call_id, status, duration_ms, result_turn_id FROM tool_calls"
    " ORDER BY turn_id, position"
)
SESSIONS = (
    "SELECT id, native_id, agent, start_time, end_time, phase_context, said_entity_tags, title, summary, cwd, git_branch,"
    " parent_id, session_type, turn_count, chars FROM sessions ORDER BY id"
)
FOLDERS = "SELECT session_id, cwd FROM folders ORDER BY session_id, cwd"


def rows(project: Project, *statements: str) -> list[list[tuple[Any, ...]]]:
    db = apsw.Connection(str(project.index), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return [db.execute(s).fetchall() for s in statements]
    finally:
        db.close()


def imported(project: Project) -> Project:
    with project.open() as recall:
        recall.import_sources()
    return project


def exported_to(project: Project, other: Project, **options: Any) -> None:
    with project.open() as recall:
        recall.export(all=True, output=other.transcripts, **options)


def record(n: int, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content} | ({"id": f"msg_{n:03d}"} if kind == "assistant" else {})
    return {
        "type": kind, "uuid": f"00000000-0000-4000-8000-{n:012d}", "sessionId": CLAUDE, "cwd": f"/w/{n % 2}",
        "gitBranch": "main", "timestamp": f"2026-09-01T10:{n:02d}:00.000Z", "message": message,
    } | more  # fmt: skip


def conversation() -> list[dict[str, Any]]:
    call = {"type": "tool_use", "id": "toolu_1", "name": "sql", "input": {"q": "SELECT 'é'", "n": 1.5}}
    lost = {"type": "tool_use", "id": "toolu_2", "name": "Bash", "input": {"command": "recall search x"}}
    return [
        record(0, "user", "Which threshold?"),
        record(1, "assistant", [{"type": "thinking", "thinking": "Let me see."}, {"type": "text", "text": "I look."}, call]),
        record(2, "user", [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "0.85", "is_error": True}]),
        record(3, "assistant", [lost]),
        record(4, "user", [{"type": "tool_result", "tool_use_id": "toolu_2", "content": "[1] old answer"}]),
        record(5, "user", "This session is being continued from a previous conversation that ran out of context"),
        record(6, "user", "Bidi \u202e, escape \x1b[31m, del \x7f, line \u2028 and 😀."),
    ]  # fmt: skip


def claude_project(root: Path) -> Project:
    project = Project(root)
    write_lines(project.transcripts / f"{CLAUDE}.jsonl", conversation())
    return imported(project)


def test_everything_comes_back_hash_for_hash(tmp_path: Path) -> None:
    project, fresh = claude_project(tmp_path / "a"), Project(tmp_path / "b")
    project.session(
        "plain", ("user", "Hello"), {"role": "dana", "text": "Tagged", "tags": ["x", "y"]}, title="T", entity_tags=["A.B"],
    )  # fmt: skip
    exported_to(imported(project), fresh)
    statements = (SESSIONS, TURNS, CALLS, FOLDERS)
    assert rows(imported(fresh), *statements) == rows(project, *statements)
    with fresh.open() as recall:
        assert recall.verify(all=True).counts["verified"] == recall.status().turns
        again = recall.import_sources(rebuild=True)
        assert (again.turns_new, again.turns_changed, again.turns_gone, again.skipped) == (0, 0, 0, ())


TEXT = st.text(st.characters(codec="utf-8"), max_size=60)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
CALL = st.fixed_dictionaries(
    {"name": st.sampled_from(["Bash", "sql"]), "input": JSON},
    optional={"id": st.sampled_from(["c1", "c2", "c3"]), "status": st.sampled_from(["success", "error"])},
)
TURN = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "dana"]), "text": TEXT},
    optional={
        "tool_calls": st.lists(CALL, max_size=3),
        "tool_call_id": st.sampled_from(["c1", "c2", "c3"]),
        "status": st.sampled_from(["success", "error"]),
        "id": TEXT,
        "thinking": TEXT,
        "tags": st.lists(TEXT, max_size=2),
        "timestamp": st.sampled_from(["2026-01-02T03:04:05Z", "2026-01-02T03:04:05", "1999-12-31T23:59:59.999Z"]),
        "cwd": st.sampled_from(["/a", "/b"]),
    },
)  # fmt: skip


@settings(max_examples=60)
@given(sessions=st.lists(st.lists(TURN, min_size=1, max_size=6), min_size=1, max_size=3))
def test_any_session_comes_back_as_it_was(sessions: list[list[dict[str, Any]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project, fresh = Project(Path(folder) / "a"), Project(Path(folder) / "b")
        for n, turns in enumerate(sessions):
            document = {"session_id": f"session-{n}", "turns": turns}
            path = project.transcripts / f"session-{n}.json"
            path.write_text(json.dumps(document), encoding="utf-8")
        exported_to(imported(project), fresh)
        # where a call says how it went and its result does not, that moves from the one to the other
        statements = (SESSIONS, TURNS.replace(" content_key,", ""), CALLS, FOLDERS)
        assert rows(imported(fresh), *statements) == rows(project, *statements)


def test_a_turn_that_its_transcript_dropped_is_exported_too(tmp_path: Path) -> None:
    project, fresh = claude_project(tmp_path / "a"), Project(tmp_path / "b")
    write_lines(project.transcripts / f"{CLAUDE}.jsonl", conversation()[3:])
    with imported(project).open() as recall:
        report = recall.export(all=True, output=fresh.transcripts, reveal=True)
    assert report.files[0].not_in_source == 3
    lines = [
        json.loads(line)
        for line in (fresh.transcripts / f"{CLAUDE}.recall.jsonl").read_text("utf-8").splitlines()
    ]
    assert [line["in_source"] for line in lines[1:4]] == [False] * 3
    assert rows(imported(fresh), TURNS) == rows(project, TURNS)


def test_an_export_beside_the_agents_own_transcript_adds_nothing(tmp_path: Path) -> None:
    """Robustness D3, I4."""
    project = claude_project(tmp_path / "a")
    project.session("plain", ("user", "Hello"), ("user", "Hello"), ("assistant", "Yes?"))
    before = rows(imported(project), SESSIONS, TURNS, CALLS)
    exported_to(project, project)
    with project.open() as recall:
        report = recall.import_sources()
        assert (report.sessions_new, report.turns_new) == (0, 0)
        recall.import_sources(rebuild=True)
    assert rows(project, SESSIONS, TURNS, CALLS) == before
    assert rows(project, "SELECT source_path FROM sessions WHERE id = 'plain'")[0][0][0].endswith(
        "plain.json"
    )


def test_an_export_takes_over_when_the_agent_deletes_its_transcript(tmp_path: Path) -> None:
    project = claude_project(tmp_path / "a")
    before = rows(project, SESSIONS, TURNS, CALLS)
    exported_to(project, project)
    (project.transcripts / f"{CLAUDE}.jsonl").unlink()
    assert rows(imported(project), SESSIONS, TURNS, CALLS) == before
    with project.open() as recall:
        assert recall.search("threshold").hits[0].source_path.endswith(".recall.jsonl")
        assert recall.verify(all=True).counts["verified"] == len(before[1])


def test_the_agents_own_transcript_takes_over_from_an_export(tmp_path: Path) -> None:
    project, fresh = claude_project(tmp_path / "a"), Project(tmp_path / "b")
    exported_to(project, fresh)
    imported(fresh)
    own = write_lines(
        fresh.transcripts / f"{CLAUDE}.jsonl", [*conversation(), record(9, "user", "And one more.")]
    )
    with fresh.open() as recall:
        report = recall.import_sources()
        assert (report.sessions_new, report.turns_new, report.turns_changed) == (0, 1, 0)
        hit = recall.search("threshold").hits[0]
        assert (hit.session_id, hit.source_path) == (CLAUDE, str(own))
        assert recall.import_sources(rebuild=True).turns_new == 0


def test_what_was_forgotten_stays_forgotten(tmp_path: Path) -> None:
    """Robustness R2."""
    project = claude_project(tmp_path / "a")
    with project.open() as recall:
        recall.export(CLAUDE, output=project.transcripts / "export.jsonl")
        recall.forget(CLAUDE)
        report = recall.import_sources()
        assert report.turns_new == 0
        assert {s.reason for s in report.skipped} == {"session was forgotten by `recall forget`"}
        assert recall.status().turns == 0


def test_a_masked_turn_is_left_out_of_an_import_and_counted(tmp_path: Path) -> None:
    project, fresh = claude_project(tmp_path / "a"), Project(tmp_path / "b")
    with project.open() as recall:
        recall.status()
        assert recall._connection is not None
        exporter = Exporter(
            ExportStore(recall._connection), "jsonl", mask=lambda t: t.replace("SELECT", "[secret: made-up]")
        )
        report = exporter.to_folder([CLAUDE], fresh.transcripts, force=False)
    assert report.files[0].masked == 1
    text = (fresh.transcripts / f"{CLAUDE}.recall.jsonl").read_text("utf-8")
    assert json.loads(text.splitlines()[0])["masked"] is True
    assert "SELECT" not in text
    with fresh.open() as recall:
        told = recall.import_sources()
        assert [(s.reason, s.line) for s in told.skipped] == [
            ("its secrets are masked: export it with --reveal to import it", 3)
        ]
        assert told.turns_new == len(conversation()) - 1


def test_an_edited_turn_is_not_taken_for_what_was_said(tmp_path: Path) -> None:
    project, fresh = claude_project(tmp_path / "a"), Project(tmp_path / "b")
    exported_to(project, fresh)
    path = fresh.transcripts / f"{CLAUDE}.recall.jsonl"
    path.write_text(path.read_text("utf-8").replace("Which threshold?", "Which limit?"), encoding="utf-8")
    with fresh.open() as recall:
        (skipped,) = recall.import_sources().skipped
    assert (skipped.line, skipped.reason) == (2, "its text is not the one its hash was made of")


def test_a_later_layout_is_refused_and_named(tmp_path: Path) -> None:
    fresh = Project(tmp_path / "b")
    write_lines(
        fresh.transcripts / "later.jsonl",
        [{"type": "session", "format": "cocorecall.export/2", "id": "x", "agent": "claude"}, {"type": "turn", "role": "user", "text": "?"}],
    )  # fmt: skip
    with fresh.open() as recall:
        reasons = [s.reason for s in recall.import_sources().skipped]
    assert "cocorecall.export/2" in reasons[0]


RECORD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["type", "format", "id", "agent", "seq", "role", "text", "calls", "results", "tags", "folders"]),
        inner | st.sampled_from(["session", "turn", "cocorecall.export/1"]),
        max_size=6,
    ),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=60)
@given(records=st.lists(RECORD, max_size=5))
def test_any_lines_behind_a_head_import_without_an_error(records: list[Any]) -> None:
    head = {"type": "session", "format": "cocorecall.export/1", "id": "x", "agent": "claude"}
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder) / "a")
        lines = [json.dumps(head), *(json.dumps(r) for r in records)]
        (project.transcripts / "x.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        try:
            with project.open() as recall:
                skipped = recall.import_sources().skipped
        except RecallError as error:  # pragma: no cover - the test's failure says which
            raise AssertionError(str(error)) from error
        assert not [s for s in skipped if "parser failed" in s.reason]


def test_the_sample_project_comes_back_as_it_is(tmp_path: Path) -> None:
    """Both agents' layouts, subagents and forks among them."""
    sample, fresh = tmp_path / "demo", Project(tmp_path / "b")
    shutil.copytree(Path(__file__).parents[2] / "examples" / "demo", sample)
    with Recall.open(sample) as recall:
        recall.import_sources()
        report = recall.export(all=True, output=fresh.transcripts, reveal=True)
    assert report.sessions > 10
    before = Project.__new__(Project)
    before.root = sample
    statements = (SESSIONS, TURNS, CALLS, FOLDERS)
    assert rows(imported(fresh), *statements) == rows(before, *statements)
