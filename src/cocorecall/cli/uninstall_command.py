"""`recall uninstall`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from cocorecall.cli.command import Settings, pass_settings
from cocorecall.cli.install_command import chosen_parts, finish, project_folder, record_path, shared_options
from cocorecall.install import Agent, plan_uninstall


@click.command("uninstall")
@shared_options
@pass_settings
def command(
    settings: Settings,
    /,
    agent: Agent,
    scope: Literal["user", "project"],
    *,
    dry_run: bool,
    as_json: bool,
    **parts: bool,
) -> None:
    """Take out exactly what `recall install` put in.

    The index and its sessions stay; `recall forget` removes those.
    """
    plan = plan_uninstall(
        agent,
        scope=scope,
        parts=chosen_parts(parts),
        home=Path.home(),
        project=project_folder(settings),
        record=record_path(),
    )
    finish(plan, dry_run=dry_run, as_json=as_json or settings.json)
