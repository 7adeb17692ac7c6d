"""`CalibratedPU`: `predict_proba` for every PU classifier, by the calibration of the commands."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, _routing_enabled, process_routing
from sklearn.utils.validation import _check_method_params, check_is_fitted

from pucli.core.arrays import AnyArray, Bools, Floats
from pucli.core.seeding import seed_of
from pucli.estimators.base.certificate import all_or_nothing, log_of
from pucli.estimators.base.parameters import PROPORTION, Constraints, RandomState, number_given
from pucli.metrics.scorers import score_of_labels


class CalibratedPU(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A PU classifier with estimated probabilities.

    The probability of a positive is the prior times the ratio of the densities of two kinds of held-out scores, of the
    labeled and of the unlabeled rows (`pucli.models.calibration`); it is as good as the prior, which is estimated
    unless it is given. scikit-learn's `CalibratedClassifierCV` gives the probability that a row is labeled instead.

    Parameters
    ----------
    estimator : PU classifier, or pipeline that ends with one
        It is cloned. Predictions and `decision_function` are its own, so that a row may be predicted positive with a
        probability below 1/2. Known negatives (`neg_label`) train its copies, and are no sample of the population.
    prior : float or None, default=None
        Share of positives among the unlabeled rows; None takes that of the estimator, if it was given one, or else
        estimates it.
    random_state : int, RandomState or None, default=0
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
    >>> from pucli import BLSSVM, CalibratedPU
    >>> X = np.random.default_rng(0).normal(size=(300, 2)) + 3.0 * (np.arange(300) < 120)[:, None]
    >>> model = CalibratedPU(BLSSVM()).fit(X, (np.arange(300) < 60).astype(int))
    >>> bool(model.predict_proba([[3.0, 3.0]])[0, 1] > 0.5 > model.predict_proba([[0.0, 0.0]])[0, 1])
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "prior": [PROPORTION, None],
        "random_state": ["random_state"],
    }

    def __init__(self, estimator: Any, prior: float | None = None, random_state: RandomState = 0) -> None:
        self.estimator = estimator
        self.prior = prior
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None, **params: Any) -> Self:
        """Fit the classifier, and four copies for held-out scores.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Rows.
        y : array-like of shape (n,)
            Labels as of the classifier.
        groups : array-like of shape (n,), optional
            Rows of a group, such as the visits of one person, stay in one fold, also in those of a classifier whose
            fit takes groups. Without groups, equal and nearly equal labeled rows form groups.
        **params : object
            Further arguments of the classifier's fit, such as `sample_weight`; those of one entry for each row are
            divided with the rows. With metadata routing, those that the classifier requests.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            As the classifier, or if there are too few rows, or groups of them, of a kind for four folds.
        """
        from pucli.data.splits.groups import group_numbers
        from pucli.models.calibration import in_its_scale, probability_curve
        from pucli.models.fitting import NEGATIVE, taken_groups
        from pucli.models.validation import held_out_scores

        self._validate_params()
        seed = int(self.random_state) if isinstance(self.random_state, Integral) else seed_of(self.random_state)
        together = None if groups is None else group_numbers(groups, len(np.ravel(np.asarray(y))))
        self.estimator_ = clone(self.estimator)
        if params and _routing_enabled():
            params = process_routing(self, "fit", **params).estimator.fit
        params = _check_method_params(X, params)
        self.estimator_.fit(X, y, **taken_groups(self.estimator_, together), **params)
        self.classes_ = self.estimator_.classes_
        labeled, negative = _kinds(self.estimator_, y)
        pipeline, table, rows = _rows(self.estimator_, X)
        unnamed = clone(pipeline)
        for name in unnamed.get_params():
            last = name.rpartition("__")[2]
            if last in ("pos_label", "neg_label"):  # the folds have the labels 1, 0 and -1
                unnamed.set_params(**{name: None if last == "pos_label" or negative is None else NEGATIVE})
        if hasattr(pipeline[-1], "prior_"):
            unnamed[-1].prior_ = pipeline[-1].prior_
        if hasattr(pipeline[-1], "lam_"):
            unnamed[-1].lam_ = pipeline[-1].lam_
        found = held_out_scores(unnamed, rows, labeled, seed, together, negative, table, params)
        if found is None:
            raise ValueError(
                f"probabilities need held-out scores of 4 folds: {int(labeled.sum())} labeled and "
                f"{int((~labeled).sum())} unlabeled rows are too few, or fill too few groups, or the classifier "
                "cannot be fitted to a part, or has no scores."
            )
        others = labeled if negative is None else labeled | negative
        found = in_its_scale(found, pipeline, rows if table is None else table, others, seed)
        given = self.prior if self.prior is not None else _given(self.estimator_, "prior")
        self.curve_ = probability_curve(found, rows, number_given(given), None, seed)
        return self

    @property
    def n_features_in_(self) -> int:
        """The number of features of the classifier."""
        found: int = self.estimator_.n_features_in_
        return found

    @property
    def feature_names_in_(self) -> AnyArray:
        """The names of the features of the classifier, if its rows had names."""
        names: AnyArray = self.estimator_.feature_names_in_
        return names

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the score of the classifier for each row of X (n, m), shape (n,)."""
        from pucli.models.scores import decision_values

        check_is_fitted(self)
        scores = decision_values(self.estimator_, X)
        assert scores is not None  # there were held-out scores
        return scores

    def predict(self, X: ArrayLike) -> AnyArray:
        """Return the label that the classifier predicts for each row of X (n, m), shape (n,)."""
        check_is_fitted(self)
        labels: AnyArray = self.estimator_.predict(X)
        return labels

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the estimated probabilities of `classes_` for each row of X (n, m), shape (n, 2)."""
        scores = self.decision_function(X)
        probability = np.clip(self.curve_.of(scores)["probability"], 0.0, 1.0)
        return np.column_stack([1.0 - probability, probability])

    def predict_log_proba(self, X: ArrayLike) -> Floats:
        """Return the logarithm of `predict_proba` for each row of X (n, m), shape (n, 2)."""
        return log_of(self.predict_proba(X))

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the PU-AUC of the predicted labels, as of every PU classifier.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Rows.
        y : array-like of shape (n,)
            Labels as in `fit`.
        sample_weight : array-like of shape (n,), optional
            Weight 2 equals duplicating the row.

        Returns
        -------
        float
            Between 0 and 1.
        """
        return score_of_labels(self, X, y, sample_weight)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which metadata the fit of the classifier requests."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags, tags.target_tags = own.input_tags, own.target_tags
        tags.classifier_tags = own.classifier_tags or tags.classifier_tags
        tags.classifier_tags.multi_class = False
        return tags


def _given(model: Any, name: str) -> Any:
    """Return a parameter that a model, or a model within it, was given."""
    found = [value for key, value in model.get_params().items() if key.rpartition("__")[2] == name]
    return next((value for value in found if value is not None), None)


def _kinds(model: Any, y: ArrayLike) -> tuple[Bools, Bools | None]:
    """Return which rows are labeled positives, and which are known negatives, None without any."""
    from pucli.estimators.base.labels import without_negatives

    negative, labels = None, np.ravel(np.asarray(y))  # the fit warns of a column vector
    neg_label = _given(model, "neg_label")
    if neg_label is not None:
        labels, negative = without_negatives(labels, neg_label, _given(model, "pos_label"))
    return np.asarray(labels == model.classes_[1]), negative


def _rows(model: Any, X: Any) -> tuple[Pipeline, Any, Any]:
    """Return the steps of a model that learn from labels, the table that they take, if any, and its rows of numbers."""
    from pucli.data.columns.encoder import TableEncoder
    from pucli.data.table_libraries import TableError, is_table, numeric_rows

    pipeline = model if isinstance(model, Pipeline) else make_pipeline(model)
    if isinstance(pipeline[0], TableEncoder) and len(pipeline) > 1:  # it looks at no label, so that one is enough
        X, pipeline = pipeline[0].transform(X), pipeline[1:]
    sized = hasattr(X, "__len__") and not hasattr(X, "tocsr")  # a lazy table has no length
    table = X if len(pipeline) > 1 and (is_table(X) or isinstance(X, list | tuple)) and sized else None
    try:
        rows = numeric_rows(pipeline[-1], X)
        rows = csr_array(rows, dtype=np.float64) if issparse(rows) else np.asarray(rows, dtype=np.float64)
    except (TableError, TypeError, ValueError):  # texts and dicts, of which the first step makes numbers
        if len(pipeline) == 1:
            raise
        table, rows = X, None
    if rows is None or (not issparse(rows) and np.isnan(rows).any() and len(pipeline) > 1):
        rows = pipeline[:-1].transform(X)
        rows = csr_array(rows) if issparse(rows) else np.asarray(rows, dtype=np.float64)
    return pipeline, table, rows
