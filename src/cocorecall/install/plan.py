"""What to write where, before anything is written.

A `Plan` is a list of file edits with the text before and after: what `--dry-run` shows as a diff and what
`apply` carries out. Making one reads files and writes none.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Literal

from cocorecall.errors import RecallError, UsageError
from cocorecall.install.entries import add_hooks, add_server, remove_hooks, remove_server
from cocorecall.install.jsonc import JsonTextError, scan
from cocorecall.install.places import (
    HOOKS_FILES,
    PARTS,
    Agent,
    HooksFile,
    Location,
    Part,
    Scope,
    Surroundings,
    hook_entries,
    locate,
)
from cocorecall.install.record import InstallRecord
from cocorecall.install.toml_edit import TomlTextError, add_table, remove_table

SKILL_TEXT = Path(__file__).parent.parent / "assets" / "SKILL.md"
BACKUP_SUFFIX = ".recall-backup"


@dataclass(frozen=True, slots=True)
class FileEdit:
    """One file's change.

    Attributes:
        path: the file, links in it followed.
        before: its text, line breaks and byte order mark as they are; None where it does not exist.
        after: its text afterwards; None to remove it.
        reasons: what the change is for, in words for a person.
        backup: `write`: keep the text before as `<name>.recall-backup`; `drop`: remove that, it holds what
            the file will hold again; `none`: leave it as it is.
    """

    path: Path
    before: str | None
    after: str | None
    reasons: tuple[str, ...]
    backup: Literal["write", "drop", "none"] = "none"

    @property
    def change(self) -> str:
        """`create`, `change` or `remove`."""
        return "create" if self.before is None else "remove" if self.after is None else "change"

    @property
    def backup_path(self) -> Path:
        """Where the backup lies."""
        return self.path.with_name(self.path.name + BACKUP_SUFFIX)


@dataclass(frozen=True, slots=True)
class Plan:
    """What an installation, or taking it out, would do.

    Attributes:
        edits: only files that change; none where all is as it should be.
        notes: what a person should know, one sentence each.
        record: where is remembered which files and folders we created.
    """

    agent: Agent
    scope: Scope
    action: Literal["install", "uninstall"]
    edits: tuple[FileEdit, ...]
    notes: tuple[str, ...]
    record: Path

    def diff(self) -> str:
        """A unified diff of all edits; empty where nothing changes."""
        return "".join(line for edit in self.edits for line in _diff(edit))


def plan_install(
    agent: Agent,
    *,
    scope: Scope = "user",
    parts: Collection[Part] | None = None,
    home: Path,
    project: Path | None = None,
    command: Path,
    record: Path,
    hooks_file: HooksFile | None = None,
    force: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> Plan:
    """Plan to put skill, hooks and MCP server where an agent looks for them.

    Args:
        agent: `cortex`, `claude`, `codex`, `gemini` or `cursor`.
        scope: the person's own settings, or one project's.
        parts: what to install; None for all that the agent is known to read.
        home: the person's home folder.
        project: the project's folder, for scope `project`.
        command: the `recall` program, as hooks and MCP entry shall call it.
        record: the file that remembers what was created.
        hooks_file: for Cortex Code `hooks` (default) or `settings`; for Claude Code `settings` or `local`.
        force: write to unsure places too, and over somebody else's skill of the same name.
        environ: `SNOWFLAKE_HOME`, `CLAUDE_CONFIG_DIR` and `CODEX_HOME` are honoured.

    Raises:
        UsageError: a part was asked for by name that needs `force`, or that the agent does not have; or the
            program is not named recall.
        RecallError: a settings file cannot be read or edited without touching more than ours.
    """
    if command.stem.lower() not in ("recall", "cocorecall"):
        raise UsageError(f"{command} is not named recall; its entries would not be known again.")
    draft = _Draft(agent, _around(scope, home, project, environ, hooks_file), InstallRecord.read(record))
    named = parts is not None
    for part in PARTS:
        if parts is None or part in parts:
            draft.install(part, command, force=force, named=named)
    return draft.finish("install", scope)


def plan_uninstall(
    agent: Agent,
    *,
    scope: Scope = "user",
    parts: Collection[Part] | None = None,
    home: Path,
    project: Path | None = None,
    record: Path,
    environ: Mapping[str, str] = os.environ,
) -> Plan:
    """Plan to take out exactly what `plan_install` puts in, in every file where it may have put it.

    Args:
        agent: whose settings.
        scope: the person's own settings, or one project's.
        parts: what to take out; None for all.
        home: the person's home folder.
        project: the project's folder, for scope `project`.
        record: the file that remembers what was created.
        environ: as for `plan_install`.

    Raises:
        RecallError: a settings file that mentions recall cannot be read or edited.
    """
    draft = _Draft(agent, _around(scope, home, project, environ, None), InstallRecord.read(record))
    for part in PARTS:
        if parts is None or part in parts:
            draft.uninstall(part)
    return draft.finish("uninstall", scope)


def _around(
    scope: Scope, home: Path, project: Path | None, environ: Mapping[str, str], hooks_file: HooksFile | None
) -> Surroundings:
    if scope == "project" and project is None:
        raise UsageError("Which project? Run it in the project's folder.")
    return Surroundings(home, project if scope == "project" else None, environ, hooks_file)


class _Draft:
    """Collects edits; parts that share a file build on each other's text."""

    def __init__(self, agent: Agent, around: Surroundings, record: InstallRecord) -> None:
        self._agent = agent
        self._around = around
        self._record = record
        self._edits: dict[Path, FileEdit] = {}
        self._notes: list[str] = []

    # --- install -------------------------------------------------------------------------------------

    def install(self, part: Part, command: Path, *, force: bool, named: bool) -> None:
        place = locate(self._agent, part, self._around)
        if place.path is None or (place.doubt and not force):
            self._leave_out(part, place, named=named)
            return
        if place.doubt:
            self._notes.append(f"Unsure: {place.doubt}")
        if part == "skill":
            self._install_skill(place.path, force=force)
        elif part == "hooks":
            wanted = hook_entries(self._agent, quoted(command))
            self._edit(place.path, lambda text: add_hooks(text or "{}\n", wanted), "hooks", remove_hooks)
        elif place.path.suffix == ".toml":
            self._edit(place.path, lambda text: add_table(text, str(command)), "MCP server", remove_table)
        else:
            add = lambda text: add_server(text or "{}\n", str(command))  # noqa: E731 - one of three alike
            self._edit(place.path, add, "MCP server", remove_server)
        if place.remark and self._changes(place.path):
            self._notes.append(place.remark)

    def _leave_out(self, part: Part, place: Location, *, named: bool) -> None:
        reason = f"{place.doubt[:1].upper()}{place.doubt[1:]}"
        if named:
            hint = "Add --force to write it all the same." if place.path else ""
            raise UsageError(f"{_TITLES[part]} not installed: {reason}", hint)
        self._notes.append(f"Left out, {part}: {reason}" + (" --force writes it." if place.path else ""))

    def _install_skill(self, path: Path, *, force: bool) -> None:
        text, before = SKILL_TEXT.read_text(encoding="utf-8"), self._text(path)
        if before is not None and not is_our_skill(before) and not force:
            raise RecallError(
                f"{path} is another skill named recall.",
                "Rename it, or replace it with --force (it is kept beside).",
            )
        if before != text:
            backup = before is not None and not (is_our_skill(before) and self._created(path))
            self._put(FileEdit(path, before, text, ("skill",), "write" if backup else "none"))

    def _edit(self, path: Path, add: Callable[[str], str], reason: str, strip: Callable[[str], str]) -> None:
        path = path.resolve()
        before = self._text(path)
        if before is not None and not before.strip("\ufeff \t\r\n") and path.suffix == ".json":
            raise RecallError(f"{path} is empty.", "Delete it, or write {} into it, and run this again.")
        after = _edited(path, before or "", add)
        if after == before:
            return
        original = before is not None and _edited(path, before, strip) == before
        backup = original or (before is not None and not self._created(path) and not _backup(path).exists())
        self._put(FileEdit(path, before, after, (reason,), "write" if backup else "none"))

    # --- uninstall -----------------------------------------------------------------------------------

    def uninstall(self, part: Part) -> None:
        choices: tuple[HooksFile | None, ...] = HOOKS_FILES.get(self._agent, ()) if part == "hooks" else ()
        for hooks_file in choices or (None,):
            place = locate(self._agent, part, replace(self._around, hooks_file=hooks_file))
            if place.path is None:
                continue
            if part == "skill":
                self._remove_skill(place.path)
            else:
                self._remove_entries(place.path, part)

    def _remove_skill(self, path: Path) -> None:
        before = self._text(path)
        if before is None or not is_our_skill(before):
            return
        kept = self._text(_backup(path))
        if kept is not None and not is_our_skill(kept):
            self._put(FileEdit(path, before, kept, ("skill; the one before it comes back",), "drop"))
            return
        edited = before != SKILL_TEXT.read_text(encoding="utf-8")
        if edited:
            self._notes.append(
                f"{path} was edited or is of another version; it is kept as {_backup(path).name}."
            )
        self._put(FileEdit(path, before, None, ("skill",), "write" if edited else "drop"))

    def _remove_entries(self, path: Path, part: Part) -> None:
        path = path.resolve()
        before = self._text(path)
        if before is None or "recall" not in before:
            return
        strip = remove_table if path.suffix == ".toml" else remove_hooks if part == "hooks" else remove_server
        text = _edited(path, before, strip)
        if text == before:
            return
        after = None if self._created(path) and _holds_nothing(text) else text
        self._put(FileEdit(path, before, after, (_TITLES[part],), "none"))

    # --- both ----------------------------------------------------------------------------------------

    def _text(self, path: Path) -> str | None:
        """A file's text as this plan leaves it so far.

        Raises:
            RecallError: it cannot be read, or is not UTF-8.
        """
        planned = self._edits.get(path.resolve())
        return planned.after if planned else read_exactly(path)

    def _changes(self, path: Path) -> bool:
        return path.resolve() in self._edits

    def _created(self, path: Path) -> bool:
        return str(path.resolve()) in self._record.files

    def _put(self, edit: FileEdit) -> None:
        path = edit.path.resolve()
        earlier = self._edits.get(path)
        if earlier:
            backup = "write" if earlier.before is not None and earlier.backup == "write" else edit.backup
            edit = replace(
                edit,
                before=earlier.before,
                reasons=(*earlier.reasons, *edit.reasons),
                backup="none" if earlier.before is None else backup,
            )
        self._edits[path] = replace(edit, path=path)

    def finish(self, action: Literal["install", "uninstall"], scope: Scope) -> Plan:
        edits = [e for e in self._edits.values() if e.before != e.after]
        if action == "uninstall":
            edits = [_with_backup_settled(e) for e in edits]
        return Plan(
            self._agent, scope, action, tuple(edits), tuple(dict.fromkeys(self._notes)), self._record.path
        )


_TITLES: Mapping[Part, str] = {"skill": "skill", "hooks": "hooks", "mcp": "MCP server"}


def _with_backup_settled(edit: FileEdit) -> FileEdit:
    """Settings that become what their backup holds need it no longer; where there is none, one is made."""
    if edit.backup != "none":
        return edit
    backup = edit.backup_path
    if not backup.exists():
        nothing_left = edit.after is None or _holds_nothing(edit.after)
        return edit if nothing_left else replace(edit, backup="write")
    same = edit.after is None or read_exactly(backup) == edit.after
    return replace(edit, backup="drop") if same else edit


def _backup(path: Path) -> Path:
    path = path.resolve()
    return path.with_name(path.name + BACKUP_SUFFIX)


def _edited(path: Path, text: str, change: Callable[[str], str]) -> str:
    try:
        return change(text)
    except JsonTextError as error:
        line = text.count("\n", 0, error.offset) + 1
        raise RecallError(
            f"{path}, line {line}: {error.reason}.", "Nothing was written; correct it and run this again."
        ) from error
    except TomlTextError as error:
        raise RecallError(
            f"{path}: {error}.", "Nothing was written; correct it and run this again."
        ) from error


def _holds_nothing(text: str) -> bool:
    """Whether only the frame of a document is left, without anybody's entry or comment."""
    if not text.strip("\ufeff \t\r\n"):
        return True
    try:
        root = scan(text)
    except JsonTextError:
        return False
    return root.kind == "object" and not root.children and not re.search(r"[^\s{}\ufeff]", text)


def read_exactly(path: Path) -> str | None:
    """A file's text with its line breaks and byte order mark; None where there is no such file.

    Raises:
        RecallError: it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise RecallError(f"{path} is not UTF-8.", "Nothing was written; save it as UTF-8.") from error
    except OSError as error:
        raise RecallError(f"{path} cannot be read: {error.strerror}.") from error


def is_our_skill(text: str) -> bool:
    """Whether a SKILL.md is CocoRecall's, of this or another version."""
    head = text[:2000].lstrip("\ufeff")
    return re.search(r"^name:\s*recall\s*$", head, re.MULTILINE) is not None and "CocoRecall" in text


def quoted(command: PurePath, *, windows: bool = os.name == "nt") -> str:
    """A program's path as a shell takes it."""
    text = str(command)
    if windows:
        return f'"{text}"' if " " in text else text
    return shlex.quote(text)


def _diff(edit: FileEdit) -> Iterator[str]:
    old = "/dev/null" if edit.before is None else str(edit.path)
    new = "/dev/null" if edit.after is None else str(edit.path)
    before, after = ((text or "").splitlines(keepends=True) for text in (edit.before, edit.after))
    for line in difflib.unified_diff(before, after, old, new):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
