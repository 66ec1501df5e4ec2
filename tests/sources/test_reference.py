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


def test_a_document_with_a_turn_on_each_line_is_one_document(tmp_path: Path) -> None:
    words = '{"session_id": "s1", "turns": [\n{"role": "user", "text": "a"},\n{"role": "user", "content": "b"}\n]}'
    (tmp_path / "s.json").write_text(words, encoding="utf-8")
    assert said(tmp_path) == [("user", "a"), ("user", "b")]


def test_lines_of_turns_without_a_session_are_the_files(tmp_path: Path) -> None:
    write_lines(tmp_path / "standup.jsonl", [{"role": "Ana", "text": "Hello"}, {"role": "Ben", "text": "Hi"}])
    assert said(tmp_path) == [("Ana", "Hello"), ("Ben", "Hi")]
    assert {e.id for e in events(tmp_path) if isinstance(e, SessionHead)} == {"standup"}


def test_a_line_about_a_session_gives_its_facts(tmp_path: Path) -> None:
    about = {
        "sessionId": "a",
        "title": "Backfill",
        "phaseContext": "build",
        "keyDecisions": ["Keep the key."],
    }
    write_lines(tmp_path / "x.jsonl", [about, {"sessionId": "a", "role": "user", "text": "Hello"}])
    (head,) = [e for e in events(tmp_path) if isinstance(e, SessionHead)]
    assert (head.title, head.phase_context) == ("Backfill", "build")
    assert [e.decision for e in events(tmp_path) if isinstance(e, KeyDecision)] == ["Keep the key."]


@pytest.mark.parametrize(
    ("turn", "words"),
    [
        ({"text": "", "content": "in content"}, "in content"),
        ({"message": {"role": "user", "content": "in a message"}}, "in a message"),
        ({"summary": "only a summary"}, "only a summary"),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\n\nb"),
        ({"text": 42}, "42"),
    ],
)
def test_a_turns_words_are_where_it_has_any(tmp_path: Path, turn: dict[str, Any], words: str) -> None:
    root = document(tmp_path, {"session_id": "s", "turns": [{"role": "user"} | turn]})
    assert said(root) == [("user", words)]


def test_a_turn_with_nothing_to_show_leaves_the_others_numbers(tmp_path: Path) -> None:
    value = {
        "session_id": "s",
        "turns": [{"role": "user", "text": "a"}, {"role": "user", "text": None}, {"role": "x", "text": "c"}],
    }
    assert [(t.seq, t.text) for t in turns(document(tmp_path, value))] == [(0, "a"), (2, "c")]


def test_facets_of_a_turn_belong_to_it_and_names_keep_their_spelling(tmp_path: Path) -> None:
    value = {
        "session_id": "s",
        "evaluationResults": {"AUC": 0.91, "f1Score": {"value": 0.8, "threshold": 0.7}},
        "turns": [
            {"role": "user", "text": "a"},
            {"role": "assistant", "text": "b", "functionsTouched": [{"name": "dedupe_orders"}]},
            {"role": "assistant", "text": "c", "evaluation_results": {"metric": "recall", "value": 1}},
        ],
    }
    found = [e for e in events(document(tmp_path, value)) if isinstance(e, EvaluationResult | FunctionTouch)]
    assert [(e.function_name, e.turn_seq) for e in found if isinstance(e, FunctionTouch)] == [
        ("dedupe_orders", 1)
    ]
    measured = [
        (e.metric, e.value, e.threshold, e.turn_seq) for e in found if isinstance(e, EvaluationResult)
    ]
    assert measured == [("recall", 1.0, None, 2), ("AUC", 0.91, None, None), ("f1Score", 0.8, 0.7, None)]


def test_what_recall_printed_is_marked(tmp_path: Path) -> None:
    call = {"id": "c1", "name": "bash", "input": {"command": "recall search x"}}
    value = {"session_id": "s", "turns": [{"role": "assistant", "text": "a", "tool_calls": [call]},
             {"role": "tool", "text": "printed", "tool_call_id": "c1"}]}  # fmt: skip
    assert [t.echo for t in turns(document(tmp_path, value))] == [False, True]


def test_memory_does_not_follow_a_file_of_turns(tmp_path: Path) -> None:
    """Robustness H1."""
    import tracemalloc

    from cocorecall.sources.reference import FORMAT
    from transcripts import found

    path = tmp_path / "turns.jsonl"
    with path.open("wb") as file:
        for n in range(3000):
            line = {"session_id": f"s{n % 2}", "role": "user", "text": "word " * 2000}
            file.write(json.dumps(line).encode() + b"\n")
    (transcript,) = found(tmp_path)
    tracemalloc.start()
    count = sum(isinstance(e, Turn) for e in FORMAT.parse(transcript))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 3000
    assert peak < path.stat().st_size / 4


def test_a_damaged_document_is_one_report(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(json.dumps(SESSION, indent=2)[:-40], encoding="utf-8")
    assert [reason.split(" (")[0] for reason, _ in skipped(tmp_path)] == [
        "file is neither one JSON document nor JSON lines"
    ]
