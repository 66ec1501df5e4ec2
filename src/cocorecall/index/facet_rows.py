"""Facets as rows: which table each goes to, and with which columns."""

from __future__ import annotations

from typing import Any

import orjson

from cocorecall.model import (
    Entity,
    EvaluationResult,
    Facet,
    FunctionTouch,
    KeyDecision,
    OutcomeContract,
    StrategyUse,
)

COLUMNS = {
    "function_touches": "function_name, how, payload",
    "evaluation_results": "metric, value, unit, threshold, payload",
    "outcome_contracts": "function_name, outcome_type, status, payload",
    "strategy_usage": "strategy_id",
    "key_decisions": "decision, role",
    "entities": "name, type, spelling",
    "errors": "error, normalized",
    "premortems": "stage_id, timestamp, failure_scenario, prevention_status, operator_acknowledgment, source_path",
}
"""Columns of each table after `session_id, turn_id, doc`."""

FACET_TABLES = (
    "function_touches", "evaluation_results", "outcome_contracts", "strategy_usage", "key_decisions", "entities",
)  # fmt: skip
"""Tables whose rows a transcript may state in so many words (`stated`), beside what is extracted."""
EXTRACTED_TABLES = ("errors", "premortems")
"""Tables that hold extracted rows only."""


def insert_statement(table: str, *, stated: bool = False) -> str:
    """The statement that writes one row of a table: session id, turn id, doc, then its columns."""
    columns = COLUMNS[table]
    marks = ", ".join("?" * (4 + columns.count(",")))
    extra, value = (", stated", ", 1") if stated else ("", "")
    return f"INSERT INTO {table} (session_id, turn_id, doc, {columns}{extra}) VALUES ({marks}{value})"


INSERTS = {table: insert_statement(table) for table in COLUMNS}
"""Statements that write extracted rows."""


def facet_row(facet: Facet) -> tuple[str, tuple[Any, ...]]:
    """The table of a facet, and its values in the order of `COLUMNS`."""
    match facet:
        case Entity():
            spelling = facet.spelling if facet.spelling != facet.name else None
            return "entities", (facet.name, facet.type, spelling)
        case FunctionTouch():
            return "function_touches", (facet.function_name, facet.how, _text(facet.payload))
        case EvaluationResult():
            return "evaluation_results", (
                facet.metric, facet.value, facet.unit, facet.threshold, _text(facet.payload),
            )  # fmt: skip
        case OutcomeContract():
            return "outcome_contracts", (
                facet.function_name, facet.outcome_type, facet.status, _text(facet.payload),
            )  # fmt: skip
        case StrategyUse():
            return "strategy_usage", (facet.strategy_id,)
        case KeyDecision():
            return "key_decisions", (facet.decision, facet.role)


def _text(value: Any) -> str | None:
    return None if value is None else as_json(value).decode()


def as_json(value: Any) -> bytes:
    """A JSON value as bytes, whatever a transcript holds."""
    try:
        return orjson.dumps(value)
    except TypeError:  # an integer beyond 64 bits, or a key that is no string
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS)
