"""A search's answer for a person at a terminal: colour, highlighted matches, wrapped at the width."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from cocorecall.cli.output import counted, cut, cut_path, day_and_minute, one_line
from cocorecall.model import Hit, Results
from cocorecall.recall import Recall
from cocorecall.terminal import visible

_MATCH = "bold yellow"
_MASKED = "bold red"
_WHERE = {"calls": " in a tool call", "tags": " in its tags", "context": " in the turns around it"}
"""Where a hit matches, if not in its text."""


def print_results(results: Results, *, color: bool) -> None:
    """Print the answer at the terminal's width."""
    console = Console(highlight=False, markup=False, emoji=False, color_system="auto" if color else None)
    _print(console, Text(visible(Recall.render_header(results)), style="bold"))
    for hit in results.hits:
        console.print()
        _print_hit(console, hit)
    if results.hits:
        console.print()
        _print(
            console, Text("A whole session: recall show ID. Turns around one: add --around 2.", style="dim")
        )


def _print_hit(console: Console, hit: Hit) -> None:
    rank = f"{hit.rank}  "
    room = max(20, console.width - len(rank))
    _print(console, Text.assemble((rank, "bold cyan"), (cut(_title(hit), room), "bold")))
    for text in (*_citation(hit, room), _excerpt(hit), _next(hit)):
        _print(console, text, indent=len(rank))


def _print(console: Console, text: Text, *, indent: int = 0) -> None:
    """Wrapped at words, without the spaces behind a line that a copy would take along."""
    for line in text.wrap(console, max(20, console.width - indent)):
        line.rstrip()
        console.print(Text(" " * indent).append_text(line), no_wrap=True, overflow="ignore", crop=False)


def _title(hit: Hit) -> str:
    return hit.title or hit.cwd or hit.agent


def _citation(hit: Hit, room: int) -> Iterator[Text]:
    """Turn id, who and when, what matched, and the source."""
    yield Text(one_line(hit.turn_id), style="cyan")
    yield Text(" · ".join(_facts(hit)), style="dim")
    for warning in _warnings(hit):
        yield Text(warning, style="yellow")
    yield _source(hit, room)


def _facts(hit: Hit) -> Iterator[str]:
    yield one_line(hit.speaker_role)
    yield day_and_minute(hit.timestamp)
    yield one_line(hit.agent)
    if hit.kind != "message":
        yield one_line(hit.kind)
    where = _WHERE.get(hit.field, "")
    if hit.match or where:
        yield (f"match {hit.match:.0%}" if hit.match else "match") + where
    if hit.session_matches > 1:
        last = hit.latest_turn_id.rpartition(":")[2]
        yield f"{hit.session_matches - 1:,} more" + (f", last [{last}]" if last != str(hit.seq) else "")


def _warnings(hit: Hit) -> Iterator[str]:
    """What a reader should know before relying on the turn."""
    if hit.missed and hit.match:
        yield f"without: {one_line(', '.join(hit.missed))}"
    if hit.verified is False:
        yield f"not verified: recall verify {one_line(hit.turn_id)}"
    if not hit.in_source:
        yield "no longer in its transcript"
    if hit.echo:
        yield "printed by recall"
    if hit.also_in:
        yield f"also in {counted(len(hit.also_in), 'other session')}"


def _source(hit: Hit, room: int) -> Text:
    line = f":{hit.source_line}" if hit.source_line else ""
    state = "source ok  " if hit.source_exists else "SOURCE GONE  "
    if hit.verified:
        state = "verified  "
    place = cut_path(hit.source_path, max(20, room - len(state) - len(line))) + line
    return Text.assemble((state, "dim" if hit.source_exists else "bold red"), (place, "dim"))


def _next(hit: Hit) -> Text:
    # the whole sentence is in --json; here what comes behind the name would wrap each time
    return Text(f"next: {one_line(hit.suggested_follow_up.split(' to find ')[0])}", style="dim")


def _excerpt(hit: Hit) -> Text:
    """The excerpt with its matches marked; offsets into the turn become offsets into the excerpt."""
    out = Text()
    done = 0
    for start, end, style in _styled(hit):
        out.append(_shown(hit.text[done:start]))
        out.append(_shown(hit.text[start:end]), style=style)
        done = end
    out.append(_shown(hit.text[done:]))
    return out


def _shown(text: str) -> str:
    return visible(text).replace("\r\n", "\n")


def _styled(hit: Hit) -> Iterator[tuple[int, int, str]]:
    """Places of the excerpt that are not plain: matches, markers of secrets, and the marks of gaps."""
    at = 0
    done = 0
    for start, end in hit.spans:
        if start > done:
            mark = hit.text.index("…]", at) + len("…]")
            yield at, mark, "dim"
            at = mark + 1  # a space or a line feed stands behind the mark
        longer = 0  # by how much the markers up to there exceed what they stand for
        for a, b, kind in _marked(hit, start, end):
            size = len(f"[secret: {kind}]") if kind else b - a
            yield at + a - start + longer, at + a - start + longer + size, _MASKED if kind else _MATCH
            longer += size - (b - a)
        at += end - start + longer
        done = end
    if at < len(hit.text):
        yield at, len(hit.text), "dim"


def _marked(hit: Hit, start: int, end: int) -> list[tuple[int, int, str]]:
    """Matches and secrets of a span, in order; a match has no kind."""
    matches = [(a, b, "") for a, b in hit.highlights]
    secrets = [(s.start, s.end, s.kind) for s in hit.masked]
    return sorted(part for part in matches + secrets if start <= part[0] and part[1] <= end)
