"""The labelled turns: floors of precision and recall."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "dream" / "score.py"


def test_what_is_gathered_is_right_nine_times_in_ten() -> None:
    spec = importlib.util.spec_from_file_location("dream_score", BENCHMARK)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for path in module.FILES:
        counts = module.score(path)
        assert sum(counts.values()) > 30
        for kind in module.KINDS:
            if any(counts[kind, name] for name in ("right", "wrong", "missed")):
                precision, recall = module.rates(counts, (kind,))
                assert precision >= module.PRECISION, (path.name, kind)
                assert recall >= 0.7, (path.name, kind)


@pytest.mark.parametrize(
    "sentence",
    [
        "Why do we always fail?",
        "Ravi said “never use views”.",
        "Maybe always use a view.",
        "```\nalways\n```",
    ],
)
def test_what_only_sounds_like_a_preference_is_none(sentence: str) -> None:
    from cocorecall.dream.gather import signals_in

    assert list(signals_in(sentence, "user")) == []
