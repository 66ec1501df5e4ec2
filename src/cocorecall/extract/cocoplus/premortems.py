"""Pre-mortems in `.cocoplus/session/PROGRESS.md`: what was feared before a stage ran.

Form: `## Pre-Mortem: <stage-id> <timestamp>` sections that name the failure scenario, the prevention's status and
the operator's acknowledgment as `**Field:** value` lines or under `###` headings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cocorecall.extract.cocoplus.instants import instant
from cocorecall.extract.sections import Section, sections
from cocorecall.model import Skipped

_HEADING = re.compile(r"Pre-?\s?Mortem\s*(?::|-|–|—)\s*(?P<rest>\S.*)", re.IGNORECASE)
_STAGE = re.compile(
    r"[`\"'\[]?(?P<stage>[\w./:-]+?)[`\"'\]]?[,;]?(?:\s+(?:[-–—@]\s+|\()?(?P<time>\S.*?)\)?)?"
)
_SCENARIO = ("failure scenario", "failure scenarios", "scenario", "failure", "what could go wrong")
_PREVENTION = ("prevention status", "prevention", "mitigation status", "mitigation", "status")
_OPERATOR = (
    "operator acknowledgment", "operator acknowledgement", "acknowledgment", "acknowledgement", "acknowledged",
    "operator",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PreMortem:
    """One pre-mortem.

    Attributes:
        stage_id: the stage it is about.
        timestamp: ISO 8601 UTC; None where the heading has none that can be read.
        failure_scenario: what was feared; None where the section does not say (yet).
        prevention_status: as written (`in place`, `open`, …); None likewise.
        operator_acknowledgment: as written; None likewise.
        text: the section, verbatim.
        line: 1-based line of its heading.
    """

    stage_id: str
    timestamp: str | None
    failure_scenario: str | None
    prevention_status: str | None
    operator_acknowledgment: str | None
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class PreMortems:
    """The pre-mortems of a file, and what of them could not be read."""

    entries: tuple[PreMortem, ...]
    skipped: tuple[Skipped, ...]


def parse_premortems(text: str) -> PreMortems:
    """Read the pre-mortems of a PROGRESS.md, which may be in the middle of being written.

    A section without a stage id is reported and left out; one that lacks fields is kept, and reported.
    """
    entries: list[PreMortem] = []
    skipped: list[Skipped] = []
    for section in sections(text):
        if not re.match(r"pre-?\s?mortem\b", section.title, re.IGNORECASE):
            continue
        match = _HEADING.fullmatch(section.title)
        stage = _STAGE.fullmatch(match["rest"]) if match else None
        if stage is None:
            skipped.append(Skipped("pre-mortem without a stage id", section.line))
            continue
        entry = _entry(section, stage["stage"], stage["time"])
        entries.append(entry)
        skipped.extend(_gaps(entry, stage["time"]))
    return PreMortems(tuple(entries), tuple(skipped))


def _entry(section: Section, stage: str, time: str | None) -> PreMortem:
    return PreMortem(
        stage_id=stage,
        timestamp=instant(time),
        failure_scenario=_value(section, _SCENARIO),
        prevention_status=_value(section, _PREVENTION),
        operator_acknowledgment=_value(section, _OPERATOR),
        text=section.text,
        line=section.line,
    )


def _gaps(entry: PreMortem, time: str | None) -> list[Skipped]:
    gaps = []
    if entry.timestamp is None:
        reason = f"time {time!r} of a pre-mortem cannot be read" if time else "pre-mortem without a time"
        gaps.append(Skipped(reason, entry.line))
    if entry.failure_scenario is None:
        gaps.append(Skipped(f"pre-mortem of stage {entry.stage_id!r} without a failure scenario", entry.line))
    return gaps


def _value(section: Section, names: tuple[str, ...]) -> str | None:
    for name in names:
        if section.fields.get(name):
            return section.fields[name]
    for part in sections(section.text, level=3):
        if part.title.lower().rstrip(":") in names:
            body = part.text.partition("\n")[2].strip()
            if body:
                return body
    return None
