"""Twenty awkward queries on a fixed index: the whole answer, as a file, so that a change shows what a user would see.

`UPDATE_GOLDEN=1 pytest tests/search/test_awkward_queries.py` writes the answers anew; read the diff before committing.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cocorecall import Recall

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"
NOW = datetime(2026, 12, 1, tzinfo=UTC)
WRITTEN = datetime(2026, 11, 30, 18, tzinfo=UTC).timestamp()

QUERIES = {
    "question": "why did we set the threshold to 0.85?",
    "error-code": "002003 (42S02)",
    "dotted-name": "ANALYTICS.CORE.ORDERS",
    "snake-case": "dedupe_orders",
    "camel-part": "AccessDenied",
    "hyphen": "near-duplicate",
    "flag": "--select",
    "dot-file": ".env",
    "unbalanced-quote": '"merge key',
    "phrase": '"merge key"',
    "prefix": "reclust*",
    "must-and-without": "+threshold -precision",
    "operators-are-words": "threshold AND NOT OR NEAR(0.85)",
    "colon": "a:b SOURCE:x",
    "filter-inside": "role:user threshold",
    "filter-alone": "role:user since:2026-11-20",
    "japanese": "文字",
    "nonsense-with-a-word": "zyxomma clustering",
    "nonsense": "qwertzuiop",
    "emoji-and-signs": "🔥 -> ++ *",
    "stop-words-only": "what was it that we did",
    "time-in-question": "what did we decide about clustering in October?",
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recall]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    if hasattr(time, "tzset"):
        time.tzset()
    project = tmp_path_factory.mktemp("golden") / "demo"
    shutil.copytree(ROOT / "examples" / "demo", project)
    for file in project.rglob("*"):  # a file without any date in it goes by its own, which a checkout sets
        os.utime(file, (WRITTEN, WRITTEN))
    with Recall.open(project, clock=lambda: NOW) as recall:
        recall.import_sources()
        yield recall
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    if hasattr(time, "tzset"):
        time.tzset()


@pytest.mark.parametrize("name", QUERIES)
def test_the_answer_is_as_it_was(demo: Recall, name: str) -> None:
    answer = Recall.render(demo.search(QUERIES[name], budget=400, record=False))
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN") == "1":
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(f"{QUERIES[name]}\n\n{answer}", encoding="utf-8", newline="\n")
    assert path.read_text(encoding="utf-8") == f"{QUERIES[name]}\n\n{answer}"
