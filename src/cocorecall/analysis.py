"""How text is cut into words, for the index and for queries alike.

The index holds *stems*: SQLite's FTS5 cuts text with its tokenizer `TOKENIZER`, which folds case and
accents and reduces English words to their stems (Porter, "An algorithm for suffix stripping", 1980).
Before FTS5 sees a text, `index_text` adds what that tokenizer cannot know: the parts of camelCase names,
and the bigrams of Chinese, Japanese and Korean runs. Queries go through the same two steps, so a name
copied from a transcript always finds it.

snake_case, dotted and hyphenated names, paths and versions need no help: the tokenizer cuts them at
their separators, and a query finds them as phrases of adjacent parts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Any, Final, cast

import apsw

TOKENIZER: Final = ("porter", "unicode61", "remove_diacritics", "2")
"""FTS5's tokenizer and its arguments, as in the schema (`tokenize = '…'`)."""

_CAMEL_BORDER = re.compile(r"[A-Z](?:(?<=[a-z0-9][A-Z])|(?<=[A-Z][A-Z])(?=[a-z]))")
"""A capital inside a word; capitals are rare in prose, so looking for them first is what makes it fast."""
_ALNUM = re.compile(r"[A-Za-z0-9]*")
_CAMEL_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_MAX_CAMEL = 64
"""Longer runs of letters and digits are hashes or encoded data, whose parts are no words."""

_CJK_RANGES = (
    "\u3005\u3007"  # iteration mark, ideographic zero
    "\u3041-\u3096\u309d-\u309f"  # hiragana
    "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # ideographs
    "\U00020000-\U0003ffff"
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # hangul
)


@cache
def _cjk_run() -> re.Pattern[str]:
    return re.compile(f"[{_CJK_RANGES}]+")


def cjk_runs(text: str) -> list[tuple[int, int]]:
    """Where runs of Chinese, Japanese or Korean characters stand in a text."""
    return [] if text.isascii() else [run.span() for run in _cjk_run().finditer(text)]


def index_text(text: str) -> str:
    """A text as FTS5 is fed with it: camelCase parts behind their word, CJK runs as bigrams.

    Deterministic and local: the form of a word does not depend on its neighbours, so that a query's
    phrase takes the same form as the passage it was copied from.
    """
    if _CAMEL_BORDER.search(text):
        text = _with_camel_parts(text)
    if not text.isascii():
        text = _cjk_run().sub(lambda run: " " + " ".join(bigrams(run[0])) + " ", text)
    return text


def _with_camel_parts(text: str) -> str:
    out: list[str] = []
    done = end = 0
    for border in _CAMEL_BORDER.finditer(text):
        if border.start() < end:
            continue
        start = _word_start(text, border.start(), end)
        end = _ALNUM.match(text, border.end()).end()  # type: ignore[union-attr]  # matches empty too
        if end - start <= _MAX_CAMEL:
            out.append(text[done:end])
            out.append(" " + " ".join(camel_parts(text[start:end])) + " ")
            done = end
    out.append(text[done:])
    return "".join(out)


def _word_start(text: str, at: int, floor: int) -> int:
    start = at
    floor = max(floor, at - _MAX_CAMEL - 1)
    while start > floor and text[start - 1].isascii() and text[start - 1].isalnum():
        start -= 1
    return start


def camel_parts(word: str) -> list[str]:
    """`getUserProfile` → get, User, Profile; `HTTPServer2` → HTTP, Server, 2."""
    return _CAMEL_PARTS.findall(word)


def bigrams(run: str) -> list[str]:
    """A CJK run as overlapping pairs, and its last character alone.

    With that last one every character of the run begins a token, so that a single character is found as
    a prefix and a longer substring as a phrase.
    """
    return [run[i : i + 2] for i in range(len(run) - 1)] + [run[-1]]


_ENDINGS = (
    "e", "s", "es", "ed", "ing", "ion", "ation", "er", "al", "ly", "y", "ity", "ment", "ness", "ate", "ies", "able",
    "ive", "ous", "ful", "ism", "ize", "ic", "ical", "ement", "eed", "ational", "izer", "ator",
)  # fmt: skip
"""Endings that the stemmer takes off; one of them restores nearly every stem to a word."""


_MOST_KNOWN = 1 << 16


class Stemmer:
    """Cuts a short text into the stems that FTS5 would index."""

    def __init__(self, connection: apsw.Connection | None = None) -> None:
        self._connection = connection or apsw.Connection(":memory:")
        self._tokenize = self._connection.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))
        self._known: dict[str, tuple[str, ...]] = {}

    def __call__(self, text: str) -> tuple[str, ...]:
        """The stems of a text, in order. Cached: queries and highlights ask for the same words often."""
        stems = self._known.get(text)
        if stems is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()  # forgetting all bounds the memory of a process that stays
            stems = self._known[text] = self._stems(text)
        return stems

    def word_for(self, stem: str) -> str:
        """A word with this stem, to ask FTS5 for exactly it.

        FTS5 stems what it is asked for, and a stem's stem can be another (precision → precis → preci).
        """
        if self(stem) == (stem,):
            return stem
        return next((w for w in (stem + ending for ending in _ENDINGS) if self(w) == (stem,)), stem)

    def _stems(self, text: str) -> tuple[str, ...]:
        encoded = text.encode("utf-8", "replace")
        tokens = self._tokenize(
            encoded, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
        )
        return tuple(cast("list[str]", tokens))


# --- folding, with offsets kept --------------------------------------------------------------------------


class _Fold(dict[int, int]):
    """Translation table that is filled as characters are met: one character to one character."""

    def __missing__(self, code: int) -> int:
        char = chr(code)
        base = unicodedata.normalize("NFD", char)[0] if code > 0x7F else char  # noqa: PLR2004 - ASCII
        lower = base.lower()
        folded = ord(lower) if len(lower) == 1 else code
        self[code] = folded
        return folded


_FOLD = _Fold()


def fold(text: str) -> str:
    """Lower case without accents, of the same length: offsets into it are offsets into `text`."""
    return text.lower() if text.isascii() else text.translate(_FOLD)


# --- what of a tool call is searched ---------------------------------------------------------------------


def calls_text(calls: Iterable[tuple[str, Any]]) -> str:
    """The searchable text of a turn's calls: for each its tool's name and every string of its input.

    Args:
        calls: (tool name, input as a JSON value) in order.

    Returns:
        One line for each name and each string, in the order of the input, strings verbatim. A hit whose
        `field` is `calls` has its `spans` in this text.
    """
    lines: list[str] = []
    for name, payload in calls:
        lines.append(name)
        _strings(payload, lines)
    return "\n".join(lines)


def _strings(value: Any, out: list[str]) -> None:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            out.append(item)
        elif isinstance(item, dict):
            stack.extend(reversed(item.values()))
        elif isinstance(item, list | tuple):
            stack.extend(reversed(item))


# --- what kind of thing a turn says ----------------------------------------------------------------------

CUE_ASKS: Final = 1
CUE_TIME: Final = 2
CUE_NUMBER: Final = 4
CUE_REASON: Final = 8
"""Bits of a turn's `cues`: it ends as a question; it names a time; a number; a reason."""

_CUE_CHARS = 600


def _with_marks(words: str) -> frozenset[str]:
    """Words as white space cuts them out of a text: bare, or with a mark at one end."""
    return frozenset(f"{a}{w}{b}" for w in words.split() for a in ("", "(", '"') for b in ("", *'.,;:!?)"…'))


_TIME_WORDS = (
    "yesterday today tonight tomorrow ago last next week weeks weekend weekends month months year years sprint since"
    " recently monday tuesday wednesday thursday friday saturday sunday january february march april june july"
    " august september october november december"
)
_NUMBER_WORDS = "one two three four five six seven eight nine ten once twice couple few several dozen"
_REASON_WORDS = "because since due reason reasons otherwise therefore rationale"


@cache
def _cue_words() -> tuple[frozenset[str], frozenset[str], frozenset[str], frozenset[str]]:
    """Words of time, of number, of reason, and all of them; a search needs none."""
    time, number, reason = map(_with_marks, (_TIME_WORDS, _NUMBER_WORDS, _REASON_WORDS))
    return time, number, reason, time | number | reason


_YEAR = re.compile(r"\b20\d\d\b")
_DIGIT = re.compile(r"\d")
_QUESTION_ENDS = "?？"


def cues(text: str) -> int:
    """What kinds of question a text could answer, and whether it asks one itself, as bits.

    Looks at the beginning of a long text, and at its end for the question mark.
    """
    head = text[:_CUE_CHARS].lower()
    time, number, reason, every = _cue_words()
    words = every.intersection(head.split())
    found = 0
    if text[-40:].rstrip(" \n\t)\"'*_`")[-1:] in _QUESTION_ENDS and text.strip():
        found |= CUE_ASKS
    if not time.isdisjoint(words) or _YEAR.search(head):
        found |= CUE_TIME
    if not number.isdisjoint(words) or _DIGIT.search(head):
        found |= CUE_NUMBER
    if not reason.isdisjoint(words):
        found |= CUE_REASON
    return found
