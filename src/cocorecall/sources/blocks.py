"""Message content as Anthropic-shaped formats write it, and what of it is the conversation.

Content is a string, a list of blocks, or nothing. Injected context (reminders, wrappers) is cut out block
by block, so that a person's words in the same block stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from cocorecall.model import MAX_TEXT, Event, SessionHead, TimeSource, ToolCall, ToolResult, Turn
from cocorecall.sources.transcript import clean, media_marker, without_payloads
from cocorecall.times import format_instant

_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>[ \t]*\n*", re.DOTALL)
_OPEN_REMINDER = re.compile(r"<system-reminder>.*\Z", re.DOTALL)


def without_reminders(text: str) -> str:
    """Cut `<system-reminder>` blocks; one that is never closed goes only where nothing stands before it.

    What stands behind an unclosed tag may be a person's words: then all of it stays.
    """
    if "<system-reminder>" not in text:
        return text
    cut = _REMINDER.sub("", text)
    if cut.startswith("<system-reminder>") and "\n\n" not in cut:
        cut = _OPEN_REMINDER.sub("", cut)
    return cut.strip("\n") if cut != text else text


@dataclass(slots=True)
class Content:
    """The parts of one message's content.

    Attributes:
        texts: text blocks, cleaned, in order.
        thinking: the model's reasoning.
        calls: tools called.
        results: tool results, each with its text.
        injected: how many blocks were left out.
    """

    texts: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    results: list[tuple[ToolResult, str]] = field(default_factory=list)
    injected: int = 0


def read_content(content: Any) -> Content:
    """Read a message's content, whatever its shape; unknown blocks that hold text give their text."""
    out = Content()
    if isinstance(content, str):
        out.texts.append(storable(content))
    elif isinstance(content, dict):
        _read_block(content, out)
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, str):
                out.texts.append(storable(block))
            elif isinstance(block, dict):
                _read_block(block, out)
    return out


def storable(text: str) -> str:
    """A text as it is stored: NUL and lone surrogates replaced, `data:` payloads marked."""
    return without_payloads(clean(text))


def _read_block(block: dict[str, Any], out: Content) -> None:
    if block.get("internalOnly"):
        out.injected += 1
        return
    kind = block.get("type")
    if kind == "thinking":
        inner = block.get("thinking")
        text = inner.get("text") if isinstance(inner, dict) else inner
        if isinstance(text, str) and text:
            out.thinking.append(storable(text))
    elif kind == "tool_use":
        out.calls.append(_call(_nested(block, "tool_use")))
    elif kind == "tool_result":
        out.results.append(_result(_nested(block, "tool_result")))
    elif kind in ("image", "document"):
        out.texts.append(_media(block, str(kind)))
    elif isinstance(block.get("text"), str):
        out.texts.append(storable(block["text"]))


def _nested(block: dict[str, Any], key: str) -> dict[str, Any]:
    """Cortex Code nests what Anthropic writes flat."""
    inner = block.get(key)
    return inner if isinstance(inner, dict) else block


def _call(body: dict[str, Any]) -> ToolCall:
    call_id = body.get("tool_use_id") or body.get("id")
    return ToolCall(
        clean(str(body.get("name") or "tool")),
        clean_json(body.get("input")),
        call_id if isinstance(call_id, str) else None,
    )


def clean_json(value: Any, depth: int = 0) -> Any:
    """A JSON value whose strings can be stored; nested deeper than 200 it is cut."""
    if isinstance(value, str):
        return storable(value)
    if depth > 200:  # noqa: PLR2004 - stated above
        return None
    if isinstance(value, list):
        return [clean_json(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {clean(str(key)): clean_json(item, depth + 1) for key, item in value.items()}
    return value


def _result(body: dict[str, Any]) -> tuple[ToolResult, str]:
    call_id = body.get("tool_use_id")
    status = body.get("status")
    if not isinstance(status, str):
        failed = body.get("is_error")
        status = None if failed is None else "error" if failed else "success"
    parts = read_content(body.get("content"))
    texts = [*parts.texts]
    if not texts and body.get("sqldata") is not None:
        texts.append(storable(str(body["sqldata"])))
    return ToolResult(call_id if isinstance(call_id, str) else None, status), "\n\n".join(texts)


def _media(block: dict[str, Any], kind: str) -> str:
    source = block.get("source")
    source = source if isinstance(source, dict) else block
    media_type = source.get("media_type") or source.get("mime_type") or source.get("mimeType") or kind
    data = source.get("data")
    return media_marker(str(media_type), len(data) if isinstance(data, str) else None)


def join_texts(texts: Iterable[str]) -> str:
    """Text blocks joined by a blank line, empty ones left out."""
    return "\n\n".join(t for t in texts if t.strip())


def cut(text: str) -> tuple[str, int | None]:
    """A text of at most `MAX_TEXT` characters, and its true length where it was longer."""
    return (text, None) if len(text) <= MAX_TEXT else (text[:MAX_TEXT], len(text))


# --- what CocoRecall itself printed --------------------------------------------------------------------

_ECHO_TOOL = re.compile(r"(?:^|__)recall_[a-z]+$|^mcp__(?:coco)?recall__", re.IGNORECASE)
_ECHO_COMMAND = re.compile(
    r"(?:^|[;&|]|\b(?:uv run|uvx|pipx run|exec|time)\s|[\\/])\s*(?:coco)?recall(?:\.exe)?\s+(?:--?[\w-]+\s+)*"
    r"(?:search|show|timeline|fix|facets|premortems|verify|dream|export)\b"
    r"|python[\d.]*\s+-m\s+cocorecall\b",
    re.MULTILINE,
)


def is_echo(call: ToolCall) -> bool:
    """Whether a tool call asks CocoRecall, so that its result is what CocoRecall printed."""
    if _ECHO_TOOL.search(call.name):
        return True
    command = call.payload.get("command") if isinstance(call.payload, dict) else None
    return isinstance(command, str) and _ECHO_COMMAND.search(command) is not None


# --- times that are not there ---------------------------------------------------------------------------

_MAX_WAITING = 5_000
"""Turns at the start of a session that wait for the first time to appear; more take the session's start."""


def with_times(events: Iterable[Event], mtime: float) -> Iterator[Event]:
    """Give turns without a time one, and say whence; order is never changed.

    Its own; else the last turn's before it in the session; else the first's after it; else the session's
    start; else the file's modification time (`mtime`, seconds since the epoch).
    """
    waiting: list[Turn] = []
    last: str | None = None
    head: SessionHead | None = None
    for event in events:
        if isinstance(event, SessionHead):
            if head is not None and event.id != head.id:
                yield from _timed(waiting, None, head, mtime)
                waiting, last = [], None
            head = event
            yield event
        elif isinstance(event, Turn):
            if event.timestamp:
                yield from _timed(waiting, event.timestamp, head, mtime)
                waiting, last = [], event.timestamp
                yield event if event.time_source == "own" else replace(event, time_source="own")
            elif last:
                yield replace(event, timestamp=last, time_source="before")
            else:
                waiting.append(event)
                if len(waiting) > _MAX_WAITING:
                    yield from _timed(waiting, None, head, mtime)
                    waiting = []
        else:
            yield event
    yield from _timed(waiting, None, head, mtime)


def _timed(
    waiting: list[Turn], following: str | None, head: SessionHead | None, mtime: float
) -> Iterator[Turn]:
    source: TimeSource = "after"
    time = following
    if time is None:
        source, time = "session", head.start_time if head else None
    if time is None:
        from datetime import UTC, datetime  # noqa: PLC0415 - few sessions have no time at all

        source, time = "file", format_instant(datetime.fromtimestamp(max(0.0, mtime), UTC))
    for turn in waiting:
        yield replace(turn, timestamp=time, time_source=source)
