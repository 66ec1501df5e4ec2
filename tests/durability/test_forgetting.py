"""Forgetting lasts, reaches every file of ours, and says what it cannot reach."""

from __future__ import annotations

import json
import shutil
import uuid
from pathlib import Path
from typing import Any

import apsw
import pytest

from cli_run import recall_process
from cocorecall.errors import UsageError
from cocorecall.index import forgetting
from cocorecall.index.schema import damage_note, open_for_writing
from damage import is_sound, overwrite, pages_of
from projects import Project

WORD = "zebracode4711"


def planted(project: Project) -> Project:
    project.session(
        "secret",
        ("user", f"The {WORD} opens the vault."),
        {
            "role": "assistant",
            "text": "Noted.",
            "tool_calls": [{"name": "bash", "input": {"command": f"echo {WORD}"}}],
        },
        title=f"About {WORD}",
    )
    for n in range(8):
        project.session(f"other-{n}", ("user", f"Plain words of session {n} about the merge key."))
    with project.open() as recall:
        recall.import_sources()
        recall.search(WORD)
        recall.search(f"vault {WORD} merge key")
        recall.search("merge key")
    return project


def files_with(folder: Path, word: str) -> list[str]:
    """Files that hold a word anywhere in their bytes, whatever its case."""
    return [str(p) for p in folder.rglob("*") if p.is_file() and word.encode() in p.read_bytes().lower()]


def test_no_file_of_ours_holds_a_forgotten_word(project: Project) -> None:
    """Robustness R2: tables, full text, citations, log, freed pages, receipts."""
    planted(project)
    home = project.root / ".cocoplus"
    path = claude(project, "hidden", [("h1", f"The {WORD} opens this vault too.")])
    path.write_text(path.read_text(encoding="utf-8") + '{"no": "type"}\n', encoding="utf-8")
    with project.open() as recall:
        recall.import_sources()
        assert files_with(home, WORD)
        assert files_with(home / "recall", "hidden.jsonl")
        report = recall.forget("secret")
        assert report.citations > 2  # other sessions' citations by the queries that cited this one go too
        recall.forget("hidden")
        assert recall.search("merge key").total_turns == 8
    assert files_with(home, WORD) == []
    assert files_with(home / "recall", "hidden.jsonl") == []
    assert is_sound(project.index)
    assert report.remaining == (str(project.transcripts / "secret.json"),)


@pytest.mark.parametrize("lost", [None, "recall.db", "recall/forgotten.json"])
def test_nothing_brings_a_forgotten_session_back(project: Project, lost: str | None) -> None:
    """Robustness R2: no import, no rebuild, no loss of a single file."""
    planted(project)
    with project.open() as recall:
        recall.forget("secret")
    if lost:
        (project.root / ".cocoplus" / lost).unlink()
    path = project.transcripts / "secret.json"
    path.write_text(path.read_text(encoding="utf-8") + " ", encoding="utf-8")
    with project.open() as recall:
        report = recall.import_sources()
        recall.import_sources(rebuild=True)
        assert recall.status().sessions == 8
        assert recall.search(WORD, record=False).total_turns == 0
    assert [s.reason for s in report.skipped] == ["session was forgotten by `recall forget`"]
    assert files_with(project.root / ".cocoplus", WORD) == []
    with project.open() as recall:
        assert len(recall.forgotten()) == 1


def test_tombstones_name_nobody(project: Project) -> None:
    planted(project)
    with project.open() as recall:
        recall.forget("secret")
    assert files_with(project.root / ".cocoplus" / "recall" / "..", "secret") == []
    listed = recall_process(project.root, "forget", "--list")
    assert "1 session forgotten" in listed.stdout


def test_a_name_in_the_clear_from_an_older_index_is_kept_as_a_digest(project: Project) -> None:
    planted(project)
    connection = open_for_writing(project.index)
    connection.execute(
        "INSERT INTO forgotten VALUES ('reference' || char(10) || 'other-3', '2026-01-01T00:00:00.000Z')"
    )
    connection.execute("DELETE FROM sessions WHERE id = 'other-3'")
    connection.close()
    with project.open() as recall:
        recall.import_sources(rebuild=True)
        assert recall.status().sessions == 8
    assert b"reference\nother-3" not in project.index.read_bytes()


def test_a_session_comes_back_when_its_tombstone_is_taken_away(project: Project) -> None:
    planted(project)
    with project.open() as recall:
        recall.forget("secret")
        key = recall.forgotten()[0].key
    assert recall_process(project.root, "forget", "--undo", "nonsense").returncode == 2
    assert recall_process(project.root, "forget", "--undo", key[:12]).returncode == 0
    with project.open() as recall:
        recall.import_sources(rebuild=True)
        assert recall.search(WORD).total_turns == 2


def test_a_cut_short_forget_is_finished_by_the_next_import(project: Project) -> None:
    """Killed after its transaction, before freed pages and the log were emptied."""
    planted(project)
    connection = open_for_writing(project.index)
    connection.execute("PRAGMA secure_delete = OFF")
    forgetting.Forgetter(connection).forget(["secret"], "2026-11-30T12:00:00.000Z")
    connection.close()
    with project.open() as recall:
        assert not recall.doctor().healthy
        recall.import_sources()
        assert recall.doctor().healthy
    assert files_with(project.root / ".cocoplus", WORD) == []


# --- choosing -----------------------------------------------------------------------------------------


def remaining(project: Project) -> list[str]:
    connection = apsw.Connection(str(project.index))
    try:
        return [str(sid) for (sid,) in connection.execute("SELECT id FROM sessions ORDER BY id")]
    finally:
        connection.close()


@pytest.fixture
def several(project: Project) -> Project:
    project.session("old-orders", ("user", "Merge key of orders, long ago."), days_ago=200)
    project.session(
        "new-orders", ("user", "Merge key of orders."), ("assistant", "The price is secret."), days_ago=3
    )
    project.session("prices", ("user", "A price list, and no key."), ("user", "Merge it."), days_ago=5)
    with project.open() as recall:
        recall.import_sources()
    return project


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (["--before", "90d"], ["new-orders", "prices"]),
        (["--path", "**/*-orders.json"], ["prices"]),
        (["--path", "*-orders.json", "--before", "2026-11-01"], ["new-orders", "prices"]),
        (["--path", "elsewhere/**"], ["new-orders", "old-orders", "prices"]),
        (["--matching", "merge key"], ["prices"]),
        (["--matching", '"merge key" -ago'], ["old-orders", "prices"]),
        (["--matching", "merge unheard"], ["new-orders", "old-orders", "prices"]),
        (["prices", "--matching", "merge key"], ["new-orders", "old-orders", "prices"]),
    ],
)
def test_conditions_choose_what_meets_all_of_them(
    several: Project, options: list[str], left: list[str]
) -> None:
    planned = recall_process(several.root, "forget", *options, "--dry-run", "--json")
    would = json.loads(planned.stdout)
    assert would["dry_run"] is True
    assert remaining(several) == ["new-orders", "old-orders", "prices"]
    done = recall_process(several.root, "forget", *options, "--yes", "--json")
    assert done.returncode == 0, done.stderr
    assert remaining(several) == left
    gone = [s["session_id"] for s in json.loads(done.stdout)["sessions"]]
    assert sorted(gone) == sorted({"new-orders", "old-orders", "prices"} - set(left))
    assert gone == [s["session_id"] for s in would["sessions"]]


@pytest.mark.parametrize("query", ["", "…", "role:user price"])
def test_a_query_that_names_no_word_is_refused(several: Project, query: str) -> None:
    with several.open() as recall, pytest.raises(UsageError):
        recall.forget(matching=query)
    assert len(remaining(several)) == 3


def test_nothing_is_forgotten_without_a_condition_or_an_answer(several: Project) -> None:
    assert recall_process(several.root, "forget", "--yes").returncode == 2
    assert recall_process(several.root, "forget", "prices").returncode == 2
    assert len(remaining(several)) == 3


# --- forks, subagents, twins --------------------------------------------------------------------------


def claude(
    project: Project, session: str, turns: list[tuple[str, str]], *, folder: str = "p", **keys: Any
) -> Path:
    """A transcript of Claude Code: (record id, text) each."""
    lines = []
    for k, (name, text) in enumerate(turns):
        record = str(uuid.uuid5(uuid.NAMESPACE_URL, name))
        role = ("user", "assistant")[k % 2]
        content: Any = text if role == "user" else [{"type": "text", "text": text}]
        message = {"role": role, "content": content} | ({"id": f"m-{record}"} if role == "assistant" else {})
        lines.append(
            {"type": role, "uuid": record, "sessionId": session, "timestamp": f"2026-11-20T10:{k:02d}:00.000Z",
             "cwd": "/work", "message": message} | keys
        )  # fmt: skip
    path = project.transcripts / folder / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


HISTORY = [("r1", "What is the merge key?"), ("r2", "The merge key is ORDER_ID."), ("r3", "And the grain?")]


def forked(project: Project) -> None:
    claude(project, "first", [*HISTORY, ("r4", "One row a line, says the first.")])
    claude(project, "fork", [*HISTORY, ("f4", "One row an order, says the fork."), ("f5", "Good, zebra.")])
    claude(project, "later", [*HISTORY[:2], ("l3", "A later question?")])
    with project.open() as recall:
        recall.import_sources()


def texts(project: Project, session: str) -> list[str]:
    with project.open() as recall:
        return [t.text for t in recall.show(session, query="merge").turns]


def test_a_fork_keeps_the_turns_that_its_transcript_holds_too(project: Project) -> None:
    forked(project)
    with project.open() as recall:
        report = recall.forget("first")
    assert {k.session_id: k.turns for k in report.kept} == {"fork": 3}
    assert report.turns == 1
    said = [text for _, text in HISTORY]
    assert texts(project, "fork") == [*said, "One row an order, says the fork.", "Good, zebra."]
    assert is_sound(project.index)
    with project.open() as recall:
        hit = recall.search("merge key ORDER_ID", limit=1).hits[0]
        assert hit.session_id == "fork"
        assert hit.also_in == ("later",)
        assert recall.search("says the first", record=False).hits[0].match < 1
        assert recall.doctor().healthy


@pytest.mark.parametrize("rebuild", [False, True])
def test_an_import_finds_a_fork_that_took_turns_over_as_it_left_it(project: Project, rebuild: bool) -> None:  # noqa: FBT001
    forked(project)
    with project.open() as recall:
        recall.forget("first")
        before = texts(project, "fork")
        report = recall.import_sources(rebuild=rebuild)
        assert (report.turns_new, report.turns_changed, report.turns_gone) == (0, 0, 0)
        assert recall.doctor().healthy
    assert texts(project, "fork") == before


def test_forks_go_too_when_asked_for(project: Project) -> None:
    forked(project)
    with project.open() as recall:
        report = recall.forget("first", forks=True)
        assert {s.session_id for s in report.sessions} == {"first", "fork", "later"}
        assert recall.search("merge").total_turns == 0
        recall.import_sources(rebuild=True)
        assert recall.status().sessions == 0


def test_matching_words_in_copied_turns_choose_the_forks_as_well(project: Project) -> None:
    forked(project)
    with project.open() as recall:
        report = recall.forget(matching="merge key ORDER_ID")
        assert {s.session_id for s in report.sessions} == {"first", "fork", "later"}


def test_subagents_go_with_their_session(project: Project) -> None:
    forked(project)
    folder = project.transcripts / "p" / "first" / "subagents"
    folder.mkdir(parents=True)
    lines = [
        {"type": "user", "uuid": "s1", "sessionId": "first", "isSidechain": True, "agentId": "a1b2",
         "timestamp": "2026-11-20T10:05:00.000Z", "cwd": "/work",
         "message": {"role": "user", "content": f"Look for {WORD}."}},
    ]  # fmt: skip
    path = folder / "agent-a1b2.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with project.open() as recall:
        recall.import_sources()
        assert recall.search(WORD, record=False).total_turns == 1
        report = recall.forget("first")
        assert len(report.sessions) == 2
        path.write_text(path.read_text(encoding="utf-8").replace("Look", "Look well"), encoding="utf-8")
        recall.import_sources()
        assert recall.search(WORD, record=False).total_turns == 0


def test_another_conversation_of_the_same_id_stays_and_grows(project: Project) -> None:
    """Robustness D3."""
    claude(project, "same", [("a1", "The first conversation.")], folder="one")
    other = [("b1", "Quite another conversation.")]
    claude(project, "same", other, folder="two")
    with project.open() as recall:
        recall.import_sources()
        kept = [s for s in ("same", "same~2") if "another" in texts(project, f"{s}:0")[0]]
        (gone,) = {"same", "same~2"} - set(kept)
        recall.forget(gone if gone != "same" else "same~1")
        claude(project, "same", [*other, ("b2", "It goes on.")], folder="two")
        recall.import_sources()
        assert recall.search("conversation goes on", all=True, record=False).total_turns == 2
        assert recall.status().sessions == 1


def test_what_forks_share_survives_damage(project: Project) -> None:
    """Keys of records are whole numbers of either sign."""
    forked(project)
    before = shared(project)
    assert min(key for key, _ in before[0]) < 0
    overwrite(project.index, pages_of(project.index, "folders")[0])
    shutil.rmtree(project.transcripts)
    project.transcripts.mkdir()
    damage_note(project.index).write_text("met", encoding="utf-8")
    with project.open() as recall:
        assert recall.import_sources().recovered is not None
    assert shared(project) == before


def shared(project: Project) -> tuple[list[tuple[int, int]], list[tuple[int, str]]]:
    connection = apsw.Connection(str(project.index))
    try:
        records = connection.execute("SELECT key, doc FROM records ORDER BY key").fetchall()
        copies = connection.execute("SELECT doc, session_id FROM copies ORDER BY 1, 2").fetchall()
        return [(int(str(k)), int(str(d))) for k, d in records], [(int(str(d)), str(s)) for d, s in copies]
    finally:
        connection.close()


# --- what cannot be reached ---------------------------------------------------------------------------


def test_what_may_still_hold_the_text_is_named(project: Project) -> None:
    planted(project)
    memory = project.root / ".cocoplus" / "memory" / "MEMORY.md"
    memory.parent.mkdir()
    memory.write_text("- A decision (secret:0)\n", encoding="utf-8")
    shutil.copy(project.index, project.index.with_name("recall.db.damaged-20261130T120000"))
    with project.open() as recall:
        recall.backup(project.root / "kept.db")
        report = recall.forget("secret")
    assert {Path(p).name for p in report.remaining} == {
        "secret.json", "MEMORY.md", "kept.db", "recall.db.damaged-20261130T120000",
    }  # fmt: skip
