"""A project in a temporary folder, with transcripts written for one test."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cocorecall import Recall

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)

Said = tuple[str, str] | dict[str, Any]
"""A turn: (role, text), or the record itself."""


@dataclass
class Project:
    """A project with `.cocoplus/`, one source folder, and a clock that stands still."""

    root: Path
    now: datetime = NOW
    started: int = field(default=0)

    def __post_init__(self) -> None:
        (self.root / ".cocoplus").mkdir(parents=True)
        (self.root / "cocoplus").mkdir()
        self.transcripts.mkdir()
        sources = {"sources": [{"path": str(self.transcripts)}]}
        (self.root / "cocoplus" / "recall-sources.json").write_text(json.dumps(sources), encoding="utf-8")

    @property
    def transcripts(self) -> Path:
        return self.root / "transcripts"

    @property
    def index(self) -> Path:
        return self.root / ".cocoplus" / "recall.db"

    def session(self, session_id: str, *turns: Said, days_ago: float = 10, **keys: Any) -> Path:
        """Write a session in the predecessor's layout; a minute between turns."""
        start = self.now - timedelta(days=days_ago)
        records = []
        for k, turn in enumerate(turns):
            record = dict(turn) if isinstance(turn, dict) else {"role": turn[0], "text": turn[1]}
            record.setdefault("timestamp", (start + timedelta(minutes=k)).isoformat().replace("+00:00", "Z"))
            records.append(record)
        document = {
            "session_id": session_id,
            "start_time": start.isoformat().replace("+00:00", "Z"),
            "turns": records,
        }
        path = self.transcripts / f"{session_id}.json"
        path.write_text(json.dumps(document | keys), encoding="utf-8")
        return path

    def open(self) -> Recall:
        return Recall.open(self.root, clock=lambda: self.now)
