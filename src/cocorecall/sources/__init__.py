"""Agents' transcript formats: one module a format, found by its `FORMAT` constant.

Adding a format is adding a module here whose `FORMAT` satisfies `transcript.TranscriptFormat`; discovery,
import, sources and status find it by themselves.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from cocorecall.project import Source
from cocorecall.sources.transcript import Transcript, TranscriptFormat

_LAST = "reference"
"""The predecessor's loose layout is tried after all others."""


@cache
def formats() -> tuple[TranscriptFormat, ...]:
    """Every format of this package, the most specific first."""
    found: list[TranscriptFormat] = []
    for module in pkgutil.iter_modules(__path__):
        format_ = getattr(importlib.import_module(f"{__name__}.{module.name}"), "FORMAT", None)
        if format_ is not None:
            found.append(format_)
    return tuple(sorted(found, key=lambda f: (f.agent == _LAST, f.agent)))


def recognise(transcript: Transcript, head: bytes) -> TranscriptFormat | None:
    """The format that a transcript is in, told by the beginning of its main file; None where none knows it."""
    return next((f for f in formats() if f.recognises(transcript, head)), None)


def default_sources(
    *, personal: bool, home: Path | None = None, environ: Mapping[str, str] = os.environ
) -> list[Source]:
    """Where transcripts are looked for when no sources file exists.

    Args:
        personal: every known agent's folder that exists; else only Cortex Code's, existing or not.
        home: the home folder; the user's own where None.
        environ: environment variables that move agents' folders.
    """
    home = home or Path.home()
    known = [(f.agent, root) for f in formats() for root in f.default_roots(home, environ)]
    if personal:
        return [Source(str(root), root, agent, f"{agent} sessions") for agent, root in known if root.is_dir()]
    return [
        Source(str(root), root, agent, f"{agent} sessions") for agent, root in known if agent == "cortex"
    ][:1]
