#!/usr/bin/env python3
"""Write the sample project's transcripts from `sessions/*.txt`, in the agents' own layouts.

    build_demo.py [FOLDER]          # default: demo/transcripts beside this file

A session file is text. `@session` names its facts; then turns, each begun by a line with `@`:

    @session id=… agent=cortex|claude layout=flat|folder|inline start=2026-08-03T08:10:00Z cwd=… title=…
    @user +2m          @assistant +40s          @tool +5s status=error
    @call NAME         (its JSON input follows; belongs to the assistant turn before it)
    @thinking          (belongs to the assistant turn that follows)
    @queued +10s       (Claude: a prompt typed while the agent worked)
    @compact +1s       (Claude: a compaction; the text is the summary)
    @subagent ID       (Claude: what follows is a subagent's own transcript)
    @fork-of ID N      (Claude: begins with the first N records of another session)

Everything is derived from the file, so that a second run writes the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@dataclass
class Part:
    """One `@` section of a session file."""

    kind: str
    at: datetime
    text: str
    options: dict[str, str] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)


@dataclass
class Script:
    """A session file."""

    facts: dict[str, str]
    parts: list[Part]
    start: datetime


def read_script(path: Path) -> Script:
    """Parse a session file."""
    sections = re.split(r"(?m)^@(?=[a-z])", path.read_text(encoding="utf-8"))[1:]
    first, *rest = sections
    head, _, title = first.strip().partition(" title=")
    facts = dict(word.split("=", 1) for word in head.split()[1:]) | {"title": title}
    clock = start = datetime.fromisoformat(facts["start"])
    parts = []
    for section in rest:
        line, _, text = section.partition("\n")
        kind, *words = line.split()
        step = next((w for w in words if re.fullmatch(r"\+\d+[smhd]", w)), "+20s")
        if kind not in ("call", "thinking", "subagent", "fork-of"):
            clock += timedelta(seconds=int(step[1:-1]) * _UNITS[step[-1]])
        options = dict(w.split("=", 1) for w in words if "=" in w)
        parts.append(Part(kind, clock, text.strip("\n"), options, words))
    return Script(facts, parts, start)


def iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def identity(*parts: object) -> str:
    """A UUID that depends on the parts alone."""
    digest = bytearray(hashlib.sha256("/".join(map(str, parts)).encode()).digest()[:16])
    return str(uuid.UUID(bytes=bytes(digest), version=4))


# --- Cortex Code -----------------------------------------------------------------------------------------


def cortex_history(script: Script) -> list[dict[str, Any]]:
    session = script.facts["id"]
    rows: list[dict[str, Any]] = []
    calls: list[str] = []
    thinking: str | None = None
    for n, part in enumerate(script.parts):
        row_id = f"msg_{identity(session, n)}"
        if part.kind == "thinking":
            thinking = part.text
        elif part.kind == "user":
            blocks: list[dict[str, Any]] = [{"type": "text", "text": part.text, "is_user_prompt": True}]
            if not rows:
                reminder = f"<system-reminder>Connected to dev as DANA. Working directory: {script.facts['cwd']}</system-reminder>"
                blocks[0]["text"] = f"{reminder}\n{part.text}"
                blocks.insert(
                    0, {"type": "text", "text": "AGENTS.md: prefer dbt for models.", "internalOnly": True}
                )
            rows.append(
                {
                    "role": "user",
                    "id": row_id,
                    "content": blocks,
                    "user_sent_time": iso(part.at),
                    "type": "text",
                }
            )
        elif part.kind == "assistant":
            blocks = (
                [{"type": "thinking", "thinking": {"text": thinking, "signature": "c2lnbmVk"}}]
                if thinking
                else []
            )
            thinking = None
            blocks += [{"type": "text", "text": part.text}] if part.text else []
            rows.append({"role": "assistant", "id": row_id, "content": blocks})
            calls = []
        elif part.kind == "call":
            call = f"toolu_{identity(session, n, 'call')[:16]}"
            calls.append(call)
            use = {"tool_use_id": call, "name": part.words[0], "input": json.loads(part.text)}
            rows[-1]["content"].append({"type": "tool_use", "tool_use": use})
        elif part.kind == "tool":
            call = calls.pop(0) if calls else ""
            body = {"name": "tool", "tool_use_id": call, "status": part.options.get("status", "success"),
                    "content": [{"type": "text", "text": part.text}]}  # fmt: skip
            rows.append(
                {
                    "role": "user",
                    "id": row_id,
                    "type": None,
                    "content": [{"type": "tool_result", "tool_result": body}],
                }
            )
        else:
            raise SystemExit(f"@{part.kind} is not for Cortex Code")
    return rows


def write_cortex(script: Script, folder: Path) -> None:
    facts, rows = script.facts, cortex_history(script)
    meta: dict[str, Any] = {
        "session_id": facts["id"],
        "title": facts["title"],
        "working_directory": facts["cwd"],
    }
    end = script.parts[-1].at
    where = folder / "cortex"
    if facts["layout"] == "folder":
        where /= hashlib.md5(facts["cwd"].encode(), usedforsecurity=False).hexdigest()
        meta |= {"creationDate": int(script.start.timestamp() * 1000), "lastMessageDate": int(end.timestamp() * 1000),
                 "requestCount": 3, "selectedCortexModelId": "auto"}  # fmt: skip
    else:
        meta |= {"created_at": iso(script.start), "last_updated": iso(end), "connection_name": "dev",
                 "git_root": facts["cwd"], "git_branch": "main", "session_type": "main"}  # fmt: skip
    where.mkdir(parents=True, exist_ok=True)
    if facts["layout"] == "inline":
        meta["history"] = rows
    else:
        write_lines(where / f"{facts['id']}.history.jsonl", rows)
    (where / f"{facts['id']}.json").write_text(
        json.dumps(meta, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )


# --- Claude Code -----------------------------------------------------------------------------------------


class ClaudeWriter:
    """Records of one transcript, chained by their uuids."""

    def __init__(self, script: Script, name: str, *, sidechain: bool = False) -> None:
        self.script, self.name, self.sidechain = script, name, sidechain
        self.records: list[dict[str, Any]] = []
        self.calls: list[str] = []
        self.thinking: str | None = None

    def add(self, kind: str, at: datetime, **body: Any) -> None:
        n = len(self.records)
        parent = self.records[-1].get("uuid") if self.records else None
        facts = self.script.facts
        self.records.append(
            {"parentUuid": parent, "isSidechain": self.sidechain, "userType": "external", "cwd": facts["cwd"],
             "sessionId": facts["id"], "version": "2.1.4", "gitBranch": "main", "type": kind,
             "uuid": identity(self.name, n), "timestamp": iso(at)}
            | ({"agentId": self.name} if self.sidechain else {}) | body
        )  # fmt: skip

    def assistant(self, at: datetime, message_id: str, block: dict[str, Any]) -> None:
        message = {
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "model": "model",
            "content": [block],
        }
        self.add("assistant", at, message=message)

    def take(self, n: int, part: Part) -> None:
        message_id = f"msg_{identity(self.name, n, 'message')[:24]}"
        if part.kind == "thinking":
            self.thinking = part.text
        elif part.kind == "user":
            self.add("user", part.at, message={"role": "user", "content": part.text})
        elif part.kind == "assistant":
            self.message_id = message_id
            if self.thinking:
                self.assistant(
                    part.at, message_id, {"type": "thinking", "thinking": self.thinking, "signature": "c2ln"}
                )
                self.thinking = None
            if part.text:
                self.assistant(part.at, message_id, {"type": "text", "text": part.text})
            self.calls = []
        elif part.kind == "call":
            call = f"toolu_{identity(self.name, n)[:16]}"
            self.calls.append(call)
            block = {"type": "tool_use", "id": call, "name": part.words[0], "input": json.loads(part.text)}
            self.assistant(part.at, self.message_id, block)
        elif part.kind == "tool":
            call = self.calls.pop(0) if self.calls else ""
            block = {"type": "tool_result", "tool_use_id": call, "content": part.text,
                     "is_error": part.options.get("status") == "error"}  # fmt: skip
            self.add(
                "user",
                part.at,
                message={"role": "user", "content": [block]},
                toolUseResult={"stdout": part.text},
            )
        elif part.kind == "queued":
            self.add("attachment", part.at, attachment={"type": "queued_command", "prompt": part.text})
        elif part.kind == "compact":
            self.add("system", part.at, subtype="compact_boundary", content="Conversation compacted")
            self.add("user", part.at, isCompactSummary=True, isVisibleInTranscriptOnly=True,
                     message={"role": "user", "content": part.text})  # fmt: skip


def write_claude(script: Script, folder: Path, scripts: dict[str, Script]) -> None:
    facts = script.facts
    where = folder / "claude" / "projects" / re.sub(r"[^A-Za-z0-9-]", "-", facts["cwd"])
    where.mkdir(parents=True, exist_ok=True)
    writer = ClaudeWriter(script, facts["id"])
    subagent: ClaudeWriter | None = None
    for n, part in enumerate(script.parts):
        if part.kind == "fork-of":
            other = ClaudeWriter(scripts[part.words[0]], part.words[0])
            for k, theirs in enumerate(scripts[part.words[0]].parts):
                other.take(k, theirs)
            copies = other.records[: int(part.words[1])]
            writer.records.extend(r | {"sessionId": facts["id"]} for r in copies)
        elif part.kind == "subagent":
            subagent = ClaudeWriter(script, part.words[0], sidechain=True)
        else:
            (subagent or writer).take(n, part)
    first = script.parts[0].at
    lines: list[dict[str, Any]] = [{"type": "file-history-snapshot", "messageId": identity(facts["id"], "snapshot"),
                                    "snapshot": {}, "isSnapshotUpdate": False}]  # fmt: skip
    lines += writer.records
    if facts["title"]:
        lines.append(
            {"type": "ai-title", "aiTitle": facts["title"], "sessionId": facts["id"], "timestamp": iso(first)}
        )
    write_lines(where / f"{facts['id']}.jsonl", lines)
    if subagent:
        beside = where / facts["id"] / "subagents"
        beside.mkdir(parents=True, exist_ok=True)
        write_lines(beside / f"agent-{subagent.name}.jsonl", subagent.records)
        (beside / f"agent-{subagent.name}.meta.json").write_text(
            '{"agentType": "explore"}\n', encoding="utf-8"
        )


def write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8")


def extras(folder: Path, scripts: dict[str, Script]) -> Iterator[Path]:
    """What else lies in such folders: a backup, a pointer, a sidecar without a history."""
    flat = next(s for s in scripts.values() if s.facts.get("layout") == "flat")
    backup = folder / "cortex" / f"{flat.facts['id']}.back.1785747600.json"
    backup.write_text(json.dumps({"session_id": flat.facts["id"], "history": []}) + "\n", encoding="utf-8")
    yield backup
    pointer = folder / "cortex" / ".last-session"
    pointer.write_text(flat.facts["id"], encoding="utf-8")
    yield pointer
    lone = folder / "cortex" / "3c1f0b6a-5f0e-4c6e-9a43-0b7d6f4c2e11.json"
    lone.write_text(
        json.dumps({"session_id": lone.stem, "title": "Chat for session: 3c1f0b6a", "working_directory": "/"})
        + "\n",
        encoding="utf-8",
    )
    yield lone


def build(folder: Path) -> int:
    """Write every session; how many."""
    scripts = {s.facts["id"]: s for s in map(read_script, sorted((HERE / "sessions").glob("*.txt")))}
    for script in scripts.values():
        if script.facts["agent"] == "cortex":
            write_cortex(script, folder)
        else:
            write_claude(script, folder, scripts)
    list(extras(folder, scripts))
    return len(scripts)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "demo" / "transcripts"
    print(f"{build(target)} sessions in {target}")
