"""What every transcript format shares: the file, its lines, and the promise a format module keeps.

A format is one module of this package with a module constant `FORMAT`, an object that satisfies
`TranscriptFormat`. Nothing else needs to change to add one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol, runtime_checkable

import orjson

from cocorecall.model import Event, Skipped, Turn

MAX_LINE = 64 << 20
"""Bytes of the longest line (or single-document file) that is parsed; a longer one is a counted skip."""

HEAD_BYTES = 64 << 10
"""How much of a file `recognises` gets to see."""

_BOM = b"\xef\xbb\xbf"


class FileStat(NamedTuple):
    """A file of a transcript as it was when it was discovered.

    Attributes:
        location: the file's path, as text: of the thousands that have not changed none is opened.
        size: in bytes.
        mtime_ns: modification time in nanoseconds since the epoch.
    """

    location: str
    size: int
    mtime_ns: int

    @property
    def path(self) -> Path:
        """The file's path."""
        return Path(self.location)


class Transcript(NamedTuple):
    """The file or files that hold one session.

    Attributes:
        files: the file that a citation names first: where the turns are; then its companions (a sidecar).
    """

    files: tuple[FileStat, ...]

    @property
    def location(self) -> str:
        """The path of the file that a citation names, as text."""
        return self.files[0].location

    @property
    def path(self) -> Path:
        """The file that a citation names."""
        return self.files[0].path

    @property
    def companions(self) -> tuple[Path, ...]:
        """The other files."""
        return tuple(f.path for f in self.files[1:])

    @property
    def mtime(self) -> float:
        """Modification time of `path` in seconds since the epoch: the time of last resort."""
        return self.files[0].mtime_ns / 1e9


class TranscriptFormat(Protocol):
    """What a format module's `FORMAT` offers."""

    agent: str
    """Name of the agent: `cortex`, `claude`, …"""

    def default_roots(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        """Folders in which this agent keeps transcripts on this machine, existing or not."""

    def group(self, files: dict[str, FileStat]) -> list[Transcript]:
        """Take the files of one folder, by name, that belong together or can be left out.

        What the format pairs up, or knows by its name to be no transcript, it removes from `files`; what is
        left is offered to the next format, and in the end each file alone to `recognises`.
        """

    def recognises(self, transcript: Transcript, head: bytes) -> bool:
        """Whether the first `HEAD_BYTES` of the transcript's main file are of this format."""

    def parse(self, transcript: Transcript) -> Iterator[Event]:
        """Yield the transcript's events in its own order.

        A `SessionHead` stands before the turns of its session. Never raises for anything in the files' content: what cannot
        be used is yielded as `Skipped`. Raises `OSError` when a file cannot be opened or read.
        """


@runtime_checkable
class ReadsLines(Protocol):
    """What a format's `FORMAT` offers besides, where a turn can be read again without its whole file."""

    def turns_at(self, transcript: Transcript, line: int) -> Iterator[Turn]:
        """Yield the turns that begin at a line, from the records that make them, and maybe some behind them.

        Their times, order and numbers mean nothing; their texts are as `parse` yields them.
        """


class Line(NamedTuple):
    """One JSON object of a JSON-lines file.

    Attributes:
        number: 1-based line number.
        record: the object.
        offset: where the line begins in the file, in bytes: what `read_again` needs to find it.
    """

    number: int
    record: dict[str, Any]
    offset: int = 0


class Place(NamedTuple):
    """Where a line stands: kept instead of its record where lines must be put into another order."""

    number: int
    offset: int


def read_lines(path: Path, first: int = 1) -> Iterator[Line | Skipped]:
    """Yield the JSON objects of a JSON-lines file from line `first` on, lazily: memory follows the longest line.

    A byte-order mark, CRLF ends, blank lines and NUL bytes around a record change nothing. A line that is
    not a JSON object (damaged, NUL bytes alone, too long, a bare string) is a `Skipped`. A last line without
    a newline that does not parse is still being written: it is neither yielded nor an error. The file is
    read up to the size it had when it was opened, so a growing file ends.
    """
    with path.open("rb") as file:
        left = file.seek(0, 2)
        offset = _offset_of(file, first)
        file.seek(offset)
        left -= offset
        number = first - 1
        while left > 0:
            raw = file.readline(min(left, MAX_LINE + 1))
            if not raw:
                return
            number += 1
            start, length = offset, len(raw)
            if length > MAX_LINE and not raw.endswith(b"\n"):
                length += _skip_line(file, left - length)
                yield Skipped(f"line longer than {MAX_LINE >> 20} MiB", number)
                raw = b""
            offset += length
            left -= length
            item = _read_line(raw.removeprefix(_BOM) if number == 1 else raw, number, start)
            if item is not None:
                yield item


def _offset_of(file: BinaryIO, number: int) -> int:
    """Where a line begins, in bytes; the end of the file where there are fewer."""
    file.seek(0)
    offset, wanted = 0, number - 1
    while wanted > 0:
        chunk = file.read(1 << 20)
        if not chunk:
            return offset
        ends = chunk.count(b"\n")
        if ends < wanted:
            wanted -= ends
            offset += len(chunk)
            continue
        at = -1
        for _ in range(wanted):
            at = chunk.index(b"\n", at + 1)
        return offset + at + 1
    return offset


def _read_line(raw: bytes, number: int, offset: int) -> Line | Skipped | None:
    """One line as its record; None for a blank one, and for a last one that is still being written."""
    try:
        record = orjson.loads(raw) if len(raw) <= _LARGE else load_json(raw.strip(_AROUND))
    except ValueError:
        body = raw.strip(_AROUND)
        if not body:
            return Skipped("line of NUL bytes", number) if b"\0" in raw and raw.endswith(b"\n") else None
        try:
            record = load_json(body)
        except ValueError as error:
            if raw.endswith(b"\n"):
                return Skipped(f"line is not JSON ({why_not_json(error)})", number)
            return None
    if isinstance(record, dict):
        return Line(number, record, offset)
    return Skipped("line is not a JSON object", number)


_AROUND = b" \t\r\n\0"
"""What may stand around a record: a crash can leave NUL bytes in front of the next one."""


def read_again(path: Path, places: Iterable[Place]) -> Iterator[Line]:
    """Yield lines that `read_lines` yielded before, in the order of `places`.

    A parser that must bring lines into another order (the sessions of a file one after the other) keeps
    their places, not their records. A line that is no longer there is left out.
    """
    with path.open("rb") as file:
        for number, offset in places:
            file.seek(offset)
            raw = file.readline(MAX_LINE + 1)
            item = _read_line(raw.removeprefix(_BOM) if number == 1 else raw, number, offset)
            if isinstance(item, Line):
                yield item


def _skip_line(file: BinaryIO, left: int) -> int:
    """Read on to the end of an over-long line; return the bytes passed over."""
    passed = 0
    while passed < left:
        raw = file.readline(min(left - passed, 1 << 20))
        if not raw:
            break
        passed += len(raw)
        if raw.endswith(b"\n"):
            break
    return passed


def why_not_json(error: ValueError) -> str:
    """What a JSON reader complains about, short enough for a report."""
    return (str(error).splitlines() or [""])[0][:80]


def first_records(head: bytes) -> list[dict[str, Any]]:
    """The JSON objects on the whole lines at the beginning of a file; the last line may be cut."""
    records: list[dict[str, Any]] = []
    for line in head.removeprefix(_BOM).split(b"\n")[:_HEAD_LINES]:
        try:
            record = load_json(line.strip(_AROUND))
        except ValueError:
            continue
        if isinstance(record, dict):
            records.append(record)
    return records


def is_document(head: bytes) -> bool:
    """Whether a file's first line is no record by itself: then all of it is one, over several lines or long."""
    return not first_records(head.removeprefix(_BOM).lstrip(_AROUND).partition(b"\n")[0])


_HEAD_LINES = 20
"""Lines that are looked at to tell a format."""


def read_document(path: Path) -> Any:
    """The JSON value of a single-document file.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not JSON, is nested too deep, or is longer than `MAX_LINE`.
    """
    with path.open("rb") as file:
        raw = file.read(MAX_LINE + 1)
    if len(raw) > MAX_LINE:
        raise ValueError(f"file longer than {MAX_LINE >> 20} MiB")
    return load_json(raw.removeprefix(_BOM).strip())


def load_json(raw: bytes) -> Any:
    """Decode one JSON value; bytes that are not UTF-8 become U+FFFD.

    orjson refuses lone surrogates, NaN and invalid UTF-8, all of which occur in real transcripts; the
    standard library's reader accepts them, so what orjson refuses is tried again there.

    Raises:
        ValueError: not JSON; also where it is nested too deep or holds a number too long to convert.
    """
    if len(raw) <= _LARGE:
        try:
            return orjson.loads(raw)
        except orjson.JSONDecodeError:
            pass
    try:
        return json.loads(raw.decode("utf-8", "replace"))
    except RecursionError:
        raise ValueError("nested too deep") from None


_LARGE = 16 << 20
"""Bytes from which on only the standard library reads: orjson asks for twelve times as much memory at once, and
where it is refused some of it later, it ends the process."""


def clean(text: str) -> str:
    """Replace what SQLite or UTF-8 cannot carry (NUL, lone surrogates) by U+FFFD; the rest is verbatim.

    A surrogate *pair* that was escaped as two halves is one character and stays readable.
    """
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


_LONGEST_TYPE = 60


def type_name(kind: str) -> str:
    """The type of a record that nobody knows, for reports and receipts: these hold no text of transcripts."""
    return clean(kind) if len(kind) <= _LONGEST_TYPE and not any(c.isspace() for c in kind) else "(no name)"


MIN_PAYLOAD = 256
"""Characters of base64 from which on it is a payload; what is shorter may be an example in the text."""

# Base64 in lines of at least 60 characters, or in one run; a line end may be written as `\n` inside JSON.
_BASE64 = r"((?:[A-Za-z0-9+/]{60,}+(?:\r?\n|\\n))*+[A-Za-z0-9+/]*+={0,2})"
_DATA_URL = re.compile(r"data:([\w.+/-]{1,80})(?:;[\w.=-]{1,80})?;base64," + _BASE64)

_MAGIC = {
    "iVBORw0KGgo": "image/png",
    "/9j/4": "image/jpeg",
    "R0lGODlh": "image/gif",
    "R0lGODdh": "image/gif",
    "UklGR": "image/webp",
    "JVBERi0": "application/pdf",
}
"""How well-known media begin in base64: tools also print it bare, as a value in JSON."""

_BARE = re.compile(r"(?<![A-Za-z0-9+/])(?=(" + "|".join(map(re.escape, _MAGIC)) + "))" + _BASE64)
_MIN_BARE = 1024


def without_payloads(text: str) -> str:
    """Replace base64 payloads (`data:` URLs, and bare ones of well-known media) by a marker of type and size."""
    if ";base64," in text:
        text = _DATA_URL.sub(lambda m: _marked(m, m[1], MIN_PAYLOAD), text)
    if len(text) > _MIN_BARE and any(magic in text for magic in _MAGIC):
        text = _BARE.sub(lambda m: _marked(m, _MAGIC[m[1]], _MIN_BARE), text)
    return text


def _marked(match: re.Match[str], media_type: str, least: int) -> str:
    return media_marker(media_type, match[2]) if len(match[2]) >= least else match[0]


def media_marker(media_type: str, data: str | None) -> str:
    """The words that stand for an image or other payload given in base64: `[image/png, 12,345 bytes]`."""
    if data is None:
        return f"[{media_type}]"
    return f"[{media_type}, {len(data.rstrip('=')) * 3 // 4:,} bytes]"


_GLOBAL_ID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE)


def is_global_id(record_id: str) -> bool:
    """Whether an id holds a UUID and so names one record in the world (8 hex digits do not)."""
    return len(record_id) >= 32 and _GLOBAL_ID.search(record_id) is not None  # noqa: PLR2004 - a UUID's digits
