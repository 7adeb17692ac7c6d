"""A report as Markdown, LaTeX, CSV and a web page."""
