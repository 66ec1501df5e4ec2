"""Message content as Anthropic-shaped formats write it, and what of it is the conversation.

Content is a string, a list of blocks, or nothing. Injected context (reminders, wrappers) is cut out block
by block, so that a person's words in the same block stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from cocorecall.model import MAX_TEXT, Event, SessionHead, TimeSource, ToolCall, ToolResult, Turn
from cocorecall.sources.transcript import clean, media_marker, without_payloads
from cocorecall.times import format_instant

_OPEN, _CLOSE = "<system-reminder>", "</system-reminder>"
_QUOTES = "`'\"“‘«"


def without_reminders(text: str) -> str:
    """Cut every `<system-reminder>…</system-reminder>` and the line ends behind it.

    A tag that stands in quotes or backticks is spoken of, not injected, and stays. So does all that follows
    a tag that is never closed: where a reminder would end, a person's words may begin.
    """
    if _OPEN not in text:
        return text
    kept: list[str] = []
    done = at = 0
    while (start := text.find(_OPEN, at)) >= 0:
        if start and text[start - 1] in _QUOTES:
            at = start + len(_OPEN)
            continue
        end = text.find(_CLOSE, start)
        if end < 0:
            break
        kept.append(text[done:start])
        at = done = _after_line_end(text, end + len(_CLOSE))
    return "".join((*kept, text[done:])).strip("\n") if kept else text


def _after_line_end(text: str, at: int) -> int:
    """Past blanks and the line ends behind them; where none follow, past nothing but the blanks."""
    while at < len(text) and text[at] in " \t":
        at += 1
    while at < len(text) and text[at] == "\n":
        at += 1
    return at


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


_MAX_NESTING = 32
"""How deep content may lie in content; what is deeper is named, not read."""

_TOO_DEEP = "[content nested too deep]"


def read_content(content: Any, depth: int = 0) -> Content:
    """Read a message's content, whatever its shape; unknown blocks that hold text give their text."""
    out = Content()
    if isinstance(content, str):
        out.texts.append(storable(content))
    elif depth > _MAX_NESTING:
        out.texts.append(_TOO_DEEP)
    elif isinstance(content, dict):
        _read_block(content, out, depth)
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, str):
                out.texts.append(storable(block))
            elif isinstance(block, dict):
                _read_block(block, out, depth)
    return out


def storable(text: str) -> str:
    """A text as it is stored: NUL and lone surrogates replaced, base64 payloads marked."""
    return without_payloads(clean(text))


def stored_name(value: Any) -> str | None:
    """An id, path or name as it is stored; None where there is none."""
    return clean(value) if isinstance(value, str) and value else None


def _read_block(block: dict[str, Any], out: Content, depth: int) -> None:
    if block.get("internalOnly"):
        out.injected += 1
        return
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        out.texts.append(storable(block["text"]))
    elif kind == "thinking":
        inner = block.get("thinking")
        text = inner.get("text") if isinstance(inner, dict) else inner
        if isinstance(text, str) and text:
            out.thinking.append(storable(text))
    elif not isinstance(kind, str):
        _read_other(block, out, depth)
    elif kind.endswith("tool_use"):  # also `server_tool_use`, `mcp_tool_use`
        out.calls.append(_call(_nested(block, kind)))
    elif kind.endswith("tool_result"):  # also `web_search_tool_result`, `mcp_tool_result`
        out.results.append(_result(_nested(block, kind), depth))
    elif kind in _MEDIA:
        out.texts.append(_media(_nested(block, kind), kind))
    else:
        _read_other(block, out, depth)


_MEDIA = frozenset({"image", "document", "image_url", "input_image", "audio", "video"})


def _read_other(block: dict[str, Any], out: Content, depth: int) -> None:
    """A block of a type nobody knows: its text, or that of the content it wraps."""
    resource = block.get("resource")
    for holder in (block, resource if isinstance(resource, dict) else {}):
        if isinstance(holder.get("text"), str):
            out.texts.append(storable(holder["text"]))
            return
    if isinstance(block.get("content"), str | list | dict):
        out.texts.extend(read_content(block["content"], depth + 1).texts)


def _nested(block: dict[str, Any], key: str) -> dict[str, Any]:
    """Cortex Code nests what Anthropic writes flat."""
    inner = block.get(key)
    return inner if isinstance(inner, dict) else block


def _call(body: dict[str, Any]) -> ToolCall:
    return ToolCall(
        clean(str(body.get("name") or "tool")),
        clean_json(body.get("input")),
        stored_name(body.get("tool_use_id") or body.get("id")),
    )


def clean_json(value: Any, depth: int = 0) -> Any:
    """A JSON value that can be stored: strings cleaned, NaN and infinity null; nested deeper than 200 it is cut."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, float):
        return value if value - value == 0 else None
    if depth > 200:  # noqa: PLR2004 - stated above
        return None
    if isinstance(value, list):
        return [clean_json(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {clean(str(key)): clean_json(item, depth + 1) for key, item in value.items()}
    return value


def _result(body: dict[str, Any], depth: int) -> tuple[ToolResult, str]:
    status = stored_name(body.get("status"))
    if status is None:
        failed = body.get("is_error")
        status = None if failed is None else "error" if failed else "success"
    texts = _result_texts(body.get("content"), depth)
    if body.get("sqldata") is not None:
        texts.extend(_result_texts(body["sqldata"], depth))
    return ToolResult(stored_name(body.get("tool_use_id")), status), "\n\n".join(t for t in texts if t)


def _result_texts(content: Any, depth: int) -> list[str]:
    """The texts of a tool's result; what is no text block is kept as the JSON it is, for it may be searched."""
    if content is None or isinstance(content, str):
        return [storable(content)] if content else []
    if depth > _MAX_NESTING:
        return [_TOO_DEEP]
    texts: list[str] = []
    for block in content if isinstance(content, list) else [content]:
        found = read_content(block, depth + 1)
        inner = [*found.texts, *(text for _, text in found.results)]
        if not inner and not found.injected and block not in (None, "", [], {}):
            inner = [_as_json(block)]
        texts.extend(inner)
    return texts


def _as_json(value: Any) -> str:
    if isinstance(value, dict) and value.get("text") in ("", None) and value.keys() <= {"type", "text"}:
        return ""
    if isinstance(value, dict):
        value = {k: v for k, v in value.items() if k not in ("encrypted_content", "signature", "data")}
    try:
        return storable(orjson.dumps(clean_json(value)).decode())
    except TypeError:  # a number too large, or nested too deep
        return _TOO_DEEP


def _media(block: dict[str, Any], kind: str) -> str:
    source = block.get("source")
    source = source if isinstance(source, dict) else block
    data = source.get("data")
    if source.get("type") == "text" and isinstance(data, str):
        return storable(data)
    media_type = next((source[k] for k in ("media_type", "mime_type", "mimeType") if source.get(k)), kind)
    return media_marker(clean(str(media_type))[:80], data if isinstance(data, str) else None)


def join_texts(texts: Iterable[str]) -> str:
    """Text blocks joined by a blank line, empty ones left out."""
    return "\n\n".join(t for t in texts if t.strip())


def cut(text: str) -> tuple[str, int | None]:
    """A text of at most `MAX_TEXT` characters, and its true length where it was longer."""
    return (text, None) if len(text) <= MAX_TEXT else (text[:MAX_TEXT], len(text))


# --- times that are not there ---------------------------------------------------------------------------

_MAX_WAITING = 5_000
_MAX_WAITING_TEXT = 4 << 20
"""Turns, and characters of theirs, at the start of a session that wait for the first time to appear; what is
more takes the session's start, so that memory does not follow the file."""

_LAST_SECOND = 253_402_300_799
"""The last second of the year 9999: beyond it there are no dates."""


def with_times(events: Iterable[Event], mtime: float) -> Iterator[Event]:
    """Give turns without a time one, and say whence; order is never changed.

    Its own; else the last turn's before it in the session; else the first's after it; else the session's
    start; else the file's modification time (`mtime`, seconds since the epoch). A time that was read without
    a zone stays marked where it is passed on.
    """
    waiting: list[Turn] = []
    size = 0
    last: Turn | None = None
    head: SessionHead | None = None
    for event in events:
        if isinstance(event, Turn):
            if event.timestamp:
                if waiting:
                    yield from _timed(waiting, event, head, mtime)
                    waiting, size = [], 0
                last = event
                yield event if event.time_source == "own" else replace(event, time_source="own")
            elif last:
                yield replace(event, timestamp=last.timestamp, zoned=last.zoned, time_source="before")
            else:
                waiting.append(event)
                size += len(event.text)
                if len(waiting) > _MAX_WAITING or size > _MAX_WAITING_TEXT:
                    yield from _timed(waiting, None, head, mtime)
                    waiting, size = [], 0
        elif isinstance(event, SessionHead):
            if head is not None and event.id != head.id:
                yield from _timed(waiting, None, head, mtime)
                waiting, size, last = [], 0, None
            head = event
            yield event
        else:
            yield event
    yield from _timed(waiting, None, head, mtime)


def _timed(
    waiting: list[Turn], following: Turn | None, head: SessionHead | None, mtime: float
) -> Iterator[Turn]:
    source: TimeSource = "after"
    time, zoned = (following.timestamp, following.zoned) if following else (None, True)
    if time is None:
        source, time = "session", head.start_time if head else None
    if time is None:
        from datetime import UTC, datetime  # noqa: PLC0415 - few sessions have no time at all

        seconds = min(max(0.0, mtime), _LAST_SECOND)
        source, time = "file", format_instant(datetime.fromtimestamp(seconds, UTC))
    for turn in waiting:
        yield replace(turn, timestamp=time, zoned=zoned, time_source=source)
