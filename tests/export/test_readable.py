"""Markdown and HTML exports: what a transcript says is shown, and never is markup."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocorecall.export import html, markdown
from cocorecall.index.exporting import ArchivedSession, ArchivedTurn, StoredCall
from cocorecall.terminal import visible
from projects import Project

HOSTILE = [
    "<script>alert(1)</script>",
    "</style></div></article></main></body></html>",
    "<!-- never closed",
    "<style>body{display:none}",
    "</title><img src=x onerror=alert(1)>",
    "]]><![CDATA[",
    "&lt;script&gt; &amp; &#60;b&#62;",
    "\" onmouseover='alert(1)' x=\"",
    "\u202egnp.exe \u2066 \x1b[31m \x00 \x7f \u200b",
    "javascript:alert(1) [a](javascript:alert(1)) ![i](http://x.invalid/i.png)",
    "````\n# Not a heading\n```\n</code>\n~~~",
    '# Heading\n## 7 · user\n<a id="s:0"></a>\n---\n> quote\n- [ ] task',
]  # fmt: skip


def session(title: str | None = "A title", **more: object) -> ArchivedSession:
    return ArchivedSession(
        "s-1", "s-1", 1, "claude", title, None, "/w", "main", "2026-09-01T10:00:00.000Z",
        "2026-09-01T11:00:00.000Z", "build", None, "main", "/t/s-1.jsonl", 1, 0, None, (),
    )._replace(**more)  # type: ignore[arg-type]  # fmt: skip


def turn(text: str, seq: int = 0, role: str = "assistant", **more: object) -> ArchivedTurn:
    return ArchivedTurn(
        f"s-1:{seq}", seq, role, text, hashlib.sha256(text.encode()).hexdigest(), len(text),
        "2026-09-01T10:00:00.000Z", "own", zoned=True, kind="message", echo=False, in_source=True, native_id=None,
        source_line=1, tags=(), thinking="",
    )._replace(**more)  # type: ignore[arg-type]  # fmt: skip


def page(*turns: ArchivedTurn, title: str | None = "A title") -> str:
    return "".join(html.session_lines(session(title), ((t, False) for t in turns), masked=False))


class Reader(HTMLParser):
    """What a browser makes of a page: its elements, and the text in each turn's text and output."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.comments: list[str] = []
        self.open: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, k, v) for k, v in attrs]
        if tag not in ("meta", "link", "img"):
            kind = dict(attrs).get("class") or ""
            self.open.append((tag, kind))
            if kind in ("text", "output"):
                self.texts.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def handle_data(self, data: str) -> None:
        if any(kind in ("text", "output") for _, kind in self.open):
            self.texts[-1] += data


ELEMENTS = {
    "html", "head", "meta", "title", "style", "body", "header", "h1", "dl", "div", "dt", "dd", "main", "article", "h2",
    "span", "a", "time", "code", "details", "summary", "footer",
}  # fmt: skip


def assert_harmless(text: str) -> Reader:
    read = Reader(text)
    assert read.open == []
    assert set(read.tags) <= ELEMENTS
    assert read.comments == []
    assert read.tags.count("style") == 1
    assert not [k for _, k, _ in read.attributes if k.startswith("on") or k in ("src", "style", "srcset")]
    assert all((v or "").startswith("#t") for _, k, v in read.attributes if k == "href")
    return read


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("role", ["user", "assistant", "tool", "system", "<b>dana</b>"])
def test_no_tag_of_a_transcript_is_one(hostile: str, role: str) -> None:
    call = StoredCall(hostile, '{"command": "<script>x</script>"}', None, hostile, None, answered=False)
    shown = turn(hostile, role=role, thinking=hostile, calls=(call,), timestamp="2026-09-01T10:00:00.000Z")
    read = assert_harmless(page(shown, turn("And what follows is there.", 1), title=hostile))
    assert visible(hostile) in read.texts
    assert read.texts[-1] == "And what follows is there."


@given(st.text(st.characters(codec="utf-8", exclude_characters="\r")))
def test_a_page_says_what_was_said(text: str) -> None:
    read = assert_harmless(page(turn("x" + text)))
    assert read.texts == [visible("x" + text)]


@given(
    st.lists(st.sampled_from(["```", "````", "~~~", "```sql", "  ```", "a", "", "# b", "``` c"]), max_size=12)
)
def test_boxes_round_code_add_and_drop_nothing(lines: list[str]) -> None:
    text = "x\n" + "\n".join(lines)
    assert assert_harmless(page(turn(text))).texts == [text]


def test_code_stands_in_a_box() -> None:
    shown = page(turn("Run:\n\n```sql\nSELECT 1\n```\nDone."))
    assert '<code class="block">```sql\nSELECT 1\n```\n</code>Done.' in shown


def test_the_policy_names_the_one_style_and_allows_nothing_else() -> None:
    text = page(turn("Hello"))
    style = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style[0].encode()).digest()).decode()
    (policy,) = [
        v for tag, k, v in Reader(text).attributes if tag == "meta" and k == "content" and "src" in str(v)
    ]
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert "http:" not in text
    assert "https:" not in text
    assert "url(" not in text
    assert "@import" not in text


def test_long_output_is_folded_and_none_of_it_is_lost() -> None:
    text = "\n".join(f"line {n}" for n in range(200))
    shown = page(turn(text, role="tool"))
    assert "<summary>200 lines: line 0" in shown
    assert Reader(shown).texts == [text]


def test_marks_say_what_a_reader_should_know() -> None:
    gone = turn("Kept.", in_source=False, kind="summary", time_source="before", text_length=9_000_000)
    for told in (page(gone), "".join(markdown.session_lines(session(), iter([(gone, True)]), masked=True))):
        assert "no longer in its transcript" in told
        assert "summary by the agent" in told
        assert "about 2026-09-01 10:00 UTC" in told
        assert "8,999,995 characters more were not stored" in told


def document(*turns: ArchivedTurn, title: str | None = "A title") -> str:
    return "".join(markdown.session_lines(session(title), ((t, False) for t in turns), masked=False))


def outside_of_fences(text: str) -> list[str]:
    """The lines that are markup, by CommonMark's rule: a fence ends at a run at least as long as its own."""
    lines: list[str] = []
    closing = ""
    for line in text.split("\n"):
        run = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if closing:
            if run and run[1].startswith(closing) and not line.strip(" " + closing[0]):
                closing = ""
        elif run and "`" not in line[run.end() :]:
            closing = run[1]
        else:
            lines.append(line)
    assert closing == ""
    return lines


@pytest.mark.parametrize("hostile", HOSTILE)
def test_nothing_of_a_transcript_is_markup(hostile: str) -> None:
    call = StoredCall(hostile, '{"a": "```"}', None, None, None, answered=False)
    text = document(turn(hostile, thinking=hostile, calls=(call,)), turn("After.", 1), title=hostile)
    assert f"\n{visible(hostile)}\n" in text
    lines = outside_of_fences(text)
    assert [line for line in lines if line.startswith("## ")] == [
        "## 0 · assistant · 2026-09-01 10:00 UTC", "## 1 · assistant · 2026-09-01 10:00 UTC",
    ]  # fmt: skip
    assert [line for line in lines if "<a " in line and "\\<" not in line and not line.startswith("Calls")] == [
        '<a id="s-1:0"></a>', '<a id="s-1:1"></a>',
    ]  # fmt: skip
    assert sum(line.startswith("# ") for line in lines) == 1


@given(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8"), min_size=1))
def test_markdown_holds_every_text_whole(text: str, other: str) -> None:
    shown = document(turn(text), turn(other, 1))
    assert len([line for line in outside_of_fences(shown) if line.startswith("## ")]) == 2
    assert visible(other) in shown
    assert not text or visible(text) in shown


def test_a_page_of_a_real_session(project: Project, tmp_path: Path) -> None:
    project.session("one", ("user", "the threshold is <0.85>"), title="Threshold & friends")
    with project.open() as recall:
        recall.import_sources()
        recall.export("one", format="html", output=tmp_path / "one.html")
        recall.export("one", format="markdown", output=tmp_path / "one.md")
    assert Reader((tmp_path / "one.html").read_text("utf-8")).texts == ["the threshold is <0.85>"]
    assert "# Threshold \\& friends" in (tmp_path / "one.md").read_text("utf-8")
