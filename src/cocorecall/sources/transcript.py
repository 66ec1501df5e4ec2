"""What every transcript format shares: the file, its lines, and the promise a format module keeps.

A format is one module of this package with a module constant `FORMAT`, an object that satisfies
`TranscriptFormat`. Nothing else needs to change to add one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import orjson

from cocorecall.model import Event, Skipped

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

        The first event is a `SessionHead`. Never raises for anything in the files' content: what cannot
        be used is yielded as `Skipped`. Raises `OSError` when a file cannot be opened or read.
        """


@dataclass(frozen=True, slots=True)
class Line:
    """One JSON object of a JSON-lines file with its 1-based line number."""

    number: int
    record: dict[str, Any]


def read_lines(path: Path) -> Iterator[Line | Skipped]:
    """Yield the JSON objects of a JSON-lines file, lazily: memory follows the longest line.

    A byte-order mark, CRLF ends and blank lines change nothing. A line that is not a JSON object (damaged,
    NUL bytes, too long, a bare string) is a `Skipped`. A last line without a newline that does not parse
    is still being written: it is neither yielded nor an error. The file is read up to the size it had when
    it was opened, so a growing file ends.
    """
    with path.open("rb") as file:
        left = file.seek(0, 2)
        file.seek(0)
        number = 0
        while left > 0:
            raw = file.readline(min(left, MAX_LINE + 1))
            if not raw:
                return
            left -= len(raw)
            number += 1
            if len(raw) > MAX_LINE and not raw.endswith(b"\n"):
                left -= _skip_line(file, left)
                yield Skipped(f"line longer than {MAX_LINE >> 20} MiB", number)
                continue
            if number == 1:
                raw = raw.removeprefix(_BOM)
            body = raw.strip()
            if not body:
                continue
            try:
                record = load_json(body)
            except ValueError as error:
                if raw.endswith(b"\n"):
                    yield Skipped(_why(body, error), number)
                continue
            if isinstance(record, dict):
                yield Line(number, record)
            else:
                yield Skipped("line is not a JSON object", number)


def _skip_line(file: Any, left: int) -> int:
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


def _why(body: bytes, error: ValueError) -> str:
    if not body.strip(b"\0"):
        return "line of NUL bytes"
    return f"line is not JSON ({str(error).splitlines()[0][:80]})"


def first_records(head: bytes) -> list[dict[str, Any]]:
    """The JSON objects on the whole lines at the beginning of a file; the last line may be cut."""
    records: list[dict[str, Any]] = []
    for line in head.removeprefix(_BOM).split(b"\n")[:_HEAD_LINES]:
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(record, dict):
            records.append(record)
    return records


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
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        try:
            return json.loads(raw.decode("utf-8", "replace"))
        except RecursionError:
            raise ValueError("nested too deep") from None


_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def clean(text: str) -> str:
    """Replace what SQLite or UTF-8 cannot carry (NUL, lone surrogates) by U+FFFD; the rest is verbatim.

    A surrogate *pair* that was escaped as two halves is one character and stays readable.
    """
    if text.isascii():
        return text.replace("\0", "\ufffd") if "\0" in text else text
    if not _UNSTORABLE.search(text):
        return text
    paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return paired.replace("\0", "\ufffd")


_BASE64 = re.compile(r"data:([\w.+/-]{1,80});base64,([A-Za-z0-9+/=\\n]{256,})")


def without_payloads(text: str) -> str:
    """Replace `data:…;base64,…` payloads by a marker with media type and size."""
    if ";base64," not in text:
        return text
    return _BASE64.sub(lambda m: media_marker(m[1], len(m[2])), text)


def media_marker(media_type: str, base64_length: int | None) -> str:
    """The words that stand for an image or other payload: `[image/png, 12,345 bytes]`."""
    if base64_length is None:
        return f"[{media_type}]"
    return f"[{media_type}, {base64_length * 3 // 4:,} bytes]"


_GLOBAL_ID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE)


def is_global_id(record_id: str) -> bool:
    """Whether an id holds a UUID and so names one record in the world (8 hex digits do not)."""
    return _GLOBAL_ID.search(record_id) is not None
