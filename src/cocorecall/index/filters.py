"""What a search is narrowed to, as one SQL condition on a turn's `doc`."""

from __future__ import annotations

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

    @property
    def narrow(self) -> bool:
        """Whether anything but the defaults is asked for."""
        return any((self.roles, self.agents, self.phases, self.tools, self.since, self.until, self.folders,
                    self.paths, self.session))  # fmt: skip


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
