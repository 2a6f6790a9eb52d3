"""Two runs compared, as text, Markdown, JSON and a workbook."""
