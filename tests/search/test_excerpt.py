from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocorecall.search.excerpt import Excerpt, Match, gap_mark, join_spans, make_excerpt, pack, whole
from cocorecall.search.tokens import estimate_tokens


def matches_of(text: str, *words: str) -> list[Match]:
    found = [
        Match(m.start(), m.end(), n, 1.0 + n)
        for n, w in enumerate(words)
        for m in re.finditer(re.escape(w), text)
    ]
    return sorted(found, key=lambda m: (m.start, m.end))


def cut(text: str, budget: int, *words: str) -> Excerpt:
    return make_excerpt(text, matches_of(text, *words), budget=budget, cost=estimate_tokens)


TEXTS = st.one_of(
    st.text(max_size=400),
    st.lists(st.sampled_from(["alpha", "beta", "needle", "The end.", "\n", "東京です。", "x" * 60, "e\u0301", "😀"]), max_size=120).map(" ".join),
)  # fmt: skip


@given(text=TEXTS, budget=st.integers(12, 200))
def test_spans_are_verbatim_in_order_and_within_the_budget(text: str, budget: int) -> None:
    excerpt = cut(text, budget, "needle", "beta", "京")
    assert excerpt.text == join_spans(text, excerpt.spans)
    assert estimate_tokens(excerpt.text) <= budget
    flat = [at for span in excerpt.spans for at in span]
    assert flat == sorted(flat)
    assert all(0 <= a < b <= len(text) or (a, b) == (0, 0) for a, b in excerpt.spans)
    for start, end in excerpt.highlights:
        assert any(a <= start and end <= b for a, b in excerpt.spans)
        assert text[start:end]


@given(text=TEXTS, budget=st.integers(12, 200))
def test_what_is_left_out_is_counted_to_the_character(text: str, budget: int) -> None:
    excerpt = cut(text, budget, "needle")
    marks = re.findall(r"\[… ([\d,]+) characters? …\]", excerpt.text)
    shown = sum(b - a for a, b in excerpt.spans)
    assert sum(int(m.replace(",", "")) for m in marks) == len(text) - shown


def test_a_text_that_fits_is_whole() -> None:
    text = "A short answer. With a needle in it."
    assert cut(text, 50, "needle") == whole(text, matches_of(text, "needle"))


FILLER = "\n".join(f"Line {n} talks of pipelines and of tables in plain words." for n in range(300))


def test_the_passage_where_the_words_stand_together_is_shown_not_the_first_match() -> None:
    text = f"needle alone.\n{FILLER}\nThe needle and the thread lie here.\n{FILLER}"
    excerpt = cut(text, 60, "needle", "thread")
    assert "The needle and the thread lie here." in excerpt.text


def test_words_far_apart_are_shown_in_spans_of_their_own() -> None:
    text = f"{FILLER}\nThe needle lies here.\n{FILLER}\nThe thread lies there.\n{FILLER}"
    excerpt = cut(text, 120, "needle", "thread")
    assert "The needle lies here." in excerpt.text
    assert "The thread lies there." in excerpt.text
    assert len(excerpt.spans) == 2


def test_lines_stay_whole() -> None:
    excerpt = cut(f"{FILLER}\nThe needle lies here.\n{FILLER}", 80, "needle")
    for line in excerpt.text.splitlines():
        assert line in FILLER or line == "The needle lies here." or line.startswith("[… ")


def test_sentences_stay_whole() -> None:
    sentences = [f"Sentence {n} speaks plainly of tables." for n in range(200)]
    sentences[120] = "The needle lies in this one."
    excerpt = cut(" ".join(sentences), 60, "needle")
    (start, end), text = excerpt.spans[0], " ".join(sentences)
    assert text[start:end].startswith(("Sentence", "The needle"))
    assert text[start:end].rstrip().endswith(".")


def test_a_line_of_a_million_characters_is_cut_anywhere() -> None:
    text = "x" * 500_000 + "needle" + "x" * 500_000
    excerpt = cut(text, 40, "needle")
    assert "needle" in excerpt.text
    assert len(excerpt.highlights) == 1


@pytest.mark.parametrize("joined", ["e\u0301", "👩\u200d🔬", "👍🏽", "\r\n"])
def test_what_is_read_as_one_character_is_not_cut(joined: str) -> None:
    text = joined * 400
    (start, end), *_ = make_excerpt(text, [], budget=30, cost=estimate_tokens).spans
    assert text[start:end].count(joined) * len(joined) == end - start


def test_hardly_anything_is_never_hidden() -> None:
    text = "short start. " + "needle " + "word " * 400
    assert cut(text, 60, "needle").text.startswith("short start.")


def test_marks_are_singular_for_one() -> None:
    assert gap_mark(1) == "[… 1 character …]"
    assert gap_mark(1234) == "[… 1,234 characters …]"


class Item:
    def __init__(self, fixed: int, full: int, value: float) -> None:
        self.fixed, self.full, self.value = fixed, full, value
        self.floor = min(full, 30)


ITEMS = st.lists(st.tuples(st.integers(5, 60), st.integers(1, 2000), st.floats(0.1, 20)), max_size=25).map(
    lambda rows: [Item(*row) for row in sorted(rows, key=lambda r: -r[2])]
)


@given(items=ITEMS, budget=st.integers(0, 1500))
def test_a_budget_is_shared_without_being_exceeded(items: list[Item], budget: int) -> None:
    grants = pack(items, budget)
    given_ = [(i, g) for i, g in zip(items, grants, strict=True) if g is not None]
    assert sum(i.fixed + g for i, g in given_) <= budget or not given_
    assert all(0 < g <= i.full for i, g in given_)
    assert [g is not None for g in grants] == sorted((g is not None for g in grants), reverse=True)


def test_more_is_given_to_the_more_valuable() -> None:
    grants = pack([Item(40, 900, 10.0), Item(40, 900, 5.0), Item(40, 900, 5.0)], 1000)
    assert grants[0] is not None
    assert grants[1] is not None
    assert grants[0] > grants[1]


def test_what_one_hit_does_not_need_goes_to_the_others() -> None:
    grants = pack([Item(40, 20, 10.0), Item(40, 900, 5.0)], 1000)
    assert grants == [20, 900]


def test_hits_without_a_score_share_alike() -> None:
    assert pack([Item(40, 900, 0.0), Item(40, 900, 0.0)], 1000) == [460, 460]
