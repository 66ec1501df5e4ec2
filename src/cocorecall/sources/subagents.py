"""Claude Code's subagents: which session their records belong to, and who started them.

Three layouts, by age: records inside the parent's file (`isSidechain`); `agent-<id>.jsonl` beside it;
`<session>/subagents/agent-<id>.jsonl` with a sidecar `.meta.json`, workflows' agents one folder deeper. Each
record of a subagent's file names the *root* session, whoever started the agent; the agent that did is named
by the sidecar (`parentAgentId`), or by the tool result in its own file (`toolUseResult.agentId`).
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from cocorecall.sources.blocks import stored_name
from cocorecall.sources.transcript import Line, Place, Transcript, clean, read_document


def subagent_facts(transcript: Transcript) -> dict[str, Any]:
    """Type, title and parent of a session as its file's place, its sidecar and its siblings say.

    Returns:
        Fields of a `SessionHead`; `parent_id` only where another subagent started it.
    """
    path = transcript.path
    if not path.stem.startswith("agent-") and path.parent.name != "subagents":
        return {"session_type": "main"}
    meta = _meta(transcript)
    parent = stored_name(meta.get("parentAgentId"))
    if parent:
        parent = f"agent-{parent.removeprefix('agent-')}"
    elif meta.get("spawnDepth") != 1:
        parent = _spawners(str(path.parent), _state(path.parent)).get(path.stem)
    return {
        "session_type": "subagent",
        "title": stored_name(meta.get("description")),
        "parent_id": parent,
    }


def _meta(transcript: Transcript) -> dict[str, Any]:
    for companion in transcript.companions:
        try:
            meta = read_document(companion)
        except (OSError, ValueError):
            continue
        if isinstance(meta, dict):
            return meta
    return {}


_AGENT_ID = re.compile(rb'"agentId":\s*"([\w-]{1,80})"')


def _state(folder: Path) -> tuple[tuple[str, int], ...]:
    """Names and sizes of the subagents' files in a folder: they only grow."""
    try:
        with os.scandir(folder) as entries:
            agents = [e for e in entries if e.name.startswith("agent-") and e.name.endswith(".jsonl")]
            return tuple(sorted((e.name, e.stat().st_size) for e in agents))
    except OSError:
        return ()


@lru_cache(maxsize=2)
def _spawners(folder: str, files: tuple[tuple[str, int], ...]) -> dict[str, str]:
    """Which agent of a folder started which: every file is looked through once for all of them."""
    found: dict[str, str] = {}
    if len(files) < 2:  # noqa: PLR2004 - an agent does not start itself
        return found
    for name, _ in files:
        try:
            with Path(folder, name).open("rb") as file:
                for raw in file:
                    for child in _started(raw):
                        if name != f"{child}.jsonl":
                            found.setdefault(child, name.removesuffix(".jsonl"))
        except OSError:
            continue
    return found


def _started(raw: bytes) -> list[str]:
    """The agents that a record's tool result names, as session ids."""
    if b'"toolUseResult"' not in raw or len(_AGENT_ID.findall(raw)) < 2:  # noqa: PLR2004 - its own, and another
        return []
    try:
        result = orjson.loads(raw).get("toolUseResult")
    except (orjson.JSONDecodeError, AttributeError):
        return []
    agent = stored_name(result.get("agentId")) if isinstance(result, dict) else None
    return [f"agent-{agent}"] if agent else []


class Sidechains:
    """Where the records of subagents stand in their parent's file, by session.

    Records of older versions name no agent: there a chain begins with a prompt, and each record names the
    one before it.
    """

    def __init__(self, stem: str) -> None:
        self.places: dict[str, list[Place]] = {}
        self.parents: dict[str, str] = {}
        self._stem = clean(stem)
        self._chain_of: dict[str, str] = {}
        self._last: str | None = None

    def note(self, line: Line) -> None:
        """Remember where a record of a subagent stands."""
        session_id = self._session_of(line)
        parent = stored_name(line.record.get("sessionId"))
        if parent and session_id not in self.places:
            self.parents[session_id] = parent
        self.places.setdefault(session_id, []).append(Place(line.number, line.offset))

    def _session_of(self, line: Line) -> str:
        record = line.record
        agent = stored_name(record.get("agentId"))
        if agent:
            return f"agent-{agent}"
        uuid, before = record.get("uuid"), record.get("parentUuid")
        chain = self._chain_of.get(before) if isinstance(before, str) else None
        if chain is None:
            chain = None if record.get("type") == "user" else self._last
            chain = chain or (f"sidechain-{clean(uuid)}" if isinstance(uuid, str) else self._unnamed(line))
        if isinstance(uuid, str):
            self._chain_of[uuid] = chain
        self._last = chain
        return chain

    def _unnamed(self, line: Line) -> str:
        return f"{self._stem}-sidechain-{line.number}"
