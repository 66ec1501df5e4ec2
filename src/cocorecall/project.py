"""Where am I: the project folder, its index, its sources and its settings.

Reads small files and writes two: the sources file, when asked to, and the lines that keep the index out
of version control. Knows nothing of SQLite or of transcripts.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cocorecall.errors import NotInitializedError, SourceConfigError

NOT_INITIALIZED = "CocoPlus is not initialized. Run `$pod init` first."
IGNORED = (
    "recall.db", "recall.db-wal", "recall.db-shm", "recall.db.lock", "recall/", "recall.db.*", "recall.dream.lock",
)  # fmt: skip
"""What `.cocoplus/.gitignore` must name: the index, SQLite's side files, the locks, the receipts, set-aside files."""

SOURCES_FILE = "recall-sources.json"


class Source(NamedTuple):
    """A configured place where an agent keeps transcripts.

    Attributes:
        path: as configured.
        agent: name of the agent, or None to tell it from the files.
        description: a person's words, or None.
        folder: `path` with `~`, variables and relative parts resolved.
    """

    path: str
    folder: Path
    agent: str | None = None
    description: str | None = None


class Place(NamedTuple):
    """A project's (or the person's) index and what belongs to it.

    Attributes:
        root: the project's folder; None for the personal index.
        home: the folder that holds the index: `.cocoplus`, or the user's data directory.
        sources_path: the sources file, existing or not.
    """

    root: Path | None
    home: Path
    sources_path: Path

    @property
    def index_path(self) -> Path:
        """The database file."""
        return self.home / "recall.db"

    @property
    def lock_path(self) -> Path:
        """The file whose lock an import holds."""
        return self.home / "recall.db.lock"

    @property
    def dream_lock_path(self) -> Path:
        """The file whose lock a dream holds."""
        return self.home / "recall.dream.lock"

    @property
    def receipts(self) -> Path:
        """The folder of import receipts."""
        return self.home / "recall"


def find_project(start: Path) -> Place:
    """The nearest folder at or above `start` that has a `.cocoplus/` folder.

    Raises:
        NotInitializedError: there is none.
    """
    here = Path(os.path.abspath(start))  # noqa: PTH100 - resolve() would leave a symlinked project folder
    for folder in (here, *here.parents):
        home = folder / ".cocoplus"
        if home.is_dir():
            return Place(folder, home, folder / "cocoplus" / SOURCES_FILE)
    raise NotInitializedError(NOT_INITIALIZED, "Or use the personal index: add --global.")


def personal_place(environ: Mapping[str, str] = os.environ) -> Place:
    """The personal index's place: `COCORECALL_HOME`, or the user's data directory. Created when missing."""
    configured = environ.get("COCORECALL_HOME")
    if configured:
        home = Path(configured).expanduser()
    else:
        import platformdirs  # noqa: PLC0415 - the project index does not need it

        home = platformdirs.user_data_path("cocorecall", appauthor=False)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Place(None, home, home / SOURCES_FILE)


# --- sources -----------------------------------------------------------------------------------------


def read_sources(place: Place, environ: Mapping[str, str] = os.environ) -> list[Source] | None:
    """The configured sources, or None where no sources file exists.

    Raises:
        SourceConfigError: the file is not JSON or not a list of sources.
    """
    try:
        text = place.sources_path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise SourceConfigError(f"Cannot read {place.sources_path}: {error}.") from error
    items = _source_items(text, place.sources_path)
    return [_source(item, place, environ) for item in items]


def _source_items(text: str, path: Path) -> list[Any]:
    import json  # noqa: PLC0415

    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SourceConfigError(f"{path} is not JSON: {error}.", "Correct it, or delete it.") from error
    items = data.get("sources") if isinstance(data, dict) else data
    if not isinstance(items, list):
        raise SourceConfigError(f'{path} must be a list, or {{"sources": [...]}}.')
    return items


def _source(item: Any, place: Place, environ: Mapping[str, str]) -> Source:
    entry = {"path": item} if isinstance(item, str) else item
    path = entry.get("path") if isinstance(entry, dict) else None
    if not isinstance(path, str) or not path.strip():
        raise SourceConfigError(
            f"{place.sources_path}: {item!r:.60} is no source.",
            'A source is a path string or {"path": "…", "agent": "…", "description": "…"}.',
        )
    agent, description = entry.get("agent"), entry.get("description")
    return Source(
        path,
        resolve_source(path, place, environ),
        agent if isinstance(agent, str) and agent else None,
        description if isinstance(description, str) else None,
    )


def resolve_source(path: str, place: Place, environ: Mapping[str, str] = os.environ) -> Path:
    """Expand `~` and environment variables; a relative path counts from the project's folder."""
    expanded = _expand(path, environ)
    base = place.root or place.home
    return Path(os.path.abspath(base / expanded))  # noqa: PTH100 - a link stays a link: the path is shown


def _expand(path: str, environ: Mapping[str, str]) -> Path:
    text = os.path.expandvars(path) if environ is os.environ else path
    return Path(text).expanduser()


def write_sources(place: Place, sources: list[Source]) -> None:
    """Write the sources file, atomically, keys of other tools beside `sources` kept."""
    import json  # noqa: PLC0415

    kept: dict[str, Any] = {}
    try:
        data = json.loads(place.sources_path.read_text(encoding="utf-8-sig"))
        kept = {k: v for k, v in data.items() if k != "sources"} if isinstance(data, dict) else {}
    except (OSError, ValueError):
        pass
    items = [
        {k: v for k, v in (("path", s.path), ("agent", s.agent), ("description", s.description)) if v}
        for s in sources
    ]
    write_text(place.sources_path, json.dumps(kept | {"sources": items}, indent=2, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """Write a whole small file so that a reader, or a crash, sees the old or the new one.

    Args:
        path: the file; its folder is made when missing.
        text: all of it.
        private: only its owner may read it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(beside, "w", encoding="utf-8", newline="\n", opener=_private if private else None) as file:
            file.write(text)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def read_ignored(place: Place) -> tuple[str, ...]:
    """The `ignore` patterns of the sources file; none where it has none, or is a bare list.

    Raises:
        SourceConfigError: `ignore` is no list of strings.
    """
    patterns = _read_object(place).get("ignore", [])
    if not isinstance(patterns, list) or not all(isinstance(p, str) and p.strip() for p in patterns):
        raise SourceConfigError(
            f'{place.sources_path}: "ignore" must be a list of patterns.',
            'Such as "**/secret-client/**" or "session:7f3a…".',
        )
    return tuple(patterns)


def write_ignored(place: Place, patterns: Sequence[str], sources: list[Source]) -> None:
    """Write the patterns; a sources file that was missing or a bare list becomes an object."""
    import json  # noqa: PLC0415

    if not _read_object(place):
        write_sources(place, sources)
    content = _read_object(place) | {"ignore": list(patterns)}
    write_text(place.sources_path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def _read_object(place: Place) -> dict[str, Any]:
    import json  # noqa: PLC0415

    try:
        data = json.loads(place.sources_path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


# --- settings ----------------------------------------------------------------------------------------


def read_settings(place: Place) -> Mapping[str, Any]:
    """The `[recall]` table of the project's `cocoplus.toml`; empty where there is none, or it cannot be read."""
    if place.root is None:
        return {}
    import tomllib  # noqa: PLC0415 - few commands have a setting

    try:
        document = tomllib.loads((place.root / "cocoplus.toml").read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
        return {}
    table = document.get("recall")
    return table if isinstance(table, dict) else {}


# --- what CocoPlus says ------------------------------------------------------------------------------


class PhaseHistory(NamedTuple):
    """The project's CocoPlus phases, from `.cocoplus/lifecycle/meta.json`.

    Attributes:
        current: the phase in force now, or None where CocoPlus says nothing.
        completed: (ISO time of completion, phase), oldest first.
    """

    current: str | None = None
    completed: tuple[tuple[str, str], ...] = ()

    def at(self, instant: str) -> str | None:
        """The phase in force at an instant (ISO 8601 UTC): the first that was completed after it."""
        return next((phase for done, phase in self.completed if done > instant), self.current)


def read_phases(place: Place) -> PhaseHistory:
    """The phases of a project; empty where the file is missing or unreadable (CocoPlus owns it)."""
    try:
        text = (place.home / "lifecycle" / "meta.json").read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return PhaseHistory()
    import json  # noqa: PLC0415 - most projects a search runs in have no such file

    try:
        meta = json.loads(text)
    except (ValueError, RecursionError):
        return PhaseHistory()
    if not isinstance(meta, dict):
        return PhaseHistory()
    current = meta.get("current_phase")
    history = meta.get("phase_history")
    completed = _completed(history) if isinstance(history, list) and history else ()
    return PhaseHistory(current if isinstance(current, str) else None, completed)


def _completed(history: list[Any]) -> tuple[tuple[str, str], ...]:
    from cocorecall.times import parse_instant  # noqa: PLC0415 - most projects have no history yet

    completed = []
    for entry in history:
        phase = entry.get("phase") or entry.get("name") if isinstance(entry, dict) else None
        done = entry.get("completed_at") if isinstance(entry, dict) else None
        instant = parse_instant(done) if isinstance(done, str | int | float) else None
        if isinstance(phase, str) and instant:
            completed.append((instant[0], phase))
    return tuple(sorted(completed))


def keep_out_of_git(place: Place) -> None:
    """Make sure that `.cocoplus/.gitignore` names the index and its side files; add what is missing.

    Does nothing for the personal index. A read-only folder is no error: the index is then not written
    either.
    """
    if place.root is None:
        return
    path = place.home / ".gitignore"
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        lines = {line.strip() for line in text.splitlines()}
        missing = [name for name in IGNORED if name not in lines and f"/{name}" not in lines]
        if missing and "*" not in lines:
            gap = "" if not text or text.endswith("\n") else "\n"
            write_text(path, text + gap + "\n".join(missing) + "\n")
    except (OSError, UnicodeDecodeError):
        return
