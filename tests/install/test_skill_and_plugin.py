"""The skill that is shipped, and the plugin folder of the repository, against the documented layouts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click import Command

import cocorecall
from cocorecall._version import __version__
from cocorecall.cli.command import COMMANDS, LazyGroup, recall_command
from cocorecall.install.places import hook_entries
from cocorecall.project import NOT_INITIALIZED

PLUGIN = Path(__file__).parents[2] / "plugin"
SKILL = Path(cocorecall.__file__).parent / "assets" / "SKILL.md"


def front_matter() -> dict[str, str]:
    head = SKILL.read_text(encoding="utf-8").split("---\n")[1]
    return dict(line.split(": ", 1) for line in head.splitlines())


def read(path: str) -> Any:
    return json.loads((PLUGIN / path).read_text(encoding="utf-8"))


# --- skill -------------------------------------------------------------------------------------------


def test_front_matter_holds_name_and_description_only() -> None:
    fields = front_matter()
    assert list(fields) == ["name", "description"]
    assert fields["name"] == "recall"
    assert len(fields["description"]) <= 1024
    assert ": " not in fields["description"], "a plain YAML value must not hold a colon and a space"


def test_the_skill_is_short() -> None:
    assert len(SKILL.read_text(encoding="utf-8").splitlines()) < 150


def test_the_skill_says_the_one_message_word_for_word() -> None:
    assert NOT_INITIALIZED in SKILL.read_text(encoding="utf-8")


def test_every_command_and_option_that_the_skill_names_exists() -> None:
    text = SKILL.read_text(encoding="utf-8")
    named = set(re.findall(r"`recall ([a-z]+)", text))
    assert {"search", "show", "import", "sources", "status"} <= named <= set(COMMANDS) | {"install"}
    known = {"--help"}
    group = recall_command
    assert isinstance(group, LazyGroup)
    for name in named:
        command = group.get_command(None, name)  # type: ignore[arg-type]
        assert isinstance(command, Command)
        known |= {option for p in command.params for option in p.opts}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)) <= known


@pytest.mark.parametrize(
    "mark",
    ["source ok", "SOURCE GONE", "no longer in source", "No turn holds all words", "Nothing found", "next: "],
)
def test_the_skill_explains_what_a_search_prints(mark: str) -> None:
    source = (Path(cocorecall.__file__).parent / "search" / "render.py").read_text(encoding="utf-8")
    assert mark in source
    assert mark in SKILL.read_text(encoding="utf-8")


# --- plugin ------------------------------------------------------------------------------------------


def test_the_plugin_s_skill_is_the_shipped_one() -> None:
    assert (PLUGIN / "skills" / "recall" / "SKILL.md").read_bytes() == SKILL.read_bytes()


@pytest.mark.parametrize("folder", [".cortex-plugin", ".claude-plugin"])
def test_both_manifests_say_who_we_are(folder: str) -> None:
    manifest = read(f"{folder}/plugin.json")
    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", manifest["name"])
    assert manifest["version"] == __version__
    assert manifest["description"]


def test_hooks_of_the_plugin_are_those_of_an_installation() -> None:
    """Cortex Code runs hooks inline in its manifest; Claude Code reads hooks/hooks.json by itself."""
    for agent, hooks in (
        ("cortex", read(".cortex-plugin/plugin.json")["hooks"]),
        ("claude", read("hooks/hooks.json")["hooks"]),
    ):
        wanted = hook_entries(agent, "recall").events  # type: ignore[arg-type]
        assert hooks == {event: [{"hooks": [entry]}] for event, entry in wanted.items()}


def test_claude_does_not_get_its_hooks_twice() -> None:
    assert "hooks" not in read(".claude-plugin/plugin.json")


def test_the_server_of_the_plugin() -> None:
    assert read(".mcp.json") == {"mcpServers": {"cocorecall": {"command": "recall", "args": ["mcp"]}}}


def test_the_plugin_names_no_path_of_a_machine() -> None:
    for file in PLUGIN.rglob("*.json"):
        assert not re.search(r"/home/|/Users/|[A-Z]:\\\\", file.read_text(encoding="utf-8")), file
