"""Where an error came before, and what was done that then worked.

Two errors are the same when they agree but for numbers, names, paths and ids (`extract.normalize_error`). The call
that ended one is the next call of the same kind in its session, alike in its words, whose result reports no error.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, NamedTuple

from cocorecall.errors import UsageError
from cocorecall.extract import error_of, normalize_error
from cocorecall.index.docs import load_payload
from cocorecall.index.facets import Call, FacetReader, Failure
from cocorecall.index.reader import IndexReader
from cocorecall.model import FixReport, Repair, ToolResult, Turn
from cocorecall.search.cite import Citer
from cocorecall.search.masking import shown
from cocorecall.search.render_evidence import render_fix, render_repair
from cocorecall.search.tokens import estimate_tokens

_ALIKE = 0.34
"""Share of their words that two calls must have in common to be tries at the same thing (Jaccard)."""
_AKIN = 0.5
"""Share of its words that a known error must have in common with the one asked for to be called similar."""
_LOOKED_AT = 200
"""Occurrences that are followed up."""
_MAX_CHANGES = 2
_ROOM = 70
"""Tokens of each excerpt of a repair."""
_LINES = 6
_WORD = re.compile(r"[\w.$/-]+")
_SQL_KEYS = ("sql", "query", "statement")
_SHELL = ("bash", "shell", "exec", "terminal", "command", "zsh", "powershell")
_EDITORS = ("edit", "write", "patch", "create_file", "str_replace", "notebook")
_FAILED = ("error", "failed", "failure")


class Solution(NamedTuple):
    """What became of one failure, in the calls of its session.

    Attributes:
        failing: the call that failed.
        succeeded: the one that then worked; None where none did.
        changes: what was changed in between.
        attempts: failed tries in between.
    """

    failure: Failure
    calls: list[Call]
    failing: Call | None
    succeeded: Call | None
    changes: tuple[Call, ...]
    attempts: int


def find_repairs(reader: IndexReader, error: str, *, budget: int | None) -> FixReport:
    """Occurrences of an error, solved ones first, newest first; see `Recall.fix`.

    Raises:
        UsageError: the error is empty.
    """
    if not error.strip():
        raise UsageError(
            'Say which error: recall fix "ERROR TEXT OR CODE".', "Paste the message, or its number."
        )
    facets = reader.facets
    normalized = normalize_error(_essential(error))
    failures, notes = _occurrences(facets, error, normalized)
    solutions = [solve(facets, f) for f in failures[:_LOOKED_AT]]
    solved = _from_the_first([s for s in solutions if s.succeeded])
    ended = {s.failure.doc >> 24 for s in solved}
    unsolved = _from_the_first([s for s in solutions if not s.succeeded and s.failure.doc >> 24 not in ended])
    draft = FixReport(
        shown(error),
        shown(normalized),
        len(failures),
        sum(1 for s in solutions if s.succeeded),
        budget,
        0,
        (),
        notes,
    )
    return _within(draft, [*solved, *unsolved], Citer(reader, [error[:500]]))


def _essential(error: str) -> str:
    """The line of a pasted message that says what went wrong."""
    found = error_of(Turn("tool", error, results=(ToolResult(),)))
    return found or next(line for line in error.splitlines() if line.strip())


def _occurrences(facets: FacetReader, error: str, normalized: str) -> tuple[list[Failure], tuple[str, ...]]:
    found = facets.errors(normalized)
    if found:
        return found, ()
    for code in re.findall(r"(?<!\d)\d{6}(?!\d)", error):
        if found := facets.errors(code):
            return found, (f"No error reads like that; these have the same code, {code}.",)
    wanted = set(_WORD.findall(normalized))
    near = []
    for form in facets.error_forms():
        words = set(_WORD.findall(form))
        share = len(wanted & words) / max(1, min(len(wanted), len(words)))
        if share >= _AKIN and len(wanted & words) > 1:
            near.append((-share, form))
    forms = [form for _, form in sorted(near)[:3]]
    return [f for form in forms for f in facets.errors(form)], (
        ("No error reads exactly like that; these are similar.",) if forms else ()
    )


def _from_the_first(solutions: list[Solution]) -> list[Solution]:
    """Several failures that one call ended are one repair, told from the first of them."""
    first: dict[tuple[int, int | None, int | None], Solution] = {}
    for solution in solutions:
        call = solution.succeeded
        key = (solution.failure.doc >> 24, call.doc if call else None, call.position if call else None)
        known = first.get(key)
        if known is None or solution.failure.doc < known.failure.doc:
            first[key] = solution
    return list(first.values())


def solve(facets: FacetReader, failure: Failure) -> Solution:
    """What was tried after a failure, and what then worked."""
    start = facets.call_before(failure.doc)
    calls = facets.calls_from(start) if start is not None else []
    own = [c for c in calls if c.result == failure.doc] or [c for c in calls if c.doc == start]
    if not own:
        return Solution(failure, calls, None, None, (), 0)
    failing = next((c for c in own if _has_failed(c)), own[-1])
    statement, kind = statement_of(failing), kind_of(failing.name)
    attempts = 0
    changes: list[Call] = []
    for call in calls[calls.index(failing) + 1 :]:
        again = kind_of(call.name) == kind and _alike(statement, statement_of(call))
        if not again:
            if _changes_something(call):
                changes.append(call)
        elif _has_failed(call):
            attempts += 1
        elif call.result is not None or call.status in ("success", "ok", "completed"):
            return Solution(failure, calls, failing, call, tuple(changes[-_MAX_CHANGES:]), attempts)
    return Solution(failure, calls, failing, None, (), attempts)


_READS = re.compile(r"\s*\(?\s*(?:SELECT|WITH|SHOW|DESC(?:RIBE)?|EXPLAIN|LIST|LS|USE)\b", re.IGNORECASE)
_SHELL_CHANGES = re.compile(
    r"\b(?:(?:pip3?|uv|npm|apt(?:-get)?|brew|conda|poetry)\s[^|&;]*\b(?:install|add|update|upgrade)\b|dbt deps|chmod|chown|export|mkdir"
    r"|git (?:checkout|apply|pull|revert|restore)|sed -i|mv|cp|kill)\b"
)


def _changes_something(call: Call) -> bool:
    """An edit, a statement that is no query, or a command that installs or moves; and it did not fail."""
    if _has_failed(call):
        return False
    kind = kind_of(call.name)
    if kind == "sql":
        return not _READS.match(statement_of(call))
    if kind == "shell":
        return _SHELL_CHANGES.search(statement_of(call)) is not None
    return any(word in kind for word in _EDITORS)


def _has_failed(call: Call) -> bool:
    return call.error is not None or (call.status or "").lower() in _FAILED


def kind_of(name: str) -> str:
    """Calls of one kind are tries at the same thing: `sql`, `shell`, or the tool itself, by its name in lower case."""
    lowered = name.lower()
    if lowered.endswith("sql_execute"):
        return "sql"
    return "shell" if any(word in lowered for word in _SHELL) else lowered


def statement_of(call: Call) -> str:
    """The SQL, the command, or all texts of a call's input."""
    payload = load_payload(call.payload)
    if isinstance(payload, dict):
        texts = [payload[k] for k in (*_SQL_KEYS, "command", "cmd") if isinstance(payload.get(k), str)]
        if texts:
            return "\n".join(texts)
        return "\n".join(v for v in payload.values() if isinstance(v, str))
    return payload if isinstance(payload, str) else ""


def _alike(one: str, other: str) -> bool:
    a, b = (set(_WORD.findall(text.lower())) for text in (one, other))
    return bool(a and b) and len(a & b) / len(a | b) >= _ALIKE


def _within(draft: FixReport, solutions: list[Solution], citer: Citer) -> FixReport:
    """The repairs that the budget holds; the first one always."""
    repairs: list[Repair] = []
    room = None if draft.budget is None else draft.budget - estimate_tokens(render_fix(draft)) - 20
    for solution in solutions:
        repair = _repair(solution, citer)
        if room is not None:
            room -= estimate_tokens(render_repair(len(repairs) + 1, repair)) + 2
            if room < 0 and repairs:
                break
        repairs.append(repair)
    found = replace(draft, repairs=tuple(repairs))
    return replace(found, tokens=estimate_tokens(render_fix(found)))


def _repair(solution: Solution, citer: Citer) -> Repair:
    def of_call(call: Call | None) -> Any:
        if call is None:
            return None
        statement = statement_of(call)
        lines = [line.strip() for line in statement.splitlines() if line.strip()][:_LINES]
        return citer.cite(call.doc, focus=lines, room=_ROOM, field="calls")

    succeeded = solution.succeeded
    outcome = succeeded.result if succeeded else None
    return Repair(
        failing=of_call(solution.failing),
        error=citer.cite(solution.failure.doc, focus=[solution.failure.error], room=_ROOM, field="text"),
        succeeded=of_call(succeeded),
        outcome=citer.cite(outcome, room=_ROOM // 2, field="text") if outcome is not None else None,
        attempts=solution.attempts,
        changes=tuple(of_call(change) for change in solution.changes),
    )
