"""Inputs of types that scikit-learn reads wrongly or not at all: masks, Python objects, 128 bits, names twice."""

from __future__ import annotations

import warnings
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from pucli.estimators import BLSSVM, CPLS, EMLDA, GLPUAL, USMO, AutoPU, Classtering, ConstrainedKMeans
from pucli.estimators.safe.dress import DRESS
from pucli.estimators.safe.least_squares import LeastSquares
from pucli.estimators.semi_supervised.label_spreading import LabelSpreading
from pucli.estimators.unbiased.naive_svc import NaiveSVC

RNG = np.random.default_rng(0)
S = (np.arange(60) % 3 == 0).astype(int)
X = RNG.normal(size=(60, 3)) + 2.0 * S[:, None]
CLASSES = np.where(np.arange(60) % 4 < 2, -1, np.arange(60) % 2)


@cache
def scores(estimator: Any) -> Any:
    """Return the scores of the rows by a model of the labels 0 and 1."""
    return estimator().fit(X, S).decision_function(X)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (S.astype(bool).astype(object), [False, True]),
        (pd.Series(S.astype(bool), dtype=object), [False, True]),
        (pd.Series(S, dtype="boolean"), [False, True]),
        (pd.Series(S, dtype="Int64"), [0, 1]),
        (np.array([Decimal(int(v)) for v in S]), [0.0, 1.0]),
        (np.ma.masked_array(S, mask=False), [0, 1]),
        pytest.param(
            np.where(S == 1, "yes", "no").astype(getattr(np.dtypes, "StringDType", lambda: "U3")()), ["no", "yes"]
        ),
    ],
)
@pytest.mark.parametrize("estimator", [BLSSVM, pytest.param(AutoPU, marks=pytest.mark.slow)])
def test_labels_of_any_type_are_what_they_say(estimator: Any, labels: Any, classes: list[Any]) -> None:
    model = estimator().fit(X, labels)
    assert model.classes_.tolist() == classes and type(model.classes_.tolist()[0]) is type(classes[0])
    np.testing.assert_array_equal(model.decision_function(X), scores(estimator))


@pytest.mark.parametrize("labels", [pd.Series(CLASSES, dtype="Int64"), CLASSES.astype(object)])
def test_semi_supervised_labels_of_any_type(labels: Any) -> None:
    assert CPLS().fit(X, labels).predict(X).tolist() == CPLS().fit(X, CLASSES).predict(X).tolist()


@pytest.mark.parametrize("estimator", [GLPUAL, AutoPU, CPLS, LabelSpreading])
def test_masked_values_are_missing(estimator: Any) -> None:
    semi_supervised = estimator in (CPLS, LabelSpreading)
    y = CLASSES if semi_supervised else S
    masked = np.ma.masked_array(X, mask=X > 3.0)
    with pytest.raises(ValueError, match=r"(?s)Input X contains NaN"):
        estimator().fit(masked, y)
    with pytest.raises(ValueError, match=r"(?s)Input X contains NaN"):
        estimator().fit(X, y).predict(masked)
    labels = np.ma.masked_array(S, mask=np.isin(np.arange(60), [2, 5, 7]))
    if estimator is AutoPU:  # a missing label marks an unlabeled row
        assert estimator().fit(X, labels).ranking_["labeled"].sum() == labels.sum()
    elif not semi_supervised:
        with pytest.raises(ValueError, match="Input y contains NaN: 3 labels are missing, the first in row 2"):
            estimator().fit(X, labels)


def few_groups() -> Classtering:
    """Return a clustering that takes little time."""
    return Classtering(n_components=3, tol=1e-3, random_state=0)


@pytest.mark.parametrize("estimator", [GLPUAL, BLSSVM, USMO, AutoPU, CPLS, EMLDA, few_groups])
def test_numbers_whose_square_overflows_are_named(estimator: Any) -> None:
    y = CLASSES if estimator in (CPLS, EMLDA, few_groups) else S
    large = X.copy()
    large[7, 2] = -1e200
    with pytest.raises(ValueError, match="row 7 and feature 2 whose square overflows"):
        estimator().fit(large, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = estimator().fit(X, y)
    with pytest.raises(ValueError, match="row 7 and feature 2 whose square overflows"):
        model.predict(large)


@pytest.mark.slow
def test_columns_of_one_name_and_integers_of_128_bits() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "a"])
    with pytest.raises(ValueError, match="two columns are named 'a'; rename one of them"):
        BLSSVM().fit(frame, S)
    pl = pytest.importorskip("polars")
    whole = (1000 * X).astype(int)
    wide = pl.DataFrame(whole).cast({"column_0": pl.Int128})
    narrow = BLSSVM().fit(whole, S).decision_function(whole)
    np.testing.assert_allclose(BLSSVM().fit(wide, S).decision_function(wide), narrow, atol=1e-12)


def test_classtering_says_nothing_of_names_that_are_there() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        few_groups().fit(pd.DataFrame(X, columns=list("abc")), CLASSES)


def with_cell(value: Any) -> Any:
    """Return rows with another value in row 7 and feature 2."""
    rows = X.copy()
    rows[7, 2] = value
    return rows


NO_CELLS = "takes no empty cells, such as row 7,"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (with_cell(np.nan), f"{NO_CELLS} feature 2"),
        (pd.DataFrame(with_cell(np.nan), columns=list("abc")).astype("Float64"), f"{NO_CELLS} column 'c'"),
        (np.where(np.isnan(with_cell(np.nan)), pd.NA, X), f"{NO_CELLS} feature 2"),
        (csr_array(with_cell(np.nan)), f"{NO_CELLS} feature 2"),
        (with_cell(-np.inf), "contains infinity: row 7, feature 2"),
        (pd.DataFrame(with_cell(np.inf), columns=list("abc")), "contains infinity: row 7, column 'c'"),
        (np.full((60, 2), np.datetime64("2024-01-01")), "X holds dates"),
        (np.full((60, 2), np.timedelta64(1, "D")), "X holds durations"),
        (X.astype(complex), "takes real numbers"),
        (X[:, 0], "Expected 2D array, got 1D array. Reshape"),
        (None, "Expected 2D array, got scalar array. Reshape"),
        ({"a": X[:, 0], "b": X[:, 1]}, "pandas.DataFrame"),
    ],
)
@pytest.mark.parametrize("estimator", [BLSSVM, CPLS, LabelSpreading, few_groups, lambda: ConstrainedKMeans(2)])
def test_bad_rows_are_named_in_one_line(estimator: Any, rows: Any, said: str) -> None:
    model = estimator().fit(X, S if estimator is BLSSVM else CLASSES)
    for refuse in (lambda: estimator().fit(rows, S if estimator is BLSSVM else CLASSES), lambda: model.predict(rows)):
        with pytest.raises(ValueError) as caught:
            refuse()
        assert said in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("estimator", [BLSSVM, CPLS, few_groups])
@pytest.mark.parametrize("rows", [np.asfortranarray(X), pd.DataFrame(X, columns=list("abc"))])
def test_the_layout_of_the_rows_changes_no_bit(estimator: Any, rows: Any) -> None:
    y = S if estimator is BLSSVM else CLASSES
    how = "decision_function" if hasattr(estimator(), "decision_function") else "predict_proba"
    expected = getattr(estimator().fit(X, y), how)(X)
    np.testing.assert_array_equal(getattr(estimator().fit(rows, y), how)(rows), expected)


def test_a_structured_array_is_a_table() -> None:
    table = np.rec.fromarrays(X.T, names="a,b,c")
    model = BLSSVM().fit(table, S)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(model.decision_function(table), scores(BLSSVM))


def test_a_star_imports_the_estimators() -> None:
    names: dict[str, Any] = {}
    exec("from pucli.estimators import *", names)
    assert names["GLPUAL"] is GLPUAL


@pytest.mark.parametrize(
    ("cell", "error", "said"),
    [
        (pd.Timestamp("2020-01-01"), TypeError, "row 7, feature 2: .*Convert it to a number first"),
        (10**400, ValueError, "too many digits in row 7 and feature 2"),
    ],
)
def test_objects_that_are_no_numbers_are_named(cell: Any, error: type[Exception], said: str) -> None:
    rows = X.astype(object)
    rows[7, 2] = cell
    for given in (rows, rows.tolist()):
        with pytest.raises(error, match=said):
            BLSSVM().fit(given, S)
    with pytest.raises(ValueError, match=r"column '?2'? holds"):
        BLSSVM().fit(pd.DataFrame(rows), S)


def test_labels_of_too_many_digits_and_letters_without_a_meaning_are_refused() -> None:
    with pytest.raises(ValueError, match="too many digits as labels"):
        BLSSVM().fit(X, np.array([10**400 if one else 0 for one in S], dtype=object))
    with pytest.raises(ValueError, match="pos_label"):
        BLSSVM().fit(X, np.where(S, "M", "F"))


@pytest.mark.parametrize("estimator", [BLSSVM, LabelSpreading, lambda: NaiveSVC(kernel="linear")])
def test_cells_of_sparse_rows_in_several_parts_are_their_sums(estimator: Any) -> None:
    """Sparse rows may hold a cell as several numbers, in any order; scikit-learn's distances then add their squares."""
    y = CLASSES if estimator is LabelSpreading else S
    whole = np.round(X)
    order, columns = np.argsort(np.tile(np.arange(180), 2), kind="stable"), np.tile(np.arange(2, -1, -1), 60)
    values = np.concatenate([whole[:, ::-1].ravel() - 8.0, np.full(180, 8.0)])[order]
    parts = csr_array((values, np.repeat(columns, 2), np.arange(0, 361, 6)), shape=(60, 3))
    assert (parts.toarray() == whole).all() and not parts.has_canonical_format
    model = estimator().fit(csr_array(whole), y)
    scores = "predict_proba" if estimator is LabelSpreading else "decision_function"
    np.testing.assert_array_equal(getattr(model, scores)(parts), getattr(model, scores)(csr_array(whole)))
    again = estimator().fit(parts, y)
    np.testing.assert_array_equal(getattr(again, scores)(csr_array(whole)), getattr(model, scores)(csr_array(whole)))
    assert parts.nnz == 360  # the user's matrix stays as it is


@pytest.mark.parametrize(
    ("estimator", "scale"), [(DRESS, 1e-160), (NaiveSVC, 1e-160), (LeastSquares, 5e-321), (CPLS, 5e-321)]
)
def test_rows_so_small_that_coefficients_overflow(estimator: Any, scale: float) -> None:
    """LAPACK does not return from a least-squares problem with infinite entries; coefficients are never infinite."""
    y = S if estimator is NaiveSVC else CLASSES
    assert np.isfinite(estimator().fit(X, y).decision_function(X)).all()
    with pytest.raises(ValueError, match=r"Scale the features"), warnings.catch_warnings(action="ignore"):
        estimator().fit(X * scale, y)
