"""Scores of a retrieval benchmark, and the baselines they are compared with.

R@k: mean share of a question's evidence turns among the first k; h@k: any of them. MRR: mean of 1/rank of the first
evidence turn. S@k: share of evidence sessions among the first k distinct sessions; Sh@k: any of them. B@1000: share of
the evidence turns that a default answer (one turn a session, 1,000 tokens) shows at least in part; A@1000: the same with
`all`. The printed table shows `COLUMNS`; `--json` all of them.
"""

from __future__ import annotations

import json
import re
import statistics
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import apsw

from cocorecall import Recall

NOW = datetime(2026, 12, 1, tzinfo=UTC)
"""The clock of every run: recency must not move the figures."""

STOP_WORDS = frozenset(
    "a an and are as at be by did do does for from had has have how i in is it of on or that the their there they this"
    " to was we were what when where which who why will with you".split()
)


@dataclass(frozen=True)
class Question:
    """A question and the ids of the turns that answer it; none for one that nothing answers."""

    text: str
    evidence: frozenset[str]
    kind: str


@contextmanager
def empty_project(*sources: str) -> Iterator[Path]:
    """A project in a temporary folder, its sources relative to it."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / ".cocoplus").mkdir()
        (root / "cocoplus").mkdir()
        (root / "cocoplus" / "recall-sources.json").write_text(json.dumps(sources), encoding="utf-8")
        yield root


Ranking = Callable[[str], list[str]]
"""The ids of the turns that a method ranks first, best first."""


def session_of(turn_id: str) -> str:
    """A turn's session."""
    return turn_id.rpartition(":")[0]


def score_ranking(question: Question, ranked: Sequence[str]) -> dict[str, float]:
    """R@k, MRR and the sessions' scores of one ranking."""
    evidence = question.evidence
    first = next((n for n, turn in enumerate(ranked, 1) if turn in evidence), None)
    scores = {f"R@{k}": len(evidence & set(ranked[:k])) / len(evidence) for k in (1, 5, 10, 20)}
    scores |= {f"h@{k}": float(bool(evidence & set(ranked[:k]))) for k in (1, 5)}
    scores["MRR"] = 1 / first if first else 0.0
    return scores | _session_scores(evidence, list(map(session_of, ranked)))


def _session_scores(evidence: frozenset[str], ranked: Sequence[str]) -> dict[str, float]:
    """S@k and Sh@k of sessions in their order, repeats allowed."""
    sessions = list(dict.fromkeys(ranked))
    wanted = {session_of(t) for t in evidence}
    scores = {f"S@{k}": len(wanted & set(sessions[:k])) / len(wanted) for k in (5, 10)}
    return scores | {f"Sh@{k}": float(bool(wanted & set(sessions[:k]))) for k in (1, 5)}


def score_recall(recall: Recall, question: Question) -> dict[str, float]:
    """Every score of CocoRecall for one question."""
    search = recall.search
    ranked = [h.turn_id for h in search(question.text, all=True, limit=20, record=False, budget=None).hits]
    scores = score_ranking(question, ranked)
    diverse = search(question.text, limit=10, record=False, budget=None).hits
    scores |= _session_scores(question.evidence, [h.session_id for h in diverse])
    short = search(question.text, record=False)
    dense = search(question.text, all=True, record=False)
    scores["B@1000"] = len(question.evidence & {h.turn_id for h in short.hits}) / len(question.evidence)
    scores["A@1000"] = len(question.evidence & {h.turn_id for h in dense.hits}) / len(question.evidence)
    scores["tokens"] = short.tokens
    return scores


def means(rows: Iterable[dict[str, float]]) -> dict[str, float]:
    """Means in percent (tokens as they are)."""
    rows = list(rows)
    if not rows:
        return {}
    return {k: statistics.fmean(r[k] for r in rows) * (1 if k == "tokens" else 100) for k in rows[0]}


def table_row(name: str, scores: dict[str, float]) -> str:
    """A row of a Markdown table."""
    cells = [f"{scores[c]:.0f}" if c == "tokens" else f"{scores[c]:.1f}" for c in COLUMNS if c in scores]
    return f"| {name} | " + " | ".join(cells + ["–"] * (len(COLUMNS) - len(cells))) + " |"


COLUMNS = ("R@1", "R@5", "R@10", "MRR", "S@5", "Sh@1", "B@1000", "A@1000", "tokens")
TABLE_HEAD = f"| | {' | '.join(COLUMNS)} |\n|{' --- |' * (len(COLUMNS) + 1)}"


# --- baselines -----------------------------------------------------------------------------------------------


def stored_turns(recall: Recall) -> list[tuple[str, str, str]]:
    """(turn id, text with calls, time) of every turn of an index."""
    database = apsw.Connection(str(recall.place.index_path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        rows = database.execute(
            "SELECT t.id, t.text || ' ' || coalesce(group_concat(c.payload, ' '), ''), t.timestamp FROM turns t"
            " LEFT JOIN tool_calls c ON c.doc = t.doc GROUP BY t.doc ORDER BY t.doc"
        )
        return [(str(i), str(text), str(at)) for i, text, at in rows]
    finally:
        database.close()


def plain_fts(turns: Sequence[tuple[str, str, str]], *, stems: bool) -> Ranking:
    """FTS5's bm25 over any of the words; with `stems` Porter stems and without stop words."""
    database = apsw.Connection(":memory:")
    tokenizer = "porter unicode61" if stems else "unicode61"
    database.execute(f"CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = '{tokenizer}')")
    database.executemany(
        "INSERT INTO words (rowid, text) VALUES (?, ?)", [(n, t[1]) for n, t in enumerate(turns)]
    )

    def rank(question: str) -> list[str]:
        words = re.findall(r"\w+", question.lower())
        kept = [w for w in words if not stems or w not in STOP_WORDS] or words
        expression = " OR ".join(f'"{w}"' for w in dict.fromkeys(kept))
        if not expression:
            return []
        rows = database.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 20", (expression,)
        )
        return [turns[int(n or 0)][0] for (n,) in rows]

    return rank


def predecessor(turns: Sequence[tuple[str, str, str]]) -> Ranking:
    """The JavaScript predecessor: how many of the words the lower-cased text contains, plus recency in 0 to 1."""
    times = [datetime.fromisoformat(at).timestamp() for _, _, at in turns]
    oldest, newest = min(times), max(times)
    recency = [(t - oldest) / max(1.0, newest - oldest) for t in times]
    lowered = [text.lower() for _, text, _ in turns]

    def rank(question: str) -> list[str]:
        words = set(question.lower().split())
        scored = [(sum(w in text for w in words), recency[n], turns[n][0]) for n, text in enumerate(lowered)]
        best = sorted((s for s in scored if s[0]), key=lambda s: (-s[0] - s[1], s[2]))
        return [turn for _, _, turn in best[:20]]

    return rank


def score_baselines(recall: Recall, questions: Sequence[Question]) -> dict[str, dict[str, float]]:
    """Means of each baseline over the same turns and questions."""
    turns = stored_turns(recall)
    methods = {
        "predecessor's formula": predecessor(turns),
        "FTS5, any word": plain_fts(turns, stems=False),
        "FTS5, stems, no stop words": plain_fts(turns, stems=True),
    }
    return {name: means(score_ranking(q, rank(q.text)) for q in questions) for name, rank in methods.items()}
