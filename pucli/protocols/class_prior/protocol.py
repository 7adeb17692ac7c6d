"""Class prior at given shares of positives among the unlabeled rows, on the samples of PULSNAR (Kumar, Lambert 2024).

The unlabeled rows are all negatives and as many hidden positives as make the share; the labeled rows are the other
positives. With `labeling: scar`, hidden positives are drawn from all positives. With `labeling: classes`, the classes
of positives, from the rarest to the most common, give hidden positives in the ratio 1 : 2 : 4 : ..., so that labeled
and hidden positives are unlike each other. A list of classes with weights, drawn from in this order, gives any other
ratio; all positives of classes that it does not name are labeled.

Repeat r draws with NumPy's generator of seed r, as the scripts of the repository PULSNAR do, so that the samples are
theirs, but for a row of a class where they round otherwise. With `drawn`, the rows are drawn from a larger table with
Python's generator, as its scripts for synthetic sets do: in given numbers, as many labeled ones of each listed class,
and once, so that repeats differ only in the seed of the method.

A method is fitted with its defaults and asked for its `prior_`; the metric is the absolute error of it. Of `auto`, it
is also whether its interval has the true share, and the AUC of the unlabeled rows by models that did not see them: of
all hidden positives, and of those of the kind that is labeled most seldom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.core.errors import UsageError
from pucli.metrics import ranking
from pucli.protocols.common import Planner, check_two_classes, read_dataset
from pucli.protocols.hidden_labels import HiddenLabels
from pucli.protocols.steps import ProtocolSteps, RunningCell, SplitRows
from pucli.runner.cells import Cell, Context
from pucli.runner.experiment import Strict

# of YAML's lists; in a union, earlier versions of pydantic hold to strictness
Weight = Annotated[tuple[int | str, int], BeforeValidator(lambda pair: tuple(pair) if isinstance(pair, list) else pair)]


class Drawn(Strict):
    """Numbers of rows that are drawn, and the seed."""

    labeled: int = Field(ge=1, description="number of labeled rows")
    unlabeled: int = Field(ge=1, description="number of unlabeled rows")
    seed: int = Field(ge=0, description="seed of Python's generator")


class ClassPriorOptions(Strict):
    """Options of the protocol."""

    shares: list[float] = Field(
        min_length=1, description="shares of positives among the unlabeled rows, one setting each"
    )
    shares_of: dict[str, list[float]] = Field(default={}, description="data set -> its shares, where they are others")
    labeling: dict[str, Literal["scar", "classes"] | list[Weight]] = Field(
        default={},
        description="data set -> classes, where labeled and hidden positives are of other classes, or a list of "
        "[class, weight] that hidden positives come from",
    )
    drawn: dict[str, Drawn] = Field(
        default={},
        description="data set -> {labeled: 2000, unlabeled: 6000, seed: 1}, the rows that are drawn once for all "
        "repeats; by default all rows",
    )


class ClassPrior(ProtocolSteps):
    """The protocol."""

    name = "class_prior"
    version = 1
    options = ClassPriorOptions
    tunes = False

    def check(self, planner: Planner) -> None:
        """Raise UsageError for shares outside of (0, 1) and names that do not exist."""
        experiment, options = planner.experiment, planner.options
        if experiment.split.label_frequencies:
            raise UsageError(
                f"{experiment.name}: the protocol class_prior takes options.shares, not label frequencies."
            )
        for shares in (options.shares, *options.shares_of.values()):
            if outside := [share for share in shares if not 0 < share < 1]:
                raise UsageError(f"{experiment.name}: options.shares: {outside[0]} is not between 0 and 1.")
        for key in ("shares_of", "labeling", "drawn"):
            for name in getattr(options, key):
                if name not in experiment.dataset_names:
                    where = f"{experiment.name}: options.{key}.{name}"
                    raise UsageError(f"{where}: the data sets are {', '.join(experiment.dataset_names)}.")

    def method(self, planner: Planner, column: str, dataset: str) -> dict[str, Any]:
        """Return the declared method, which needs an estimator of the prior."""
        method = super().method(planner, column, dataset)
        if "prior_estimator" not in method["params"] and method["name"] != "auto":
            raise UsageError(
                f"{planner.experiment.name}: methods.{column}: give a method and its prior_estimator, or auto."
            )
        return method

    def conditions(self, planner: Planner, dataset: str) -> Iterator[dict[str, Any]]:
        """Yield a condition for each share."""
        options = planner.options
        given = options.model_dump(mode="json")
        how: dict[str, Any] = {"labeling": given["labeling"].get(dataset, "scar")}
        if dataset in options.drawn:
            how["drawn"] = given["drawn"][dataset]
        for share in options.shares_of.get(dataset, options.shares):
            yield {"setting": {"share": share}, "split": {"share": share, **how}}

    def rows(self, cell: Cell, context: Context) -> SplitRows:
        """Return the rows of a share and repeat; the hidden labels are those of the unlabeled rows."""
        dataset = read_dataset(cell.dataset, context)
        check_two_classes(cell.dataset, dataset.y)
        split = cell.declared["split"]
        positive = dataset.y == 1
        ratio, classes = split["labeling"], np.asarray(dataset.classes)
        if ratio == "classes":
            ratio = doubling(classes[positive])
        parts = (
            [(positive, 1)] if ratio == "scar" else [(positive & (classes == name), weight) for name, weight in ratio]
        )
        if "drawn" in split:
            s = drawn_rows(positive, split["share"], split["drawn"], parts)
        else:
            s = (positive & ~hidden_positives(positive, split["share"], split["repeat"], parts)).astype(np.int64)
        kinds = [part for part, _ in parts]
        least = min(kinds, key=lambda part: np.sum(part & (s == 1)) / max(1, np.sum(part & (s >= 0))))
        seldom = HiddenLabels(np.where(least, 1, np.where(positive, 0, -1))[s == 0])
        hidden = HiddenLabels(dataset.y[s == 0])
        return SplitRows(dataset.X[s >= 0], s[s >= 0], hidden=hidden, shared={"seldom": seldom})

    def score(self, run: RunningCell, model: Any, predictions: None) -> dict[str, float]:
        """Compare the estimate with the share of positives among the unlabeled rows."""
        prior, hidden = float(model.prior_), run.rows.hidden
        found = {"prior_error": hidden.score(_error_of_prior, prior), "prior": prior}
        if run.method["name"] == "auto":
            scores = model.held_out_[run.rows.y_train == 0]
            found |= {
                "prior_covered": hidden.score(_covered, *model.prior_interval_),
                "auc": hidden.score(_auc, scores),
                "auc_seldom": run.rows.shared["seldom"].score(_auc, scores),
            }
        return found

    def conclude(self, run: RunningCell, model: Any, seen: Mapping[str, Any]) -> None:
        """Add certificate and notes, and no flag, as the prior is no solution of an optimization problem."""
        super().conclude(run, model, seen)
        run.result.flags = []


PROTOCOL = ClassPrior()


def _error_of_prior(y: AnyArray, prior: float) -> float:
    return abs(prior - float(np.mean(y == 1)))


def _covered(y: AnyArray, low: float, high: float) -> bool:
    return low <= float(np.mean(y == 1)) <= high


def _auc(y: AnyArray, scores: Floats) -> float:
    return ranking.auc(scores[y == 1], scores[y == -1])


def doubling(classes: AnyArray) -> list[tuple[int | str, int]]:
    """Return the classes of positives, the most common last, with weights 1, 2, 4, ..."""
    return [(name, 2**place) for place, (name, _) in enumerate(Counter(classes.tolist()).most_common()[::-1])]


def hidden_positives(
    positive: Bools, share: float, seed: int, parts: Sequence[tuple[Bools, int]] | None = None
) -> Bools:
    """Return which rows (n,) are hidden positives.

    Examples
    --------
    >>> hidden_positives(np.repeat([True, False], [60, 40]), 0.5, 0).sum()
    np.int64(40)
    """
    random = np.random.RandomState(seed)  # the generator of the published scripts
    hidden = np.zeros(len(positive), dtype=bool)
    count = int(np.sum(~positive) * share / (1 - share))
    parts = parts or [(positive, 1)]
    total = sum(weight for _, weight in parts)
    for part, weight in parts:
        rows = np.flatnonzero(part)
        number = round(count * (weight / total))
        if number >= len(rows):
            raise UsageError(f"share {share}: {number} positives are to be hidden, of {len(rows)} of their kind.")
        random.shuffle(rows)
        hidden[rows[:number]] = True
    return hidden


def drawn_rows(positive: Bools, share: float, drawn: Mapping[str, int], parts: Sequence[tuple[Bools, int]]) -> Ints:
    """Return 1 for labeled, 0 for unlabeled and -1 for other rows (n,)."""
    random = Random(drawn["seed"])  # the generator of the published scripts
    s = np.full(len(positive), -1)
    hidden, total = round(drawn["unlabeled"] * share), sum(weight for _, weight in parts)
    labeled = round(drawn["labeled"] / len(parts))
    wanted = [(~positive, 0, drawn["unlabeled"] - hidden)]
    wanted += [(part, labeled, round(hidden * (weight / total))) for part, weight in parts]
    for part, ones, zeros in wanted:
        rows = np.flatnonzero(part).tolist()
        if ones + zeros > len(rows):
            raise UsageError(f"share {share}: {ones + zeros} rows are to be drawn, of {len(rows)} of their kind.")
        random.shuffle(rows)
        values = np.repeat([0, 1], [zeros, ones]) if len(parts) == 1 else np.repeat([1, 0], [ones, zeros])
        s[rows[: len(values)]] = values
    return s
