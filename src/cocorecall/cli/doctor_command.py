"""`recall doctor`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from cocorecall.cli.command import COMMANDS, Settings, common_options, pass_settings
from cocorecall.cli.output import counted, home_shortened, print_json, print_text, wrapped
from cocorecall.documents import document
from cocorecall.model import DoctorReport, Finding

_WORDS = {"error": "ERROR", "warning": "warning", "note": "note"}


@click.command("doctor")
@click.option("--fix", is_flag=True, help="Mend what can be mended without asking.")
@common_options
@click.pass_context
@pass_settings
def command(settings: Settings, context: click.Context, /, *, fix: bool) -> None:
    """Examine the index and what belongs to it; say what is wrong and what helps.

    Ends with 0 where all is well or was mended, with 1 where a problem stays; notes are no problems.
    """
    with settings.open() as recall:
        report = recall.doctor(fix=fix)
    report = _with_installation(report, settings)
    if settings.json:
        print_json("doctor", document(report) | {"healthy": report.healthy})
    else:
        print_text(text(report))
    if not report.healthy:
        context.exit(1)


def text(report: DoctorReport) -> str:
    """What was looked at and found, for a person."""
    lines = [f"Examined {home_shortened(report.index_path)}: {', '.join(report.checks)}."]
    lines = [wrapped(lines[0], 2)]
    for finding in report.findings:
        lines += ["", *_lines(finding)]
    left = [f for f in report.findings if not f.fixed and f.severity != "note"]
    fixed = sum(f.fixed is not None for f in report.findings)
    end = f"{counted(len(left), 'problem')} left." if left else "All is well."
    return "\n".join([*lines, "", f"{fixed} mended. {end}" if fixed else end])


def _lines(finding: Finding) -> list[str]:
    head = f"{_WORDS[finding.severity]}: {finding.problem}"
    if finding.fixed:
        return [wrapped(head, 2), "  " + wrapped(f"mended: {finding.fixed}", 4)]
    return [wrapped(head, 2), "  " + wrapped(f"do: {finding.remedy}", 4)]


def _with_installation(report: DoctorReport, settings: Settings) -> DoctorReport:
    """The report with what agents' settings say of us; settings are only read."""
    if "install" not in COMMANDS:
        return report
    return replace(
        report,
        checks=(*report.checks, "installed"),
        findings=(*report.findings, *_installation(settings)),
    )


def _installation(settings: Settings) -> list[Finding]:
    from cocorecall.cli.install_command import own_program, project_folder, record_path  # noqa: PLC0415
    from cocorecall.errors import RecallError  # noqa: PLC0415
    from cocorecall.install import AGENTS, TITLES, plan_install, plan_uninstall  # noqa: PLC0415

    found: list[Finding] = []
    installed = False
    for agent in AGENTS:
        try:
            places = {"home": Path.home(), "project": project_folder(settings), "record": record_path()}
            if not plan_uninstall(agent, **places).edits:  # type: ignore[arg-type]
                continue
            installed = True
            missing = plan_install(agent, command=own_program(), **places).edits  # type: ignore[arg-type]
        except RecallError as error:
            found.append(
                Finding("installed", "warning", error.message, error.hint or f"recall install {agent}")
            )
            continue
        if missing:
            named = ", ".join(home_shortened(str(e.path)) for e in missing)
            problem = f"What {TITLES[agent]} has of CocoRecall is not as this version installs it: {named}."
            found.append(Finding("installed", "warning", problem, f"recall install {agent}"))
    if not installed:
        found.append(
            Finding(
                "installed", "note", "No agent has the skill, hooks or MCP server.", "recall install cortex"
            )
        )
    return found
