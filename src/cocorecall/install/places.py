"""Where each agent looks for skills, hooks and MCP servers, and what its hooks are called.

From the agents' public documentation and live checks of August to December 2026. A place is *unsure* where
sources differ or the agent did not read it when tried; those are written to on request only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from cocorecall.errors import UsageError
from cocorecall.install.entries import HookEntries

Agent = Literal["cortex", "claude", "codex", "gemini", "cursor"]
Scope = Literal["user", "project"]
Part = Literal["skill", "hooks", "mcp"]
HooksFile = Literal["hooks", "settings", "local"]

AGENTS: tuple[Agent, ...] = ("cortex", "claude", "codex", "gemini", "cursor")
PARTS: tuple[Part, ...] = ("skill", "hooks", "mcp")
TITLES: Mapping[Agent, str] = {
    "cortex": "Cortex Code",
    "claude": "Claude Code",
    "codex": "Codex CLI",
    "gemini": "Gemini CLI",
    "cursor": "Cursor",
}
HOOKS_FILES: Mapping[Agent, tuple[HooksFile, ...]] = {
    "cortex": ("hooks", "settings"),
    "claude": ("settings", "local"),
}
"""Agents that read hooks from more than one file: the choices, the usual one first."""

_SKILL = Path("skills", "recall", "SKILL.md")


@dataclass(frozen=True, slots=True)
class Location:
    """Where one part goes.

    Attributes:
        path: the file; None where the agent has no such place.
        doubt: why the place is unsure; empty where it is documented and was seen to work.
        remark: what a person should know after it is written.
    """

    path: Path | None
    doubt: str = ""
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What places depend on.

    Attributes:
        home: the person's home folder.
        project: the project's folder; None for the user's own settings.
        environ: `SNOWFLAKE_HOME`, `CLAUDE_CONFIG_DIR` and `CODEX_HOME` move the agents' folders.
        hooks_file: which of several files holds the hooks; None for the agent's usual one.
    """

    home: Path
    project: Path | None
    environ: Mapping[str, str]
    hooks_file: HooksFile | None

    def folder(self, variable: str, default: str) -> Path:
        """A folder in the home folder, or wherever a variable of the environment moves it."""
        moved = self.environ.get(variable)
        return Path(moved).expanduser() if moved else self.home / default


def locate(agent: Agent, part: Part, around: Surroundings) -> Location:
    """The place of a part.

    Raises:
        UsageError: the agent has no such hooks file.
    """
    allowed = HOOKS_FILES.get(agent, ())
    if around.hooks_file is not None and around.hooks_file not in allowed:
        raise UsageError(
            f"{TITLES[agent]} has one file for hooks: --hooks-file {around.hooks_file} means nothing there."
            if not allowed
            else f"For {TITLES[agent]}, --hooks-file is {' or '.join(allowed)}."
        )
    return _LOCATE[agent](part, around)


def _cortex(part: Part, around: Surroundings) -> Location:
    if around.project is not None:
        return _cortex_project(part, around.project, around.hooks_file)
    root = around.folder("SNOWFLAKE_HOME", ".snowflake") / "cortex"
    if part == "skill":
        return Location(root / _SKILL)
    if part == "mcp":
        return Location(root / "mcp.json")
    if around.hooks_file == "settings":
        remark = "The desktop app documents settings.json; the command line (1.1.x) reads hooks.json only."
        return Location(root / "settings.json", remark=remark)
    remark = "The command line reads hooks.json; for the desktop app add --hooks-file settings."
    return Location(root / "hooks.json", remark=remark)


def _cortex_project(part: Part, project: Path, hooks_file: HooksFile | None) -> Location:
    if part == "skill":
        return Location(project / ".cortex" / _SKILL)
    if part == "mcp":
        return Location(None, "Cortex Code documents no MCP file of a project; use --user.")
    if hooks_file == "settings":
        return Location(project / ".snowflake" / "cortex" / "settings.json")
    doubt = "Cortex Code 1.1.x did not run hooks from a project's .cortex/hooks.json; use --user."
    return Location(project / ".cortex" / "hooks.json", doubt)


def _claude(part: Part, around: Surroundings) -> Location:
    root = around.project / ".claude" if around.project else around.folder("CLAUDE_CONFIG_DIR", ".claude")
    if part == "skill":
        return Location(root / _SKILL)
    if part == "hooks":
        name = "settings.local.json" if around.hooks_file == "local" else "settings.json"
        return Location(root / name)
    if around.project:
        return Location(
            around.project / ".mcp.json", remark="Claude Code asks once whether to trust .mcp.json."
        )
    moved = around.environ.get("CLAUDE_CONFIG_DIR")
    remark = "A Claude Code that is running may write its own .claude.json over this; close it first."
    return Location((root if moved else around.home) / ".claude.json", remark=remark)


def _codex(part: Part, around: Surroundings) -> Location:
    root = around.project / ".codex" if around.project else around.folder("CODEX_HOME", ".codex")
    if part == "skill":
        return Location((around.project or around.home) / ".agents" / _SKILL)
    if part == "mcp":
        return Location(root / "config.toml")
    return Location(root / "hooks.json", remark="Codex runs new hooks only after you trust them once.")


def _gemini(part: Part, around: Surroundings) -> Location:
    root = (around.project or around.home) / ".gemini"
    if part == "skill":
        return Location(
            root / _SKILL, "whether Gemini CLI reads skills from .gemini/skills depends on its version."
        )
    if part == "hooks":
        return Location(root / "settings.json", "hooks of Gemini CLI depend on its version and settings.")
    return Location(root / "settings.json")


def _cursor(part: Part, around: Surroundings) -> Location:
    root = (around.project or around.home) / ".cursor"
    return Location({"skill": root / _SKILL, "hooks": root / "hooks.json", "mcp": root / "mcp.json"}[part])


_LOCATE = {"cortex": _cortex, "claude": _claude, "codex": _codex, "gemini": _gemini, "cursor": _cursor}

# --- hooks -------------------------------------------------------------------------------------------

_SECONDS = 10
"""How long a hook may take. It returns within 300 ms; without a declared time the end of a session allows
1.5 s, which a busy machine can use up."""
_CODEX_END_SECONDS = 3
"""What Codex allows at most at the end of a session (0.145)."""

_OURS = ("session-start", "stop", "session-end", "pre-compact")
_PASCAL = dict(zip(("SessionStart", "Stop", "SessionEnd", "PreCompact"), _OURS, strict=True))
_CAMEL = dict(zip(("sessionStart", "stop", "sessionEnd", "preCompact"), _OURS, strict=True))
_GEMINI = dict(zip(("SessionStart", "AfterAgent", "SessionEnd", "PreCompress"), _OURS, strict=True))


def hook_entries(agent: Agent, command: str) -> HookEntries:
    """Our hooks in the agent's own form.

    Args:
        agent: whose form.
        command: what runs `recall`, quoted for a shell.
    """
    if agent == "cursor":
        bare = {e: {"command": f"{command} hook {name}", "timeout": _SECONDS} for e, name in _CAMEL.items()}
        return HookEntries(bare, grouped=False, version=1)
    names = _GEMINI if agent == "gemini" else _PASCAL
    return HookEntries(
        {event: _entry(agent, f"{command} hook {name}", name) for event, name in names.items()}
    )


def _entry(agent: Agent, command: str, name: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "command", "command": command, "timeout": _SECONDS}
    if agent == "gemini":
        entry["timeout"] = _SECONDS * 1000
    elif agent == "codex" and name == "session-end":
        entry["timeout"] = _CODEX_END_SECONDS
    elif agent == "cortex":
        entry["enabled"] = True
    return entry
