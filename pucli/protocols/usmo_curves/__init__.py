"""The protocol usmo_curves: `protocol.py` plans and runs its cells, `report.py` adds to its page."""
