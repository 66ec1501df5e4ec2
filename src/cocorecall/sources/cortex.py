"""Snowflake Cortex Code: `~/.snowflake/cortex/conversations/`, flat or in workspace folders.

A session is a sidecar `<id>.json` and, once large, a history `<id>.history.jsonl` beside it; older and short
ones hold the messages inline under `history`. Both shapes of sidecar (the command line's with ISO times, the
desktop application's with epoch milliseconds) are read. Half of all rows carry no time (`blocks.with_times`).
Facts from Snowflake's documentation and counts over real files.

A user message of tool results alone is a `tool` turn; where words stand beside the results, they are a user
turn of their own behind it (its id is the row's with `#text`), so nothing is lost. A row of injected blocks
alone is no turn. What an assistant writes is never cut: there a tag is something it speaks of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cocorecall.model import Event, SessionHead, Skipped, Turn, UnknownRecord
from cocorecall.sources.blocks import (
    Content,
    cut,
    join_texts,
    read_content,
    storable,
    stored_name,
    with_times,
    without_reminders,
)
from cocorecall.sources.echo import is_echo
from cocorecall.sources.transcript import (
    HEAD_BYTES,
    FileStat,
    Transcript,
    clean,
    first_records,
    is_document,
    is_global_id,
    read_document,
    read_lines,
    type_name,
    why_not_json,
)
from cocorecall.times import parse_instant

AGENT = "cortex"
HISTORY = ".history.jsonl"
_BACKUP = re.compile(r"\.back\.")
_WRAPPER = re.compile(
    r"\s*<(user[-_]?(?:query|request|message|prompt|input))>[ \t]*\n?(.*?)</\1>[ \t]*\n?(.*)",
    re.IGNORECASE | re.DOTALL,
)
_NO_TITLE = re.compile(r"\s*(?:Chat for session:|<system-reminder>)", re.IGNORECASE)
_MARKUP = re.compile(r"</[a-z][\w-]{0,40}>|(?<!\w)<[a-z][^<>]{0,200}>", re.IGNORECASE)
_SIDECAR_KEYS = (
    b'"working_directory"',
    b'"history"',
    b'"creationDate"',
    b'"created_at"',
    b'"connection_name"',
)


class CortexFormat:
    """See the module's docstring."""

    agent = AGENT

    def default_roots(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        """`$SNOWFLAKE_HOME/cortex/conversations`, or the same below `~/.snowflake`."""
        configured = environ.get("SNOWFLAKE_HOME")
        return [(Path(configured) if configured else home / ".snowflake") / "cortex" / "conversations"]

    def group(self, files: dict[str, FileStat]) -> list[Transcript]:
        """Pair each history with its sidecar; leave out backups."""
        for name in [n for n in files if _BACKUP.search(n)]:
            del files[name]
        out = []
        for name in [n for n in files if n.endswith(HISTORY)]:
            sidecar = files.pop(name.removesuffix(HISTORY) + ".json", None)
            history = files.pop(name)
            out.append(Transcript((history, sidecar) if sidecar else (history,)))
        return out

    def recognises(self, transcript: Transcript, head: bytes) -> bool:
        """Rows of `role` and `content`, or a sidecar's keys."""
        if not is_document(head):
            records = first_records(head)
            if any(_is_row(r) for r in records):
                return True
            return len(records) == 1 and _is_sidecar(head)
        rows = b'"role"' in head and b'"content"' in head
        if transcript.path.name.endswith(HISTORY):
            return not head.strip() or (rows and head.lstrip()[:1] == b"{")
        return _is_sidecar(head) or (rows and b'"history"' in head)

    def parse(self, transcript: Transcript) -> Iterator[Event]:
        """Yield the session of a history with its sidecar, or of a sidecar that holds its history."""
        return with_times(_parse(transcript), transcript.mtime)

    def turns_at(self, transcript: Transcript, line: int) -> Iterator[Turn]:
        """Yield the turns of one row of a history."""
        session = _Session(SessionHead("", AGENT))
        for item in read_lines(transcript.path, line):
            if not isinstance(item, Skipped):
                yield from (e for e in session.take(item.record, item.number) if isinstance(e, Turn))
            break


FORMAT = CortexFormat()


def _is_sidecar(head: bytes) -> bool:
    """Whether a document is a sidecar; a session with `turns` that also has a folder is the predecessor's."""
    known = b'"session_id"' in head and any(k in head for k in _SIDECAR_KEYS)
    return known and (b'"turns"' not in head or b'"history"' in head)


def _is_row(record: dict[str, Any]) -> bool:
    return (
        record.get("role") in ("user", "assistant")
        and "content" in record
        and not {"session_id", "sessionId", "message", "text"} & record.keys()
    )


def _parse(transcript: Transcript) -> Iterator[Event]:
    history = transcript.path.name.endswith(HISTORY) or _begins_with_row(transcript.path)
    sidecar, problem = _read_sidecar(transcript, history=history)
    stem = transcript.path.stem.removesuffix(".history")
    session = _Session(_head(sidecar, stem))
    yield session.head
    if problem:
        yield problem
    if history:
        for line in read_lines(transcript.path):
            if isinstance(line, Skipped):
                yield line
            else:
                yield from session.take(line.record, line.number)
    inline = sidecar.get("history")
    if not session.rows and isinstance(inline, list):
        for row in inline:
            if isinstance(row, dict):
                yield from session.take(row, None)
            else:
                yield Skipped("history entry is not an object")


def _begins_with_row(path: Path) -> bool:
    """Whether a file by another name holds rows: content decides."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    return not is_document(head) and any(_is_row(r) for r in first_records(head))


def _read_sidecar(transcript: Transcript, *, history: bool) -> tuple[dict[str, Any], Skipped | None]:
    path = next(iter(transcript.companions), None) if history else transcript.path
    if path is None:
        return {}, None
    try:
        data = read_document(path)
    except OSError as error:
        if not history:
            raise
        return {}, Skipped(f"sidecar cannot be read: {error.strerror}")
    except ValueError as error:
        what = "sidecar" if history else "file"
        return {}, Skipped(f"{what} is not JSON ({why_not_json(error)})")
    if not isinstance(data, dict):
        return {}, Skipped("sidecar is not a JSON object")
    return data, None


def _head(sidecar: dict[str, Any], stem: str) -> SessionHead:
    return SessionHead(
        stored_name(sidecar.get("session_id")) or clean(stem),
        AGENT,
        title=_title(sidecar.get("title")),
        cwd=stored_name(sidecar.get("working_directory")) or stored_name(sidecar.get("git_root")),
        start_time=_instant(sidecar, "created_at", "creationDate")[0],
        end_time=_instant(sidecar, "last_updated", "lastMessageDate")[0],
        git_branch=stored_name(sidecar.get("git_branch")),
        parent_id=stored_name(sidecar.get("parent_session_id")),
        session_type=stored_name(sidecar.get("session_type")),
    )


def _title(value: Any) -> str | None:
    if not isinstance(value, str) or _NO_TITLE.match(value):
        return None
    return " ".join(_MARKUP.sub(" ", storable(value)).split()) or None


def _instant(record: dict[str, Any], *keys: str) -> tuple[str | None, bool]:
    """The first of some times that can be read, and whether it names a zone."""
    for key in keys:
        value = record.get(key)
        found = parse_instant(value) if isinstance(value, str | int | float) else None
        if found:
            return found
    return None, True


@dataclass(slots=True)
class _Session:
    """Turns of one session as its rows arrive."""

    head: SessionHead
    rows: int = 0
    echoes: set[str] = field(default_factory=set)

    def take(self, row: dict[str, Any], line: int | None) -> Iterator[Event]:
        """One history row: the turns it holds."""
        self.rows += 1
        role, kind = stored_name(row.get("role")), stored_name(row.get("type"))
        if role is None:
            yield (
                UnknownRecord(type_name(kind))
                if kind and "content" not in row
                else Skipped("row without a role", line)
            )
            return
        content = read_content(row.get("content"))
        turn = self._turn(row, line, role)
        if content.results:
            yield self._tool_turn(turn, content)
            turn = replace(
                turn, native_id=f"{turn.native_id}#text" if turn.native_id else None, record_ids=()
            )
        texts = content.texts if role == "assistant" else map(_spoken, content.texts)
        text, length = cut(join_texts(texts))
        if text.strip() or content.calls or (content.thinking and not content.results):
            self.echoes.update(c.call_id for c in content.calls if c.call_id and is_echo(c))
            yield replace(
                turn, text=text, text_length=length, thinking=join_texts(content.thinking),
                calls=tuple(content.calls),
            )  # fmt: skip

    def _turn(self, row: dict[str, Any], line: int | None, role: str) -> Turn:
        native = stored_name(row.get("id"))
        timestamp, zoned = _instant(row, "user_sent_time", "assistant_sent_time", "timestamp")
        return Turn(
            role, "", native_id=native, record_ids=(native,) if native and is_global_id(native) else (),
            timestamp=timestamp, zoned=zoned, time_source="own" if timestamp else "none", line=line,
        )  # fmt: skip

    def _tool_turn(self, turn: Turn, content: Content) -> Turn:
        text, length = cut(join_texts(without_reminders(t) for _, t in content.results))
        results = tuple(r for r, _ in content.results)
        echo = bool(self.echoes) and any(r.call_id in self.echoes for r in results)
        return replace(turn, role="tool", text=text, text_length=length, results=results, echo=echo)


def _spoken(text: str) -> str:
    """A block of a user's row without what was injected; a wrapper around all of it gives its inside."""
    if "<" not in text:
        return text
    text = without_reminders(text)
    wrapped = _WRAPPER.fullmatch(text) if "user" in text[:80].lower() else None
    return text if wrapped is None else wrapped[2] + wrapped[3]
