"""The index: schema, reads and writes, import. The only layer that speaks SQL."""
