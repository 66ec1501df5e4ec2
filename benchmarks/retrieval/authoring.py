"""Sessions written as plain text, and how they become transcripts in the agents' own layouts.

A session file begins with `@session agent=… layout=… start=… cwd=… title=…`; each turn begins with a line
`@user`, `@assistant` or `@tool`, then the time since the turn before (`+40s`, `+2m`, `+1h`), then labels that
questions refer to (`#why-085`). `@call NAME` gives the assistant turn before it a tool call, its JSON input on the
following lines. A text line that begins with `@` is written `@@`.
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
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
DEFAULT_STEP = 30


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
    session: Session | None = None
    into: list[str] = []
    clock = datetime.min.replace(tzinfo=UTC)
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        head = _HEAD.fullmatch(line)
        if head is None:
            into.append(line[1:] if line.startswith("@@") else line)
            continue
        kind, rest = head[1], head[2]
        if kind == "session":
            session = _session(path.stem, rest)
            clock = session.start
        elif session is None:
            raise ValueError(f"{path.name}:{number}: no @session yet")
        elif kind == "call":
            into = []
            session.turns[-1].calls.append((rest.split()[0], into))
        else:
            clock += _step(rest)
            session.turns.append(_turn(kind, clock, rest))
            into = session.turns[-1].lines
    if session is None:
        raise ValueError(f"{path.name}: no @session")
    return session


def _session(name: str, rest: str) -> Session:
    facts, _, title = rest.partition(" title=")
    pairs = dict(word.split("=", 1) for word in facts.split())
    return Session(name, pairs | {"title": title}, datetime.fromisoformat(pairs["start"]).astimezone(UTC))


def _step(rest: str) -> timedelta:
    found = re.search(r"(?<!\S)\+(\d+)([smh]?)(?!\S)", rest)
    return timedelta(seconds=int(found[1]) * _SECONDS[found[2]] if found else DEFAULT_STEP)


def _turn(role: str, at: datetime, rest: str) -> Turn:
    status = re.search(r"\bstatus=(\w+)", rest)
    return Turn(role, at, re.findall(r"(?<!\S)#([\w.-]+)", rest), status[1] if status else "success")


# --- layouts -----------------------------------------------------------------------------------------------


def _iso(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def write_session(session: Session, folder: Path) -> None:
    """Write a session's transcript below a folder: `cortex/` or `claude/projects/`."""
    if session.facts["agent"] == "claude":
        _write_claude(session, folder / "claude" / "projects")
    else:
        _write_cortex(session, folder / "cortex")


def _calls(session: Session) -> list[list[str]]:
    """For each turn the ids of its calls, or, for a tool turn, of the call that it answers."""
    out: list[list[str]] = []
    waiting: list[str] = []
    for n, turn in enumerate(session.turns):
        if turn.role == "tool":
            out.append([waiting.pop(0)] if waiting else [""])
            continue
        ids = [f"toolu_{session.id[:8]}{n:04d}{k:02d}" for k in range(len(turn.calls))]
        waiting = ids[:] if turn.role == "assistant" else waiting
        out.append(ids)
    return out


def _cortex_rows(session: Session) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for n, (turn, ids) in enumerate(zip(session.turns, _calls(session), strict=True)):
        blocks: list[dict[str, Any]] = [{"type": "text", "text": turn.text}] if turn.text else []
        if turn.role == "tool":
            result = {"name": "tool", "tool_use_id": ids[0], "status": turn.status, "content": blocks}
            blocks = [{"type": "tool_result", "tool_result": result}]
        for (name, lines), call in zip(turn.calls, ids, strict=False):
            use = {"tool_use_id": call, "name": name, "input": json.loads("\n".join(lines))}
            blocks.append({"type": "tool_use", "tool_use": use})
        if n == 0:
            blocks.insert(0, {"type": "text", "text": "workspace context", "internalOnly": True})
        row: dict[str, Any] = {"role": "assistant" if turn.role == "assistant" else "user", "content": blocks}
        row["id"] = f"msg_{uuid.uuid5(uuid.UUID(session.id), str(n))}"
        if turn.role == "user":  # half of all real rows carry no time
            row["user_sent_time"] = _iso(turn.at)
        rows.append(row)
    return rows


def _write_cortex(session: Session, folder: Path) -> None:
    facts, rows = session.facts, _cortex_rows(session)
    meta: dict[str, Any] = {
        "session_id": session.id,
        "title": facts["title"],
        "working_directory": facts["cwd"],
    }
    if facts["layout"] == "folder":
        folder /= hashlib.sha256(facts["cwd"].encode()).hexdigest()[:32]
        meta["creationDate"] = int(session.start.timestamp() * 1000)
    else:
        meta["created_at"] = _iso(session.start)
    folder.mkdir(parents=True, exist_ok=True)
    if facts["layout"] == "inline":
        meta["history"] = rows
    else:
        _write_lines(folder / f"{session.id}.history.jsonl", rows)
    (folder / f"{session.id}.json").write_text(json.dumps(meta), encoding="utf-8")


def _write_claude(session: Session, folder: Path) -> None:
    folder /= re.sub(r"[^A-Za-z0-9-]", "-", session.facts["cwd"])
    folder.mkdir(parents=True, exist_ok=True)
    records: list[dict[str, Any]] = []
    for n, (turn, ids) in enumerate(zip(session.turns, _calls(session), strict=True)):
        for part, message in enumerate(_claude_messages(turn, ids, f"msg_{session.id[:8]}{n:04d}")):
            record = uuid.uuid5(uuid.UUID(session.id), f"{n}/{part}")
            records.append(
                {"type": message["role"], "uuid": str(record), "sessionId": session.id, "timestamp": _iso(turn.at),
                 "cwd": session.facts["cwd"], "isSidechain": False, "gitBranch": "main", "message": message}
            )  # fmt: skip
    records.append({"type": "ai-title", "aiTitle": session.facts["title"], "sessionId": session.id})
    _write_lines(folder / f"{session.id}.jsonl", records)


def _claude_messages(turn: Turn, ids: list[str], message_id: str) -> list[dict[str, Any]]:
    """The messages of one turn: Claude Code writes each block of an answer as a record of its own."""
    if turn.role == "user":
        return [{"role": "user", "content": turn.text}]
    if turn.role == "tool":
        block = {
            "type": "tool_result",
            "tool_use_id": ids[0],
            "content": turn.text,
            "is_error": turn.status == "error",
        }
        return [{"role": "user", "content": [block]}]
    blocks: list[dict[str, Any]] = [{"type": "text", "text": turn.text}] if turn.text else []
    for (name, lines), call in zip(turn.calls, ids, strict=True):
        blocks.append({"type": "tool_use", "id": call, "name": name, "input": json.loads("\n".join(lines))})
    return [{"role": "assistant", "id": message_id, "model": "model", "content": [b]} for b in blocks]


def _write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8")
