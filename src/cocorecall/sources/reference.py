"""The predecessor's layouts, and the simplest thing a script can write: sessions with their turns.

- one JSON document `{"session_id", "turns": [{"role", "text"}]}`, or a list of such;
- JSON lines, each line a session, or each line a turn with its `session_id` (sessions may alternate).

Keys are read in snake_case and camelCase. A role of any name is kept: it may be a speaker's. Facets of a
session (`functions_touched`, `evaluation_results`, `outcome_contracts`, `strategy_ids`, `key_decisions`) and
of a turn become facet events; `tool_calls` of a session are calls of its first turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cocorecall.model import (
    Entity,
    EvaluationResult,
    Event,
    Facet,
    FunctionTouch,
    KeyDecision,
    OutcomeContract,
    SessionHead,
    Skipped,
    StrategyUse,
    ToolCall,
    Turn,
)
from cocorecall.sources.blocks import clean_json, cut, join_texts, read_content, storable, with_times
from cocorecall.sources.transcript import FileStat, Line, Transcript, first_records, read_document, read_lines
from cocorecall.times import parse_instant

AGENT = "reference"
_TURN_KEYS = ("text", "content", "message")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class ReferenceFormat:
    """See the module's docstring."""

    agent = AGENT

    def default_roots(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        """Nowhere: only what is configured."""
        del home, environ
        return []

    def group(self, files: dict[str, FileStat]) -> list[Transcript]:
        """Every file stands alone."""
        del files
        return []

    def recognises(self, transcript: Transcript, head: bytes) -> bool:
        """A session with `turns`, or lines that are turns with a session id."""
        del transcript
        records = first_records(head)
        if any(_is_session(r) or _is_turn(r) for r in map(_snake, records)):
            return True
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        return start in (b"{", b"[") and not records and b'"turns"' in head

    def parse(self, transcript: Transcript) -> Iterator[Event]:
        """Yield every session of the file."""
        return with_times(_parse(transcript), transcript.mtime)


FORMAT = ReferenceFormat()


def _snake(record: dict[str, Any]) -> dict[str, Any]:
    """A record with its keys in snake_case; a key that is there in that spelling already wins."""
    out = {_CAMEL.sub("_", key).lower(): value for key, value in record.items()}
    return out | {key: value for key, value in record.items() if key in out}


def _is_session(record: dict[str, Any]) -> bool:
    return isinstance(record.get("turns"), list)


def _is_turn(record: dict[str, Any]) -> bool:
    return (
        isinstance(record.get("session_id"), str)
        and any(k in record for k in _TURN_KEYS)
        and _role(record) != ""
    )


def _role(record: dict[str, Any]) -> str:
    role = record.get("role") or record.get("speaker_role") or record.get("speaker")
    return storable(role) if isinstance(role, str) else ""


# --- a file ------------------------------------------------------------------------------------------


def _parse(transcript: Transcript) -> Iterator[Event]:
    document = _document(transcript)
    if document is not None:
        for entry in document:
            if isinstance(entry, dict) and _is_session(record := _snake(entry)):
                yield from _session(record, transcript.path.stem)
            else:
                yield Skipped("entry is not a session with turns")
        return
    yield from _lines(transcript)


def _document(transcript: Transcript) -> list[Any] | None:
    """The sessions of a single-document file; None for JSON lines."""
    if transcript.path.suffix == ".jsonl" and not _is_one_document(transcript.path):
        return None
    try:
        data = read_document(transcript.path)
    except ValueError:
        return None
    return data if isinstance(data, list) else [data]


def _is_one_document(path: Path) -> bool:
    """Whether the first line is no JSON value by itself: then the whole file is one, printed prettily."""
    with path.open("rb") as file:
        return not first_records(file.readline(1 << 20))


def _lines(transcript: Transcript) -> Iterator[Event]:
    """JSON lines: sessions as they come; turns grouped by session, in order of first appearance."""
    by_session: dict[str, list[tuple[dict[str, Any], int]]] = {}
    line: Line | Skipped | None = None
    for line in read_lines(transcript.path):
        if isinstance(line, Skipped):
            yield line
            continue
        record = _snake(line.record)
        if _is_session(record):
            yield from _session(record, f"{transcript.path.stem}-{line.number}", line)
        elif _is_turn(record):
            by_session.setdefault(record["session_id"], []).append((record, line.number))
        else:
            yield Skipped("line is neither a session nor a turn with a session id", line.number)
    if line is None:
        yield Skipped("no complete record: not whole, or still being written")
    for session_id, turns in by_session.items():
        yield from _turns_of(_head({"session_id": session_id} | _session_keys(turns), session_id), turns)


def _session_keys(turns: list[tuple[dict[str, Any], int]]) -> dict[str, Any]:
    """What turn lines say of their session: the first that says it."""
    keys = ("title", "cwd", "working_directory", "phase_context", "start_time", "end_time")
    return {
        key: value for record, _ in reversed(turns) for key in keys if (value := record.get(key)) is not None
    }


def _session(record: dict[str, Any], fallback: str, line: Line | None = None) -> Iterator[Event]:
    head = _head(record, fallback)
    number = line.number if line else None
    turns = [(_snake(t) if isinstance(t, dict) else {"text": t}, number) for t in record["turns"]]
    yield from _turns_of(head, turns, _calls(record.get("tool_calls")))
    yield from _facets(record, None)


def _head(record: dict[str, Any], fallback: str) -> SessionHead:
    session_id = record.get("session_id") or record.get("id")
    return SessionHead(
        storable(str(session_id)) if session_id else fallback,
        AGENT,
        title=_text(record.get("title")),
        cwd=_text(record.get("cwd") or record.get("working_directory")),
        start_time=_instant(record.get("start_time") or record.get("started_at")),
        end_time=_instant(record.get("end_time") or record.get("ended_at")),
        git_branch=_text(record.get("git_branch")),
        parent_id=_text(record.get("parent_id")),
        session_type=_text(record.get("session_type")),
        phase_context=_text(record.get("phase_context") or record.get("phase")),
        entity_tags=_names(record.get("entity_tags")),
        summary=_text(record.get("summary")),
    )


def _turns_of(
    head: SessionHead, turns: Iterable[tuple[dict[str, Any], int | None]], calls: tuple[ToolCall, ...] = ()
) -> Iterator[Event]:
    yield head
    facets: list[Facet] = []
    for seq, (record, line) in enumerate(turns):
        turn = _turn(record, line, seq)
        if calls:
            turn, calls = replace(turn, calls=turn.calls + calls), ()
        facets.extend(_facets(record, seq))
        yield turn
    yield from facets


def _turn(record: dict[str, Any], line: int | None, seq: int) -> Turn:
    content = next((record[k] for k in _TURN_KEYS if record.get(k) is not None), "")
    parts = read_content(content)
    texts = [*parts.texts, *(t for _, t in parts.results)]
    text, length = cut(join_texts(texts))
    native = record.get("id") or record.get("turn_id")
    timestamp, zoned = _time(record)
    thinking = _text(record.get("thinking")) or join_texts(parts.thinking)
    return Turn(
        _role(record) or "user",
        text,
        seq=seq,
        native_id=storable(native) if isinstance(native, str) else None,
        timestamp=timestamp,
        zoned=zoned,
        time_source="own" if timestamp else "none",
        thinking=thinking,
        calls=(*parts.calls, *_calls(record.get("tool_calls"))),
        results=tuple(r for r, _ in parts.results),
        tags=_names(record.get("tags")),
        line=line,
        cwd=_text(record.get("cwd")),
        text_length=length,
    )


def _time(record: dict[str, Any]) -> tuple[str | None, bool]:
    for key in ("timestamp", "ts", "time", "created_at"):
        value = record.get(key)
        found = parse_instant(value) if isinstance(value, str | int | float) else None
        if found:
            return found
    return None, True


def _instant(value: Any) -> str | None:
    found = parse_instant(value) if isinstance(value, str | int | float) else None
    return found[0] if found else None


def _text(value: Any) -> str | None:
    return storable(value) if isinstance(value, str) and value else None


def _names(value: Any) -> tuple[str, ...]:
    """A list of names, or one string with commas."""
    items = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    names = (
        storable(str(i.get("name") if isinstance(i, dict) else i)).strip().replace(",", " ") for i in items
    )
    return tuple(dict.fromkeys(n for n in names if n))


# --- facets --------------------------------------------------------------------------------------------


def _entries(value: Any) -> list[dict[str, Any]]:
    """A facet key's value as objects: a string or number `x` is {"name": x}; a map is its items."""
    if isinstance(value, dict):
        return [
            {"name": k, "value": v} if not isinstance(v, dict) else {"name": k} | _snake(v)
            for k, v in value.items()
        ]
    if not isinstance(value, list):
        value = [] if value is None else [value]
    return [_snake(clean_json(e)) if isinstance(e, dict) else {"name": storable(str(e))} for e in value]


def _calls(value: Any) -> tuple[ToolCall, ...]:
    out = []
    for entry in _entries(value):
        name = _first(entry, "name", "tool", "tool_name")
        payload = next((entry[k] for k in ("input", "payload", "arguments", "args") if k in entry), None)
        call_id = _first(entry, "id", "call_id", "tool_use_id")
        if name:
            out.append(ToolCall(name, payload, call_id, _first(entry, "status")))
    return tuple(out)


def _first(entry: dict[str, Any], *keys: str) -> str | None:
    value = next((entry[k] for k in keys if entry.get(k) is not None), None)
    return None if value is None else str(value)


def _facets(record: dict[str, Any], seq: int | None) -> Iterator[Facet]:
    for keys, make in _FACETS:
        value = next((record[k] for k in keys if record.get(k) is not None), None)
        for entry in _entries(value):
            facet = make(entry, seq)
            if facet is not None:
                yield facet


def _function(e: dict[str, Any], seq: int | None) -> Facet | None:
    name = _first(e, "function_name", "name", "function")
    return (
        FunctionTouch(name, _first(e, "how", "action", "touch"), seq, e if len(e) > 1 else None)
        if name
        else None
    )


def _evaluation(e: dict[str, Any], seq: int | None) -> Facet | None:
    metric = _first(e, "metric", "name")
    value = _number(e.get("value", e.get("score")))
    return EvaluationResult(metric, value, _first(e, "unit"), None, seq, e) if metric else None


def _contract(e: dict[str, Any], seq: int | None) -> Facet | None:
    name = _first(e, "function_name", "function", "name")
    return (
        OutcomeContract(name, _first(e, "outcome_type", "type"), _first(e, "status"), seq, e)
        if name
        else None
    )


def _strategy(e: dict[str, Any], seq: int | None) -> Facet | None:
    strategy = _first(e, "strategy_id", "id", "name")
    return StrategyUse(strategy, seq) if strategy else None


def _decision(e: dict[str, Any], seq: int | None) -> Facet | None:
    decision = _first(e, "decision", "text", "name")
    return KeyDecision(decision, _first(e, "role"), seq) if decision else None


def _entity(e: dict[str, Any], seq: int | None) -> Facet | None:
    name = _first(e, "name")
    return Entity(name, _first(e, "type") or "snowflake_object", name, seq) if name else None


_FACETS: tuple[tuple[tuple[str, ...], Callable[[dict[str, Any], int | None], Facet | None]], ...] = (
    (("functions_touched", "function_touches"), _function),
    (("evaluation_results",), _evaluation),
    (("outcome_contracts",), _contract),
    (("strategy_ids", "strategy_usage"), _strategy),
    (("key_decisions",), _decision),
    (("entities",), _entity),
)


def _number(value: Any) -> float | str | None:
    if value is None or isinstance(value, bool):
        return None if value is None else str(value)
    return float(value) if isinstance(value, int | float) else str(value)
