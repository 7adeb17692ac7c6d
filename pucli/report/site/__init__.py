"""A static site of all results, which needs neither a server nor a network and is readable without JavaScript."""

from pucli.report.site.write import write_site

__all__ = ["write_site"]
