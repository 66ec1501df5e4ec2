"""What an agent's hooks run: `recall hook session-start|stop|session-end|pre-compact`.

A hook stands between a person and their agent. So it never disturbs: it ends with 0 whatever happens, prints nothing
(or one JSON document, where the event wants it), does nothing where CocoPlus is not, and hands every longer piece of
work to a process of its own. What goes wrong is a line of `.cocoplus/hook-errors.log`, which `recall status` names.

The Stop hook runs after every turn of every session: until something is due, this module loads what the interpreter
has loaded already, and little else.

Input (Claude Code, Cortex Code, Codex, Cursor; see the README): JSON on standard input with `session_id`,
`transcript_path`, `cwd`, `hook_event_name` and more. Nothing of it is required.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

EVENTS = ("session-start", "stop", "session-end", "pre-compact")
OURS = "COCORECALL_HOOK"
"""Set in the environment of what a hook started: a hook in there does nothing."""
ERRORS = "hook-errors.log"
MARK = "recall hook"
"""What our lines in that log, which CocoPlus's hooks write to as well, begin with behind their time."""

_MAX_INPUT = 64 << 20
_MAX_LOG = 64 << 10
_KEPT_LOG = 32 << 10
_STARTED = os.path.join("recall", "hook-import")
"""Beside the receipts: the session that last had an import started, and by the file's time when."""
_AGAIN_SECONDS = 30.0
"""How soon the end of the same session has another import started."""
_COMPACTED_SECONDS = 3.0
"""How soon its compaction has: what it drops from the transcript must be read before."""
_MISSED_SECONDS = 600.0
"""How soon a new session looks for what an earlier end has missed."""
_TRIES = 3
"""How often an import waits for one that is running, which may have passed this session's file already."""
_DETACHED_PROCESS = 0x00000008
_CREATE_NEW_PROCESS_GROUP = 0x00000200
_CREATE_NO_WINDOW = 0x08000000


def main(args: list[str]) -> int:
    """Run one hook; always 0."""
    if os.environ.get(OURS) or not args or args[0] not in EVENTS:
        return 0
    home = None
    try:
        given, problem = _read_input()
        home = _home(given.get("cwd"))
        if home is None:
            return 0
        if problem:
            report(home, args[0], problem)
        _run(args[0], home, given)
    except Exception as error:  # noqa: BLE001 - a hook never disturbs its host
        if home is not None:
            report(home, args[0], f"{type(error).__name__}: {error}")
    return 0


def _run(event: str, home: str, given: dict[str, Any]) -> None:
    if event == "stop":
        _stop(home, given)
    elif event == "session-start":
        start_import(home, given, again=_MISSED_SECONDS, any_session=True)  # what an earlier end has missed
        _greet(home, given)
    else:
        start_import(home, given, again=_COMPACTED_SECONDS if event == "pre-compact" else _AGAIN_SECONDS)


# --- what the host says ----------------------------------------------------------------------------


def _read_input() -> tuple[dict[str, Any], str]:
    """(what stands on standard input, what is wrong with it); nothing at all is nothing wrong."""
    stdin = getattr(sys.stdin, "buffer", None)
    if stdin is None or sys.stdin.isatty():
        return {}, ""
    data = stdin.read(_MAX_INPUT)
    if not data.strip():
        return {}, ""
    import json  # noqa: PLC0415 - a host that sends nothing needs none

    try:
        given = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return {}, "standard input is not JSON"
    return (given, "") if isinstance(given, dict) else ({}, "standard input is no JSON object")


def _home(cwd: Any) -> str | None:
    """The `.cocoplus` folder at or above the host's working directory, or ours."""
    folder = cwd if isinstance(cwd, str) and "\0" not in cwd and os.path.isdir(cwd) else os.getcwd()
    folder = os.path.abspath(folder)
    while True:
        home = os.path.join(folder, ".cocoplus")
        if os.path.isdir(home):
            return home
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


# --- stop: is a consolidation due? -------------------------------------------------------------------


def _stop(home: str, given: dict[str, Any]) -> None:
    from cocorecall.lifecycle import append_log, is_due, mark_consolidation, now_ms  # noqa: PLC0415

    now = now_ms()
    if not is_due(home, now):
        return
    session = given.get("session_id")
    entry = {
        "ts": _iso(now / 1000),
        "session_id": session if isinstance(session, str) else None,
        "phases": ["orient", "gather", "consolidate", "prune"],
        "status": "requested",
        "trigger": "stop-hook",
    }
    mark_consolidation(home, now)  # first: where it cannot be written, not every turn asks again
    append_log(home, entry)


def _iso(seconds: float) -> str:
    """A time as the index writes it; `datetime` would cost a millisecond."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds % 1 * 1000):03d}Z"


# --- imports in a process of their own ---------------------------------------------------------------


def start_import(home: str, given: dict[str, Any], *, again: float, any_session: bool = False) -> bool:
    """Start an import that outlives the host, unless one has just been started; whether it was.

    Args:
        home: the project's `.cocoplus`.
        given: the host's input.
        again: seconds before the same session has another one started.
        any_session: whether an import that another session started will do as well.
    """
    session = given.get("session_id")
    name = session if isinstance(session, str) else ""
    if not _may_start(home, name, again, any_session=any_session):
        return False
    import subprocess  # noqa: PLC0415 - only here

    root = os.path.dirname(home)
    options: dict[str, Any] = (
        {"creationflags": _DETACHED_PROCESS | _CREATE_NEW_PROCESS_GROUP | _CREATE_NO_WINDOW}
        if sys.platform == "win32"
        else {"start_new_session": True}
    )
    subprocess.Popen(  # noqa: S603 - our own program
        # -P: what lies in the project's folder is never imported
        [sys.executable, "-P", "-m", "cocorecall.hooks", root],
        cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=True,
        env=os.environ | {OURS: "import", "PYTHONPATH": _python_path()}, **options,
    )  # fmt: skip
    return True


def _python_path() -> str:
    """Where this very package lies, and what was set."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))


def _may_start(home: str, session: str, again: float, *, any_session: bool) -> bool:
    """Note that an import is started, unless one was a moment ago."""
    path = os.path.join(home, _STARTED)
    try:
        age = time.time() - os.stat(path).st_mtime
        with open(path, encoding="utf-8", errors="replace") as file:
            same = file.read() == session
        if 0 <= age < again and (same or any_session):
            return False
    except OSError:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8", errors="replace") as file:
        file.write(session)
    return True


def _import(root: str) -> None:
    """The detached process: one import; another one that is running does the work as well."""
    from cocorecall.errors import BusyError, RecallError  # noqa: PLC0415 - in this process only
    from cocorecall.recall import Recall  # noqa: PLC0415 - likewise

    home = os.path.join(root, ".cocoplus")
    try:
        for _ in range(_TRIES):
            try:
                with Recall.open(root) as recall:
                    recall.import_sources()
            except BusyError:
                continue
            return
    except RecallError as error:
        report(home, "import", str(error))
    except Exception as error:  # noqa: BLE001 - nobody sees this process; the log is read by `recall status`
        report(home, "import", f"{type(error).__name__}: {error}")


# --- session-start: one line of context, if wanted -----------------------------------------------------


def _greet(home: str, given: dict[str, Any]) -> None:
    settings = os.path.join(os.path.dirname(home), "cocoplus.toml")
    if not os.path.isfile(settings):
        return
    from cocorecall.project import find_project, read_settings  # noqa: PLC0415 - only where there are settings

    place = find_project(_path(os.path.dirname(home)))
    if read_settings(place).get("session_start_context") is not True:
        return
    import json  # noqa: PLC0415 - loaded with the input, mostly

    from cocorecall.recall import Recall  # noqa: PLC0415 - only where it is wanted

    with Recall(place) as recall:
        sessions = recall.sessions_indexed()
    noun = "session" if sessions == 1 else "sessions"
    line = (
        f"CocoRecall: {sessions:,} earlier {noun} can be searched, verbatim and cited: $recall search WORDS."
    )
    event = given.get("hook_event_name")
    if event == "sessionStart":  # Cursor
        answer: dict[str, Any] = {"additional_context": line}
    else:
        answer = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": line}}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _path(text: str) -> Any:
    from pathlib import Path  # noqa: PLC0415 - only where it is loaded anyway

    return Path(text)


# --- what went wrong -----------------------------------------------------------------------------------


def report(home: str, event: str, reason: str) -> None:
    """Append a line to the log of hooks' errors, which keeps its newest part; fails silently: there is nobody to tell."""
    line = f"{_iso(time.time())} {MARK} {event}: {' '.join(reason.split())[:500]}\n"
    path = os.path.join(home, ERRORS)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with open(descriptor, "ab+") as file:
            file.write(line.encode("utf-8", "replace"))
            size = file.tell()
        if size > _MAX_LOG:
            _shorten(path)
    except OSError:
        return


def _shorten(path: str) -> None:
    with open(path, "rb") as file:
        kept = file.read()[-_KEPT_LOG:].partition(b"\n")[2]
    beside = f"{path}.{os.getpid()}.tmp"
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(kept)
    os.replace(beside, path)


if __name__ == "__main__":
    _import(sys.argv[1])
