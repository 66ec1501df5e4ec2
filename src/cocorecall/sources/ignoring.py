"""Patterns of the sources file that keep transcripts or sessions out of the index."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

SESSION = "session:"
"""Begins a pattern of session ids; every other pattern is of paths."""


class Ignore:
    """Compiled `ignore` patterns.

    A path pattern is a glob with `/` between folders on every system: `*` and `?` stay inside one name, `**`
    stands for any folders. It names a file, or a folder with all below it. A pattern without `/` may be any
    one name of the path, as in a `.gitignore`; one that begins with neither `/`, `~`, `**` nor a drive
    counts from any folder.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        flags = re.IGNORECASE if os.name == "nt" else 0
        self._paths = [(p, re.compile(_regex(p), flags)) for p in patterns if not p.startswith(SESSION)]
        self._sessions = [
            (p, re.compile(_glob(p.removeprefix(SESSION).strip()) + r"\Z"))
            for p in patterns
            if p.startswith(SESSION)
        ]

    def __bool__(self) -> bool:
        return bool(self._paths or self._sessions)

    def path(self, path: str) -> str | None:
        """The pattern that keeps a path out, or None."""
        if not self._paths:
            return None
        text = path.replace("\\", "/") if os.name == "nt" else path
        return next((pattern for pattern, regex in self._paths if regex.match(text)), None)

    def session(self, session_id: str) -> str | None:
        """The pattern that keeps a session out, or None."""
        return next((pattern for pattern, regex in self._sessions if regex.match(session_id)), None)


def _regex(pattern: str) -> str:
    text = os.path.expanduser(pattern)  # noqa: PTH111 - a pattern is no path
    if os.name == "nt":
        text = text.replace("\\", "/")
    text = text.rstrip("/").removesuffix("/**")
    anywhere = "" if text.startswith(("/", "**")) or re.match(r"[A-Za-z]:/", text) else "(?:.*/)?"
    return f"{anywhere}{_glob(text)}(?:/.*)?\\Z"


def _glob(pattern: str) -> str:
    """A glob as a regular expression (`glob.translate` comes with Python 3.13 only)."""
    special = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(special.get(p) or re.escape(p) for p in re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", pattern))


def matches_glob(path: str, pattern: str) -> bool:
    """Whether a pattern, as in `ignore`, names a path or a folder above it."""
    return Ignore([pattern]).path(path) is not None
