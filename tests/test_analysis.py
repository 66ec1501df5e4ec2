from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocorecall.analysis import (
    CUE_ASKS,
    CUE_NUMBER,
    CUE_REASON,
    CUE_TIME,
    Stemmer,
    bigrams,
    calls_text,
    cues,
    fold,
    index_text,
)

STEMS = Stemmer()


@pytest.mark.parametrize(
    ("written", "stems"),
    [
        ("getUserProfile", ("getuserprofil", "get", "user", "profil")),
        ("HTTPServer", ("httpserver", "http", "server")),
        ("parseSQL42Now", ("parsesql42now", "pars", "sql", "42", "now")),
        ("SQL", ("sql",)),
        ("Word", ("word",)),
        ("dedupe_orders", ("dedup", "order")),
        ("a getX b", ("a", "getx", "get", "x", "b")),
    ],
)
def test_names_are_indexed_whole_and_by_their_parts(written: str, stems: tuple[str, ...]) -> None:
    """Robustness Q2."""
    assert STEMS(index_text(written)) == stems


def test_hashes_and_encoded_data_are_not_cut_into_parts() -> None:
    encoded = "aB3dE5" * 40
    assert index_text(encoded) == encoded


@given(
    st.text(alphabet="文字配置日本語東京한국어カナ", min_size=1, max_size=12),
    st.integers(0, 11),
    st.integers(1, 12),
)
def test_any_run_of_cjk_characters_is_a_phrase_or_prefix_of_its_sentence(
    run: str, start: int, length: int
) -> None:
    """Robustness J1."""
    part = run[start : start + length]
    if len(part) == 1:
        assert any(pair.startswith(part) for pair in bigrams(run))
    elif part:
        pairs, wanted = bigrams(run), bigrams(part)[:-1]
        assert any(pairs[i : i + len(wanted)] == wanted for i in range(len(pairs)))


@given(st.text(max_size=200))
def test_indexed_text_keeps_every_word(text: str) -> None:
    assert set(STEMS(text.lower())) - set(STEMS(index_text(text.lower()))) == set() or not text.isascii()


@given(st.text(max_size=200))
def test_folding_keeps_offsets(text: str) -> None:
    assert len(fold(text)) == len(text)


def test_folding_takes_accents_and_case() -> None:
    assert fold("Àéîõü ŁÓDŹ ÇA") == "aeiou łodz ca"


@given(st.sampled_from("precision running deployments analysis is was flies threshold tickets news".split()))
def test_a_stem_can_be_asked_for_exactly(word: str) -> None:
    (stem,) = STEMS(word)
    assert STEMS(STEMS.word_for(stem)) == (stem,)


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("Why does it fail?", CUE_ASKS),
        ("We moved it yesterday.", CUE_TIME),
        ("It took three runs.", CUE_NUMBER),
        ("Because the key moved.", CUE_REASON),
        ("Since 2024, because of 3 bugs?", CUE_ASKS | CUE_TIME | CUE_NUMBER | CUE_REASON),
        ("Plain words.", 0),
        ("", 0),
    ],
)
def test_cues(text: str, bits: int) -> None:
    assert cues(text) == bits


def test_a_calls_strings_are_searched_in_order() -> None:
    payload = {"sql": "SELECT 1", "options": ["a", {"b": "c"}], "limit": 5, "none": None}
    assert calls_text([("sql_execute", payload), ("bash", "ls")]) == "sql_execute\nSELECT 1\na\nc\nbash\nls"
