"""`recall search --verify`: each hit says whether its source still holds it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli_run import recall_process
from cocorecall.model import Results, Turn
from cocorecall.sources import formats
from cocorecall.sources.discovery import lone
from cocorecall.sources.transcript import ReadsLines
from projects import Project
from test_startup import FORBIDDEN, run_listing
from test_verify import CLAUDE, ROLES, WORDS, Layout, claude_record
from transcripts import turns, write_lines


@pytest.fixture(params=["claude", "history", "inline", "lines", "document"])
def layout(request: pytest.FixtureRequest, project: Project) -> Layout:
    written = Layout(project, request.param)
    written.write(list(enumerate(WORDS)))
    with project.open() as recall:
        assert recall.import_sources().turns_new == 3
    return written


def search(project: Project, query: str = "threshold", **options: Any) -> Results:
    with project.open() as recall:
        return recall.search(query, verify=True, all=True, **options)


def verified(results: Results) -> dict[int, bool | None]:
    return {hit.seq: hit.verified for hit in results.hits}


def test_every_hit_says_so(layout: Layout) -> None:
    assert verified(search(layout.project)) == {0: True, 1: True}
    with layout.project.open() as recall:
        assert {h.verified for h in recall.search("threshold").hits} == {None}


def test_an_edited_turn_is_not_verified_and_the_others_are(layout: Layout) -> None:
    layout.write([(0, WORDS[0]), (1, WORDS[1].replace("0.85", "0.58")), (2, WORDS[2])])
    assert verified(search(layout.project)) == {0: True, 1: False}


def test_a_turn_that_only_moved_is_verified(layout: Layout) -> None:
    layout.write([(1, WORDS[1]), (2, WORDS[2])])
    assert verified(search(layout.project)) == {0: False, 1: True}


def test_without_a_source_nothing_is_verified(layout: Layout) -> None:
    layout.path.unlink()
    assert verified(search(layout.project)) == {0: False, 1: False}


def test_a_message_of_several_records_is_read_from_all_of_them(project: Project) -> None:
    """Claude Code writes a message in parts; results, prompts and a subagent's records stand between."""
    call = {"type": "tool_use", "id": "toolu_1", "name": "sql", "input": {"q": "SELECT threshold"}}
    first = claude_record(1, "The threshold", role="assistant")
    second = claude_record(2, "is 0.85.", role="assistant")
    third = claude_record(3, "", role="assistant")
    third["message"]["content"] = [call]
    for part in (second, third):
        part["message"]["id"] = first["message"]["id"]
    result = claude_record(4, "")
    result["message"]["content"] = [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "threshold 0.85"}
    ]
    side = claude_record(5, "A subagent on thresholds") | {"isSidechain": True, "agentId": "abc"}
    prompt = claude_record(6, "Thanks for the threshold.")
    path = write_lines(project.transcripts / f"{CLAUDE}.jsonl", [first, side, second, third, result, prompt])
    with project.open() as recall:
        recall.import_sources()
    assert verified(search(project, session=CLAUDE)) == {0: True, 1: True, 2: True}
    assert all(h.verified for h in search(project).hits)
    path.write_text(path.read_text("utf-8").replace("SELECT threshold", "SELECT limit"), encoding="utf-8")
    assert verified(search(project, session=CLAUDE)) == {0: False, 1: True, 2: True}


@pytest.mark.parametrize("name", ["claude", "history"])
def test_one_record_gives_the_turn_that_the_whole_file_gives(project: Project, name: str) -> None:
    layout = Layout(project, name)
    layout.write([(n, f"{WORDS[n % 3]} {n}") for n in range(12)])
    agent = "claude" if name == "claude" else "cortex"
    chosen = next(f for f in formats() if f.agent == agent)
    assert isinstance(chosen, ReadsLines)
    for expected in turns(layout.path if name == "claude" else project.transcripts):
        assert expected.line is not None
        found = next(iter(chosen.turns_at(lone(layout.path), expected.line)))
        assert as_said(found) == as_said(expected)


def as_said(turn: Turn) -> tuple[Any, ...]:
    return turn.role, turn.text, turn.native_id, turn.line, turn.calls, turn.results


def test_only_the_record_itself_is_read_where_it_stands_at_its_line(project: Project) -> None:
    """A file whose other lines are damaged is not looked at further."""
    path = write_lines(
        project.transcripts / f"{CLAUDE}.jsonl",
        [claude_record(n, text, role=ROLES[n]) for n, text in enumerate(WORDS)],
    )
    with project.open() as recall:
        recall.import_sources()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1] + b"{damaged\n" * 1000)
    assert verified(search(project)) == {0: True, 1: True}


@pytest.mark.parametrize("budget", [60, 120, 200, 1000])
def test_the_budget_holds_with_the_marks(project: Project, budget: int) -> None:
    for n in range(12):
        project.session(f"session-{n}", ("user", f"The threshold of table {n} is settled. " * 8))
    with project.open() as recall:
        recall.import_sources()
        results = recall.search("threshold", verify=True, budget=budget)
        assert results.tokens <= budget
        assert results.budget == budget
        assert budget < 100 or results.hits
        assert recall.render(results).count("verified") == len(results.hits)


def test_the_command_in_each_form(project: Project) -> None:
    path = project.session("one", ("user", "the threshold is 0.85"))
    assert recall_process(project.root, "import").returncode == 0
    assert (
        " user 2026-11-20 source ok, verified, next: "
        in recall_process(project.root, "search", "threshold", "--verify").stdout
    )
    path.write_text(path.read_text("utf-8").replace("0.85", "0.58"), encoding="utf-8")
    assert "source ok, NOT VERIFIED" in recall_process(project.root, "search", "threshold", "--verify").stdout
    told = json.loads(recall_process(project.root, "search", "threshold", "--verify", "--json").stdout)
    assert told["results"][0]["verified"] is False
    plain = json.loads(recall_process(project.root, "search", "threshold", "--json").stdout)
    assert "verified" not in plain["results"][0]


def test_a_search_that_verifies_loads_parsers_and_no_other_does(project: Project) -> None:
    project.session("one", ("user", "the threshold is 0.85"))
    with project.open() as recall:
        recall.import_sources()
    printed, loaded = run_listing(project, "search", "threshold", "--verify")
    assert "verified" in printed
    assert loaded & FORBIDDEN <= {"cocorecall.sources", "cocorecall.extract"}


def test_paths_of_other_sources_are_left_alone(project: Project, tmp_path: Path) -> None:
    """Only the hits' own files are read."""
    project.session("one", ("user", "the threshold is 0.85"))
    with project.open() as recall:
        recall.import_sources()
    (tmp_path / "elsewhere").mkdir()
    (project.root / "cocoplus" / "recall-sources.json").write_text(
        json.dumps([str(tmp_path / "missing")]), encoding="utf-8"
    )
    assert verified(search(project)) == {0: True}
