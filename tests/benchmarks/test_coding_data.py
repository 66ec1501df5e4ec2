"""The coding benchmark: its size, its authoring form, the layouts it is written in, and how it is scored."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from authoring import read_session, write_session
from coding import CODING, HALVES, KINDS, counts_table, read_questions, read_sessions
from scoring import Question, means, plain_fts, predecessor, score_ranking

DATASHEET = CODING.parent / "DATASHEET.md"

SESSION = (
    "@session agent={agent} layout={layout} start=2026-03-14T09:12:00Z cwd=/home/dev/work/orders title=A b"
)
TURNS = """
@user +0
Why?

@@property stays
@assistant +40s #because #other
Looking.
@call bash
{"command": "ls"}
@call bash
{"command": "pwd"}
@tool +5s
a.txt
@tool #where status=error
nowhere
@user +1h
thanks
"""


def authored(tmp_path: Path, turns: str = TURNS, agent: str = "cortex", layout: str = "folder") -> Path:
    path = tmp_path / "001-sample.txt"
    path.write_text(SESSION.format(agent=agent, layout=layout) + turns, encoding="utf-8")
    return path


# --- the data ---


def test_both_halves_together_are_as_large_as_promised() -> None:
    assert set(HALVES) == {"tune", "validate"}
    assert sum(len(read_sessions(half)) for half in HALVES) >= 60
    assert sum(len(read_questions(half)) for half in HALVES) >= 150


@pytest.mark.parametrize("half", HALVES)
def test_questions_and_sessions_are_told_apart(half: str) -> None:
    questions = read_questions(half)
    assert len({q["question"].casefold() for q in questions}) == len(questions)
    sessions = read_sessions(half)
    assert len({s.id for s in sessions}) == len(sessions)
    assert all(len(s.turns) >= 12 for s in sessions)


def test_the_halves_share_no_session_and_no_question() -> None:
    tune, validate = (
        ({s.name for s in read_sessions(h)}, {q["question"] for q in read_questions(h)}) for h in HALVES
    )
    assert not tune[0] & validate[0]
    assert not tune[1] & validate[1]


def test_every_layout_and_every_kind_occurs() -> None:
    sessions = [s for half in HALVES for s in read_sessions(half)]
    layouts = {
        (s.facts["agent"], s.facts["layout"] if s.facts["agent"] == "cortex" else "") for s in sessions
    }
    assert layouts == {("cortex", "flat"), ("cortex", "folder"), ("cortex", "inline"), ("claude", "")}
    assert {q["kind"] for half in HALVES for q in read_questions(half)} == set(KINDS)


def test_the_datasheet_counts_what_is_there() -> None:
    assert counts_table() in DATASHEET.read_text(encoding="utf-8"), (
        "paste `coding.py --counts` into the datasheet"
    )


# --- the authoring form ---


def test_times_labels_and_calls_are_read(tmp_path: Path) -> None:
    session = read_session(authored(tmp_path))
    assert [t.role for t in session.turns] == ["user", "assistant", "tool", "tool", "user"]
    assert [(t.at - session.start).total_seconds() for t in session.turns] == [0, 40, 45, 75, 3675]
    assert session.turns[0].text == "Why?\n\n@property stays"
    assert [session.turns[1].input_of(n) for n in (0, 1)] == [{"command": "ls"}, {"command": "pwd"}]
    assert session.turns[3].status == "error"
    assert session.labels() == {
        "001-sample#because": f"{session.id}:1",
        "001-sample#other": f"{session.id}:1",
        "001-sample#where": f"{session.id}:3",
    }


@pytest.mark.parametrize(
    ("turns", "problem"),
    [
        ("\n@user +2d\nx\n", "2: neither a time"),
        ("\n@user\n@property\n", "3: a text line that begins with @"),
        ("\n@user #a\nx\n@assistant #a\ny\n", "4: label used twice"),
        ("\n@user\nx\n@call bash\n{}\n", "4: only an assistant calls"),
        ("\n@user\nx\n@tool\ny\n", "4: every call has one result"),
        ('\n@assistant\n@call bash\n{"a": 1}\n@user\nx\n', "5: every call has one result"),
        ("\n@assistant\n@call bash\n{a: 1}\n@tool\nx\n", "property name"),
        ("\n", "no session, or one without turns"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_line(tmp_path: Path, turns: str, problem: str) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)):
        read_session(authored(tmp_path, turns))


# --- the layouts ---


def json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("layout", ["flat", "folder", "inline"])
def test_a_cortex_session_has_a_sidecar_and_mostly_rows_without_times(tmp_path: Path, layout: str) -> None:
    session = read_session(authored(tmp_path, layout=layout))
    write_session(session, tmp_path / "out")
    (sidecar,) = (tmp_path / "out").rglob(f"{session.id}.json")
    assert (sidecar.parent.name == "cortex") == (layout != "folder")
    meta = json.loads(sidecar.read_text(encoding="utf-8"))
    assert ("creationDate" in meta) == (layout == "folder")
    rows = meta.get("history") or json_lines(sidecar.with_suffix(".history.jsonl"))
    assert ["user_sent_time" in row for row in rows] == [True, False, False, False, True]
    assert "<system-reminder>" in json.dumps(rows[0])
    assert [b["tool_use"]["name"] for b in rows[1]["content"] if b["type"] == "tool_use"] == ["bash", "bash"]
    assert rows[3]["content"][0]["tool_result"]["status"] == "error"


def test_a_claude_session_splits_an_answer_over_records_of_one_message(tmp_path: Path) -> None:
    session = read_session(authored(tmp_path, agent="claude"))
    write_session(session, tmp_path / "out")
    (path,) = (tmp_path / "out" / "claude" / "projects" / "-home-dev-work-orders").iterdir()
    messages = [r["message"] for r in json_lines(path) if r["type"] == "assistant"]
    assert len(messages) == 3
    assert len({m["id"] for m in messages}) == 1


# --- the scores ---


def test_a_ranking_is_scored_by_turns_and_by_sessions() -> None:
    question = Question("q", frozenset({"a:3", "b:1"}), "value")
    scores = score_ranking(question, ["c:1", "a:3", "a:4", "c:2", "d:1", "b:1"])
    assert scores["R@1"] == 0
    assert scores["R@5"] == 0.5
    assert scores["R@10"] == 1
    assert scores["MRR"] == 0.5
    assert scores["Sh@1"] == 0
    assert scores["S@5"] == 1
    assert means([scores | {"tokens": 700.0}, scores | {"tokens": 800.0}])["tokens"] == 750


def test_baselines_rank_as_they_say() -> None:
    turns = [
        ("a:0", "the merged orders table", "2026-01-01T00:00:00.000Z"),
        ("b:0", "orders of the day", "2026-02-01T00:00:00.000Z"),
        ("c:0", "weather", "2026-03-01T00:00:00.000Z"),
    ]
    assert predecessor(turns)("orders") == ["b:0", "a:0"]
    assert plain_fts(turns, stems=False)("merge") == []
    assert plain_fts(turns, stems=True)("merge") == ["a:0"]
    assert plain_fts(turns, stems=True)("the of") == ["b:0", "a:0"]
