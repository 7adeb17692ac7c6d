"""The plain baseline has the coefficients of scikit-learn's linear classifiers."""

import numpy as np

from pucli import NaiveSVC


def test_a_linear_svc_has_coefficients_and_an_rbf_one_has_none():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0) & (np.arange(60) < 40)
    model = NaiveSVC(kernel="linear").fit(X, y.astype(int))
    assert model.coef_.shape == (1, 3) and model.intercept_.shape == (1,)
    np.testing.assert_allclose(X @ model.coef_[0] + model.intercept_, model.decision_function(X), atol=1e-12)
    assert not hasattr(model.set_params(kernel="rbf").fit(X, y.astype(int)), "coef_")
