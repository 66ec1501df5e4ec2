"""Text cut into what people read and what machines read: prose, fenced blocks, paragraphs, sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(
    r"^[ \t]{0,6}(?P<mark>`{3,12}|~{3,12})[ \t]*(?P<language>[\w+#.-]*)[^\n]*\n(?P<body>.*?)(?:^[ \t]{0,6}(?P=mark)[`~]*[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_BLOCK_BREAK = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]|[ \t]*[#>|])")
_SENTENCE_END = re.compile(r"[.!?…](?:[\"'”’)\]*`_]{0,3})(?=\s|$)|[。！？]")
_NO_END = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|no|fig|eq|Dr|Mr|Ms|Mrs|St)|\b[A-Z]|^\s*\d+)\.$"
)
_BULLET = re.compile(r"[ \t]*(?:[-*+•][ \t]+|\d{1,3}[.)][ \t]+|\[[ xX]\][ \t]+)*")


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block: its language in lower case, as far as it is said, and what stands in it."""

    language: str
    body: str


def lower(text: str) -> str:
    """The text in lower case, character by character: places in it are places in the text."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(c if len(c.lower()) != 1 else c.lower() for c in text)
    return lowered


def has_digit(text: str) -> bool:
    """Whether any decimal digit occurs; what has none holds no number, ticket, time or version."""
    return (
        "1" in text or "0" in text or "2" in text or "3" in text or "4" in text
        or "5" in text or "6" in text or "7" in text or "8" in text or "9" in text
    )  # fmt: skip


def split_fences(text: str) -> tuple[str, list[Fence]]:
    """The text with a blank line in place of each fenced block, and the blocks. An open fence ends the text."""
    if "```" not in text and "~~~" not in text:
        return text, []
    fences: list[Fence] = []

    def take(match: re.Match[str]) -> str:
        fences.append(Fence(match["language"].lower(), match["body"]))
        return "\n\n"

    return _FENCE.sub(take, text), fences


def paragraphs(prose: str) -> Iterator[str]:
    """Blocks of prose: paragraphs, list items, lines of tables; headings and quotes stand alone."""
    for block in _BLOCK_BREAK.split(prose):
        if block.strip():
            yield block


def sentences(block: str) -> Iterator[str]:
    """The sentences of a block, verbatim, without bullets and the blanks around them."""
    bullet = _BULLET.match(block)
    start = bullet.end() if bullet else 0
    for match in _SENTENCE_END.finditer(block, start):
        if match[0][0] == "." and _NO_END.search(block, max(start, match.start() - 8), match.start() + 1):
            continue
        sentence = block[start : match.end()].strip()
        if sentence:
            yield sentence
        start = match.end()
    rest = block[start:].strip()
    if rest:
        yield rest
