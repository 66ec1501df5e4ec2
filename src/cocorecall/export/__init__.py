"""Writing sessions out: JSON lines that can be imported again, Markdown and HTML to read."""
