"""Protocol transductive: fit on labelled and unlabeled rows, and score the unlabeled ones with their true labels.

Rows and splits are those of the protocol pu, parameters are those that a column fixes.
"""

import dataclasses

from pucli.metrics import classification_scores
from pucli.protocols.common import make, timed
from pucli.protocols.pu import protocol as pu
from pucli.runner.cells import CellResult

# raise it when the protocol changes what a cell computes
VERSION = 1


def cells(experiment, scope):
    """Return the cells of the protocol pu under a key of their own."""
    return [
        dataclasses.replace(
            cell, declared={**cell.declared, "protocol": ["transductive", VERSION, pu.VERSION]}, n_fits=1
        )
        for cell in pu.cells(experiment, scope)
    ]


def run_cell(cell, context):
    """Fit once; the one place where true labels are read is the call of `classification_scores`."""
    rows = pu.prepared(cell, context)
    result = CellResult(params=dict(cell.declared["method"]["params"]))
    with timed(result.seconds, "fit"):
        model = make(cell.declared["method"], result.params).fit(rows.X_train, rows.s)
    result.predictions = pu.predicted_classes(model, rows.X_test)
    result.metrics = classification_scores(rows.y_test, result.predictions, positive=1)
    return result
