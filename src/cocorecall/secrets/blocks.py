"""Private keys as blocks of text (PEM, OpenSSH, PGP, PuTTY): whole ones, and what is left of cut ones."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from cocorecall.secrets.shapes import compiled

_MARKER = r"-{4,5} ?(?P<side>BEGIN|END) [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_LONGEST = 20_000
"""Characters of a block: an RSA key of 16,384 bits takes 13,000."""
_BETWEEN = r"(?:[^A-Za-z0-9+/=]|\\[nrt]|\d{1,6}(?=[^A-Za-z0-9+/=]))"
"""What may stand between the lines of a key: line ends, also written as `\\n`, quotes, line numbers."""
_HEADER = r"(?:[ \t]*[A-Z][A-Za-z-]{2,20}: [^\n\\]{1,120}(?:\n|\\n))"
_LONG_RUN = r"[A-Za-z0-9+/=]{40}"
"""A whole block holds at least one such run; what holds none speaks of keys."""
_LEAST_LINE, _LONGEST_LINE = 16, 160
"""Characters of a line of a key that was cut, its indentation and end included."""
_BODY = rf"{_BETWEEN}{{0,40}}{_HEADER}{{0,6}}(?:{_BETWEEN}{{0,40}}[A-Za-z0-9+/=]{{16,}}+)+(?:{_BETWEEN}{{0,4}}[A-Za-z0-9+/=]{{1,15}}$)?"
"""What follows a BEGIN without an END."""


def private_keys(text: str) -> Iterator[tuple[int, int]]:
    """Where private keys stand: from BEGIN to END; else from BEGIN on, or up to END, as far as lines go on."""
    markers = list(compiled(_MARKER).finditer(text))
    done = 0
    for marker, following in itertools.zip_longest(markers, markers[1:]):
        if marker.start() < done:
            continue
        place = _block(text, done, marker, following)
        if place:
            yield place
            done = place[1]
        elif marker["side"] == "BEGIN" and following and following["side"] == "END":
            done = following.end()  # a pair without a key: words about keys


def _block(
    text: str, done: int, marker: re.Match[str], following: re.Match[str] | None
) -> tuple[int, int] | None:
    if marker["side"] == "END":
        start = _start_of(text, max(done, marker.start() - _LONGEST), marker.start())
        return (start, marker.end()) if start < marker.start() else None
    limit = min(marker.end() + _LONGEST, following.start() if following else len(text))
    if following and following["side"] == "END" and following.start() == limit:
        whole = compiled(_LONG_RUN).search(text, marker.end(), limit)
        return (marker.start(), following.end()) if whole else None
    found = compiled(_BODY).match(text, marker.end(), limit)
    return (marker.start(), found.end()) if found else None


def _start_of(text: str, low: int, end: int) -> int:
    """Back over lines of base64 in front of an END whose BEGIN was cut off; the last line may be short."""
    start = end
    least = 1
    while start > low:
        line = compiled(rf"[A-Za-z0-9+/=]{{{least},}}+{_BETWEEN}{{0,40}}$")
        found = line.search(text, max(low, start - _LONGEST_LINE), start)
        if not found:
            break
        start, least = found.start(), _LEAST_LINE
    return start if compiled(r"[A-Za-z0-9+/]{16}|=[^A-Za-z0-9]").search(text, start, end) else end


def putty_keys(text: str) -> Iterator[tuple[int, int]]:
    """The private lines of PuTTY's own format."""
    for found in compiled(r"Private-Lines: \d+((?:\s+[A-Za-z0-9+/=]{16,})+)").finditer(text):
        yield found.span(1)
