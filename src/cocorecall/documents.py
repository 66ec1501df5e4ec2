"""Result objects as the JSON documents that programs read: the same keys from every face.

The keys are a contract (README, "What a program reads"): one is added, none is renamed or dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from cocorecall.model import Hit, Results, SecretReport, SessionView


def document(report: DataclassInstance) -> dict[str, Any]:
    """The document of a report whose fields are its keys, such as an import's or a timeline's."""
    from dataclasses import asdict  # noqa: PLC0415 - a search needs none

    return asdict(report)


def search_document(results: Results) -> dict[str, Any]:
    """A search's document: the keys of the README's table."""
    return {
        "query": results.query,
        "mode": results.mode,
        "filters": dict(results.filters),
        "total_turns": results.total_turns,
        "total_sessions": results.total_sessions,
        "returned": results.returned,
        "budget": results.budget,
        "tokens": results.tokens,
        "results": [hit_document(hit) for hit in results.hits],
        "words": [
            {"word": w.word, "turns": w.turns, "sessions": w.sessions, "near": w.near} for w in results.words
        ],
        "notes": list(results.notes),
    }


_KEYS = (
    "rank", "score", "field", "in_source", "session_id", "turn_id", "source_exists", "suggested_follow_up", "match",
    "matched", "missed", "session_matches", "latest_turn_id", "speaker_role", "timestamp", "seq", "agent", "title",
    "cwd", "phase_context", "source_path", "source_line", "text_hash", "text", "spans", "text_length", "highlights",
    "tags", "also_in", "kind", "echo", "time_source", "secrets",
)  # fmt: skip


def hit_document(hit: Hit) -> dict[str, Any]:
    """One result of a search's document."""
    out: dict[str, Any] = {key: getattr(hit, key) for key in _KEYS}
    if hit.verified is not None:
        out["verified"] = hit.verified
    if hit.explanation:
        out["explanation"] = {
            "factors": {f.name: round(f.value, 6) for f in hit.explanation.factors},
            "terms": [
                {"term": t.term, "idf": round(t.idf, 6), "frequency": round(t.frequency, 6), "own": t.own,
                 "score": round(t.score, 6)}
                for t in hit.explanation.terms
            ],
        }  # fmt: skip
    return out


def session_document(view: SessionView) -> dict[str, Any]:
    """A session's document."""
    return {
        "session": document(view.session),
        "query": view.query,
        "turns": [document(turn) for turn in view.turns],
        "omitted_after": view.omitted_after,
        "shared_turns": view.shared_turns,
        "shared_with": view.shared_with,
    }


def secrets_document(report: SecretReport) -> dict[str, Any]:
    """The document of where secrets are; it holds none."""
    return {
        "secrets": report.secrets,
        "turns": report.turns,
        "sessions": report.sessions,
        "kinds": dict(report.kinds),
        "results": [document(place) for place in report.places],
    }
