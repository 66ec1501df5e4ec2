"""`recall search`."""

from __future__ import annotations

from typing import Any

import click

from cocorecall.cli.command import Settings, common_options, pass_settings
from cocorecall.cli.output import colored, on_terminal, print_json, print_text
from cocorecall.documents import search_document
from cocorecall.model import Results
from cocorecall.recall import Recall

_FILTERS = (
    "role", "agent", "phase", "tool", "since", "until", "here", "path", "session", "function", "outcome_type",
    "outcome_status", "entity", "metric", "stage",
)  # fmt: skip
"""Options that can stand alone, without words."""


@click.command("search", context_settings={"ignore_unknown_options": False})
@click.argument("words", nargs=-1, required=False)
@click.option("--all", "every", is_flag=True, help="Every matching turn, not the best of each session.")
@click.option("--session", metavar="ID", help="Only this session (a beginning of its id will do).")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most so many hits.")
@click.option(
    "--budget", type=click.IntRange(min=1), metavar="N", help="At most so many tokens (default 1000)."
)
@click.option("--full", is_flag=True, help="Whole turns instead of excerpts.")
@click.option("--explain", is_flag=True, help="Show how each score came about.")
@click.option("--echo", is_flag=True, help="Find earlier CocoRecall output too.")
@click.option("--include-current", is_flag=True, help="Find the asking session too.")
@click.option("--reveal", is_flag=True, help="Show secrets instead of masking them.")
@click.option("--role", multiple=True, metavar="NAME", help="user, assistant, tool, system, or a speaker.")
@click.option("--agent", multiple=True, metavar="NAME", help="cortex, claude, …")
@click.option("--phase", multiple=True, metavar="NAME", help="Sessions of this CocoPlus phase.")
@click.option("--tool", multiple=True, metavar="NAME", help="Turns that call this tool.")
@click.option("--since", metavar="WHEN", help="From then on: 2026-05-14, 7d, yesterday, …")
@click.option("--until", metavar="WHEN", help="Up to the end of then.")
@click.option("--here", is_flag=True, help="Sessions that worked in this folder or below.")
@click.option("--path", multiple=True, metavar="GLOB", help="Transcripts whose path holds or matches this.")
@click.option("--function", multiple=True, metavar="NAME", help="Turns that touch or name this function.")
@click.option("--outcome-type", multiple=True, metavar="TYPE", help="Contracts of this type: e2e, unit, …")
@click.option("--outcome-status", multiple=True, metavar="STATE", help="pass, fail, stale or absent.")
@click.option("--entity", multiple=True, metavar="[TYPE:]NAME", help="Turns that mention this.")
@click.option("--metric", multiple=True, metavar="NAME", help="Turns that state a value of this metric.")
@click.option("--stage", multiple=True, metavar="ID", help="Pre-mortems of this stage.")
@click.option("--verify", is_flag=True, help="Say of each hit whether its source still holds it.")
@common_options
@pass_settings
def command(settings: Settings, /, words: tuple[str, ...], **options: Any) -> None:
    """Find the turns that answer a question, verbatim and cited.

    \b
    WORDS        any may match; rarer and more of them rank higher
    "a phrase"   +must   -without   prefix*   role:user   since:7d
    Anything else is literal. A query that begins with a dash: recall search -- -foo
    """  # noqa: D301 - click's own mark for lines that stay as they are
    query = " ".join(words)
    if not query.strip() and not any(options[k] for k in _FILTERS):
        raise click.UsageError("Say what to search for: recall search WORDS, or give a filter")
    every, budget = options.pop("every"), options.pop("budget")
    if budget is None and not (options["full"] or options["limit"]):
        budget = 1000
    with settings.open() as recall:
        results = recall.search(query, all=every, budget=budget, **options)
    if settings.json:
        print_json("search", search_document(results))
    elif on_terminal():
        from cocorecall.cli.search_terminal import print_results  # noqa: PLC0415 - loads rich

        print_results(results, color=colored(settings))
    else:
        print_text(Recall.render(results))
    if options["explain"] and not settings.json:
        print_text(explained(results))


def explained(results: Results) -> str:
    """A table of every factor and word of every hit."""
    lines = ["", "How the scores came about:"]
    for hit in results.hits:
        if hit.explanation is None:
            continue
        lines.append(f"[{hit.rank}] {hit.turn_id}  score {hit.score:.3f}, match {hit.match:.2f}")
        lines += [f"    {f.name:<28} {f.value:>8.3f}" for f in hit.explanation.factors]
        lines.append(f"    {'word':<28} {'idf':>8} {'window':>8} {'here':>5} {'adds':>8}")
        lines += [
            f"    {t.term[:28]:<28} {t.idf:>8.3f} {t.frequency:>8.2f} {t.own:>5} {t.score:>8.3f}"
            for t in hit.explanation.terms
        ]
    return "\n".join(lines)
