"""`recall status`."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict

import click

from cocorecall.cli.command import Settings, common_options, pass_settings
from cocorecall.cli.output import (
    counted,
    day_and_minute,
    home_shortened,
    one_line,
    print_json,
    print_table,
    print_text,
    size,
    wrapped,
)
from cocorecall.model import RetentionReport, StatusReport

_SHOWN_FILES = 8
_DREAM = {
    "green": "green: consolidated within 48 hours",
    "amber": "amber: more than 48 hours ago; recall dream",
    "never": "never: recall dream",
}


@click.command("status")
@common_options
@pass_settings
def command(settings: Settings) -> None:
    """Say what is indexed, what waits, and what is wrong."""
    with settings.open() as recall:
        report = recall.status()
    if settings.json:
        print_json("status", asdict(report))
        return
    print_table(rows(report))
    for line in (*_unreadable(report), *(f"! {wrapped(problem, 2)}" for problem in report.problems)):
        print_text(line)


def rows(report: StatusReport) -> list[tuple[str, str]]:
    """Names and values, for two columns."""
    agents = ", ".join(f"{name} {n:,}" for name, n in report.agents.items())
    out = [
        ("Index", home_shortened(report.index_path)),
        ("Size", f"{size(report.index_bytes)}, log {size(report.wal_bytes)}, free {size(report.free_bytes)}"),
        ("Sessions", f"{report.sessions:,}" + (f" ({agents})" if agents else "")),
        ("Turns", f"{report.turns:,}"),
        ("Newest turn", _when(report.newest_turn)),
        ("Last import", _when(report.last_import)),
        (
            "Transcripts",
            f"{report.transcripts:,} in the sources, {report.not_indexed:,} new or changed since",
        ),
        ("Source gone", f"{counted(report.sessions_gone, 'session')}, kept"),
        ("Left source", f"{counted(report.turns_not_in_source, 'turn')}, kept"),
        ("Citations", f"{report.citations:,} recorded"),
        *(("Retention", retention(r)) for r in report.retention),
    ]
    if report.turns:
        out.append(("Secrets", _secrets(report)))
    out.append(("Dream", _DREAM.get(report.dream, report.dream)))
    if report.phase:
        out.append(("Phase", report.phase))
    if report.unknown_records:
        out.append(("Not known", ", ".join(f"{name} ({n:,})" for name, n in report.unknown_records.items())))
    return out


def _secrets(report: StatusReport) -> str:
    if report.secrets is None:
        return "not counted yet: recall secrets"
    kinds = ", ".join(f"{kind} {n:,}" for kind, n in report.secrets.items()) or "none"
    old = ", before the last import" if (report.last_import or "") > (report.secrets_counted or "") else ""
    return f"{kinds} (counted {_when(report.secrets_counted)}{old})"


def retention(report: RetentionReport) -> str:
    """What an agent deletes, has deleted, and will delete soon."""
    if report.days is None:
        said = report.agent
    else:
        where = home_shortened(report.setting) if report.setting else "its default"
        said = f"{report.agent} deletes after {counted(report.days, 'day')} ({where})"
    parts = [said]
    if report.due:
        parts.append(f"due within 7 days: {_named(report.due, report.due_sessions)}; the index keeps them")
    if report.gone:
        parts.append(f"source gone: {_named(report.gone, report.gone_sessions)}")
    return "; ".join(parts)


def _named(n: int, session_ids: tuple[str, ...]) -> str:
    more = ", …" if n > len(session_ids) else ""
    return f"{counted(n, 'session')} ({', '.join(map(one_line, session_ids))}{more})"


def _when(time: str | None) -> str:
    return f"{day_and_minute(time)} UTC" if time else "never"


def _unreadable(report: StatusReport) -> list[str]:
    if not report.unreadable:
        return []
    lines = [f"Records or files not read: {sum(s.records for s in report.unreadable):,}"]
    reasons = Counter((s.reason, s.path) for s in report.unreadable)
    for (reason, path), _ in list(reasons.items())[:_SHOWN_FILES]:
        lines.append(f"  {home_shortened(path)}: {reason}")
    if len(reasons) > _SHOWN_FILES:
        lines.append(f"  … and {len(reasons) - _SHOWN_FILES:,} more: recall status --json")
    return lines
