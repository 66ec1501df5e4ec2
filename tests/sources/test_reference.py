from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cocorecall.model import (
    EvaluationResult,
    FunctionTouch,
    KeyDecision,
    OutcomeContract,
    SessionHead,
    StrategyUse,
    Turn,
)
from transcripts import events, said, skipped, turns, write_lines

SESSION: dict[str, Any] = {
    "session_id": "s1",
    "start_time": "2026-05-14T09:00:00Z",
    "phase_context": "build",
    "turns": [
        {"role": "user", "text": "Hello", "tags": ["greeting", "short"]},
        {"role": "Caroline", "content": "Hi"},
    ],
}


def document(folder: Path, value: Any, name: str = "s.json", **layout: Any) -> Path:
    (folder / name).write_text(json.dumps(value, **layout), encoding="utf-8")
    return folder


@pytest.mark.parametrize("layout", [{}, {"indent": 2}])
def test_a_document_with_turns(tmp_path: Path, layout: dict[str, Any]) -> None:
    root = document(tmp_path, SESSION, **layout)
    assert said(root) == [("user", "Hello"), ("Caroline", "Hi")]
    assert turns(root)[0].tags == ("greeting", "short")


def test_content_decides_not_the_suffix(tmp_path: Path) -> None:
    assert said(document(tmp_path, SESSION, "pretty.jsonl", indent=2)) == [
        ("user", "Hello"),
        ("Caroline", "Hi"),
    ]


def test_a_list_of_sessions(tmp_path: Path) -> None:
    root = document(tmp_path, [SESSION, SESSION | {"session_id": "s2"}, {"no": "session"}])
    assert [e.id for e in events(root) if isinstance(e, SessionHead)] == ["s1", "s2"]
    assert skipped(root) == [("entry is not a session with turns", None)]


def test_lines_that_are_sessions(tmp_path: Path) -> None:
    write_lines(tmp_path / "all.jsonl", [SESSION, SESSION | {"session_id": "s2"}])
    assert len(said(tmp_path)) == 4


def test_lines_that_are_turns_of_several_sessions(tmp_path: Path) -> None:
    rows = [{"session_id": s, "role": "user", "text": f"{s}{n}"} for n in range(2) for s in ("a", "b")]
    write_lines(tmp_path / "turns.jsonl", [*rows, {"neither": 1}])
    assert [t.text for t in events(tmp_path) if isinstance(t, Turn)] == ["a0", "a1", "b0", "b1"]
    assert skipped(tmp_path) == [("line is neither a session nor a turn with a session id", 5)]


FACETS = {
    "tool_calls": [{"name": "bash", "input": {"command": "ls"}}],
    "functions_touched": ["dedupe_orders", {"function_name": "score_lead", "how": "edited"}],
    "evaluation_results": [{"metric": "accuracy", "value": 0.91}],
    "outcome_contracts": [{"function_name": "score_lead", "outcome_type": "e2e", "status": "pass"}],
    "strategy_ids": ["blue-green"],
    "key_decisions": ["Keep the merge key."],
}
CAMEL = {
    "toolCalls": FACETS["tool_calls"],
    "functionsTouched": ["dedupe_orders", {"functionName": "score_lead", "how": "edited"}],
    "evaluationResults": FACETS["evaluation_results"],
    "outcomeContracts": [{"functionName": "score_lead", "outcomeType": "e2e", "status": "pass"}],
    "strategyIds": FACETS["strategy_ids"],
    "keyDecisions": [{"decision": "Keep the merge key."}],
}


@pytest.mark.parametrize("facets", [FACETS, CAMEL])
def test_every_facet_key_in_both_spellings(tmp_path: Path, facets: dict[str, Any]) -> None:
    root = document(tmp_path, SESSION | facets)
    found = [e for e in events(root) if not isinstance(e, Turn | SessionHead)]
    assert [f.function_name for f in found if isinstance(f, FunctionTouch)] == ["dedupe_orders", "score_lead"]
    assert [(f.metric, f.value) for f in found if isinstance(f, EvaluationResult)] == [("accuracy", 0.91)]
    contracts = [(f.function_name, f.outcome_type, f.status) for f in found if isinstance(f, OutcomeContract)]
    assert contracts == [("score_lead", "e2e", "pass")]
    assert [f.strategy_id for f in found if isinstance(f, StrategyUse)] == ["blue-green"]
    assert [f.decision for f in found if isinstance(f, KeyDecision)] == ["Keep the merge key."]
    assert turns(root)[0].calls[0].payload == {"command": "ls"}


def test_camel_case_sessions(tmp_path: Path) -> None:
    value = {"sessionId": "s1", "startTime": "2026-05-14T09:00:00Z", "phaseContext": "plan",
             "turns": [{"speakerRole": "assistant", "text": "Hi"}]}  # fmt: skip
    root = document(tmp_path, value)
    assert said(root) == [("assistant", "Hi")]
    (head,) = [e for e in events(root) if isinstance(e, SessionHead)]
    assert (head.id, head.start_time, head.phase_context) == ("s1", "2026-05-14T09:00:00.000Z", "plan")
