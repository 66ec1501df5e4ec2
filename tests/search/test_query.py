from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocorecall.analysis import Stemmer
from cocorecall.search.query import Query, parse_query

STEMS = Stemmer()


def parsed(text: str) -> Query:
    return parse_query(text, STEMS)


def shown(text: str) -> list[str]:
    return [u.shown for u in parsed(text).units]


@given(st.text(max_size=200))
def test_any_text_is_a_query(text: str) -> None:
    query = parsed(text)
    assert all(u.stems for u in (*query.units, *query.without))


@given(
    st.lists(st.sampled_from(['"', "-", "+", "*", ":", "(", ")", "AND", "NEAR", "^", "a", "role", "'", "\\"]))
)
def test_operators_and_quotes_in_any_order_are_text(pieces: list[str]) -> None:
    parsed("".join(pieces))
    parsed(" ".join(pieces))


def test_stop_words_count_only_alone() -> None:
    assert shown("why did we set the threshold") == ["set", "threshold"]
    assert shown("what was that") == ["what", "was", "that"]


@pytest.mark.parametrize(
    ("text", "stems"),
    [
        ("dedupe_orders", ("dedup", "order")),
        ("DB.SCHEMA.TABLE", ("db", "schema", "tabl")),
        ("foo-bar", ("foo", "bar")),
        ("src/models/stg_orders.sql", ("src", "model", "stg", "order", "sql")),
        ("v1.2.3", ("v1", "2", "3")),
        ("002003", ("002003",)),
        ("Café", ("cafe",)),
        ("getUserProfile", ("getuserprofil", "get", "user", "profil")),
    ],
)
def test_names_are_phrases_of_their_parts(text: str, stems: tuple[str, ...]) -> None:
    assert parsed(text).units[0].stems == stems


@pytest.mark.parametrize("text", ["C++", ".env", "--flag", "C#"])
def test_symbols_that_make_the_word_are_literal(text: str) -> None:
    assert parsed(text).units[0].literal == text.lower()


@pytest.mark.parametrize("text", ["(42S02)", "threshold?", "`orders`", "orders,", "“orders”", "orders…"])
def test_punctuation_round_a_word_is_not_part_of_it(text: str) -> None:
    (unit,) = parsed(text).units
    assert unit.literal is None
    assert unit.shown.isalnum()


def test_signs_apply_to_the_word_that_follows() -> None:
    query = parsed("+must -without plain -1 - ->")
    assert [(u.shown, u.must) for u in query.units] == [("must", True), ("plain", False), ("-1", False)]
    assert [u.shown for u in query.without] == ["without"]


def test_phrases_need_both_quotes() -> None:
    assert parsed('"merge key" x').units[0].stems == ("merg", "kei")
    assert shown('"merge key') == ["merge", "key"]


def test_a_prefix_is_not_stemmed() -> None:
    (unit,) = parsed("deploym*").units
    assert unit.prefix
    assert unit.stems == ("deploym",)


def test_chinese_japanese_and_korean_are_found_by_runs() -> None:
    assert parsed("配置文件").units[0].stems == ("配置", "置文", "文件")
    assert parsed("文").units[0].prefix
    assert shown("東京 tower 서울") == ["東京", "tower", "서울"]


def test_filters_are_known_keys_before_a_colon() -> None:
    query = parsed("role:user since:7d a:b http://x.y threshold")
    assert query.filters == (("role", "user"), ("since", "7d"))
    assert [u.shown for u in query.units] == ["a:b", "http://x.y", "threshold"]


def test_the_same_word_twice_is_one_unit() -> None:
    assert shown("orders order Orders") == ["orders"]


def test_possessives_are_the_name() -> None:
    assert parsed("Dana's").units[0].stems == ("dana",)


def test_pasted_code_asks_for_its_names() -> None:
    assert shown("classify_ticket(text, labels=all_labels)") == [
        "classify_ticket",
        "text",
        "labels",
        "all_labels",
    ]
    assert shown("threshold=0.85") == ["threshold", "0.85"]
