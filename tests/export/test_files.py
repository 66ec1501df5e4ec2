"""Where exports go: private, named for every file system, never over something else."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_run import recall_process
from cocorecall.errors import UsageError
from cocorecall.export.files import file_names
from projects import Project


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(sys.platform == "win32", reason="no modes")
@pytest.mark.parametrize("umask", ["000", "022", "777"])
def test_files_are_their_owners_alone_whatever_the_umask(stocked: Project, umask: str) -> None:
    """Robustness S3."""
    command = f"umask {umask}; exec {sys.executable} -m cocorecall export --all --output out/deep"
    if umask == "777":
        # what CocoRecall itself makes is under test, not the index that Python may not open
        (stocked.root / "out").mkdir()
    subprocess.run(["/bin/sh", "-c", command], cwd=stocked.root, check=True, capture_output=True)
    folder = stocked.root / "out" / "deep"
    assert mode(folder) == 0o700
    assert umask == "777" or mode(folder.parent) == 0o700
    assert {mode(path) for path in folder.iterdir()} == {0o600}


def test_nothing_is_written_over_unasked(stocked: Project) -> None:
    first = recall_process(stocked.root, "export", "--all")
    assert first.returncode == 0
    names = sorted(p.name for p in (stocked.root / "recall-export").iterdir())
    assert names == ["orders.recall.jsonl", "threshold.recall.jsonl"]
    (stocked.root / "recall-export" / names[0]).unlink()
    (stocked.root / "recall-export" / names[1]).write_text("mine", encoding="utf-8")
    second = recall_process(stocked.root, "export", "--all")
    assert second.returncode == 2
    assert "threshold.recall.jsonl exists already. --force writes over." in second.stderr
    assert sorted(p.name for p in (stocked.root / "recall-export").iterdir()) == names[1:]
    assert recall_process(stocked.root, "export", "--all", "--force").returncode == 0
    assert (stocked.root / "recall-export" / names[1]).read_text("utf-8") != "mine"


def test_an_agents_own_transcript_is_never_written_over(stocked: Project) -> None:
    path = stocked.transcripts / "orders.json"
    before = path.read_bytes()
    process = recall_process(stocked.root, "export", "orders", "--output", str(path), "--force")
    assert (process.returncode, path.read_bytes()) == (2, before)
    assert "is an agent's transcript" in process.stderr


def test_a_link_is_not_written_through(stocked: Project, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("mine", encoding="utf-8")
    link = stocked.root / "out.jsonl"
    try:
        link.symlink_to(target)
    except OSError:
        pytest.skip("links need a right here")
    assert recall_process(stocked.root, "export", "orders", "--output", "out.jsonl").returncode == 2
    assert (
        recall_process(stocked.root, "export", "orders", "--output", "out.jsonl", "--force").returncode == 0
    )
    assert target.read_text("utf-8") == "mine"


def test_a_session_goes_where_it_is_sent(stocked: Project) -> None:
    for args, name in (
        ([], "orders.recall.jsonl"),
        (["--format", "html"], "orders.html"),
        (["--output", "a/b/c.jsonl"], "a/b/c.jsonl"),
        (["--output", "a/b", "--format", "markdown"], "a/b/orders.md"),
    ):
        assert recall_process(stocked.root, "export", "orders", *args).returncode == 0
        assert (stocked.root / name).is_file()


def test_the_standard_output_gets_the_sessions_and_nothing_else(stocked: Project) -> None:
    process = recall_process(stocked.root, "export", "--all", "--output", "-")
    kinds = [json.loads(line)["type"] for line in process.stdout.splitlines()]
    assert (kinds[0], kinds.count("session"), kinds.count("turn"), len(kinds)) == ("session", 2, 5, 7)
    (stocked.transcripts / "both.jsonl").write_text(process.stdout, encoding="utf-8")
    assert "0 new" in recall_process(stocked.root, "import").stdout.splitlines()[0]


@pytest.mark.parametrize(
    "args",
    [[], ["orders", "--all"], ["nosuch"], ["orders", "--format", "pdf"], ["orders", "--output", "-", "--json"],
     ["--all", "--output", "-", "--format", "html"], ["--all", "--output", "cocoplus/recall-sources.json"]],
)  # fmt: skip
def test_what_makes_no_sense_is_wrong_usage(stocked: Project, args: list[str]) -> None:
    process = recall_process(stocked.root, "export", *args)
    assert (process.returncode, process.stdout) == (2, "")
    assert "Traceback" not in process.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full device")
def test_a_full_disk_leaves_no_half_file(stocked: Project) -> None:
    stocked.session("large", ("user", "word " * 40_000))
    assert recall_process(stocked.root, "import").returncode == 0
    code = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "sys.argv = ['recall', 'export', 'large', '--output', 'out/x.jsonl']\n"
        "from cocorecall.cli import main; main()"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=stocked.root, capture_output=True, text=True, check=False
    )
    assert process.returncode == 1
    assert process.stderr.startswith("recall: Cannot write ")
    assert list((stocked.root / "out").iterdir()) == []


def test_the_report_as_a_document(stocked: Project) -> None:
    process = recall_process(stocked.root, "export", "orders", "--json")
    told = json.loads(process.stdout)
    assert (told["schema"], told["format"], told["sessions"], told["turns"]) == (
        "cocorecall.export/1", "jsonl", 1, 2,
    )  # fmt: skip
    written = stocked.root / told["files"][0]["path"]
    assert written.stat().st_size == told["files"][0]["bytes"]


IDS = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=140), unique=True, max_size=8)
FORBIDDEN = set('<>:"/\\|?*') | {chr(n) for n in range(32)}


@given(IDS)
def test_names_are_such_as_every_file_system_takes(ids: list[str]) -> None:
    names = list(file_names(ids, ".html").values())
    assert len({name.casefold() for name in names}) == len(ids)
    for name in names:
        assert not FORBIDDEN & set(name)
        assert name.isascii()
        assert len(name) < 140
        assert not name.startswith((".", "-"))


@pytest.mark.parametrize(
    "session_id", ["con", "NUL", "com1", "aux.txt", "..", ".", "-rf", "a/b", "a\\b", "a:b", "x.", "Lpt9"]
)
def test_names_that_mean_something_else_are_changed(session_id: str) -> None:
    name = file_names([session_id], ".md")[session_id]
    assert name.startswith("s_")
    assert file_names([session_id], ".md")[session_id] == name


def test_plain_ids_are_their_own_names() -> None:
    ids = ["0d60d415-ff9e-4fa8-b1f0-2281750ddb87", "agent-a4f81c2", "same~2"]
    assert list(file_names(ids, ".md").values()) == [f"{i}.md" for i in ids]
    assert len({n.casefold() for n in file_names(["Same", "same"], ".md").values()}) == 2


def test_without_an_index_the_remedy_is_named(project: Project) -> None:
    with project.open() as recall, pytest.raises(UsageError, match="Nothing is indexed yet"):
        recall.export(all=True)
