"""What may reach a terminal (robustness O1)."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocorecall.terminal import json_escaped, visible

HARMLESS_FORMATS = set("\u00ad\u200c\u200d\u180e") | {chr(c) for c in range(0x600, 0x606)}
"""Format characters of scripts: soft hyphen, joiners, Mongolian and Arabic marks."""

HOSTILE = st.text(
    st.one_of(
        st.characters(),
        st.characters(categories=["Cc", "Cf", "Zl", "Zp", "Cs"]),
        st.sampled_from("\x1b\r\n\x9b\x7f\u202e\u2066\ufeff"),
    )
)


def harmful(char: str) -> bool:
    if char in "\t\n" or char in HARMLESS_FORMATS:
        return False
    return unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cs") or unicodedata.bidirectional(char) in (
        "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[2J", "␛[2J"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("\x9b31m", "<U+009B>31m"),
        ("\x7f\x00", "␡␀"),
        ("a\u202eb\u202c", "a<U+202E>b<U+202C>"),
        ("\u2066x\u2069", "<U+2066>x<U+2069>"),
        ("\u200ex\u200f\u061c", "<U+200E>x<U+200F><U+061C>"),
        ("a\u200bb\ufeff", "a<U+200B>b<U+FEFF>"),
        ("a\u2028b\u2029", "a<U+2028>b<U+2029>"),
        ("\U000e0041", "<U+E0041>"),
        ("\udc80", "<U+DC80>"),
        ("overwritten\rX", "overwritten␍X"),
    ],
)
def test_control_characters_get_a_visible_form(raw: str, shown: str) -> None:
    assert visible(raw) == shown


@pytest.mark.parametrize(
    "text", ["a\tb\nc", "windows\r\nlines\r\n", "naïve 東京 😀", "👩\u200d💻", "می\u200cخواهم"]
)
def test_readable_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@given(HOSTILE)
def test_nothing_harmful_is_left(text: str) -> None:
    shown = visible(text)
    assert not [c for c in shown.replace("\r\n", "\n") if harmful(c)]
    assert visible(shown) == shown


@given(HOSTILE)
def test_text_without_harmful_characters_is_not_touched(text: str) -> None:
    harmless = "".join(c for c in text if not harmful(c) and unicodedata.category(c) != "Cf")
    assert visible(harmless) == harmless


@given(HOSTILE)
def test_json_keeps_the_value_and_holds_nothing_raw(text: str) -> None:
    document = json_escaped(json.dumps({"text": text}, ensure_ascii=False))
    assert not [c for c in document if harmful(c)]
    read = json.loads(document)["text"]
    assert read == "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
