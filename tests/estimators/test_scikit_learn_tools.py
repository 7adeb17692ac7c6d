"""Tools of scikit-learn, SHAP and optuna choose and explain rightly with PU classifiers, `AutoPU` included."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibrationDisplay
from sklearn.ensemble import StackingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.inspection import DecisionBoundaryDisplay, partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pucli import BLSSVM, BSVM, CPLS, DRESS, GLPUAL, ICLS, NNPU, UPU, USMO, AutoPU, CalibratedPU, NaiveSVC, estimators
from pucli.methods import METHODS
from pucli.solvers.ensemble.members import MEMBERS

CASES = Path(__file__).parents[3] / "shared" / "cases" / "python"
# P16 asks for a class by a name that it no longer has; tests/test_package.py has its property
SCRIPTS = sorted(path.name for path in CASES.glob("P*.py") if not path.name.startswith("P16")) or ["none"]
RNG = np.random.default_rng(3)
TRUTH = RNG.random(600) < 0.4
X = RNG.normal(size=(600, 3)) + np.where(TRUTH, 1.2, -0.3)[:, None] * np.array([1.0, 1.0, 0.0])
S = (TRUTH & (RNG.random(600) < 0.25)).astype(int)
FEW = tuple(member for member in MEMBERS if member.name == "ridge-laplace")

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.nightly  # each starts an interpreter, some train by the command
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_recorded_case_is_right(script: str) -> None:
    if not (CASES / script).exists():
        pytest.skip("../shared/cases is not here")
    done = subprocess.run([sys.executable, CASES / script], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def fitted() -> Any:
    return make_pipeline(StandardScaler(), AutoPU(members=FEW)).fit(X, S)


@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (GLPUAL(), {"c_u": [0.01, 0.1, 1.0]}),
        (BSVM(), {"c_u": [0.01, 0.1, 1.0]}),
        (BLSSVM(), {"c_u": [0.01, 0.1, 1.0]}),
        (UPU(loss="squared"), {"prior": [0.05, 0.2, 0.4]}),
        (make_pipeline(StandardScaler(), BLSSVM()), {"blssvm__c_u": [0.01, 0.1, 1.0]}),
        (CalibratedPU(BLSSVM()), {"estimator__c_u": [0.01, 0.1, 1.0]}),
    ],
    ids=["glpual", "bsvm", "blssvm", "upu", "pipeline", "calibrated"],
)
def test_a_search_without_scoring_chooses_a_model_that_finds_positives(model: Any, grid: dict[str, Any]) -> None:
    search = GridSearchCV(model, grid, cv=3).fit(X, S)
    assert f1_score(TRUTH, search.predict(X)) > 0.6
    assert 0.6 < search.best_score_ < 0.9


def test_a_halving_search_does_too() -> None:
    search = HalvingGridSearchCV(BLSSVM(), {"c_u": [0.01, 0.1, 1.0]}, cv=3, random_state=0, min_resources=150)
    assert f1_score(TRUTH, search.fit(X, S).predict(X)) > 0.6


def test_score_rises_with_the_true_balanced_accuracy_and_is_a_half_for_a_model_that_finds_nobody() -> None:
    model = BLSSVM().fit(X, S)
    scores, truths = [], []
    for threshold in np.linspace(-0.6, 0.6, 7):
        moved = BLSSVM(threshold=float(threshold)).fit(X, S)
        scores.append(moved.score(X, S))
        truths.append(balanced_accuracy_score(TRUTH, moved.predict(X)))
    assert np.corrcoef(scores, truths)[0, 1] > 0.9  # both are counts of 600 rows
    assert BLSSVM(threshold=1e9).fit(X, S).score(X, S) == BLSSVM(threshold=-1e9).fit(X, S).score(X, S) == 0.5
    labeled = model.predict(X[S == 1]).mean()
    assert model.score(X, S) == pytest.approx((labeled + 1.0 - model.predict(X[S == 0]).mean()) / 2.0)
    doubled = model.score(X, S, sample_weight=np.where(np.arange(600) < 100, 2.0, 1.0))
    assert doubled == pytest.approx(model.score(np.vstack([X, X[:100]]), np.append(S, S[:100])))


def test_tools_run_on_auto_in_a_pipeline(fitted: Any) -> None:
    effect = partial_dependence(fitted, X, [0], response_method="predict_proba", grid_resolution=5)["average"][0]
    assert effect[-1] > effect[0] + 0.1
    fall = permutation_importance(fitted, X, S, n_repeats=2, random_state=0)["importances_mean"]
    assert fall.argmin() == 2 and fall[0] > 0.02
    chances = cross_val_predict(fitted, X, S, cv=2, method="predict_proba")
    logs = cross_val_predict(fitted, X, S, cv=2, method="predict_log_proba")
    np.testing.assert_allclose(np.exp(logs), chances)
    assert cross_val_score(fitted, X, S, cv=2).min() > 0.6
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    display = CalibrationDisplay.from_estimator(fitted, X, TRUTH, n_bins=5)
    assert len(display.prob_true) == len(display.prob_pred)
    plane = make_pipeline(StandardScaler(), AutoPU(members=FEW)).fit(X[:, :2], S)
    drawn = DecisionBoundaryDisplay.from_estimator(plane, X[:, :2], response_method="predict_proba", grid_resolution=5)
    assert drawn.response.shape == (5, 5)


def test_auto_can_be_stacked() -> None:
    stack = StackingClassifier([("auto", AutoPU(members=FEW)), ("naive", NaiveSVC())], LogisticRegression(), cv=2)
    chance = stack.fit(X, S).predict_proba(X)[:, 1]
    assert chance[TRUTH].mean() > chance[~TRUTH].mean() + 0.05


def test_shap_explains_auto(fitted: Any) -> None:
    shap = pytest.importorskip("shap", reason="shap is not installed")
    found = shap.Explainer(lambda rows: fitted.predict_proba(rows)[:, 1], X[:50])(X[:5])
    assert found.values.shape == (5, 3)


def test_optuna_tunes_auto_in_a_pipeline() -> None:
    optuna = pytest.importorskip("optuna", reason="optuna is not installed")
    study = optuna.create_study(direction="maximize")

    def value(trial: Any) -> float:
        model = AutoPU(members=FEW, labeling=trial.suggest_categorical("labeling", ["scar", "sar"]))
        return float(cross_val_score(make_pipeline(StandardScaler(), model), X, S, cv=2).mean())

    study.optimize(value, n_trials=2)
    assert study.best_value > 0.6


@pytest.mark.parametrize("model", [BLSSVM(), BSVM(), GLPUAL(), USMO(kernel="linear"), UPU(prior=0.3, loss="squared")])
def test_linear_pu_classifiers_have_coefficients_as_scikit_learn_has_them(model: Any) -> None:
    model.fit(X, S)
    assert model.coef_.shape == (1, 3) and model.intercept_.shape == (1,)
    np.testing.assert_allclose((X @ model.coef_.T + model.intercept_)[:, 0], model.decision_function(X), atol=1e-9)
    frame = pd.DataFrame(model.coef_, columns=["a", "b", "c"])
    assert frame.shape == (1, 3)
    with pytest.raises(AttributeError, match="has no attribute 'coef_'"):
        _ = type(model)().coef_


@pytest.mark.parametrize("model", [CPLS(), ICLS(), DRESS()])
def test_linear_semi_supervised_classifiers_have_them_too(model: Any) -> None:
    y = np.where(np.arange(600) % 5, -1, TRUTH)
    model.fit(X, y)
    assert model.coef_.shape == (1, 3) and model.intercept_.shape == (1,)
    shown = X @ model.coef_[0] + model.intercept_
    assert np.ptp(shown - model.decision_function(X)) < 1e-9


@pytest.mark.parametrize("model", [BLSSVM(), NNPU(prior=0.3, n_epochs=5, random_state=0), AutoPU(members=FEW), DRESS()])
def test_logarithms_of_probabilities(model: Any) -> None:
    model.fit(X[:200], S[:200])
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))


def test_types_of_every_method_are_declared() -> None:
    declared = Path(estimators.__file__).read_text()
    assert all(f" as {method.estimator.partition(':')[2]}" in declared for method in METHODS.values())


@pytest.mark.slow  # mypy takes seconds, and ten more for the rest of the package and what it imports
def test_a_type_checker_sees_a_wrong_parameter(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "use.py").write_text("from pucli import BSVM, CPLS\nBSVM(wrong=3)\nCPLS(wrong=3)\n")
    followed = "".join(f"[mypy-{name}]\nfollow_imports = silent\n" for name in ("pucli", "pucli.estimators.*"))
    (tmp_path / "mypy.ini").write_text(f"[mypy]\nignore_missing_imports = True\nfollow_imports = skip\n{followed}")
    words = ["--no-incremental", "--config-file", str(tmp_path / "mypy.ini"), str(tmp_path / "use.py")]
    told = subprocess.run([sys.executable, "-m", "mypy", *words], capture_output=True, text=True).stdout
    assert told.count('Unexpected keyword argument "wrong"') == 2, told


def test_importances_are_measured_on_held_out_rows() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "noise"]).assign(town=np.where(TRUTH, "Ulm", "Bonn"))
    model = AutoPU(members=FEW).fit(frame, S)
    found = model.importances(frame)
    assert found.index[0] == "town" and found.index.tolist()[-1] == "noise" and found["fall"].iloc[0] > 0.05
    with pytest.raises(ValueError, match="takes the rows of fit, 600; X has 10"):
        model.importances(frame[:10])
    lift = model.estimates_["lift"]
    assert lift.low <= lift.value <= lift.high
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert AutoPU(members=FEW).fit(X, S).importances(X).index.tolist()[-1] == 2
