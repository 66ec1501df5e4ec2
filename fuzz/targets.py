"""What the fuzzer calls with bytes: each target checks a promise, and raises where it is broken.

A target takes any bytes. What it found once lies in `corpus/TARGET/`, and every file there is a test
(`tests/test_fuzz_corpus.py`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import apsw

from cocorecall.analysis import Stemmer, fold, index_text
from cocorecall.evidence import EvidenceFormat, evidence_files
from cocorecall.extract import Extraction, error_of, normalize_error, parse_glossary, summary_of
from cocorecall.extract.sql import SqlReader
from cocorecall.model import MAX_TEXT, Event, SessionHead, ToolCall, ToolResult, Turn
from cocorecall.search.excerpt import Match, join_spans, make_excerpt
from cocorecall.search.matches import find_matches
from cocorecall.search.query import parse_query
from cocorecall.search.tokens import estimate_tokens
from cocorecall.secrets import find_secrets, marker, mask
from cocorecall.sources import formats
from cocorecall.sources.discovery import Unreadable
from cocorecall.sources.transcript import FileStat, Transcript
from cocorecall.terminal import json_escaped, visible


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="cocorecall-fuzz-"))


@cache
def stems() -> Stemmer:
    """The index's stemmer, over an empty full-text table."""
    connection = apsw.Connection(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE turn_words USING fts5 (text, tokenize = 'porter unicode61 remove_diacritics 2')"
    )
    return Stemmer(connection)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _storable(events: list[Event]) -> None:
    """Every turn can go into SQLite and onto a terminal, and belongs to a session."""
    seen = False
    for event in events:
        seen = seen or isinstance(event, SessionHead)
        if isinstance(event, Turn):
            assert seen, "a turn before its session"
            for text in (event.text, event.thinking, event.role, *event.tags):
                text.encode()
                assert "\0" not in text, "NUL in a turn"
            assert len(event.text) <= MAX_TEXT, "a turn longer than is stored"


def _parse(agent: str, name: str, data: bytes) -> None:
    path = _folder() / name
    path.write_bytes(data)
    stat = FileStat(str(path), len(data), 0)
    chosen = next(f for f in formats() if f.agent == agent)
    transcript = Transcript((stat,))
    chosen.recognises(transcript, data[: 64 << 10])
    _storable(list(chosen.parse(transcript)))


def claude(data: bytes) -> None:
    """Claude Code's JSON lines."""
    _parse("claude", "s.jsonl", data)


def cortex(data: bytes) -> None:
    """Cortex Code's history lines."""
    _parse("cortex", "s.history.jsonl", data)


def cortex_inline(data: bytes) -> None:
    """Cortex Code's single document."""
    _parse("cortex", "s.json", data)


def reference(data: bytes) -> None:
    """The predecessor's loose layouts."""
    _parse("reference", "s.json" if data[:1] == b"{" else "s.jsonl", data)


_EVIDENCE = (
    ".cocoplus/memory/decisions.md", ".cocoplus/session/PROGRESS.md", ".cocoplus/grove/language/glossary.md",
    ".cocoplus/grove/patterns/p.md", ".cocoplus/wisdom/rejections.jsonl", ".cocoplus/contract-evidence.json",
    "cocoplus/strategies/s.yaml", "outcomes/f/contract.md", "outcomes/f/evidence/1.json",
)  # fmt: skip


def evidence(data: bytes) -> None:
    """CocoPlus's own files; the first byte chooses which."""
    root = _folder() / "project"
    path = root / _EVIDENCE[data[0] % len(_EVIDENCE) if data else 0]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data[1:])
    try:
        for item in evidence_files(root):
            assert not isinstance(item, Unreadable), item
            _storable(list(EvidenceFormat(root).parse(item)))
    finally:
        path.unlink()


def query(data: bytes) -> None:
    """Whatever a person types is understood, and finds its own words in a text."""
    text = _text(data)
    parsed = parse_query(text, stems())
    connection = apsw.Connection(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE w USING fts5 (text, tokenize = 'porter unicode61 remove_diacritics 2')"
    )
    for unit in (*parsed.units, *parsed.without):
        connection.execute("SELECT 1 FROM w WHERE w MATCH ?", (unit.expression,)).fetchall()
    for match in find_matches(text, [(u, 1.0) for u in parsed.units], stems()):
        assert 0 <= match.start < match.end <= len(text), "a match outside of the text"


def excerpt(data: bytes) -> None:
    """An excerpt is the text's own spans with the gaps counted, and keeps its budget."""
    size, words, body = (data[:1] or b"\0")[0], _text(data[1:9]), _text(data[9:])
    units = [(u, 1.0) for u in parse_query(words, stems()).units]
    matches = (
        find_matches(body, units, stems())
        if units
        else [Match(n, n + 1, 0, 1.0) for n in range(0, len(body), 7)]
    )
    budget = 10 + size
    made = make_excerpt(body, matches, budget=budget, cost=estimate_tokens)
    assert made.text == join_spans(body, made.spans), "an excerpt that its spans do not make"
    assert list(made.spans) == sorted(made.spans), "spans out of order"
    assert all(0 <= a <= b <= len(body) for a, b in made.spans), "a span outside of the text"
    assert all(any(s <= a and b <= e for s, e in made.spans) for a, b in made.highlights), (
        "a highlight in a gap"
    )
    if made.spans:
        assert estimate_tokens(made.text) <= budget, "an excerpt beyond its budget"


def extraction(data: bytes) -> None:
    """No turn stops extraction, and every name it gives can be stored."""
    text = _text(data)
    extractor = Extraction(
        parse_glossary("## Golden Set\n\n**Aliases:** gold\n"), ["two-stage"], ["score"]
    ).session("/w")
    turns = (
        Turn("user", text),
        Turn("assistant", f"```sql\n{text}\n```", calls=(ToolCall("sql_execute", {"sql": text}, "1"), ToolCall("Edit", {"file_path": text, "new_string": text}))),
        Turn("tool", text, results=(ToolResult("1", "error"),)),
    )  # fmt: skip
    for seq, turn in enumerate(turns):
        for facet in extractor.extract_turn(turn, seq):
            repr(facet).encode()
        error = error_of(turn)
        if error is not None:
            assert error.split("\n")[0].strip() in text, "an error that the text does not hold"
            once = normalize_error(error)
            assert normalize_error(once) == once, "normalizing twice changes something"
    assert len(summary_of(text)) <= 240, "a summary too long"  # noqa: PLR2004 - the data contract's length


def sql(data: bytes) -> None:
    """No script stops the reader of SQL."""
    SqlReader(8).read(_text(data))


def words(data: bytes) -> None:
    """Folding, indexing and showing of any text."""
    text = _text(data)
    assert len(fold(text)) == len(text), "folding moves characters"
    index_text(text)
    shown = visible(text)
    shown = shown.replace("\r\n", "\n")
    assert not any(ord(c) < 32 and c not in "\n\t" for c in shown), "a control character is shown"  # noqa: PLR2004
    assert "\x1b" not in json_escaped(text), "an escape character in JSON"


def secrets(data: bytes) -> None:
    """Only credentials are masked, each in full, and the rest is as it was."""
    text = _text(data)
    found = find_secrets(text)
    masked, at = "", 0
    for secret in found:
        assert at <= secret.start < secret.end <= len(text), "secrets overlap, or lie outside of the text"
        masked += text[at : secret.start] + marker(secret.kind)
        at = secret.end
    assert mask(text).text == masked + text[at:], "masking changes more than the secrets"
    assert sum(mask(text).counts.values()) == len(found), "secrets are miscounted"


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target
    for target in (
        claude,
        cortex,
        cortex_inline,
        reference,
        evidence,
        query,
        excerpt,
        extraction,
        sql,
        words,
        secrets,
    )
}
"""Targets by name."""
