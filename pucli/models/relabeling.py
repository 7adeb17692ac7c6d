"""A fitted classifier that predicts the words of the label column instead of their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pucli.core.arrays import AnyArray, Floats
from pucli.estimators.base.certificate import log_of


class RelabeledClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that predicts words instead of its labels, and is otherwise unchanged.

    Parameters
    ----------
    model : classifier
        With labels that are numbers.
    words : mapping of str to str
        Label, as text -> word. A label without a word stays, as text; without any word, labels stay as they are.
    curve : mapping of str to list, optional
        Scores and the "probability" at each, which take the place of the model's `predict_proba`.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> model = DummyClassifier(strategy="constant", constant=1).fit([[0.0], [1.0]], [0, 1])
    >>> RelabeledClassifier(model, {"0": "no", "1": "yes"}).predict([[5.0]]).tolist()
    ['yes']
    """

    def __init__(self, model: Any, words: Mapping[str, str], curve: Mapping[str, list[float]] | None = None) -> None:
        self.model = model
        self.words = words
        self.curve = curve

    @property
    def classes_(self) -> AnyArray:
        """The words, in the order of the model's classes."""
        return self._named(self.model.classes_)

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier; returns self."""
        self.model.fit(X, y)
        return self

    def predict(self, X: Any) -> AnyArray:
        """Return the word of each row of X, shape (n,)."""
        return self._named(self.model.predict(X))

    @available_if(lambda self: self.curve or hasattr(self.model, "predict_proba"))
    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of `classes_` for each row of X, shape (n, 2), as `pucli predict` writes them."""
        if not self.curve:
            shares: Floats = self.model.predict_proba(X)
            return shares
        found = np.interp(self.model.decision_function(X), self.curve["scores"], self.curve["probability"])
        return np.column_stack([1.0 - found, found])

    @available_if(lambda self: self.curve or hasattr(self.model, "predict_proba"))
    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of `predict_proba` for each row of X, shape (n, 2)."""
        return log_of(self.predict_proba(X))

    def _named(self, labels: AnyArray) -> AnyArray:
        if not self.words:
            return labels
        return np.array([self.words.get(str(label), str(label)) for label in labels.tolist()], dtype=object)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("model", "words", "curve"):
            raise AttributeError(name)
        return getattr(self.model, name)

    def __sklearn_is_fitted__(self) -> bool:
        check_is_fitted(self.model)
        return True
