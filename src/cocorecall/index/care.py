"""An import with all that must be right before it: damage mended, tombstones in place, freed pages emptied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import apsw

from cocorecall.errors import IndexDamagedError
from cocorecall.index import tombstones
from cocorecall.index.glance import may_need_mending
from cocorecall.index.schema import open_for_writing, plain_errors
from cocorecall.model import ImportReport
from cocorecall.project import Place

if TYPE_CHECKING:
    from cocorecall.index.recovery import Salvage


def import_with_care(place: Place, now: str, run: Callable[[apsw.Connection], ImportReport]) -> ImportReport:
    """Run an import; where damage is met, before it or in the middle, mend the index and run it (again).

    The caller holds the import lock and has no connection open.

    Raises:
        IndexTooNewError, IndexDamagedError, BusyError, RecallError: as for opening; damage only where it
            cannot be mended.
    """
    with plain_errors(place.index_path):
        salvage = _mend(place, now) if may_need_mending(place.index_path) else None
        try:
            return _run(place, run, salvage)
        except IndexDamagedError as error:
            if error.damage is None or (salvage and salvage.what == "file"):
                raise
            salvage = _mend(place, now, error.damage)
            return _run(place, run, salvage)


def _mend(place: Place, now: str, damage: str | None = None) -> Salvage | None:
    from cocorecall.index.recovery import mend  # noqa: PLC0415 - few imports meet damage

    return mend(place.index_path, now, damage=damage)


def _run(
    place: Place, run: Callable[[apsw.Connection], ImportReport], salvage: Salvage | None
) -> ImportReport:
    with plain_errors(place.index_path):
        connection = open_for_writing(place.index_path)
        try:
            tombstones.merge(connection, place)
            if tombstones.compaction_is_due(connection):
                from cocorecall.index.forgetting import Forgetter  # noqa: PLC0415 - after a killed `forget`

                Forgetter(connection).compact()
            report = run(connection)
            return replace(report, recovered=salvage.report(connection)) if salvage else report
        finally:
            connection.close()
