"""Putting skill, hooks and MCP server where an agent looks for them, and taking them out again.

`plan_install` and `plan_uninstall` say what would be written; `apply` writes it. Settings that belong to
others are edited in place: no byte changes but our own entries, and an installation that is taken out leaves
the file as it was.
"""

from __future__ import annotations

from cocorecall.install.carry_out import Applied, apply
from cocorecall.install.places import AGENTS, PARTS, TITLES, Agent, HooksFile, Part, Scope
from cocorecall.install.plan import FileEdit, Plan, plan_install, plan_uninstall

__all__ = [
    "AGENTS",
    "PARTS",
    "TITLES",
    "Agent",
    "Applied",
    "FileEdit",
    "HooksFile",
    "Part",
    "Plan",
    "Scope",
    "apply",
    "plan_install",
    "plan_uninstall",
]
