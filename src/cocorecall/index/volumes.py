"""What kind of file system holds the index: SQLite's write-ahead log does not work over a network.

Sources: SQLite, "Write-Ahead Logging" (all processes must be on the same host); proc_mounts(5) for the
form of the mount table; mount(8) of macOS; GetDriveType of Windows.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

NETWORK_TYPES = frozenset(
    (
        "nfs nfs3 nfs4 cifs smb smb2 smb3 smbfs afpfs webdav davfs davfs2 fuse.davfs fuse.davfs2 9p v9fs drvfs"
        " sshfs fuse.sshfs fuse.rclone fuse.s3fs fuse.gcsfuse fuse.glusterfs glusterfs fuse.ceph ceph lustre"
        " afs ncpfs beegfs gpfs virtiofs prl_fs vboxsf fuse.vmhgfs-fuse vmhgfs"
    ).split()
)
"""File systems whose files another machine may change, or that do not share memory between processes."""

_ESCAPE = re.compile(r"\\([0-7]{3})")
_MAC_LINE = re.compile(r"^.* on (?P<point>/.*) \((?P<type>[^,)]+)")
_MOUNT_SECONDS = 2


def network_type(path: Path) -> str | None:
    """The type of the network file system that a path lies on; None for a local disk, or where unknown."""
    if sys.platform == "win32":
        return _windows_type(path)
    table = _mount_table()
    return network_type_in(table, os.path.realpath(path)) if table else None


def network_type_in(table: str, path: str) -> str | None:
    """The same, told by a mount table: lines of `/proc/mounts`, or of macOS's `mount`."""
    best, found = "", None
    for line in table.splitlines():
        mount = _mount(line)
        if mount is None:
            continue
        point, kind = mount
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        # of two mounts on one folder the later one is seen
        if inside and len(point) >= len(best):
            best, found = point, kind
    return found if found in NETWORK_TYPES else None


def _mount(line: str) -> tuple[str, str] | None:
    """Mount point and type of one line."""
    mac = _MAC_LINE.match(line)
    if mac:
        return mac["point"], mac["type"].strip()
    fields = line.split(" ")
    if len(fields) < 3:  # noqa: PLR2004 - device, point, type
        return None
    return _ESCAPE.sub(lambda m: chr(int(m[1], 8)), fields[1]), fields[2]


def _mount_table() -> str | None:
    if sys.platform == "linux":
        try:
            return Path("/proc/self/mounts").read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            return None
    if sys.platform == "darwin":
        import subprocess  # noqa: PLC0415 - macOS has no file to read this from

        try:
            ran = subprocess.run(
                ["/sbin/mount"], capture_output=True, text=True, timeout=_MOUNT_SECONDS, check=False,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
            return None
        return ran.stdout
    return None


def _windows_type(path: Path) -> str | None:
    text = os.path.abspath(path)  # noqa: PTH100 - resolve() would ask the server
    if text.startswith("\\\\") and not text.startswith("\\\\?\\"):
        return "smb"
    if sys.platform == "win32":
        import ctypes  # noqa: PLC0415 - Windows only

        remote = 4
        drive = os.path.splitdrive(text)[0] + "\\"
        if ctypes.windll.kernel32.GetDriveTypeW(drive) == remote:
            return "network drive"
    return None
