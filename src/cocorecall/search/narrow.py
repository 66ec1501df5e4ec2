"""What filters a person names, as the index holds it; and what to say of a name that it does not hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cocorecall.index.facets import FacetReader

_ENTITY_TYPES = (
    "snowflake_object", "function", "cortex_feature", "data_concept", "file", "error_code", "url", "ticket",
)  # fmt: skip
_LISTED = {"role": "roles", "agent": "agents", "phase": "phases", "tool": "tools"}


def resolve_facets(asked: Mapping[str, Any], facets: FacetReader) -> tuple[dict[str, Any], list[str]]:
    """The facet filters by the names that the index holds, and notes about those it does not.

    Args:
        asked: values as a person wrote them, by `function`, `entity`, `metric`, `stage`, `outcome_type`, `outcome_status`.
        facets: the open index.

    Returns:
        Keyword arguments of `index.filters.Filters`, and sentences for the answer. A name that is not known stays in
        the filter, so that it matches nothing, rather than everything.
    """
    notes: list[str] = []
    found: dict[str, Any] = {
        "outcome_types": tuple(asked["outcome_type"]),
        "outcome_statuses": tuple(asked["outcome_status"]),
    }
    for key, field, kind in (
        ("function", "functions", "functions"),
        ("metric", "metrics", "metrics"),
        ("stage", "stages", "stages"),
    ):
        found[field] = tuple(
            name for wanted in asked[key] for name in _names(kind, wanted, key, facets, notes)
        )
    found["entities"] = tuple(pair for wanted in asked["entity"] for pair in _entities(wanted, facets, notes))
    for key, column in (("outcome_type", 0), ("outcome_status", 1)):
        notes += _unknown_outcomes(asked[key], key, column, facets)
    pending = facets.pending() if any(asked.values()) else 0
    if pending:
        notes.append(f"{pending:,} sessions are not read for facets yet: run `recall import`.")
    return found, notes


def _names(kind: str, wanted: str, key: str, facets: FacetReader, notes: list[str]) -> tuple[str, ...]:
    names = facets.resolve(kind, wanted)
    if not names:
        notes.append(_not_known(key.replace("_", " "), wanted, facets.near(kind, wanted)))
    return names or (wanted,)


def _entities(wanted: str, facets: FacetReader, notes: list[str]) -> list[tuple[str | None, str]]:
    of_type, colon, name = wanted.partition(":")
    if not colon or of_type.lower() not in _ENTITY_TYPES:
        of_type, name = "", wanted
    names = facets.resolve("entities", name)
    if of_type:
        names = tuple(n for n in names if of_type.lower() in facets.entity_types(n))
    if not names:
        what = of_type.lower().replace("_", " ") or "entity"
        notes.append(_not_known(what, name, facets.near("entities", name)))
    return [(of_type.lower() or None, n) for n in names or (name,)]


def _unknown_outcomes(wanted: Sequence[str], key: str, column: int, facets: FacetReader) -> list[str]:
    if not wanted:
        return []
    known = facets.outcomes(column)
    return [
        _not_known(key.replace("_", " "), w, known)
        for w in wanted
        if w.lower() not in {k.lower() for k in known}
    ]


def _not_known(what: str, wanted: str, near: Sequence[str]) -> str:
    like = f" Near: {', '.join(near)}." if near else ""
    return f"No {what} {wanted!r} is indexed.{like}"


def unknown_values(asked: Mapping[str, Any], facets: FacetReader) -> list[str]:
    """For an answer without hits: which roles, agents, phases and tools asked for the index does not hold at all."""
    return [
        _not_known(key, wanted, facets.near(kind, wanted) or _some(kind, facets))
        for key, kind in _LISTED.items()
        for wanted in asked[key]
        if not facets.resolve(kind, wanted)
    ]


def _some(kind: str, facets: FacetReader) -> tuple[str, ...]:
    return tuple(c.value for c in facets.values(kind, of_type=None, like=None, limit=5)[1])
