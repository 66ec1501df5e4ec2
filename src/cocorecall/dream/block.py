"""The managed block of `MEMORY.md`: found, read and replaced; every other byte stays as it was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocorecall.errors import RecallError

if TYPE_CHECKING:
    from collections.abc import Sequence

BEGIN = "<!-- cocorecall:dream:begin -->"
END = "<!-- cocorecall:dream:end -->"
_BOM = b"\xef\xbb\xbf"


class MemoryBlockError(RecallError):
    """`MEMORY.md` does not have exactly one well-formed managed block, or none."""


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """`MEMORY.md` in three parts, as bytes.

    Attributes:
        before: everything up to the block, the opening marker's line included.
        body: the lines between the markers, with their line ends.
        after: the closing marker's line and everything below it.
        line_end: how lines of the block end in this file, CRLF or LF.
    """

    before: bytes
    body: bytes
    after: bytes
    line_end: bytes

    def lines(self) -> list[str]:
        """The block's lines without line ends; bytes that are not UTF-8 survive a round trip."""
        return [line.decode("utf-8", "surrogateescape") for line in self.body.splitlines()]

    def with_lines(self, lines: Sequence[str]) -> bytes:
        """The whole file with `lines` as the block.

        Raises:
            ValueError: a line holds a line break or is itself a marker.
        """
        encoded = [line.encode("utf-8", "surrogateescape") for line in lines]
        for line in encoded:
            if b"\n" in line or b"\r" in line or _is(line, BEGIN) or _is(line, END):
                raise ValueError("a line of the block holds a line break or a marker")
        return self.before + b"".join(line + self.line_end for line in encoded) + self.after


def parse(data: bytes) -> MemoryFile:
    """Split the bytes of a `MEMORY.md`; without a block, an empty one is placed at its end.

    Raises:
        MemoryBlockError: one marker only, several blocks, or the markers in the wrong order.
    """
    line_end = b"\r\n" if b"\r\n" in data else b"\n"
    lines = data.splitlines(keepends=True)
    begins = [n for n, line in enumerate(lines) if _is(line, BEGIN)]
    ends = [n for n, line in enumerate(lines) if _is(line, END)]
    if not begins and not ends:
        gap = line_end if data and not data.endswith((b"\n", b"\r")) else b""
        before = data + gap + BEGIN.encode() + line_end
        return MemoryFile(before, b"", END.encode() + line_end, line_end)
    if len(begins) != 1 or len(ends) != 1 or begins[0] > ends[0]:
        raise MemoryBlockError(
            f"The memory file has {len(begins)} opening and {len(ends)} closing markers, "
            "or they are in the wrong order.",
            f"Leave one '{BEGIN}' line with one '{END}' line below it, or remove them all.",
        )
    first, last = begins[0] + 1, ends[0]
    return MemoryFile(b"".join(lines[:first]), b"".join(lines[first:last]), b"".join(lines[last:]), line_end)


def _is(line: bytes, marker: str) -> bool:
    return line.removeprefix(_BOM).strip() == marker.encode()
