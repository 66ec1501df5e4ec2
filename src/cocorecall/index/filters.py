"""What a search is narrowed to, as one SQL condition on a turn's `doc`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Filters(NamedTuple):
    """Conditions that every hit must meet. Several values of one kind: any of them; kinds combine.

    Attributes:
        roles, agents, phases, tools: names, compared without case.
        since, until: ISO 8601 UTC; a turn's own time, `until` exclusive.
        folders: the session worked in this folder or below it.
        paths: fragments of the transcript's path, or glob patterns (`*`, `?`).
        session: one session's id (resolved).
        without_session: a session to leave out (the one that asks).
        echo: whether CocoRecall's own output is wanted too.
        functions, metrics, stages: names as the index holds them.
        entities: (type or None, name) pairs, likewise.
        outcome_types, outcome_statuses: of a contract, compared without case; with functions, of theirs.
    """

    roles: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    folders: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    session: str | None = None
    without_session: str | None = None
    echo: bool = False
    functions: tuple[str, ...] = ()
    entities: tuple[tuple[str | None, str], ...] = ()
    outcome_types: tuple[str, ...] = ()
    outcome_statuses: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()

    @property
    def narrow(self) -> bool:
        """Whether anything but the defaults is asked for."""
        return any((self.roles, self.agents, self.phases, self.tools, self.since, self.until, self.folders,
                    self.paths, self.session, self.by_facet))  # fmt: skip

    @property
    def by_facet(self) -> bool:
        """Whether a facet is asked for."""
        return any((self.functions, self.entities, self.outcome_types, self.outcome_statuses, self.metrics,
                    self.stages))  # fmt: skip


def condition(filters: Filters, doc: str) -> tuple[str, list[Any]]:
    """SQL that holds for the turns that meet `filters`, and its values; `doc` is the column to test."""
    parts: list[str] = []
    values: list[Any] = []
    turn, turn_values = _turn_condition(filters)
    if turn:
        parts.append(f"EXISTS (SELECT 1 FROM turns ft WHERE ft.doc = {doc} AND {' AND '.join(turn)})")
        values += turn_values
    session, session_values = _session_condition(filters)
    if session:
        parts.append(f"{doc} >> 24 IN (SELECT number FROM sessions fs WHERE {' AND '.join(session)})")
        values += session_values
    if filters.tools:
        marks = ", ".join("?" * len(filters.tools))
        parts.append(
            f"EXISTS (SELECT 1 FROM tool_calls fc WHERE fc.doc = {doc} AND lower(fc.name) IN ({marks}))"
        )
        values += [t.lower() for t in filters.tools]
    if filters.by_facet:
        facets, facet_values = _facet_condition(filters, doc)
        parts += facets
        values += facet_values
    if filters.without_session:
        parts.append(f"{doc} >> 24 NOT IN (SELECT number FROM sessions WHERE id = ? OR native_id = ?)")
        values += [filters.without_session] * 2
    if not filters.echo:
        parts.append(f"{doc} NOT IN (SELECT doc FROM turns WHERE echo)")
    return " AND ".join(parts) or "1", values


def _turn_condition(filters: Filters) -> tuple[list[str], list[Any]]:
    parts: list[str] = []
    values: list[Any] = []
    if filters.roles:
        parts.append(f"lower(ft.speaker_role) IN ({', '.join('?' * len(filters.roles))})")
        values += [r.lower() for r in filters.roles]
    if filters.since:
        parts.append("ft.timestamp >= ?")
        values.append(filters.since)
    if filters.until:
        parts.append("ft.timestamp < ?")
        values.append(filters.until)
    return parts, values


def _facet_condition(filters: Filters, doc: str) -> tuple[list[str], list[Any]]:
    """One condition a kind of facet: the turn carries it, or its whole session does."""
    parts: list[str] = []
    values: list[Any] = []

    def carried(*rows: tuple[str, str, Sequence[Any]]) -> None:
        turns = " UNION ALL ".join(f"SELECT doc FROM {table} WHERE {test}" for table, test, _ in rows)
        sessions = " UNION ALL ".join(
            f"SELECT session_id FROM {table} WHERE doc IS NULL AND {test}" for table, test, _ in rows
        )
        parts.append(
            f"({doc} IN ({turns}) OR {doc} >> 24 IN (SELECT number FROM sessions WHERE id IN ({sessions})))"
        )
        values.extend(v for _ in range(2) for *_, bound in rows for v in bound)

    if filters.outcome_types or filters.outcome_statuses:
        tests = [
            (f"lower({column}) IN ({_marks(wanted)})", [w.lower() for w in wanted])
            for column, wanted in (
                ("outcome_type", filters.outcome_types),
                ("status", filters.outcome_statuses),
            )
            if wanted
        ]
        if filters.functions:
            tests.append((f"function_name IN ({_marks(filters.functions)})", list(filters.functions)))
        carried(
            ("outcome_contracts", " AND ".join(t for t, _ in tests), [v for _, bound in tests for v in bound])
        )
    elif filters.functions:
        marks, names = _marks(filters.functions), filters.functions
        carried(
            ("function_touches", f"function_name IN ({marks})", names),
            ("entities", f"type = 'function' AND name IN ({marks})", names),
            ("outcome_contracts", f"function_name IN ({marks})", names),
        )
    if filters.entities:
        tests = [
            ("name = ?", [n]) if t is None else ("name = ? AND type = ?", [n, t]) for t, n in filters.entities
        ]
        carried(
            ("entities", f"({' OR '.join(t for t, _ in tests)})", [v for _, bound in tests for v in bound])
        )
    if filters.metrics:
        carried(("evaluation_results", f"metric IN ({_marks(filters.metrics)})", filters.metrics))
    if filters.stages:
        carried(("premortems", f"stage_id IN ({_marks(filters.stages)})", filters.stages))
    return parts, values


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))


def _session_condition(filters: Filters) -> tuple[list[str], list[Any]]:
    parts: list[str] = []
    values: list[Any] = []
    for column, wanted in (("agent", filters.agents), ("phase_context", filters.phases)):
        if wanted:
            parts.append(f"lower(fs.{column}) IN ({', '.join('?' * len(wanted))})")
            values += [w.lower() for w in wanted]
    if filters.session:
        parts.append("fs.id = ?")
        values.append(filters.session)
    if filters.folders:
        tests = " OR ".join(["ff.cwd = ? OR ff.cwd GLOB ?"] * len(filters.folders))
        parts.append(f"EXISTS (SELECT 1 FROM folders ff WHERE ff.session_id = fs.id AND ({tests}))")
        values += [v for f in filters.folders for v in (f, _glob_literal(f.rstrip("/\\")) + "[/\\]*")]
    if filters.paths:
        parts.append("(" + " OR ".join(["fs.source_path GLOB ?"] * len(filters.paths)) + ")")
        values += [p if any(c in p for c in "*?") else f"*{_glob_literal(p)}*" for p in filters.paths]
    return parts, values


def _glob_literal(text: str) -> str:
    """Escape what GLOB takes for a pattern."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in text)
