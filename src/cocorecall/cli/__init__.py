"""The command line: one module a command, loaded when the command is called."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

_INTERRUPTED = 130
"""What a shell expects of a process that Ctrl-C ended."""


def main() -> NoReturn:
    """Run `recall`; ends the process with the exit codes of the README."""
    sys.exit(_exit_code())


def _exit_code() -> int:
    if sys.argv[1:2] == ["hook"] and len(sys.argv) == 3:  # noqa: PLR2004 - `recall hook EVENT`
        # runs after every turn of an agent: before anything is loaded that it does not need
        from cocorecall.hooks import main as hook  # noqa: PLC0415

        if sys.argv[2] not in ("-h", "--help"):
            return hook(sys.argv[2:])
    try:
        _prepare_streams()
        code = _run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        code = _closed_pipe()
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except OSError as error:
        code = _failed_write(error)
    return code


def _prepare_streams() -> None:
    """Output is UTF-8 whatever the locale; a stream that the caller closed swallows what it is given."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - to the end
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def _run(args: list[str]) -> int:
    import click  # noqa: PLC0415 - after the streams are ready

    from cocorecall.cli.command import recall_command  # noqa: PLC0415
    from cocorecall.errors import RecallError  # noqa: PLC0415

    if "_RECALL_COMPLETE" in os.environ:
        recall_command.main(prog_name="recall", complete_var="_RECALL_COMPLETE")
    try:
        # not click's own `main`: it ends with 1 and no word when the reader of a pipe has gone
        with recall_command.make_context("recall", args) as context:
            recall_command.invoke(context)
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.Abort:
        return _INTERRUPTED
    except (click.ClickException, RecallError, BrokenPipeError) as error:
        return _reported(error)
    except Exception as error:  # noqa: BLE001 - the last door: no traceback unless it is asked for
        return _reported(error)
    return 0


def _reported(error: Exception) -> int:
    """Say what is wrong on stderr, and give the exit code."""
    import click  # noqa: PLC0415

    from cocorecall.errors import NotInitializedError, RecallError  # noqa: PLC0415 - a hook loads nothing

    if isinstance(error, BrokenPipeError):
        raise error
    if "--debug" in sys.argv or os.environ.get("COCORECALL_DEBUG") == "1":
        import traceback  # noqa: PLC0415 - only when asked for

        _say("".join(traceback.format_exception(error)).rstrip("\n"))
    if isinstance(error, click.ClickException):
        from cocorecall.cli.usage import explained  # noqa: PLC0415 - only for a wrong call

        _say(explained(error, sys.argv[1:]))
        return 2
    if isinstance(error, NotInitializedError):
        # the exact message that CocoPlus users know, on a line of its own
        _say("\n".join(filter(None, (error.message, error.hint))))
        return error.exit_code
    if isinstance(error, RecallError):
        _say(f"recall: {error}")
        return error.exit_code
    _say(_unexpected(error))
    return 1


def _unexpected(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        place = f": {error.filename}" if error.filename else ""
        return f"recall: {error.strerror}{place}."
    return f"recall: Unexpected {type(error).__name__}: {error}. Run it again with --debug and report what it prints."


def _say(text: str) -> None:
    from cocorecall.terminal import visible  # noqa: PLC0415 - only when something went wrong

    sys.stderr.write(visible(text) + "\n")


def _closed_pipe() -> int:
    """The reader has gone (`| head`): not an error, and nothing more is written."""
    _discard_output()
    return 0


def _failed_write(error: OSError) -> int:
    _discard_output()
    _say(f"recall: The output could not be written: {error.strerror or error}.")
    return 1


def _discard_output() -> None:
    """Let what is still buffered go nowhere, or the interpreter would complain of it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
