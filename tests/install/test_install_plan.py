"""Whole installations on a home folder: what is written, what is not, and what is left after taking out."""

from __future__ import annotations

import json
import os
import stat
import sys
import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from cocorecall.errors import RecallError, UsageError
from cocorecall.install import AGENTS, Agent, Part, Plan, Scope, apply, plan_install, plan_uninstall
from cocorecall.install.entries import remove_hooks
from cocorecall.install.plan import quoted

RECALL = Path("/opt/tools/bin/recall")


class Home:
    """A home folder and a project of a test, with the installer's arguments filled in."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.home = self.root / "home"
        self.project = self.root / "project"
        self.record = self.root / "data" / "installed.json"
        for folder in (self.home, self.project, self.record.parent):
            folder.mkdir()

    def plan(self, agent: Agent, scope: Scope = "user", **given: Any) -> Plan:
        options: dict[str, Any] = {"environ": {}, "command": RECALL, **given}
        return plan_install(
            agent, scope=scope, home=self.home, project=self.project, record=self.record, **options
        )

    def install(self, agent: Agent, scope: Scope = "user", **options: Any) -> Plan:
        plan = self.plan(agent, scope, **options)
        apply(plan)
        return plan

    def uninstall(self, agent: Agent, scope: Scope = "user", **options: Any) -> Plan:
        options = {"environ": {}, **options}
        plan = plan_uninstall(
            agent, scope=scope, home=self.home, project=self.project, record=self.record, **options
        )
        apply(plan)
        return plan

    def tree(self) -> dict[str, bytes | None]:
        """Every folder (None) and file (its bytes) of home and project."""
        found = [p for base in (self.home, self.project) for p in base.rglob("*")]
        return {str(p.relative_to(self.root)): p.read_bytes() if p.is_file() else None for p in sorted(found)}

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file

    def json(self, path: str) -> Any:
        return json.loads((self.root / path).read_text(encoding="utf-8"))


@pytest.fixture
def at(tmp_path: Path) -> Home:
    return Home(tmp_path)


USER_FILES = {
    "cortex": {
        ".snowflake/cortex/skills/recall/SKILL.md",
        ".snowflake/cortex/hooks.json",
        ".snowflake/cortex/mcp.json",
    },
    "claude": {".claude/skills/recall/SKILL.md", ".claude/settings.json", ".claude.json"},
    "codex": {".agents/skills/recall/SKILL.md", ".codex/hooks.json", ".codex/config.toml"},
    "gemini": {".gemini/settings.json"},
    "cursor": {".cursor/skills/recall/SKILL.md", ".cursor/hooks.json", ".cursor/mcp.json"},
}
PROJECT_FILES = {
    "cortex": {".cortex/skills/recall/SKILL.md"},
    "claude": {".claude/skills/recall/SKILL.md", ".claude/settings.json", ".mcp.json"},
    "codex": {".agents/skills/recall/SKILL.md", ".codex/hooks.json", ".codex/config.toml"},
    "gemini": {".gemini/settings.json"},
    "cursor": {".cursor/skills/recall/SKILL.md", ".cursor/hooks.json", ".cursor/mcp.json"},
}


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("scope", ["user", "project"])
def test_each_agent_gets_its_own_places(at: Home, agent: Agent, scope: Scope) -> None:
    at.install(agent, scope)
    base, wanted = ("home", USER_FILES) if scope == "user" else ("project", PROJECT_FILES)
    assert {k for k, v in at.tree().items() if v is not None} == {f"{base}/{p}" for p in wanted[agent]}


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("force", [False, True])
def test_an_empty_home_is_empty_again(at: Home, agent: Agent, scope: Scope, force: bool) -> None:  # noqa: FBT001
    at.install(agent, scope, force=force)
    again = at.plan(agent, scope, force=force)
    assert (again.edits, again.diff()) == ((), "")
    at.uninstall(agent, scope)
    assert at.tree() == {}
    assert not at.record.exists()


FULL = {
    "home/.snowflake/cortex/hooks.json": '{\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}\n}',
    "home/.snowflake/cortex/mcp.json": '{"mcpServers":{}}',
    "home/.snowflake/cortex/skills/sql/SKILL.md": "---\nname: sql\n---\n",
    "home/.claude/settings.json": '{\r\n  // mine\r\n  "hooks": {},\r\n}\r\n',
    "home/.claude.json": '\ufeff{"numStartups": 3, "mcpServers": {"a": {"command": "npx"}}, "projects": {}}',
    "home/.codex/hooks.json": "{}",
    "home/.codex/config.toml": 'model = "o9"\n\n[mcp_servers.a]\ncommand = "a"',
    "home/.gemini/settings.json": '{\n    "theme": "x"\n}\n',
    "home/.cursor/hooks.json": '{"version": 1, "hooks": {"stop": [{"command": "./mine.sh"}]}}\n',
    "home/.cursor/mcp.json": "{\n}\n",
}


@pytest.mark.parametrize("agent", AGENTS)
def test_a_full_home_is_byte_identical_afterwards(at: Home, agent: Agent) -> None:
    for path, text in FULL.items():
        at.write(path, text)
    (at.home / ".agents" / "skills").mkdir(parents=True)
    before = at.tree()
    plan = at.install(agent, force=True)
    assert plan.edits
    assert at.plan(agent, force=True).edits == ()
    at.uninstall(agent)
    assert at.tree() == before


def test_agents_that_share_no_file_do_not_disturb_each_other(at: Home) -> None:
    for path, text in FULL.items():
        at.write(path, text)
    before = at.tree()
    for agent in AGENTS:
        at.install(agent, force=True)
    for agent in AGENTS:
        at.uninstall(agent)
    assert at.tree() == before


def test_planning_writes_nothing(at: Home) -> None:
    at.write("home/.claude/settings.json", '{"hooks": {}}')
    before = at.tree()
    plan = at.plan("claude")
    assert at.tree() == before
    assert not at.record.exists()
    assert "recall hook session-end" in plan.diff()
    assert "No newline at end of file" in plan.diff()


# --- what is written ---------------------------------------------------------------------------------


def test_hooks_of_cortex_are_what_its_documentation_shows(at: Home) -> None:
    at.install("cortex", parts=["hooks"])
    hooks = at.json("home/.snowflake/cortex/hooks.json")["hooks"]
    assert list(hooks) == ["SessionStart", "Stop", "SessionEnd", "PreCompact"]
    assert hooks["SessionEnd"] == [
        {
            "hooks": [
                {"type": "command", "command": f"{RECALL} hook session-end", "timeout": 10, "enabled": True}
            ]
        }
    ]


def test_hooks_of_cursor_are_bare_and_versioned(at: Home) -> None:
    at.install("cursor", parts=["hooks"])
    data = at.json("home/.cursor/hooks.json")
    assert data["version"] == 1
    assert data["hooks"]["preCompact"] == [{"command": f"{RECALL} hook pre-compact", "timeout": 10}]
    assert list(data["hooks"]) == ["sessionStart", "stop", "sessionEnd", "preCompact"]


def test_codex_allows_three_seconds_at_the_end_of_a_session(at: Home) -> None:
    plan = at.install("codex", parts=["hooks"])
    hooks = at.json("home/.codex/hooks.json")["hooks"]
    assert hooks["SessionEnd"][0]["hooks"][0]["timeout"] == 3
    assert any("trust" in note for note in plan.notes)


def test_the_server_of_codex_is_a_table(at: Home) -> None:
    at.install("codex", parts=["mcp"])
    data = tomllib.loads((at.home / ".codex" / "config.toml").read_text())
    assert data == {"mcp_servers": {"cocorecall": {"command": str(RECALL), "args": ["mcp"]}}}


def test_a_path_with_a_space_is_quoted_for_the_shell_only(at: Home) -> None:
    program = Path("/Users/jo doe/bin/recall")
    at.install("claude", command=program)
    hook = at.json("home/.claude/settings.json")["hooks"]["Stop"][0]["hooks"][0]
    assert hook["command"] == "'/Users/jo doe/bin/recall' hook stop"
    assert at.json("home/.claude.json")["mcpServers"]["cocorecall"]["command"] == str(program)
    assert at.plan("claude", command=program).edits == ()


@pytest.mark.parametrize(
    ("program", "written"),
    [
        ("C:/Program Files/x/recall.exe", '"C:/Program Files/x/recall.exe"'),
        ("C:/x/recall.exe", "C:/x/recall.exe"),
    ],
)
def test_windows_takes_double_quotes(program: str, written: str) -> None:
    command = quoted(PurePosixPath(program), windows=True)
    assert command == written
    text = json.dumps({"hooks": {"Stop": [{"command": f"{command} hook stop"}]}})
    assert "recall" not in remove_hooks(text)


def test_the_environment_moves_the_agents_folders(at: Home) -> None:
    moved = {
        "SNOWFLAKE_HOME": str(at.home / "sf"),
        "CLAUDE_CONFIG_DIR": str(at.home / "cl"),
        "CODEX_HOME": str(at.home / "cx"),
    }
    moving: tuple[Agent, ...] = ("cortex", "claude", "codex")
    for agent in moving:
        at.install(agent, environ=moved)
    files = {k for k, v in at.tree().items() if v is not None}
    assert {
        "home/sf/cortex/hooks.json",
        "home/cl/settings.json",
        "home/cl/.claude.json",
        "home/cx/hooks.json",
    } < files
    assert not any(k.startswith(("home/.snowflake", "home/.claude", "home/.codex")) for k in files)
    for agent in moving:
        at.uninstall(agent, environ=moved)
    assert at.tree() == {}


@pytest.mark.parametrize(
    ("agent", "choice", "path"),
    [
        ("cortex", "settings", ".snowflake/cortex/settings.json"),
        ("cortex", "hooks", ".snowflake/cortex/hooks.json"),
        ("claude", "local", ".claude/settings.local.json"),
    ],
)
def test_the_hooks_file_can_be_chosen_and_is_found_again(
    at: Home, agent: Agent, choice: str, path: str
) -> None:
    at.install(agent, parts=["hooks"], hooks_file=choice)
    assert {k for k, v in at.tree().items() if v is not None} == {f"home/{path}"}
    at.uninstall(agent)
    assert at.tree() == {}


def test_a_hooks_file_that_the_agent_does_not_have_is_wrong_usage(at: Home) -> None:
    with pytest.raises(UsageError, match="hooks or settings"):
        at.plan("cortex", hooks_file="local")
    with pytest.raises(UsageError, match="one file"):
        at.plan("cursor", hooks_file="settings")


# --- unsure places -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "scope", "part"), [("gemini", "user", "hooks"), ("cortex", "project", "hooks")]
)
def test_an_unsure_place_is_left_out_and_said(at: Home, agent: Agent, scope: Scope, part: Part) -> None:
    plan = at.plan(agent, scope)
    assert any(note.startswith(f"Left out, {part}:") and "--force" in note for note in plan.notes)
    with pytest.raises(UsageError, match="--force"):
        at.plan(agent, scope, parts=[part])
    forced = at.plan(agent, scope, parts=[part], force=True)
    assert forced.edits
    assert any(note.startswith("Unsure:") for note in forced.notes)


def test_a_place_that_does_not_exist_cannot_be_forced(at: Home) -> None:
    with pytest.raises(UsageError, match="--user"):
        at.plan("cortex", "project", parts=["mcp"], force=True)


# --- skill -------------------------------------------------------------------------------------------


def test_somebody_else_s_skill_of_that_name_is_not_overwritten(at: Home) -> None:
    theirs = at.write("home/.claude/skills/recall/SKILL.md", "---\nname: recall\n---\nToy recalls.\n")
    before = at.tree()
    with pytest.raises(RecallError, match="another skill"):
        at.plan("claude", parts=["skill"])
    at.install("claude", parts=["skill"], force=True)
    assert "CocoRecall" in theirs.read_text()
    at.uninstall("claude")
    assert at.tree() == before


def test_an_older_skill_of_ours_is_replaced(at: Home) -> None:
    at.install("claude", parts=["skill"])
    skill = at.home / ".claude" / "skills" / "recall" / "SKILL.md"
    current = skill.read_text()
    skill.write_text(current.replace("Four rules", "Rules"))
    at.install("claude", parts=["skill"])
    assert skill.read_text() == current


def test_a_skill_that_was_edited_is_kept_beside(at: Home) -> None:
    at.install("claude", parts=["skill"])
    skill = at.home / ".claude" / "skills" / "recall" / "SKILL.md"
    skill.write_text(skill.read_text() + "My own words.\n")
    plan = at.uninstall("claude")
    assert not skill.exists()
    assert "My own words." in skill.with_name("SKILL.md.recall-backup").read_text()
    assert any("kept as" in note for note in plan.notes)


def test_other_files_in_the_skill_s_folder_stay(at: Home) -> None:
    at.install("claude", parts=["skill"])
    mine = at.write("home/.claude/skills/recall/notes.md", "mine")
    at.uninstall("claude")
    assert mine.read_text() == "mine"


# --- backups, records, crashes -----------------------------------------------------------------------


def test_one_backup_holds_what_was_there_before_us(at: Home) -> None:
    settings = at.write("home/.claude/settings.json", '{"a": 1}')
    at.install("claude", parts=["hooks"], command=Path("/old/recall"))
    at.install("claude", parts=["hooks"])
    backups = [p.name for p in settings.parent.iterdir() if "backup" in p.name]
    assert backups == ["settings.json.recall-backup"]
    assert (settings.parent / backups[0]).read_text() == '{"a": 1}'


def test_entries_that_others_add_to_a_file_of_ours_stay(at: Home) -> None:
    at.install("cursor", parts=["mcp"])
    file = at.home / ".cursor" / "mcp.json"
    data = json.loads(file.read_text())
    data["mcpServers"]["theirs"] = {"command": "npx"}
    file.write_text(json.dumps(data))
    at.uninstall("cursor")
    assert json.loads(file.read_text()) == {"mcpServers": {"theirs": {"command": "npx"}}}


def test_without_the_record_folders_and_settings_stay(at: Home) -> None:
    """A clone of a project on another machine: what could have been there before is not removed."""
    at.install("claude", "project")
    at.record.unlink()
    at.uninstall("claude", "project")
    assert at.tree() == {
        "project/.claude": None,
        "project/.claude/settings.json": b"{}\n",
        "project/.claude/skills": None,
        "project/.mcp.json": b"{}\n",
    }


def test_a_damaged_record_is_no_obstacle(at: Home) -> None:
    at.record.write_text("{broken")
    at.install("cursor")
    at.uninstall("cursor")
    assert at.tree() == {}


def test_a_file_that_changed_since_the_plan_is_left_alone(at: Home) -> None:
    settings = at.write("home/.claude/settings.json", "{}")
    plan = at.plan("claude")
    settings.write_text('{"new": 1}')
    before = at.tree()
    with pytest.raises(RecallError, match="changed in the meantime"):
        apply(plan)
    assert at.tree() == before


@pytest.mark.parametrize("content", ["{broken", "", "[]", '{"hooks": 3}'])
def test_settings_that_cannot_be_edited_are_named_and_untouched(at: Home, content: str) -> None:
    at.write("home/.claude/settings.json", content)
    before = at.tree()
    with pytest.raises(RecallError, match=r"settings\.json"):
        at.plan("claude")
    assert at.tree() == before


def test_settings_that_are_not_utf_8_are_named(at: Home) -> None:
    (at.home / ".claude").mkdir()
    (at.home / ".claude" / "settings.json").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(RecallError, match="not UTF-8"):
        at.plan("claude")


def test_broken_settings_without_us_do_not_stop_an_uninstall(at: Home) -> None:
    at.install("claude", parts=["skill"])
    at.write("home/.claude/settings.json", "{broken")
    at.uninstall("claude")
    assert not (at.home / ".claude" / "skills").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="permissions and links of POSIX")
def test_permissions_and_links_survive(at: Home) -> None:
    real = at.write("home/dotfiles/claude.json", '{"secret": 1}')
    real.chmod(0o600)
    link = at.home / ".claude.json"
    link.symlink_to(real)
    at.install("claude", parts=["mcp"])
    assert link.is_symlink()
    assert "cocorecall" in real.read_text()
    for file in (real, real.with_name("claude.json.recall-backup")):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_no_temporary_file_is_left(at: Home) -> None:
    at.install("claude")
    assert not [k for k in at.tree() if k.endswith(".tmp")]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_named(at: Home) -> None:
    (at.home / ".claude").mkdir()
    (at.home / ".claude").chmod(0o500)
    with pytest.raises(RecallError, match="cannot be written"):
        at.install("claude", parts=["hooks"])


def test_a_program_of_another_name_is_refused(at: Home) -> None:
    with pytest.raises(UsageError, match="not named recall"):
        at.plan("claude", command=Path("/usr/bin/python3"))
