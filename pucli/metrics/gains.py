"""Gains curve: the share of the positives among the rows with the highest scores."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from pucli.core.arrays import Floats
from pucli.metrics import inputs
from pucli.metrics.scorers import _decision, _labeled


class GainsCurveDisplay:
    """Share of the labeled positives that are found, by the share of the unlabeled rows that are looked at.

    If the labeled rows are a random sample of the positives, it is the share of all positives. Rows at random are the
    diagonal. Take rows that were not used in fit, or held-out scores.

    Parameters
    ----------
    looked_at : ndarray of shape (k,)
        Shares of the unlabeled rows, ascending.
    found : ndarray of shape (k,)
        Share of the positives with a score at least as high.
    name : str, optional
        Name of the model in the legend.

    Attributes
    ----------
    ax_, figure_, line_
        What `plot` drew.

    Examples
    --------
    >>> display = GainsCurveDisplay.from_predictions([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    >>> display.looked_at.tolist(), display.found.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0])
    """

    def __init__(self, looked_at: Floats, found: Floats, name: str | None = None) -> None:
        self.looked_at = looked_at
        self.found = found
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, y: ArrayLike, *, name: str | None = None, ax: Any = None, **style: Any
    ) -> Self:
        """Draw the curve of a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            A fitted PU classifier, or pipeline that ends with one.
        X : array-like of shape (n, m)
            Rows that were not used in fit.
        y : array-like of shape (n,)
            Labels as in fit; with true classes, the curve is that of all positives.
        name : str, optional
            Name of the model; that of its class without it.
        ax : matplotlib axes, optional
            Where to draw; a new figure without it.
        **style : object
            Of the line, as in `matplotlib.axes.Axes.plot`.

        Returns
        -------
        GainsCurveDisplay
            The curve.
        """
        named = type(estimator).__name__ if name is None else name
        return cls.from_predictions(_labeled(estimator, y), _decision(estimator, X), name=named, ax=ax, **style)

    @classmethod
    def from_predictions(
        cls, y: ArrayLike, scores: ArrayLike, *, name: str | None = None, ax: Any = None, **style: Any
    ) -> Self:
        """Draw the curve of scores, such as `AutoPU.held_out_`.

        Parameters
        ----------
        y : array-like of shape (n,)
            Which rows are labeled positives, as booleans or 1 and 0.
        scores : array-like of shape (n,)
            Greater for rows that are more likely positive.
        name : str, optional
            Name of the model.
        ax : matplotlib axes, optional
            Where to draw; a new figure without it.
        **style : object
            Of the line, as in `matplotlib.axes.Axes.plot`.

        Returns
        -------
        GainsCurveDisplay
            The curve.
        """
        from sklearn.metrics import roc_curve

        labeled, values = inputs.marked_scores(y, scores)
        looked_at, found, _ = roc_curve(labeled, values, drop_intermediate=False)
        return cls(looked_at, found, name).plot(ax=ax, **style)

    def plot(self, ax: Any = None, **style: Any) -> Self:
        """Draw the curve, and the diagonal of rows at random.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure without it.
        **style : object
            Of the line, as in `matplotlib.axes.Axes.plot`.

        Returns
        -------
        GainsCurveDisplay
            Itself.
        """
        import matplotlib.pyplot as plt

        self.ax_ = plt.subplots()[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        self.line_: Any = self.ax_.plot(self.looked_at, self.found, **{"label": self.name, **style})[0]
        self.ax_.plot([0, 1], [0, 1], color="0.6", lw=1, ls="--")
        self.ax_.set(xlabel="share of the unlabeled rows looked at", ylabel="share of the positives found")
        if self.name is not None:
            self.ax_.legend()
        return self
