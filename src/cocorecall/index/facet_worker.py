"""Reads sessions' facets on a second core, while an import goes on with the next transcripts.

A process of our own program, told session numbers on its standard input and answering with one JSON document a
session. It opens the index for reading only, and ends when its input does: it cannot outlive its import. Where it
cannot be started, or dies, the import reads the facets itself.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import orjson

from cocorecall.evidence import Vocabulary
from cocorecall.index.extraction import SessionExtractor, SessionFacets

_CREATE_NO_WINDOW = 0x08000000


class FacetWorker:
    """The importing side: hand over session numbers, take what is ready."""

    def __init__(self, index: Path, vocabulary: Vocabulary) -> None:
        self._ready: queue.SimpleQueue[SessionFacets | None] = queue.SimpleQueue()
        self._given: dict[int, None] = {}
        self._process = _start()
        if self._process is not None:
            self._write(orjson.dumps([str(index), *vocabulary]))
            threading.Thread(target=self._listen, name="facets", daemon=True).start()

    def give(self, numbers: Sequence[int]) -> None:
        """Hand over committed sessions."""
        for number in numbers:
            if self._process is not None and self._write(b"%d" % number):
                self._given[number] = None

    def ready(self) -> Iterator[SessionFacets]:
        """What has come back so far; does not wait."""
        while self._process is not None:
            try:
                found = self._ready.get_nowait()
            except queue.Empty:
                return
            if found is not None:
                self._given.pop(found.number, None)
                yield found
            else:
                self._lose()

    def rest(self) -> Iterator[SessionFacets]:
        """Everything still outstanding; what a dead process owes is not among it."""
        while self._process is not None and self._given:
            found = self._ready.get()
            if found is None:
                self._lose()
            else:
                self._given.pop(found.number, None)
                yield found

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            if process.stdin:
                process.stdin.close()
            process.terminate()
            process.wait()
            if process.stdout:
                process.stdout.close()

    def _lose(self) -> None:
        self.close()
        self._given.clear()

    def _write(self, line: bytes) -> bool:
        if self._process is None or self._process.stdin is None:
            return False
        try:
            self._process.stdin.write(line + b"\n")
            self._process.stdin.flush()
        except OSError:
            return False
        return True

    def _listen(self) -> None:
        process = self._process
        if process is None or process.stdout is None:
            return
        try:
            for line in process.stdout:
                self._ready.put(SessionFacets(**orjson.loads(line)))
        except (OSError, ValueError, TypeError):
            pass  # a line cut short by its end
        self._ready.put(None)


def _start() -> subprocess.Popen[bytes] | None:
    """The process; None where there is only one core, or no interpreter to start."""
    if (os.cpu_count() or 1) < 2 or not sys.executable:  # noqa: PLR2004 - the import itself needs one
        return None
    source = str(Path(__file__).parents[2])
    environ = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH"))))
    }
    try:
        return subprocess.Popen(
            # -P: what lies in the project's folder is never imported
            [sys.executable, "-P", "-m", "cocorecall.index.facet_worker"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ,
            creationflags=_CREATE_NO_WINDOW if sys.platform == "win32" else 0,
        )  # fmt: skip
    except OSError:
        return None


def _serve() -> None:
    """Answer session numbers until the input ends."""
    from cocorecall.index.schema import open_for_reading  # noqa: PLC0415 - in this process only

    index, glossary, strategies, functions = orjson.loads(sys.stdin.buffer.readline())
    vocabulary = Vocabulary(glossary, tuple(strategies), tuple(functions))
    connection = open_for_reading(Path(index))
    extractor = SessionExtractor(connection, vocabulary)
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(orjson.dumps(extractor.read(int(line)), default=str) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _serve()
