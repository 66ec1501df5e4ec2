"""Calls of CocoRecall itself, whose results are marked and not returned."""

from __future__ import annotations

import pytest

from cocorecall.model import ToolCall
from cocorecall.sources.echo import is_echo


@pytest.mark.parametrize(
    "command",
    [
        "recall search merge key",
        "cd ~/work && recall search 'merge key' | head -5",
        "uv run --frozen recall show 5f1c",
        "uvx cocorecall timeline",
        "LANG=C timeout 10 recall --global search x",
        "echo $(recall search x)",
        "bash -lc 'recall search x'",
        ["bash", "-lc", "recall search x"],
        "python -m cocorecall search x",
        "./.venv/bin/recall search x",
        r"C:\tools\recall.exe search x",
        "ls\nrecall facets --json",
        'recall search "an open quote',
        "for i in a b; do recall search $i; done",
    ],
)
def test_a_command_that_asks_recall(command: object) -> None:
    assert is_echo(ToolCall("Bash", {"command": command}))


@pytest.mark.parametrize(
    "command",
    [
        "pytest -k recall",
        "recall import",
        "recall status",
        "grep -rn 'recall search' docs",
        "git commit -m 'recall search is faster'",
        'echo "a | recall search b"',
        "cat recall/search.py",
        "precision recall show",
        "",
        None,
        ["git", "commit", "-m", "recall search is faster"],
    ],
)
def test_a_command_that_only_mentions_it(command: object) -> None:
    assert not is_echo(ToolCall("Bash", {"command": command}))


@pytest.mark.parametrize("name", ["recall_search", "mcp__memory__recall_show", "mcp__cocorecall__search"])
def test_its_tools(name: str) -> None:
    assert is_echo(ToolCall(name))


def test_every_tool_of_the_server_as_agents_name_them() -> None:
    from cocorecall.mcp.tools import TOOLS

    for tool in TOOLS:
        for name in (
            tool,
            f"mcp__cocorecall__{tool}",
            f"mcp__recall__{tool}",
            f"mcp_cocorecall_{tool}",
            f"cocorecall__{tool}",
        ):
            assert is_echo(ToolCall(name)), name


@pytest.mark.parametrize("name", ["product_recall_list", "recall", "Bash", ""])
def test_other_tools(name: str) -> None:
    assert not is_echo(ToolCall(name, "no object"))
