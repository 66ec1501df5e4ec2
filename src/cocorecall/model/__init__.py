"""The things CocoRecall speaks of: what a parser yields, and what a search returns.

Frozen dataclasses without I/O; every layer may import this package, and it imports none of them. Words as
in the README: a *transcript* is the file or files of one *session*; a session is a row of *turns*, numbered
from 0; a *facet* is a normalized fact of a session or turn.

A name's module is loaded when the name is asked for: a search makes no class that only a parser needs.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cocorecall.model.doctor import (
        BackupReport as BackupReport,
    )
    from cocorecall.model.doctor import (
        DoctorReport as DoctorReport,
    )
    from cocorecall.model.doctor import (
        Finding as Finding,
    )
    from cocorecall.model.doctor import (
        PartlyLost as PartlyLost,
    )
    from cocorecall.model.doctor import (
        RecoveryReport as RecoveryReport,
    )
    from cocorecall.model.doctor import (
        RestoreReport as RestoreReport,
    )
    from cocorecall.model.dream import (
        DreamCitation as DreamCitation,
    )
    from cocorecall.model.dream import (
        DreamLogEntry as DreamLogEntry,
    )
    from cocorecall.model.dream import (
        DreamReport as DreamReport,
    )
    from cocorecall.model.dream import (
        DreamStatus as DreamStatus,
    )
    from cocorecall.model.dream import (
        Entry as Entry,
    )
    from cocorecall.model.dream import (
        MemoryStore as MemoryStore,
    )
    from cocorecall.model.dream import (
        Signal as Signal,
    )
    from cocorecall.model.evidence import (
        CitedTurn as CitedTurn,
    )
    from cocorecall.model.evidence import (
        FacetKind as FacetKind,
    )
    from cocorecall.model.evidence import (
        FacetReport as FacetReport,
    )
    from cocorecall.model.evidence import (
        FacetValue as FacetValue,
    )
    from cocorecall.model.evidence import (
        FixReport as FixReport,
    )
    from cocorecall.model.evidence import (
        PreMortemReport as PreMortemReport,
    )
    from cocorecall.model.evidence import (
        PreMortemView as PreMortemView,
    )
    from cocorecall.model.evidence import (
        Repair as Repair,
    )
    from cocorecall.model.evidence import (
        Timeline as Timeline,
    )
    from cocorecall.model.evidence import (
        TimelineEvent as TimelineEvent,
    )
    from cocorecall.model.reports import (
        CallView as CallView,
    )
    from cocorecall.model.reports import (
        ForgetReport as ForgetReport,
    )
    from cocorecall.model.reports import (
        ForgottenSession as ForgottenSession,
    )
    from cocorecall.model.reports import (
        ImportReport as ImportReport,
    )
    from cocorecall.model.reports import (
        KeptTurns as KeptTurns,
    )
    from cocorecall.model.reports import (
        Progress as Progress,
    )
    from cocorecall.model.reports import (
        RetentionReport as RetentionReport,
    )
    from cocorecall.model.reports import (
        SecretPlace as SecretPlace,
    )
    from cocorecall.model.reports import (
        SecretReport as SecretReport,
    )
    from cocorecall.model.reports import (
        SessionInfo as SessionInfo,
    )
    from cocorecall.model.reports import (
        SessionView as SessionView,
    )
    from cocorecall.model.reports import (
        SkippedInput as SkippedInput,
    )
    from cocorecall.model.reports import (
        SourceReport as SourceReport,
    )
    from cocorecall.model.reports import (
        StatusReport as StatusReport,
    )
    from cocorecall.model.reports import (
        Tombstone as Tombstone,
    )
    from cocorecall.model.reports import (
        TurnView as TurnView,
    )
    from cocorecall.model.results import (
        Explanation as Explanation,
    )
    from cocorecall.model.results import (
        Factor as Factor,
    )
    from cocorecall.model.results import (
        Hit as Hit,
    )
    from cocorecall.model.results import (
        Results as Results,
    )
    from cocorecall.model.results import (
        Secret as Secret,
    )
    from cocorecall.model.results import (
        Span as Span,
    )
    from cocorecall.model.results import (
        TermScore as TermScore,
    )
    from cocorecall.model.results import (
        WordReport as WordReport,
    )
    from cocorecall.model.transcript import (
        MAX_TEXT as MAX_TEXT,
    )
    from cocorecall.model.transcript import (
        Entity as Entity,
    )
    from cocorecall.model.transcript import (
        EvaluationResult as EvaluationResult,
    )
    from cocorecall.model.transcript import (
        Event as Event,
    )
    from cocorecall.model.transcript import (
        Facet as Facet,
    )
    from cocorecall.model.transcript import (
        FunctionTouch as FunctionTouch,
    )
    from cocorecall.model.transcript import (
        KeyDecision as KeyDecision,
    )
    from cocorecall.model.transcript import (
        OutcomeContract as OutcomeContract,
    )
    from cocorecall.model.transcript import (
        SessionHead as SessionHead,
    )
    from cocorecall.model.transcript import (
        Skipped as Skipped,
    )
    from cocorecall.model.transcript import (
        StrategyUse as StrategyUse,
    )
    from cocorecall.model.transcript import (
        TimeSource as TimeSource,
    )
    from cocorecall.model.transcript import (
        ToolCall as ToolCall,
    )
    from cocorecall.model.transcript import (
        ToolResult as ToolResult,
    )
    from cocorecall.model.transcript import (
        Turn as Turn,
    )
    from cocorecall.model.transcript import (
        TurnKind as TurnKind,
    )
    from cocorecall.model.transcript import (
        UnknownRecord as UnknownRecord,
    )
    from cocorecall.model.verification import (
        CheckedTurn as CheckedTurn,
    )
    from cocorecall.model.verification import (
        Difference as Difference,
    )
    from cocorecall.model.verification import (
        ExportedFile as ExportedFile,
    )
    from cocorecall.model.verification import (
        ExportReport as ExportReport,
    )
    from cocorecall.model.verification import (
        Verdict as Verdict,
    )
    from cocorecall.model.verification import (
        VerifyReport as VerifyReport,
    )

_MODULES = {
    "transcript": "Entity EvaluationResult Event Facet FunctionTouch KeyDecision MAX_TEXT OutcomeContract SessionHead Skipped StrategyUse TimeSource ToolCall ToolResult Turn TurnKind UnknownRecord",
    "evidence": "CitedTurn FacetKind FacetReport FacetValue FixReport PreMortemReport PreMortemView Repair Timeline TimelineEvent",
    "results": "Explanation Factor Hit Results Secret Span TermScore WordReport",
    "reports": "CallView ForgetReport ForgottenSession ImportReport KeptTurns Progress RetentionReport SecretPlace SecretReport SessionInfo SessionView SkippedInput SourceReport StatusReport Tombstone TurnView",
    "verification": "CheckedTurn Difference ExportReport ExportedFile Verdict VerifyReport",
    "doctor": "BackupReport DoctorReport Finding PartlyLost RecoveryReport RestoreReport",
    "dream": "DreamCitation DreamLogEntry DreamReport DreamStatus Entry MemoryStore Signal",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
