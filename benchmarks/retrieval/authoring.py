"""Sessions written as plain text, and how they become transcripts in the agents' own layouts.

A session file begins with `@session agent=… layout=… start=… cwd=… title=…`; each turn begins with a line
`@user`, `@assistant` or `@tool`, then the time since the turn before (`+40s`, `+2m`, `+1h`), then labels that
questions refer to (`#why-085`) and, on a tool's result, `status=error`. `@call NAME` gives the assistant turn before it
a tool call, its JSON input on the following lines; each call has one `@tool` behind it, in order. A text line that
begins with `@` is written `@@`.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

_HEAD = re.compile(r"@(session|user|assistant|call|tool)\b(.*)")
_MARK = re.compile(r"\+(?P<step>\d+)(?P<unit>[smh]?)|#(?P<label>[\w.-]+)|status=(?P<status>success|error)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
DEFAULT_STEP = 30
"""Seconds between two turns where a turn names no time."""
AGENTS = ("cortex", "claude")
LAYOUTS = ("flat", "folder", "inline")
"""Cortex Code's: history beside its sidecar, in the app's folders, or inside the sidecar."""


@dataclass
class Turn:
    """One authored turn; `calls` are (tool, input)."""

    role: str
    at: datetime
    labels: list[str]
    status: str = "success"
    lines: list[str] = field(default_factory=list)
    calls: list[tuple[str, list[str]]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The turn's words."""
        return "\n".join(self.lines).strip("\n")

    def input_of(self, call: int) -> dict[str, Any]:
        """The input of the turn's n-th call.

        Raises:
            ValueError: it is not a JSON object.
        """
        name, lines = self.calls[call]
        value = json.loads("\n".join(lines))
        if not isinstance(value, dict):
            raise ValueError(f"the input of {name} is not an object")  # noqa: TRY004 - one kind for bad files
        return value


@dataclass
class Session:
    """One authored session; its id follows from its name."""

    name: str
    facts: dict[str, str]
    start: datetime
    turns: list[Turn] = field(default_factory=list)

    @property
    def id(self) -> str:
        """A UUID that depends on the name alone."""
        digest = hashlib.sha256(self.name.encode()).digest()[:16]
        return str(uuid.UUID(bytes=digest, version=4))

    def labels(self) -> dict[str, str]:
        """`name#label` to turn id: every turn is one message, numbered from 0."""
        return {
            f"{self.name}#{label}": f"{self.id}:{n}"
            for n, turn in enumerate(self.turns)
            for label in turn.labels
        }


def read_session(path: Path) -> Session:
    """Parse a session file.

    Raises:
        ValueError: a line that makes no sense, with its number.
    """
    reader = _Reader(path.stem)
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            reader.take(line)
        except (ValueError, LookupError) as error:
            raise ValueError(f"{path.name}:{number}: {error}") from error
    try:
        return reader.finish()
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from error


class _Reader:
    """A session file, line by line."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.session: Session | None = None
        self.into: list[str] = []
        self.waiting = 0

    def take(self, line: str) -> None:
        """One more line."""
        head = _HEAD.fullmatch(line)
        if head is None:
            if line.startswith("@") and not line.startswith("@@"):
                raise ValueError("a text line that begins with @ is written @@")
            self.into.append(line.removeprefix("@") if line.startswith("@@") else line)
        elif head[1] == "session":
            self.session = _session(self.name, head[2])
        elif self.session is None:
            raise ValueError("no @session yet")
        elif head[1] == "call":
            self._call(self.session.turns[-1], head[2])
        else:
            self._turn(self.session, head[1], head[2])

    def _call(self, turn: Turn, rest: str) -> None:
        if turn.role != "assistant":
            raise ValueError("only an assistant calls tools")
        self.into = []
        turn.calls.append((rest.strip(), self.into))
        self.waiting += 1

    def _turn(self, session: Session, role: str, rest: str) -> None:
        if role == "tool":
            self.waiting -= 1
        if self.waiting < 0 or (role != "tool" and self.waiting):
            raise ValueError("every call has one result, right behind it")
        clock = session.turns[-1].at if session.turns else session.start
        turn = _turn(role, clock, rest)
        known = {label for t in session.turns for label in t.labels}
        if known & set(turn.labels):
            raise ValueError(f"label used twice: {sorted(known & set(turn.labels))}")
        session.turns.append(turn)
        self.into = turn.lines

    def finish(self) -> Session:
        """The session, when every line was taken."""
        if self.session is None or not self.session.turns:
            raise ValueError("no session, or one without turns")
        if self.waiting:
            raise ValueError("every call has one result, right behind it")
        for turn in self.session.turns:
            for n in range(len(turn.calls)):
                turn.input_of(n)
        return self.session


def _session(name: str, rest: str) -> Session:
    facts, _, title = rest.partition(" title=")
    pairs = dict(word.split("=", 1) for word in facts.split())
    if pairs["agent"] not in AGENTS or (pairs["agent"] == "cortex" and pairs["layout"] not in LAYOUTS):
        raise ValueError("unknown agent or layout")
    start = datetime.fromisoformat(pairs["start"]).astimezone(UTC)
    return Session(name, pairs | {"title": title}, start)


def _turn(role: str, clock: datetime, rest: str) -> Turn:
    step = timedelta(seconds=DEFAULT_STEP)
    turn = Turn(role, clock, [])
    for word in rest.split():
        mark = _MARK.fullmatch(word)
        if mark is None:
            raise ValueError(f"neither a time, a label nor a status: {word}")
        if mark["step"]:
            step = timedelta(seconds=int(mark["step"]) * _SECONDS[mark["unit"]])
        elif mark["label"]:
            turn.labels.append(mark["label"])
        else:
            turn.status = mark["status"]
    turn.at = clock + step
    return turn


# --- layouts -----------------------------------------------------------------------------------------------


def _iso(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def write_session(session: Session, folder: Path) -> None:
    """Write a session's transcript below a folder: `cortex/` or `claude/projects/`."""
    if session.facts["agent"] == "claude":
        _write_claude(session, folder / "claude" / "projects")
    else:
        _write_cortex(session, folder / "cortex")


@dataclass(frozen=True)
class _Call:
    """A tool call as it is written: its id, the tool, its input."""

    id: str
    name: str
    input: dict[str, Any]


def _calls(session: Session) -> list[list[_Call]]:
    """For each turn its calls; for a tool turn the one that it answers."""
    out: list[list[_Call]] = []
    waiting: list[_Call] = []
    for n, turn in enumerate(session.turns):
        if turn.role == "tool":
            out.append([waiting.pop(0)])
            continue
        waiting = [
            _Call(f"toolu_{session.id[:8]}{n:04d}{k:02d}", name, turn.input_of(k))
            for k, (name, _) in enumerate(turn.calls)
        ]
        out.append(list(waiting))
    return out


# Cortex Code: what of these files is the agent's and not the conversation (reminders, blocks marked internal,
# thinking) was seen in real ones; half of their rows have no time, here all but the prompts.

_REMINDER = "<system-reminder>\nConnection: default. Follow AGENTS.md.\n</system-reminder>\n"


def _cortex_rows(session: Session) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for n, (turn, calls) in enumerate(zip(session.turns, _calls(session), strict=True)):
        row: dict[str, Any] = {
            "role": "assistant" if turn.role == "assistant" else "user",
            "id": f"msg_{uuid.uuid5(uuid.UUID(session.id), str(n))}",
            "content": _cortex_blocks(turn, calls, first=n == 0),
        }
        if turn.role == "user":
            row |= {"user_sent_time": _iso(turn.at), "is_user_prompt": True}
        rows.append(row)
    return rows


def _cortex_blocks(turn: Turn, calls: list[_Call], *, first: bool) -> list[dict[str, Any]]:
    texts: list[dict[str, Any]] = [{"type": "text", "text": turn.text}] if turn.text else []
    if turn.role == "tool":
        (call,) = calls
        result = {"name": call.name, "tool_use_id": call.id, "content": texts, "status": turn.status}
        return [{"type": "tool_result", "tool_result": result}]
    if turn.role == "user":
        if not first:
            return texts
        injected: list[dict[str, Any]] = [
            {"type": "text", "text": "Memory files of this workspace.", "internalOnly": True},
            {"type": "text", "text": _REMINDER},
        ]
        return [*injected, {"type": "text", "text": _REMINDER + turn.text}]
    thought: list[dict[str, Any]] = []
    if calls:
        thought = [{"type": "thinking", "thinking": {"text": "Look before answering.", "signature": "c2ln"}}]
    uses = [
        {"type": "tool_use", "tool_use": {"tool_use_id": c.id, "name": c.name, "input": c.input}}
        for c in calls
    ]
    return thought + texts + uses


def _write_cortex(session: Session, folder: Path) -> None:
    facts, rows = session.facts, _cortex_rows(session)
    end = session.turns[-1].at
    meta: dict[str, Any] = {
        "session_id": session.id,
        "title": facts["title"],
        "working_directory": facts["cwd"],
    }
    if facts["layout"] == "folder":
        folder /= hashlib.sha256(facts["cwd"].encode()).hexdigest()[:32]
        meta |= {"creationDate": _millis(session.start), "lastMessageDate": _millis(end)}
        meta |= {"requestCount": sum(t.role == "user" for t in session.turns), "lastSyncedHistoryLength": 0}
    else:
        meta |= {"created_at": _iso(session.start), "last_updated": _iso(end), "session_type": "main"}
        meta |= {"git_root": facts["cwd"], "git_branch": "main", "connection_name": None}
    folder.mkdir(parents=True, exist_ok=True)
    if facts["layout"] == "inline":
        meta["history"] = rows
    else:
        _write_lines(folder / f"{session.id}.history.jsonl", rows)
    (folder / f"{session.id}.json").write_text(json.dumps(meta), encoding="utf-8")


def _millis(at: datetime) -> int:
    return int(at.timestamp() * 1000)


# Claude Code: one record a content block, all blocks of an answer under one `message.id`; records that are no
# messages stand between them; a tool's result is there twice.


def _write_claude(session: Session, folder: Path) -> None:
    folder /= re.sub(r"[^A-Za-z0-9-]", "-", session.facts["cwd"])
    folder.mkdir(parents=True, exist_ok=True)
    first = {"type": "file-history-snapshot", "messageId": session.id, "isSnapshotUpdate": False}
    records: list[dict[str, Any]] = [first | {"snapshot": {"trackedFileBackups": {}}}]
    parent: str | None = None
    for n, (turn, calls) in enumerate(zip(session.turns, _calls(session), strict=True)):
        for part, message in enumerate(_claude_messages(turn, calls, f"msg_{session.id[:8]}{n:04d}")):
            record: dict[str, Any] = {
                "parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": session.facts["cwd"],
                "sessionId": session.id, "version": "2.1.0", "gitBranch": "main", "type": message["role"],
                "message": message, "uuid": str(uuid.uuid5(uuid.UUID(session.id), f"{n}/{part}")),
                "timestamp": _iso(turn.at),
            }  # fmt: skip
            if turn.role == "tool":
                record["toolUseResult"] = {"stdout": turn.text, "stderr": "", "interrupted": False}
            parent = record["uuid"]
            records.append(record)
    records.append({"type": "ai-title", "aiTitle": session.facts["title"], "sessionId": session.id})
    _write_lines(folder / f"{session.id}.jsonl", records)


def _claude_messages(turn: Turn, calls: list[_Call], message_id: str) -> list[dict[str, Any]]:
    """The messages of one turn."""
    if turn.role == "user":
        return [{"role": "user", "content": turn.text}]
    if turn.role == "tool":
        failed = turn.status == "error"
        block = {"type": "tool_result", "tool_use_id": calls[0].id, "content": turn.text, "is_error": failed}
        return [{"role": "user", "content": [block]}]
    blocks: list[dict[str, Any]] = [{"type": "text", "text": turn.text}] if turn.text else []
    blocks += [{"type": "tool_use", "id": c.id, "name": c.name, "input": c.input} for c in calls]
    return [{"role": "assistant", "id": message_id, "model": "model", "content": [block]} for block in blocks]


def _write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8")
