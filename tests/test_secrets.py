"""What is masked wherever text is shown, and what is not (robustness S1, S2)."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_run import recall_process
from cocorecall.secrets import find_secrets, mask
from planted import PASSWORD_SETTINGS, SHAPED, Turn, look_alikes, password, pem, planted, turns_with_secrets
from projects import Project

RANDOM = random.Random(7)  # noqa: S311 - invented data
KEY = "AKIA" + "QX3RT7" + "BZ5KMN2PLW"
TOKEN = "gh" + "p_" + "q7Rw2Lk9Zx4Vb8Nm1Tc6Yh3Jd5Fg0Ps2Aa9B"
PEM = pem("RSA PRIVATE KEY", 1190)(RANDOM)


def is_found(turn: Turn) -> bool:
    covered = {i for s in find_secrets(turn.text) for i in range(s.start, s.end)}
    return all(covered.issuperset(range(start, end)) for _, start, end in turn.planted)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_planted_secrets_are_found_in_full(seed: int) -> None:
    turns = list(turns_with_secrets(seed, rounds=1))
    missed = [t for t in turns if not is_found(t)]
    assert len(missed) <= 0.02 * len(turns), missed[:3]


@pytest.mark.parametrize("kind", [*SHAPED, *PASSWORD_SETTINGS])
def test_every_kind_is_found_somewhere_by_its_name(kind: str) -> None:
    kinds = {
        s.kind for t in turns_with_secrets(rounds=1) for s in find_secrets(t.text) if t.planted[0][0] == kind
    }
    assert kinds & {kind, {"snowflake-pat": "jwt"}.get(kind, kind)}


@pytest.mark.parametrize("seed", [2, 11])
def test_look_alikes_are_left_alone(seed: int) -> None:
    assert [(t, found) for t in look_alikes(seed) if (found := find_secrets(t))] == []


@pytest.mark.parametrize("text", [
    "Secretary: Anna Berg", "task-0123456789abcdef0123456789abcdef", "password: <your-token>", "token = ${TOKEN}",
    "API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx", "token: env.TOKEN", 'secret = os.environ["X"]', "PASSWORD=********",
    "PWD=/home/dana/work/loader-2", "password = getpass('Password: ')", "api_key: str = DEFAULT_API_KEY",
])  # fmt: skip
def test_names_and_placeholders_are_no_secrets(text: str) -> None:
    assert mask(text).text == text


def test_only_the_secret_is_replaced_and_counted() -> None:
    masked = mask(f"key {KEY}, then\nPASSWORD=Falcon2031! and {KEY}.")
    assert (
        masked.text
        == "key [secret: aws-access-key], then\nPASSWORD=[secret: password] and [secret: aws-access-key]."
    )
    assert masked.counts == {"aws-access-key": 2, "password": 1}


@pytest.mark.parametrize("cut", range(60, len(PEM), 97))
def test_a_private_key_that_was_cut_is_masked_to_its_last_line(cut: int) -> None:
    body = [line for line in PEM.splitlines() if not line.startswith("--")]
    for part in (PEM[:cut], PEM[cut:]):
        shown = mask(f"$ cat key.pem\n{part}").text
        assert not [line for line in body if line[-24:] in shown], shown


def test_a_private_key_inside_a_json_string_or_a_numbered_listing_is_masked() -> None:
    numbered = "\n".join(f"{n:6}\t{line}" for n, line in enumerate(PEM.splitlines(), 1))
    for text in (json.dumps({"private_key": PEM}), numbered, PEM.replace("\n", "\\n")):
        assert PEM.splitlines()[3] not in mask(text).text


@given(st.text(max_size=200), st.text(max_size=200))
def test_what_is_not_masked_is_verbatim(before: str, behind: str) -> None:
    text = f"{before} {TOKEN} {behind}"
    rest = text
    for secret in reversed(find_secrets(text)):
        rest = rest[: secret.start] + f"[secret: {secret.kind}]" + rest[secret.end :]
    assert mask(text).text == rest
    assert TOKEN not in rest


@pytest.mark.parametrize(
    "part", ["xoxb-", "eyJ-", "fm2_-", "key=", "password=", "://a:", "-----BEGIN PRIVATE KEY-----", "AZDO", "-", "a", "curl -u b:"]
)  # fmt: skip
def test_a_long_text_of_nothing_but_beginnings_is_read_to_its_end(part: str) -> None:
    """Where each occurrence were read to the end of its run, this would take hours."""
    assert len(mask(part * (1_000_000 // len(part))).text) > 0


# --- through every face ----------------------------------------------------------------------------------


@pytest.fixture
def leaky(project: Project) -> Project:
    """A session that holds secrets in its title, folder, text, calls, tags and reasoning."""
    filler = "The loader reads a stage and merges what is new. " * 60
    project.session(
        "leaky",
        ("user", f"Rotate the falcon key {KEY} please."),
        {"role": "assistant", "text": "Running it.", "tool_calls": [{"name": "bash", "input": {"command": f"export GH={TOKEN}"}}]},
        {"role": "tool", "text": f"{filler}\nquokka follows\n{PEM}\nwombat\n{filler}", "tags": [TOKEN, "loader"]},
        title=f"Rotate {KEY}", cwd=f"/work/{TOKEN}/x",
    )  # fmt: skip
    project.session("other", ("user", "The falcon key was renewed; nothing secret is in this session."))
    with project.open() as recall:
        recall.import_sources()
    return project


COMMANDS = [
    ["search", "falcon", "key"], ["search", KEY], ["search", TOKEN], ["search", "quokka"], ["search", "wombat", "--full"],
    ["search", "loader", "--all", "--explain"], ["search", KEY[:-1] + "9"], ["show", "leaky"], ["show", "leaky", "-C", "1", "--query", KEY],
    ["show", "leaky", "--around", "0", "--query", "quokka", "--thinking", "--full"], ["secrets"], ["status"],
]  # fmt: skip


@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_command_prints_a_secret_or_a_part_of_one(
    leaky: Project, command: list[str], form: list[str]
) -> None:
    process = recall_process(leaky.root, *command, *form)
    assert process.returncode == 0, process.stderr
    pieces = [KEY[:12], TOKEN[4:20], *(line[:20] for line in PEM.splitlines() if not line.startswith("--"))]
    assert [p for p in pieces if p.lower() in process.stdout.lower()] == []


def test_a_search_for_a_secret_finds_its_turn_and_masks_it(leaky: Project) -> None:
    process = recall_process(leaky.root, "search", KEY)
    assert "leaky:0" in process.stdout
    assert "[secret: aws-access-key]" in process.stdout
    assert "1 secret masked; --reveal shows it." in process.stdout
    assert KEY in recall_process(leaky.root, "search", KEY, "--reveal").stdout
    assert KEY in recall_process(leaky.root, "show", "leaky", "--reveal").stdout


@pytest.mark.parametrize("budget", [60, 90, 140, 220, 400, 1000])
def test_an_excerpt_cut_through_a_key_shows_no_part_of_it(leaky: Project, budget: int) -> None:
    with leaky.open() as recall:
        for query in ("quokka", "wombat", "quokka wombat"):
            results = recall.search(query, budget=budget, record=False)
            shown = recall.render(results)
            assert results.tokens <= budget
            assert not [line for line in PEM.splitlines() if not line.startswith("--") and line[:16] in shown]


LONG_FILLER = "The loader reads a stage and merges what is new. " * 1_500
LONG_BODY = f"{LONG_FILLER}\n{PEM}\n{LONG_FILLER}{TOKEN} {LONG_FILLER} PASSWORD=Falcon2031!\n"
KEY_AT = LONG_BODY.index("-----BEGIN")


@given(
    st.lists(
        st.tuples(
            st.one_of(
                st.integers(0, len(LONG_BODY)),
                st.integers(KEY_AT - 50, KEY_AT + len(PEM) + 50),
                st.integers(LONG_BODY.index(TOKEN) - 9, LONG_BODY.index(TOKEN) + 45),
                st.integers(len(LONG_BODY) - 40, len(LONG_BODY)),
            ),
            st.integers(1, 1_000),
        ),
        max_size=3,
    )
)
def test_wherever_an_excerpt_of_a_long_turn_is_cut_no_part_of_a_secret_shows(
    cuts: list[tuple[int, int]],
) -> None:
    from cocorecall.search.excerpt import Excerpt, join_spans
    from cocorecall.search.masking import Masking

    spans: list[tuple[int, int]] = []
    for low, size in sorted(cuts):
        start = max(low, spans[-1][1] + 1 if spans else 0)
        end = min(len(LONG_BODY), start + size)
        spans += [(start, end)] if start < end else []
    shown = Masking("", reveal=False).excerpt(
        LONG_BODY, Excerpt(join_spans(LONG_BODY, spans), tuple(spans), ())
    )
    secrets = [(s.start, s.end) for s in find_secrets(LONG_BODY)]
    assert len(secrets) == 3
    outside = [at for a, b in spans for at in range(a, b) if not any(a <= at < b for a, b in secrets)]
    kept = join_spans(LONG_BODY, spans, {s.start: (s.end, "") for s in shown.masked})
    assert len(kept) == len(join_spans(LONG_BODY, spans)) - sum(b - a for a, b in spans) + len(outside)
    assert shown.text.count("[secret: ") == len(shown.masked)


def test_spans_stay_those_of_the_stored_text(leaky: Project) -> None:
    with leaky.open() as recall:
        masked = recall.search("falcon rotate", record=False).hits[0]
        plain = recall.search("falcon rotate", record=False, reveal=True).hits[0]
        verbatim = recall.search("renewed falcon", record=False).hits[0]
    assert (masked.turn_id, masked.spans, masked.text_hash, masked.text_length) == (
        plain.turn_id, plain.spans, plain.text_hash, plain.text_length,
    )  # fmt: skip
    assert [(s.kind, plain.text[s.start : s.end]) for s in masked.masked] == [("aws-access-key", KEY)]
    assert (masked.secrets, plain.secrets, verbatim.secrets) == (1, 0, 0)
    assert not [h for h in masked.highlights if h[0] < masked.masked[0].end and masked.masked[0].start < h[1]]


def test_a_program_is_told_how_many_markers_a_text_holds(leaky: Project) -> None:
    document = json.loads(recall_process(leaky.root, "search", "falcon", "key", "--json").stdout)
    assert [(r["turn_id"], r["secrets"], r["text"].count("[secret: ")) for r in sorted(document["results"], key=lambda r: r["turn_id"])] == [
        ("leaky:0", 1, 1), ("other:0", 0, 0),
    ]  # fmt: skip
    turns = json.loads(recall_process(leaky.root, "show", "leaky", "--json").stdout)["turns"]
    assert [t["secrets"] for t in turns] == [1, 1, 1]
    assert [t["text"][a:b] for t in turns for a, b in t["highlights"]] == ["falcon", "key"]


def test_stored_text_and_hash_stay_verbatim(leaky: Project) -> None:
    import hashlib

    import apsw

    rows = apsw.Connection(str(leaky.index)).execute("SELECT text, text_hash FROM turns").fetchall()
    assert any(KEY in str(text) for text, _ in rows)
    assert all(hashlib.sha256(str(text).encode()).hexdigest() == digest for text, digest in rows)


# --- recall secrets --------------------------------------------------------------------------------------


def listing(project: Project, *args: str) -> dict[str, Any]:
    process = recall_process(project.root, "secrets", "--json", *args)
    assert process.returncode == 0, process.stderr
    document: dict[str, Any] = json.loads(process.stdout)
    return document


def test_the_listing_says_where_secrets_are(leaky: Project) -> None:
    document = listing(leaky)
    assert document["schema"] == "cocorecall.secrets/1"
    assert document["kinds"] == {"aws-access-key": 1, "github-token": 1, "private-key": 1}
    assert (document["secrets"], document["turns"], document["sessions"]) == (3, 3, 1)
    assert [(r["kind"], r["turn_id"], r["fields"]) for r in document["results"]] == [
        ("private-key", "leaky:2", ["text"]), ("github-token", "leaky:1", ["calls"]), ("aws-access-key", "leaky:0", ["text"]),
    ]  # fmt: skip
    place = document["results"][0]
    assert place["source_exists"] is True
    assert Path(place["source_path"]).name == "leaky.json"
    assert place["suggested_follow_up"] == "recall show leaky:2"


def test_the_listing_can_be_narrowed(leaky: Project) -> None:
    assert listing(leaky, "--kind", "private-key")["secrets"] == 1
    assert listing(leaky, "--session", "oth")["results"] == []
    assert recall_process(leaky.root, "secrets", "--session", "nobody").returncode == 2


def test_status_counts_what_the_last_listing_found(leaky: Project) -> None:
    assert json.loads(recall_process(leaky.root, "status", "--json").stdout)["secrets"] is None
    listing(leaky)
    assert json.loads(recall_process(leaky.root, "status", "--json").stdout)["secrets"] == {
        "aws-access-key": 1, "github-token": 1, "private-key": 1,
    }  # fmt: skip


def test_passwords_of_every_setting_are_masked_through_search(project: Project) -> None:
    turns = [planted(kind, password(RANDOM), s) for kind in ("snowflake-password", "password") for s in PASSWORD_SETTINGS[kind] if "://" not in s]  # fmt: skip
    project.session("many", *(("tool", f"zebra {t.text}") for t in turns))
    with project.open() as recall:
        recall.import_sources()
        shown = recall.render(recall.search("zebra", all=True, budget=None, record=False))
    secrets = [t.text[start:end] for t in turns for _, start, end in t.planted]
    assert [s for s in secrets if s in shown] == []
