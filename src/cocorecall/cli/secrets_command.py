"""`recall secrets`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import click

from cocorecall.cli.command import Settings, common_options, pass_settings
from cocorecall.cli.output import counted, home_shortened, one_line, print_json, print_text, wrapped
from cocorecall.documents import secrets_document
from cocorecall.model import SecretPlace, SecretReport


@click.command("secrets")
@click.option("--kind", multiple=True, metavar="NAME", help="Only this kind, such as password; repeatable.")
@click.option("--session", metavar="ID", help="Only this session (a beginning of its id will do).")
@common_options
@pass_settings
def command(settings: Settings, *, kind: tuple[str, ...], session: str | None) -> None:
    """Say where the index holds secrets, by kind; never their values.

    Newest first. Answers mask them; stored text stays as it was said.
    """
    with settings.open() as recall:
        report = recall.secrets(kind=kind, session=session)
    if settings.json:
        print_json("secrets", secrets_document(report))
        return
    of_kind = f" of kind {' or '.join(kind)}" if kind else ""
    print_text("\n".join(lines(report, of_kind + (f" in session {session}" if session else ""))))


def lines(report: SecretReport, narrowed: str = "") -> Iterator[str]:
    """The report: totals, then turn by turn.

    Args:
        report: where secrets are.
        narrowed: what was asked for, if not all, for where there is none.
    """
    if not report.secrets:
        yield f"No secrets found{narrowed}."
        return
    where = f"{counted(report.turns, 'turn')} of {counted(report.sessions, 'session')}"
    yield f"{counted(report.secrets, 'secret')} in {where}:"
    yield "  " + wrapped(", ".join(f"{kind} {n:,}" for kind, n in report.kinds.items()), 2)
    for _, places in groupby(report.places, key=lambda p: p.turn_id):
        yield ""
        yield from _turn(list(places))
    yield ""
    yield "A turn, masked: recall show ID. With its secrets: add --reveal."
    yield "Out of the index for good: recall forget SESSION. Then renew them where they are used."


def _turn(places: list[SecretPlace]) -> Iterator[str]:
    first = places[0]
    state = "source ok" if first.source_exists else "SOURCE GONE"
    yield f"{one_line(first.turn_id)} {one_line(first.speaker_role)} {first.timestamp[:10]} {state}"
    yield "  " + wrapped(", ".join(map(_kind, places)), 2)
    line = f":{first.source_line}" if first.source_line else ""
    yield f"  {one_line(home_shortened(first.source_path))}{line}"


def _kind(place: SecretPlace) -> str:
    times = f" {place.count:,} times" if place.count > 1 else ""
    elsewhere = "" if "text" in place.fields else f" in its {' and '.join(place.fields)}"
    return place.kind + times + elsewhere
