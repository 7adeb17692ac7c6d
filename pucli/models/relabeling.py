"""A fitted classifier that predicts the words of the label column instead of their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from pucli.core.arrays import AnyArray


class RelabeledClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that predicts words instead of its labels, and is otherwise unchanged.

    Parameters
    ----------
    model : classifier
        With labels that are numbers.
    words : mapping of str to str
        Label, as text -> word. A label without a word stays, as text.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> model = DummyClassifier(strategy="constant", constant=1).fit([[0.0], [1.0]], [0, 1])
    >>> RelabeledClassifier(model, {"0": "no", "1": "yes"}).predict([[5.0]]).tolist()
    ['yes']
    """

    def __init__(self, model: Any, words: Mapping[str, str]) -> None:
        self.model = model
        self.words = words

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

    def _named(self, labels: AnyArray) -> AnyArray:
        return np.array([self.words.get(str(label), str(label)) for label in labels.tolist()], dtype=object)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("model", "words"):
            raise AttributeError(name)
        return getattr(self.model, name)

    def __sklearn_is_fitted__(self) -> bool:
        check_is_fitted(self.model)
        return True
