"""The coding benchmark's data: every file parses, every answer is a turn, and the layouts import as authored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from authoring import read_session, write_session
from cocorecall import Recall

CODING = Path(__file__).parents[2] / "benchmarks" / "retrieval" / "coding"
HALVES = [p.name for p in sorted(CODING.iterdir()) if (p / "questions.jsonl").exists()]
KINDS = {
    "identifier", "error", "decision", "reversed", "paraphrase", "distractor", "howto", "value", "time", "who", "none",
}  # fmt: skip


def questions(half: str) -> list[dict[str, object]]:
    lines = (CODING / half / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


@pytest.mark.parametrize("half", HALVES)
def test_every_answer_is_a_labelled_turn(half: str) -> None:
    labels: dict[str, str] = {}
    for path in (CODING / half).glob("*.txt"):
        labels |= read_session(path).labels()
    asked = questions(half)
    assert len({q["id"] for q in asked}) == len(asked)
    for question in asked:
        assert question["kind"] in KINDS
        assert isinstance(question["answers"], list)
        assert (question["kind"] == "none") == (question["answers"] == [])
        for answer in question["answers"]:
            assert answer in labels, f"{question['id']}: {answer}"


@pytest.mark.parametrize("half", HALVES)
def test_sessions_import_turn_for_turn_as_they_were_authored(half: str, tmp_path: Path) -> None:
    (tmp_path / ".cocoplus").mkdir()
    (tmp_path / "cocoplus").mkdir()
    (tmp_path / "cocoplus" / "recall-sources.json").write_text('["transcripts"]', encoding="utf-8")
    sessions = [read_session(path) for path in sorted((CODING / half).glob("*.txt"))]
    for session in sessions:
        write_session(session, tmp_path / "transcripts")
    with Recall.open(tmp_path) as recall:
        report = recall.import_sources()
        assert report.skipped == ()
        assert report.sessions_new == len(sessions)
        for session in sessions:
            shown = recall.show(session.id).turns
            assert [(t.speaker_role, t.text) for t in shown] == [(t.role, t.text) for t in session.turns]
