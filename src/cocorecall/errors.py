"""Everything a user can cause, as one family of exceptions.

Each carries what is wrong (`message`), what to do about it (`hint`) and the exit code that the
command line ends with (`design`: 1 it failed, 2 wrong usage, 3 not initialized).
"""

from __future__ import annotations

from typing import Literal


class RecallError(Exception):
    """Something went wrong that the user can understand and act on.

    Attributes:
        message: one sentence that says what is wrong.
        hint: one sentence that says what to do, or an empty string.
        exit_code: the process exit status of a command that ends with this error.
    """

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class NotInitializedError(RecallError):
    """No `.cocoplus/` folder at or above the working directory."""

    exit_code = 3


class UsageError(RecallError):
    """A command or call was given something it cannot use: an ambiguous id, an unreadable date."""

    exit_code = 2


class BusyError(RecallError):
    """Somebody else holds the import lock."""


class IndexDamagedError(RecallError):
    """The index file is not a sound database.

    Attributes:
        damage: `file` where the database is damaged, `words` where only its full-text index is, and None
            where the file is sound but holds something else than our tables.
    """

    def __init__(
        self, message: str, hint: str = "", *, damage: Literal["file", "words"] | None = None
    ) -> None:
        super().__init__(message, hint)
        self.damage = damage


class IndexTooNewError(RecallError):
    """The index was written by a newer CocoRecall; it is left untouched."""


class SourceConfigError(RecallError):
    """The sources file cannot be read or says something that makes no sense."""

    exit_code = 2
