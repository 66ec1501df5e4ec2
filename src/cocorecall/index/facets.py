"""Reads of the facet tables: what there is to filter by, which names a person can mean, where each occurs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import apsw

from cocorecall.index.docs import MAX_SEQ, SEQ_BITS

MAX_NEAR = 3
_LOOKED_THROUGH = 50_000
"""Names that are compared with one that is not known."""


class Kind(NamedTuple):
    """A kind of facet, as SQL.

    Attributes:
        rows: a query for (value, type, doc) of every turn that carries one; several rows a turn may be.
        filter: the option of a search that takes the value; None where none does.
        names: (table, column, condition) of its names, each column indexed.
    """

    rows: str
    filter: str | None
    names: tuple[tuple[str, str, str], ...] = ()


_FUNCTIONS = (
    "SELECT function_name AS value, NULL AS type, doc FROM function_touches"
    " UNION SELECT name, NULL, doc FROM entities WHERE type = 'function'"
    " UNION SELECT function_name, NULL, doc FROM outcome_contracts"
)
KINDS = {
    "functions": Kind(
        _FUNCTIONS,
        "--function",
        (
            ("function_touches", "function_name", "1"),
            ("entities", "name", "type = 'function'"),
            ("outcome_contracts", "function_name", "1"),
        ),
    ),
    "entities": Kind(
        "SELECT name AS value, type, doc FROM entities", "--entity", (("entities", "name", "1"),)
    ),
    "outcomes": Kind(
        "SELECT function_name AS value, trim(coalesce(outcome_type, '') || ' ' || status) AS type, doc"
        " FROM outcome_contracts WHERE status IS NOT NULL",
        "--outcome-type",
    ),
    "metrics": Kind(
        "SELECT metric AS value, unit AS type, doc FROM evaluation_results",
        "--metric",
        (("evaluation_results", "metric", "1"),),
    ),
    "decisions": Kind("SELECT decision AS value, role AS type, doc FROM key_decisions", None),
    "strategies": Kind("SELECT strategy_id AS value, NULL AS type, doc FROM strategy_usage", None),
    "stages": Kind(
        "SELECT stage_id AS value, prevention_status AS type, doc FROM premortems",
        "--stage",
        (("premortems", "stage_id", "1"),),
    ),
    "errors": Kind("SELECT normalized AS value, NULL AS type, doc FROM errors", None),
    "tools": Kind("SELECT lower(name) AS value, NULL AS type, doc FROM tool_calls", "--tool"),
    "phases": Kind(
        "SELECT s.phase_context AS value, NULL AS type, t.doc FROM turns t JOIN sessions s ON s.number = t.doc >> 24",
        "--phase",
    ),
    "agents": Kind(
        "SELECT s.agent AS value, NULL AS type, t.doc FROM turns t JOIN sessions s ON s.number = t.doc >> 24",
        "--agent",
    ),
    "roles": Kind("SELECT speaker_role AS value, NULL AS type, doc FROM turns", "--role"),
}
"""Kinds of facets by the word that `recall facets` takes."""


_ORDER = {"decisions": "max(f.doc) DESC, value"}
"""What is said once is listed by its time, not by its number."""


class Counted(NamedTuple):
    """A value with how often it occurs and where last.

    Attributes:
        doc: the newest turn that carries it; None where it belongs to sessions as a whole.
    """

    value: str
    type: str | None
    turns: int
    sessions: int
    doc: int | None


class Event(NamedTuple):
    """One thing that a turn tells of a name.

    Attributes:
        what: the particulars, in words for a person.
        focus: the passage of the turn that tells it; empty where the name itself does.
    """

    kind: str
    what: str
    focus: str
    doc: int
    timestamp: str


class Fear(NamedTuple):
    """A row of `premortems`."""

    stage_id: str
    timestamp: str | None
    failure_scenario: str | None
    prevention_status: str | None
    operator_acknowledgment: str | None
    doc: int


class Failure(NamedTuple):
    """A row of `errors`."""

    doc: int
    error: str
    normalized: str


class Call(NamedTuple):
    """A tool call and what came of it.

    Attributes:
        payload: JSON text, or None.
        result: the turn of its result, where known.
        error: what that result reports, if it does.
    """

    doc: int
    position: int
    name: str
    payload: str | None
    status: str | None
    result: int | None
    error: str | None


class FacetReader:
    """Statements over the facet tables of an open index."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def _all(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._db.execute(sql, values).fetchall()

    def pending(self) -> int:
        """Sessions whose turns have not been read for facets yet."""
        return int(self._all("SELECT count(*) FROM sessions WHERE facets_pending")[0][0])

    # --- what there is ---

    def sizes(self) -> list[tuple[str, int, int]]:
        """(kind, different values, turns that carry one) for each kind."""
        out = []
        for kind, definition in KINDS.items():
            row = self._all(
                "SELECT count(DISTINCT coalesce(type, '') || char(10) || value), count(DISTINCT doc)"
                f" FROM ({definition.rows}) WHERE value IS NOT NULL"
            )[0]
            out.append((kind, int(row[0]), int(row[1])))
        return out

    def values(
        self, kind: str, *, of_type: str | None, like: str | None, limit: int | None
    ) -> tuple[int, list[Counted]]:
        """(how many values there are, the most used of them).

        Args:
            kind: a key of `KINDS`.
            of_type: only values of this type, without case.
            like: only values that hold this text, without case.
            limit: most values; None: all.
        """
        where, bound = ["value IS NOT NULL"], []
        if of_type:
            where.append("lower(type) = ?")
            bound.append(of_type.lower())
        if like:
            where.append("instr(lower(value), ?)")
            bound.append(like.lower())
        rows = self._all(
            "SELECT value, type, count(DISTINCT f.doc) AS n, count(DISTINCT f.doc >> 24) AS s, count(*) OVER ()"
            f" FROM ({KINDS[kind].rows}) f WHERE {' AND '.join(where)} GROUP BY value, type"
            f" ORDER BY {_ORDER.get(kind, 'n DESC, s DESC, value, type')} LIMIT ?",
            (*bound, -1 if limit is None else limit),
        )
        found = [Counted(str(v), t or None, n, s, self._newest(kind, v, t)) for v, t, n, s, _ in rows]
        return (int(rows[0][4]) if rows else 0), found

    def _newest(self, kind: str, value: str, of_type: str | None) -> int | None:
        rows = self._all(
            f"SELECT t.doc FROM ({KINDS[kind].rows}) f JOIN turns t ON t.doc = f.doc"
            " WHERE f.value = ? AND f.type IS ? ORDER BY t.timestamp DESC, t.doc DESC LIMIT 1",
            (value, of_type),
        )
        return int(rows[0][0]) if rows else None

    def types(self, kind: str) -> list[str]:
        """The types that values of a kind have."""
        rows = self._all(f"SELECT DISTINCT type FROM ({KINDS[kind].rows}) WHERE type <> '' ORDER BY type")
        return [str(t) for (t,) in rows]

    def outcomes(self, column: int) -> tuple[str, ...]:
        """The types (0) or states (1) of the contracts that are indexed."""
        name = ("outcome_type", "status")[column]
        rows = self._all(f"SELECT DISTINCT {name} FROM outcome_contracts WHERE {name} IS NOT NULL ORDER BY 1")
        return tuple(str(v) for (v,) in rows)

    # --- which names a person means ---

    def resolve(self, kind: str, wanted: str) -> tuple[str, ...]:
        """The names that a person can mean: equal without case, or ending in it behind a dot or a slash."""
        key = wanted.lower().replace("\\", "/")
        endings = (f".{key}", f"/{key}")
        return tuple(n for n in self._names(kind) if n.lower() == key or n.lower().endswith(endings))

    def near(self, kind: str, wanted: str) -> tuple[str, ...]:
        """Names like one that is not known, nearest first."""
        import difflib  # noqa: PLC0415 - only for a name that is not known

        by_key: dict[str, str] = {}
        for name, _ in zip(self._names(kind), range(_LOOKED_THROUGH), strict=False):
            for key in (name, name.rpartition(".")[2], name.rpartition("/")[2]):
                by_key.setdefault(key.lower(), name)
        found = difflib.get_close_matches(wanted.lower(), by_key, n=2 * MAX_NEAR, cutoff=0.6)
        return tuple(dict.fromkeys(by_key[key] for key in found))[:MAX_NEAR]

    def entity_types(self, name: str) -> list[str]:
        """The types under which a name is an entity."""
        rows = self._all("SELECT DISTINCT type FROM entities WHERE name = ? ORDER BY type", (name,))
        return [str(t) for (t,) in rows]

    def _names(self, kind: str) -> Iterator[str]:
        seen: set[str] = set()
        definition = KINDS[kind]
        if not definition.names:
            rows = self._all(
                f"SELECT DISTINCT value FROM ({definition.rows}) WHERE value IS NOT NULL ORDER BY 1"
            )
            yield from (str(v) for (v,) in rows)
        for table, column, condition in definition.names:
            for name in self._steps(table, column):
                if name not in seen and (condition == "1" or self._meets(table, column, condition, name)):
                    seen.add(name)
                    yield name

    def _steps(self, table: str, column: str) -> Iterator[str]:
        """The different values of an indexed column: a step in the index each, however often they occur."""
        rows = self._db.execute(
            f"WITH RECURSIVE step (v) AS (SELECT min({column}) FROM {table} UNION ALL"
            f" SELECT (SELECT min({column}) FROM {table} WHERE {column} > v) FROM step WHERE v IS NOT NULL)"
            " SELECT v FROM step WHERE v IS NOT NULL"
        )
        for (value,) in rows:
            yield str(value)

    def _meets(self, table: str, column: str, condition: str, name: str) -> bool:
        return bool(self._all(f"SELECT 1 FROM {table} WHERE {column} = ? AND {condition} LIMIT 1", (name,)))

    # --- timeline, pre-mortems ---

    def events(self, names: list[str], words: list[str]) -> list[Event]:
        """What happened to something known by these canonical names, oldest first.

        Args:
            names: its names as entities and functions.
            words: how sentences name it, in lower case.
        """
        marks = ", ".join("?" * len(names))
        mentioned = f"(SELECT doc FROM entities WHERE name IN ({marks}))"
        said = " OR ".join(["instr(lower({0}), ?)"] * len(words))
        decided, feared = said.format("f.decision"), said.format("t.text")
        query = (
            f"SELECT 'touched' AS kind, coalesce(how, 'touched') AS what, '' AS focus, doc FROM function_touches"
            f" WHERE function_name IN ({marks})"
            f" UNION SELECT 'touched', 'used in ' || c.name, '', e.doc FROM entities e JOIN tool_calls c ON c.doc = e.doc"
            f" WHERE e.name IN ({marks}) AND e.doc NOT IN"
            f" (SELECT doc FROM function_touches WHERE function_name IN ({marks}) AND doc IS NOT NULL)"
            f" UNION SELECT 'evaluated', metric || ' = ' || value || coalesce(unit, '') ||"
            f" coalesce(' (threshold ' || threshold || ')', ''), metric, doc FROM evaluation_results WHERE doc IN {mentioned}"
            f" UNION SELECT 'decided', coalesce(f.role, ''), f.decision, f.doc FROM key_decisions f"
            f" WHERE {decided} OR f.doc IN {mentioned}"
            f" UNION SELECT 'contracted', trim(coalesce(outcome_type, 'contract') || ' ' || coalesce(status, '')), '', doc"
            f" FROM outcome_contracts WHERE function_name IN ({marks}) AND (outcome_type IS NOT NULL OR status IS NOT NULL)"
            f" UNION SELECT 'feared', 'stage ' || f.stage_id, coalesce(f.failure_scenario, ''), f.doc"
            f" FROM premortems f JOIN turns t ON t.doc = f.doc WHERE {feared} OR f.doc IN {mentioned}"
            f" UNION SELECT 'failed', '', error, doc FROM errors WHERE doc IN {mentioned}"
        )
        values = [*names * 4, *words, *names * 2, *words, *names * 2]
        found = self._timed(query, values)
        return found or self._timed(
            f"SELECT 'mentioned' AS kind, '' AS what, '' AS focus, doc FROM entities WHERE name IN ({marks})",
            names,
        )

    def _timed(self, query: str, values: Sequence[Any]) -> list[Event]:
        rows = self._all(
            f"SELECT e.kind, e.what, e.focus, e.doc, t.timestamp FROM ({query}) e JOIN turns t ON t.doc = e.doc"
            " WHERE NOT t.echo ORDER BY t.timestamp, e.doc, e.kind, e.what",
            values,
        )
        return [Event(*row) for row in rows]

    def premortems(self, stages: Sequence[str] | None) -> list[Fear]:
        """The pre-mortems of some stages, or of all, newest first."""
        where = f"WHERE stage_id IN ({', '.join('?' * len(stages))})" if stages is not None else ""
        rows = self._all(
            "SELECT stage_id, timestamp, failure_scenario, prevention_status, operator_acknowledgment, doc"
            f" FROM premortems {where} ORDER BY coalesce(timestamp, '') DESC, doc DESC",
            stages or (),
        )
        return [Fear(*row) for row in rows]

    # --- errors and what followed them ---

    def errors(self, normalized: str) -> list[Failure]:
        """Errors whose normalized form is this one or holds it, newest first."""
        rows = self._all(
            "SELECT f.doc, f.error, f.normalized FROM errors f JOIN turns t ON t.doc = f.doc"
            " WHERE instr(f.normalized, ?) AND NOT t.echo ORDER BY t.timestamp DESC, f.doc DESC",
            (normalized,),
        )
        return [Failure(*row) for row in rows]

    def error_forms(self) -> list[str]:
        """The different normalized errors of the index."""
        return list(self._steps("errors", "normalized"))

    def calls_from(self, doc: int) -> list[Call]:
        """The calls of a turn and of those after it in its session, in order, each with what came of it."""
        rows = self._all(
            "SELECT c.doc, c.position, c.name, c.payload, c.status, r.doc, e.error FROM tool_calls c"
            " LEFT JOIN turns r ON r.id = c.result_turn_id LEFT JOIN errors e ON e.doc = r.doc"
            " WHERE c.doc BETWEEN ? AND ? ORDER BY c.doc, c.position",
            (doc, doc | MAX_SEQ),
        )
        return [Call(*row) for row in rows]

    def call_before(self, doc: int) -> int | None:
        """The turn that holds the call which a result answers; else the last turn with calls before it."""
        first = doc >> SEQ_BITS << SEQ_BITS
        rows = self._all(
            "SELECT c.doc FROM turns t JOIN tool_calls c ON c.result_turn_id = t.id AND c.doc BETWEEN ? AND ?"
            " WHERE t.doc = ? LIMIT 1",
            (first, doc, doc),
        ) or self._all("SELECT max(doc) FROM tool_calls WHERE doc BETWEEN ? AND ?", (first, doc - 1))
        return int(rows[0][0]) if rows and rows[0][0] is not None else None
