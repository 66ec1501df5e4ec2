"""The command line: one module a command, loaded when the command is called."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from cocorecall.errors import RecallError


def main() -> NoReturn:
    """Run `recall`; ends the process with the exit codes of the README."""
    _speak_utf8()
    import click  # noqa: PLC0415 - after the streams are ready

    from cocorecall.cli.command import recall_command  # noqa: PLC0415

    code = 0
    try:
        recall_command.main(standalone_mode=False, prog_name="recall")
    except click.exceptions.Exit as error:
        code = error.exit_code
    except click.Abort:
        code = 130
    except click.ClickException as error:
        code = _usage_error(error)
    except RecallError as error:
        code = _known_error(error)
    except BrokenPipeError:
        code = _closed_pipe()
    except KeyboardInterrupt:
        code = 130
    except Exception as error:  # noqa: BLE001 - the last door: no traceback unless it is asked for
        code = _unknown_error(error)
    sys.exit(code or _flushed())


def _speak_utf8() -> None:
    """Output is UTF-8 whatever the locale; what cannot be encoded never ends the process."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def _flushed() -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return _closed_pipe()
    return 0


def _closed_pipe() -> int:
    """The reader has gone (`| head`): not an error, and nothing more is written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def _debugging() -> bool:
    return "--debug" in sys.argv or os.environ.get("COCORECALL_DEBUG") == "1"


def _say(text: str) -> None:
    from cocorecall.terminal import visible  # noqa: PLC0415 - only when something went wrong

    sys.stderr.write(visible(text) + "\n")


def _known_error(error: RecallError) -> int:
    if _debugging():
        raise error
    if error.exit_code == 3:  # noqa: PLR2004 - not initialized: the exact message that CocoPlus users know
        _say("\n".join(filter(None, (error.message, error.hint))))
    else:
        _say(f"recall: {error}")
    return error.exit_code


def _usage_error(error: object) -> int:
    import click  # noqa: PLC0415

    if isinstance(error, click.NoSuchOption):
        hint = f" To search for it, write: recall search -- {error.option_name}"
        _say(f"recall: {error.format_message()}{hint if _searching() else ''} See `recall --help`.")
    elif isinstance(error, click.ClickException):
        _say(f"recall: {error.format_message().rstrip('.')}. See `recall --help`.")
    return 2


def _searching() -> bool:
    return "search" in sys.argv[1:]


def _unknown_error(error: Exception) -> int:
    if _debugging():
        raise error
    _say(
        f"recall: unexpected {type(error).__name__}: {error}. Run it again with --debug and report what it prints."
    )
    return 1
