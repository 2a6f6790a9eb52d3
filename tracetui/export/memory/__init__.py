"""The memory of a run as JSON, text, Markdown and tables."""
