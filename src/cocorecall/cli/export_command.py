"""`recall export`."""

from __future__ import annotations

import sys

import click

from cocorecall.cli.command import Settings, common_options, pass_settings
from cocorecall.cli.output import counted, home_shortened, print_json, print_text, size
from cocorecall.documents import document
from cocorecall.model import ExportReport, Progress


@click.command("export")
@click.argument("session_id", metavar="[SESSION]", required=False)
@click.option("--all", "every", is_flag=True, help="Every session, a file each, into one folder.")
@click.option(
    "--format", "form", type=click.Choice(["jsonl", "markdown", "html"]), default="jsonl", show_default=True,
    help="jsonl can be imported again; the others are to read.",
)  # fmt: skip
@click.option("--output", metavar="PATH", help="The file, or with --all the folder; - prints.")
@click.option("--reveal", is_flag=True, help="Write secrets as they are; masked turns cannot be imported.")
@click.option("--force", is_flag=True, help="Write over files that exist.")
@common_options
@pass_settings
def command(
    settings: Settings,
    session_id: str | None,
    *,
    every: bool,
    form: str,
    output: str | None,
    reveal: bool,
    force: bool,
) -> None:
    """Write sessions out, to keep, to read, or to import elsewhere.

    Turns whose source is gone are written, too. Without --output, a session
    goes into SESSION.recall.jsonl (.md, .html) here, --all into recall-export/.
    Files can be read by their owner alone.
    """
    if (session_id is not None) + every != 1:
        raise click.UsageError("Say what to export: a session, or --all")
    prints = output == "-"
    if prints and settings.json:
        raise click.UsageError("--output - prints the sessions, --json a report: give one of them")
    watched = sys.stderr.isatty() and not settings.json and every and not prints
    with settings.open() as recall:
        try:
            report = recall.export(
                session_id, all=every, format=form, output=None if prints else output,
                send=sys.stdout.write if prints else None, force=force, reveal=reveal,
                progress=_show_progress if watched else None,
            )  # fmt: skip
        finally:
            if watched:
                sys.stderr.write(_CLEAR)
    if settings.json:
        print_json("export", document(report))
    elif not prints:
        print_text(summary(report))


_CLEAR = "\r\x1b[K"
_STEP = 25
"""Sessions between two lines of progress."""


def _show_progress(progress: Progress) -> None:
    if progress.done == progress.total or progress.done % _STEP == 0:
        sys.stderr.write(f"{_CLEAR}{progress.done:,} of {counted(progress.total, 'session')}")
        sys.stderr.flush()


def summary(report: ExportReport) -> str:
    """What was written, in a few lines."""
    if not report.files:
        return "Nothing is indexed, so nothing was written."
    total = size(sum(f.bytes for f in report.files))
    first = report.files[0].path or ""
    if report.sessions == 1:
        place = home_shortened(first)
    else:
        place = f"{counted(report.sessions, 'file')} in {home_shortened(first[: -len(_name(first))])}"
    lines = [
        f"Wrote {counted(report.sessions, 'session')}, {counted(report.turns, 'turn')}, {total}:",
        f"  {place}",
    ]
    gone = sum(f.not_in_source for f in report.files)
    if gone:
        lines.append(f"{counted(gone, 'turn')} of them no longer in their transcripts.")
    masked = sum(f.masked for f in report.files)
    if masked:
        lines.append(f"{counted(masked, 'turn')} with secrets masked: an import leaves them out.")
    return "\n".join(lines)


def _name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
