"""Protocol transductive: fit on labeled and unlabeled rows, and score the unlabeled ones with their true labels.

Rows and splits are those of the protocol pu, parameters are those that a column fixes.
"""

import dataclasses

from pucli.protocols.pu.protocol import PU


class Transductive(PU):
    """The protocol pu without tuning."""

    name = "transductive"
    version = 1  # raise it when the protocol changes what a cell computes

    def plan(self, planner):
        """Plan the cells of the protocol pu, each with one fit."""
        return [dataclasses.replace(cell, n_fits=1) for cell in super().plan(planner)]

    def parameters(self, run):
        """Return the parameters of the column."""
        return dict(run.method["params"])

    def score(self, run, model, predictions):
        """Return the metrics of the predicted classes; the true labels stay in `run.rows.hidden`."""
        return run.rows.hidden.classification(predictions)


PROTOCOL = Transductive()
