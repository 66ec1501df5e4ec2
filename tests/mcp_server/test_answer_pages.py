"""Pages of any session keep their budget, go on, and lose nothing."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from cocorecall import Recall
from cocorecall.mcp.answers import MOST_DOCUMENT
from cocorecall.mcp.arguments import LEAST_BUDGET
from cocorecall.mcp.pages import Page, Position
from cocorecall.model import CallView, SessionInfo, SessionView, Span, TurnView

TEXT = st.one_of(
    st.text(max_size=80),
    st.text(alphabet="ab \n.", max_size=4000),
    st.text(alphabet="数据表迁移。\n", max_size=900),
    st.sampled_from(["x" * 20_000, "a1b2c3d4-" * 600, "\n" * 500, "{" * 1500]),
)
NAMES = st.text(alphabet="session数\n <>", min_size=1, max_size=60)


@st.composite
def turns(draw: st.DrawFn, seq: int) -> TurnView:
    text = draw(TEXT)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
    some = tuple(zip(cuts[::2], cuts[1::2], strict=False))
    marks: tuple[Span, ...] = tuple((n, n + 1) for n in range(0, min(len(text), 400), 3))
    return TurnView(
        turn_id=f"s:{seq}", seq=seq, speaker_role="user", timestamp="2026-05-14T09:12:00.000Z", time_source="turn",
        text=text, spans=tuple((a, b) for a, b in some if b > a) or ((0, len(text)),),
        highlights=draw(st.sampled_from([(), marks])), matched=draw(st.booleans()), text_hash="0" * 64,
        text_length=len(text), in_source=True, source_line=1, kind="message", echo=False, tags=(),
        calls=tuple(CallView("tool", draw(TEXT)) for _ in range(draw(st.integers(0, 2)))),
        thinking=draw(st.sampled_from(["", "why " * 30])),
    )  # fmt: skip


@st.composite
def views(draw: st.DrawFn) -> SessionView:
    info = SessionInfo(
        "s", "claude", draw(NAMES), draw(NAMES), None, "2026-05-14T09:12:00.000Z", "2026-05-14T09:13:00.000Z", None,
        None, None, "/t/" + draw(NAMES), source_exists=True, turns=3,
    )  # fmt: skip
    shown = tuple(draw(turns(seq)) for seq in range(draw(st.integers(0, 4))))
    return SessionView(info, draw(st.none() | NAMES), shown)


@settings(max_examples=60)
@given(views(), st.sampled_from([LEAST_BUDGET, 350, 1000, 9000]))
def test_pages_keep_the_budget_go_on_and_lose_nothing(view: SessionView, budget: int) -> None:
    start: Position | None = Position()
    shown: dict[int, list[Span]] = {}
    calls: dict[int, int] = {}
    while start is not None:
        page = Page(view, start, budget)
        answer = page.answer("99.9.99999-01234567" if page.next else None)
        assert Recall.estimate_tokens(answer.text) <= budget
        assert Recall.estimate_tokens(json.dumps(answer.document, ensure_ascii=False)) <= max(
            MOST_DOCUMENT, budget
        )
        for turn in answer.document["turns"]:
            shown.setdefault(turn["seq"], []).extend(turn["spans"])
            calls[turn["seq"]] = max(calls.get(turn["seq"], 0), len(turn["calls"]))
            assert turn["text"] in answer.text or not turn["text"].isprintable() or not turn["text"]
        if page.next is not None:
            assert (page.next.seq, page.next.part, page.next.at) > (start.seq, start.part, start.at)
        start = page.next
    assert set(shown) == {turn.seq for turn in view.turns}
    for turn in view.turns:
        wanted = {n for a, b in turn.spans for n in range(a, b)}
        assert {n for a, b in shown[turn.seq] for n in range(a, b)} == wanted
        assert bool(calls[turn.seq]) == bool(turn.calls)
