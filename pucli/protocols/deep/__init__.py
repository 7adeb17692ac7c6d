"""The protocol deep: `protocol.py` plans and runs its cells, `report.py` adds to its page."""
