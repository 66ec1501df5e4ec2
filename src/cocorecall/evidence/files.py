"""Which files are CocoPlus's evidence: a fixed list of places below the project's folder.

Places: CocoPlus's plugin (its memory, grove, wisdom, contract and strategy skills); see the README's table.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from cocorecall.sources.discovery import OUTSIDE, Unreadable
from cocorecall.sources.transcript import FileStat, Transcript

AGENT = "cocoplus"
"""The agent of sessions that are CocoPlus's files."""

MAX_BYTES = 16 << 20
"""Bytes of the largest file that is read: what people and skills write by hand is far below."""

CONTRACT_EVIDENCE = ".cocoplus/contract-evidence.json"
GLOSSARY = ".cocoplus/grove/language/glossary.md"
PROGRESS = ".cocoplus/session/PROGRESS.md"
DECISIONS = ".cocoplus/memory/decisions.md"
REJECTIONS = ".cocoplus/wisdom/rejections.jsonl"
MEMORY = (DECISIONS, ".cocoplus/memory/patterns.md", ".cocoplus/memory/errors.md")
STRATEGIES = "cocoplus/strategies"
PATTERNS = ".cocoplus/grove/patterns"
OUTCOMES = "outcomes"

_EVIDENCE_SUFFIXES = (".md", ".json", ".jsonl", ".txt")


def evidence_files(root: Path) -> Iterator[Transcript | Unreadable]:
    """The files of a project's evidence that exist, in the order of their paths below `root`.

    A contract's file and those of its `evidence/` know each other as companions: what a contract's state is
    follows from all of them, so each is read again when one of them changes.
    """
    if not (root / ".cocoplus").is_dir():
        return
    top = os.path.realpath(root)
    lone = [*MEMORY, PROGRESS, GLOSSARY, REJECTIONS]
    lone += files_in(root, PATTERNS, (".md",)) + files_in(root, STRATEGIES, (".yaml", ".yml"))
    for relative in lone:
        yield from _transcript(root, top, [relative])
    for group in _contracts(root):
        for relative in group:
            if relative != CONTRACT_EVIDENCE:
                yield from _transcript(
                    root, top, [relative, *(other for other in group if other != relative)]
                )
    yield from _transcript(root, top, [CONTRACT_EVIDENCE])


def project_of(path: Path) -> Path | None:
    """The project that a file of evidence belongs to: the nearest folder above it that has a `.cocoplus/`."""
    return next((folder for folder in path.parents if (folder / ".cocoplus").is_dir()), None)


def _contracts(root: Path) -> list[list[str]]:
    """For each function with a contract or evidence: its files."""
    groups = []
    for function in folders_in(root, OUTCOMES):
        folder = f"{OUTCOMES}/{function}"
        own = [f"{folder}/contract.md"] if (root / folder / "contract.md").is_file() else []
        groups.append([*own, *files_in(root, f"{folder}/evidence", _EVIDENCE_SUFFIXES), CONTRACT_EVIDENCE])
    return [[name for name in group if name != CONTRACT_EVIDENCE or len(group) > 1] for group in groups]


def _transcript(root: Path, top: str, names: list[str]) -> Iterator[Transcript | Unreadable]:
    stats = []
    for relative in names:
        path = root / relative
        try:
            stat = path.stat()
        except FileNotFoundError:
            continue
        except OSError as error:
            yield Unreadable(path, f"cannot be read: {error.strerror}")
            continue
        if os.path.commonpath((top, os.path.realpath(path))) != top:
            yield Unreadable(path, OUTSIDE)
        elif stat.st_size > MAX_BYTES:
            yield Unreadable(path, f"larger than {MAX_BYTES >> 20} MiB")
        else:
            stats.append((relative, FileStat(str(path), stat.st_size, stat.st_mtime_ns)))
    if stats and stats[0][0] == names[0]:
        yield Transcript(tuple(stat for _, stat in stats))


def files_in(root: Path, folder: str, suffixes: tuple[str, ...]) -> list[str]:
    """Files of a folder below `root` with such an ending, as paths below `root`, sorted."""
    return [f"{folder}/{name}" for name in _names(root / folder) if name.endswith(suffixes)]


def folders_in(root: Path, folder: str) -> list[str]:
    """Names of the folders in a folder below `root`, sorted."""
    return [name for name in _names(root / folder) if (root / folder / name).is_dir()]


def _names(folder: Path) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))  # noqa: PTH208 - names only
    except OSError:
        return []
