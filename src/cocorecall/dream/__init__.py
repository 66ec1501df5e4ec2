"""Consolidation of what sessions taught into `MEMORY.md`."""
