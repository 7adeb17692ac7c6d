"""BSVM, BLS-SVM and the plain SVC baseline against cvxpy, closed forms and their own meaning."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

from pucli.estimators.glpual import GLLC
from pucli.estimators.svm import BLSSVM, BSVM, NaiveSVC
from pucli.kernels.graph import squared_distances
from pucli.kernels.low_rank import rbf_from_distances


def problem(seed, n=60, m=3, n_p=15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m)) * rng.uniform(0.3, 3, size=m)
    y = np.zeros(n)
    y[rng.permutation(n)[:n_p]] = 1
    X[y == 1] += 1.0
    return X, y


def clarabel(X, y, K, lam, c_p, c_u, squared):
    w, b = cp.Variable(X.shape[1] if K is None else len(X)), cp.Variable()
    f = (X if K is None else K) @ w + b
    norm = cp.sum_squares(w) if K is None else cp.quad_form(w, cp.psd_wrap(K))
    margin_p, margin_u = 1 - f[y == 1], 1 + f[y == 0]
    if squared:
        loss = c_p * cp.sum_squares(margin_p) + c_u * cp.sum_squares(margin_u)
    else:
        loss = c_p * cp.sum(cp.pos(margin_p)) + c_u * cp.sum(cp.pos(margin_u))
    task = cp.Problem(cp.Minimize(lam / 2 * norm + loss))
    task.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return task.value


weights = st.sampled_from([0.1, 1.0, 10.0])


@given(seed=st.integers(0, 1000), lam=weights, c_p=weights, c_u=weights, squared=st.booleans(), rbf=st.booleans())
@settings(max_examples=16, deadline=None)
def test_objective_is_clarabels_and_the_gap_is_a_bound(seed, lam, c_p, c_u, squared, rbf):
    X, y = problem(seed, n=40)
    K = rbf_from_distances(squared_distances(X), 1.5) if rbf else None
    settings_ = {"lam": lam, "c_p": c_p, "c_u": c_u, "kernel": "rbf" if rbf else "linear", "width": 1.5}
    model = (BLSSVM(**settings_) if squared else BSVM(**settings_, tol=1e-6)).fit(X, y)
    best = clarabel(X, y, K, lam, c_p, c_u, squared)
    assert abs(model.objective_ - best) <= 1e-5 * best
    assert model.objective_ - best <= model.dual_gap_ + 1e-6 * best
    f = model.decision_function(X)
    margins = np.r_[1 - f[y == 1], 1 + f[y == 0]]
    weight = np.r_[np.full(15, c_p), np.full(25, c_u)]
    loss = weight @ (margins**2 if squared else np.maximum(margins, 0))
    assert loss < model.objective_ + 1e-8


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
    assert model.prior_ is None and model.cut_ == 0.0
    assert 0 <= model.dual_gap_ <= 0.01 * model.objective_


def test_naive_svc_gap_is_a_bound():
    X, y = problem(3, n=40)
    model = NaiveSVC(C=0.7, kernel="linear").fit(X, y)
    n_p, n_u = 15, 25
    best = clarabel(X, y, None, 1.0, 0.7 * 40 / (2 * n_p), 0.7 * 40 / (2 * n_u), False)
    assert -1e-6 <= model.objective_ - best <= model.dual_gap_ + 1e-6 * best


@given(seed=st.integers(0, 1000), prior=st.sampled_from([0.1, 0.3, 0.6]))
@settings(max_examples=10, deadline=None)
def test_cut_at_the_prior_calls_that_share_of_fresh_rows_positive(seed, prior):
    rng = np.random.default_rng(seed)

    def unlabeled(n):
        return rng.normal(size=(n, 2)) + 2.5 * (rng.random(n) < prior)[:, None]

    X = np.r_[rng.normal(2.5, 1, (100, 2)), unlabeled(400)]
    y = np.r_[np.ones(100), np.zeros(400)]
    model = NaiveSVC(prior=prior, random_state=0).fit(X, y)
    assert abs(np.mean(model.predict(unlabeled(2000)) == 1) - prior) < 0.1


def test_naive_svc_estimates_the_prior_on_request():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(4, 1, (150, 2)), rng.normal(0, 1, (150, 2))]
    y = np.r_[np.ones(50), np.zeros(250)]
    model = NaiveSVC(prior="estimate", random_state=0).fit(X, y)
    assert abs(model.prior_ - 0.4) < 0.1
    assert np.mean(model.predict(X) == np.r_[np.ones(150), np.zeros(150)]) > 0.95


@pytest.mark.parametrize("prior", [0.0, 1.2, "guess"])
def test_a_bad_prior_is_refused(prior):
    with pytest.raises(ValueError, match="prior"):
        NaiveSVC(prior=prior).fit(*problem(0))


def test_bsvm_says_when_it_stopped_early():
    X, y = problem(4, n=200)
    with pytest.warns(UserWarning, match="BSVM stopped"):
        model = BSVM(lam=1e-3, max_iter=5).fit(X, y)
    assert not model.converged_ and model.dual_gap_ > 0


@pytest.mark.parametrize("model", [BSVM(), BSVM(kernel="rbf"), BLSSVM(), BLSSVM(kernel="rbf"), NaiveSVC()], ids=str)
def test_scikit_learn_checks(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(model)


def test_scikit_learn_checks_with_an_estimated_prior():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(
            NaiveSVC(prior="estimate"),
            expected_failed_checks={
                "check_classifiers_train": "labels read as classes have no positive among the unlabeled rows",
                "check_classifiers_classes": "as above: the estimated prior is near zero",
            },
        )
