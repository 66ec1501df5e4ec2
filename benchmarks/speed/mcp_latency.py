"""The MCP server: from start to the answer of `initialize`, and warm searches over standard input and output.

    python benchmarks/speed/mcp_latency.py [--project DIR | --sessions N] [--starts N] [--searches N]

Speaks the protocol itself, line by line, so that no client's own time is counted. Without a project it writes a
corpus (`corpus.py`) and imports it first. The server runs as `python -m cocorecall mcp` of this interpreter.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cocorecall import Recall
from corpus import write_corpus
from measure import WORDS, new_project


class Client:
    """A server process and its pipes."""

    def __init__(self, project: Path) -> None:
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "cocorecall", "mcp", "--project", str(project)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", bufsize=1,
        )  # fmt: skip
        if self._process.stdin is None or self._process.stdout is None:
            raise SystemExit("no pipes")
        self._input, self._output = self._process.stdin, self._process.stdout
        self._last = 0

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a request; other messages that come meanwhile are passed over."""
        self._last += 1
        self._send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        for line in self._output:
            message = json.loads(line)
            if message.get("id") == self._last:
                return dict(message["result"])
        raise SystemExit("the server has gone")

    def initialize(self) -> float:
        """Seconds from the start of the process to the answer."""
        client = {"name": "latency", "version": "1"}
        self.call("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        ready = time.perf_counter() - self.started
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return ready

    def search(self, query: str) -> float:
        """Seconds that a search takes."""
        before = time.perf_counter()
        answer = self.call("tools/call", name="recall_search", arguments={"query": query})
        seconds = time.perf_counter() - before
        if answer.get("isError"):
            raise SystemExit(answer["content"][0]["text"])
        return seconds

    def close(self) -> float:
        """Seconds from the end of its input to the end of the process."""
        before = time.perf_counter()
        self._process.communicate(timeout=10)
        return time.perf_counter() - before

    def _send(self, message: dict[str, Any]) -> None:
        self._input.write(json.dumps(message) + "\n")
        self._input.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description="Latency of the MCP server.")
    parser.add_argument("--project", type=Path, help="a project with an index (default: one is made)")
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--starts", type=int, default=7)
    parser.add_argument("--searches", type=int, default=100)
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        project = options.project or stack.enter_context(corpus_project(options.sessions))
        ready, left = [], []
        for _ in range(options.starts):
            client = Client(project)
            ready.append(client.initialize())
            left.append(client.close())
        client = Client(project)
        client.initialize()
        first = client.search(WORDS[0])
        for query in WORDS:
            client.search(query)
        warm = sorted(client.search(WORDS[n % len(WORDS)]) for n in range(options.searches))
        client.close()
    print(f"start to `initialize` answered: median {statistics.median(ready):.2f} s, best {min(ready):.2f} s")
    print(f"input closed to process ended: median {statistics.median(left):.2f} s")
    print(f"first search: {first * 1000:.0f} ms")
    print(
        f"warm search ({len(warm)}): median {statistics.median(warm) * 1000:.0f} ms, "
        f"95th percentile {warm[int(len(warm) * 0.95) - 1] * 1000:.0f} ms"
    )


@contextlib.contextmanager
def corpus_project(sessions: int) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        write_corpus(corpus, sessions)
        project = new_project(Path(folder), corpus)
        with Recall.open(project) as recall:
            recall.import_sources()
        yield project


if __name__ == "__main__":
    main()
