"""A static site of all results: no server, no network, opens from the file system, readable without JavaScript."""

from pucli.report.site.write import write_site

__all__ = ["write_site"]
