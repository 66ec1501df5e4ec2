"""Subagents of Claude Code, in the three layouts. Robustness D4."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cocorecall.model import SessionHead, Turn
from test_claude import SESSION, assistant, result, session, text, use, user, uuid
from transcripts import Record, found, parsed, write_lines

PROJECT = Path("projects") / "-home-dana-work-router"


def heads(root: Path) -> dict[str, SessionHead]:
    return {e.id: e for t in found(root) for e in parsed(t) if isinstance(e, SessionHead)}


def texts(root: Path) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for transcript in found(root):
        current = ""
        for event in parsed(transcript):
            if isinstance(event, SessionHead):
                current = event.id
            elif isinstance(event, Turn):
                out.setdefault(current, []).append(event.text)
    return out


def side(n: int, words: str, agent: str | None = None, *, parent: int | None = None) -> Record:
    more = {} if agent is None else {"agentId": agent}
    before = {"parentUuid": None if parent is None else uuid(parent)}
    return user(n, words, isSidechain=True, **more) | before


def agent_file(root: Path, agent: str, *records: Record, folder: str = "subagents") -> Path:
    path = root / PROJECT / SESSION / folder / f"agent-{agent}.jsonl"
    return write_lines(path, [r | {"agentId": agent, "isSidechain": True} for r in records])


def test_a_nested_agents_parent_is_named_by_its_sidecar(tmp_path: Path) -> None:
    session(tmp_path, user(1, "Plan it"))
    agent_file(tmp_path, "outer", user(2, "Split the work"))
    path = agent_file(tmp_path, "inner", user(3, "Read the docs"))
    meta = {"agentType": "explore", "description": "Docs reader", "spawnDepth": 2, "parentAgentId": "outer"}
    path.with_suffix(".meta.json").write_text(json.dumps(meta), encoding="utf-8")
    known = heads(tmp_path)
    assert (known["agent-inner"].parent_id, known["agent-inner"].title) == ("agent-outer", "Docs reader")
    assert known["agent-outer"].parent_id == SESSION


def test_a_nested_agents_parent_is_named_by_the_result_in_its_file(tmp_path: Path) -> None:
    session(tmp_path, user(1, "Plan it"))
    done = user(3, [result("t1", "read")], toolUseResult={"agentId": "inner", "status": "completed"})
    agent_file(tmp_path, "outer", user(2, "Split"), assistant(2, use("t1", name="Task", prompt="Read")), done)
    agent_file(tmp_path, "inner", user(4, "Read the docs"))
    known = heads(tmp_path)
    assert known["agent-inner"].parent_id == "agent-outer"
    assert known["agent-outer"].parent_id == SESSION


def test_workflow_agents_lie_deeper_and_their_journal_is_no_transcript(tmp_path: Path) -> None:
    session(tmp_path, user(1, "Plan it"))
    agent_file(tmp_path, "w1", user(2, "Step one"), folder="subagents/workflows/wf-9")
    journal = tmp_path / PROJECT / SESSION / "subagents" / "workflows" / "wf-9" / "journal.jsonl"
    journal.write_text('{"type": "step"}\n', encoding="utf-8")
    known = heads(tmp_path)
    assert set(known) == {SESSION, "agent-w1"}
    assert (known["agent-w1"].session_type, known["agent-w1"].parent_id) == ("subagent", SESSION)


def test_agents_interleaved_in_their_parents_file_are_told_apart(tmp_path: Path) -> None:
    session(
        tmp_path,
        user(1, "main"),
        side(2, "a one", "a"),
        side(3, "b one", "b"),
        user(4, "main again"),
        side(5, "a two", "a"),
    )
    assert texts(tmp_path) == {
        SESSION: ["main", "main again"],
        "agent-a": ["a one", "a two"],
        "agent-b": ["b one"],
    }
    assert heads(tmp_path)["agent-b"].parent_id == SESSION


def test_chains_of_older_versions_name_no_agent_and_are_told_by_their_prompts(tmp_path: Path) -> None:
    session(
        tmp_path,
        user(1, "main"),
        side(2, "first task"),
        side(3, "second task"),
        side(4, "first, going on", parent=2),
        assistant(5, text("done"), isSidechain=True, parentUuid=uuid(4)),
    )
    chains = {
        f"sidechain-{uuid(2)}": ["first task", "first, going on", "done"],
        f"sidechain-{uuid(3)}": ["second task"],
    }
    assert texts(tmp_path) == {SESSION: ["main"]} | chains
    assert {h.session_type for i, h in heads(tmp_path).items() if i in chains} == {"subagent"}


def test_progress_records_repeat_the_childs_words_and_are_passed_over(tmp_path: Path) -> None:
    copy = {"type": "agent_progress", "agentId": "a", "message": user(2, "the child's words")}
    session(tmp_path, user(1, "main"), {"type": "progress", "sessionId": SESSION, "data": copy})
    assert texts(tmp_path) == {SESSION: ["main"]}


def test_memory_does_not_follow_the_subagents_in_a_file(tmp_path: Path) -> None:
    """Robustness H1."""
    import tracemalloc

    from cocorecall.sources.claude import FORMAT

    line = json.dumps(side(2, "word " * 2000, "a")).encode() + b"\n"
    path = session(tmp_path, user(1, "main")) / PROJECT / f"{SESSION}.jsonl"
    with path.open("ab") as file:
        for _ in range(2000):
            file.write(line)
    (transcript,) = found(tmp_path)
    tracemalloc.start()
    count = sum(isinstance(e, Turn) for e in FORMAT.parse(transcript))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 2001
    assert peak < path.stat().st_size / 4


@pytest.mark.parametrize("name", ["history.jsonl", "settings.json", "todos/a-agent-b.json", "plugins/x.json"])
def test_the_agents_other_files_are_left_out_quietly(tmp_path: Path, name: str) -> None:
    session(tmp_path / ".claude", user(1, "Hello"))
    other = tmp_path / ".claude" / name
    other.parent.mkdir(parents=True, exist_ok=True)
    other.write_text('{"display": "Hello", "project": "/home/dana"}\n', encoding="utf-8")
    assert [t.path.stem for t in found(tmp_path / ".claude")] == [SESSION]


def test_tool_results_and_indexes_are_left_out_and_likely_names_elsewhere_are_not(tmp_path: Path) -> None:
    session(tmp_path, user(1, "Hello"))
    big = tmp_path / PROJECT / SESSION / "tool-results" / "b1.json"
    big.parent.mkdir(parents=True)
    big.write_text('{"rows": []}', encoding="utf-8")
    (tmp_path / PROJECT / "sessions-index.json").write_text("{}", encoding="utf-8")
    write_lines(
        tmp_path / "tool-results" / "journal.jsonl", [{"session_id": "s", "role": "user", "text": "x"}]
    )
    assert sorted(t.path.name for t in found(tmp_path)) == [f"{SESSION}.jsonl", "journal.jsonl"]
