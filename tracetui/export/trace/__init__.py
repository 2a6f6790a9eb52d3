"""One trace as text, Markdown, JSON, csv and pandas."""
