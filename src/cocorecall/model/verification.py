"""What `verify` and `export` return: how turns compare with their sources, and what was written out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["verified", "changed", "moved", "missing", "unverifiable"]
"""`verified`: the source holds the same text at the same place; `changed`: another text; `moved`: the same text
at another line, number or file; `missing`: no longer there; `unverifiable`: it could not be compared."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a turn's text and its source part.

    Attributes:
        field: `text`, or `calls` for the inputs of the turn's tool calls.
        offset: the first character that differs, in characters from 0.
        line: 1-based line of that character in the stored text.
        column: 1-based character in that line.
        start: where the two excerpts begin.
        stored: an excerpt of what is stored, verbatim.
        source: the same stretch of what the source now says, verbatim.
        stored_length: true length of the stored text in characters.
        source_length: true length of the source's text.
    """

    field: str
    offset: int
    line: int
    column: int
    start: int
    stored: str
    source: str
    stored_length: int
    source_length: int


@dataclass(frozen=True, slots=True)
class CheckedTurn:
    """How one turn compares with its source.

    Attributes:
        reason: why a turn is missing, moved or unverifiable, in words for a person; None where the verdict
            says all.
        source_path: the transcript that the index names.
        source_line: the line that the index names; None where the format has none.
        text_hash: SHA-256 of the stored text.
        found_path: where the turn was found, if not in `source_path`.
        found_line: its line there, where the format has lines.
        found_seq: its place in the transcript, counted in turns from 0.
        difference: where the texts part, for `changed`.
    """

    turn_id: str
    session_id: str
    seq: int
    verdict: Verdict
    source_path: str
    source_line: int | None
    text_hash: str
    reason: str | None = None
    found_path: str | None = None
    found_line: int | None = None
    found_seq: int | None = None
    difference: Difference | None = None


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The answer to `verify`.

    Attributes:
        scope: `turn`, `session`, `all` or `cited`.
        days: how far back the citations go, for `cited`.
        turns: turns that were compared.
        counts: turns by verdict, every verdict named.
        transcripts_read: files that were read for it.
        forgotten: cited turns that are no longer in the index, for `cited`.
        listed: the turns one by one: all that were asked for; for `all` and `cited` those not verified.
        not_listed: turns left out of `listed` because there are too many; they are counted.
    """

    scope: str
    days: int | None
    turns: int
    counts: Mapping[str, int]
    transcripts_read: int
    forgotten: int
    listed: tuple[CheckedTurn, ...]
    not_listed: int = 0


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """One file that an export wrote.

    Attributes:
        path: the file; None for the standard output.
        turns: how many turns it holds.
        not_in_source: how many of them their agent's transcript no longer holds.
        masked: how many of them have secrets masked, so that they cannot be imported again.
    """

    session_id: str
    path: str | None
    turns: int
    not_in_source: int
    masked: int
    bytes: int


@dataclass(frozen=True, slots=True)
class ExportReport:
    """The answer to `export`."""

    format: str
    sessions: int
    turns: int
    files: tuple[ExportedFile, ...] = field(default=())
