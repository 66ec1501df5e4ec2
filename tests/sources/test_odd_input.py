"""No content of a file makes a parser raise or yield what cannot be stored, whatever the format."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import test_claude as claude
import test_cortex as cortex
from cocorecall.model import Event, SessionHead, Turn
from cocorecall.sources import formats, recognise
from cocorecall.sources.transcript import FileStat, Transcript

REFERENCE = {
    "session_id": "s1", "start_time": "2026-05-14T09:00:00Z", "tool_calls": [{"name": "bash", "input": {"command": "ls"}}],
    "functions_touched": ["f", {"name": "g"}], "evaluation_results": {"accuracy": 0.9}, "entity_tags": "A,B",
    "turns": [{"role": "user", "text": "sound", "tags": ["x"]}, {"role": "tool", "content": [{"type": "text", "text": "y"}]}],
}  # fmt: skip
SOUND: dict[str, tuple[str, list[Any]]] = {
    "claude": ("s.jsonl", [
        claude.user(1, "sound"),
        claude.assistant(2, claude.text("x"), claude.use("t", command="recall search x")),
        claude.user(3, [claude.result("t", [claude.text("y")])]),
        {"type": "attachment", "sessionId": "s", "attachment": {"type": "queued_command", "prompt": "q"}},
        {"type": "summary", "summary": "S", "leafUuid": claude.uuid(1)},
        claude.user(4, "side", isSidechain=True, agentId="a"),
        claude.user(5, "<command-name>/x</command-name><command-args>y</command-args>"),
    ]),
    "cortex": ("s.history.jsonl", [
        cortex.row("user", cortex.text("sound"), user_sent_time="2026-05-14T09:00:00"),
        cortex.row("assistant", cortex.text("x"), cortex.call("SELECT 1")),
        cortex.row("user", cortex.result([cortex.text("y")]), cortex.text("<user-query>z</user-query>")),
    ]),
    "reference": ("s.jsonl", [REFERENCE, {"session_id": "s2", "role": "user", "text": "sound"}]),
}  # fmt: skip
ODD = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.floats(), st.just([]), st.just({}),
    st.text(alphabet=st.characters(exclude_categories=()), max_size=8),
    st.sampled_from(["\ud800", "\0", "<system-reminder>", "tool_result", [[[]]], [None, 1, "x", {}], {"type": "image"}]),
)  # fmt: skip


def transcript_at(path: Path) -> Transcript:
    stat = path.stat()
    return Transcript((FileStat(str(path), stat.st_size, stat.st_mtime_ns),))


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every path into a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*at, key)
        yield from places(inner, (*at, key))


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    value = copy.deepcopy(value)
    holder = value
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = new
    return value


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from strings(getattr(value, field.name))
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from (key, *strings(inner))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from strings(inner)


def assert_storable(events: list[Event]) -> None:
    kinds = [type(e) for e in events if isinstance(e, SessionHead | Turn)]
    assert not kinds or kinds[0] is SessionHead
    for event in events:
        for text in strings(event):
            text.encode()
            assert "\0" not in text
        if isinstance(event, Turn):
            assert event.timestamp
            json.dumps([call.payload for call in event.calls], allow_nan=False)


@pytest.mark.parametrize("agent", SOUND)
@given(data=st.data())
def test_sound_records_with_one_odd_value(
    tmp_path_factory: pytest.TempPathFactory, agent: str, data: st.DataObject
) -> None:
    name, records = SOUND[agent]
    path = tmp_path_factory.getbasetemp() / f"odd-{agent}" / name
    path.parent.mkdir(exist_ok=True)
    where = data.draw(st.sampled_from(list(places(records))))
    lines = changed(records, where, data.draw(ODD))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    chosen = next(f for f in formats() if f.agent == agent)
    events = list(chosen.parse(transcript_at(path)))
    assert_storable(events)


@pytest.mark.parametrize("agent", SOUND)
@given(raw=st.binary(max_size=300), cut=st.integers(0, 400))
def test_any_bytes_behind_a_sound_beginning(
    tmp_path_factory: pytest.TempPathFactory, agent: str, raw: bytes, cut: int
) -> None:
    name, records = SOUND[agent]
    path = tmp_path_factory.getbasetemp() / f"bytes-{agent}" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(json.dumps(records[0]).encode()[: 400 - cut or None] + raw)
    head = path.read_bytes()
    for format_ in formats():
        format_.recognises(transcript_at(path), head)
        assert_storable(list(format_.parse(transcript_at(path))))


@pytest.mark.parametrize("agent", SOUND)
def test_a_file_is_recognised_where_its_first_records_hold_half_a_character(
    tmp_path: Path, agent: str
) -> None:
    """Robustness E1."""
    name, records = SOUND[agent]
    path = tmp_path / name
    odd = json.dumps(records[0]).replace("sound", "caf\\ud83d")
    path.write_text(odd + "\n", encoding="utf-8")
    chosen = recognise(transcript_at(path), path.read_bytes())
    assert chosen is not None
    assert chosen.agent == agent
    assert "caf\ufffd" in [e.text for e in chosen.parse(transcript_at(path)) if isinstance(e, Turn)]


@pytest.mark.parametrize("agent", SOUND)
def test_each_format_is_recognised_by_itself_alone(tmp_path: Path, agent: str) -> None:
    name, records = SOUND[agent]
    path = tmp_path / name
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    head = path.read_bytes()
    assert [f.agent for f in formats() if f.recognises(transcript_at(path), head)] == [agent]


@pytest.mark.parametrize("key", ["parentUuid", "type"])
def test_a_first_prompt_longer_than_the_head_is_recognised_in_the_agents_own_order_of_keys(
    tmp_path: Path, key: str
) -> None:
    record = claude.user(1, "y" * 80_000)
    rest = {k: v for k, v in record.items() if k not in (key, "message", "uuid", "timestamp")}
    ordered = {key: record[key]} | rest | {k: record[k] for k in ("message", "uuid", "timestamp")}
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps(ordered) + "\n", encoding="utf-8")
    chosen = recognise(transcript_at(path), path.read_bytes()[: 64 << 10])
    assert chosen is not None
    assert chosen.agent == "claude"


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 500, bytes(range(256)), b"{}", b"[]", b'"text"', b'{"a": 1}\n']
)
def test_what_is_nobodys_is_nobodys(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(content)
    assert recognise(transcript_at(path), content) is None
