"""The protocol adversarial_labels: `protocol.py` plans and runs its cells, `report.py` adds to its page."""
