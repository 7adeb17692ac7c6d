"""BSVM, BLS-SVM and the plain SVC baseline against cvxpy, closed forms and their own meaning."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from pucli.estimators.global_local import svm
from pucli.estimators.global_local.glpual import GLLC
from pucli.estimators.global_local.svm import BLSSVM, BSVM
from pucli.estimators.unbiased.naive_svc import NaiveSVC
from pucli.solvers.kernels.graph import squared_distances
from pucli.solvers.kernels.low_rank import rbf_from_distances
from pucli.solvers.row_losses.kernel import _newton_step
from pucli.solvers.row_losses.losses import RowLosses, restore_total
from tests.helpers import examples
from tests.oracles import clarabel, problem


def optimum(X, y, K, lam, c_p, c_u, squared):
    w, b = cp.Variable(X.shape[1] if K is None else len(X)), cp.Variable()
    f = (X if K is None else K) @ w + b
    norm = cp.sum_squares(w) if K is None else cp.quad_form(w, cp.psd_wrap(K))
    margin_p, margin_u = 1 - f[y == 1], 1 + f[y == 0]
    if squared:
        loss = c_p * cp.sum_squares(margin_p) + c_u * cp.sum_squares(margin_u)
    else:
        loss = c_p * cp.sum(cp.pos(margin_p)) + c_u * cp.sum(cp.pos(margin_u))
    return clarabel(lam / 2 * norm + loss)


weights = st.sampled_from([0.1, 1.0, 10.0])


@pytest.mark.slow
@given(
    seed=st.integers(0, 1000),
    c_p=st.sampled_from([0.1, 1.0, 30.0, 1000.0]),
    c_u=st.sampled_from([0.1, 1.0, 30.0, 1000.0]),
    lam=weights,
    kernel=st.sampled_from(["linear", "wide", "rbf"]),
    duplicates=st.sampled_from([0, 10]),
)
@examples(40)
@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
def test_bsvm_reaches_its_tolerance_and_clarabels_value(seed, c_p, c_u, lam, kernel, duplicates):
    c_p, c_u = lam * c_p, lam * c_u
    X, y = problem(seed, n=40, m=30 if kernel == "wide" else 3)  # "wide": too many columns for w to be kept
    X[:duplicates] = X[duplicates : 2 * duplicates]  # some of them labeled and unlabeled at once
    K = rbf_from_distances(squared_distances(X), 1.5) if kernel == "rbf" else None
    model = BSVM(lam, c_p, c_u, kernel="rbf" if kernel == "rbf" else "linear", width=1.5, tol=1e-6).fit(X, y)
    best = optimum(X, y, K, lam, c_p, c_u, False)
    assert model.converged_ and 0 <= model.dual_gap_ <= 1e-6 * model.objective_
    assert abs(model.objective_ - best) <= 1.1e-6 * best
    # the objective is that of the model as it predicts
    f = model.decision_function(X)
    beta = model.dual_coef_
    rows = model.support_vectors_
    norm2 = beta @ (rows @ rows.T if K is None else rbf_from_distances(squared_distances(rows), 1.5)) @ beta
    loss = c_p * np.maximum(1 - f[y == 1], 0).sum() + c_u * np.maximum(1 + f[y == 0], 0).sum()
    np.testing.assert_allclose(lam / 2 * norm2 + loss, model.objective_, rtol=1e-9)


@given(seed=st.integers(0, 1000), lam=weights, c_p=weights, c_u=weights, rbf=st.booleans())
@examples(10)
def test_bls_svm_objective_is_clarabels(seed, lam, c_p, c_u, rbf):
    X, y = problem(seed, n=40)
    K = rbf_from_distances(squared_distances(X), 1.5) if rbf else None
    model = BLSSVM(lam, c_p, c_u, kernel="rbf" if rbf else "linear", width=1.5).fit(X, y)
    best = optimum(X, y, K, lam, c_p, c_u, True)
    assert abs(model.objective_ - best) <= 1e-6 * best
    f = model.decision_function(X)
    loss = c_p * np.sum((1 - f[y == 1]) ** 2) + c_u * np.sum((1 + f[y == 0]) ** 2)
    assert loss < model.objective_ + 1e-8


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_bsvm_with_strong_weights_on_more_rows(kernel):
    X, y = problem(5, n=400, m=6, n_p=80)
    X *= 20.0
    strong = {"lam": 1.0, "c_p": 1000.0, "c_u": 300.0, "kernel": kernel, "width": 60.0}
    model = BSVM(**strong, tol=1e-8).fit(X, y)
    assert model.converged_ and model.dual_gap_ <= 1e-8 * model.objective_
    # scaling every weight, and the ridge with them, scales the objective
    scaled = BSVM(lam=0.01, c_p=10.0, c_u=3.0, kernel=kernel, width=60.0, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(100 * scaled.objective_, model.objective_, rtol=2e-8)


def test_bsvm_reaches_its_tolerance_with_a_kernel_of_low_rank():
    X, y = problem(8, n=600, m=1, n_p=300)
    model = BSVM(lam=1.0, c_p=1000.0, c_u=700.0, kernel="rbf", width=0.5, tol=1e-6).fit(X, y)
    assert model.converged_ and model.dual_gap_ <= 1e-6 * model.objective_


@pytest.mark.parametrize("m", [3, 50])
def test_bsvm_does_not_depend_on_the_origin(m):
    X, y = problem(9, m=m)
    strong = {"c_p": 100.0, "c_u": 30.0, "tol": 1e-6}
    near, far = BSVM(**strong).fit(X, y), BSVM(**strong).fit(X + 1000.0, y)
    assert near.converged_ and far.converged_
    np.testing.assert_allclose(far.objective_, near.objective_, rtol=2e-6)
    np.testing.assert_allclose(far.decision_function(X + 1000.0), near.decision_function(X), atol=0.01)


def test_a_newton_step_stays_feasible_and_never_raises_the_dual():
    rng = np.random.default_rng(6)
    for _ in range(20):
        X = rng.normal(size=(30, 4))
        K = X @ X.T
        side = np.where(rng.random(30) < 0.5, 1.0, -1.0)
        losses = RowLosses(np.minimum(side, 0.0), *(np.maximum(side, 0.0),) * 2, -side, -side)
        dual = restore_total(losses.lower + rng.random(30), losses, 0.0)
        G = K @ dual
        before = 0.5 * dual @ G - side @ dual
        _newton_step(K, G, dual, losses)
        assert np.all((dual >= losses.lower) & (dual <= losses.upper)) and abs(dual.sum()) < 1e-9
        np.testing.assert_allclose(G, K @ dual, atol=1e-9)
        assert 0.5 * dual @ G - side @ dual <= before + 1e-9


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
def test_bsvm_agrees_with_libsvm_where_the_kernel_matrix_is_too_large(kernel, monkeypatch):
    X, y = problem(7, n=80, m=50)
    formed = BSVM(kernel=kernel, width=4.0, tol=1e-5).fit(X, y)
    monkeypatch.setattr(svm, "DENSE_ROWS", 79)
    by_libsvm = BSVM(kernel=kernel, width=4.0, tol=1e-5).fit(X, y)
    np.testing.assert_allclose(by_libsvm.objective_, formed.objective_, rtol=2e-5)
    np.testing.assert_allclose(by_libsvm.decision_function(X), formed.decision_function(X), atol=0.02)


def test_bls_svm_is_gllc_without_similarity():
    X, y = problem(1)
    far = GLLC(lam=0.5, c_u=0.2, sigma=1e-9).fit(X, y)  # at this sigma all weights of the graph vanish
    plain = BLSSVM(lam=0.5, c_u=0.2).fit(X, y)
    np.testing.assert_allclose(plain.decision_function(X), far.decision_function(X), atol=1e-10)
    assert plain.dual_gap_ < 1e-12


def test_naive_svc_is_scikit_learns_when_cut_at_zero():
    X, y = problem(2)
    model = NaiveSVC(C=2.0).fit(X, y)
    peer = SVC(C=2.0, class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X))
    assert model.prior_ is None and model.threshold_ == 0.0
    assert 0 <= model.dual_gap_ <= 0.01 * model.objective_


def test_naive_svc_gap_is_a_bound():
    X, y = problem(3, n=40)
    model = NaiveSVC(C=0.7, kernel="linear").fit(X, y)
    n_p, n_u = 15, 25
    best = optimum(X, y, None, 1.0, 0.7 * 40 / (2 * n_p), 0.7 * 40 / (2 * n_u), False)
    assert -1e-6 <= model.objective_ - best <= model.dual_gap_ + 1e-6 * best


@given(seed=st.integers(0, 1000), prior=st.sampled_from([0.1, 0.3, 0.6]))
@examples(10)
def test_a_cut_at_the_prior_predicts_that_share_of_new_rows_positive(seed, prior):
    rng = np.random.default_rng(seed)

    def unlabeled(n):
        return rng.normal(size=(n, 2)) + 2.5 * (rng.random(n) < prior)[:, None]

    X = np.r_[rng.normal(2.5, 1, (100, 2)), unlabeled(400)]
    y = np.r_[np.ones(100), np.zeros(400)]
    model = NaiveSVC(prior=prior, random_state=0).fit(X, y)
    assert abs(np.mean(model.predict(unlabeled(2000)) == 1) - prior) < 0.1


@pytest.mark.parametrize("seed", range(4))
def test_the_cut_uses_out_of_fold_scores(seed):
    """A model that knows its training rows by heart gives fresh ones other scores; the threshold is for these."""
    rng = np.random.default_rng(seed)

    def draw(n, share):
        return rng.normal(size=(n, 2)) + 1.5 * (rng.random(n) < share)[:, None]

    X, y = np.r_[draw(60, 1.0), draw(240, 0.4)], np.r_[np.ones(60), np.zeros(240)]
    model = NaiveSVC(C=10.0, width=0.2, prior=0.4, random_state=0).fit(X, y)
    scores = model.svc_.decision_function(draw(1000, 0.4))
    in_fold = np.quantile(model.svc_.decision_function(X)[y == 0], 0.6)
    assert np.mean(scores > in_fold) > 0.55  # by heart: nearly all unlabeled rows lie at the margin
    assert abs(np.mean(scores > model.threshold_) - 0.4) < 0.12


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "scale"), [("km2", 1), ("bbe", 8)])  # best bins need more labeled rows
def test_naive_svc_estimates_the_prior_on_request(estimator, scale):
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(4, 1, (150 * scale, 2)), rng.normal(0, 1, (150 * scale, 2))]
    y = np.r_[np.ones(50 * scale), np.zeros(250 * scale)]
    model = NaiveSVC(prior="estimate", prior_estimator=estimator, random_state=0).fit(X, y)
    assert abs(model.prior_ - 0.4) < 0.1
    assert np.mean(model.predict(X) == np.r_[np.ones(150 * scale), np.zeros(150 * scale)]) > 0.95


@pytest.mark.parametrize("prior", [0.0, 1.2, "guess"])
def test_a_bad_prior_is_refused(prior):
    with pytest.raises(ValueError, match="prior"):
        NaiveSVC(prior=prior).fit(*problem(0))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("dense_rows", [0, 4000])
def test_bsvm_warns_when_it_stopped_early(kernel, dense_rows, monkeypatch):
    monkeypatch.setattr(svm, "DENSE_ROWS", dense_rows)
    X, y = problem(4, n=200)
    best = BSVM(lam=1e-3, kernel=kernel).fit(X, y) if dense_rows else None
    with pytest.warns(UserWarning, match="BSVM stopped"):
        model = BSVM(lam=1e-3, max_iter=5, kernel=kernel).fit(X, y)
    assert not model.converged_ and model.dual_gap_ > 0 and model.n_iter_ <= 5
    assert best is None or model.objective_ - model.dual_gap_ <= best.objective_
