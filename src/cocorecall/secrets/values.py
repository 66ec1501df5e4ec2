"""What a value looks like: random, a hash, a placeholder, a reference, a path, words.

Hardly a pattern: to compile one takes longer than a search may spend on all its masking.
"""

from __future__ import annotations

import itertools
import math
import string
from collections import Counter

from cocorecall.secrets.shapes import compiled

_PLACES_HELD = tuple(
    "your changeme change_me change-me redact masked placeholder [secret hidden encrypted omitted removed sample insert"
    " replace example. environ getenv process.env keyring 1234567890abcdef xxxx *** ... … %s %( $( ${".split()
)
"""What stands in a value that holds the place of another one."""
_LOOKED_UP = tuple("$ % ( env. secrets. vault: ref+ arn: projects/ op://".split())
"""How a value begins that is looked up elsewhere."""
_NOTHING = frozenset("none null nil true false undefined".split())
_FILES = tuple(".pem .p8 .key .json .yaml .yml .txt .py .env .toml .sql .md".split())
_HEX_DIGITS = frozenset(string.hexdigits)
_UUID_LENGTH = 36
_WORDS = r"[A-Za-z]++(?:[_.-][A-Za-z]++)*+[_.-]?\d{0,2}"
_CAMEL_CASE = r"[a-z]*(?:[A-Z]{1,5}[a-z]{2,})+[A-Z]*s?"
_PIECES = r"[^A-Za-z0-9]+"

_LEAST_ENTROPY = 3.0
"""Bits a character; words and names have less, or are told apart by `_mixed`."""
_LEAST_VARIETY = 8
_LEAST_PIECE, _LONG_PIECE = 8, 16
_CASE_CHANGES = 0.42
"""Share of neighbours that differ in case from which on letters are no words, joined or not."""


def is_placeholder(value: str) -> bool:
    """Whether a value says that something else belongs there: `<token>`, `${TOKEN}`, `xxxx`, `os.environ[…]`."""
    folded = value.lower()
    return (
        not _BRACKETS.isdisjoint(value)
        or any(part in folded for part in _PLACES_HELD)
        or folded.startswith(_LOOKED_UP)
        or folded in _NOTHING
        or _FILLERS.issuperset(folded)
        or is_uuid(value)
    )


_BRACKETS = frozenset("<>{}")
_FILLERS = frozenset("x.-_0")


def is_uuid(value: str) -> bool:
    """Whether it is a UUID: an id, not a secret."""
    if [n for n, c in enumerate(value[: _UUID_LENGTH + 1]) if c == "-"] != [8, 13, 18, 23]:
        return False
    return len(value) == _UUID_LENGTH and _HEX_DIGITS.issuperset(value.replace("-", ""))


def is_path(value: str) -> bool:
    """Whether it is a path or an address; base64 may hold slashes, too, but not between words alone."""
    if "://" in value or value.startswith(("~", "./", "../")) or value[1:3] in (":\\", ":/"):
        return True
    if value.endswith(_FILES):
        return True
    return "/" in value and "+" not in value and not any(map(_mixed, compiled(_PIECES).split(value)))


def is_reference(value: str) -> bool:
    """Whether it names something of a program: `settings.API_KEY`."""
    if "." not in value:
        return "::" in value or "->" in value
    return all(part.isidentifier() for part in value.split("."))


def is_hex(value: str) -> bool:
    """Whether it is one run of hexadecimal digits: mostly a hash or an id, seldom a key."""
    digits = value.removeprefix("0x")
    return _HEX_DIGITS.issuperset(digits) and (digits.lower() == digits or digits.upper() == digits)


def is_words(value: str) -> bool:
    """Whether it is made of letters, joined or not, with perhaps a number of two digits behind them."""
    return compiled(_WORDS).fullmatch(value) is not None


def is_random(value: str) -> bool:
    """Whether a value is made of random characters, not of words, numbers or signs."""
    if len(set(value)) < _LEAST_VARIETY or entropy(value) < _LEAST_ENTROPY:
        return False
    return any(_mixed(piece) for piece in compiled(_PIECES).split(value))


def is_base62(value: str) -> bool:
    """Whether it has a run of sixteen random letters of both cases and digits: no id, no name."""
    return any(
        len(p) >= _LONG_PIECE and p.lower() != p and p.upper() != p and any(c.isdigit() for c in p) and _mixed(p)
        for p in compiled(_PIECES).split(value)
    )  # fmt: skip


def entropy(value: str) -> float:
    """Shannon's entropy of the characters of a value, in bits a character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def _mixed(piece: str) -> bool:
    """Whether letters and digits, or large and small letters, alternate as they do not in words."""
    if len(piece) < _LEAST_PIECE:
        return False
    pairs = list(itertools.pairwise(piece))
    digits = sum(a.isdigit() != b.isdigit() for a, b in pairs)
    if digits >= 3 or (digits >= 2 and len(piece) < _LONG_PIECE):  # noqa: PLR2004 - `sha256`, `v2beta1` have fewer
        return True
    cases = sum(a.isupper() != b.isupper() for a, b in pairs if a.isalpha() and b.isalpha())
    return cases / len(pairs) >= _CASE_CHANGES and not compiled(_CAMEL_CASE).fullmatch(piece)
