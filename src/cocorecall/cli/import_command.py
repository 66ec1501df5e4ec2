"""`recall import`."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import asdict

import click

from cocorecall.cli.command import Settings, common_options, pass_settings
from cocorecall.cli.output import counted, home_shortened, one_line, print_json, print_text, wrapped
from cocorecall.model import ImportReport, Progress, RecoveryReport

_SHOWN_REASONS = 8
_SHOWN_TABLES = 6


@click.command("import")
@click.option(
    "--since", metavar="WHEN", help="Only sessions that started after: 2026-05-14, 7d, yesterday, …"
)
@click.option(
    "--rebuild", is_flag=True, help="Read everything again; sessions whose files are gone are kept."
)
@click.option("--queued", is_flag=True, help="Only if CocoPlus has queued a request for an import.")
@common_options
@pass_settings
def command(settings: Settings, since: str | None, *, rebuild: bool, queued: bool) -> None:
    """Bring new and changed transcripts into the index.

    Unchanged transcripts are not opened. What cannot be read is reported and costs only itself.
    """
    if queued and (since or rebuild):
        raise click.UsageError("--queued takes its scope from the queue: leave out --since and --rebuild")
    watched = sys.stderr.isatty() and not settings.json
    progress = _show_progress if watched else None
    with settings.open() as recall:
        try:
            report = (
                recall.import_queued(progress=progress)
                if queued
                else recall.import_sources(since, rebuild=rebuild, progress=progress)
            )
        finally:
            if watched:
                sys.stderr.write(_CLEAR)
    if settings.json:
        print_json("import", asdict(report))
    elif queued and not report.requests:
        print_text("No import is queued.")
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
    if report.recovered:
        lines = [*_recovered(report.recovered), *lines]
    if report.ignored:
        lines.append(f"Ignored: {report.ignored:,}, by patterns that `recall sources` lists.")
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


def _recovered(recovered: RecoveryReport) -> list[str]:
    """What became of a damaged index."""
    if recovered.what == "words":
        return ["The full-text index was damaged; it was derived anew from the stored turns."]
    carried = dict(recovered.carried)
    kept = f"{counted(carried.get('sessions', 0), 'session')}, {counted(carried.get('turns', 0), 'turn')}"
    lines = [f"The index was damaged. What could be read of it was carried over: {kept}."]
    if recovered.set_aside:
        lines.append(f"The damaged file is kept: {home_shortened(recovered.set_aside)}")
    if recovered.unreadable:
        lines.append(f"Rows that could not be read: {_unreadable_rows(recovered)}.")
    if recovered.lost:
        turns = sum(s.lost for s in recovered.lost)
        lines.append(
            f"Not to be saved, as their transcripts are gone: {counted(turns, 'turn')} of"
            f" {counted(len(recovered.lost), 'session')}:"
        )
        lines += [
            f"  {one_line(s.session_id)}: {s.lost:,} of {counted(s.turns, 'turn')}"
            for s in recovered.lost[:_SHOWN_REASONS]
        ]
        if len(recovered.lost) > _SHOWN_REASONS:
            lines.append(f"  … and {len(recovered.lost) - _SHOWN_REASONS:,} more: see the receipt")
    elif recovered.turns_unknown:
        lines.append("What else it held cannot be told; the transcripts that are there were read anew.")
    else:
        lines.append("The transcripts filled the rest: no turn is missing.")
    return [wrapped(line, 2) if not line.startswith("  ") else line for line in lines]


def _unreadable_rows(recovered: RecoveryReport) -> str:
    named = [f"{table} ({n:,})" if n > 0 else f"{table} (some)" for table, n in recovered.unreadable]
    shown = ", ".join(named[:_SHOWN_TABLES])
    return (
        shown if len(named) <= _SHOWN_TABLES else f"{shown} and of {len(named) - _SHOWN_TABLES} more tables"
    )


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
