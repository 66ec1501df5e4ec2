"""Which file systems are told to be networks, by the tables that Linux and macOS keep."""

from __future__ import annotations

from pathlib import Path

import pytest

from cocorecall.index import volumes
from cocorecall.index.schema import open_for_writing
from cocorecall.index.volumes import network_type_in

LINUX = """\
/dev/vda1 / ext4 rw,relatime 0 0
tmpfs /run tmpfs rw 0 0
filer:/export/home /home nfs4 rw,vers=4.2 0 0
/dev/vdb1 /home/dana/local xfs rw 0 0
//nas/my\\040share /mnt/my\\040share cifs rw 0 0
dana@host:/srv /mnt/far fuse.sshfs rw 0 0
C:\\134 /mnt/c 9p rw,aname=drvfs 0 0
"""
MAC = """\
/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse)
//dana@nas._smb._tcp.local/work on /Volumes/work (smbfs, nodev, nosuid, mounted by dana)
"""


@pytest.mark.parametrize(
    ("table", "path", "expected"),
    [
        (LINUX, "/home/dana/project/.cocoplus/recall.db", "nfs4"),
        (LINUX, "/home/dana/local/project/recall.db", None),
        (LINUX, "/home/dana/localnot/recall.db", "nfs4"),
        (LINUX, "/mnt/my share/recall.db", "cifs"),
        (LINUX, "/mnt/far/recall.db", "fuse.sshfs"),
        (LINUX, "/mnt/c/Users/dana/recall.db", "9p"),
        (LINUX, "/homes/recall.db", None),
        (LINUX + "none /home tmpfs rw 0 0\n", "/home/dana/recall.db", None),
        (MAC, "/Users/dana/recall.db", None),
        (MAC, "/Volumes/work/recall.db", "smbfs"),
        ("", "/home/recall.db", None),
        ("nonsense\n\n", "/home/recall.db", None),
    ],
)
def test_a_network_is_told_by_the_mount_that_holds_the_path(
    table: str, path: str, expected: str | None
) -> None:
    assert network_type_in(table, path) == expected


def test_no_write_ahead_log_on_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = tmp_path / "recall.db"
    open_for_writing(index).close()
    monkeypatch.setattr(volumes, "network_type", lambda _: "nfs4")
    connection = open_for_writing(index)
    assert connection.pragma("journal_mode") == "delete"
    connection.close()
    monkeypatch.undo()
    connection = open_for_writing(index)
    assert connection.pragma("journal_mode") == "wal"
    connection.close()
