"""What an installation created: whole files and folders, so that they go when nothing of others is in them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class InstallRecord:
    """Files and folders that did not exist before we wrote them.

    Without a record (another machine, a lost file) nothing is removed that could have been there before:
    settings are left as an empty document, and folders other than the skill's own stay.
    """

    path: Path
    files: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, path: Path) -> InstallRecord:
        """The record at a path; empty where there is none, or none that can be read."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            data = {}
        lists = data if isinstance(data, dict) else {}
        files, folders = (
            {item for item in lists.get(key, ()) if isinstance(item, str)} for key in ("files", "folders")
        )
        return cls(path, files, folders)

    def as_text(self) -> str:
        """The record as JSON; empty where there is nothing to remember."""
        if not self.files and not self.folders:
            return ""
        content = {"files": sorted(self.files), "folders": sorted(self.folders)}
        return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
