"""The protocol pu_figures: `protocol.py` plans and runs its cells, `report.py` adds to its page."""
