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
        said = f"There is no option {error.option_name}"
        query = _query_that_begins_with_a_dash(error.option_name, args)
        if query:
            return f"recall: {said}. To search for it: recall search -- {query}"
        if error.possibilities:
            said += f", but {' and '.join(error.possibilities)}"
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "recall"
    return f"recall: {said}. See: {path} --help"


def _query_that_begins_with_a_dash(option: str, args: list[str]) -> str:
    """The words of a search of which click took one for an option; empty where it was no search."""
    if "search" not in args:
        return ""
    words = args[args.index("search") + 1 :]
    at = next((i for i, word in enumerate(words) if word.startswith(option)), None)
    if at is None:
        return ""
    # options that were recognized stand in front of the dashes; the words stand behind
    return " ".join(shlex.quote(word) for word in words[at:] if word == words[at] or not word.startswith("-"))
