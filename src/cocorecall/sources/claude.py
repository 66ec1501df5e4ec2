"""Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, one record a line.

Facts of the format (which record types there are, what is noise, how messages are split) were counted on
public transcripts of versions 1.0 to 2.1; they change with each release, so unknown record types are passed
over and counted, and everything that is dropped is named here.

What becomes a turn:
- records of one `message.id` are one assistant turn, also where tool results stand between them;
- a user record of tool results is a `tool` turn; text beside them is a user turn behind it;
- a compaction's summary is a `system` turn of kind `summary`;
- a prompt typed while the agent worked (`queued_command`) is a user turn, placed by its time;
- records of a subagent inside its parent's file (`isSidechain`) are a session of their own.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cocorecall.model import Event, SessionHead, Skipped, ToolCall, Turn, UnknownRecord
from cocorecall.sources.blocks import (
    Content,
    cut,
    is_echo,
    join_texts,
    read_content,
    storable,
    with_times,
    without_reminders,
)
from cocorecall.sources.transcript import (
    FileStat,
    Line,
    Transcript,
    first_records,
    is_global_id,
    read_document,
    read_lines,
)
from cocorecall.times import parse_instant

AGENT = "claude"

_IGNORED = frozenset(
    "progress file-history-snapshot file-history-delta system last-prompt permission-mode queue-operation mode"
    " pr-link bridge-session agent-name continued-in attachment summary ai-title custom-title tag"
    " microcompact_boundary agent-setting worktree-state".split()
)
"""Record types that are known and are no turns (some give the session its title)."""

_DROPPED = re.compile(
    r"\[Request interrupted by user|<local-command-stdout>|<local-command-stderr>|<local-command-caveat>"
    r"|Caveat: The messages below|<task-notification>|Stop hook feedback:|<subagent_notification>"
    r"|<user-memory-input>|Warmup\s*$|No response requested\.\s*$"
)
"""User texts that no person wrote."""

_DROPPED_STARTS = ("[", "Caveat", "Warmup", "Stop hook", "No response")

_LEADING_TAG = re.compile(
    r"\s*<(ide_opened_file|ide_selection|ide_diagnostics|user-prompt-submit-hook|new-diagnostics)>.*?</\1>\s*",
    re.DOTALL,
)
_COMMAND_NAME = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_COMMAND_ARGS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_BASH_INPUT = re.compile(r"<bash-input>(.*?)</bash-input>", re.DOTALL)
_BASH_OUTPUT = re.compile(r"<bash-std(?:out|err)>(.*?)</bash-std(?:out|err)>", re.DOTALL)

LOOK_BACK = 40
"""Turns that are held back so that a queued prompt can be placed among them."""


class ClaudeFormat:
    """See the module's docstring."""

    agent = AGENT

    def default_roots(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        """`$CLAUDE_CONFIG_DIR/projects`, or `~/.claude/projects`."""
        configured = environ.get("CLAUDE_CONFIG_DIR")
        return [Path(configured) / "projects" if configured else home / ".claude" / "projects"]

    def group(self, files: dict[str, FileStat]) -> list[Transcript]:
        """Pair a subagent's transcript with its `.meta.json`; leave out indexes, journals and tool results."""
        for name in [
            n for n in files if n in ("sessions-index.json", "journal.jsonl") or _is_tool_result(files[n])
        ]:
            del files[name]
        out = []
        for name in [n for n in files if n.endswith(".meta.json")]:
            main = name.removesuffix(".meta.json") + ".jsonl"
            if main in files:
                out.append(Transcript((files.pop(main), files.pop(name))))
            else:
                del files[name]
        return out

    def recognises(self, transcript: Transcript, head: bytes) -> bool:
        """Records have a `type` and a `sessionId`, or are of a type that only Claude Code writes."""
        records = first_records(head)
        if not records:
            # the first record is longer than what is looked at; a document printed prettily is no transcript
            return b"\n" not in head and b'"sessionId"' in head and b'"uuid"' in head
        del transcript
        return any(_is_record(r) for r in records)

    def parse(self, transcript: Transcript) -> Iterator[Event]:
        """Yield the transcript's session, and one for each subagent inside it."""
        return with_times(_parse(transcript), transcript.mtime)


FORMAT = ClaudeFormat()


def _is_tool_result(stat: FileStat) -> bool:
    return "tool-results" in stat.location and "tool-results" in stat.path.parts


def _is_record(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    if not isinstance(kind, str) or "payload" in record:
        return False
    return isinstance(record.get("sessionId"), str) or kind in (
        "file-history-snapshot",
        "summary",
        "ai-title",
    )


# --- a file ------------------------------------------------------------------------------------------


def _parse(transcript: Transcript) -> Iterator[Event]:
    stem = transcript.path.stem
    main = _Session(SessionHead(stem, AGENT, **_subagent_facts(transcript)))
    sidechains: dict[str, list[Line]] = {}
    own_file = main.head.session_type == "subagent"
    yield main.head
    for line in read_lines(transcript.path):
        if isinstance(line, Skipped):
            yield line
        elif line.record.get("isSidechain") and not own_file:
            agent = line.record.get("agentId")
            sidechains.setdefault(f"agent-{agent}" if agent else f"{stem}-sidechain", []).append(line)
        else:
            yield from main.take(line)
    yield from main.finish()
    for session_id, lines in sidechains.items():
        side = _Session(SessionHead(session_id, AGENT, session_type="subagent", parent_id=stem, cwd=main.cwd))
        yield side.head
        for line in lines:
            yield from side.take(line)
        yield from side.finish()


def _subagent_facts(transcript: Transcript) -> dict[str, Any]:
    path = transcript.path
    if not path.stem.startswith("agent-") and "subagents" not in path.parts:
        return {"session_type": "main"}
    facts: dict[str, Any] = {"session_type": "subagent"}
    for companion in transcript.companions:
        try:
            meta = read_document(companion)
        except (OSError, ValueError):
            continue
        parent = meta.get("parentAgentId") if isinstance(meta, dict) else None
        if isinstance(parent, str):
            facts["parent_id"] = f"agent-{parent.removeprefix('agent-')}"
    return facts


# --- a session ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class _OpenMessage:
    """An assistant message of which more records may come."""

    message_id: str
    line: int
    timestamp: str | None
    zoned: bool
    cwd: str | None
    texts: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    calls: dict[str, ToolCall] = field(default_factory=dict)
    records: list[str] = field(default_factory=list)
    waiting: list[Turn] = field(default_factory=list)

    def add(self, content: Content) -> None:
        """Union the blocks of one more record: the same again is dropped, a longer text replaces its beginning."""
        _union(self.texts, content.texts)
        _union(self.thinking, content.thinking)
        for call in content.calls:
            self.calls[call.call_id or f"#{len(self.calls)}"] = call


def _union(texts: list[str], more: Iterable[str]) -> None:
    for text in more:
        if text in texts:
            continue
        for i, known in enumerate(texts):
            if known and text.startswith(known):
                texts[i] = text
                break
        else:
            texts.append(text)


class _Session:
    """Turns of one session as its records arrive."""

    def __init__(self, head: SessionHead) -> None:
        self.head = head
        self.cwd: str | None = head.cwd
        self._titles: dict[str, str] = {}
        self._leaves: dict[str, str] = {}
        self._parent = head.parent_id
        self._branch: str | None = None
        self._open: _OpenMessage | None = None
        self._held: deque[Turn] = deque()
        self._queued: set[str] = set()
        self._echoes: set[str] = set()

    def take(self, line: Line) -> Iterator[Event]:
        """One record: what it completes."""
        record = line.record
        kind = record.get("type")
        self._note_facts(record)
        if kind == "assistant":
            yield from self._assistant(line)
        elif kind == "user":
            yield from self._user(line)
        elif kind == "attachment":
            yield from self._attachment(line)
        elif not isinstance(kind, str):
            yield Skipped("record without a type", line.number)
        elif kind not in _IGNORED:
            yield UnknownRecord(kind)

    def finish(self) -> Iterator[Event]:
        """The turns still held, and the session's head with all that was learnt."""
        yield from self._close()
        yield from self._held
        self._held.clear()
        title = next(
            (self._titles[k] for k in ("custom", "rename", "ai", "summary", "prompt") if self._titles.get(k)),
            None,
        )
        head = self.head
        yield SessionHead(
            head.id, AGENT, title=title, cwd=self.cwd, git_branch=self._branch, parent_id=self._parent,
            session_type=head.session_type,
        )  # fmt: skip

    # --- records ---

    def _note_facts(self, record: dict[str, Any]) -> None:
        cwd, branch, session = record.get("cwd"), record.get("gitBranch"), record.get("sessionId")
        if self.cwd is None and isinstance(cwd, str) and cwd:
            self.cwd = storable(cwd)
        if self._branch is None and isinstance(branch, str) and branch:
            self._branch = storable(branch)
        if self._parent is None and self.head.session_type == "subagent" and isinstance(session, str):
            self._parent = session
        for kind, key in (("custom", "customTitle"), ("ai", "aiTitle")):
            if isinstance(record.get(key), str):
                self._titles[kind] = storable(record[key])
        leaf, summary = record.get("leafUuid"), record.get("summary")
        if isinstance(leaf, str) and isinstance(summary, str):
            self._leaves[leaf] = storable(summary)
        elif self._leaves and record.get("uuid") in self._leaves:
            # a summary stands in any file; it is this session's only where its leaf is
            self._titles["summary"] = self._leaves[record["uuid"]]

    def _assistant(self, line: Line) -> Iterator[Event]:
        record = line.record
        message = record.get("message")
        if not isinstance(message, dict):
            yield Skipped("message without a body", line.number)
            return
        if message.get("model") == "<synthetic>" or record.get("isApiErrorMessage"):
            return
        message_id = message.get("id")
        uuid = record.get("uuid")
        key = message_id if isinstance(message_id, str) and message_id else str(uuid or line.number)
        if self._open is None or self._open.message_id != key:
            yield from self._close()
            timestamp, zoned = _time(record)
            self._open = _OpenMessage(key, line.number, timestamp, zoned, _text(record.get("cwd")))
        self._open.add(read_content(message.get("content")))
        if isinstance(uuid, str):
            self._open.records.append(uuid)

    def _close(self) -> Iterator[Event]:
        """The open message as a turn, and the tool results that came in the midst of it."""
        message, self._open = self._open, None
        if message is None:
            return
        text, length = cut(join_texts(message.texts))
        calls = tuple(message.calls.values())
        self._echoes.update(c.call_id for c in calls if c.call_id and is_echo(c))
        if calls or message.thinking or (text.strip() and text.strip() != "No response requested."):
            yield from self._hold(
                Turn(
                    "assistant", text, native_id=message.message_id, record_ids=_global(message.records),
                    timestamp=message.timestamp, zoned=message.zoned, time_source="own" if message.timestamp else "none", thinking=join_texts(message.thinking),
                    calls=calls, line=message.line, cwd=message.cwd, text_length=length,
                )
            )  # fmt: skip
        for turn in message.waiting:
            yield from self._hold(self._marked(turn))

    def _marked(self, turn: Turn) -> Turn:
        is_answer = self._echoes and any(r.call_id in self._echoes for r in turn.results)
        return replace(turn, echo=True) if is_answer else turn

    def _user(self, line: Line) -> Iterator[Event]:
        record = line.record
        message = record.get("message")
        content = read_content(message.get("content") if isinstance(message, dict) else record.get("content"))
        if content.results:
            tool = self._tool_turn(line, content)
            if self._open:
                self._open.waiting.append(tool)
            else:
                yield from self._hold(self._marked(tool))
        if record.get("isMeta"):
            return
        text = join_texts(content.texts)
        if record.get("isCompactSummary"):
            yield from self._close()
            yield from self._hold(self._turn(line, "system", text, kind="summary"))
            return
        role, text = self._spoken(text)
        if not text.strip():
            return
        yield from self._close()
        if role == "user":
            self._titles.setdefault("prompt", _first_line(text))
            if text in self._queued and not self._forget_queued(text):
                return
        suffix = "#text" if content.results else ""
        yield from self._hold(self._turn(line, role, text, suffix=suffix))

    def _spoken(self, text: str) -> tuple[str, str]:
        """Who speaks and what is left of a user record's text without noise."""
        if "<" not in text and not text.startswith(_DROPPED_STARTS):
            return "user", text
        text = without_reminders(text)
        while (tag := _LEADING_TAG.match(text)) is not None:
            text = text[tag.end() :]
        if _DROPPED.match(text.lstrip()):
            return "user", ""
        name = _COMMAND_NAME.search(text)
        if name:
            args = _COMMAND_ARGS.search(text)
            command = f"/{name[1].strip().lstrip('/')} {args[1].strip() if args else ''}".strip()
            if command.startswith("/rename "):
                self._titles["rename"] = command.removeprefix("/rename ").strip()
            return "user", command
        shell = _BASH_INPUT.search(text)
        if shell:
            return "user", f"!{shell[1].strip()}"
        output = _BASH_OUTPUT.findall(text)
        if output and text.lstrip().startswith("<bash-"):
            return "tool", join_texts(output)
        return "user", text

    def _tool_turn(self, line: Line, content: Content) -> Turn:
        text = join_texts(without_reminders(t) for _, t in content.results)
        return self._turn(line, "tool", text, results=tuple(r for r, _ in content.results))

    def _attachment(self, line: Line) -> Iterator[Event]:
        attachment = line.record.get("attachment")
        if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
            return
        prompt = attachment.get("prompt")
        role, text = self._spoken(join_texts(read_content(prompt).texts))
        if role != "user" or not text.strip() or attachment.get("commandMode") == "task-notification":
            return
        turn = self._turn(line, "user", text)
        if any(t.role == "user" and t.text == text for t in self._held):
            return
        self._queued.add(text)
        if self._open and (turn.timestamp or "") >= (self._open.timestamp or ""):
            self._open.waiting.append(turn)
        else:
            yield from self._place(turn)

    # --- turns ---

    def _turn(self, line: Line, role: str, text: str, *, suffix: str = "", **more: Any) -> Turn:
        record = line.record
        text, length = cut(text)
        timestamp, zoned = _time(record)
        uuid = record.get("uuid")
        native = f"{uuid}{suffix}" if isinstance(uuid, str) else None
        records = () if suffix or not isinstance(uuid, str) else _global([uuid])
        return Turn(
            role, text, native_id=native, record_ids=records, timestamp=timestamp, zoned=zoned, time_source="own" if timestamp else "none", line=line.number,
            cwd=_text(record.get("cwd")), text_length=length, **more,
        )  # fmt: skip

    def _hold(self, turn: Turn) -> Iterator[Event]:
        self._held.append(turn)
        if len(self._held) > LOOK_BACK:
            yield self._held.popleft()

    def _place(self, turn: Turn) -> Iterator[Event]:
        """Put a queued prompt before the held turns that are later than it."""
        at = len(self._held)
        while at and turn.timestamp and (self._held[at - 1].timestamp or "") > turn.timestamp:
            at -= 1
        self._held.insert(at, turn)
        if len(self._held) > LOOK_BACK:
            yield self._held.popleft()

    def _forget_queued(self, text: str) -> bool:
        """Whether a queued prompt that now stands as a record of its own could still be taken back."""
        for turn in self._held:
            if turn.role == "user" and turn.text == text:
                self._held.remove(turn)
                self._queued.discard(text)
                return True
        return False


def _time(record: dict[str, Any]) -> tuple[str | None, bool]:
    value = record.get("timestamp")
    found = parse_instant(value) if isinstance(value, str | int | float) else None
    return found or (None, True)


def _text(value: Any) -> str | None:
    return storable(value) if isinstance(value, str) and value else None


def _global(records: list[str]) -> tuple[str, ...]:
    return tuple(r for r in records if is_global_id(r))


def _first_line(text: str) -> str:
    line = text.strip().splitlines()[0].strip()
    return line if len(line) <= 100 else line[:99] + "…"  # noqa: PLR2004 - a title fits a line
