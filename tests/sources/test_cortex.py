from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transcripts import events, found, head, parsed, said, skipped, turns, unknown, write_lines

UUID = "5f1c7f0e-3a52-4f0e-9d5b-0c6f2f6a9a11"
SIDECAR = {"session_id": UUID, "title": "Orders backfill", "working_directory": "/home/dana/work/orders"}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def row(role: str, *blocks: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "id": f"msg_{len(str(blocks)):08x}", "content": list(blocks), **more}


def call(sql: str, call_id: str = "toolu_1", name: str = "snowflake_sql_execute") -> dict[str, Any]:
    return {"type": "tool_use", "tool_use": {"tool_use_id": call_id, "name": name, "input": {"sql": sql}}}


def result(words: Any, call_id: str = "toolu_1", status: str = "success") -> dict[str, Any]:
    body = {"name": "snowflake_sql_execute", "tool_use_id": call_id, "status": status, "content": words}
    return {"type": "tool_result", "tool_result": body}


def session(
    folder: Path, rows: list[Any], sidecar: dict[str, Any] | None = SIDECAR, name: str = UUID
) -> Path:
    write_lines(folder / f"{name}.history.jsonl", rows)
    if sidecar is not None:
        (folder / f"{name}.json").write_text(json.dumps(sidecar), encoding="utf-8")
    return folder


def test_a_history_and_its_sidecar_are_one_session(tmp_path: Path) -> None:
    rows = [row("user", text("Backfill the orders.")), row("assistant", text("On it."), call("SELECT 1"))]
    folder = session(tmp_path, [*rows, row("user", result([text("1 row(s) returned.")]))])
    assert said(folder) == [
        ("user", "Backfill the orders."),
        ("assistant", "On it."),
        ("tool", "1 row(s) returned."),
    ]
    facts = head(folder)
    assert (facts.id, facts.title, facts.cwd) == (UUID, "Orders backfill", "/home/dana/work/orders")
    asked, answered, returned = turns(folder)
    assert (answered.calls[0].name, answered.calls[0].payload) == (
        "snowflake_sql_execute",
        {"sql": "SELECT 1"},
    )
    assert (returned.results[0].call_id, returned.results[0].status) == ("toolu_1", "success")
    assert asked.line == 1


@pytest.mark.parametrize(
    ("sidecar", "start"),
    [
        (
            {"created_at": "2026-05-14T09:12:00Z", "last_updated": "2026-05-14T10:00:00Z"},
            "2026-05-14T09:12:00.000Z",
        ),
        ({"creationDate": 1778749920000, "lastMessageDate": 1778752800000}, "2026-05-14T09:12:00.000Z"),
        ({}, None),
    ],
)
def test_both_shapes_of_sidecar_give_the_start(
    tmp_path: Path, sidecar: dict[str, Any], start: str | None
) -> None:
    folder = session(tmp_path, [row("user", text("Hello"))], SIDECAR | sidecar)
    assert head(folder).start_time == start


@pytest.mark.parametrize("where", [".", "0123456789abcdef0123456789abcdef", "global"])
def test_both_depths_are_found(tmp_path: Path, where: str) -> None:
    session(tmp_path / where, [row("user", text("Hello"))])
    assert said(tmp_path) == [("user", "Hello")]


def test_an_older_session_holds_its_history_inline(tmp_path: Path) -> None:
    name = f"2026-01-05T17-19-43Z-{UUID}"
    document = SIDECAR | {"session_id": name, "history": [row("user", text("Hello")), "not a row"]}
    (tmp_path / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    assert said(tmp_path) == [("user", "Hello")]
    assert head(tmp_path).id == name
    assert skipped(tmp_path) == [("history entry is not an object", None)]


def test_backups_and_pointers_are_no_sessions(tmp_path: Path) -> None:
    session(tmp_path, [row("user", text("Hello"))])
    (tmp_path / f"{UUID}.back.1778749920.json").write_text(
        json.dumps(SIDECAR | {"history": []}), encoding="utf-8"
    )
    (tmp_path / ".last-session").write_text(UUID, encoding="utf-8")
    assert len(found(tmp_path)) == 1


def test_a_sidecar_alone_is_no_session(tmp_path: Path) -> None:
    (tmp_path / f"{UUID}.json").write_text(json.dumps(SIDECAR), encoding="utf-8")
    assert said(tmp_path) == []


def test_a_history_without_its_sidecar_takes_its_id_from_the_name(tmp_path: Path) -> None:
    folder = session(tmp_path, [row("user", text("Hello"))], sidecar=None)
    assert head(folder).id == UUID


def test_a_broken_sidecar_costs_only_itself(tmp_path: Path) -> None:
    folder = session(tmp_path, [row("user", text("Hello"))])
    (folder / f"{UUID}.json").write_text('{"session_id": ', encoding="utf-8")
    assert said(folder) == [("user", "Hello")]
    assert skipped(folder)[0][0].startswith("sidecar is not JSON")


@pytest.mark.parametrize(
    ("block", "left"),
    [
        ("<system-reminder>memory file</system-reminder>\nPlease load it.", "Please load it."),
        (
            "Please load it.\n<system-reminder>a</system-reminder>\n<system-reminder>b</system-reminder>",
            "Please load it.",
        ),
        ("<user-query>\nPlease load it.\n</user-query>", "Please load it.\n"),
        ("<system-reminder>a</system-reminder><user_query>Load</user_query>\nnow", "Loadnow"),
        ("The <user-input> element stays, as does </user-input>.", None),
        ("Why does <system-reminder> appear unclosed?\n\nPlease load it.", None),
        ("  indented stays\n\n", "  indented stays\n\n"),
    ],
)
def test_injected_context_is_cut_and_a_persons_words_stay(
    tmp_path: Path, block: str, left: str | None
) -> None:
    folder = session(tmp_path, [row("user", text("workspace", internalOnly=True), text(block))])
    assert said(folder) == [("user", block if left is None else left)]


def test_a_row_of_injected_blocks_alone_is_no_turn(tmp_path: Path) -> None:
    reminder = text("<system-reminder>only this</system-reminder>")
    folder = session(
        tmp_path, [row("user", reminder), row("user", text("x", internalOnly=True)), row("user", text("Hi"))]
    )
    assert said(folder) == [("user", "Hi")]


@pytest.mark.parametrize("thinking", ["Let me see.", {"text": "Let me see.", "signature": "abc"}])
def test_thinking_is_kept_apart(tmp_path: Path, thinking: Any) -> None:
    folder = session(tmp_path, [row("assistant", {"type": "thinking", "thinking": thinking}, text("Done."))])
    (turn,) = turns(folder)
    assert (turn.text, turn.thinking) == ("Done.", "Let me see.")


@pytest.mark.parametrize(
    "content", ["a bare string", [], None, "missing", {"type": "text", "text": "one block"}, [1, "x"]]
)
def test_content_of_any_shape_is_read(tmp_path: Path, content: Any) -> None:
    """Robustness P2."""
    odd = {"role": "user", "id": "00000001"} | ({} if content == "missing" else {"content": content})
    folder = session(tmp_path, [odd, row("user", text("after"))])
    assert said(folder)[-1] == ("user", "after")


def test_flat_tool_blocks_are_read_like_nested_ones(tmp_path: Path) -> None:
    flat = {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}}
    back = {"type": "tool_result", "tool_use_id": "t1", "content": "a\nb", "is_error": True}
    folder = session(tmp_path, [row("assistant", flat), row("user", back)])
    made, got = turns(folder)
    assert (made.calls[0].call_id, made.calls[0].payload) == ("t1", {"command": "ls"})
    assert (got.role, got.text, got.results[0].status) == ("tool", "a\nb", "error")


def test_words_beside_tool_results_are_a_turn_of_their_own(tmp_path: Path) -> None:
    folder = session(tmp_path, [row("user", result("rows"), text("and stop there"))])
    assert said(folder) == [("tool", "rows"), ("user", "and stop there")]


def test_images_become_markers_with_type_and_size(tmp_path: Path) -> None:
    """Robustness H2."""
    image = {"type": "image", "source": {"media_type": "image/png", "data": "A" * 4000}}
    inline = "see data:image/jpeg;base64," + "Q" * 400 + " here"
    folder = session(tmp_path, [row("user", text("Look:"), image, text(inline))])
    (turn,) = turns(folder)
    assert turn.text == "Look:\n\n[image/png, 3,000 bytes]\n\nsee [image/jpeg, 300 bytes] here"


def test_rows_without_a_time_take_their_neighbours(tmp_path: Path) -> None:
    """Robustness Y3."""
    rows = [
        row("assistant", text("before any time")),
        row("user", text("timed"), user_sent_time="2026-05-14T09:12:00.123456Z"),
        row("assistant", text("after it")),
    ]
    folder = session(tmp_path, rows)
    assert [(t.timestamp, t.time_source) for t in turns(folder)] == [
        ("2026-05-14T09:12:00.123Z", "after"),
        ("2026-05-14T09:12:00.123Z", "own"),
        ("2026-05-14T09:12:00.123Z", "before"),
    ]
    untimed = session(
        tmp_path / "x", [row("user", text("Hi"))], SIDECAR | {"created_at": "2026-05-14T09:00:00Z"}
    )
    assert [(t.timestamp, t.time_source) for t in turns(untimed)] == [("2026-05-14T09:00:00.000Z", "session")]


def test_order_is_the_files_whatever_the_times_say(tmp_path: Path) -> None:
    """Robustness T1: a time without a zone is local, marked, and moves nothing."""
    rows = [
        row("user", text("first"), user_sent_time="2026-05-14T18:20:36"),
        row("user", text("second"), user_sent_time="2026-05-14T09:00:00Z"),
    ]
    first, second = turns(session(tmp_path, rows))
    assert (first.text, second.text) == ("first", "second")
    assert (first.zoned, second.zoned) == (False, True)


@pytest.mark.parametrize("title", ["Chat for session: 5f1c", "", "<system-reminder>x"])
def test_default_titles_are_none(tmp_path: Path, title: str) -> None:
    assert head(session(tmp_path, [row("user", text("Hi"))], SIDECAR | {"title": title})).title is None


def test_a_torn_last_line_waits_and_a_damaged_one_is_counted(tmp_path: Path) -> None:
    """Robustness P3, I2, E4."""
    rows = [
        json.dumps(row("user", text("one"))),
        '{"role": "user", "content',
        b"\0\0\0\0",
        '"a string"',
        row("user", text("two")),
    ]
    folder = session(tmp_path, rows)
    with (folder / f"{UUID}.history.jsonl").open("ab") as file:
        file.write(b'{"role": "assistant", "conte')
    assert said(folder) == [("user", "one"), ("user", "two")]
    assert [(reason.split(" (")[0], line) for reason, line in skipped(folder)] == [
        ("line is not JSON", 2),
        ("line of NUL bytes", 3),
        ("line is not a JSON object", 4),
    ]


def test_a_byte_order_mark_and_crlf_change_nothing(tmp_path: Path) -> None:
    """Robustness E3."""
    path = tmp_path / f"{UUID}.history.jsonl"
    lines = [json.dumps(row("user", text("one"))), json.dumps(row("assistant", text("two")))]
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode() + b"\r\n")
    assert said(tmp_path) == [("user", "one"), ("assistant", "two")]


def test_half_a_surrogate_pair_becomes_a_replacement_character(tmp_path: Path) -> None:
    """Robustness E1."""
    broken = '{"role": "user", "id": "1", "content": [{"type": "text", "text": "caf\\ud83d\\u00e9 \\ud83d\\ude00 \\u0000"}]}'
    assert said(session(tmp_path, [broken])) == [("user", "caf\ufffdé 😀 \ufffd")]


def test_what_recall_printed_is_marked(tmp_path: Path) -> None:
    shell = {
        "type": "tool_use",
        "tool_use": {
            "tool_use_id": "t1",
            "name": "bash",
            "input": {"command": "cd x && recall search merge key"},
        },
    }
    mcp = {
        "type": "tool_use",
        "tool_use": {"tool_use_id": "t2", "name": "mcp__memory__recall_search", "input": {"query": "x"}},
    }
    other = {
        "type": "tool_use",
        "tool_use": {"tool_use_id": "t3", "name": "bash", "input": {"command": "pytest -k recall"}},
    }
    rows = [row("assistant", shell, mcp, other), *(row("user", result("text", f"t{n}")) for n in (1, 2, 3))]
    assert [t.echo for t in turns(session(tmp_path, rows))] == [False, True, True, False]


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=80).map(lambda b: b.replace(b"\n", b" ")),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.text(max_size=20),
                lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
                    st.sampled_from(["role", "content", "type", "text", "tool_use", "tool_result", "thinking", "id", "input"]),
                    inner, max_size=4),
                max_leaves=12,
            ).map(lambda value: json.dumps(value).encode()),
        ),
        max_size=8,
    )
)  # fmt: skip
def test_no_file_makes_the_parser_raise(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]) -> None:
    folder = tmp_path_factory.mktemp("odd")
    write_lines(folder / f"{UUID}.history.jsonl", [json.dumps(row("user", text("sound"))).encode(), *lines])
    (transcript,) = found(folder)
    for event in parsed(transcript):
        words = getattr(event, "text", "")
        words.encode("utf-8")
        assert "\0" not in words
    assert events(folder)


def test_what_an_assistant_writes_is_never_cut(tmp_path: Path) -> None:
    """Robustness Y7."""
    words = "<user-query>x</user-query> is a wrapper, <system-reminder>y</system-reminder> a reminder."
    assert said(session(tmp_path, [row("assistant", text(words))])) == [("assistant", words)]


def test_a_record_of_an_unknown_type_is_counted_by_name(tmp_path: Path) -> None:
    """Robustness P1."""
    folder = session(tmp_path, [row("user", text("one")), {"type": "checkpoint"}, row("user", text("two"))])
    assert said(folder) == [("user", "one"), ("user", "two")]
    assert unknown(folder) == ["checkpoint"]


def test_a_first_row_or_an_inline_history_longer_than_the_head_is_recognised(tmp_path: Path) -> None:
    long = "y" * 80_000
    assert said(session(tmp_path / "1", [row("user", text(long))])) == [("user", long)]
    document = {"title": "x", "history": [row("user", text(long))], "session_id": UUID}
    (tmp_path / "2").mkdir()
    (tmp_path / "2" / f"{UUID}.json").write_text(json.dumps(document), encoding="utf-8")
    assert said(tmp_path / "2") == [("user", long)]


@pytest.mark.parametrize(
    ("title", "shown"),
    [("<b>Orders</b> backfill", "Orders backfill"), ("Fix List<String> parsing", "Fix List<String> parsing")],
)
def test_markup_in_a_title_is_cut_and_code_is_not(tmp_path: Path, title: str, shown: str) -> None:
    assert head(session(tmp_path, [row("user", text("Hi"))], SIDECAR | {"title": title})).title == shown


def test_the_folder_is_as_written(tmp_path: Path) -> None:
    sidecar = SIDECAR | {"working_directory": r"c:\Users\dana\work"}
    assert head(session(tmp_path, [row("user", text("Hi"))], sidecar)).cwd == r"c:\Users\dana\work"


def test_a_tools_input_may_speak_of_turns(tmp_path: Path) -> None:
    odd = {"type": "tool_use", "tool_use": {"tool_use_id": "t", "name": "plan", "input": {"turns": [1]}}}
    assert len(turns(session(tmp_path / "1", [row("assistant", odd, text("x"))]))) == 1
    (tmp_path / "2").mkdir()
    document = SIDECAR | {"history": [row("assistant", odd, text("x"))]}
    for indent in (None, 2):
        (tmp_path / "2" / f"{UUID}.json").write_text(json.dumps(document, indent=indent), encoding="utf-8")
        assert said(tmp_path / "2") == [("assistant", "x")]


def test_content_decides_not_the_name(tmp_path: Path) -> None:
    write_lines(tmp_path / "export.jsonl", [row("user", text("Hello")), row("assistant", text("Hi"))])
    assert said(tmp_path) == [("user", "Hello"), ("assistant", "Hi")]
    assert head(tmp_path).id == "export"
