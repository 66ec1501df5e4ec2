"""Decisions, measured values, contracts, strategies, and what derives from facets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocorecall.extract import Extraction, Extractor, entity_tags_of, summary_of, tags_of
from cocorecall.extract.evaluations import canonical_metric, number
from cocorecall.extract.prose import sentences, split_fences
from cocorecall.extract.summary import MAX_SUMMARY
from cocorecall.model import (
    Entity,
    EvaluationResult,
    Facet,
    FunctionTouch,
    KeyDecision,
    OutcomeContract,
    StrategyUse,
    ToolCall,
    ToolResult,
    Turn,
)


def decisions(text: str, role: str = "user") -> list[str]:
    return [f.decision for f in Extractor().extract_turn(Turn(role, text), 0) if isinstance(f, KeyDecision)]


@pytest.mark.parametrize(
    "sentence",
    [
        "We decided to merge on ORDER_ID.",
        "We've agreed on one warehouse per team.",
        "We decided against clustering.",
        "Decision: one definition for both.",
        "**Decision (governance):** no grants on single tables.",
        "Agreed: we move to AI_CLASSIFY.",
        "OK, let's go with the MERGE.",
        "we'll keep the hourly schedule for now",
        "Going with AI_EMBED.",
        "Use the clone then we keep the rest for now and drop it in May.",
        "The data board approved it under GOV-1.",
        "It was decided to freeze the set.",
    ],
)
def test_a_persons_decision_is_kept_verbatim(sentence: str) -> None:
    found = (
        decisions(f"Thanks. {sentence}\n\nMore tomorrow.") if sentence[0] not in "*D" else decisions(sentence)
    )
    assert found == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "I'll use a skip instead of a default of 0, because zero would lower revenue.",
        "We set the alert at 20 minutes, because two retries take 14.",
        "I have chosen `A` over `B` because its answer is structured.",
        "Let's go with the view.",
    ],
)
def test_a_model_decides_too(sentence: str) -> None:
    assert decisions(sentence, role="assistant") == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "Should we go with the MERGE?",
        "We haven't decided yet.",
        "We never agreed to delete raw data.",
        "If we decided to add a label, the prompt would change.",
        "When did we decide to load hourly?",
        "Why we decided to go hourly is in the notes.",
        "Decision needed: who pays.",
        "Decision: TBD",
        "I could go with either.",
        "We might have agreed on it.",
        "> Decision: quoted from the minutes.",
        "We'll see how long it takes.",
        "We keep getting time-outs.",
        "The threshold decides who sees the rest.",
        "As soon as we agreed on a name he changed it.",
    ],
)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_questions_negations_hypotheticals_and_reports_decide_nothing(sentence: str, role: str) -> None:
    assert decisions(sentence, role) == []


def test_a_models_next_step_is_no_decision_but_a_persons_wish_is() -> None:
    assert decisions("Let's use the debugger here.", role="assistant") == []
    assert decisions("Let's use the staging clone here.", role="user") == [
        "Let's use the staging clone here."
    ]


def test_a_tools_output_decides_nothing_and_fences_hide() -> None:
    assert decisions("Decision: x stays", role="tool") == []
    assert decisions("```\nDecision: x stays\n```") == []


def test_the_role_of_the_decision_is_kept() -> None:
    facets = Extractor().extract_turn(Turn("Mira", "We decided to stop."), 4)
    assert facets == [KeyDecision("We decided to stop.", "Mira", 4)]


def measured(text: str, role: str = "assistant") -> list[tuple[str, object, str | None, float | None]]:
    results = (ToolResult(),) if role == "tool" else ()
    facets = Extractor().extract_turn(Turn(role, text, results=results), 0)
    return [(f.metric, f.value, f.unit, f.threshold) for f in facets if isinstance(f, EvaluationResult)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Accuracy on the holdout set is 0.91 (threshold 0.85).", ("accuracy", 0.91, None, 0.85)),
        ("F1 went from 0.71 to 0.78.", ("f1", 0.78, None, None)),
        ("recall@5 = 82%", ("recall@5", 82.0, "%", None)),
        ("precision at 50 was 0.31", ("precision@50", 0.31, None, None)),
        ("latency p95: 1,120 ms, limit 2,000", ("latency p95", 1120.0, "ms", 2000.0)),
        ("The pass rate is now about 97.5 %", ("pass rate", 97.5, "%", None)),
    ],
)
def test_a_measured_value_has_unit_and_threshold(text: str, expected: tuple[object, ...]) -> None:
    assert measured(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "x = 3",
        "self.accuracy = 0.0",
        "f(precision=3)",
        "a precision of 3 digits",
        "precision at 50 below that",
        "row 7: 0.5",
        "the accuracy of version 2.1.4",
        "error rate in 2026-10",
    ],
)
def test_code_ranks_and_versions_are_no_measured_values(text: str) -> None:
    assert measured(text) == []


def test_tables_hold_measured_values() -> None:
    rows = "| Metric | Value | Threshold |\n|---|---:|---|\n| accuracy | 0.91 | >= 0.85 |\n| F1 | **88%** | |\n| rows | 12 | |\n"
    assert measured(rows) == [("accuracy", 0.91, None, 0.85), ("f1", 88.0, "%", None)]
    wide = (
        "| model | accuracy | note |\n| --- | --- | --- |\n| a | 0.9 | x |\n| b | 0.8 | y |\n\nafter | 0.1 |"
    )
    assert [value for _, value, _, _ in measured(wide, "tool")] == [0.9, 0.8]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("=== 1 failed, 12 passed in 3.21s ===", [("tests failed", 1.0), ("tests passed", 12.0)]),
        ("14 passed in 0.42s", [("tests passed", 14.0)]),
        ("Tests:       1 failed, 11 passed, 12 total", [("tests failed", 1.0), ("tests passed", 11.0)]),
        (
            "Done. PASS=11 WARN=0 ERROR=1 SKIP=4 TOTAL=16",
            [("nodes passed", 11.0), ("nodes failed", 1.0), ("nodes skipped", 4.0)],
        ),
        ('{"metric": "f1", "value": 0.9, "threshold": 0.8}', [("f1", 0.9)]),
        ('{"eval": {"accuracy": 0.93, "rows": 10}}', [("accuracy", 0.93)]),
        ("accuracy: 0.9123", [("accuracy", 0.9123)]),
    ],
)
def test_what_a_tool_printed_is_measured(text: str, expected: list[tuple[str, float]]) -> None:
    assert [(metric, value) for metric, value, _, _ in measured(text, "tool")] == expected


def test_metric_names_are_a_list() -> None:
    assert canonical_metric("ROC_AUC") == "auc"
    assert canonical_metric("ndcg@10") == "ndcg@10"
    assert canonical_metric("rows") is None
    assert (number("1,234.5"), number(".91"), number("inf"), number("x")) == (1234.5, 0.91, None, None)


def contracts(*turns: Turn) -> list[tuple[str, str | None, str | None]]:
    session = Extraction().session()
    facets = [f for seq, turn in enumerate(turns) for f in session.extract_turn(turn, seq)]
    return [(f.function_name, f.outcome_type, f.status) for f in facets if isinstance(f, OutcomeContract)]


def test_a_contract_command_and_its_answer() -> None:
    ask = Turn("user", "$contract prove mask_email --tier e2e")
    run = Turn(
        "assistant",
        "",
        calls=(
            ToolCall("bash", {"command": "node contract-prove.js --function mask_email --tier e2e"}, "c"),
        ),
    )
    answer = Turn(
        "tool",
        '{"function": "mask_email", "recorded": {"tier": "e2e", "result": "pass"}}',
        results=(ToolResult("c"),),
    )
    assert contracts(ask, run, answer) == [
        ("mask_email", "e2e", None),
        ("mask_email", "e2e", None),
        ("mask_email", "e2e", "pass"),
    ]


def test_an_answer_in_words_counts_until_the_person_speaks_again() -> None:
    ask, said = Turn("user", "$contract check f_x"), Turn("assistant", "spec evidence is stale, unit passed")
    assert contracts(ask, said) == [("f_x", None, None), ("f_x", "spec", "stale"), ("f_x", "unit", "pass")]
    assert contracts(ask, Turn("user", "thanks"), said) == [("f_x", None, None)]


def test_a_strategy_is_used_where_its_id_stands() -> None:
    session = Extraction(strategies=["two-step-merge", "abc"]).session()
    found = session.extract_turn(
        Turn("assistant", "Applying two-step-merge; not two-step-merger, and abc."), 2
    )
    assert found == [StrategyUse("two-step-merge", 2)]


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("# Plan\n\nWe load orders, e.g. hourly. Then we merge.", "We load orders, e.g. hourly."),
        ("- **First** point. Second.", "First** point."),
        ("```sql\nSELECT 1\n```\nThat counts rows!", "That counts rows!"),
        ("| a |\n|---|\n| b |", "| a |"),
        ("", ""),
        ("---\n\n***", ""),
        ("Version 3.11 works\nacross lines. Yes.", "Version 3.11 works across lines."),
        ("最初の文。次の文。", "最初の文。"),
    ],
)
def test_a_summary_is_the_first_sentence(text: str, summary: str) -> None:
    assert summary_of(text).lstrip("| ") == summary.lstrip("| ") or summary_of(text) == summary


@given(st.text(max_size=600))
def test_a_summary_is_short_and_taken_from_the_text(text: str) -> None:
    summary = summary_of(text)
    assert len(summary) <= MAX_SUMMARY
    assert "\n" not in summary
    assert summary.removesuffix("…") in " ".join(text.split())


def test_tags_say_what_happens() -> None:
    facets: list[Facet] = [
        KeyDecision("x"),
        FunctionTouch("f"),
        Entity("E", "error_code"),
        Entity("a.py", "file"),
    ]
    assert tags_of(facets) == ("decision", "error", "function")


def test_entity_tags_are_the_most_frequent_subjects() -> None:
    mentions = [
        Entity("B", "snowflake_object"),
        Entity("f", "function"),
        Entity("f", "function"),
        Entity("a.py", "file"),
    ]
    assert entity_tags_of(mentions) == ("f", "B")
    assert len(entity_tags_of([Entity(f"T{n}", "function") for n in range(99)])) == 24


@given(st.text(max_size=400))
def test_sentences_stand_in_their_text(text: str) -> None:
    prose, fences = split_fences(text)
    assert all(sentence in prose for sentence in sentences(prose))
    assert all(fence.body in text for fence in fences)


@pytest.mark.parametrize(
    "text",
    ["A" * 200_000 + ".B", "_" * 200_000, "a." * 100_000, "`" * 100_000, "((" * 100_000, "{{ " * 60_000, "1 passed, " * 20_000,
     "accuracy = " * 20_000 + "1", "we decided " * 20_000, "|--" * 60_000, "/a" * 100_000, "http://" * 30_000, "x-1" * 60_000],
)  # fmt: skip
@pytest.mark.parametrize("role", ["user", "tool"])
def test_monotonous_text_ends(text: str, role: str) -> None:
    assert isinstance(Extractor().extract_turn(Turn(role, text), 0), list)


def test_metrics_listed_in_brackets_are_values() -> None:
    turn = Turn("assistant", "F1 is 0.87 (precision 0.91, recall 83 %); f(precision 3), (recall last week).")
    found = [f for f in Extractor().extract_turn(turn, 0) if isinstance(f, EvaluationResult)]
    assert [(f.metric, f.value, f.unit) for f in found] == [
        ("f1", 0.87, None), ("precision", 0.91, None), ("recall", 83.0, "%"),
    ]  # fmt: skip
