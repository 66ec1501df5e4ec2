"""`recall sources`: list, add, remove, detect."""

from __future__ import annotations

from dataclasses import asdict

import click

from cocorecall.cli.command import Settings, common_options, pass_settings
from cocorecall.cli.output import counted, day_and_minute, home_shortened, print_json, print_text
from cocorecall.model import SourceReport


@click.group("sources", invoke_without_command=True)
@common_options
@click.pass_context
def command(context: click.Context) -> None:
    """List, add, remove or detect places of transcripts."""
    if context.invoked_subcommand is None:
        _list(context.ensure_object(Settings))


@command.command("list")
@common_options
@pass_settings
def list_command(settings: Settings) -> None:
    """List the places, with what is indexed from each."""
    _list(settings)


def _list(settings: Settings) -> None:
    with settings.open() as recall:
        patterns = recall.ignored()
        sources = recall.sources()
    if settings.json:
        print_json("sources", {"sources": [asdict(s) for s in sources], "ignore": list(patterns)})
        return
    _print(settings, sources, "No sources: `recall sources detect` shows agents' folders.")
    for pattern in patterns:
        print_text(f"Ignored: {pattern}")


@command.command("add")
@click.argument("path")
@click.option("--agent", help="Whose transcripts they are; else told from the files.")
@click.option("--description", help="Words for people.")
@common_options
@pass_settings
def add_command(settings: Settings, path: str, agent: str | None, description: str | None) -> None:
    """Add a place to the sources file."""
    with settings.open() as recall:
        added = recall.add_source(path, agent=agent, description=description)
    if settings.json:
        print_json("sources", {"sources": [asdict(added)]})
        return
    missing = "" if added.exists else " It does not exist yet."
    print_text(f"Added {path}.{missing} Next: recall import")


@command.command("remove")
@click.argument("path")
@common_options
@pass_settings
def remove_command(settings: Settings, path: str) -> None:
    """Take a place out of the sources file; what is indexed stays."""
    with settings.open() as recall:
        recall.remove_source(path)
        left = recall.sources()
    if settings.json:
        print_json("sources", {"sources": [asdict(s) for s in left]})
    else:
        print_text(f"Removed {path}. What was indexed from it stays: `recall forget` removes sessions.")


@command.command("detect")
@common_options
@pass_settings
def detect_command(settings: Settings) -> None:
    """Show known agents' folders on this machine that are not configured."""
    with settings.open() as recall:
        _print(settings, recall.detect_sources(), "No further agents' folders on this machine.")


@command.command("ignore")
@click.argument("pattern")
@common_options
@pass_settings
def ignore_command(settings: Settings, pattern: str) -> None:
    """Keep transcripts whose path matches PATTERN, or `session:ID`, out of coming imports."""
    with settings.open() as recall:
        patterns = recall.ignore(pattern)
    _print_patterns(
        settings, patterns, f"Coming imports leave out {pattern}. What is indexed stays: recall forget"
    )


@command.command("unignore")
@click.argument("pattern")
@common_options
@pass_settings
def unignore_command(settings: Settings, pattern: str) -> None:
    """Take a pattern away again."""
    with settings.open() as recall:
        patterns = recall.unignore(pattern)
    _print_patterns(settings, patterns, f"No longer left out: {pattern}. Next: recall import")


def _print_patterns(settings: Settings, patterns: tuple[str, ...], said: str) -> None:
    if settings.json:
        print_json("sources", {"ignore": list(patterns)})
    else:
        print_text(said)


def _print(settings: Settings, sources: tuple[SourceReport, ...], none: str) -> None:
    if settings.json:
        print_json("sources", {"sources": [asdict(s) for s in sources]})
        return
    print_text("\n".join(_line(s) for s in sources) or none)


def _line(source: SourceReport) -> str:
    facts = [source.agent or "agent told from the files"]
    facts.append(f"{counted(source.sessions, 'session')}, {counted(source.turns, 'turn')}")
    facts.append(
        f"last import {day_and_minute(source.last_import)}" if source.last_import else "never imported"
    )
    facts += [] if source.exists else ["MISSING"]
    facts += [] if source.configured else ["not configured: default"]
    lines = [home_shortened(source.path), "  " + " · ".join(facts)]
    return "\n".join([*lines, *([f"  {source.description}"] if source.description else [])])
