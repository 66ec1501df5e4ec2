"""`recall forget`."""

from __future__ import annotations

import sys
from functools import partial

import click

from cocorecall.cli.command import Settings, common_options, pass_settings
from cocorecall.cli.output import counted, cut, home_shortened, one_line, print_json, print_text, wrapped
from cocorecall.documents import document
from cocorecall.errors import RecallError
from cocorecall.model import ForgetReport, ForgottenSession, Tombstone

_SHOWN = 20
_SHOWN_FILES = 8
_TITLE = 40


@click.command("forget")
@click.argument("session_id", metavar="[ID]", required=False)
@click.option("--path", metavar="GLOB", help="Sessions whose transcript's path matches: '**/client-x/**'.")
@click.option("--before", metavar="WHEN", help="Sessions whose last turn was before: 2026-01-01, 90d, …")
@click.option("--matching", metavar="QUERY", help="Sessions that hold a turn with all words of QUERY.")
@click.option("--forks", is_flag=True, help="Also sessions whose transcripts hold copies of their turns.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--list", "show", is_flag=True, help="Show when something was forgotten, and the keys.")
@click.option("--undo", metavar="KEY", help="Let the next import bring a session back.")
@common_options
@pass_settings
def command(
    settings: Settings,
    /,
    session_id: str | None,
    *,
    path: str | None,
    before: str | None,
    matching: str | None,
    forks: bool,
    dry_run: bool,
    yes: bool,
    show: bool,
    undo: str | None,
) -> None:
    """Remove sessions from the index for good.

    Their turns, citations and words are erased, and later imports do not bring them back. Several conditions
    name the sessions that meet all of them; subagents go with their session. The agents' own files and
    backups are not touched, and are named.
    """
    if show or undo is not None:
        if any(v is not None for v in (session_id, path, before, matching)):
            raise click.UsageError("--list and --undo stand alone")
        _tombstones(settings, undo)
        return
    if not yes and not dry_run and not sys.stdin.isatty():
        raise click.UsageError("Forgetting cannot be undone; without a terminal to ask on, add --yes")
    with settings.open() as recall:
        forget = partial(recall.forget, session_id, path=path, before=before, matching=matching, forks=forks)
        report = forget(dry_run=True) if not yes or dry_run else None
        if report is None or (report.sessions and not dry_run):
            if report is not None:
                _confirm(report)
            report = forget()
    if settings.json:
        print_json("forget", document(report))
    else:
        print_text(summary(report))


def _confirm(planned: ForgetReport) -> None:
    """Ask.

    Raises:
        RecallError: the answer is no.
    """
    if len(planned.sessions) == 1:
        (session,) = planned.sessions
        title = one_line(session.title or session.agent)
        what = f"{one_line(session.session_id)} ({title}, {counted(session.turns, 'turn')})"
    else:
        click.echo("\n".join(_listed(planned.sessions)), err=True)
        what = f"these {len(planned.sessions):,} sessions, {counted(planned.turns, 'turn')}"
    for kept in planned.kept:
        click.echo(_kept(kept.session_id, kept.turns, dry_run=True), err=True)
    if not click.confirm(f"Forget {what}?", err=True):
        raise RecallError("Nothing was forgotten.")


def _listed(sessions: tuple[ForgottenSession, ...]) -> list[str]:
    lines = [
        f"  {one_line(s.session_id)}  {(s.start_time or '')[:10]}  {counted(s.turns, 'turn')}"
        f"  {cut(s.title or s.agent, _TITLE)}"
        for s in sessions[:_SHOWN]
    ]
    if len(sessions) > _SHOWN:
        lines.append(f"  … and {len(sessions) - _SHOWN:,} more: --dry-run --json names all")
    return lines


def _kept(session_id: str, turns: int, *, dry_run: bool) -> str:
    stay = "would stay" if dry_run else "stay"
    return wrapped(
        f"{counted(turns, 'turn')} {stay}: the transcript of {one_line(session_id)} holds them too. --forks"
        " takes that session as well.", 2,
    )  # fmt: skip


def summary(report: ForgetReport) -> str:
    """What was forgotten, or would be."""
    if not report.sessions:
        return "No session meets that; nothing was forgotten."
    did = "Would forget" if report.dry_run else "Forgot"
    what = report.session_id or counted(len(report.sessions), "session")
    lines = [f"{did} {what}: {counted(report.turns, 'turn')}, {counted(report.citations, 'citation')}."]
    if len(report.sessions) > 1:
        lines += _listed(report.sessions)
    lines += [_kept(k.session_id, k.turns, dry_run=report.dry_run) for k in report.kept]
    own = {s.source_path for s in report.sessions}
    agents = [p for p in report.remaining if p in own]
    others = [p for p in report.remaining if p not in own]
    lines += _files("Not touched, the agent's own file", agents)
    lines += _files("Not touched, and may hold the text", others)
    return "\n".join([*lines, *([report.note] if report.note else [])])


def _files(what: str, paths: list[str]) -> list[str]:
    lines = [f"{what}: {home_shortened(path)}" for path in paths[:_SHOWN_FILES]]
    return lines + ([f"… and {len(paths) - _SHOWN_FILES:,} more"] if len(paths) > _SHOWN_FILES else [])


_KEY = 12
"""Characters of a key that are shown."""


def _tombstones(settings: Settings, undo: str | None) -> None:
    with settings.open() as recall:
        stones: tuple[Tombstone, ...] = (recall.remember(undo),) if undo is not None else recall.forgotten()
    if settings.json:
        print_json("forgotten", {"forgotten": [document(s) for s in stones]})
    elif undo is not None:
        print_text(
            f"{stones[0].key[:_KEY]} is no longer forgotten: `recall import --rebuild` brings it back if its"
            " transcript is there."
        )
    else:
        lines = [f"  {s.key[:_KEY]}  {s.forgotten_at[:16].replace('T', ' ')} UTC" for s in stones]
        print_text("\n".join([f"{counted(len(stones), 'session')} forgotten. Names are not kept.", *lines]))
