"""`recall install`, and what `recall uninstall` shares with it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import click

from cocorecall.cli.command import Settings, pass_settings
from cocorecall.cli.output import home_shortened, print_json, print_text
from cocorecall.errors import UsageError
from cocorecall.install import AGENTS, TITLES, Agent, FileEdit, HooksFile, Part, Plan, apply, plan_install
from cocorecall.project import personal_place

_DONE = {"create": "Created", "change": "Changed", "remove": "Removed"}
_WOULD = {"create": "Would create", "change": "Would change", "remove": "Would remove"}


def shared_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the agent's name and the options that install and uninstall have in common."""
    decorators = (
        click.argument("agent", type=click.Choice(AGENTS)),
        click.option(
            "--user", "scope", flag_value="user", default="user", help="Your own settings (default)."
        ),
        click.option("--project", "scope", flag_value="project", help="The settings of the project here."),
        click.option("--skill", is_flag=True, help="Only the skill (or add --hooks, --mcp)."),
        click.option("--hooks", is_flag=True, help="Only the hooks."),
        click.option("--mcp", is_flag=True, help="Only the MCP server."),
        click.option("--dry-run", is_flag=True, help="Show the difference, write nothing."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
        click.option(
            "--no-color", is_flag=True, expose_value=False, help="Accepted; the output has no colour."
        ),
        click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."),
    )
    for decorate in reversed(decorators):
        command = decorate(command)
    return command


@click.command("install")
@shared_options
@click.option(
    "--hooks-file",
    type=click.Choice(("hooks", "settings", "local")),
    help="Cortex Code: hooks.json (default) or settings.json. Claude Code: settings.json or settings.local.json.",
)
@click.option("--force", is_flag=True, help="Write to places that are unsure, too.")
@pass_settings
def command(
    settings: Settings,
    /,
    agent: Agent,
    scope: Literal["user", "project"],
    *,
    dry_run: bool,
    as_json: bool,
    hooks_file: HooksFile | None,
    force: bool,
    **parts: bool,
) -> None:
    """Put skill, hooks and MCP server where an agent looks for them.

    What others wrote in its settings stays as it is, to the byte; a backup lies beside each changed file.
    """
    plan = plan_install(
        agent,
        scope=scope,
        parts=chosen_parts(parts),
        home=Path.home(),
        project=project_folder(settings),
        # a project's settings are shared: another person's `recall` is found by their PATH
        command=Path("recall") if scope == "project" else own_program(),
        record=record_path(),
        hooks_file=hooks_file,
        force=force,
    )
    finish(plan, dry_run=dry_run, as_json=as_json or settings.json)


def chosen_parts(flags: dict[str, bool]) -> list[Part] | None:
    """The parts asked for by name; None where none was."""
    names: tuple[Part, ...] = ("skill", "hooks", "mcp")
    return [name for name in names if flags.get(name)] or None


def record_path() -> Path:
    """Where is remembered what was created: beside the personal index."""
    return personal_place().home / "installed.json"


def project_folder(settings: Settings) -> Path:
    """The nearest folder at or above here that is a project; here where there is none."""
    here = Path(os.path.abspath(settings.project))  # noqa: PTH100 - a link stays a link: the path is shown
    for folder in (here, *here.parents):
        if folder != Path.home() and ((folder / ".cocoplus").is_dir() or (folder / ".git").exists()):
            return folder
    return here


def own_program() -> Path:
    """The absolute path of the `recall` program that is running, links not followed: they outlive updates.

    Raises:
        UsageError: it is not on disk under that name.
    """
    name = "recall.exe" if os.name == "nt" else "recall"
    started = shutil.which(sys.argv[0]) or sys.argv[0]
    beside = [Path(started), Path(sys.executable).with_name(name)]
    found = next((p for p in beside if p.name.lower() in (name, "recall") and p.is_file()), None)
    located = found or shutil.which("recall")
    if located is None:
        raise UsageError(
            "The `recall` program is not on PATH.", "Install it, for example: uv tool install cocorecall"
        )
    return Path(os.path.abspath(located))  # noqa: PTH100 - resolve() would name a version's own folder


def finish(plan: Plan, *, dry_run: bool, as_json: bool) -> None:
    """Carry a plan out, or show it."""
    if not dry_run:
        apply(plan)
    if as_json:
        print_json(plan.action, _document(plan, dry_run=dry_run))
        return
    if dry_run and plan.edits:
        print_text(plan.diff())
    words = _WOULD if dry_run else _DONE
    lines = [_line(edit, words) for edit in plan.edits]
    title = TITLES[plan.agent]
    if not lines:
        done = "has all of it already" if plan.action == "install" else "has nothing of CocoRecall"
        lines = [f"{title} {done}; nothing to write."]
    elif not dry_run:
        lines.append(f"Start {title} anew: it reads its settings when a session starts.")
    print_text("\n".join([*lines, *plan.notes]))


def _line(edit: FileEdit, words: dict[str, str]) -> str:
    backup = f"; backup {edit.backup_path.name}" if edit.backup == "write" else ""
    return f"{words[edit.change]} {home_shortened(str(edit.path))} ({', '.join(edit.reasons)}{backup})"


def _document(plan: Plan, *, dry_run: bool) -> dict[str, Any]:
    files = [
        {
            "path": str(edit.path),
            "change": edit.change,
            "reasons": list(edit.reasons),
            "backup": str(edit.backup_path) if edit.backup == "write" else None,
        }
        for edit in plan.edits
    ]
    document: dict[str, Any] = {"agent": plan.agent, "scope": plan.scope, "dry_run": dry_run, "files": files}
    return document | {"notes": list(plan.notes)} | ({"diff": plan.diff()} if dry_run else {})
