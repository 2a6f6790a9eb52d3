"""The ranks of a job as text, Markdown, JSON and pandas."""
