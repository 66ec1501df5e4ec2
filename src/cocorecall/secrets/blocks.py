"""Private keys as blocks of text (PEM, OpenSSH, PGP, PuTTY): whole ones, and what is left of cut ones."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cocorecall.secrets.shapes import compiled

ANCHOR = "PRIVATE KEY"
PUTTY_ANCHOR = "Private-Lines:"

_BEGIN = r"-{4,5} ?BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_END = r"-{4,5} ?END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
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
    done = 0
    for begin in compiled(_BEGIN).finditer(text):
        if begin.start() < done:
            continue
        done = _end_of(text, begin)
        if done > begin.end():
            yield begin.start(), done
    for end in compiled(_END).finditer(text):
        if end.start() >= done:
            start = _start_of(text, end.start())
            if start < end.start():
                yield start, end.end()
            done = end.end()


def _end_of(text: str, begin: re.Match[str]) -> int:
    """Where the block ends that begins there; 0 where it holds no key."""
    limit = begin.end() + _LONGEST
    end = compiled(_END).search(text, begin.end(), limit)
    again = compiled(_BEGIN).search(text, begin.end(), end.start() if end else limit)
    if end and not again:
        return end.end() if compiled(_LONG_RUN).search(text, begin.end(), end.start()) else 0
    found = compiled(_BODY).match(text, begin.end(), limit)
    return found.end() if found else 0


def _start_of(text: str, end: int) -> int:
    """Back over lines of base64 in front of an END whose BEGIN was cut off; the last line may be short."""
    start = end
    least = 1
    while start > 0 and end - start < _LONGEST:
        line = compiled(rf"[A-Za-z0-9+/=]{{{least},}}+{_BETWEEN}{{0,40}}$")
        found = line.search(text, max(0, start - _LONGEST_LINE), start)
        if not found:
            break
        start, least = found.start(), _LEAST_LINE
    return start if compiled(_LONG_RUN).search(text, start, end) else end


def putty_keys(text: str) -> Iterator[tuple[int, int]]:
    """The private lines of PuTTY's own format."""
    for found in compiled(r"Private-Lines: \d+((?:\s+[A-Za-z0-9+/=]{16,})+)").finditer(text):
        yield found.span(1)
