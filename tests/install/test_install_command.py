"""`recall install` and `recall uninstall` as a person calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click import Command
from click.testing import CliRunner, Result

from cocorecall.cli import install_command, uninstall_command


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of a test, with a `recall` on PATH; the working directory is a project in it."""
    home = tmp_path.resolve() / "home"
    program = home / "bin" / "recall"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for name in ("SNOWFLAKE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("COCORECALL_HOME", str(home / "data"))
    monkeypatch.setattr("sys.argv", [str(program), "install"])
    project = home / "work" / "shop"
    (project / ".git").mkdir(parents=True)
    (project / "src").mkdir()
    monkeypatch.chdir(project / "src")
    return home


def call(*args: str) -> Result:
    commands: dict[str, Command] = {
        "install": install_command.command,
        "uninstall": uninstall_command.command,
    }
    return CliRunner().invoke(commands[args[0]], args[1:], catch_exceptions=False)


def test_a_dry_run_shows_the_difference_and_writes_nothing(home: Path) -> None:
    result = call("install", "cortex", "--dry-run")
    assert "+++ " in result.output
    assert f'"command": "{home}/bin/recall hook session-end"' in result.output
    assert "Would create ~/.snowflake/cortex/hooks.json (hooks)" in result.output
    assert not (home / ".snowflake").exists()


def test_install_says_what_it_did_and_the_second_time_that_nothing_is_left_to_do(home: Path) -> None:
    first = call("install", "cortex")
    assert "Created ~/.snowflake/cortex/mcp.json (MCP server)" in first.output
    assert (home / ".snowflake" / "cortex" / "skills" / "recall" / "SKILL.md").exists()
    assert "nothing to write" in call("install", "cortex").output


def test_uninstall_takes_it_out(home: Path) -> None:
    call("install", "cursor")
    assert "Removed ~/.cursor/mcp.json (MCP server)" in call("uninstall", "cursor").output
    assert not (home / ".cursor").exists()
    assert "has nothing of CocoRecall" in call("uninstall", "cursor").output


def test_only_the_parts_asked_for(home: Path) -> None:
    call("install", "claude", "--skill")
    assert [p.name for p in (home / ".claude").iterdir()] == ["skills"]


def test_a_project_s_settings_name_no_path_of_one_machine(home: Path) -> None:
    call("install", "claude", "--project")
    project = home / "work" / "shop"
    server = json.loads((project / ".mcp.json").read_text())["mcpServers"]["cocorecall"]
    assert server == {"command": "recall", "args": ["mcp"]}
    assert str(home) not in (project / ".claude" / "settings.json").read_text()


def test_json_is_one_document(home: Path) -> None:
    document = json.loads(call("install", "claude", "--hooks", "--json", "--dry-run").output)
    assert document["schema"] == "cocorecall.install/1"
    assert document["dry_run"] is True
    assert document["files"] == [
        {
            "path": str(home / ".claude" / "settings.json"),
            "change": "create",
            "reasons": ["hooks"],
            "backup": None,
        }
    ]
    assert document["diff"].startswith("--- /dev/null")


def test_a_backup_is_mentioned(home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text('{"a": 1}\n')
    assert "backup settings.json.recall-backup" in call("install", "claude", "--hooks").output


@pytest.mark.usefixtures("home")
def test_an_unknown_agent_is_wrong_usage() -> None:
    assert call("install", "emacs").exit_code == 2
