"""The predecessor's layouts, and the simplest thing a script can write: sessions with their turns.

- one JSON document `{"session_id", "turns": [{"role", "text"}]}`, or a list of such;
- JSON lines, each line a session, or each line a turn with its `session_id` (sessions may alternate; a turn
  without one belongs to the session that the file is named after, a line with one and no turn is about it).

Keys are read in snake_case and camelCase; unknown ones are passed over. A role of any name is kept: it may be
a speaker's. Facets of a session (`functions_touched`, `evaluation_results`, `outcome_contracts`,
`strategy_ids`, `key_decisions`) and of a turn become facet events; `tool_calls` of a session are calls of its
first turn. A turn with nothing to show is left out; the others keep their numbers.
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
    ToolResult,
    Turn,
)
from cocorecall.sources.blocks import (
    Content,
    clean_json,
    cut,
    join_texts,
    read_content,
    storable,
    stored_name,
    with_times,
)
from cocorecall.sources.echo import is_echo
from cocorecall.sources.transcript import (
    FileStat,
    Line,
    Place,
    Transcript,
    clean,
    first_records,
    is_document,
    read_again,
    read_document,
    read_lines,
    why_not_json,
)
from cocorecall.times import parse_instant

AGENT = "reference"
_TURN_KEYS = ("text", "content", "message", "summary")
"""Where a turn's words are: the first that says something."""

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
        if not is_document(head):
            return any(_is_session(r) or _is_turn(r) for r in map(_snake, first_records(head)))
        start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
        if start in (b"{", b"[") and b'"turns"' in head:
            return True
        # one damaged line, or a line about the session, may stand in front of turns
        return any(_is_session(r) or _is_turn(r) for r in map(_snake, first_records(head)))

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
    """A message with a role, in a session or with bare `text`: `role` and `content` alone are Cortex Code's."""
    named = _session_id(record) is not None and any(k in record for k in _TURN_KEYS)
    return (named or isinstance(record.get("text"), str)) and _role(record) != "" and "type" not in record


def _is_header(record: dict[str, Any]) -> bool:
    return _session_id(record) is not None and not _is_session(record) and _role(record) == ""


def _session_id(record: dict[str, Any]) -> str | None:
    value = record.get("session_id")
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else stored_name(value)


def _role(record: dict[str, Any]) -> str:
    message = record.get("message")
    inner = message.get("role") if isinstance(message, dict) else None
    role = record.get("role") or record.get("speaker_role") or record.get("speaker") or inner
    return storable(role).strip() if isinstance(role, str) else ""


# --- a file ------------------------------------------------------------------------------------------


def _parse(transcript: Transcript) -> Iterator[Event]:
    with transcript.path.open("rb") as file:
        head = file.read(_FIRST_LINES)
    if not is_document(head):
        yield from _lines(transcript)
        return
    try:
        data = read_document(transcript.path)
    except ValueError as error:
        if b"\n" in head and not first_records(head):
            yield Skipped(f"file is neither one JSON document nor JSON lines ({why_not_json(error)})")
        else:
            yield from _lines(transcript)
        return
    for entry in data if isinstance(data, list) else [data]:
        if isinstance(entry, dict) and _is_session(record := _snake(entry)):
            yield from _session(record, clean(transcript.path.stem))
        else:
            yield Skipped("entry is not a session with turns")


_FIRST_LINES = 1 << 20
"""Bytes in which the first record ends, or else the file is tried as one document."""


def _lines(transcript: Transcript) -> Iterator[Event]:
    """JSON lines: sessions as they come; turns grouped by session, in order of first appearance.

    Of a turn only its place is kept until its session's turn has come, so that memory does not follow the
    file.
    """
    stem = clean(transcript.path.stem)
    places: dict[str, list[Place]] = {}
    about: dict[str, dict[str, Any]] = {}
    line: Line | Skipped | None = None
    for line in read_lines(transcript.path):
        if isinstance(line, Skipped):
            yield line
            continue
        record = _snake(line.record)
        session_id = _session_id(record) or stem
        if _is_session(record):
            yield from _session(record, stem if line.number == 1 else f"{stem}-{line.number}", line.number)
        elif _is_header(record):
            about[session_id] = record | about.get(session_id, {})
        elif _is_turn(record):
            places.setdefault(session_id, []).append(Place(line.number, line.offset))
            facts = about.setdefault(session_id, {})
            facts.update({k: v for k in _SESSION_KEYS if k not in facts and (v := record.get(k)) is not None})
        else:
            yield Skipped("line is neither a session nor a turn with a session id", line.number)
    if line is None:
        yield Skipped("no complete record: not whole, or still being written")
    for session_id, turns in places.items():
        yield from _grouped(transcript.path, session_id, turns, about[session_id])


_SESSION_KEYS = ("title", "cwd", "working_directory", "phase_context", "start_time", "end_time")
"""What turn lines can say of their session; the first that says it is believed."""


def _grouped(path: Path, session_id: str, turns: list[Place], about: dict[str, Any]) -> Iterator[Event]:
    records = ((_snake(line.record), line.number) for line in read_again(path, turns))
    yield from _turns_of(_head(about | {"session_id": session_id}, session_id), records, _calls(about))
    yield from _facets(about, None)


def _session(record: dict[str, Any], fallback: str, line: int | None = None) -> Iterator[Event]:
    turns = ((_snake(t) if isinstance(t, dict) else {"text": t}, line) for t in record["turns"])
    yield from _turns_of(_head(record, fallback), turns, _calls(record))
    yield from _facets(record, None)


def _head(record: dict[str, Any], fallback: str) -> SessionHead:
    session_id = record.get("session_id") or record.get("id")
    return SessionHead(
        clean(str(session_id)) if session_id else fallback,
        AGENT,
        title=_text(record.get("title")),
        cwd=stored_name(record.get("cwd") or record.get("working_directory")),
        start_time=_instant(record.get("start_time") or record.get("started_at")),
        end_time=_instant(record.get("end_time") or record.get("ended_at")),
        git_branch=stored_name(record.get("git_branch")),
        parent_id=stored_name(record.get("parent_id") or record.get("parent_session_id")),
        session_type=stored_name(record.get("session_type")),
        phase_context=_text(record.get("phase_context") or record.get("phase")),
        entity_tags=_names(record.get("entity_tags")),
        summary=_text(record.get("summary")),
    )


def _turns_of(
    head: SessionHead, turns: Iterable[tuple[dict[str, Any], int | None]], calls: tuple[ToolCall, ...] = ()
) -> Iterator[Event]:
    yield head
    facets: list[Facet] = []
    echoes: set[str] = set()
    for seq, (record, line) in enumerate(turns):
        turn = _turn(record, line, seq)
        if calls:
            turn, calls = replace(turn, calls=turn.calls + calls), ()
        echoes.update(c.call_id for c in turn.calls if c.call_id and is_echo(c))
        if echoes and any(r.call_id in echoes for r in turn.results):
            turn = replace(turn, echo=True)
        own = list(_facets(record, seq))
        facets.extend(own)
        if turn.text.strip() or turn.calls or turn.thinking or turn.results or turn.tags or own:
            yield turn
    yield from facets


def _turn(record: dict[str, Any], line: int | None, seq: int) -> Turn:
    parts = _content(record)
    text, length = cut(join_texts([*parts.texts, *(t for _, t in parts.results)]))
    timestamp, zoned = _time(record)
    results = [r for r, _ in parts.results]
    answers = stored_name(record.get("tool_call_id") or record.get("tool_use_id"))
    if answers and not results:
        results = [ToolResult(answers, stored_name(record.get("status")))]
    return Turn(
        _role(record) or "user", text, seq=seq, native_id=stored_name(record.get("id") or record.get("turn_id")),
        timestamp=timestamp, zoned=zoned, time_source="own" if timestamp else "none",
        thinking=_text(record.get("thinking")) or join_texts(parts.thinking),
        calls=(*parts.calls, *_calls(record)), results=tuple(results), tags=_names(record.get("tags")),
        line=line, cwd=stored_name(record.get("cwd")), text_length=length,
    )  # fmt: skip


def _content(record: dict[str, Any]) -> Content:
    """A turn's words: the first of its keys that says something."""
    parts = Content()
    for key in _TURN_KEYS:
        value = record.get(key)
        if key == "message" and isinstance(value, dict) and "content" in value:
            value = value["content"]
        parts = read_content(str(value) if isinstance(value, int | float) else value)
        if any(t.strip() for t in parts.texts) or parts.results or parts.calls or parts.thinking:
            break
    return parts


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


_NAMING = ("name", "metric", "function_name", "function", "strategy_id", "decision", "tool", "tool_name")
"""Keys that name what an entry is about."""


def _entries(value: Any) -> list[dict[str, Any]]:
    """A facet key's value as objects: a string or number `x` is {"name": x}; a map is one entry or many."""
    value = clean_json(value)
    if isinstance(value, dict):
        entry = _snake(value)
        if any(isinstance(entry.get(k), str) for k in _NAMING):
            return [entry]
        return [{"name": k} | (_snake(v) if isinstance(v, dict) else {"value": v}) for k, v in value.items()]
    if not isinstance(value, list):
        value = [] if value is None else [value]
    return [_snake(e) if isinstance(e, dict) else {"name": str(e)} for e in value if e is not None]


def _calls(record: dict[str, Any]) -> tuple[ToolCall, ...]:
    out = []
    for entry in _entries(record.get("tool_calls")):
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
    threshold = e.get("threshold")
    threshold = float(threshold) if isinstance(threshold, int | float) else None
    return EvaluationResult(metric, value, _first(e, "unit"), threshold, seq, e) if metric else None


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
