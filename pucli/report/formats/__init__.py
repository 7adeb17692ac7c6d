"""A report as Markdown, LaTeX and CSV."""
