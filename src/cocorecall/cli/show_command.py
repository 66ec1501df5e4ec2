"""`recall show`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from cocorecall.cli.command import Settings, common_options, pass_settings
from cocorecall.cli.output import (
    counted,
    home_shortened,
    on_terminal,
    print_json,
    print_text,
    shortened,
    width,
)
from cocorecall.model import SessionView, TurnView


@click.command("show")
@click.argument("session_id", metavar="ID")
@click.option("--turn", type=click.IntRange(min=0), help="Only the turn of this number.")
@click.option(
    "--around", type=click.IntRange(min=0), metavar="N", help="N turns before and after each match."
)
@click.option(
    "-B", "before", type=click.IntRange(min=0), metavar="N", help="N lines before each match, as grep."
)
@click.option("-A", "after", type=click.IntRange(min=0), metavar="N", help="N lines after each match.")
@click.option(
    "-C", "context", type=click.IntRange(min=0), metavar="N", help="N lines before and after each match."
)
@click.option("--query", help="What to highlight; else the last query that cited this session.")
@click.option("--thinking", is_flag=True, help="With the model's reasoning.")
@click.option("--full", is_flag=True, help="Tool calls in full.")
@click.option("--no-pager", is_flag=True, help="Print straight to the terminal.")
@common_options
@pass_settings
def command(settings: Settings, /, session_id: str, **options: Any) -> None:
    """Print a session, or one turn, as it was said.

    ID is a session's id, a beginning of it, or a turn's id as a search prints it (SESSION:NUMBER).
    """
    context = options.pop("context")
    full, no_pager = options.pop("full"), options.pop("no_pager")
    if context is not None:
        options["before"] = context if options["before"] is None else options["before"]
        options["after"] = context if options["after"] is None else options["after"]
    with settings.open() as recall:
        view = recall.show(session_id, **options)
    if settings.json:
        print_json("show", as_json(view))
        return
    color = on_terminal(settings)
    text = render(view, color=color, full=full)
    if color and not no_pager:
        click.echo_via_pager(text + "\n", color=True)
    else:
        print_text(text) if not color else click.echo(text, color=True)


def as_json(view: SessionView) -> dict[str, Any]:
    """A session's document."""
    return {
        "session": asdict(view.session),
        "query": view.query,
        "turns": [asdict(turn) for turn in view.turns],
        "omitted_after": view.omitted_after,
        "shared_turns": view.shared_turns,
        "shared_with": view.shared_with,
    }


def render(view: SessionView, *, color: bool, full: bool) -> str:
    """The session as text: a header, then turn by turn; what is left out is counted."""
    from cocorecall.terminal import visible  # noqa: PLC0415 - output has it loaded

    parts = [_header(view)]
    for turn in view.turns:
        if turn.omitted_before:
            parts.append(f"[… {counted(turn.omitted_before, 'turn')} …]")
        parts.append(_turn(turn, color=color, full=full))
    if view.omitted_after:
        parts.append(f"[… {counted(view.omitted_after, 'turn')} …]")
    text = "\n\n".join(parts)
    return text if color else visible(text)


def _header(view: SessionView) -> str:
    from cocorecall.terminal import visible  # noqa: PLC0415

    session = view.session
    lines = [
        f"Session {session.session_id}",
        *( [session.title] if session.title else [] ),
        (f"{session.agent}, {session.start_time[:16].replace('T', ' ')} to {session.end_time[:16].replace('T', ' ')} UTC,"
        f" {counted(session.turns, 'turn')}"),
        f"Source: {home_shortened(session.source_path)}" + ("" if session.source_exists else "  SOURCE GONE"),
    ]  # fmt: skip
    if session.cwd:
        lines.append(
            f"Folder: {session.cwd}" + (f", branch {session.git_branch}" if session.git_branch else "")
        )
    if session.phase_context:
        lines.append(f"Phase: {session.phase_context}")
    if session.parent_id:
        lines.append(f"Parent: {session.parent_id}")
    if view.shared_turns:
        lines.append(
            f"{counted(view.shared_turns, 'turn')} shared with {view.shared_with}: recall show {view.shared_with}"
        )
    if view.query:
        lines.append(f"Query: {view.query}")
    return visible("\n".join(lines))


def _turn(turn: TurnView, *, color: bool, full: bool) -> str:
    from cocorecall.terminal import visible  # noqa: PLC0415

    marks = [turn.speaker_role, turn.timestamp[:16].replace("T", " ")]
    marks += ["matches"] if turn.matched else []
    marks += ["no longer in its transcript"] if not turn.in_source else []
    marks += [turn.kind] if turn.kind != "message" else []
    marks += ["printed by recall"] if turn.echo else []
    head = visible(f"[{turn.seq}] {' · '.join(marks)}")
    lines = [click.style(head, fg="cyan", bold=turn.matched) if color else head]
    if turn.thinking:
        lines.append(visible(f"(thinking) {turn.thinking}"))
    body = _body(turn, color=color)
    if body:
        lines.append(body)
    if turn.text_length > len(turn.text):
        lines.append(f"[… {turn.text_length - len(turn.text):,} characters are not indexed …]")
    for call in turn.calls:
        payload = call.payload if full else shortened(call.payload, max(40, width() - len(call.name) - 6))
        status = f" ({call.status})" if call.status and call.status != "success" else ""
        lines.append(visible(f"→ {call.name} {payload}{status}"))
    return "\n".join(lines)


def _body(turn: TurnView, *, color: bool) -> str:
    parts = []
    done = 0
    for start, end in turn.spans:
        if start > done:
            parts.append(f"[… {counted(_lines(turn.text[done:start]), 'line')} …]\n")
        parts.append(_highlighted(turn, start, end) if color else turn.text[start:end])
        done = end
    if done < len(turn.text):
        parts.append(f"[… {counted(_lines(turn.text[done:]), 'line')} …]")
    return "".join(parts).rstrip("\n")


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))


def _highlighted(turn: TurnView, start: int, end: int) -> str:
    from cocorecall.terminal import visible  # noqa: PLC0415

    out = []
    done = start
    for a, b in turn.highlights:
        if start <= a and b <= end:
            out.append(visible(turn.text[done:a]))
            out.append(click.style(visible(turn.text[a:b]), fg="yellow", bold=True))
            done = b
    out.append(visible(turn.text[done:end]))
    return "".join(out)
