"""`recall verify`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby

import click

from cocorecall.cli.command import Settings, common_options, pass_settings
from cocorecall.cli.output import counted, home_shortened, one_line, print_json, print_text
from cocorecall.documents import document
from cocorecall.model import CheckedTurn, Difference, Progress, VerifyReport


@click.command("verify")
@click.argument("target", metavar="[TURN|SESSION]", required=False)
@click.option("--all", "every", is_flag=True, help="Every turn of the index.")
@click.option("--cited", is_flag=True, help="Every turn that searches cited lately.")
@click.option(
    "--days", type=click.IntRange(min=1), default=30, show_default=True, metavar="N",
    help="With --cited: in the last N days.",
)  # fmt: skip
@common_options
@pass_settings
@click.pass_context
def command(
    context: click.Context, settings: Settings, target: str | None, *, every: bool, cited: bool, days: int
) -> None:
    """Compare turns with their sources, which are read again.

    \b
    verified      the source holds the same text at the same place
    moved         the same text at another line, number or file
    changed       another text; it is shown where they part
    missing       the source is gone, or the turn has left its transcript;
                  no fault: the index keeps what agents delete
    unverifiable  the source cannot be read, or not compared

    --all and --cited list what is not verified. Ends with exit code 1 where
    something is changed, else with 0.
    """  # noqa: D301 - click's own mark for lines that stay as they are
    if (target is not None) + every + cited != 1:
        raise click.UsageError("Say what to verify: a turn or a session, --all, or --cited")
    watched = sys.stderr.isatty() and not settings.json
    with settings.open() as recall:
        try:
            report = recall.verify(
                target, all=every, cited=cited, days=days, progress=_show_progress if watched else None
            )
        finally:
            if watched:
                sys.stderr.write(_CLEAR)
    if settings.json:
        print_json("verify", document(report))
    else:
        print_text("\n".join(lines(report)))
    if report.counts["changed"]:
        context.exit(1)


_CLEAR = "\r\x1b[K"
_STEP = 25
"""Transcripts between two lines of progress."""


def _show_progress(progress: Progress) -> None:
    if progress.done == progress.total or progress.done % _STEP == 0:
        sys.stderr.write(f"{_CLEAR}{progress.done:,} of {counted(progress.total, 'transcript')}")
        sys.stderr.flush()


def lines(report: VerifyReport) -> Iterator[str]:
    """What a verification found, for a person: totals, then what needs a look."""
    yield _totals(report)
    if report.scope == "turn":
        yield from _turn(report.listed[0])
        return
    if report.forgotten:
        yield f"{counted(report.forgotten, 'cited turn')} no longer in the index."
    for turn in report.listed:
        if turn.verdict == "changed":
            yield ""
            yield from _turn(turn)
    others = sorted((t for t in report.listed if t.verdict not in ("verified", "changed")), key=_kind)
    if others:
        yield ""
    for _, group in groupby(others, key=_kind):
        yield from _group(list(group))
    if report.not_listed:
        yield f"… and {counted(report.not_listed, 'turn')} more that are not verified."


def _totals(report: VerifyReport) -> str:
    what = {"all": "of the index", "cited": f"cited in the last {counted(report.days or 0, 'day')}"}
    parts = [f"{n:,} {verdict}" for verdict, n in report.counts.items() if n]
    asked = f"{counted(report.turns, 'turn')} {what[report.scope]}: " if report.scope in what else ""
    return asked + (", ".join(parts) or "nothing to verify") + "."


def _kind(turn: CheckedTurn) -> tuple[str, str, str, str]:
    return (turn.verdict, turn.reason or "", turn.session_id, turn.found_path or "")


_SHOWN_NUMBERS = 6


def _group(turns: list[CheckedTurn]) -> Iterator[str]:
    """Turns of one session that fared alike."""
    first = turns[0]
    reason = f" ({one_line(first.reason)})" if first.reason else ""
    numbers = ", ".join(str(t.seq) for t in turns[:_SHOWN_NUMBERS])
    more = f" and {len(turns) - _SHOWN_NUMBERS:,} more" if len(turns) > _SHOWN_NUMBERS else ""
    yield f"{first.verdict}{reason}: {one_line(first.session_id)}, turn{'s' * (len(turns) > 1)} {numbers}{more}"
    yield f"  {_path(first)}"


def _turn(turn: CheckedTurn) -> Iterator[str]:
    """One turn: its verdict, where it is, and where the texts part."""
    reason = f" ({one_line(turn.reason)})" if turn.reason else ""
    yield f"{turn.verdict}{reason}: {one_line(turn.turn_id)}"
    line = turn.found_line or (turn.source_line if turn.verdict != "moved" else None)
    yield f"  {_path(turn)}{f':{line}' if line else ''}"
    if turn.verdict == "moved" and turn.source_line and turn.found_line:
        yield f"  was on line {turn.source_line:,}, is on line {turn.found_line:,}"
    if turn.difference:
        yield from _difference(turn.difference)


def _path(turn: CheckedTurn) -> str:
    return one_line(home_shortened(turn.found_path or turn.source_path or "no source"))


def _difference(what: Difference) -> Iterator[str]:
    inputs = " of its tool calls" if what.field == "calls" else ""
    yield f"  parts at character {what.offset:,}{inputs} (line {what.line:,}, column {what.column:,})"
    yield f"  stored  {_excerpt(what, what.stored, what.stored_length)}"
    yield f"  source  {_excerpt(what, what.source, what.source_length)}"
    if what.stored_length != what.source_length:
        yield f"  {what.stored_length:,} characters stored, {what.source_length:,} in the source"


def _excerpt(what: Difference, text: str, length: int) -> str:
    """One line; line ends stand as `⏎`, what is left out is counted."""
    before = f"[… {what.start:,} characters …] " if what.start else ""
    rest = max(0, length - what.start - len(text))
    after = f" [… {rest:,} characters …]" if rest else ""
    return f"{before}{text.replace(chr(13), '␍').replace(chr(10), '⏎').replace(chr(9), '⇥')}{after}"
