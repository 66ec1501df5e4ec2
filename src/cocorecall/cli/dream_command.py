"""`recall dream`: run, status, log."""

from __future__ import annotations

import click
from click.core import ParameterSource

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
from cocorecall.documents import document
from cocorecall.model import DreamLogEntry, DreamReport, Entry, MemoryStore

_WINDOW = "14d"
_TITLES = {
    "preference": "Preferences",
    "governance": "Governance",
    "schema correction": "Schema corrections",
    "performance": "Performance",
}

_window_option = click.option(
    "--window", metavar="AGE", default=_WINDOW, show_default=True,
    help="Read turns of so long ago: 14d, 3w, or a date.",
)  # fmt: skip
_dry_run_option = click.option("--dry-run", is_flag=True, help="Show what would be kept; write nothing.")


@click.group("dream", invoke_without_command=True)
@_dry_run_option
@_window_option
@common_options
@click.pass_context
def command(context: click.Context, window: str, *, dry_run: bool) -> None:
    """Keep what recent sessions say in MEMORY.md, cited.

    Preferences that a person stated, decisions on who may see which data, SQL that failed and what then worked, and
    what queries took and cost: verbatim sentences, each with its turns. Only the managed block of the memory file is
    written. `recall dream` alone is `recall dream run`.
    """
    if context.invoked_subcommand is None:
        _run(context.ensure_object(Settings), window, dry_run=dry_run)


@command.command("run")
@_dry_run_option
@_window_option
@common_options
@click.pass_context
def run_command(context: click.Context, window: str, *, dry_run: bool) -> None:
    """Gather, consolidate and write the memory file."""
    before = context.parent.params if context.parent else {}  # options may stand before `run`, too
    if context.get_parameter_source("window") is ParameterSource.DEFAULT:
        window = before.get("window", window)
    _run(context.ensure_object(Settings), window, dry_run=dry_run or before.get("dry_run", False))


def _run(settings: Settings, window: str, *, dry_run: bool) -> None:
    with settings.open() as recall:
        report = recall.dream(window=window, dry_run=dry_run)
    if settings.json:
        print_json("dream", document(report))
        return
    for line in _told(report):
        print_text(line)


def _told(report: DreamReport) -> list[str]:
    found = ", ".join(f"{_TITLES[kind].lower()} {n:,}" for kind, n in report.signals.items())
    out = [
        wrapped(
            f"Read {counted(report.turns, 'turn')} since {report.window_start[:10]}: "
            + (f"{found}." if found else "nothing to keep."),
            0,
        )
    ]
    for kind, title in _TITLES.items():
        own = [entry for entry in report.entries if entry.kind == kind]
        if own:
            out += ["", title, *(line for entry in own for line in _shown(entry))]
    out += ["", *(wrapped(line, 0) for line in _summary(report))]
    return [*out, *(f"! {wrapped(problem, 2)}" for problem in report.problems)]


def _shown(entry: Entry) -> list[str]:
    out = [f"- {wrapped(entry.text, 2)}", f"  {wrapped(_cited(entry), 2)}"]
    for old in entry.superseded:
        out += [f"  - {wrapped(f'superseded: {old.text}', 4)}", f"    {wrapped(_cited(old), 4)}"]
    return out


def _cited(entry: Entry) -> str:
    return " ".join(f"[{c.turn_id} {c.date[:10]}]" for c in entry.citations)


def _summary(report: DreamReport) -> list[str]:
    memory = home_shortened(report.memory)
    did = ("Would write" if report.changed else "Would leave") if report.dry_run else (
        "Wrote" if report.changed else "Nothing changed in"
    )  # fmt: skip
    n = len(report.entries)
    entries = f"{n:,} entr{'y' if n == 1 else 'ies'}"
    out = [
        f"{did} {memory}",
        f"{entries}, {report.added:,} new; {report.lines:,} of {report.ceiling:,} lines.",
    ]
    if report.archived and report.archive:
        out.append(f"Archived: {report.archived:,}, in {home_shortened(report.archive)}")
    if report.held_back:
        out.append(f"Not kept yet, from too few sessions: {report.held_back:,}.")
    if report.moved_out:
        out.append(f"Lines of yours in the block, moved below it: {report.moved_out:,}.")
    return out


@command.command("status")
@common_options
@pass_settings
def status_command(settings: Settings) -> None:
    """Say when memory was last consolidated, and how large it is."""
    with settings.open() as recall:
        status = recall.dream_status()
    if settings.json:
        print_json("dream_status", document(status))
        return
    last = f"{day_and_minute(status.last)} UTC" if status.last else "never"
    completed = status.last_completed
    rows = [("Dream", status.state), ("Last run", last)]
    if completed and completed.counts:
        rows.append(("It kept", ", ".join(f"{one_line(str(k))} {v}" for k, v in completed.counts.items())))
    rows.append(("Due", "yes: recall dream" if status.due else "no"))
    rows += [(one_line(store.name), _measured(store)) for store in status.stores]
    print_table(rows)
    if status.unreadable:
        print_text(f"! {counted(status.unreadable, 'line')} of the log cannot be read.")


def _measured(store: MemoryStore) -> str:
    if not store.exists:
        return "none"
    of = f" of {store.ceiling:,}" if store.ceiling else ""
    parts = [counted(store.files, "file")] if store.files != 1 else []
    parts += [f"{store.lines:,}{of} lines", size(store.bytes)]
    if store.age_days is not None:
        parts.append(f"changed {store.age_days:,.0f} days ago" if store.age_days >= 1 else "changed today")
    over = "; over its ceiling" if store.ceiling and store.lines > store.ceiling else ""
    return ", ".join(parts) + over


@command.command("log")
@click.option("--limit", type=click.IntRange(min=1), default=20, metavar="N", help="At most so many (20).")
@common_options
@pass_settings
def log_command(settings: Settings, limit: int) -> None:
    """List the runs, newest first."""
    with settings.open() as recall:
        entries = recall.dream_log()[:limit]
    if settings.json:
        print_json("dream_log", {"entries": [document(entry) for entry in entries]})
        return
    if not entries:
        print_text("No run yet: recall dream")
    for entry in entries:
        print_text(wrapped(_line(entry), 2))


def _line(entry: DreamLogEntry) -> str:
    counts = ", ".join(f"{one_line(str(k))} {v}" for k, v in entry.counts.items())
    said = "; ".join(part for part in (counts, one_line(entry.error or "")) if part)
    head = f"{day_and_minute(one_line(entry.ts))}  {one_line(entry.status)}  {one_line(entry.trigger)}"
    return f"{head}  {said}".rstrip()
