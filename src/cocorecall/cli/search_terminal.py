"""A search's answer for a person at a terminal: colour, highlighted matches, wrapped at the width."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from cocorecall.cli.output import home_shortened
from cocorecall.model import Hit, Results
from cocorecall.terminal import visible


def print_results(results: Results) -> None:
    """Print the answer."""
    from cocorecall.recall import Recall  # noqa: PLC0415 - the header is the plain form's

    console = Console(highlight=False, soft_wrap=False)
    head = Recall.render_header(results)
    console.print(Text(visible(head), style="bold"))
    for hit in results.hits:
        console.print()
        console.print(_citation(hit))
        console.print(_excerpt(hit))
    if results.hits:
        console.print()
        console.print(
            Text("recall show ID prints a whole session; recall search NEXT leads to others.", style="dim")
        )


def _citation(hit: Hit) -> Text:
    text = Text()
    text.append(f"{hit.rank} ", style="bold cyan")
    text.append(visible(hit.turn_id), style="cyan")
    when = hit.timestamp[:16].replace("T", " ")
    text.append(f"\n  {visible(hit.speaker_role)}, {when}, match {hit.match:.0%}  ")
    text.append(visible(hit.title or hit.cwd or hit.agent), style="dim")
    place = home_shortened(hit.source_path) + (f":{hit.source_line}" if hit.source_line else "")
    text.append(f"\n  {visible(place)} ", style="dim")
    text.append("" if hit.source_exists else "source gone ", style="bold red")
    text.append("" if hit.in_source else "no longer in its transcript ", style="yellow")
    if hit.missed:
        text.append(f"\n  missing: {visible(', '.join(hit.missed))}", style="yellow")
    text.append(f"\n  next: {visible(hit.suggested_follow_up)}", style="dim")
    return text


def _excerpt(hit: Hit) -> Text:
    """The excerpt with its matches marked; offsets into the turn become offsets into the excerpt."""
    out = Text()
    places = _places(hit)
    done = 0
    for start, end in places:
        out.append(visible(hit.text[done:start]))
        out.append(visible(hit.text[start:end]), style="bold yellow")
        done = end
    out.append(visible(hit.text[done:]))
    return out


def _places(hit: Hit) -> list[tuple[int, int]]:
    places = []
    at = 0
    for start, end in hit.spans:
        # a span stands in the excerpt as it is; between spans stand marks, which hold no match
        size = end - start
        at = _next_span(hit, at, size)
        places += [(at + a - start, at + b - start) for a, b in hit.highlights if start <= a and b <= end]
        at += size
    return places


def _next_span(hit: Hit, at: int, size: int) -> int:
    if not hit.text.startswith(("[…", "\n[…", " […"), at):
        return at
    behind = hit.text.index("…]", at) + 3
    return behind if behind + size <= len(hit.text) else at
