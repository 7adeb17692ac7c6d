"""What holds for every method in `pucli.methods`: model files, seeds, certificates, errors."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from pucli.methods import METHODS, estimator_class, make_estimator
from pucli.models.saved import SavedModel, load_model, make_pipeline, save_model

# `label-spreading` is scikit-learn's, with a check of its rows
OTHER = ("auto", "label-spreading")
OURS = [name for name, method in METHODS.items() if method.estimator.startswith("pucli.") and name not in OTHER]
PU = [name for name in OURS if METHODS[name].kind == "pu"]
DEEP = [name for name in OURS if METHODS[name].extra == "deep"]
SEMI_SUPERVISED = [name for name in OURS if METHODS[name].kind == "semi-supervised"]
# the networks are for the slow tests, as importing torch alone takes seconds
EACH = [pytest.param(name, marks=pytest.mark.slow) if name in DEEP else name for name in OURS]
CERTIFICATE = ("objective_", "dual_gap_", "residual_", "n_iter_", "converged_")

# Parameters that make a fit take less than a tenth of a second.
_DEEP = {"hidden": (8,), "n_iterations": 10, "block": 5}
QUICK: dict[str, dict[str, Any]] = {
    "upu": {"n_epochs": 20},
    "nnpu": {"n_epochs": 20},
    "classtering": {"n_components": 3, "tol": 1e-3, "max_iter": 50},
    **dict.fromkeys(DEEP, _DEEP),
}


def quick(name: str, **params: Any) -> Any:
    return make_estimator(name, **{**QUICK.get(name, {}), **params})


def _needs(name: str) -> None:
    if METHODS[name].extra == "deep" and importlib.util.find_spec("torch") is None:
        pytest.skip("the extra [deep] is not installed: no torch")


def rows(name: str) -> tuple[np.ndarray, np.ndarray | None]:
    """Rows of two groups, and y as the method takes it."""
    random = np.random.default_rng(0)
    truth = np.arange(80) % 2
    X = random.normal(size=(80, 3)) + 2.0 * truth[:, None]
    kind = METHODS[name].kind
    if kind == "pu":
        return X, truth * (np.arange(80) < 40)
    if kind == "density":
        return X, None
    return X, np.where(np.arange(80) < 30, truth, -1)


def fitted(name: str, y: Any = None, **params: Any) -> Any:
    _needs(name)
    X, given = rows(name)
    estimator = quick(name, **params)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, given if y is None else y)


@cache
def fitted_once(name: str) -> Any:
    """Return a fitted method that tests share: they must not change it."""
    return fitted(name)


def outputs(model: Any, X: np.ndarray) -> list[np.ndarray]:
    """Everything that a fitted model says about rows."""
    names = ("predict", "decision_function", "predict_proba", "transform", "score_samples")
    return [np.asarray(getattr(model, name)(X)) for name in names if hasattr(model, name)]


@pytest.mark.parametrize("name", EACH)
@pytest.mark.slow
def test_the_certificate_is_complete(name: str) -> None:
    model = fitted_once(name)
    for attribute in CERTIFICATE:
        assert hasattr(model, attribute), attribute
    assert type(model.objective_) is type(model.dual_gap_) is type(model.residual_) is float
    assert type(model.n_iter_) is int and model.n_iter_ >= 1
    assert type(model.converged_) is bool
    assert not model.dual_gap_ < 0 and not model.residual_ < 0


@pytest.mark.parametrize("name", EACH)
def test_the_same_seed_gives_the_same_bits(name: str) -> None:
    X = rows(name)[0]
    for one, other in zip(outputs(fitted_once(name), X), outputs(fitted(name), X), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", EACH)
def test_a_saved_model_gives_the_same_bits(name: str, tmp_path: Any) -> None:
    _needs(name)
    X, y = rows(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline = make_pipeline(quick(name), standardize=True).fit(X, y)
    loaded = load_model(save_model(tmp_path / "m.model", SavedModel(pipeline, name, ["a", "b", "c"])))
    Z = pipeline[:-1].transform(X)
    for one, other in zip(outputs(pipeline[-1], Z), outputs(loaded.estimator, Z), strict=True):
        np.testing.assert_array_equal(one, other)
    for attribute in CERTIFICATE:
        np.testing.assert_equal(getattr(loaded.estimator, attribute), getattr(pipeline[-1], attribute))


@pytest.mark.parametrize("name", EACH)
def test_every_constructor_parameter_has_a_constraint_and_a_line_of_documentation(name: str) -> None:
    cls = estimator_class(METHODS[name])
    parameters = set(inspect.signature(cls).parameters) - {"pos_label", "neg_label"}
    assert parameters <= set(cls._parameter_constraints), parameters - set(cls._parameter_constraints)
    text = inspect.getdoc(cls) or ""
    documented = text[text.index("Parameters\n") : text.index("Attributes\n")]
    for parameter in inspect.signature(cls).parameters:
        assert any(parameter in line.split(":")[0].replace(",", " ").split() for line in documented.splitlines()), (
            parameter
        )


@pytest.mark.parametrize("name", EACH)
def test_parameters_of_a_wrong_kind_are_named(name: str) -> None:
    _needs(name)
    X, y = rows(name)
    constraints = estimator_class(METHODS[name])._parameter_constraints
    for parameter in inspect.signature(estimator_class(METHODS[name])).parameters:
        if parameter in ("pos_label", "neg_label"):
            continue
        wrong: list[Any] = [object()]
        if constraints[parameter] != ["boolean"]:
            wrong.append(True)
        if any("Interval" in type(c).__mro__[1].__name__ for c in constraints[parameter]):
            wrong += [float("nan"), float("inf"), "nonsense"]
            intervals = [c for c in constraints[parameter] if hasattr(c, "is_satisfied_by")]
            wrong += [] if any(c.is_satisfied_by(-3) for c in intervals) else [-3]
        for value in wrong:
            if parameter == "random_state" and value is True:
                continue  # numpy takes a boolean for the seed 1
            with pytest.raises(ValueError, match=parameter):
                quick(name, **{parameter: value}).fit(X, y)


@pytest.mark.parametrize("name", PU)
@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.zeros(80), "only one class"),
        (np.arange(80) % 3, "takes two"),
        (np.r_[np.nan, np.zeros(39), np.ones(40)], "NaN"),
    ],
    ids=["one label", "three labels", "a missing label"],
)
def test_bad_labels_of_pu_methods(name: str, y: np.ndarray, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        fitted(name, y=y)


@pytest.mark.parametrize("name", SEMI_SUPERVISED)
@pytest.mark.parametrize("missing", [None, ""])
def test_a_missing_label_of_semi_supervised_methods_is_refused_with_its_row(name: str, missing: Any) -> None:
    y = np.array(["a", "b"] * 40, dtype=object)
    y[7] = missing
    with pytest.raises(ValueError, match=r"row 7 has the label|one label is missing, the first in row 7"):
        fitted(name, y=y)


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values_are_refused(name: str, value: float) -> None:
    _needs(name)
    X, y = rows(name)
    X = X.copy()
    X[3, 1] = value
    with pytest.raises(ValueError, match="infinity"):
        quick(name).fit(X, y)


@pytest.mark.parametrize("name", EACH)
def test_fit_does_not_change_its_arguments(name: str) -> None:
    X, y = rows(name)
    X.flags.writeable = False
    if y is not None:
        y.flags.writeable = False
    _needs(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quick(name).fit(X, y)


@pytest.mark.parametrize("name", [*EACH, "label-spreading"])
@pytest.mark.parametrize("fitted_before", [False, True])
def test_a_fit_that_fails_leaves_the_model_as_it_was(name: str, fitted_before: bool) -> None:
    """Half a model has no coefficients for its classes, or those of other rows."""
    _needs(name)
    X, y = rows("cpls" if name == "label-spreading" else name)
    model = quick(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = [] if not fitted_before else outputs(model.fit(X, y), X)
    had = set(vars(model))
    with pytest.raises(ValueError, match="square overflows"):  # after the columns and the labels are read
        model.fit(X[:, :2] * 1e200, None if y is None else np.where(y == 1, "yes", "no"))
    assert set(vars(model)) == had
    if not fitted_before:
        with pytest.raises(NotFittedError):
            model.predict(X) if hasattr(type(model), "predict") else model.score_samples(X)
    for one, other in zip(before, outputs(model, X) if before else [], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", PU)
def test_the_positive_word_is_the_positive_label(name: str) -> None:
    X, y = rows(name)
    by_number = fitted_once(name)
    pairs = [("fraud", "legit")]  # needs pos_label
    if name == "blssvm":  # words are read before any method's own fit
        pairs += [("yes", "no"), ("spam", "not spam"), ("yes", "unlabeled"), ("P", "U")]
    for yes, no in pairs:
        pos_label = None if yes > no else yes
        by_word = fitted(name, y=np.where(y == 1, yes, no), pos_label=pos_label)
        assert by_word.classes_.tolist() == [no, yes]
        np.testing.assert_array_equal(by_word.decision_function(X), by_number.decision_function(X))
        np.testing.assert_array_equal(by_word.predict(X) == yes, by_number.predict(X) == 1)


@pytest.mark.parametrize("name", PU)
@pytest.mark.parametrize("words", [("fraud", "unlabeled"), ("P", "U"), ("spam", "ham"), ("unknown", "unlabeled")])
def test_words_that_could_be_taken_the_wrong_way_round_need_pos_label(name: str, words: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="pos_label"):
        fitted(name, y=np.where(rows(name)[1] == 1, *words))


@pytest.mark.parametrize("name", SEMI_SUPERVISED)
def test_a_word_for_no_label_is_no_class(name: str) -> None:
    X, y = rows(name)
    words = np.where(y == -1, "unlabeled", np.where(y == 1, "b", "a"))
    by_word, by_number = fitted(name, y=words), fitted_once(name)
    assert by_word.classes_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(by_word.predict(X) == "b", by_number.predict(X) == 1)
    for word in ("unknown", "?", "", "not reviewed"):
        with pytest.raises(ValueError, match=r"has the label"):
            fitted(name, y=np.where(y == -1, word, words))


@pytest.mark.parametrize("name", PU)
def test_shares_of_positive_training_rows(name: str) -> None:
    X, y = rows(name)
    model = fitted_once(name)
    positive = (model._held_out_labels() if name == "auto" else model.predict(X)) == 1
    assert model.positive_share_ == pytest.approx(positive[y == 0].mean())
    assert model.labeled_recall_ == pytest.approx(positive[y == 1].mean())


@pytest.mark.slow
@pytest.mark.parametrize("name", EACH)
def test_the_example_of_the_documentation_runs(name: str) -> None:
    _needs(name)
    cls = estimator_class(METHODS[name])
    [example] = [test for test in doctest.DocTestFinder(recurse=False).find(cls, cls.__name__) if test.examples]
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


@pytest.mark.parametrize("name", [*OURS, "auto"])
def test_fit_is_written_in_the_class_over_at_most_three_others(name: str) -> None:
    cls = estimator_class(METHODS[name])
    assert len([base for base in cls.__mro__[1:] if base.__module__.startswith("pucli.")]) <= 3
    assert "fit" in vars(cls) or name in DEEP  # the networks differ only in what is trained


@pytest.mark.parametrize("name", EACH)
def test_clones_are_equal(name: str) -> None:
    estimator = quick(name)
    assert clone(estimator).get_params() == estimator.get_params()
