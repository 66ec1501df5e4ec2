"""CocoPlus's own files as cited sessions: what is sound is read, what is not is reported, what was is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_run import recall_process
from projects import Project

PREMORTEM = """# Progress

## Pre-Mortem: load-orders 2026-09-02T06:55:00Z

**Failure Scenario:** The merge keeps the wrong amount.
**Prevention Status:** open
**Operator Acknowledgment:** pending

## Notes

Nothing to see.
"""


def write(project: Project, relative: str, text: str) -> Path:
    path = project.root / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def read(project: Project, *args: str) -> dict[str, Any]:
    process = recall_process(project.root, *args, "--json")
    assert process.returncode == 0, process.stderr
    document: dict[str, Any] = json.loads(process.stdout)
    return document


def test_a_pre_mortem_is_cited_and_stays_when_its_file_is_rewritten(project: Project) -> None:
    path = write(project, ".cocoplus/session/PROGRESS.md", PREMORTEM)
    read(project, "import")
    first = read(project, "premortems")["premortems"][0]
    assert first["failure_scenario"] == "The merge keeps the wrong amount."
    assert first["turn"]["source_path"] == str(path)
    assert first["turn"]["source_line"] == 3
    assert first["turn"]["in_source"]

    path.write_text("# Progress\n\nA new plan.\n", encoding="utf-8")
    report = read(project, "import")
    assert report["turns_gone"] == 1
    kept = read(project, "premortems", "--stage", "load-orders")["premortems"][0]
    assert kept["turn"]["turn_id"] == first["turn"]["turn_id"]
    assert not kept["turn"]["in_source"]
    assert kept["turn"]["source_exists"]

    path.unlink()
    read(project, "import")
    assert not read(project, "premortems")["premortems"][0]["turn"]["source_exists"]
    hit = read(project, "search", "--stage", "load-orders")["results"][0]
    assert hit["turn_id"] == first["turn"]["turn_id"]


def test_a_pre_mortem_whose_status_changes_keeps_its_turn(project: Project) -> None:
    path = write(project, ".cocoplus/session/PROGRESS.md", PREMORTEM)
    read(project, "import")
    path.write_text(PREMORTEM.replace("Status:** open", "Status:** in place"), encoding="utf-8")
    read(project, "import")
    views = read(project, "premortems")["premortems"]
    assert [v["prevention_status"] for v in views] == ["in place"]
    assert not read(project, "premortems", "--status", "open")["premortems"]


def test_half_a_pre_mortem_is_read_as_far_as_it_goes(project: Project) -> None:
    write(project, ".cocoplus/session/PROGRESS.md", PREMORTEM[: PREMORTEM.index("**Prevention")] + "**Preven")
    report = read(project, "import")
    view = read(project, "premortems")["premortems"][0]
    assert view["failure_scenario"].startswith("The merge keeps the wrong amount.")
    assert view["prevention_status"] is None
    assert report["sessions_new"] == 1


def test_an_unknown_stage_names_near_ones(project: Project) -> None:
    write(project, ".cocoplus/session/PROGRESS.md", PREMORTEM)
    read(project, "import")
    assert read(project, "premortems", "--stage", "load-order")["near"] == ["load-orders"]
    assert "Near: load-orders" in recall_process(project.root, "search", "--stage", "load-order").stdout


def test_a_contract_is_what_its_evidence_makes_it(project: Project) -> None:
    contract = (
        "# Outcome Contract: f\n\n**Persona:** a\n**Observable Result:** b\n**Falsifiability Condition:** c\n"
    )
    for function in ("proven", "bare", "changed"):
        write(project, f"outcomes/{function}/contract.md", contract)
    record = {"tier": "unit", "result": "pass", "recorded_at": "2026-09-01T10:00:00Z", "source_hash": "a1"}
    write(
        project,
        "outcomes/proven/evidence/1.json",
        json.dumps(record | {"tier": "e2e", "function": "proven"}),
    )
    write(project, "outcomes/changed/evidence/1.json", json.dumps(record | {"function": "changed"}))
    newer = record | {"source_hash": "b2", "recorded_at": "2026-10-01T10:00:00Z", "tier": "spec"}
    write(project, ".cocoplus/contract-evidence.json", json.dumps({"changed": newer}))
    read(project, "import")
    assert read(project, "status")["not_indexed"] == 0
    states = {
        (v["value"], v["type"]): v["filter"] for v in read(project, "facets", "outcomes", "--all")["values"]
    }
    assert ("proven", "e2e pass") in states
    assert ("bare", "absent") in states
    assert ("changed", "unit stale") in states
    assert ("changed", "spec pass") in states
    options = states["changed", "unit stale"].split()
    assert options == ["--function", "changed", "--outcome-type", "unit", "--outcome-status", "stale"]
    hits = read(project, "search", *options)["results"]
    assert [h["source_path"] for h in hits] == [str(project.root / "outcomes/changed/evidence/1.json")]


def test_the_turn_of_a_record_is_its_text_in_the_file(project: Project) -> None:
    text = '{\n  "alpha": {"tier": "unit",  "result": "pass"},\n\n  "beta": {"tier": "e2e", "result": "fail"}\n}\n'
    write(project, ".cocoplus/contract-evidence.json", text)
    read(project, "import")
    hit = read(project, "search", "--function", "beta", "--outcome-status", "fail")["results"][0]
    assert hit["text"] == '"beta": {"tier": "e2e", "result": "fail"}'
    assert hit["source_line"] == 4


def test_what_is_broken_is_reported_and_the_rest_is_read(project: Project) -> None:
    write(project, "outcomes/f/contract.md", "# Outcome Contract: f\n\n**Persona:** an analyst\n")
    write(project, "outcomes/f/evidence/1.json", "{not json")
    write(project, ".cocoplus/contract-evidence.json", "[1, 2")
    write(
        project,
        ".cocoplus/grove/language/glossary.md",
        "## Golden Set\n\nA.\n\n## golden set\n\nB.\n\n## Triage Queue\n\nC.\n",
    )
    write(project, "cocoplus/strategies/odd.yaml", "%%% not yaml at all\n\x01\x02\n")
    write(
        project,
        ".cocoplus/wisdom/rejections.jsonl",
        '{"record_id": "r1", "rejection_reason": "no test"}\nnot json\n',
    )
    report = read(project, "import")
    reasons = " ".join(entry["reason"] for entry in report["skipped"])
    for part in ("no observable result", "not JSON", "defined twice"):
        assert part in reasons
    assert read(project, "search", "no test", "--agent", "cocoplus")["results"]
    assert read(project, "search", "Triage", "--agent", "cocoplus")["results"]
    assert read(project, "search", "--outcome-status", "absent")["results"]


def test_a_link_out_of_the_project_is_not_followed(project: Project, tmp_path: Path) -> None:
    secret = tmp_path / "elsewhere.md"
    secret.write_text(
        "## [2026-01-01 10:00] The marmalade decision\n\n**Decision:** none\n", encoding="utf-8"
    )
    target = project.root / ".cocoplus/memory/decisions.md"
    target.parent.mkdir()
    try:
        target.symlink_to(secret)
    except OSError:
        pytest.skip("this system makes no links")
    report = read(project, "import")
    assert any("leads out" in entry["reason"] for entry in report["skipped"])
    assert not read(project, "search", "marmalade")["results"]


def test_decisions_and_their_roles(project: Project) -> None:
    write(
        project,
        ".cocoplus/memory/decisions.md",
        "## [2026-09-02 10:00] Merge key\n\n**Decision:** dedupe_orders merges on two columns.\n**Rationale:** ids repeat.\n",
    )
    project.session("s", ("user", "We decided to keep the warehouse at MEDIUM."))
    read(project, "import")
    found = {v["value"]: v["type"] for v in read(project, "facets", "decisions")["values"]}
    assert found == {
        "dedupe_orders merges on two columns.": "system",
        "We decided to keep the warehouse at MEDIUM.": "user",
    }


FILES = (
    ".cocoplus/memory/decisions.md", ".cocoplus/memory/errors.md", ".cocoplus/session/PROGRESS.md",
    ".cocoplus/grove/language/glossary.md", ".cocoplus/grove/patterns/p.md", ".cocoplus/wisdom/rejections.jsonl",
    ".cocoplus/contract-evidence.json", "cocoplus/strategies/s.yaml", "outcomes/f/contract.md",
    "outcomes/f/evidence/1.json", "outcomes/f/evidence/2.md",
)  # fmt: skip
PIECES = st.lists(
    st.sampled_from(
        ["## ", "## Pre-Mortem: s 2026-01-01T10:00:00Z\n", "## [2026-01-01 10:00] t\n", "**Decision:** ", "\n", "{", "}", '"a":',
         "1", "[", "]", ",", "```\n", "é", "\0", "# ", "name: v\n", "\ufeff", "\r\n", "| a | b |\n"]
    ),
    max_size=30,
)  # fmt: skip


@settings(max_examples=25)
@given(st.dictionaries(st.sampled_from(FILES), PIECES, min_size=1))
def test_no_text_in_any_file_stops_an_import(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, list[str]]
) -> None:
    project = Project(tmp_path_factory.mktemp("evidence") / "p")
    for relative, pieces in files.items():
        path = project.root / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes("".join(pieces).encode())
    with project.open() as recall:
        report = recall.import_sources()
        assert report.transcripts == len(files)
        assert not [s for s in report.skipped if "parser failed" in s.reason]
        again = recall.import_sources()
        assert (again.turns_new, again.turns_changed, again.turns_gone) == (0, 0, 0)


def test_evidence_is_verified_against_its_file(project: Project) -> None:
    path = write(project, ".cocoplus/session/PROGRESS.md", PREMORTEM)
    read(project, "import")
    assert read(project, "verify", "--all")["counts"]["verified"] == 1
    path.write_text(PREMORTEM.replace("wrong amount", "right amount"), encoding="utf-8")
    process = recall_process(project.root, "verify", ".cocoplus/session/PROGRESS.md", "--json")
    assert process.returncode == 1
    assert json.loads(process.stdout)["counts"]["changed"] == 1
