"""The `recall` command: its help, the options that every command takes, and the commands' names."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from cocorecall.recall import Recall

COMMANDS = {
    "search": ("cocorecall.cli.search_command", "Find the turns that answer a question, verbatim and cited."),
    "show": ("cocorecall.cli.show_command", "Print a session, or one turn, as it was said."),
    "facets": ("cocorecall.cli.facets_command", "Say what there is to filter by, with counts."),
    "timeline": ("cocorecall.cli.timeline_command", "Tell what happened to one function or object."),
    "fix": ("cocorecall.cli.fix_command", "Find how the same error was solved before."),
    "premortems": ("cocorecall.cli.premortems_command", "List what was feared before stages ran."),
    "import": ("cocorecall.cli.import_command", "Bring new and changed transcripts into the index."),
    "sources": ("cocorecall.cli.sources_command", "List, add, remove or detect places of transcripts."),
    "status": ("cocorecall.cli.status_command", "Say what is indexed, what waits, and what is wrong."),
    "dream": ("cocorecall.cli.dream_command", "Keep what recent sessions say in MEMORY.md, cited."),
    "export": ("cocorecall.cli.export_command", "Write sessions out, to keep, to read, or to import."),
    "backup": ("cocorecall.cli.backup_command", "Write the whole index into one file."),
    "restore": ("cocorecall.cli.restore_command", "Put a backup in the index's place."),
    "verify": ("cocorecall.cli.verify_command", "Compare what is indexed with what the sources say."),
    "secrets": ("cocorecall.cli.secrets_command", "Say where the index holds secrets; never their values."),
    "doctor": ("cocorecall.cli.doctor_command", "Examine the index; --fix mends it."),
    "forget": ("cocorecall.cli.forget_command", "Remove sessions from the index for good."),
    "install": ("cocorecall.cli.install_command", "Put skill, hooks and MCP server where an agent looks."),
    "uninstall": ("cocorecall.cli.uninstall_command", "Take out exactly what install put in."),
    "mcp": ("cocorecall.cli.mcp_command", "Serve an agent over MCP, on standard input and output."),
    "hook": ("cocorecall.cli.hook_command", "What agents' hooks run; not for people."),
    "completion": (
        "cocorecall.cli.completion_command",
        "Print the script that completes recall in your shell.",
    ),
}
"""Commands in the order of the help: their modules, loaded when called, and one line each."""

GROUPS = {
    "Find": "search show facets timeline fix premortems",
    "Keep": "import sources status dream export backup restore",
    "Trust": "verify secrets doctor forget",
    "Agents": "install uninstall mcp hook completion",
}
"""The commands as the help groups them."""

HELP = """Find the one turn in a thousand agent transcripts: verbatim, cited, local.

\b
  recall import                              index what is new
  recall search why is the threshold 0.85    the best turn of each session
  recall show 7f3a --around 2                the turns around its matches
"""


@dataclass(slots=True)
class Settings:
    """Options that stand before or behind a command's name."""

    personal: bool = False
    project: str = "."
    json: bool = False
    debug: bool = False
    color: bool | None = None

    def open(self) -> Recall:
        """The index that the options name.

        Raises:
            NotInitializedError: no `.cocoplus/` at or above the folder.
        """
        return Recall.personal() if self.personal else Recall.open(self.project)


def _set(name: str, *, value: Any = None) -> Callable[[click.Context, click.Parameter, Any], None]:
    def callback(context: click.Context, _: click.Parameter, given: Any) -> None:
        if given:
            setattr(context.ensure_object(Settings), name, given if value is None else value)

    return callback


def common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that every command takes."""
    options = (
        click.option("--global", is_flag=True, expose_value=False, callback=_set("personal", value=True),
                     help="Use your personal index of all projects."),
        click.option("--project", metavar="DIR", expose_value=False, callback=_set("project"),
                     help="Use the project at or above DIR instead of here."),
        click.option("--json", is_flag=True, expose_value=False, callback=_set("json", value=True),
                     help="Print one JSON document."),
        click.option("--no-color", is_flag=True, expose_value=False, callback=_set("color", value=False),
                     help="No colour, on a terminal either."),
        click.option("--debug", is_flag=True, expose_value=False, callback=_set("debug", value=True),
                     help="Show the traceback of an error."),
    )  # fmt: skip
    for option in reversed(options):  # the last one applied stands first in the help
        command = option(command)
    return command


pass_settings = click.make_pass_decorator(Settings, ensure=True)


class LazyGroup(click.Group):
    """Knows its commands by name and imports the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands, in the order of the help."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(COMMANDS[cmd_name][0]).command
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by group, without importing them."""
        del ctx
        for title, names in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<10}", COMMANDS[name][1]) for name in names.split()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the ones that are like it."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            import difflib  # noqa: PLC0415 - only for a wrong name

            near = difflib.get_close_matches(name, COMMANDS, n=1)
            hint = f"The nearest is: recall {near[0]}" if near else f"To search for it: recall search {name}"
            raise click.UsageError(f"There is no command {name!r}. {hint}", ctx)
        return super().resolve_command(ctx, args)


def _version(context: click.Context, _: click.Parameter, given: bool) -> None:  # noqa: FBT001 - click's way
    if given:
        from cocorecall._version import __version__  # noqa: PLC0415

        click.echo(f"recall {__version__}")
        context.exit()


@click.command(
    "recall",
    cls=LazyGroup,
    help=HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Print the version."
)
@common_options
def recall_command() -> None:
    """Hold the common options; each command does its work."""
