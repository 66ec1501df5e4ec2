"""Where a text may be cut: borders of lines, sentences, words and of what is read as one character."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from cocorecall.model import Span

LINE_ENDS = "\n\r"


# --- lines and sentences -----------------------------------------------------------------------------------

_BORDER = re.compile(
    r"[\r\n](?:[ \t]*[\r\n])*|[.!?…][\"'”’»)\]*_`]*[ \t]+(?=\S)|[。！？｡][」』）】”’]*",
)
"""What ends a line or a sentence; the next begins behind it. Lines that are blank belong to the end."""
_ABBREVIATED = frozenset("e.g i.e vs cf Dr Mr Mrs Ms No".split())
_ROW = re.compile(r"[ \t|\[{(<#@+/]|\d\d")
"""How lines begin that are rows of tables, logs or code: their sentences are not cut apart without need."""
_LONGEST_ROW = 2_000
_LOOK_BACK = 300


def _borders(text: str, low: int, high: int, *, rows: bool) -> Iterator[int]:
    """Where lines and sentences begin in (low, high]; with `rows`, rows count as one sentence each."""
    for found in _BORDER.finditer(text, low, min(len(text), high + 1)):
        end = found.end()
        if end > high or _joined(text, end) or _abbreviates(text, found.start()):
            continue
        if rows and text[end - 1] not in LINE_ENDS and _in_row(text, found.start()):
            continue
        yield end


def _abbreviates(text: str, at: int) -> bool:
    """Whether the sign at `at` is the full stop of an abbreviation, an initial or a list's number."""
    if text[at] != ".":
        return False
    word = text[max(0, at - 4) : at].split()[-1:]
    return bool(word) and (word[0] in _ABBREVIATED or (len(word[0]) == 1 and word[0].isalnum()))


def _in_row(text: str, at: int) -> bool:
    line = text.rfind("\n", max(0, at - _LONGEST_ROW), at) + 1
    return (line > 0 or at < _LONGEST_ROW) and _ROW.match(text, line) is not None


def border_behind(text: str, at: int, reach: int, *, rows: bool) -> int | None:
    """The first border behind `at`, not further than `reach`; the text's end is one."""
    end = len(text) if at + reach >= len(text) else None
    return next(_borders(text, at, min(len(text), at + reach), rows=rows), end)


def border_before(text: str, at: int, reach: int, *, rows: bool) -> int | None:
    """The last border before `at`, not further than `reach`; the text's beginning is one."""
    back = _LOOK_BACK
    while True:
        low = max(0, at - min(back, reach))
        last = None
        for last in _borders(text, low, at - 1, rows=rows):  # noqa: B007 - the last is wanted
            pass
        if last is not None or low == 0:
            return last or 0
        if back >= reach:
            return None
        back *= 4


def begins_paragraph(text: str, at: int) -> bool:
    """Whether a blank line stands before `at`."""
    return text[max(0, at - 4) : at].count("\n") > 1


# --- words and characters ----------------------------------------------------------------------------------

_NEAR = 80
"""How far a blank is preferred to another border of words, in characters; half the range at most."""
_WORD_START = re.compile(r"(?<=\s)(?=\S)")
_SPACES = " \n\t\r\u3000"
_ZERO_WIDTH_JOINER = "\u200d"
_FIRST_WIDE = "\u2e80"
"""From here on, scripts are written without blanks, and a word's border is anywhere."""


def whole_words(text: str, start: int, end: int) -> Span:
    """A span widened to the borders of its first and last word."""
    low, high = max(0, start - _NEAR), min(len(text), end + _NEAR)
    first = next((at for at in range(start, low - 1, -1) if not _splits(text, at)), start)
    last = next((at for at in range(end, high + 1) if not _splits(text, at)), end)
    return first, last


def word_start(text: str, low: int, high: int) -> int:
    """A place to begin in [low, high], as low as may be: behind a blank, else between words, else anywhere."""
    if low == 0:
        return 0
    near = min((low + high) // 2, low + _NEAR)
    blank = _WORD_START.search(text, low, near + 1)
    if blank and not _joined(text, blank.start()):
        return min(blank.start(), high)
    border = next((at for at in range(low, near + 1) if not _splits(text, at)), None)
    if border is None and (blank := _WORD_START.search(text, near, high + 1)):
        border = blank.start()
    if border is None:
        border = next((at for at in range(low, high) if not _joined(text, at)), high)
    return min(border, high)


def word_end(text: str, low: int, high: int) -> int:
    """A place to end in [low, high], as high as may be: at a blank, else between words, else anywhere."""
    if high >= len(text):
        return len(text)
    near = max((low + high) // 2, high - _NEAR)
    blank = max(text.rfind(space, near, high + 1) for space in _SPACES)
    if blank > low and not _joined(text, blank):
        return blank
    border = next((at for at in range(high, near, -1) if not _splits(text, at)), None)
    if border is None:
        blank = max(text.rfind(space, low, near) for space in _SPACES)
        border = blank if blank > low else None
    if border is None:
        border = next((at for at in range(high, low, -1) if not _joined(text, at)), low)
    return border


def _splits(text: str, at: int) -> bool:
    """Whether a cut at `at` goes through a word, or through what is read as one character."""
    if not 0 < at < len(text):
        return False
    before, behind = text[at - 1], text[at]
    in_word = (before.isalnum() or before == "_") and (behind.isalnum() or behind == "_")
    return (in_word and before < _FIRST_WIDE and behind < _FIRST_WIDE) or _joined(text, at)


def _joined(text: str, at: int) -> bool:
    """Whether the characters on both sides of `at` are read as one.

    The cases of Unicode's extended grapheme clusters (UAX 29) that transcripts hold: marks, conjoining Hangul,
    joined and coloured emoji, flags, halves of surrogate pairs, and the two characters of a line end.
    """
    if not 0 < at < len(text):
        return False
    before, behind = text[at - 1], text[at]
    if behind < "\u0300":
        return behind == "\n" and before == "\r"
    return (
        unicodedata.category(behind)[0] == "M"
        or _ZERO_WIDTH_JOINER in (before, behind)
        or "\U0001f3fb" <= behind <= "\U0001f3ff"
        or "\u1160" <= behind <= "\u11ff"
        or "\U000e0020" <= behind <= "\U000e007f"
        or ("\ud800" <= before <= "\udbff" and "\udc00" <= behind <= "\udfff")
        or (_is_flag_letter(behind) and _flag_letters_before(text, at) % 2 == 1)
    )


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_letters_before(text: str, at: int) -> int:
    low = max(0, at - 2 * _NEAR)
    return next((n for n in range(at - low) if not _is_flag_letter(text[at - 1 - n])), at - low)
