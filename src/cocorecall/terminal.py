"""Making text harmless to print: control characters of a transcript never reach a terminal raw.

Escape sequences could clear the screen, set its title or the clipboard; bidirectional overrides reorder what
a person reads; zero-width characters hide what an agent obeys. Plain output shows each in a visible form
(`visible`); JSON keeps them, as escapes (`json_escaped`), since a terminal may be what reads it.
"""

from __future__ import annotations

import re

_HARMFUL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # C0 but for tab, line feed and carriage return; DEL; C1
    "\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # bidi, zero-width, separators
    "\ud800-\udfff"  # lone surrogates
    "\U000e0000-\U000e007f]"  # tags
    "|(?<=[\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef]"  # see below
    "|\r(?!\n)"  # a carriage return that overwrites its line; one that ends it with a line feed is harmless
)
"""Zero-width (non-)joiners, U+200C and U+200D, are letters' and emojis' own in several scripts, and stay; so
does a variation selector, but not a row of them: it changes no letter and can carry a hidden message."""


def visible(text: str) -> str:
    """The text with control characters in visible form: `␛` for escape, `<U+202E>` for an override."""
    if text.isascii() and text.isprintable():
        return text
    return _HARMFUL.sub(_shown, text)


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:  # noqa: PLR2004 - the control pictures stand in the same order
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"<U+{code:04X}>"  # noqa: PLR2004 - DEL


def json_escaped(document: str) -> str:
    """A JSON document in which no control character stands raw; it reads back as the same value.

    A lone surrogate, which no JSON reader has to accept, becomes U+FFFD.

    Args:
        document: JSON text whose C0 characters are escaped already, as every JSON writer does.
    """
    return _HARMFUL.sub(_escape, document)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xD800 <= code <= 0xDFFF:  # noqa: PLR2004 - surrogates
        return "\ufffd"
    if code <= 0xFFFF:  # noqa: PLR2004 - the plane that one escape reaches
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
