"""The queue in which CocoPlus asks for imports: `.cocoplus/v2-runtime-requests.jsonl`.

Its lines (the predecessor's form: `skill`, `operation`, `since`, and more) belong to CocoPlus and to other skills, which
append to it at any time; so it is never written. How far it has been honoured is kept beside the receipts: a byte
offset, and a digest of what stood before it, so that a queue that was started anew is read from its beginning.
"""

from __future__ import annotations

import hashlib
import json
from typing import NamedTuple

from cocorecall.project import Place, write_text

QUEUE = "v2-runtime-requests.jsonl"
SKILL = "cocorecall/recall-import"
_DONE = "queue-done.json"


class Requests(NamedTuple):
    """What is asked for and not yet honoured.

    Attributes:
        since: of each request what it says of its scope; None: everything.
        unreadable: lines that are no JSON object; they are nobody's business here.
        end: bytes of the queue up to the last complete line.
        digest: of these bytes.
    """

    since: tuple[str | None, ...]
    unreadable: int
    end: int
    digest: str

    @property
    def widest(self) -> str | None:
        """The scope that covers every request: everything where one asks for it, or where they differ."""
        scopes = set(self.since)
        return next(iter(scopes)) if len(scopes) == 1 else None


def read_requests(place: Place) -> Requests:
    """The requests for imports that have not been honoured; a torn last line waits for its end."""
    try:
        data = (place.home / QUEUE).read_bytes()
    except OSError:
        data = b""
    data = data[: data.rfind(b"\n") + 1]
    since: list[str | None] = []
    unreadable = 0
    for line in data[_done(place, data) :].split(b"\n"):
        if not line.strip():
            continue
        try:
            request = json.loads(line.decode("utf-8-sig", "replace"))
        except (ValueError, RecursionError):
            unreadable += 1
            continue
        if not isinstance(request, dict):
            unreadable += 1
        elif request.get("skill") == SKILL and request.get("operation") == "import":
            asked = request.get("since")
            since.append(asked if isinstance(asked, str) and asked.strip() else None)
    return Requests(tuple(since), unreadable, len(data), _digest(data))


def mark_done(place: Place, requests: Requests) -> None:
    """Note that these requests were honoured.

    Raises:
        OSError: the note cannot be written.
    """
    place.receipts.mkdir(mode=0o700, exist_ok=True)
    done = {"offset": requests.end, "digest": requests.digest}
    write_text(place.receipts / _DONE, json.dumps(done) + "\n", private=True)


def _done(place: Place, data: bytes) -> int:
    """How many bytes of the queue have been honoured."""
    try:
        done = json.loads((place.receipts / _DONE).read_text(encoding="utf-8"))
        offset, digest = int(done["offset"]), str(done["digest"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return 0
    return offset if 0 <= offset <= len(data) and _digest(data[:offset]) == digest else 0


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
