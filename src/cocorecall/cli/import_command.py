"""`recall import`."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import asdict

import click

from cocorecall.cli.command import Settings, common_options, pass_settings
from cocorecall.cli.output import counted, home_shortened, print_json, print_text
from cocorecall.model import ImportReport, Progress

_SHOWN_REASONS = 8


@click.command("import")
@click.option(
    "--since", metavar="WHEN", help="Only sessions that started after: 2026-05-14, 7d, yesterday, …"
)
@click.option(
    "--rebuild", is_flag=True, help="Read everything again; sessions whose files are gone are kept."
)
@common_options
@pass_settings
def command(settings: Settings, since: str | None, *, rebuild: bool) -> None:
    """Bring new and changed transcripts into the index.

    Unchanged transcripts are not opened. What cannot be read is reported and costs only itself.
    """
    watched = sys.stderr.isatty() and not settings.json
    with settings.open() as recall:
        try:
            report = recall.import_sources(
                since, rebuild=rebuild, progress=_show_progress if watched else None
            )
        finally:
            if watched:
                sys.stderr.write(_CLEAR)
    if settings.json:
        print_json("import", asdict(report))
    else:
        print_text(summary(report))


_CLEAR = "\r\x1b[K"
_STEP = 25
"""Transcripts between two lines of progress."""


def _show_progress(progress: Progress) -> None:
    if progress.done == progress.total or progress.done % _STEP == 0:
        done = (
            f"{progress.done:,} of {counted(progress.total, 'transcript')}, {counted(progress.turns, 'turn')}"
        )
        sys.stderr.write(_CLEAR + done)
        sys.stderr.flush()


def summary(report: ImportReport) -> str:
    """What an import did, in a few lines."""
    lines = [
        (
            f"Sessions: {report.sessions_new:,} new, {report.sessions_changed:,} changed,"
            f" {report.sessions_unchanged:,} unchanged, {report.sessions_gone:,} gone from disk (kept)."
        ),
        (
            f"Turns: {report.turns_new:,} new, {report.turns_changed:,} changed,"
            f" {report.turns_gone:,} left their transcript (kept)."
        ),
        f"Read {report.transcripts_read:,} of {counted(report.transcripts, 'transcript')}.",
    ]
    lines += _skipped(report)
    if report.sql_unparsed:
        lines.append(
            f"SQL: {counted(report.sql_statements, 'statement')},"
            f" {report.sql_unparsed:,} of them not in Snowflake's grammar, read word by word."
        )
    if report.unknown_records:
        kinds = ", ".join(f"{name} ({n:,})" for name, n in list(report.unknown_records.items())[:10])
        lines.append(f"Record types not known: {kinds}.")
    if not report.transcripts:
        lines.append("No transcripts were found: `recall sources` shows where they are looked for.")
    return "\n".join(lines)


def _skipped(report: ImportReport) -> list[str]:
    if not report.skipped:
        return []
    lines = [f"Skipped records or files: {sum(s.records for s in report.skipped):,}"]
    reasons = Counter[str]()
    first: dict[str, str] = {}
    for entry in report.skipped:
        reasons[entry.reason] += entry.records
        place = home_shortened(entry.path) + (f":{entry.line}" if entry.line else "")
        first.setdefault(entry.reason, place)
    for reason, n in reasons.most_common(_SHOWN_REASONS):
        lines.append(f"  {n:,} × {reason}, first in {first[reason]}")
    if len(reasons) > _SHOWN_REASONS:
        lines.append(f"  … and {len(reasons) - _SHOWN_REASONS:,} more reasons: recall status")
    return lines
