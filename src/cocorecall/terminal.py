"""Making text harmless to print: control characters of a transcript never reach a terminal raw.

Escape sequences could clear the screen, set its title or the clipboard; bidirectional overrides reorder what
a person reads; zero-width characters hide what an agent obeys. Each is shown in a visible form instead.
`--json` keeps the original, escaped by JSON.
"""

from __future__ import annotations

import re

_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but for tab and line feed; DEL; C1
    "\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"  # bidi, zero-width, separators
    "\ud800-\udfff"  # lone surrogates
    "\U000e0000-\U000e007f]"  # tags
)
_KEPT = {"\u200c", "\u200d"}
"""Zero-width (non-)joiners are letters' and emojis' own in several scripts."""


def visible(text: str) -> str:
    """The text with control characters in visible form: `␛` for escape, `<U+202E>` for an override."""
    if text.isascii() and text.isprintable():
        return text
    return _HARMFUL.sub(_shown, text)


def _shown(match: re.Match[str]) -> str:
    char = match[0]
    code = ord(char)
    if char in _KEPT:
        return char
    if code < 0x20:  # noqa: PLR2004 - the control pictures stand in the same order
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"<U+{code:04X}>"  # noqa: PLR2004 - DEL
