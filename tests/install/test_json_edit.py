"""Editing settings of others: every byte that is not ours stays, and taking out inverts putting in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cocorecall.install.entries import add_hooks, add_server, remove_hooks, remove_server
from cocorecall.install.jsonc import JsonTextError, scan, value_of
from cocorecall.install.places import AGENTS, Agent, hook_entries

RECALL = "/opt/tools/bin/recall"


def read(text: str) -> Any:
    return value_of(text, scan(text))


# --- random settings files ---------------------------------------------------------------------------

SPACE = st.text(" \t\n", max_size=3)
COMMENT = st.sampled_from(
    [
        "// a note\n",
        "/* kept */",
        "/* two\n lines */",
        "// \n",
        "//{[\n",
        '/* "hooks": [ */',
        "// recall hook stop\n",
    ]
)
TRIVIA = st.lists(st.one_of(SPACE, COMMENT), max_size=2).map("".join)
NAMES = st.sampled_from(
    [
        "hooks",
        "mcpServers",
        "version",
        "Stop",
        "SessionEnd",
        "stop",
        "cocorecall",
        "a",
        "ü",
        "\\u0061b",
        "permissions",
    ]
)
SCALARS = st.sampled_from(
    [
        "1",
        "-0.5e3",
        "true",
        "null",
        '""',
        '"x\\"y"',
        '"// no comment"',
        '"recall hook stop"',
        '"/x/other hook stop"',
    ]
)


@st.composite
def containers(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    is_object = draw(st.booleans())
    values = draw(st.lists(inner, max_size=3))
    if is_object:
        keys = draw(st.lists(NAMES, min_size=len(values), max_size=len(values), unique=True))
        values = [f'"{k}"{draw(TRIVIA)}:{draw(TRIVIA)}{v}' for k, v in zip(keys, values, strict=True)]
    return _joined(draw, "{}" if is_object else "[]", values)


def _joined(draw: st.DrawFn, brackets: str, values: list[str]) -> str:
    pieces = [f"{draw(TRIVIA)}{value}{draw(TRIVIA)}" for value in values]
    trailing = "," + draw(TRIVIA) if values and draw(st.integers(0, 3)) == 0 else ""
    body = ",".join(pieces) + trailing if values else draw(TRIVIA)
    return brackets[0] + body + brackets[1]


VALUES = st.recursive(SCALARS, containers, max_leaves=6)
FOREIGN_HOOK = st.sampled_from(
    [
        '{"type": "command", "command": "/usr/bin/notify stop"}',
        '{"command":"x","timeout":5,}',
        "{}",
        "null",
        "3",
    ]
)


@st.composite
def hook_lists(draw: st.DrawFn) -> str:
    groups = []
    for _ in range(draw(st.integers(0, 2))):
        entries = _joined(draw, "[]", draw(st.lists(FOREIGN_HOOK, max_size=2)))
        groups.append(
            _joined(draw, "{}", [f'"hooks":{entries}']) if draw(st.booleans()) else draw(FOREIGN_HOOK)
        )
    return _joined(draw, "[]", groups)


@st.composite
def settings_files(draw: st.DrawFn) -> str:
    """A settings file as the wild has it: entries of others, comments, odd layout, any line break."""
    members = []
    others = draw(st.lists(NAMES.filter(lambda n: n not in ("hooks", "mcpServers")), max_size=3, unique=True))
    members += [f'"{name}": {draw(VALUES)}' for name in others]
    if draw(st.booleans()):
        events = st.sampled_from(["Stop", "SessionStart", "stop", "PreToolUse"])
        lists = [f'"{e}":{draw(hook_lists())}' for e in draw(st.lists(events, max_size=3, unique=True))]
        members.append('"hooks" : ' + _joined(draw, "{}", lists))
    if draw(st.booleans()):
        servers = [
            f'"{n}": {{"command": "npx", "args": ["mcp"]}}'
            for n in draw(st.sets(st.sampled_from("abc"), max_size=2))
        ]
        members.append('"mcpServers":' + _joined(draw, "{}", servers))
    text = draw(TRIVIA) + _joined(draw, "{}", draw(st.permutations(members))) + draw(TRIVIA)
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from(["", "\ufeff"])) + text


@st.composite
def pretty_files(draw: st.DrawFn) -> str:
    """A settings file as programs write it."""
    data = json.loads(json.dumps(read(draw(settings_files()))))
    text = json.dumps(data, indent=draw(st.sampled_from([None, 1, 2, 4, "\t"])))
    return (text + draw(st.sampled_from(["", "\n"]))).replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


FILES = st.one_of(settings_files(), pretty_files())


@given(FILES, st.sampled_from(AGENTS))
@example('{"hooks": {}}', "claude")
@example('{"hooks": {"Stop": []}}', "claude")
@example('{"a": [1 // one\n]}', "cursor")
@example("{\n}\n", "cursor")
@example("{}", "codex")
def test_taking_out_hooks_gives_back_every_byte(text: str, agent: Agent) -> None:
    wanted = hook_entries(agent, RECALL)
    installed = add_hooks(text, wanted)
    assert remove_hooks(installed) == text
    assert add_hooks(installed, wanted) == installed


@given(FILES, st.sampled_from(AGENTS))
def test_hooks_are_added_and_nothing_else_changes(text: str, agent: Agent) -> None:
    before, after = read(text), read(add_hooks(text, hook_entries(agent, RECALL)))
    wanted = hook_entries(agent, RECALL)
    for event, entry in wanted.events.items():
        ours = {"hooks": [entry]} if wanted.grouped else entry
        assert after["hooks"][event] == [*before.get("hooks", {}).get(event, []), ours]
    others = {k: v for k, v in after["hooks"].items() if k not in wanted.events}
    assert others == {k: v for k, v in before.get("hooks", {}).items() if k not in wanted.events}
    expected = before if "hooks" in before or not wanted.version else {"version": 1} | before
    assert {k: v for k, v in after.items() if k != "hooks"} == {
        k: v for k, v in expected.items() if k != "hooks"
    }


@given(FILES)
def test_the_server_comes_and_goes_without_a_trace(text: str) -> None:
    installed = add_server(text, RECALL)
    assert read(installed)["mcpServers"]["cocorecall"] == {"command": RECALL, "args": ["mcp"]}
    assert add_server(installed, RECALL) == installed
    assert remove_server(installed) == text


@given(FILES, st.sampled_from(AGENTS))
def test_hooks_and_server_in_one_file_come_out_in_either_order(text: str, agent: Agent) -> None:
    installed = add_server(add_hooks(text, hook_entries(agent, RECALL)), RECALL)
    if agent != "cursor":  # Cursor keeps them apart; `version` is told by its place behind `hooks`
        assert remove_hooks(remove_server(installed)) == text
        assert remove_server(remove_hooks(installed)) == text


@given(FILES, st.sampled_from(AGENTS))
def test_another_path_is_updated_in_place(text: str, agent: Agent) -> None:
    old, new = hook_entries(agent, "'/old place/recall'"), hook_entries(agent, RECALL)
    updated = add_hooks(add_hooks(text, old), new)
    assert "old place" not in updated
    assert updated == add_hooks(text, new)
    assert add_server(add_server(text, "/old/recall"), RECALL) == add_server(text, RECALL)


@given(FILES, FILES.filter(lambda t: not t.startswith("\ufeff")))
def test_what_others_add_later_stays(text: str, added: str) -> None:
    """Another tool puts its own behind ours; then ours goes."""
    installed = add_hooks(text, hook_entries("claude", RECALL))
    root = scan(installed)
    end = root.end - 1
    comma = "" if root.children[-1].comma is not None else ","
    others = installed[:end] + f'\n{comma}"zz": {added}\n' + installed[end:]
    left = read(remove_hooks(others))
    assert left == read(text) | {"zz": read(added)}


# --- layout a person would notice --------------------------------------------------------------------

FOUR_SPACES = """{
    // mine
    "theme": "dark", // and this
    "hooks": {
        "Stop": [
            {"hooks": [{"type": "command", "command": "say done"}]}
        ]
    }
}
"""


def test_entries_take_the_indentation_of_the_file() -> None:
    lines = add_hooks(FOUR_SPACES, hook_entries("claude", RECALL)).splitlines()
    assert lines[:3] == FOUR_SPACES.splitlines()[:3]
    assert '        "SessionStart": [' in lines
    assert '                        "type": "command",' in lines


def test_a_new_file_is_laid_out_for_people() -> None:
    text = add_server("{}\n", RECALL)
    assert text == (
        '{\n  "mcpServers": {\n    "cocorecall": {\n      "command": "/opt/tools/bin/recall",\n'
        '      "args": ["mcp"]\n    }\n  }\n}\n'
    )


def test_a_comment_at_the_end_of_a_line_stays_with_its_entry() -> None:
    text = '{\n  "a": 1 // about a\n}\n'
    assert add_server(text, RECALL).startswith('{\n  "a": 1, // about a\n  "mcpServers"')


def test_a_comment_inside_our_list_keeps_the_list() -> None:
    text = add_server("{}\n", RECALL).replace('"mcpServers": {', '"mcpServers": { // my servers')
    left = remove_server(text)
    assert "// my servers" in left
    assert read(left) == {"mcpServers": {}}


def test_a_person_s_setting_in_our_entry_survives_an_update() -> None:
    text = add_hooks("{}", hook_entries("claude", "/old/recall")).replace('"timeout": 10', '"timeout": 30')
    updated = read(add_hooks(text, hook_entries("claude", RECALL)))
    assert updated["hooks"]["Stop"][0]["hooks"] == [
        {"type": "command", "command": f"{RECALL} hook stop", "timeout": 30}
    ]


def test_doubled_entries_of_ours_become_one() -> None:
    one = {"hooks": [{"type": "command", "command": "/a/recall hook stop"}]}
    text = json.dumps({"hooks": {"Stop": [one, {"hooks": []}, one | {"matcher": ""}]}})
    groups = read(add_hooks(text, hook_entries("claude", RECALL)))["hooks"]["Stop"]
    assert json.dumps(groups).count("recall hook stop") == 1
    assert {"hooks": []} in groups


@pytest.mark.parametrize(
    "command",
    [
        "recall hook session-end",
        "/usr/local/bin/recall hook session-end",
        "'/Users/jo doe/bin/recall' hook session-end",
        '"C:\\Program Files\\x\\recall.exe" hook session-end',
        "/venv/bin/python -m cocorecall hook session-end",
        "recall hook session-end ",
    ],
)
def test_our_command_is_known_by_its_end(command: str) -> None:
    text = json.dumps({"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": command}]}]}})
    assert "recall" not in remove_hooks(text)


@pytest.mark.parametrize(
    "command",
    [
        "recall search x",
        "total-recall hook stop",
        "myrecall hook stop",
        "recall hook stop && say done",
        "echo recall hook",
    ],
)
def test_other_commands_are_not_ours(command: str) -> None:
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})
    assert remove_hooks(text) == text


# --- refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"a": 1} x',
        "{'a': 1}",
        "{a: 1}",
        '{"a": 01}',
        '{"a": tru}',
        '{"a" 1}',
        '{"a": 1 "b": 2}',
        "{,}",
        '{"a": "\\q", "hooks": {"Stop": [{"command": "\\q"}]}}',
        '{"hooks": []}',
        '{"hooks": {"Stop": {}}}',
        '{"hooks": {}, "hooks": {}}',
        '{"a": "open}',
        "{/* open}",
        '{"a": ' + "[" * 5000 + "]" * 5000 + "}",
    ],
)
def test_what_cannot_be_edited_safely_is_refused(text: str) -> None:
    with pytest.raises(JsonTextError):
        add_hooks(text, hook_entries("claude", RECALL))


def test_a_foreign_server_of_our_name_is_not_overwritten() -> None:
    with pytest.raises(JsonTextError, match="does not run"):
        add_server('{"mcpServers": {"cocorecall": {"command": "node"}}}', RECALL)


@given(st.text('{}[]",:/*\\ \n\ufeffa1', max_size=30))
def test_scanning_ends_with_a_tree_or_a_reason(text: str) -> None:
    try:
        node = scan(text)
    except JsonTextError as error:
        start, end = error.offset, error.offset
    else:
        start, end = node.start, node.end
    assert 0 <= start <= end <= len(text)


@given(VALUES)
def test_a_tree_means_what_json_means(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        return
    assert read(text) == expected
