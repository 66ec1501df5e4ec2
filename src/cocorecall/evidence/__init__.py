"""CocoPlus's own files as sessions of agent `cocoplus`: one a file, a section a turn, cited like any other.

`evidence_files` finds them, `EvidenceFormat` reads them, `read_vocabulary` gathers the project's own words, by
which every session's turns are read. All of the files are optional, and owned by CocoPlus: nothing is written.
"""

from __future__ import annotations

from cocorecall.evidence.files import AGENT, evidence_files, project_of
from cocorecall.evidence.sessions import EvidenceFormat
from cocorecall.evidence.vocabulary import Vocabulary, read_vocabulary

__all__ = ["AGENT", "EvidenceFormat", "Vocabulary", "evidence_files", "project_of", "read_vocabulary"]
