"""The summary and the page of a fitted AutoPU."""
