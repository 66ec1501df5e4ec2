"""What the fuzzer starts from, and whatever it once found, keeps its promises (`make fuzz`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from targets import TARGETS

CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus"
CASES = sorted(p for folder in CORPUS.iterdir() for p in folder.iterdir())


@pytest.mark.parametrize("case", CASES, ids=lambda p: f"{p.parent.name}/{p.name[:20]}")
def test_a_fuzzed_input_keeps_every_promise(case: Path) -> None:
    TARGETS[case.parent.name](case.read_bytes())


def test_every_target_has_seeds() -> None:
    assert {p.parent.name for p in CASES} == set(TARGETS)
