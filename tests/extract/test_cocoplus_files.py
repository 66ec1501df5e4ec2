"""The files that CocoPlus keeps beside the sessions, whole, damaged and half written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocorecall.extract.cocoplus import (
    evidence_statuses,
    parse_contract,
    parse_evidence,
    parse_evidence_file,
    parse_lifecycle,
    parse_memory,
    parse_pattern,
    parse_premortems,
    parse_rejections,
    parse_strategy,
    phase_at,
)
from cocorecall.extract.glossary import parse_glossary

MEMORY = """# Decisions Log

## [2026-10-02T14:03:00Z] Merge key

**Decision:** Merge on ORDER_ID.
**Rationale:** Two systems
number alone.

## Session 8b00-e695 - 2026-11-04T11:40:02Z
- threshold 0.80

## A stray heading
"""


def test_memory_entries_and_session_blocks() -> None:
    memory = parse_memory(MEMORY)
    merge, session, stray = memory.entries
    assert (merge.kind, merge.title, merge.timestamp) == ("entry", "Merge key", "2026-10-02T14:03:00.000Z")
    assert merge.fields == {"decision": "Merge on ORDER_ID.", "rationale": "Two systems\nnumber alone."}
    assert (session.kind, session.title, session.line) == ("session", "8b00-e695", 9)
    assert session.text == "## Session 8b00-e695 - 2026-11-04T11:40:02Z\n- threshold 0.80"
    assert (stray.timestamp, [s.line for s in memory.skipped]) == (None, [12])


def test_headings_inside_a_fence_are_text() -> None:
    memory = parse_memory("## [2026-10-02T14:03:00Z] A\n```\n## [2026-10-03T14:03:00Z] B\n```\n")
    assert [entry.title for entry in memory.entries] == ["A"]


def test_a_premortem_is_read_from_fields_or_headings() -> None:
    text = (
        "# Progress\n## Pre-Mortem: load-orders 2026-09-02T06:55:00Z\n\n**Failure Scenario:** keeps the wrong amount\n"
        "**Prevention Status:** partial\n**Operator Acknowledgment:** by Dana\n\n"
        "## Pre-Mortem: `stage.2` (2026-09-03)\n### Failure scenario\nruns twice\n### Prevention status\nopen\n## Next\n- x\n"
    )
    first, second = parse_premortems(text).entries
    assert (first.stage_id, first.timestamp) == ("load-orders", "2026-09-02T06:55:00.000Z")
    assert (first.failure_scenario, first.prevention_status, first.operator_acknowledgment) == (
        "keeps the wrong amount", "partial", "by Dana",
    )  # fmt: skip
    assert (second.stage_id, second.failure_scenario, second.prevention_status) == (
        "stage.2",
        "runs twice",
        "open",
    )
    assert second.text.startswith("## Pre-Mortem: `stage.2`")
    assert second.text.endswith("open")


def test_a_premortem_in_the_middle_of_being_written_is_kept_and_reported() -> None:
    found = parse_premortems("## Pre-Mortem: load\n\n**Failure Scen")
    assert [(e.stage_id, e.failure_scenario) for e in found.entries] == [("load", None)]
    assert [s.reason for s in found.skipped] == [
        "pre-mortem without a time",
        "pre-mortem of stage 'load' without a failure scenario",
    ]
    assert parse_premortems("## Pre-Mortem:\n").skipped[0].line == 1
    assert parse_premortems("## Pre-Mortem:\n").entries == ()


def test_a_contract_is_the_sum_of_its_fields_and_headings() -> None:
    contract = parse_contract(
        "# Outcome Contract: f\n\n**Persona:** Data Engineer\n\n## Observable Result\n\nsees one row\n", "f"
    )
    assert (contract.persona, contract.observable_result) == ("Data Engineer", "sees one row")
    assert [s.reason for s in contract.skipped] == ["contract of 'f' has no falsifiability condition"]


def test_evidence_gives_each_tier_its_newest_status() -> None:
    contract = parse_contract("**Persona:** x\n", "f")
    records, skipped = parse_evidence(
        json.dumps(
            {
                "f": {
                    "tier": "e2e",
                    "result": "pass",
                    "source_hash": "b",
                    "recorded_at": "2026-10-02T00:00:00Z",
                },
                "g": 3,
            }
        )
    )
    older, _ = parse_evidence_file(
        '{"tier": "unit", "result": "pass", "source_hash": "a", "recorded_at": "2026-10-01T00:00:00Z"}', "f"
    )
    markdown, _ = parse_evidence_file("# Evidence\n\n**Tier:** spec\n**Result:** Failed, see log\n", "f")
    statuses = [
        (c.outcome_type, c.status) for c in evidence_statuses(contract, [*records, *older, *markdown])
    ]
    assert statuses == [("e2e", "pass"), ("unit", "stale"), ("spec", "fail")]
    assert [s.reason for s in skipped] == ["evidence of 'g' is not a JSON object"]
    assert [c.status for c in evidence_statuses(contract, [])] == ["absent"]


def test_the_phase_in_force_at_a_moment() -> None:
    history = [
        {"phase": "plan", "completed_at": "2026-10-02T00:00:00Z"},
        {"phase": "spec", "completed_at": "2026-10-01T00:00:00Z"},
        {"completed_at": "2026-10-03T00:00:00Z"},
        {"phase": "x", "completed_at": "soon"},
    ]
    lifecycle = parse_lifecycle(json.dumps({"current_phase": "build", "phase_history": history}))
    moments = ("2026-09-30T23:59:59.999Z", "2026-10-01T00:00:00.000Z", "2026-10-02T00:00:00.000Z")
    assert [phase_at(lifecycle, moment) for moment in moments] == ["spec", "plan", "build"]
    assert len(lifecycle.skipped) == 2


def test_before_the_first_start_nothing_has_started() -> None:
    entry = {"phase": "spec", "started_at": "2026-10-01T00:00:00Z", "completed_at": "2026-10-02T00:00:00Z"}
    lifecycle = parse_lifecycle(json.dumps({"current_phase": "plan", "phase_history": [entry]}))
    assert phase_at(lifecycle, "2026-09-01T00:00:00.000Z") == "not_started"
    assert phase_at(parse_lifecycle("{}"), "2026-09-01T00:00:00.000Z") is None


def test_a_strategy_is_known_by_id_and_file() -> None:
    text = 'id: two-step\nname: "Two: steps"\ndeprecated: true\ncontent: |\n  id: not-this\nhistory:\n  - version: 1\n'
    strategy = parse_strategy(text, "two_step")
    assert (strategy.id, strategy.name, strategy.names, strategy.deprecated) == (
        "two-step",
        "Two: steps",
        ("two-step", "two_step"),
        True,
    )
    assert strategy.skipped == ()


def test_a_strategy_that_is_not_yaml_is_known_by_its_file() -> None:
    strategy = parse_strategy("%%% not yaml\n{{{\n", "stem")
    assert strategy.names == ("stem",)
    assert [s.reason for s in strategy.skipped] == ["strategy 'stem' has no `key: value` line"]


def test_a_glossary_keeps_the_first_of_two_terms() -> None:
    glossary = parse_glossary(
        "## Golden Set\n**Definition:** one\n**Aliases:** holdout, None\n**Associated functions:** f_x\n## golden  set\n**Definition:** two\n"
        "## Order\n**Aliases:** holdout\n"
    )
    first = glossary.terms[0]
    assert (first.term, first.definition, first.aliases, first.functions) == (
        "Golden Set",
        "one",
        ("holdout",),
        ("f_x",),
    )
    assert glossary.phrases == (("golden set", "Golden Set"), ("holdout", "Golden Set"), ("order", "Order"))
    assert len(glossary.skipped) == 2


def test_rejections_but_for_the_damaged_and_the_torn() -> None:
    text = '{"record_id": "rej-1", "timestamp": "2026-10-01T00:00:00Z", "rejection_reason": "no bound"}\nnot json\n[1]\n{"torn'
    found = parse_rejections(text)
    assert [(r.record_id, r.reason, r.line, r.retraction) for r in found.records] == [
        ("rej-1", "no bound", 1, False)
    ]
    assert [s.line for s in found.skipped] == [2, 3]


def test_a_pattern_has_a_title_a_date_and_sections() -> None:
    pattern = parse_pattern(
        "---\nname: Merge on key\ndate: 2026-10-01T00:00:00Z\n---\n# T\n\n## When\nalways\n", "stem"
    )
    assert (pattern.title, pattern.timestamp, [s.title for s in pattern.sections]) == (
        "Merge on key",
        "2026-10-01T00:00:00.000Z",
        ["When"],
    )
    assert parse_pattern("just text", "stem").sections[0].text == "just text"


_TEXTS = st.text(max_size=200) | st.lists(
    st.sampled_from(
        ["## [2026-10-02 14:03] t", "## Session a - b", "## Pre-Mortem: s 2026-10-02", "**F:** v", "# h", "### Scenario", "```", "{", '{"f": [{"tier": 1}]}',
         "id: x", "- a", "\r", "---", "## ", "[[]]", '{"phase_history": [{"phase": 1, "completed_at": {}}]}', "\x0b", "\u2028"]
    ),
    max_size=12,
).map("\n".join)  # fmt: skip


@given(_TEXTS)
def test_no_file_stops_a_reader_and_sections_are_verbatim(text: str) -> None:
    (
        parse_evidence(text),
        parse_evidence_file(text, "f"),
        parse_lifecycle(text),
        parse_strategy(text, "s"),
        parse_rejections(text),
    )
    parse_glossary(text)
    pieces = [e.text for e in parse_memory(text).entries] + [e.text for e in parse_premortems(text).entries]
    pieces += [s.text for s in parse_contract(text, "f").sections] + [
        s.text for s in parse_pattern(text, "s").sections
    ]
    assert all(piece in text for piece in pieces)


@pytest.mark.parametrize("value", [None, "x", [], {"a": 1}, [1, {"phase": 2}]])
def test_a_phase_history_of_any_shape_is_tolerated(value: object) -> None:
    assert parse_lifecycle(json.dumps({"current_phase": "spec", "phase_history": value})).current == "spec"
