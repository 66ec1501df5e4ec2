from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocorecall.search.budget import pack
from cocorecall.search.excerpt import Excerpt, Match, gap_mark, join_spans, make_excerpt, whole
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


@given(text=TEXTS, budget=st.integers(12, 200), most=st.integers(1, 3))
def test_spans_are_verbatim_in_order_and_within_the_budget(text: str, budget: int, most: int) -> None:
    matches = matches_of(text, "needle", "beta", "京")
    excerpt = make_excerpt(text, matches, budget=budget, cost=estimate_tokens, max_spans=most)
    assert excerpt.text == join_spans(text, excerpt.spans)
    assert estimate_tokens(excerpt.text) <= budget
    assert len(excerpt.spans) <= most
    flat = [at for span in excerpt.spans for at in span]
    assert flat == sorted(flat)
    assert all(0 <= a < b <= len(text) for a, b in excerpt.spans) or excerpt.spans == ((0, len(text)),)
    assert excerpt == make_excerpt(text, matches, budget=budget, cost=estimate_tokens, max_spans=most)


@given(text=TEXTS, budget=st.integers(12, 200))
def test_highlights_are_the_matches_that_are_shown(text: str, budget: int) -> None:
    excerpt = cut(text, budget, "needle", "beta", "京")
    shown = [
        m for m in matches_of(text, "needle", "beta", "京")
        if any(a <= m.start and m.end <= b for a, b in excerpt.spans)
    ]  # fmt: skip
    assert list(excerpt.highlights) == [(m.start, m.end) for m in shown]


@given(text=TEXTS, budget=st.integers(0, 200))
def test_a_gap_is_longer_than_its_mark(text: str, budget: int) -> None:
    excerpt = cut(text, budget, "needle", "京")
    edges = [0, *(at for span in excerpt.spans for at in span), len(text)]
    for low, high in zip(edges[::2], edges[1::2], strict=True):
        assert high == low or high - low >= len(gap_mark(high - low)) or not excerpt.spans


@given(text=TEXTS, budget=st.integers(40, 200))
def test_a_match_is_shown_where_there_is_one(text: str, budget: int) -> None:
    excerpt = cut(text, budget, "needle", "beta", "京")
    assert bool(excerpt.highlights) == bool(matches_of(text, "needle", "beta", "京"))


@given(
    before=st.integers(0, 60), after=st.integers(0, 60), first=st.integers(0, 30), budget=st.integers(60, 300)
)
def test_the_weightiest_word_is_in_the_excerpt(before: int, after: int, first: int, budget: int) -> None:
    sentences = ["Plain words about tables stand here."] * (before + after + first)
    sentences.insert(first, "Here alpha meets beta.")
    sentences.insert(first + before, "There the needle lies.")
    text = " ".join(sentences)
    weights = {"alpha": 1.0, "beta": 1.0, "needle": 5.0}
    matches = [Match(text.find(w), text.find(w) + len(w), n, x) for n, (w, x) in enumerate(weights.items())]
    assert "needle" in make_excerpt(text, matches, budget=budget, cost=estimate_tokens).text


WORDS = st.lists(
    st.sampled_from("table query needle runs fails late early orders".split()), min_size=2, max_size=8
)


@given(
    sentences=st.lists(WORDS, min_size=1, max_size=60),
    separator=st.sampled_from([" ", "\n", "\n\n", "\r\n"]),
    budget=st.integers(70, 300),
)
def test_prose_is_cut_at_sentences_and_lines_only(
    sentences: list[list[str]], separator: str, budget: int
) -> None:
    whole_ones = [" ".join(words).capitalize() + "." for words in sentences]
    text = separator.join(whole_ones)
    for start, end in cut(text, budget, "needle", "late").spans:
        assert set(re.split(r"(?<=\.)\s+", text[start:end].strip())) <= set(whole_ones)


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


def test_cost_is_asked_for_little_of_a_long_text() -> None:
    text = f"{FILLER}\n" * 60
    priced = 0

    def cost(piece: str) -> int:
        nonlocal priced
        priced += len(piece)
        return estimate_tokens(piece)

    excerpt = make_excerpt(text, matches_of(text, "Line 7 ", "plain", "tables"), budget=200, cost=cost)
    assert len(text) > 1_000_000
    assert priced < 8 * len(excerpt.text)


def test_of_very_many_matches_the_passage_that_holds_all_words_is_found() -> None:
    lines = [
        f"alpha {n} stands here, as does beta." if n % 2 else f"gamma {n} is alone." for n in range(20_000)
    ]
    lines[12_345] = "Here alpha, beta, gamma and the needle meet."
    text = "\n".join(lines)
    excerpt = cut(text, 45, "alpha", "beta", "gamma", "needle")
    assert "Here alpha, beta, gamma and the needle meet." in excerpt.text


@pytest.mark.parametrize(
    "joined",
    ["e\u0301", "👩\u200d🔬", "👍🏽", "\r\n", "🇨🇭", "\ud83d\ude00", "\u1112\u1161\u11ab", "नि", "☎\ufe0e"],
)
def test_what_is_read_as_one_character_is_not_cut(joined: str) -> None:
    text = joined * 400
    for budget in range(30, 60):
        (start, end), *_ = make_excerpt(text, [], budget=budget, cost=estimate_tokens).spans
        assert text[start:end].count(joined) * len(joined) == end - start


@pytest.mark.parametrize("budget", [-1, 0, 1, 5])
def test_without_room_one_mark_stands_for_all(budget: int) -> None:
    assert cut(FILLER, budget, "Line 7") == Excerpt(gap_mark(len(FILLER)), (), ())


def test_without_matches_the_beginning_is_shown() -> None:
    (span,) = cut(FILLER, 60).spans
    assert span[0] == 0
    assert FILLER[: span[1]].endswith("plain words.\n")


def test_more_is_shown_behind_a_match_than_before_it() -> None:
    text = f"{FILLER}\nThe needle lies here.\n{FILLER}"
    (start, end) = cut(text, 200, "needle").spans[0]
    at = text.find("The needle")
    assert 0 < at - start < end - at


def test_an_excerpt_begins_with_the_paragraph_of_its_match() -> None:
    text = f"{FILLER}\n\nThe needle lies here.\n{FILLER}"
    assert "…]\nThe needle lies here.\nLine 0 talks" in cut(text, 120, "needle").text


def test_rows_of_a_table_stay_whole() -> None:
    rows = [f"| {n} | ORDERS_{n} | Loaded late. Retried at {n}:00. | {n * 7} |" for n in range(200)]
    text = "\n".join(["| ID | NAME | NOTE | ROWS |", "| --- | --- | --- | --- |", *rows])
    excerpt = cut(text, 120, "ORDERS_77")
    shown = [line for line in excerpt.text.splitlines() if not line.startswith("[… ")]
    assert rows[77] in shown
    assert set(shown) <= set(text.splitlines())


def test_lines_of_a_log_stay_whole() -> None:
    lines = [
        f"2026-05-14 10:{n // 60:02}:{n % 60:02} ERROR Task failed. Trying again. attempt={n}"
        for n in range(900)
    ]
    excerpt = cut("\n".join(lines), 150, "attempt=444")
    shown = [line for line in excerpt.text.splitlines() if not line.startswith("[… ")]
    assert lines[444] in shown
    assert set(shown) <= set(lines)


CODE = "\n".join(
    f"def step_{n}(rows):\n    total = sum(rows)  # Add up. Then go on.\n    return total" for n in range(60)
)


def test_lines_of_code_stay_whole_and_no_fence_is_left_alone() -> None:
    text = f"{FILLER}\n\nThe needle is this:\n\n```python\n{CODE}\n```\n\n{FILLER}"
    for budget in range(40, 300, 7):
        for word in ("needle", "step_0(", "step_30(", "step_59("):
            excerpt = cut(text, budget, word)
            shown = [line for line in excerpt.text.splitlines() if not line.startswith("[… ")]
            if budget > 60:
                assert set(shown) <= {*text.splitlines(), ""}
            for start, end in excerpt.spans:
                assert not text[start:end].rstrip().endswith("```python")
                assert not text[start:end].startswith("```\n")


def test_japanese_is_cut_behind_its_full_stops() -> None:
    sentences = [f"これは{n}番目の文です。" for n in range(200)]
    sentences[100] = "彼は「針がここにある。」と言った。"
    text = "".join(sentences)
    excerpt = cut(text, 90, "針")
    assert sentences[100] in excerpt.text
    for start, end in excerpt.spans:
        assert text[end - 1] in "。」"
        assert text[start - 1] in "。」"


def test_an_abbreviation_ends_no_sentence() -> None:
    filler = "Plain words fill the page without end. " * 60
    text = f"{filler}We keep keys, e.g. the needle of Dr. Stone, for later. {filler}"
    excerpt = cut(text, 50, "needle")
    assert "We keep keys, e.g. the needle of Dr. Stone, for later." in excerpt.text


def test_words_of_a_sentence_that_is_too_long_stay_whole() -> None:
    words = [f"word{n}" for n in range(3000)]
    text = " ".join(words)
    excerpt = cut(text, 60, "word1500")
    (start, end) = excerpt.spans[0]
    assert "word1500" in text[start:end].split()
    assert set(text[start:end].split()) <= set(words)


@settings(max_examples=40)
@given(st.integers(0, 200_000), st.integers(30, 400))
def test_a_line_without_blanks_is_cut_around_the_match(at: int, budget: int) -> None:
    text = "x" * at + "needle" + "x" * (200_000 - at)
    excerpt = cut(text, budget, "needle")
    assert excerpt.highlights == ((at, at + 6),)


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


def test_texts_without_value_share_equally() -> None:
    """Hits of a search by filters alone have no score."""
    assert pack([Item(40, 400, 0.0), Item(40, 400, 0.0)], 880) == [400, 400]


def test_a_text_that_lacks_little_is_shown_whole() -> None:
    assert pack([Item(40, 900, 10.0), Item(40, 45, 0.1)], 400)[1] == 45


def test_short_turns_are_all_shown_whole() -> None:
    assert pack([Item(40, 30 + n, 10.0 - n) for n in range(5)], 400) == [30, 31, 32, 33, 34]


def test_the_first_hit_is_shown_if_its_citation_fits() -> None:
    assert pack([Item(40, 900, 10.0)], 50) == [10]
    assert pack([Item(40, 900, 10.0)], 40) == [None]
