"""Credentials masked in what an answer shows; the one place where stored text becomes text to show.

A credential is looked for in the text round what is shown, not in the excerpt itself: an excerpt that is cut
through a key would show half of one that nothing recognises any more. Offsets of an answer stay those of the
stored text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cocorecall.model import Secret, Span
from cocorecall.search.excerpt import Excerpt, join_spans
from cocorecall.secrets import find_secrets, marker, mask

REACH = 16_000
"""Characters on either side of what is shown in which a credential may begin or end: a long private key."""


def secrets_near(text: str, spans: Sequence[Span]) -> list[Secret]:
    """The credentials of a text that may touch some spans of it."""
    windows: list[Span] = []
    for start, end in sorted(spans):
        low, high = max(0, start - REACH), min(len(text), end + REACH)
        if windows and low <= windows[-1][1]:
            windows[-1] = (windows[-1][0], max(high, windows[-1][1]))
        else:
            windows.append((low, high))
    return [
        Secret(s.kind, low + s.start, low + s.end)
        for low, high in windows
        for s in find_secrets(text if (low, high) == (0, len(text)) else text[low:high])
    ]


def without_secrets(text: str, secrets: Iterable[Secret]) -> str:
    """The text with blanks for credentials, of the same length: for what takes words out of it."""
    for secret in secrets:
        if secret.start < len(text):
            end = min(secret.end, len(text))
            text = text[: secret.start] + " " * (end - secret.start) + text[end:]
    return text


_SCANNED_WHOLE = 64_000
"""Characters of a text up to which all of it is looked through, once."""


class Masking:
    """What one answer shows of stored texts, and of the words of its query.

    Args:
        query: the query, which may hold a credential itself: it is masked, too.
        reveal: show credentials as they are.
        names_in: characters at a text's beginning from which names are taken.
    """

    def __init__(self, query: str, *, reveal: bool, names_in: int = 0) -> None:
        self.reveal = reveal
        self.query = query if reveal else shown(query)
        self._asked = [] if reveal else [query[s.start : s.end].lower() for s in find_secrets(query)]
        self._names_in = names_in
        self._scanned: dict[str, list[Secret]] = {}
        self._lines: dict[str, str] = {}

    def secrets(self, body: str, spans: Sequence[Span]) -> list[Secret]:
        """The credentials of a text that may touch some spans or the names at its beginning."""
        if len(body) > _SCANNED_WHOLE:
            return secrets_near(body, [*spans, (0, self._names_in)])
        if body not in self._scanned:
            self._scanned[body] = find_secrets(body)
        return self._scanned[body]

    def excerpt(self, body: str, excerpt: Excerpt) -> Shown:
        """An excerpt as the answer shows it."""
        if self.reveal:
            return Shown(excerpt.text, excerpt.highlights, ())
        return masked_excerpt(body, excerpt, self.secrets(body, excerpt.spans))

    def names_of(self, body: str) -> str:
        """The beginning of a text, without its credentials: a follow-up takes names from it."""
        secrets = self.secrets(body, ())
        return without_secrets(body[: self._names_in + REACH], secrets) if secrets else body

    def line(self, text: str | None) -> str | None:
        """A title, a folder, a tag."""
        if self.reveal or not text:
            return text
        if text not in self._lines:
            self._lines[text] = shown(text)
        return self._lines[text]

    def word(self, text: str) -> str:
        """A word of the query: a part of a credential that was asked for is masked like all of it."""
        if self.reveal or not self._asked:
            return text
        part = len(text) >= _LEAST_PART and any(text.lower() in asked for asked in self._asked)
        return marker("query") if part else shown(text)


_LEAST_PART = 4
"""Characters of a word from which on it may give away a credential that it is part of."""


class Shown(NamedTuple):
    """An excerpt as it is shown.

    Attributes:
        text: the spans joined by gap marks, with markers for credentials.
        highlights: those that touch no credential; offsets into the stored text.
        masked: what the markers stand for, a marker each: the shown part of a credential.
    """

    text: str
    highlights: tuple[Span, ...]
    masked: tuple[Secret, ...]


def masked_excerpt(body: str, excerpt: Excerpt, secrets: Sequence[Secret]) -> Shown:
    """An excerpt of a text with its credentials masked; one that lies partly in a span is masked there."""
    masked = tuple(
        Secret(s.kind, max(s.start, start), min(s.end, end))
        for start, end in excerpt.spans
        for s in secrets
        if s.start < end and start < s.end
    )
    if not masked:
        return Shown(excerpt.text, excerpt.highlights, ())
    text = join_spans(body, excerpt.spans, {s.start: (s.end, marker(s.kind)) for s in masked})
    highlights = tuple(
        (a, b) for a, b in excerpt.highlights if not any(s.start < b and a < s.end for s in masked)
    )
    return Shown(text, highlights, masked)


class MaskedText:
    """A whole text with its credentials masked, and where each place of the stored text has gone."""

    def __init__(self, text: str) -> None:
        self.secrets = find_secrets(text)
        self.text = mask(text).text if self.secrets else text
        self._stored = text

    def place(self, at: int) -> int:
        """Where a place of the stored text is in the shown one; inside a credential, its marker's start."""
        shift = 0
        for secret in self.secrets:
            if at < secret.end:
                return min(at, secret.start) + shift
            shift += len(marker(secret.kind)) - (secret.end - secret.start)
        return at + shift

    def spans(self, spans: Iterable[Span]) -> list[Span]:
        """Spans of the stored text in the shown one; what touches a credential takes its whole marker."""
        out = []
        for start, end in spans:
            touched = [s for s in self.secrets if s.start < end and start < s.end]
            low = min([start, *(s.start for s in touched)])
            high = max([end, *(s.end for s in touched)])
            out.append((self.place(low), self.place(high)))
        return out

    def touches(self, span: Span) -> bool:
        """Whether a span of the stored text holds a part of a credential."""
        return any(s.start < span[1] and span[0] < s.end for s in self.secrets)


def shown(text: str) -> str:
    """A short text of a transcript, such as a title, with its credentials masked."""
    return mask(text).text


def note(count: int) -> str:
    """What an answer says of the credentials that it masks."""
    return f"{count:,} secret{'' if count == 1 else 's'} masked; --reveal shows {'it' if count == 1 else 'them'}."
