"""`.cocoplus/wisdom/rejections.jsonl`: what quality gates refused, one JSON object a line.

Form (CocoPlus's wisdom writer): `record_id`, `timestamp`, `session_id`, `gate`, `phase`, `dimension`, `severity`,
`rejection_reason`, `artifact_reference`; records of `"type": "retraction"` take an earlier one back.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from cocorecall.extract.cocoplus.instants import instant
from cocorecall.model import Skipped


@dataclass(frozen=True, slots=True)
class Rejection:
    """One record.

    Attributes:
        timestamp: ISO 8601 UTC, where it can be read.
        retraction: the record takes an earlier one back.
        record: the record as written.
        text: its line, verbatim.
        line: 1-based.
    """

    record_id: str | None
    timestamp: str | None
    session_id: str | None
    gate: str | None
    reason: str
    artifact: str | None
    retraction: bool
    record: dict[str, Any]
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Rejections:
    """The records of a file, and the lines that are none."""

    records: tuple[Rejection, ...]
    skipped: tuple[Skipped, ...]


def parse_rejections(text: str) -> Rejections:
    """Read a rejections.jsonl. A last line without a newline that does not parse is still being written."""
    records: list[Rejection] = []
    skipped: list[Skipped] = []
    lines = text.split("\n")
    for number, raw in enumerate(lines, start=1):
        line = raw.strip()
        if not line:
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            if number < len(lines):
                skipped.append(Skipped(f"line is not JSON ({str(error)[:80]})", number))
            continue
        if isinstance(record, dict):
            records.append(_rejection(record, line, number))
        else:
            skipped.append(Skipped("line is not a JSON object", number))
    return Rejections(tuple(records), tuple(skipped))


def _rejection(record: dict[str, Any], text: str, line: int) -> Rejection:
    def word(*keys: str) -> str | None:
        return next((record[key] for key in keys if isinstance(record.get(key), str) and record[key]), None)

    return Rejection(
        record_id=word("record_id", "id"),
        timestamp=instant(record.get("timestamp") or record.get("ts")),
        session_id=word("session_id"),
        gate=word("gate"),
        reason=word("rejection_reason", "evidence", "reason") or "",
        artifact=word("artifact_reference", "artifact_path"),
        retraction=record.get("type") == "retraction",
        record=record,
        text=text,
        line=line,
    )
