"""CocoRecall: find the one turn in a thousand agent transcripts.

    from cocorecall import Recall

    with Recall.open(".") as recall:
        recall.import_sources()
        for hit in recall.search("why did we set the threshold to 0.85?").hits:
            print(hit.turn_id, hit.source_exists, hit.text)

`Recall` is the one public door; everything it returns is a frozen dataclass of `cocorecall.model`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cocorecall.recall import Recall

__all__ = ["Recall"]


def __getattr__(name: str) -> Any:
    if name == "Recall":
        from cocorecall.recall import Recall  # noqa: PLC0415 - `import cocorecall` alone loads nothing

        return Recall
    raise AttributeError(name)
