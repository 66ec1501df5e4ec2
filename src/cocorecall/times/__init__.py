"""Instants, moments and periods: reading the times that transcripts, options and questions speak of.

Three readers, from strict to lenient: `parse_instant` for the stamps of transcripts, `parse_moment` and
`parse_period` for `--since` and `--until`, `find_periods` for time expressions in a free-text question.
Everything that leaves this package is UTC; days, weeks and months are those of this machine's local time.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cocorecall.times.instants import format_instant as format_instant
    from cocorecall.times.instants import parse_instant as parse_instant
    from cocorecall.times.options import parse_moment as parse_moment
    from cocorecall.times.options import parse_period as parse_period
    from cocorecall.times.periods import FAR_FUTURE as FAR_FUTURE
    from cocorecall.times.periods import FAR_PAST as FAR_PAST
    from cocorecall.times.periods import Period as Period
    from cocorecall.times.periods import find_periods as find_periods

_HOME = {
    "format_instant": "instants",
    "parse_instant": "instants",
    "parse_moment": "options",
    "parse_period": "options",
    "FAR_FUTURE": "periods",
    "FAR_PAST": "periods",
    "Period": "periods",
    "find_periods": "periods",
}


def __getattr__(name: str) -> Any:
    # an import reads stamps and never a question: it does without the grammar of periods
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
