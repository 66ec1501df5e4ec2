"""Comparing what is indexed with what the transcripts say now."""
