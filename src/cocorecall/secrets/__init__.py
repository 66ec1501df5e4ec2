"""Credentials in a text: where they are and what they are, so that they can be masked wherever text is shown.

What is stored stays verbatim; a face that shows text of a transcript shows `mask(text).text` instead. Only
the credential itself is replaced, by a marker of its kind: `[secret: aws-access-key]`.

Speed is what the design serves: a search may spend two milliseconds on all that it shows. A text is first
searched for the fixed parts of all credentials, as plain strings; most texts hold none, and no pattern is
even compiled for them. (detect-secrets, the maintained library, takes 115 ms to import and 0.7 ms a line.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cocorecall.model import Secret
from cocorecall.secrets.shapes import ALPHABETS, COMMANDS, FORMS, LEAST, SHAPES, Form, Shape, compiled


class Masked(NamedTuple):
    """A text with markers where it held credentials.

    Attributes:
        text: what may be shown.
        counts: how many were masked, by kind.
    """

    text: str
    counts: Mapping[str, int]


def mask(text: str) -> Masked:
    """The text with each credential replaced by its marker; all else is verbatim."""
    found = find_secrets(text)
    if not found:
        return Masked(text, {})
    out: list[str] = []
    done = 0
    for secret in found:
        out += (text[done : secret.start], marker(secret.kind))
        done = secret.end
    return Masked("".join((*out, text[done:])), Counter(s.kind for s in found))


def marker(kind: str) -> str:
    """What stands for a credential: `[secret: aws-access-key]`."""
    return f"[secret: {kind}]"


def find_secrets(text: str) -> list[Secret]:
    """The credentials in a text, in order and apart."""
    long = " ".join([word for word in text.split() if len(word) >= LEAST])
    found = [*_by_shape(text, long), *_by_form(text, long), *_in_blocks(text)] if long else []
    found += _in_commands(text)
    if "://" in text:
        found += _in_urls(text)
    lowered = _lowered(text)
    found += _in_headers(text, lowered)
    found += _in_assignments(text, lowered)
    return _apart(found) if found else found


def _lowered(text: str) -> str:
    """In lower case and of the same length: one letter becomes two there."""
    return text.replace("\u0130", "I").lower()


def _apart(found: Sequence[Secret]) -> list[Secret]:
    """In order; what overlaps becomes one, of the kind that was looked for first (the more precise ones are)."""
    rank = {id(s): n for n, s in enumerate(found)}
    out: list[tuple[int, Secret]] = []
    for secret in sorted(found, key=lambda s: (s.start, -s.end)):
        if out and secret.start < out[-1][1].end:
            n, last = out[-1]
            m = rank[id(secret)]
            out[-1] = (min(n, m), Secret(found[min(n, m)].kind, last.start, max(last.end, secret.end)))
        else:
            out.append((rank[id(secret)], secret))
    return [s for _, s in out]


# --- by shape ------------------------------------------------------------------------------------------

_STARTS = tuple((shape.start, shape) for shape in SHAPES)
_ANCHORS = tuple((form.anchor, form) for form in FORMS)


def _places(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def _begins_word(text: str, at: int) -> bool:
    """Whether a word can begin there: after no letter or digit, but for the letter of an escaped line end."""
    if at == 0 or not (text[at - 1].isalnum() or text[at - 1] == "_"):
        return True
    return text[at - 1] in "nrt" and at > 1 and text[at - 2] == "\\"


def _by_shape(text: str, long: str) -> Iterator[Secret]:
    for start, shape in _STARTS:
        if start in long:
            yield from _runs(text, shape)


def _runs(text: str, shape: Shape) -> Iterator[Secret]:
    """Where a shape's fixed text begins a run of its alphabet of the right length.

    Each run is measured once, however often the fixed text occurs in it.
    """
    run = compiled(ALPHABETS[shape.alphabet])
    end = 0
    for at in _places(text, shape.start):
        body = at + len(shape.start)
        if not shape.keeps_start and not _begins_word(text, at):
            continue
        if body >= end:
            found = run.match(text, body)
            end = body + len(found[0].rstrip(".-")) if found else body
        if _fits(text, body, end, shape):
            yield Secret(shape.kind, body if shape.keeps_start else at, end)


def _fits(text: str, body: int, end: int, shape: Shape) -> bool:
    size = end - body
    if size < shape.least or (shape.most and (size > shape.most or text[end : end + 1].isalnum())):
        return False
    return _varied(text[body : min(end, body + _LOOKED_AT)])


_LOOKED_AT = 400
"""Characters of a run that tell whether it is a placeholder."""


def _varied(body: str) -> bool:
    """Whether it is no placeholder: not `xxxx…`, not a word in small letters."""
    if len(set(body)) < 6:  # noqa: PLR2004 - sixteen random digits of a key have more
        return False
    return body.lower() != body or any(c.isdigit() for c in body)


def _by_form(text: str, long: str) -> Iterator[Secret]:
    for anchor, form in _ANCHORS:
        if anchor in long:
            yield from _matches(text, form)
    if "AKIA" in long or "ASIA" in long:
        yield from _aws_pairs(text)


def _in_commands(text: str) -> Iterator[Secret]:
    for form in COMMANDS:
        if form.anchor in text:
            yield from _matches(text, form)


def _matches(text: str, form: Form) -> Iterator[Secret]:
    pattern = compiled(form.pattern)
    done = 0
    for at in _places(text, form.anchor):
        if at < done:
            continue
        for start in range(max(done, at - form.before), at + 1):
            if form.anchor == "sig=" or _begins_word(text, start):
                found = pattern.match(text, start)
                if found:
                    done = found.end()
                    if _varied(found[1][:_LOOKED_AT]):
                        yield Secret(form.kind, *found.span(1))
                    break


def _aws_pairs(text: str) -> Iterator[Secret]:
    """A secret key that stands beside its key id without a name, as in a downloaded table."""
    pair = r"(?:AKIA|ASIA)[A-Z0-9]{16}[\"'\s,;:|]{1,8}([A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])"
    for found in compiled(pair).finditer(text):
        yield Secret("aws-secret-key", *found.span(1))


# --- blocks and addresses ------------------------------------------------------------------------------


def _in_blocks(text: str) -> Iterator[Secret]:
    if "PRIVATE KEY" not in text and "Private-Lines: " not in text:
        return
    from cocorecall.secrets.blocks import private_keys, putty_keys  # noqa: PLC0415 - few texts hold a key

    for place in (*private_keys(text), *putty_keys(text)):
        yield Secret("private-key", *place)


def _in_headers(text: str, lowered: str) -> Iterator[Secret]:
    if "bearer " not in lowered and "authorization" not in lowered:
        return
    from cocorecall.secrets.headers import ANCHORS, credentials  # noqa: PLC0415 - few texts hold a header

    for anchor in ANCHORS:
        yield from credentials(text, lowered, anchor)


_NAMES = (
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "passcode",
    "identified by",
    "secret",
    "token",
    "key",
    "credential",
)


def _in_assignments(text: str, lowered: str) -> Iterator[Secret]:
    if not any(name in lowered for name in _NAMES):
        return
    from cocorecall.secrets.assignments import ANCHORS, assigned  # noqa: PLC0415 - most texts name none

    for anchor in ANCHORS:
        yield from assigned(text, lowered, anchor)


_NO_PASSWORDS = frozenset(
    "password passwd pass pwd secret user username postgres root admin mysql test guest changeme token p pw".split()
)
"""Passwords of addresses in documentation and of local test servers."""


def _in_urls(text: str) -> Iterator[Secret]:
    """Passwords of addresses: `snowflake://user:password@account/db`."""
    user_info = r"://([^\s/:@\"'<>`\\(){}]{0,100}):([^\s/@\"'<>`\\{}$*][^\s/@\"'<>`\\{}]{1,200})@[\w\[.-]"
    for found in compiled(user_info).finditer(text):
        user, password = found[1], found[2]
        folded = password.lower()
        if (
            folded in _NO_PASSWORDS
            or password.split(",")[0].isdigit()
            or folded == user.lower()
            or "..." in password
        ):
            continue
        scheme = text[max(0, found.start() - 20) : found.start()].lower()
        kind = (
            "snowflake-password" if scheme.endswith(("snowflake", "snowflake+sqlalchemy")) else "url-password"
        )
        yield Secret(kind, *found.span(2))
