"""`CalibratedPU`: `predict_proba` for every PU classifier, by the calibration of the commands."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted

from pucli.core.arrays import AnyArray, Floats


class CalibratedPU(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A PU classifier with estimated probabilities.

    The probability of a positive is the prior times the ratio of the densities of two kinds of held-out scores, of the
    labelled and of the unlabeled rows (`pucli.models.calibration`); it is as good as the prior, which is estimated
    unless it is given. scikit-learn's `CalibratedClassifierCV` gives the probability that a row is labelled instead.

    Parameters
    ----------
    estimator : PU classifier, or pipeline that ends with one
        It is cloned. Predictions and `decision_function` are its own, so that a row may be predicted positive with a
        probability below 1/2.
    prior : float or None, default=None
        Share of positives among the unlabeled rows; None takes that of the estimator, if it was given one, or else
        estimates it.
    random_state : int, default=0
        Seed of folds and samples.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    classes_ : ndarray of shape (2,)
        As those of the classifier.
    curve_ : pucli.models.calibration.ProbabilityCurve
        The probabilities by score, with their range.

    Examples
    --------
    >>> import numpy as np
    >>> from pucli.models.calibrated import CalibratedPU
    >>> from pucli.estimators import BLSSVM
    >>> X = np.random.default_rng(0).normal(size=(300, 2)) + 3.0 * (np.arange(300) < 120)[:, None]
    >>> model = CalibratedPU(BLSSVM()).fit(X, (np.arange(300) < 60).astype(int))
    >>> bool(model.predict_proba([[3.0, 3.0]])[0, 1] > 0.5 > model.predict_proba([[0.0, 0.0]])[0, 1])
    True
    """

    def __init__(self, estimator: Any, prior: float | None = None, random_state: int = 0) -> None:
        self.estimator = estimator
        self.prior = prior
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Fit the classifier, and four copies for held-out scores.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Rows.
        y : array-like of shape (n,)
            Labels as of the classifier.
        groups : array-like of shape (n,), optional
            Rows of a group, such as the visits of one person, stay in one fold, also in those of a classifier whose
            fit takes groups. Without groups, equal and nearly equal labelled rows form groups.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            As the classifier, or if there are too few rows, or groups of them, of a kind for four folds.
        """
        from pucli.data.encode.encoder import TableEncoder
        from pucli.data.splits.groups import group_numbers
        from pucli.data.table_libraries import numeric_rows
        from pucli.models.calibration import in_its_scale, probability_curve
        from pucli.models.fitting import taken_groups
        from pucli.models.validation import held_out_scores

        together = None if groups is None else group_numbers(groups, len(np.ravel(np.asarray(y))))
        self.estimator_ = clone(self.estimator)
        self.estimator_.fit(X, y, **taken_groups(self.estimator_, together))
        self.classes_ = self.estimator_.classes_
        labelled = np.asarray(np.ravel(np.asarray(y)) == self.classes_[1])  # the fit warns of a column vector
        pipeline = self.estimator_ if isinstance(self.estimator_, Pipeline) else make_pipeline(self.estimator_)
        if isinstance(pipeline[0], TableEncoder) and len(pipeline) > 1:  # it looks at no label, so that one is enough
            X, pipeline = pipeline[0].transform(X), pipeline[1:]
        rows = np.asarray(numeric_rows(pipeline[-1], X), dtype=np.float64)
        unnamed = clone(pipeline)
        if "pos_label" in unnamed[-1].get_params():
            unnamed[-1].set_params(pos_label=None)  # the folds have the labels 1 and 0
        if hasattr(pipeline[-1], "prior_"):
            unnamed[-1].prior_ = pipeline[-1].prior_
        if hasattr(pipeline[-1], "lam_"):
            unnamed[-1].lam_ = pipeline[-1].lam_
        found = held_out_scores(unnamed, rows, labelled, self.random_state, together)
        if found is None:
            raise ValueError(
                f"probabilities need held-out scores of 4 folds: {int(labelled.sum())} labelled and "
                f"{int((~labelled).sum())} unlabeled rows are too few, or fill too few groups, or the classifier "
                "cannot be fitted to a part."
            )
        found = in_its_scale(found, pipeline, rows, labelled, self.random_state)
        given = self.prior if self.prior is not None else pipeline[-1].get_params().get("prior")
        given = given if isinstance(given, float) else None
        self.curve_ = probability_curve(found, rows, given, None, self.random_state)
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the score of the classifier for each row of X (n, m), shape (n,)."""
        check_is_fitted(self)
        scores: Floats = self.estimator_.decision_function(X)
        return scores

    def predict(self, X: ArrayLike) -> AnyArray:
        """Return the label that the classifier predicts for each row of X (n, m), shape (n,)."""
        check_is_fitted(self)
        labels: AnyArray = self.estimator_.predict(X)
        return labels

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the estimated probabilities of `classes_` for each row of X (n, m), shape (n, 2)."""
        probability = np.clip(self.curve_.of(self.decision_function(X))["probability"], 0.0, 1.0)
        return np.column_stack([1.0 - probability, probability])
