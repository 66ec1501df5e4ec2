"""What an HTTP header of authorization carries: a bearer token, or user and password in base64."""

from __future__ import annotations

import binascii
from collections.abc import Iterator

from cocorecall.model import Secret
from cocorecall.secrets.shapes import compiled
from cocorecall.secrets.values import is_hex, is_placeholder, is_random, is_reference

ANCHORS = ("authorization", "bearer")

_VALUE = r"[A-Za-z0-9._~+/=-]"
_AUTHORIZATION = (
    r"[\"']?\]?\s{0,2}[:=,]\s{0,2}(?:[fbru]?\\*[\"'])?(?P<scheme>[A-Za-z]{3,12})[ ]+(?P<value>"
    + _VALUE
    + r"{8,})"
)
_BEARER = r"[ ]+(?P<value>" + _VALUE + r"{16,})"
_BASE64 = r"[A-Za-z0-9+/]{8,}={0,2}"
_TOKEN_SCHEMES = frozenset("bearer token apikey snowflake key".split())
_LEAST, _LEAST_HEX = 16, 32


def credentials(text: str, lowered: str, anchor: str) -> Iterator[Secret]:
    """The credentials behind `Authorization:` or `Bearer`.

    Args:
        text: the text.
        lowered: the same in lower case, of the same length.
        anchor: one of `ANCHORS`.
    """
    pattern = compiled(_BEARER if anchor == "bearer" else _AUTHORIZATION)
    at = lowered.find(anchor)
    while at >= 0:
        end = at + len(anchor)
        found = pattern.match(text, end)
        if found:
            scheme = "bearer" if anchor == "bearer" else found["scheme"].lower()
            value = found["value"].rstrip(".")
            kind = _kind(scheme, value)
            if kind:
                yield Secret(kind, found.start("value"), found.start("value") + len(value))
        at = lowered.find(anchor, end)


def _holds_a_colon(value: str) -> bool:
    """Whether it is user and password in base64."""
    if not compiled(_BASE64).fullmatch(value):
        return False
    try:
        return b":" in binascii.a2b_base64(value + "=" * (-len(value) % 4))
    except binascii.Error:
        return True  # cut short, so not to be told


def _kind(scheme: str, value: str) -> str | None:
    if is_placeholder(value) or is_reference(value):
        return None
    if scheme == "basic":
        return "basic-auth" if _holds_a_colon(value) else None
    if scheme not in _TOKEN_SCHEMES:
        return None
    random = len(value) >= (_LEAST_HEX if is_hex(value) else _LEAST) and is_random(value)
    return "bearer-token" if random else None
