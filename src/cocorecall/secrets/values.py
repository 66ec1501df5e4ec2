"""What a value looks like: random, a hash, a placeholder, a reference, a path, words."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter

_PLACEHOLDER = re.compile(
    r"[<>{}]|^\$|\$[\w({]|^%|%[(s]|%\w+%|\*{3}|\.{3}|…|[xX]{4}|^[x.\-_0]+$|^\(|1234567890abcdef"
    r"|your|change.?me|redact|masked|placeholder|\[secret|hidden|encrypted|omitted|removed|sample|insert|replace|example\."
    r"|environ|getenv|process\.env|^env\.|^secrets\.|^vault:|^ref\+|^arn:|^projects/|^op://|keyring"
    r"|^(?:none|null|nil|true|false|undefined)$",
    re.IGNORECASE,
)
_PATH = re.compile(
    r"^(?:~|\.{1,2})?/[\w.-]+/|^~|^\.{1,2}/|^[A-Za-z]:[\\/]|://"
    r"|\.(?:pem|p8|key|json|ya?ml|txt|py|env|toml|sql|md)$"
)
_FOLDERS = re.compile(r"^\w+/[\w/-]+$")
_REFERENCE = re.compile(r"^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|^[A-Za-z_]\w*(?:::|->)")
_UUID = re.compile(r"^\{?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\}?$")
_HEX = re.compile(r"^(?:0x)?(?:[0-9a-f]{16,}|[0-9A-F]{16,})$")
_WORDS = re.compile(r"^[A-Za-z]+(?:[_.-]?[A-Za-z]+)*[_.-]?\d{0,2}$")
_CAMEL_CASE = re.compile(r"^[a-z]*(?:[A-Z]{1,5}[a-z]{2,})+[A-Z]*s?$")
_PIECES = re.compile(r"[^A-Za-z0-9]+")

_LEAST_ENTROPY = 3.0
"""Bits a character; words and names have less, or are told apart by `_mixed`."""
_LEAST_VARIETY = 8
_LEAST_PIECE, _LONG_PIECE = 8, 16
_CASE_CHANGES = 0.42
"""Share of neighbours that differ in case from which on letters are no words, joined or not."""


def stands_for_another(value: str) -> bool:
    """Whether a value is none itself: a placeholder, a path, an address, a UUID."""
    if _PLACEHOLDER.search(value) or _PATH.search(value) or _UUID.match(value):
        return True
    return bool(_FOLDERS.match(value)) and not any(map(_mixed, _PIECES.split(value)))


def is_placeholder(value: str) -> bool:
    """Whether a value says that something else belongs there: `<token>`, `${TOKEN}`, `xxxx`, `os.environ[…]`."""
    return _PLACEHOLDER.search(value) is not None or _UUID.match(value) is not None


def is_reference(value: str) -> bool:
    """Whether it names something of a program: `settings.API_KEY`."""
    return _REFERENCE.match(value) is not None


def is_hex(value: str) -> bool:
    """Whether it is one run of hexadecimal digits: mostly a hash or an id, seldom a key."""
    return _HEX.match(value) is not None


def is_words(value: str) -> bool:
    """Whether it is made of letters, joined or not, with perhaps a number of two digits behind them."""
    return _WORDS.match(value) is not None


def is_random(value: str) -> bool:
    """Whether a value is made of random characters, not of words, numbers or signs."""
    if len(set(value)) < _LEAST_VARIETY or entropy(value) < _LEAST_ENTROPY:
        return False
    return any(_mixed(piece) for piece in _PIECES.split(value))


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
    return cases / len(pairs) >= _CASE_CHANGES and not _CAMEL_CASE.match(piece)
