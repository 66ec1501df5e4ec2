"""Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, one record a line.

Facts of the format (which record types there are, what is noise, how messages are split) were counted on
public transcripts of versions 1.0 to 2.1; they change with each release, so unknown record types are passed
over and counted, and everything that is dropped is named here.

What becomes a turn:
- records of one `message.id` are one assistant turn, also where tool results stand between them;
- a user record of tool results is a `tool` turn; text beside them is a user turn behind it (its id is the
  record's with `#text`), so nothing of a message that holds both is lost;
- a compaction's summary is a `system` turn of kind `summary`;
- a prompt typed while the agent worked (`queued_command`) is a user turn, placed by its time;
- records of a subagent inside its parent's file (`isSidechain`) are a session of their own: `agent-<id>`
  where they name their agent, else `sidechain-<uuid>` of the prompt that begins such a chain.

Noise is cut block by block and tag by tag: what a person wrote beside it stays.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cocorecall.model import Event, SessionHead, Skipped, ToolCall, Turn, UnknownRecord
from cocorecall.sources import noise
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
from cocorecall.sources.subagents import Sidechains, subagent_facts
from cocorecall.sources.transcript import (
    FileStat,
    Line,
    Transcript,
    clean,
    first_records,
    is_global_id,
    read_again,
    read_lines,
    type_name,
)
from cocorecall.times import parse_instant

AGENT = "claude"

_IGNORED = frozenset(
    "progress file-history-snapshot file-history-delta system last-prompt permission-mode queue-operation mode"
    " pr-link bridge-session agent-name continued-in attachment summary ai-title custom-title tag"
    " microcompact_boundary agent-setting worktree-state".split()
)
"""Record types that are known and are no turns (some give the session its title)."""

LOOK_BACK = 40
"""Turns that are held back so that a queued prompt can be placed among them."""

_NOT_SESSIONS = frozenset(
    "todos tasks statsig file-history debug shell-snapshots plugins ide telemetry sessions session-env cache"
    " backups paste-cache stats plans skills agents commands".split()
)
"""Folders of `~/.claude` beside `projects`: where that is configured as a source, they are not transcripts."""


class ClaudeFormat:
    """See the module's docstring."""

    agent = AGENT

    def default_roots(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        """`$CLAUDE_CONFIG_DIR/projects`, or `~/.claude/projects`."""
        configured = environ.get("CLAUDE_CONFIG_DIR")
        return [Path(configured) / "projects" if configured else home / ".claude" / "projects"]

    def group(self, files: dict[str, FileStat]) -> list[Transcript]:
        """Pair a subagent's transcript with its `.meta.json`; leave out indexes, journals and tool results."""
        if files and _holds_no_sessions(next(iter(files.values())).path.parent):
            files.clear()
        files.pop("sessions-index.json", None)
        if any(name.startswith("agent-") for name in files):
            files.pop("journal.jsonl", None)  # a workflow's own, beside its agents
        out = []
        for name in [n for n in files if n.endswith(_META)]:
            main = name.removesuffix(_META) + ".jsonl"
            if main in files:
                out.append(Transcript((files.pop(main), files.pop(name))))
            elif name.startswith("agent-"):
                del files[name]
        return out

    def recognises(self, transcript: Transcript, head: bytes) -> bool:
        """Records of Claude Code's types, or a first record that is longer than what is looked at."""
        del transcript
        records = first_records(head)
        if records or b"\n" in head.rstrip():  # a document that is printed prettily is no transcript
            return any(_is_record(r) for r in records)
        return b'"sessionId"' in head and any(key in head for key in _ENVELOPE)

    def parse(self, transcript: Transcript) -> Iterator[Event]:
        """Yield the transcript's session, and one for each subagent inside it."""
        return with_times(_parse(transcript), transcript.mtime)

    def turns_at(self, transcript: Transcript, line: int) -> Iterator[Turn]:
        """Yield the turns that begin at a line: a message's records up to where the next one begins."""
        session = _Session(SessionHead("", AGENT))
        chain: tuple[Any, Any] | None = None
        for item in read_lines(transcript.path, line):
            if isinstance(item, Skipped):
                continue
            of = (item.record.get("isSidechain"), item.record.get("agentId"))
            chain = chain or of
            if of == chain:  # records of a subagent may stand between
                yield from (event for event in session.take(item) if isinstance(event, Turn))
                if not session.is_open_since(line):
                    break
        yield from (event for event in session.finish() if isinstance(event, Turn))


FORMAT = ClaudeFormat()


_META = ".meta.json"
_ENVELOPE = (b'"parentUuid"', b'"uuid"', b'"isSidechain"', b'"type":"queue-operation"')
"""Keys of a record's envelope; the message stands in the midst of them, so that some may be out of sight."""


def _holds_no_sessions(folder: Path) -> bool:
    """Whether a folder is one of Claude Code's own in which no transcripts lie."""
    parts = folder.parts
    if parts[-1:] == ("tool-results",):
        return is_global_id("".join(parts[-2:-1]))
    if ".claude" not in parts:
        return False
    below = parts[parts.index(".claude") + 1 :]
    return not below or below[0] in _NOT_SESSIONS


def _is_record(record: dict[str, Any]) -> bool:
    """Whether a record is Claude Code's own; a `parts` body is Qwen Code's, a `payload` Codex's."""
    kind, message = record.get("type"), record.get("message")
    if kind == "summary":
        return isinstance(record.get("leafUuid"), str)
    if kind in ("file-history-snapshot", "ai-title"):
        return "messageId" in record or "snapshot" in record or "aiTitle" in record
    if not isinstance(kind, str) or not isinstance(record.get("sessionId"), str) or "payload" in record:
        return False
    if isinstance(message, dict):
        return "parts" not in message
    return kind in _IGNORED or "uuid" in record or "isSidechain" in record


# --- a file ------------------------------------------------------------------------------------------


def _parse(transcript: Transcript) -> Iterator[Event]:
    stem = clean(transcript.path.stem)
    main = _Session(SessionHead(stem, AGENT, **subagent_facts(transcript)))
    sidechains = Sidechains(stem)
    own_file = main.head.session_type == "subagent"
    yield main.head
    for line in read_lines(transcript.path):
        if isinstance(line, Skipped):
            yield line
        elif line.record.get("isSidechain") and not own_file:
            sidechains.note(line)
        else:
            yield from main.take(line)
    yield from main.finish()
    for session_id, places in sidechains.places.items():
        parent = sidechains.parents.get(session_id, stem)
        side = _Session(
            SessionHead(session_id, AGENT, session_type="subagent", parent_id=parent, cwd=main.cwd)
        )
        yield side.head
        for line in read_again(transcript.path, places):
            yield from side.take(line)
        yield from side.finish()


# --- a session ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class _OpenMessage:
    """An assistant message of which more records may come."""

    message_id: str | None
    line: int
    timestamp: str | None
    zoned: bool
    cwd: str | None
    texts: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    calls: dict[str, ToolCall] = field(default_factory=dict)
    records: list[str] = field(default_factory=list)
    waiting: list[Turn] = field(default_factory=list)
    """What came in the midst of the message and stands behind it: tool results, queued prompts."""

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


_RECENT = 500
"""Records that a `summary` written behind them can still be matched with."""


class _Session:
    """Turns of one session as its records arrive."""

    def __init__(self, head: SessionHead) -> None:
        self.head = head
        self.cwd: str | None = head.cwd
        self._titles: dict[str, str] = {"described": head.title or ""}
        self._leaves: dict[str, str] = {}
        self._parent = head.parent_id
        self._branch: str | None = None
        self._open: _OpenMessage | None = None
        self._held: deque[Turn] = deque()
        self._queued: set[str] = set()
        self._recent: deque[str] = deque(maxlen=_RECENT)
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
        elif kind == "system" and record.get("subtype") == "local_command":
            self._rename(noise.read_blocks(read_content(record.get("content")).texts))
        elif kind not in _IGNORED:
            yield UnknownRecord(type_name(kind))

    def is_open_since(self, line: int) -> bool:
        """Whether the message that begins at a line may go on."""
        return self._open is not None and self._open.line == line

    def finish(self) -> Iterator[Event]:
        """The turns still held, and the session's head with all that was learnt."""
        yield from self._close()
        yield from self._held
        self._held.clear()
        order = ("custom", "rename", "ai", "summary", "described", "prompt", "command")
        title = next((self._titles[k] for k in order if self._titles.get(k)), None)
        yield replace(self.head, title=title, cwd=self.cwd, git_branch=self._branch, parent_id=self._parent)

    # --- records ---

    def _note_facts(self, record: dict[str, Any]) -> None:
        cwd, branch, session = record.get("cwd"), record.get("gitBranch"), record.get("sessionId")
        if self.cwd is None and isinstance(cwd, str) and cwd:
            self.cwd = storable(cwd)
        if self._branch is None and isinstance(branch, str) and branch:
            self._branch = storable(branch)
        if self._parent is None and self.head.session_type == "subagent":
            self._parent = stored_name(session)
        for kind, key in (("custom", "customTitle"), ("ai", "aiTitle")):
            if isinstance(record.get(key), str):
                self._titles[kind] = storable(record[key])
        uuid = record.get("uuid")
        if isinstance(uuid, str):
            self._recent.append(uuid)
            if self._leaves and uuid in self._leaves:
                self._titles["summary"] = self._leaves[uuid]
        leaf, summary = record.get("leafUuid"), record.get("summary")
        if isinstance(leaf, str) and isinstance(summary, str):
            # a summary stands in any file; it is this session's only where its leaf is
            self._leaves[leaf] = storable(summary)
            if leaf in self._recent:
                self._titles["summary"] = self._leaves[leaf]

    def _assistant(self, line: Line) -> Iterator[Event]:
        record = line.record
        message = record.get("message")
        if not isinstance(message, dict):
            yield Skipped("message without a body", line.number)
            return
        if message.get("model") == "<synthetic>" or record.get("isApiErrorMessage"):
            return
        uuid = stored_name(record.get("uuid"))
        key = stored_name(message.get("id")) or uuid
        if self._open is None or key is None or self._open.message_id != key:
            yield from self._close()
            timestamp, zoned = _time(record)
            self._open = _OpenMessage(key, line.number, timestamp, zoned, stored_name(record.get("cwd")))
        content = read_content(message.get("content"))
        self._open.add(content)
        if content.results:  # of a tool that ran on the server, in the midst of the message
            self._open.waiting.append(self._tool_turn(line, content, suffix="#result"))
        if uuid:
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
        if record.get("isCompactSummary") or _is_summary(content):
            yield from self._close()
            text = join_texts(content.texts)
            if text:
                yield from self._hold(self._turn(line, "system", text, kind="summary"))
            return
        spoken = noise.read_blocks(content.texts)
        self._rename(spoken)
        if spoken.output.strip():
            yield from self._close()
            yield from self._hold(self._turn(line, "tool", spoken.output, suffix="#output"))
        if spoken.text.strip():
            yield from self._prompt(line, spoken.text, suffix="#text" if content.results else "")

    def _rename(self, spoken: noise.Spoken) -> None:
        if spoken.rename:
            self._titles["rename"] = spoken.rename

    def _prompt(self, line: Line, text: str, *, suffix: str) -> Iterator[Event]:
        """What a person wrote; a prompt that was queued before is taken once."""
        source = line.record.get("promptSource")
        turn = self._turn(line, "user", text, suffix=suffix)
        known = text in self._queued
        if (
            known
            and not self._take_back(text)
            and (source == "queued" or (not source and len(text) >= _UNLIKELY))
        ):
            return  # its earlier copy is out already
        if source == "queued" and self._open:  # typed while the message was written, so it stands behind it
            self._open.waiting.append(turn)
            return
        yield from self._close()
        self._titles.setdefault("command" if text.startswith(("/", "!")) else "prompt", _first_line(text))
        yield from self._hold(turn)

    def _tool_turn(self, line: Line, content: Content, *, suffix: str = "") -> Turn:
        text = join_texts(without_reminders(t) for _, t in content.results)
        return self._turn(line, "tool", text, suffix=suffix, results=tuple(r for r, _ in content.results))

    def _attachment(self, line: Line) -> Iterator[Event]:
        attachment = line.record.get("attachment")
        if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
            return
        if attachment.get("commandMode") == "task-notification":
            return
        text = noise.read_blocks(read_content(attachment.get("prompt")).texts).text
        if not text.strip():
            return
        turn = self._turn(line, "user", text)
        waiting = self._open.waiting if self._open else []
        if any(t.role == "user" and t.text == text for t in (*self._held, *waiting)):
            return
        self._queued.add(text)
        if self._open and not (turn.timestamp and turn.timestamp < (self._open.timestamp or "")):
            self._open.waiting.append(turn)
        else:
            yield from self._place(turn)

    # --- turns ---

    def _turn(self, line: Line, role: str, text: str, *, suffix: str = "", **more: Any) -> Turn:
        record = line.record
        text, length = cut(text)
        timestamp, zoned = _time(record)
        uuid = stored_name(record.get("uuid"))
        native = f"{uuid}{suffix}" if uuid else None
        records = _global([uuid]) if uuid and not suffix else ()
        return Turn(
            role, text, native_id=native, record_ids=records, timestamp=timestamp, zoned=zoned, time_source="own" if timestamp else "none", line=line.number,
            cwd=stored_name(record.get("cwd")), text_length=length, **more,
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

    def _take_back(self, text: str) -> bool:
        """Remove a queued prompt that now stands as a record of its own, if it is still held."""
        self._queued.discard(text)
        for held in (self._open.waiting if self._open else [], self._held):
            for turn in held:
                if turn.role == "user" and turn.text == text:
                    held.remove(turn)
                    return True
        return False


_UNLIKELY = 40
"""Characters of a prompt that a person hardly types twice: a shorter one (`go on`) may well be said again."""


def _is_summary(content: Content) -> bool:
    """Versions before the mark `isCompactSummary` wrote the summary as if a person had said it."""
    return bool(content.texts) and content.texts[0].startswith(_SUMMARY_START)


_SUMMARY_START = "This session is being continued from a previous conversation that ran out of context"


def _time(record: dict[str, Any]) -> tuple[str | None, bool]:
    value = record.get("timestamp")
    found = parse_instant(value) if isinstance(value, str | int | float) else None
    return found or (None, True)


def _global(records: list[str]) -> tuple[str, ...]:
    return tuple(r for r in records if is_global_id(r))


def _first_line(text: str) -> str:
    line = text.strip().splitlines()[0].strip()
    return line if len(line) <= 100 else line[:99] + "…"  # noqa: PLR2004 - a title fits a line
