"""The protocol strict_improvement: `protocol.py` plans and runs its cells, `report.py` adds to its page."""
