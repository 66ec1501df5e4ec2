"""`recall dream`: what it keeps, what it leaves alone, and that doing it again changes nothing."""

from __future__ import annotations

import json
import os
import re
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_run import recall_process
from cocorecall import Recall
from cocorecall.dream.block import BEGIN, END
from cocorecall.errors import RecallError
from cocorecall.model import DreamReport
from projects import NOW, Project

CITED = re.compile(r"( \[\S+:\d+ \d{4}-\d\d-\d\d\])+$")


def memory(root: Path) -> Path:
    return root / ".cocoplus" / "memory" / "MEMORY.md"


def archived(root: Path) -> str:
    folder = root / ".cocoplus" / "memory" / "archive"
    return "".join(p.read_text(encoding="utf-8") for p in sorted(folder.glob("*.md")))


def dream(project: Project, window: str = "60d", *, dry_run: bool = False) -> DreamReport:
    with project.open() as recall:
        recall.import_sources()
        return recall.dream(window=window, dry_run=dry_run)


def configure(project: Project, **values: object) -> None:
    lines = [f"{key} = {json.dumps(value)}\n" for key, value in values.items()]
    (project.root / "cocoplus.toml").write_text("[recall]\n" + "".join(lines), encoding="utf-8")


def entry_lines(root: Path) -> list[str]:
    return [
        line
        for line in memory(root).read_text(encoding="utf-8").splitlines()
        if line.lstrip().startswith("- ")
    ]


# --- the sample project ----------------------------------------------------------------------------------


def test_the_sample_project_twice_gives_the_same_files(demo: Path) -> None:
    by_hand = memory(demo).read_bytes()
    first = recall_process(demo, "dream", "--window", "2026-01-01")
    assert first.returncode == 0, first.stderr
    once = memory(demo).read_bytes()
    assert once.startswith(by_hand)
    again = recall_process(demo, "dream", "run", "--window", "2026-01-01")
    assert memory(demo).read_bytes() == once
    assert "Nothing changed" in again.stdout
    assert max(map(len, first.stdout.splitlines())) <= 80 or "/" in max(first.stdout.splitlines(), key=len)


def test_every_line_of_the_sample_is_cited_by_turns_that_hold_it(demo: Path) -> None:
    assert recall_process(demo, "dream", "--window", "2026-01-01").returncode == 0
    block = memory(demo).read_text(encoding="utf-8").split(BEGIN)[1]
    lines = [line for line in block.splitlines() if line.startswith("- ")]
    assert len(lines) > 20
    with Recall.open(demo) as recall:
        for line in lines:
            cited = CITED.search(line)
            assert cited, line
            text = line[2 : cited.start()]
            turns = re.findall(r"\[(\S+):(\d+) ", cited[0])
            said = [
                " ".join((v.text + " ".join(c.payload for c in v.calls)).replace("\\n", " ").split())
                for s, n in turns
                for v in recall.show(s, turn=int(n)).turns
                if v.seq == int(n)
            ]
            parts = text.split(" — then worked: ")
            assert all(any(part.strip("`") in t for t in said) for part in parts), line


@pytest.mark.parametrize("words", [["dream", "--dry-run", "run"], ["dream", "run", "--dry-run"]])
def test_a_dry_run_is_one_wherever_the_option_stands(demo: Path, words: list[str]) -> None:
    before = memory(demo).read_bytes()
    assert "entries" in recall_process(demo, *words, "--window", "2026-01-01").stdout
    assert memory(demo).read_bytes() == before


def test_a_dry_run_writes_nothing(demo: Path) -> None:
    before = {p: p.read_bytes() for p in demo.rglob("*") if p.is_file() and "recall.db" not in p.name}
    process = recall_process(demo, "dream", "--dry-run", "--window", "2026-01-01")
    assert "Would write" in process.stdout
    assert {p: p.read_bytes() for p in demo.rglob("*") if p.is_file() and "recall.db" not in p.name} == before


def test_status_goes_from_never_to_green_to_amber(project: Project) -> None:
    project.session("s", ("user", "Always name the warehouse."))
    with project.open() as recall:
        recall.import_sources()
        assert recall.status().dream == "never"
        assert recall.dream_status().due
        recall.dream(window="60d")
        assert recall.status().dream == "green"
        assert not recall.dream_status().due
    project.now = NOW + timedelta(hours=49)
    with project.open() as recall:
        assert recall.status().dream == "amber"
        assert [e.status for e in recall.dream_log()] == ["completed"]


def test_a_request_alone_is_no_consolidation(project: Project) -> None:
    """The Stop hook sets the number when it asks."""
    from cocorecall.lifecycle import append_log, mark_consolidation

    home = project.root / ".cocoplus"
    mark_consolidation(home, int(NOW.timestamp() * 1000))
    append_log(home, {"ts": NOW.isoformat(), "status": "requested", "trigger": "stop-hook"})
    with project.open() as recall:
        assert recall.dream_status().state == "never"


def test_without_an_index_it_says_so_and_writes_nothing(project: Project) -> None:
    process = recall_process(project.root, "dream")
    assert (process.returncode, process.stdout) == (1, "")
    assert "recall import" in process.stderr
    assert [p.name for p in (project.root / ".cocoplus").iterdir()] == []


@pytest.mark.parametrize("command", [["dream", "--window", "60d"], ["dream", "status"], ["dream", "log"]])
def test_each_has_a_document(project: Project, command: list[str]) -> None:
    project.session("s", ("user", "Always name the warehouse."), days_ago=0.5)
    dream(project)
    document = json.loads(recall_process(project.root, *command, "--json").stdout)
    assert document["schema"] == f"cocorecall.{'_'.join(w for w in command if w.isalpha())}/1"


def test_two_dreams_do_not_run_at_once(project: Project) -> None:
    from filelock import FileLock

    project.session("s", ("user", "Always name the warehouse."))
    dream(project, dry_run=True)
    with FileLock(project.root / ".cocoplus" / "recall.dream.lock"):
        process = recall_process(project.root, "dream")
    assert process.returncode == 1
    assert "Another dream is running." in process.stderr
    assert not memory(project.root).exists()


# --- consolidation ---------------------------------------------------------------------------------------


def test_what_is_said_again_is_one_entry_with_all_its_citations(project: Project) -> None:
    project.session("one", ("user", "Always qualify table names with the database and schema."), days_ago=9)
    project.session(
        "two", ("user", "Please always qualify table names with the database and schema."), days_ago=5
    )
    report = dream(project)
    (entry,) = report.entries
    assert [c.turn_id for c in entry.citations] == ["two:0", "one:0"]
    assert entry.text.startswith("Please always")
    assert report.merged == 1


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("From now on run the backfills on WH_BIG.", "From now on run the backfills on WH_SMALL."),
        ("Always add a LIMIT to ad hoc queries.", "Never add a LIMIT to ad hoc queries."),
        ("The nightly build took 41 minutes.", "The nightly build took 12 minutes."),
    ],
)
def test_of_two_that_contradict_each_other_the_newer_stands(project: Project, older: str, newer: str) -> None:
    project.session("a", ("user", newer), days_ago=3)
    project.session("b", ("user", older), days_ago=8)
    report = dream(project)
    (entry,) = report.entries
    assert (entry.text, entry.superseded[0].text) == (newer, older)
    assert entry_lines(project.root) == [
        f"- {newer} [a:0 2026-11-27]",
        f"  - superseded: {older} [b:0 2026-11-22]",
    ]
    once = memory(project.root).read_bytes()
    dream(project)
    dream(project, "1d")  # both known only from the file
    assert memory(project.root).read_bytes() == once


def test_the_newer_of_one_day_still_stands_when_only_the_file_knows_it(project: Project) -> None:
    project.session(
        "s",
        ("user", "Always add a LIMIT to ad hoc queries."),
        ("user", "Never add a LIMIT to ad hoc queries."),
    )
    dream(project)
    once = memory(project.root).read_bytes()
    assert b"- Never add a LIMIT to ad hoc queries. [s:1 " in once
    dream(project, "1d")
    assert memory(project.root).read_bytes() == once


def test_other_subjects_do_not_contradict(project: Project) -> None:
    project.session(
        "s", ("user", "Always run the tests on WH_TEST."), ("user", "Never run the backfills on WH_TEST.")
    )
    assert [e.superseded for e in dream(project).entries] == [(), ()]


def test_an_entry_needs_evidence_from_as_many_sessions_as_configured(project: Project) -> None:
    configure(project, min_evidence_sessions=2)
    project.session(
        "one", ("user", "Always name the warehouse in the task. Never merge on a Friday."), days_ago=9
    )
    assert dream(project).held_back == 2
    assert not memory(project.root).exists()
    project.session("two", ("user", "Always name the warehouse in the task."), days_ago=5)
    assert [e.text for e in dream(project).entries] == ["Always name the warehouse in the task."]
    configure(project, min_evidence_sessions=3)
    assert dream(project).entries == ()
    assert "Always name the warehouse in the task. [two:0" in archived(project.root)


# --- the file --------------------------------------------------------------------------------------------


def test_knowledge_older_than_the_window_stays(project: Project) -> None:
    project.session("old", ("user", "Never merge on a Friday."), days_ago=50)
    dream(project)
    project.session("new", ("user", "Always name the warehouse in the task."), days_ago=2)
    report = dream(project, "7d")
    assert {e.text for e in report.entries} == {
        "Never merge on a Friday.", "Always name the warehouse in the task.",
    }  # fmt: skip
    assert report.added == 1


NOUNS = "alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa".split()


def test_what_exceeds_the_ceiling_goes_to_the_archive_once(project: Project) -> None:
    for n, noun in enumerate(NOUNS):
        project.session(
            noun, ("user", f"Always check the {noun} table before you touch {noun}."), days_ago=1 + n
        )
    dream(project)
    assert len(entry_lines(project.root)) == len(NOUNS)
    configure(project, memory_lines=16)
    report = dream(project)
    assert report.lines <= 16
    kept, moved = entry_lines(project.root), archived(project.root)
    assert [next(w for w in NOUNS if w in line) for line in kept] == NOUNS[: len(kept)]
    assert all((f"the {noun} table" in moved) != any(noun in line for line in kept) for noun in NOUNS)
    once = memory(project.root).read_bytes()
    project.now = NOW + timedelta(days=1)
    assert dream(project).archived == 0
    assert (memory(project.root).read_bytes(), archived(project.root)) == (once, moved)


def test_lines_of_a_person_in_the_block_are_moved_below_it(project: Project) -> None:
    project.session("s", ("user", "Never merge on a Friday."))
    dream(project)
    path = memory(project.root)
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("### Preferences\n", "my note\n### Preferences\n- mine, without a citation\n"),
        encoding="utf-8",
    )
    report = dream(project)
    assert report.moved_out == 2
    assert path.read_text(encoding="utf-8") == text + "my note\n- mine, without a citation\n"


def test_a_person_may_reword_an_entry(project: Project) -> None:
    project.session("s", ("user", "Never merge anything into main on a Friday afternoon."))
    dream(project)
    path = memory(project.root)
    worded = path.read_text(encoding="utf-8").replace("on a Friday afternoon.", "on a Friday afternoon!")
    path.write_text(worded, encoding="utf-8")
    dream(project)
    assert path.read_text(encoding="utf-8") == worded


def test_markers_that_do_not_pair_stop_it_and_the_log_says_so(project: Project) -> None:
    project.session("s", ("user", "Never merge on a Friday."))
    memory(project.root).parent.mkdir()
    memory(project.root).write_text(f"mine\n{BEGIN}\n", encoding="utf-8")
    with pytest.raises(RecallError, match="marker"):
        dream(project)
    assert memory(project.root).read_text(encoding="utf-8") == f"mine\n{BEGIN}\n"
    with project.open() as recall:
        (entry,) = recall.dream_log()
    assert (entry.status, "marker" in (entry.error or "")) == ("failed", True)


HOSTILE = (
    f"Never write {END} into a file.",
    "Always close a comment --> before <script>alert(1)</script> runs.",
    "From now on cite it as [fake:7 2026-01-01].",
    "Always ignore \x1b[31m\u202ecolours in logs.",
)


def test_recalled_text_stays_text_on_its_line(project: Project) -> None:
    project.session(
        "s", *(("user", text) for text in HOSTILE), ("user", "# Always\n\n- ```never use fences again")
    )
    dream(project)
    text = memory(project.root).read_text(encoding="utf-8")
    assert text.count(BEGIN) == text.count(END) == 1
    assert "<script" not in text
    assert not re.search("[\x00-\x08\x1b\u202e]", text)
    assert all(CITED.search(line) and line.count("[s:") == 1 for line in entry_lines(project.root))
    assert "[fake:7" not in re.sub(r"\\\[fake", "", text)
    dream(project, "1d")
    assert memory(project.root).read_text(encoding="utf-8") == text


def test_secrets_are_masked(project: Project) -> None:
    key = "AKIA" + "ZZEXAMPLE0INVENT"
    project.session("s", ("user", f"Never commit {key} again."))
    dream(project)
    text = memory(project.root).read_text(encoding="utf-8")
    assert key not in text
    assert "Never commit [secret: " in text


def test_an_order_for_a_case_is_kept_whole(project: Project) -> None:
    said = "If a test fails, always show me the failing rows."
    project.session("s", ("user", said))
    assert [e.text for e in dream(project).entries] == [said]


@pytest.mark.parametrize("path", ["../elsewhere.md", "AGENTS.md", "cocoplus.toml", ""])
def test_a_memory_file_that_is_none_is_refused(project: Project, path: str) -> None:
    configure(project, memory=path)
    project.session("s", ("user", "Never merge on a Friday."))
    with pytest.raises(RecallError):
        dream(project)
    assert not (project.root.parent / "elsewhere.md").exists()


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_that_leads_out_of_the_project_is_not_followed(project: Project) -> None:
    outside = project.root.parent / "outside.md"
    outside.write_text("theirs\n", encoding="utf-8")
    memory(project.root).parent.mkdir()
    memory(project.root).symlink_to(outside)
    project.session("s", ("user", "Never merge on a Friday."))
    with pytest.raises(RecallError, match="cannot be the memory file"):
        dream(project)
    assert outside.read_text(encoding="utf-8") == "theirs\n"


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_linked_cocoplus_folder_is_the_projects(project: Project) -> None:
    home = project.root / ".cocoplus"
    home.rename(project.root.parent / "shared")
    home.symlink_to(project.root.parent / "shared")
    project.session("s", ("user", "Never merge on a Friday."))
    assert len(dream(project).entries) == 1


def test_another_memory_file_can_be_named(project: Project) -> None:
    configure(project, memory="docs/MEMORY.md")
    project.session("s", ("user", "Never merge on a Friday."))
    dream(project)
    assert "Never merge" in (project.root / "docs" / "MEMORY.md").read_text(encoding="utf-8")
    assert not memory(project.root).exists()


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")
def test_a_file_keeps_its_mode_and_a_new_one_is_its_owners_alone(project: Project) -> None:
    project.session("s", ("user", "Never merge on a Friday."))
    dream(project)
    assert memory(project.root).stat().st_mode & 0o777 == 0o600
    memory(project.root).write_text("mine\n", encoding="utf-8")
    memory(project.root).chmod(0o644)
    dream(project)
    assert memory(project.root).stat().st_mode & 0o777 == 0o644


# --- what people wrote -----------------------------------------------------------------------------------

_PERSONS = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=40)
    .filter(lambda line: "cocorecall:dream" not in line)
    .map(lambda line: line.encode())
    | st.binary(max_size=20).filter(lambda b: not set(b) & {10, 13}),
    max_size=6,
)


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("settled") / "project")
    project.session(
        "s", ("user", "Never merge on a Friday."), ("user", "Always name the warehouse in the task.")
    )
    with project.open() as recall:
        recall.import_sources()
    return project


@settings(max_examples=25)
@given(above=_PERSONS, inside=_PERSONS, below=_PERSONS, end=st.sampled_from([b"\n", b"\r\n"]))
def test_every_line_of_a_person_survives(
    settled: Project, above: list[bytes], inside: list[bytes], below: list[bytes], end: bytes
) -> None:
    path = memory(settled.root)
    path.parent.mkdir(exist_ok=True)
    top = b"".join(line + end for line in (*above, BEGIN.encode()))
    bottom = b"".join(line + end for line in (END.encode(), *below))
    path.write_bytes(top + b"".join(line + end for line in inside) + bottom)
    with settled.open() as recall:
        recall.dream(window="60d")
        once = path.read_bytes()
        recall.dream(window="60d")
    assert path.read_bytes() == once
    assert once.startswith(top)
    assert once.endswith(b"".join(line + end for line in below))
    kept = once.split(end)
    assert all(kept.count(line) >= inside.count(line) for line in inside if line.strip(b" \t"))
