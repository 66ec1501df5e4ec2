"""Agents' transcript formats: one module a format, found by its `FORMAT` constant."""
