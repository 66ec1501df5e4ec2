"""The version, written here so that no command has to look it up in the package's metadata."""

__version__ = "0.1.0"
