"""CocoRecall's own entries in an agent's settings: hooks and the MCP server.

Ours is what runs `recall hook <event>` or `recall mcp`, whatever path stands in front of it; so an entry that
an older installation wrote, or a person by hand, is found, updated in place and taken out again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cocorecall.install.json_edit import Item, append, came_with_us, remove, replace
from cocorecall.install.jsonc import Child, JsonTextError, Node, scan, value_of

SERVER = "cocorecall"
"""Name of the MCP server in every agent; tools appear as `mcp__cocorecall__recall_search`."""

_HOOK = re.compile(r"""(?:^|[\s/\\"'])(?:coco)?recall(?:\.exe)?["']?\s+hook\s+([a-z][a-z-]*)\s*$""")
_SERVER = re.compile(r"""(?:^|[\s/\\"'])(?:coco)?recall(?:\.exe)?["']?\s+mcp(?:\s|$)""")


@dataclass(frozen=True, slots=True)
class HookEntries:
    """What stands under `hooks` for us.

    Attributes:
        events: the agent's event name and our entry for it: `{"type", "command", "timeout"}`.
        grouped: an entry stands in a group, `{"hooks": [entry]}`, as in Claude Code; else bare, as in Cursor.
        version: value of a `version` beside `hooks` that the agent expects in a file that has none.
    """

    events: Mapping[str, Mapping[str, Any]]
    grouped: bool = True
    version: int | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    """An entry of ours and what it stands in, outermost first.

    Attributes:
        group: the `{"hooks": […]}` in the event's list; None where the entry stands in the list itself.
        entries: the list that holds the entry: the group's or the event's.
        name: the event in our own words: `session-end`.
    """

    hooks: Child
    event: Child
    group: Child | None
    entries: Node
    entry: Child
    name: str


# --- hooks -------------------------------------------------------------------------------------------


def add_hooks(text: str, wanted: HookEntries) -> str:
    """The settings with our hooks: those there are brought up to date, missing ones added.

    Raises:
        JsonTextError: the text is not JSON, or `hooks` has another shape than the agent documents.
    """
    for event, entry in wanted.events.items():
        text = _add_to_event(text, event, entry, wanted)
    root = _object(scan(text), "the document")
    hooks = root.member("hooks")
    present = _object(hooks.value, '"hooks"') if hooks else None
    missing: list[Item] = [
        (event, [_wrapped(entry, wanted)])
        for event, entry in wanted.events.items()
        if present is None or present.member(event) is None
    ]
    if present is not None:
        return append(text, root, present, missing) if missing else text
    items: list[Item] = [("hooks", dict(missing))]
    if wanted.version is not None and root.member("version") is None:
        items.append(("version", wanted.version))
    return append(text, root, root, items)


def _wrapped(entry: Mapping[str, Any], wanted: HookEntries) -> dict[str, Any]:
    return {"hooks": [dict(entry)]} if wanted.grouped else dict(entry)


def _add_to_event(text: str, event: str, entry: Mapping[str, Any], wanted: HookEntries) -> str:
    """Put our entry into an event's list, where there is one: update it, or append it."""
    root = _object(scan(text), "the document")
    hooks = root.member("hooks")
    listed = _object(hooks.value, '"hooks"').member(event) if hooks else None
    if listed is None:
        return text
    if listed.value.kind != "array":
        raise JsonTextError(f'"{event}" is not a list', listed.value.start)
    name = _hook_name(entry["command"])
    ours = [f for f in _find_hooks(text, root) if f.event.key == event and f.name == name]
    if not ours:
        return append(text, root, listed.value, [(None, _wrapped(entry, wanted))])
    for extra in reversed(ours[1:]):
        text = _take_out(text, root, extra)
        root = scan(text)
    first = next(f for f in _find_hooks(text, root) if f.event.key == event and f.name == name)
    return _with_command(text, first.entry.value, entry["command"])


def _with_command(text: str, entry: Node, command: str) -> str:
    """The entry with that command; what else a person set in it stays."""
    held = entry.member("command")
    if held is None or value_of(text, held.value) == command:
        return text
    return replace(text, held.value, command)


def remove_hooks(text: str) -> str:
    """The settings without any hook of ours, and without the lists that came with them.

    Raises:
        JsonTextError: the text is not JSON.
    """
    while True:
        root = scan(text)
        found = next(_find_hooks(text, root), None)
        if found is None:
            return text
        text = _take_out(text, root, found)


def _take_out(text: str, root: Node, found: _Found) -> str:
    """Remove an entry, and with it the group, list and `hooks` that would be left empty and came with us."""
    event, hooks = found.event.value, found.hooks.value
    entries, group = found.entries, found.group
    if group is not None and (len(entries.children) > 1 or entries.comments or group.value.comments):
        return remove(text, entries, found.entry)
    if len(event.children) > 1 or not came_with_us(text, event):
        return remove(text, event, group or found.entry)
    if len(hooks.children) > 1 or not came_with_us(text, hooks):
        return remove(text, hooks, found.event)
    place = root.children.index(found.hooks)
    text = remove(text, root, found.hooks)
    return _without_our_version(text, place)


def _without_our_version(text: str, place: int) -> str:
    """Take out the `version` that `add_hooks` wrote: it stands right behind the `hooks` that it wrote."""
    root = scan(text)
    if place < len(root.children):
        child = root.children[place]
        if child.key == "version" and value_of(text, child.value) == 1:
            return remove(text, root, child)
    return text


def _find_hooks(text: str, root: Node) -> Iterator[_Found]:
    """Every hook of ours, in order; other shapes than the documented ones hold none."""
    hooks = root.member("hooks") if root.kind == "object" else None
    for event in hooks.value.children if hooks and hooks.value.kind == "object" else ():
        for item in event.value.children if event.value.kind == "array" else ():
            inner = item.value.member("hooks") if item.value.kind == "object" else None
            grouped = inner is not None and inner.value.kind == "array"
            entries = inner.value if inner and grouped else event.value
            for entry in entries.children if grouped else (item,):
                name = _entry_name(text, entry.value)
                if hooks and name:
                    yield _Found(hooks, event, item if grouped else None, entries, entry, name)


def _entry_name(text: str, entry: Node) -> str | None:
    command = entry.member("command") if entry.kind == "object" else None
    value = value_of(text, command.value) if command else None
    return _hook_name(value) if isinstance(value, str) else None


def _hook_name(command: str) -> str | None:
    """The event of `… recall hook EVENT`, or None for anybody else's command."""
    match = _HOOK.search(command)
    return match[1] if match else None


# --- the MCP server ----------------------------------------------------------------------------------


def is_our_server(value: Any) -> bool:
    """Whether an entry under `mcpServers` runs `recall mcp`."""
    if not isinstance(value, dict) or not isinstance(value.get("command"), str):
        return False
    args = value.get("args", [])
    words = [value["command"], *(args if isinstance(args, list) else [])]
    return _SERVER.search(" ".join(map(str, words))) is not None


def add_server(text: str, command: str) -> str:
    """The settings with our MCP server; one that is there gets the new path.

    Raises:
        JsonTextError: the text is not JSON, `mcpServers` is no object, or our name is taken.
    """
    root = _object(scan(text), "the document")
    servers = root.member("mcpServers")
    entry = {"command": command, "args": ["mcp"]}
    if servers is None:
        return append(text, root, root, [("mcpServers", {SERVER: entry})])
    holder = _object(servers.value, '"mcpServers"')
    ours = [c for c in holder.children if is_our_server(value_of(text, c.value))]
    if ours:
        runs_mcp = value_of(text, ours[0].value).get("args") == ["mcp"]
        return _with_command(text, ours[0].value, command) if runs_mcp else text
    taken = holder.member(SERVER)
    if taken is not None:
        raise JsonTextError(f'"mcpServers" has a "{SERVER}" that does not run `recall mcp`', taken.start)
    return append(text, root, holder, [(SERVER, entry)])


def remove_server(text: str) -> str:
    """The settings without our MCP server, and without an `mcpServers` that came with it.

    Raises:
        JsonTextError: the text is not JSON.
    """
    while True:
        root = scan(text)
        servers = root.member("mcpServers") if root.kind == "object" else None
        children = servers.value.children if servers and servers.value.kind == "object" else ()
        ours = [c for c in children if is_our_server(value_of(text, c.value))]
        if servers is None or not ours:
            return text
        whole = len(children) == 1 and came_with_us(text, servers.value)
        text = remove(text, root, servers) if whole else remove(text, servers.value, ours[-1])


def _object(node: Node, name: str) -> Node:
    if node.kind != "object":
        raise JsonTextError(f"{name} is not an object", node.start)
    return node
