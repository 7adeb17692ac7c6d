"""`AutoPU`, the automatic PU classifier, with its prior, its threshold and its estimates."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.core.atomic_files import replacing
from pucli.core.errors import DegenerateModelWarning, TrainingRowsWarning, by_interface, warn_user
from pucli.core.saved_state import (
    PORTION,
    STATEMENT,
    Array,
    Each,
    Entries,
    Nested,
    Parts,
    Plain,
    Scalar,
    State,
    StateError,
    TextValue,
    Unsaved,
    Whole,
    check_ascending,
)
from pucli.core.seeding import stream
from pucli.data.columns.cells import as_frame
from pucli.data.columns.encoder import TableEncoder, for_python, spans
from pucli.data.columns.leakage import leak_warnings
from pucli.data.rows.row_hashes import row_hashes
from pucli.data.splits.groups import group_numbers
from pucli.data.table_libraries import is_table
from pucli.estimators.auto.copied_columns import distinct_features
from pucli.estimators.auto.decision import PUDecision
from pucli.estimators.auto.leaderboard import leaderboard, naive_svc, warn_of_chance
from pucli.estimators.auto.member_list import SavedTypes, all_members
from pucli.estimators.auto.notebook import ReportPage, cards, of_models, progress
from pucli.estimators.auto.ranking import held_out_columns, ranked
from pucli.estimators.base.labels import with_unlabeled, without_negatives
from pucli.estimators.base.parameters import Constraints, Label, one_of
from pucli.estimators.base.pu import degeneracy
from pucli.solvers.ensemble.class_prior import OutOfFoldScores, hidden_share_of
from pucli.solvers.ensemble.first_fit import first_fit
from pucli.solvers.ensemble.members import Member, members_for
from pucli.solvers.ensemble.refit import refit
from pucli.solvers.ensemble.sar import clear_ones_first, relative_propensities
from pucli.solvers.ensemble.threshold import GOALS, SHARES, check_wanted
from pucli.solvers.folds import number_of_folds
from pucli.solvers.prior.two_gaussians import gaussian_share

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

SCENARIOS = ("case-control", "single-training-set")
LABELINGS = ("scar", "sar")
NEGATIVES = ("biased", "random")


def is_mixed(X: Any) -> bool:
    """Return whether X is a table that must be encoded: with named columns, or cells that are no numbers."""
    if not is_table(X):
        return False
    if not hasattr(X, "iloc") or X.columns.tolist() != list(range(X.shape[1])):
        return True
    return X.isna().any(axis=None) or any(getattr(kind, "kind", "O") not in "iufb" for kind in X.dtypes)


def listed(X: Any, y: Any, positives: Any) -> Bools:
    """Return which rows of a frame are labeled positives, by entries of its index."""
    if y is not None:
        raise ValueError("give y or positives, not both.")
    if not hasattr(X, "iloc"):
        raise ValueError("positives are entries of the index of a pandas frame, and X is none: give y.")
    strange = [one for one in positives if one not in X.index]
    if strange:
        raise ValueError(f"positives has {strange[0]!r}, which is not in the index of X, as {X.index[0]!r} is.")
    return np.asarray(X.index.isin(list(positives)))


class AutoPU(PUDecision):
    """Automatic PU classifier: an ensemble tuned and calibrated on labeled positives and unlabeled rows alone.

    Class-balanced kernel ridge regressions, forests and boosted trees rank the rows. Parameters are chosen by the AUC
    of labeled against unlabeled held-out rows, which needs no prior; with more than 300 labeled rows, weights of the
    members as well (`pucli.solvers.ensemble.ensemble`). The same held-out scores give the prior, the
    threshold, the probabilities, and estimates of the classifier's quality. Unless `labeling` is "sar", the labeled
    rows are assumed to be a random sample of the positives.

    Columns of 0 and 1 that lie side by side, of which every row has one, are taken for the levels of a category: leave
    no level out. Unless `fit` gets groups, equal and nearly equal labeled rows form groups.

    Parameters
    ----------
    scenario : {"case-control", "single-training-set"}, default="case-control"
        "case-control": the unlabeled rows are a sample of the population, and the labeled rows a second sample, of
        the positives. "single-training-set": all rows are one sample of the population, and some of its positives are
        labeled.
    labeling : {"scar", "sar"}, default="scar"
        "scar": the labeled rows are a random sample of the positives, unless the rows of a small table show that the
        clear positives were labeled first (`pucli.solvers.ensemble.sar.clear_ones_first`). "sar": labeling depends on
        the features; a clearer positive is more likely to be labeled (`pucli.solvers.ensemble.sar`). Where that was so,
        F1 was .79 instead of .53 (benchmark `pusb`); where labels were random, up to .05 lower (benchmark `labeling`).
    goal : {"f1", "recall", "precision", "share", "top"}, default="f1"
        Goal of the threshold; `with_threshold` moves it after training.
    wanted : float, default=None
        Value for the goal: a recall, a precision or a share of the population between 0 and 1, or a number of
        unlabeled training rows ("top"). Not used for "f1". If the labeled rows are a random sample of the positives,
        95 of 100 small tables reach a recall on new rows, and 88 on their own rows by `ranking_`; a precision is aimed
        at, and missed where classes overlap. "share" and "top" are exact for `ranking_`; of new rows, the share flagged
        is within .03 in three of four small tables.
    members : sequence of Member, default=None
        Members of the ensemble; None means `pucli.estimators.auto.member_list.all_members`.
    pos_label : label or None, default=None
        The label of y that marks labeled positives. None means the greater of two numbers or booleans, and of two
        words the positive one, if it is also the last in sorted order.
    neg_label : label or None, default=None
        The label of y that marks known negatives; y then has up to three labels. None means that y has two.
    negatives : {"biased", "random"}, default="biased"
        "biased": known negatives are those that were looked at for a reason; they train, but do not calibrate.
        "random": they are a random sample of the negatives; from ten of them on, they give the class prior as well, and
        with it threshold, probabilities and estimates (`pucli.solvers.prior.known_negatives`).
    n_jobs : int, default=None
        Number of threads; the result does not depend on it.
    random_state : int, RandomState or None, default=0
        Seed of folds, landmarks, trees and bootstrap samples.
    callback : callable, default=None
        Called as ``callback(name, done, total)`` after each fitted member.
    verbose : int, default=0
        Above zero, a bar shows the progress of fit in the terminal or notebook, unless there is a callback.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    labeling_ : {"scar", "sar"}
        The labeling that prior, threshold, probabilities and estimates assume: "sar" if it was given or is seen.
    prior_ : float
        Estimated share of positives in the population.
    prior_interval_ : tuple of two floats
        Its 90 % interval.
    threshold_ : float
        Rows with a larger score are predicted positive; `decision_function` is the score minus the threshold.
    estimates_ : dict of str to Estimate
        Class prior, share flagged, recall, precision, lift, F1 and AUC, with 90% intervals for these rows; "new_share",
        "new_recall" and "new_lift" are for new rows of the same kind, "recall_odds_2" is the recall if some positives
        had twice the odds of being labeled. All come from one joint estimate (`pucli.solvers.ensemble.joint`).
    leaderboard_ : list of dict
        The ensemble, its members and a naive SVC, sorted by PU-AUC, with the AUC and the F1 that follow from the prior.
        The F1 of the SVC is at its own threshold, that of the others at the share that the ensemble predicts positive.
    held_out_ : ndarray of shape (n,)
        Score of each training row by models that were trained without it.
    ranking_ : DataFrame
        Held-out score, probability and label of each training row, most likely positives first.
    positive_share_, labeled_recall_ : float
        Shares of the unlabeled and of the labeled training rows whose held-out score is above the threshold.
    encoder_ : TableEncoder or None
        What encodes a table that `fit` was given.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if `fit` was given a table.
    ranks_ : bool
        Whether held-out labeled rows rank above held-out unlabeled rows by more than chance.
    propensity_ : ndarray of shape (n,)
        Propensity of each training row to be labeled if positive, relative to the clearest positive; ones unless
        `labeling_` is "sar".

    Raises
    ------
    ValueError
        If there are fewer than two labeled or two unlabeled rows, or groups of them.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> positive, negative = rng.normal(2, 1, (200, 2)), rng.normal(-2, 1, (200, 2))
    >>> X = np.vstack([positive, negative])
    >>> y = np.arange(400) < 50
    >>> model = AutoPU().fit(X, y)
    >>> bool(model.predict([[2.0, 2.0]])[0])
    True
    """

    # the share of positives in unlabeled rows, for methods whose prior is not given
    # (`pucli.estimators.base.class_prior`)
    hidden_share = staticmethod(hidden_share_of)

    saved_types = SavedTypes(
        "pucli.solvers.ensemble.boosting.categories.Categories",
        "pucli.solvers.ensemble.boosting.categories.CategoryTrees",
        "pucli.solvers.ensemble.calibration.Calibration",
        "pucli.solvers.ensemble.threshold.Threshold",
        "pucli.solvers.ensemble.ensemble.Ensemble",
        "pucli.solvers.ensemble.ensemble.FittedMember",
        "pucli.solvers.ensemble.estimates.Estimate",
        "pucli.solvers.ensemble.forests.TreeSum",
        "pucli.solvers.ensemble.least_squares.linear.Linear",
        "pucli.solvers.ensemble.members.Views",
        "pucli.solvers.ensemble.hidden_share.PriorWithDraws",
        "pucli.solvers.ensemble.refit.QuantileMap",
        "pucli.solvers.ensemble.refit.Refitted",
        "pucli.solvers.ensemble.ridge.KernelRidge",
        "pucli.solvers.ensemble.rows.GaussianRanks",
        "pucli.solvers.ensemble.rows.Standardize",
        "pucli.solvers.ensemble.trees.Bins",
        "pucli.solvers.ensemble.trees.Forest",
    )

    _parameter_constraints: ClassVar[Constraints] = {
        "scenario": [one_of(*SCENARIOS)],
        "labeling": [one_of(*LABELINGS)],
        "negatives": [one_of(*NEGATIVES)],
        "goal": [one_of(*GOALS)],
        "wanted": [Real, None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "callback": [callable, None],
        "verbose": ["verbose"],
    }

    _by_training_scores = False
    # the columns that the ensemble takes, in its order: those that vary; None are all, in the order of the rows
    _columns: Ints | None = None
    # (divisions, n), fold of each training row; not in model files
    _folds: AnyArray | None = None
    # (n,), 1 for labeled training rows, 0 for unlabeled ones, -1 for known negatives; none if trained in blocks
    _known: AnyArray | None = None
    # the index of the training rows, and sorted hashes of the unlabeled ones; not in model files
    _ids: Any = None
    _hashes: AnyArray | None = None
    # the encoded training rows, their groups, and the reasons for their scores; not in model files, nor in pickles
    _rows: Floats | None = None
    _groups: Ints | None = None
    _reasons: dict[str, AnyArray] | None = None
    # warnings of columns of a table that probably leak the label; not in model files
    _leaks: tuple[str, ...] = ()
    # what encodes a table that `fit` was given; none for arrays
    encoder_: TableEncoder | None = None
    # what encoded the rows before `fit`, as the commands do; not in model files
    _encoded_by: TableEncoder | None = None
    saved_state: ClassVar[State] = {
        "_positive": Array("p"),
        "_population": Array("u"),
        "_seed": Whole(),
        "_folds": Unsaved(),
        "_columns": Array("varying", dtype="i8", low=0),
        "_prior_of_threshold": PORTION,
        "_f1": Array(len(SHARES)),
        "_curve": Array(len(SHARES)),
        "prior_estimate_": Nested("PriorWithDraws"),
        "calibration_": Nested("Calibration"),
        "chosen_threshold_": Nested("Threshold"),
        "threshold_": Scalar(),
        "estimates_": Each(Nested("Estimate")),
        "prior_interval_": Parts(PORTION, PORTION),
        "ensemble_": Nested("Ensemble", "Refitted", features="varying"),
        "leaderboard_": Each(
            Entries(name=TextValue(), pu_auc=STATEMENT, auc=STATEMENT, f1=STATEMENT, parameters=Plain()), 1
        ),
        "held_out_": Array("n"),
        "propensity_": Array("n", low=0.0, high=1.0 + 1e-9),
        "n_negative_": Whole(0),
        "_biased": Whole(0),
        "_known": Array("n", dtype="i1", low=-1, high=1),
        "encoder_": Unsaved(),
        "_encoded_by": Unsaved(),
        "_ids": Unsaved(),
        "_hashes": Unsaved(),
        "_rows": Unsaved(),
        "_groups": Unsaved(),
        "_reasons": Unsaved(),
        "_leaks": Unsaved(),
    }

    def __init__(  # noqa: PLR0913
        self,
        *,
        scenario: str = "case-control",
        labeling: str = "scar",
        goal: str = "f1",
        wanted: float | None = None,
        members: Sequence[Member] | None = None,
        pos_label: Label | None = None,
        neg_label: Label | None = None,
        negatives: str = "biased",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        callback: Callable[[str, int, int], None] | None = None,
        verbose: int = 0,
    ) -> None:
        self.scenario = scenario
        self.labeling = labeling
        self.goal = goal
        self.wanted = wanted
        self.members = members
        self.pos_label = pos_label
        self.neg_label = neg_label
        self.negatives = negatives
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def _check_saved(self, where: str, sizes: Mapping[str, int]) -> None:
        """Raise StateError if something is missing that the commands need to move the threshold."""
        for name in (
            "_positive",
            "_population",
            "_seed",
            "_f1",
            "_curve",
            "prior_estimate_",
            "calibration_",
            "threshold_",
        ):
            if name not in vars(self):
                raise StateError(f"{where} has no {name}")
        columns = np.arange(sizes["varying"]) if self._columns is None else self._columns
        if len(np.unique(columns)) < len(columns) or columns.max() >= sizes["m"]:
            raise StateError(f"{where}._columns is no order of columns")
        if self._columns is None and sizes["varying"] != sizes["m"]:
            raise StateError(f"{where} has an ensemble of {sizes['varying']} features instead of {sizes['m']}")
        if len(self._positive) == 0 or len(self._population) == 0:
            raise StateError(f"{where} has no scores of training rows")
        if "ensemble" not in [line["name"] for line in self.leaderboard_]:
            raise StateError(f"{where}.leaderboard_ has no line of the ensemble")
        for scores in (self._positive, self._population, self.calibration_.scores):
            check_ascending(scores, np.array([0, len(scores)]), f"{where}: scores")

    def _check_counts(self, labeled: Bools, groups: Ints | None) -> None:
        """Raise ValueError where folds need more rows or groups, and UsageError for a goal that cannot be reached."""
        for what, count in (("labeled", np.count_nonzero(labeled)), ("unlabeled", np.count_nonzero(~labeled))):
            if count < 2:
                raise ValueError(
                    f"there is {count} {what} row; at least 2 are needed, so that one can be held out while the "
                    "others train."
                )
        if groups is not None and number_of_folds(labeled, groups) < 2:
            raise ValueError("groups must have labeled rows in at least 2 groups, and unlabeled rows too.")
        unlabeled = int(np.count_nonzero(~labeled))
        check_wanted(self.goal, self.wanted, unlabeled if self.scenario == "case-control" else len(labeled))

    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, groups: ArrayLike | None = None, *, positives: Any = None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : table or array-like of shape (n, m)
            Rows, labeled and unlabeled. A pandas, polars or Arrow table may have words, dates, categories and empty
            cells: `TableEncoder` encodes it, as the commands do, and later rows alike. An array holds numbers.
        y : array-like of shape (n,), optional
            Two labels: `pos_label` marks labeled positives, the other label unlabeled rows. A missing label (None, NaN,
            pandas.NA) marks an unlabeled row as well; there is then one other label. With `neg_label`, a further
            one marks known negatives; a y without it means the same as without `neg_label`.
        groups : array-like of shape (n,), optional
            Group of each row, such as the person of a visit: folds do not divide one.
        positives : list-like, optional
            In place of y: the labeled positives, as entries of the index of a pandas frame.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is out of its range, y does not have two labels, an array X has NaN or infinite values, there
            are too few rows or groups, or there is not one group for each row.
        """
        table, negative = X, None
        y = with_unlabeled(y, self.neg_label) if positives is None else listed(X, y, positives)
        self.encoder_ = TableEncoder() if is_mixed(X) else None
        if self.encoder_ is not None:
            table = as_frame(X)
            X = self.encoder_.fit_transform(table)
        if self.neg_label is not None:
            y, negative = without_negatives(y, self.neg_label, self.pos_label)
        X, labeled = self._check_rows(X, y)
        if self.encoder_ is not None:
            validate_data(self, table, skip_check_array=True)
        together = None if groups is None else group_numbers(groups, len(labeled))
        self._check_counts(labeled, together)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        members = all_members() if self.members is None else tuple(self.members)
        with threadpool_limits(1), progress(self.verbose, self.callback) as callback:
            kept = distinct_features(X, self.encoder_ or self._encoded_by)
            # views of the columns, folds, members and their weights; rows are in the canonical order from here on
            distinct = X if len(kept) == X.shape[1] else X[:, kept]
            first = first_fit(
                distinct, labeled, self.scenario, members, seed, self.n_jobs, callback, together, negative
            )
            s, population, held_out = first.labeled, first.population, first.held_out
            known_no = np.zeros(len(s), dtype=bool) if first.negative is None else first.negative
            self._columns, self.n_negative_ = kept[first.columns], int(known_no.sum())

            # class prior, threshold, probabilities and estimates, from the held-out scores
            self._biased = int(self.labeling == "sar")
            sides = np.sort(held_out[s]), np.sort(held_out[population])
            scores = OutOfFoldScores(*sides, float(s[population].mean()), seed, first.grouped)
            gaussian = gaussian_share(first.X, s) if self.labeling == "scar" else None
            if gaussian is not None and self.scenario != "case-control":
                gaussian = gaussian * (1.0 - scores.labeled) + scores.labeled
            self._conclude(scores, gaussian=gaussian, negative=held_out[known_no] if self._calibrates else None)
            if self.labeling == "sar" or (
                not self._calibrates and clear_ones_first(held_out[s], held_out[~s & ~known_no])
            ):
                self._biased = 1
                self._conclude_if_biased(scores, held_out[population])

            # the members again, with soft labels, where that ranks better
            soft = self.calibration_.of(held_out)
            soft[known_no] = 0.0
            again = refit(members_for(members, *first.X.shape), first, soft, seed, self.n_jobs)
            self.ensemble_ = first.ensemble.weighted(first.weights) if again is None else again
            raw = first.ensemble.views.one("raw", first.X)
            naive = naive_svc(raw, s, first.folds[0], population, stream(seed, "naive"))
        self.leaderboard_ = leaderboard(self, first, naive)
        self.held_out_, self._folds = np.empty(len(X)), np.empty_like(first.folds)
        self.held_out_[first.order], self._folds[:, first.order] = held_out, first.folds
        self.propensity_ = np.ones(len(X))
        if self.labeling_ == "sar":
            self.propensity_ = relative_propensities(self.calibration_.of(self.held_out_))
        if first.copies:
            warn_user(
                f"{first.copies} of {int(labeled.sum())} labeled rows are copies of others, or nearly, so the "
                "intervals are too narrow; if rows belong together (one person, one site), "
                f"{by_interface('pass groups to fit', 'add --groups COLUMN')}"
            )
        self._remember(table, X, labeled, negative, together)
        warn_of_chance(*self._ranking())
        self._warn_of_contradiction()
        return self

    def _remember(self, table: Any, X: Floats, labeled: Bools, negative: Bools | None, groups: Ints | None) -> None:
        """Keep what `ranking_` and `predict` say of the rows of fit; warn if the model flags nearly none or all."""
        self._known = labeled.astype(np.int8) if negative is None else labeled.astype(np.int8) - negative
        self._ids = table.index if hasattr(table, "iloc") else None
        self._rows, self._groups, self._reasons, self._leaks = X, groups, None, ()
        if self.encoder_ is not None:
            found = leak_warnings(table, self._known == 1, self.encoder_.columns_, hidden=True)
            self._leaks = tuple(map(for_python, found))
        if self._leaks:
            warn_user(f"{'; '.join(self._leaks)}. Leave a column out of X if it was filled after the fact.")
        unlabeled = X[self._known == 0]
        self._hashes = np.unique(row_hashes(unlabeled, np.zeros(len(unlabeled), dtype=bool)))
        problem = degeneracy(self.positive_share_, self.labeled_recall_, way_out=self._way_out)
        if problem and self.goal not in ("share", "top"):
            warn_user(f"AutoPU {problem}", DegenerateModelWarning)

    def fit_predict(
        self, X: ArrayLike, y: ArrayLike | None = None, groups: ArrayLike | None = None, *, positives: Any = None
    ) -> AnyArray:
        """Fit the model, and return the label of each row of X by models that were trained without the row.

        Parameters
        ----------
        X : table or array-like of shape (n, m)
        y : array-like of shape (n,), optional
        groups : array-like of shape (n,), optional
        positives : list-like, optional
            As of `fit`, all four.

        Returns
        -------
        ndarray of shape (n,)
            The second of `classes_` where the held-out score is above the threshold, as `pucli auto` flags rows.
        """
        return self.fit(X, y, groups, positives=positives)._held_out_labels()

    def _held_out_labels(self) -> AnyArray:
        flagged: AnyArray = self.classes_[(self.held_out_ > self.threshold_).astype(int)]
        return flagged

    @property
    def ranking_(self) -> pd.DataFrame:
        """The rows of fit, unlabeled ones first, most likely positives on top, as `pucli auto --scored` writes them.

        The index is that of a pandas frame, or else the number of the row from 0. Columns: labeled (1, 0, or -1 for a
        known negative), prediction, score (minus the threshold), probability, probability_low and probability_high, all
        from models that were trained without the row. Of the first 500 unlabeled and labeled rows, why names the
        columns that raise and lower the score most, and most_like known positives; they are computed once, and are not
        there for a model of a file.
        """
        import pandas as pd

        if self._known is None:
            raise AttributeError("ranking_ is there after fit, but not for a model that was trained in blocks.")
        columns: dict[str, Any] = {"labeled": self._known, "prediction": self._held_out_labels()}
        columns |= held_out_columns(self, self._known == 1)
        if self._leaks:  # as in the file of the command
            columns |= {"probability_low": 0.0, "probability_high": 1.0}
        if self._rows is not None:
            self._reasons = self._reasons or of_models("reasons")(self)
            columns |= self._reasons
        found = pd.DataFrame(columns, index=self._ids)
        return found.iloc[ranked(self.held_out_, self._known)]

    def explain(self, X: ArrayLike) -> pd.DataFrame:
        """Return by how much each column raises or lowers the score of each row of X.

        It is the score of the row less its score if the column had its usual value, the median or most frequent one of
        the unlabeled rows. It explains the model, not the world, and the changes of several columns do not add up.

        Parameters
        ----------
        X : table or array-like of shape (n, m)
            Rows, of fit or new.

        Returns
        -------
        DataFrame of shape (n, columns)
            By name or number of the column; the index is that of X.

        Raises
        ------
        AttributeError
            If the model comes from a file or a pickle, which leave out the rows of fit.
        """
        import pandas as pd

        names, found = of_models("changes")(self, self._validate_predict(X))
        index: Any = getattr(X, "index", None) if hasattr(X, "iloc") else None
        return pd.DataFrame(found, columns=names, index=index)

    def report(self, path: str | Path | None = None) -> ReportPage:
        """Return the page of `pucli auto --report`: rows to check, estimates and their limits, and the model.

        Parameters
        ----------
        path : str or Path, optional
            A file to which the page is written as well.

        Returns
        -------
        ReportPage
            A notebook shows it; `html` is its text.

        Raises
        ------
        AttributeError
            If the model comes from a file or a pickle, which leave out the rows of fit.
        """
        page = ReportPage(of_models("page")(self))
        if path is not None:
            with replacing(path) as partial:
                partial.write_text(page.html, encoding="utf-8", errors="backslashreplace")
        return page

    def importances(self, X: ArrayLike) -> pd.DataFrame:
        """Return by how much the held-out PU-AUC falls if the cells of a column are shuffled, for each column.

        It shows what the ranking depends on, not what it would lose without the column. On new rows with labels,
        `sklearn.inspection.permutation_importance` measures the same with `score`.

        Parameters
        ----------
        X : table or array-like of shape (n, m)
            The rows of fit, in the same order.

        Returns
        -------
        DataFrame
            By name or number of the column, the most important first: the fall and its standard error over the folds.
            NaN for columns that are not measured, and for a model of a file.

        Raises
        ------
        ValueError
            If there are not as many rows as in fit.
        """
        import pandas as pd

        from pucli.estimators.auto.importance import importances

        rows = self._validate_predict(X)
        if self._known is None or len(rows) != len(self._known):
            raise ValueError(f"importances takes the rows of fit, {len(self.held_out_)}; X has {len(rows)}.")
        columns = names = None
        if self.encoder_ is not None:
            encoded = list(spans(self.encoder_))
            columns, names = [place for _, place in encoded], [column.name for column, _ in encoded]
        found = importances(self, rows, self._known == 1, stream(self._seed, "importances"), columns)
        return pd.DataFrame({"fall": found.fall, "error": found.error}, index=names).iloc[found.order]

    @property
    def positive_share_(self) -> float:  # type: ignore[override]
        """The share of the unlabeled training rows whose held-out score is above the threshold."""
        return self._share_above(0, self._population)

    @property
    def labeled_recall_(self) -> float:  # type: ignore[override]
        """The share of the labeled training rows whose held-out score is above the threshold."""
        return self._share_above(1, self._positive)

    def _share_above(self, kind: int, scores: Floats) -> float:
        """Return the share of rows of a kind above the threshold; `scores` are theirs if trained in blocks."""
        rows = scores if self._known is None else self.held_out_[self._known == kind]
        return float(np.mean(rows > self.threshold_))

    @property
    def _way_out(self) -> str:
        move = by_interface('with_threshold("share", 0.1)', "--share, --top")
        return f"Move the threshold ({move}), or check the columns and the labels."

    def score_rows(self, X: Any) -> Floats:
        """Return the ensemble's score of each row of X (n, m), shape (n,), without the threshold."""
        check_is_fitted(self)  # before a threshold is set, after which it would seem so
        plain = copy.copy(self)
        plain.threshold_ = 0.0
        return plain.decision_function(X)

    def _validate_predict(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        if self.encoder_ is None:
            return super()._validate_predict(X)
        table = validate_data(self, as_frame(X) if is_table(X) else X, reset=False, skip_check_array=True)
        return self._computed_with(self.encoder_.transform(table))

    def predict(self, X: ArrayLike) -> AnyArray:
        """Return the label of each row of X, which should be a new row.

        The models saw unlabeled rows of `fit` as negatives, so their scores here are too low: for these rows
        `ranking_` and `fit_predict` have held-out scores and labels. A warning says so where it is seen.

        Parameters
        ----------
        X : table or array-like of shape (n, m)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            The second of `classes_`, the positive one, where `decision_function` is above zero.
        """
        rows = self._validate_predict(X)
        if self._hashes is not None:
            seen = np.isin(row_hashes(rows, np.zeros(len(rows), dtype=bool)), self._hashes)
            if seen.sum() > max(2, len(rows) // 2):
                warn_user(
                    f"{int(seen.sum())} of {len(rows)} rows equal unlabeled rows of fit, whose scores are not held out "
                    "here: ranking_ and fit_predict have their held-out scores and labels.",
                    TrainingRowsWarning,
                )
        labels: AnyArray = self.classes_[(self._score(rows) > 0).astype(int)]
        return labels

    def of_encoded_rows(self) -> Self:
        """Return a copy for rows that are encoded already."""
        plain = copy.copy(self)
        if self.encoder_ is not None:
            plain.encoder_, plain.n_features_in_ = None, len(self.encoder_.get_feature_names_out())
            plain.__dict__.pop("feature_names_in_", None)
        return plain

    def varying(self, X: Floats) -> Floats:
        """Return the columns of X (n, m) that the ensemble takes, shape (n, k), in their order in X."""
        if self._columns is None or len(self._columns) == X.shape[1]:
            return X
        return X[:, np.sort(self._columns)]

    def _score(self, X: Floats) -> Floats:
        """Return the score minus the threshold, shape (n,), for validated rows X (n, m)."""
        with threadpool_limits(1):
            return self.ensemble_.score(X if self._columns is None else X[:, self._columns]) - self.threshold_

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the calibrated probabilities of both classes, shape (n, 2), in the order of `classes_`."""
        p = self.probability_of(self.score_rows(X))
        return np.column_stack([1.0 - p, p])

    def _repr_html_inner(self) -> str:
        return cards(self) + str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        return bundle | ({"text/html": self._repr_html_inner()} if "text/html" in bundle else {})

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "callback": None, "_rows": None, "_groups": None, "_reasons": None}

    def __copy__(self) -> Self:
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied
