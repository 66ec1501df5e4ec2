"""Codex's config.toml: our table comes and goes, every other byte stays."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocorecall.install.toml_edit import TomlTextError, add_table, remove_table

RECALL = "/opt/tools/bin/recall"
PIECES = st.sampled_from(
    [
        'model = "o9"\n',
        "# a comment\n",
        "\n",
        "[profiles.fast]\nx = nan\n",
        '[mcp_servers.other]\ncommand = "npx" # theirs\nargs = ["mcp"]\n',
        "[[items]]\nn = 1\n",
        '[t]\ntext = """\n[mcp_servers.cocorecall]\n"""\n',
    ]
)


@st.composite
def configurations(draw: st.DrawFn) -> str:
    pieces = draw(st.lists(PIECES, max_size=5, unique=True))
    plain = [p for p in pieces if p.startswith("model")]
    text = "".join(plain + [p for p in pieces if not p.startswith("model")])
    text = text.removesuffix("\n") if draw(st.booleans()) else text
    return draw(st.sampled_from(["", "\ufeff"])) + text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


@given(configurations())
def test_the_table_comes_and_goes_without_a_trace(text: str) -> None:
    installed = add_table(text, RECALL)
    assert installed.startswith(text)
    data = tomllib.loads(installed.removeprefix("\ufeff"))
    assert data["mcp_servers"]["cocorecall"] == {"command": RECALL, "args": ["mcp"]}
    assert add_table(installed, RECALL) == installed
    assert remove_table(installed) == text


@given(
    configurations(),
    st.sampled_from(["[later]\nx = 1\n", "\n# later\n", '[mcp_servers.late]\ncommand = "z"\n']),
)
def test_what_others_append_later_stays(text: str, later: str) -> None:
    left = remove_table(add_table(text, RECALL) + later)
    assert left.startswith(text)
    assert left.endswith(later)
    tomllib.loads(left.removeprefix("\ufeff"))


@given(configurations())
def test_another_path_is_updated_in_place(text: str) -> None:
    assert add_table(add_table(text, "/old/recall"), RECALL) == add_table(text, RECALL)


def test_a_path_with_quotes_and_backslashes_is_read_back() -> None:
    path = 'C:\\Tools "new"\x7f\\recall.exe'
    assert tomllib.loads(add_table("", path))["mcp_servers"]["cocorecall"]["command"] == path


def test_a_person_s_keys_in_our_table_survive_an_update() -> None:
    text = add_table("", "/old/recall").replace('args = ["mcp"]', 'args = ["mcp"]\nstartup_timeout_sec = 20')
    updated = tomllib.loads(add_table(text, RECALL))["mcp_servers"]["cocorecall"]
    assert updated == {"command": RECALL, "args": ["mcp"], "startup_timeout_sec": 20}


def test_the_table_is_found_without_its_marker_lines() -> None:
    text = 'a = 1\n\n[mcp_servers.cocorecall]\ncommand = "recall"\nargs = ["mcp"]\n\n[b]\nx = 1\n'
    assert tomllib.loads(remove_table(text)) == {"a": 1, "b": {"x": 1}}


@pytest.mark.parametrize(
    "text",
    [
        "not toml",
        'mcp_servers = {other = {command = "x"}}\n',
        '[mcp_servers.cocorecall]\ncommand = "node"\n',
    ],
)
def test_what_cannot_be_edited_safely_is_refused(text: str) -> None:
    with pytest.raises(TomlTextError):
        add_table(text, RECALL)


def test_an_inline_entry_is_not_guessed_at() -> None:
    with pytest.raises(TomlTextError, match="not as a table"):
        remove_table('mcp_servers = {cocorecall = {command = "recall", args = ["mcp"]}}\n')
