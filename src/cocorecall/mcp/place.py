"""Which index answers: the one named when the server was started, else by the client's roots, else by the folder."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import url2pathname

from cocorecall.errors import NotInitializedError
from cocorecall.recall import Recall


class OpenIndex(NamedTuple):
    """An index that stays open between calls.

    Attributes:
        recall: used by one thread at a time.
        lock: held while it is used.
        folder: the client's folder, for the filter `here`; None: the server's.
    """

    recall: Recall
    lock: threading.Lock
    folder: str | None = None


class Indexes:
    """The indexes that a server has open, each once.

    Args:
        project: the folder whose project is meant; None: what the client's roots, or the folder, say.
        personal: the person's own index instead.
    """

    def __init__(self, *, project: str | None = None, personal: bool = False) -> None:
        self._project = project
        self._personal = personal
        self._open: dict[Path, OpenIndex] = {}
        self._lock = threading.Lock()

    @property
    def follows_roots(self) -> bool:
        """Whether the client's roots say which project is meant."""
        return self._project is None and not self._personal

    def find(self, roots: Sequence[Path]) -> OpenIndex:
        """The index for a client with these roots, opened when it is first asked for.

        Raises:
            NotInitializedError: there is no `.cocoplus/` at or above any of the folders.
        """
        recall, folder = self._which(roots)
        with self._lock:
            index = self._open.setdefault(recall.place.home, OpenIndex(recall, threading.Lock()))
        return index._replace(folder=folder)

    def _which(self, roots: Sequence[Path]) -> tuple[Recall, str | None]:
        if self._personal:
            return Recall.personal(), str(roots[0]) if roots else None
        if self._project is not None:
            return Recall.open(self._project), None
        for root in roots:
            try:
                return Recall.open(root), str(root)
            except NotInitializedError:
                continue
        return Recall.open(), None


def root_folder(uri: str) -> Path | None:
    """The folder that a root's `file:` URI names; None for another scheme."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return None
    host = f"//{parts.netloc}" if parts.netloc not in ("", "localhost") else ""
    return Path(url2pathname(host + parts.path))
