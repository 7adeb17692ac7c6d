"""What `AutoPU` says of its rows of fit in Python: reasons for their scores, changes by column, and the page."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pucli.core.arrays import AnyArray, Floats
from pucli.data.columns.drift import ReferenceShares
from pucli.data.rows.row_hashes import repeated_labels
from pucli.data.rows.training_rows import TrainingRows
from pucli.estimators.auto.ranking import ranked
from pucli.models.auto.page import page_text
from pucli.models.auto.ranking import ranking_of
from pucli.models.auto.summary import AutoAnswer
from pucli.models.fitting import Fitted
from pucli.models.reasons import (
    Explainer,
    encoder_of,
    explained_rows,
    explainer_of,
    in_columns,
    reasons_of_training_rows,
    without_looked_at,
)
from pucli.models.saved import make_pipeline

if TYPE_CHECKING:
    from pucli.estimators.auto.auto_pu import AutoPU


def training_rows_of(model: AutoPU) -> TrainingRows:
    """Return the encoded rows of fit, with the index of a frame as their identifiers."""
    known = model._known
    if model._rows is None or known is None:
        raise AttributeError(
            "the rows of fit are not there: files and pickles of models leave them out. Fit the model again."
        )
    marks, index = pd.DataFrame({"row": np.arange(len(known))}), model._ids
    if index is not None and not index.equals(pd.RangeIndex(len(known))):
        name = "index" if index.name in (None, "row") else str(index.name)
        marks[name] = [str(one) for one in index]
    encoder, single = model.encoder_, model.scenario != "case-control"
    names = range(model._rows.shape[1]) if encoder is None else encoder.get_feature_names_out()
    return TrainingRows(
        X=model._rows,
        y=(known == 1).astype(int),
        feature_names=list(map(str, names)),
        X_test=None,
        y_test=None,
        denominator="all" if single else "unlabeled",
        about={},
        title=f"the {len(known):,} rows of fit",
        encoder=encoder,
        marks=marks,
        groups=model._groups,
        negative=known < 0 if model.n_negative_ else None,
        leaks=model._leaks,
        repeated=repeated_labels(model._rows, known == 1) if model._groups is None else "",
    )


def reasons(model: AutoPU) -> dict[str, AnyArray]:
    """Return the columns why and most_like (n,) of `pucli auto --scored`, in the order of the rows of fit."""
    rows = training_rows_of(model)
    most, order = explained_rows(encoder_of(rows)), ranked(model.held_out_, model._known)  # type: ignore[arg-type]
    some = np.concatenate([order[model._known[order] == kind][:most] for kind in (0, 1)])  # type: ignore[index]
    found = reasons_of_training_rows(*explainer_of(model.of_encoded_rows(), rows), rows.X, some)
    return in_columns(found, some, len(order))


def changes(model: AutoPU, X: Floats) -> tuple[list[str], Floats]:
    """Return the names of the columns, and the change of the score of each encoded row by each of them, (n, k)."""
    rows = training_rows_of(model)
    explainer = Explainer(model.of_encoded_rows(), encoder_of(rows), ReferenceShares.of(*without_looked_at(rows)))
    return [column.name for column, _ in explainer.columns], explainer.changes(X)[0]


def page(model: AutoPU) -> str:
    """Return the page of `pucli auto --report`."""
    pipeline = make_pipeline(model.of_encoded_rows(), standardize=False)
    seed: Any = model.random_state if isinstance(model.random_state, int) else 0
    ranking = ranking_of(Fitted("auto", pipeline, training_rows_of(model), False, 0.0), seed)
    about = dict.fromkeys(one.name for one in fields(AutoAnswer)) | vars(ranking.summary)
    return page_text(ranking, AutoAnswer(**about), python=True)  # type: ignore[arg-type]
