from __future__ import annotations

import json
from pathlib import Path

import pytest

from cocorecall.model import Skipped
from cocorecall.sources import transcript
from cocorecall.sources.transcript import Line, Place, load_json, read_again, read_document, read_lines


def outcome(path: Path) -> list[object]:
    return [
        item.record if isinstance(item, Line) else (item.line, item.reason.split(" (")[0])
        for item in read_lines(path)
    ]


def test_a_line_beyond_the_limit_costs_only_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "MAX_LINE", 1 << 20)
    path = tmp_path / "long.jsonl"
    path.write_bytes(b'{"a": 1}\n{"b": "' + b"x" * (5 << 20) + b'"}\n{"c": 3}\n')
    assert outcome(path) == [{"a": 1}, (2, "line longer than 1 MiB"), {"c": 3}]


def test_a_document_beyond_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "MAX_LINE", 1000)
    path = tmp_path / "long.json"
    path.write_text(json.dumps({"a": "x" * 2000}), encoding="utf-8")
    with pytest.raises(ValueError, match="longer"):
        read_document(path)


def test_a_file_that_grows_while_it_is_read_ends_where_it_stood(tmp_path: Path) -> None:
    """Robustness I2."""
    path = tmp_path / "live.jsonl"
    path.write_bytes(b'{"n": 1}\n{"n": 2}\n')
    lines = read_lines(path)
    first = next(lines)
    with path.open("ab") as file:
        file.write(b'{"n": 3}\n' * 1000)
    rest = list(lines)
    assert [item.record["n"] for item in (first, *rest) if isinstance(item, Line)] == [1, 2]


@pytest.mark.parametrize("raw", [b"[" * 100_000, b"9" * 100_000, b'{"a":' * 10_000, b"\xff\xfe", b"nul"])
def test_hostile_json_is_a_value_error_at_most(raw: bytes) -> None:
    try:
        load_json(raw)
    except ValueError:
        return


def test_bytes_that_are_not_utf8_become_replacement_characters() -> None:
    assert load_json(b'{"a": "caf\xe9"}') == {"a": "caf\ufffd"}


def test_what_is_skipped_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"\n\n{}\n[1]\nnope\n")
    assert [(i.line, type(i)) for i in read_lines(path) if isinstance(i, Skipped)] == [
        (4, Skipped),
        (5, Skipped),
    ]


def test_nul_bytes_in_front_of_a_record_cost_nothing(tmp_path: Path) -> None:
    """Robustness E4."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a": 1}\n' + b"\0" * 4096 + b'{"b": 2}\n\0\0\n{"c": 3}\n')
    assert outcome(path) == [{"a": 1}, {"b": 2}, (3, "line of NUL bytes"), {"c": 3}]


def test_lines_can_be_read_again_in_another_order(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"n": 1}\r\n\n{"n": 2}\nbad\n{"n": 3}')
    lines = [item for item in read_lines(path) if isinstance(item, Line)]
    places = [Place(line.number, line.offset) for line in reversed(lines)]
    assert list(read_again(path, places)) == list(reversed(lines))
    path.write_bytes(b'{"n": 1}\n')
    assert [line.record["n"] for line in read_again(path, places)] == [1]
