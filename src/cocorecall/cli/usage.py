"""What is said to somebody who called `recall` wrongly."""

from __future__ import annotations

import shlex

import click


def explained(error: click.ClickException, args: list[str]) -> str:
    """One line: what is wrong, and what to write instead. A bare `recall` gets the help.

    Args:
        error: what click found.
        args: the command line, without the program's name.
    """
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return error.format_message()
    said = error.format_message().rstrip(".")
    if isinstance(error, click.NoSuchOption):
        word = _typed(error.option_name, args)
        said = f"There is no option {word}"
        if error.possibilities:
            said += f", but {' and '.join(sorted(error.possibilities))}"
        if word in args and "search" in args[: args.index(word)]:
            return f"recall: {said}. To search for it: recall search -- {shlex.quote(word)}"
    context = getattr(error, "ctx", None)
    return f"recall: {said}. See: {context.command_path if context else 'recall'} --help"


def _typed(option: str, args: list[str]) -> str:
    """The word that click took for an option: of `-foo` it names `-f` only."""
    return next((word for word in args if word.startswith(option)), option)
