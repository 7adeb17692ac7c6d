"""Former defaults of constructor parameters, which are the values of parameters absent from the key of a cell.

The key of a cell omits a parameter that has its former default, unless the experiment declares the parameter for the
column (`pucli.protocols.common.key_params`). A default may therefore change without changing a committed key, and
different parameters never have the same key. Entries never change. A new parameter gets an entry with the value that
reproduces the previous behaviour of the method; without an entry, it is part of every key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# fmt: off
FORMER_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "glpual": {
        "lam": 1.0, "c_p": 1.0, "c_u": 0.1, "sigma": 1.0, "n_neighbors": 5, "kernel": "linear", "width": 1.0,
        "form": "rkhs", "solver": "dual", "mu": None, "max_rank": None, "tol": 1e-06, "max_iter": None,
        "pos_label": None, "cut": None,
    },
    "gllc": {
        "lam": 1.0, "c_p": 1.0, "c_u": 0.1, "sigma": 1.0, "n_neighbors": 5, "kernel": "linear", "width": 1.0,
        "form": "rkhs", "max_rank": None,
        "pos_label": None, "cut": None,
    },
    "bsvm": {
        "lam": 1.0, "c_p": 1.0, "c_u": 0.1, "kernel": "linear", "width": 1.0, "tol": 0.0001, "max_iter": 1000000,
        "pos_label": None, "cut": None,
    },
    "blssvm": {
        "lam": 1.0, "c_p": 1.0, "c_u": 0.1, "kernel": "linear", "width": 1.0, "max_rank": None,
        "pos_label": None, "cut": None,
    },
    "svc-naive": {
        "C": 1.0, "kernel": "rbf", "width": None, "prior": None, "random_state": None,
        "pos_label": None, "cut": None,
        "prior_estimator": "km2",
    },
    "e-glpual": {
        "lam1": 1.0, "lam2": 1.0, "c_p": 1.0, "c_u": 0.1, "sigma": 1.0, "n_neighbors": 5, "solver": "dual", "mu": 1.0,
        "tol": 1e-06, "max_iter": None,
        "pos_label": None, "cut": None,
    },
    "ekf-glpual": {
        "lam1": 1.0, "lam2": 0.001, "c_p": 1.0, "c_u": 0.1, "sigma": 1.0, "n_neighbors": 5, "solver": "working-set",
        "mu": 1.0, "tol": 1e-06, "max_iter": None,
        "pos_label": None, "cut": None,
    },
    "cpb-glpual": {
        "prior": None, "lam": 0.1, "sigma": 1.0, "n_neighbors": 5, "kernel": "linear", "width": 1.0, "form": "rkhs",
        "solver": "dc", "mu": None, "max_rank": None, "tol": 1e-06, "max_iter": None, "random_state": None,
        "pos_label": None, "cut": None, "prior_estimator": "km2",
    },
    "upu": {
        "prior": None, "loss": "sigmoid", "lam": 0.1, "kernel": "linear", "width": 1.0, "max_rank": None,
        "hidden": 100, "n_epochs": 100, "learning_rate": 0.001, "weight_decay": 0.005, "batch_size": 30000,
        "tol": 1e-06, "max_iter": 1000, "random_state": None,
        "pos_label": None, "cut": None,
        "prior_estimator": "km2",
    },
    "nnpu": {
        "prior": None, "hidden": 100, "n_epochs": 100, "learning_rate": 0.001, "weight_decay": 0.005,
        "batch_size": 30000, "beta": 0.0, "gamma": 1.0, "random_state": None,
        "pos_label": None, "cut": None,
        "prior_estimator": "km2",
    },
    "usmo": {
        "prior": 0.5, "lam": 0.01, "kernel": "rbf", "width": 1.0, "degree": 3, "coef0": 1.0, "solver": "usmo",
        "cache_size": 200, "tol": 1e-06, "max_iter": 100000, "init": "subsample", "random_state": None,
        "pos_label": None, "cut": None,
        "prior_estimator": "bbe",
    },
    "ramp-pu": {
        "prior": 0.5, "lam": 0.01, "kernel": "rbf", "width": 1.0, "degree": 3, "coef0": 1.0, "cache_size": 200,
        "tol": 0.0001, "max_iter": 100,
        "random_state": None, "pos_label": None, "cut": None,
        "prior_estimator": "bbe", "init": "zero",
    },
    "least-squares": {"lam": 0.0, "fit_intercept": True},
    "icls": {"lam": 0.0, "fit_intercept": True, "tol": 1e-08, "max_iter": 2000},
    "cpls": {"lam": 0.0, "fit_intercept": True, "tol": 1e-08, "max_iter": 2000},
    "mcpl-lda": {"ridge": 0.0, "tol": 1e-07, "max_iter": 200},
    "mcpl-qda": {"ridge": 0.0, "tol": 1e-07, "max_iter": 200},
    "mcpl": {
        "family": "gaussian-shared", "covariance": "identity", "ridge": 0.0, "pseudo_rows": 0.0, "tol": 1e-07,
        "max_iter": 200,
    },
    "em-lda": {"ridge": 0.0, "tol": 1e-08, "max_iter": 1000},
    "self-training-lda": {"ridge": 0.0, "threshold": 0.75, "max_iter": 10},
    "gaussian-mcpl": {"blocks": "safe", "ridge": 0.0},
    "classtering": {
        "n_components": "auto", "n_factors": 2, "max_components": 50, "starts": (1, 10), "form": "collapsed",
        "tol": 1e-05, "max_iter": 1000, "random_state": None,
    },
    "laplacian-svm": {
        "gamma_a": 0.005, "gamma_i": 0.5, "kernel": "rbf", "width": 1.0, "n_neighbors": 6, "tol": 1e-08,
        "max_iter": 100,
    },
    "label-spreading": {
        "kernel": "rbf", "gamma": 20, "n_neighbors": 7, "alpha": 0.2, "max_iter": 30, "tol": 0.001, "n_jobs": None,
    },
    "gaussian-mixture": {
        "n_components": 1, "covariance_type": "full", "tol": 0.001, "reg_covar": 1e-06, "max_iter": 100, "n_init": 1,
        "init_params": "kmeans", "weights_init": None, "means_init": None, "precisions_init": None,
        "random_state": None, "warm_start": False, "verbose": 0, "verbose_interval": 10,
    },
    "constrained-kmeans": {"n_clusters": 2, "weight": 1.0, "max_iter": 100, "random_state": None},
    "pae": {
        "latent_dim": 2, "lam": 1.0, "eps": 0.0001, "hidden": (128, 128), "output": "linear", "batch_size": 128,
        "n_iterations": 20000, "learning_rate": 0.0001, "betas": (0.5, 0.9), "batch_norm": False, "patience": None,
        "block": 1000, "checkpoint": None, "device": "auto", "precision": "auto", "report": None, "random_state": None,
    },
    "vae": {
        "latent_dim": 2, "hidden": (128, 128), "output": "linear", "batch_size": 128, "n_iterations": 20000,
        "learning_rate": 0.0001, "betas": (0.5, 0.9), "batch_norm": False, "patience": None, "block": 1000,
        "checkpoint": None, "device": "auto", "precision": "auto", "report": None, "random_state": None,
    },
    "aae": {
        "latent_dim": 2, "hidden": (128, 128), "output": "linear", "batch_size": 128, "n_iterations": 20000,
        "learning_rate": 0.0001, "betas": (0.5, 0.9), "batch_norm": False, "patience": None, "block": 1000,
        "checkpoint": None, "device": "auto", "precision": "auto", "report": None, "random_state": None,
    },
    "wgan-gp": {
        "latent_dim": 2, "hidden": (128, 128), "output": "linear", "batch_size": 128, "n_iterations": 20000,
        "learning_rate": 0.0001, "betas": (0.5, 0.9), "batch_norm": False, "patience": None, "block": 1000,
        "checkpoint": None, "device": "auto", "precision": "auto", "report": None, "random_state": None,
    },
    "coulomb-gan": {
        "latent_dim": 2, "hidden": (128, 128), "output": "linear", "batch_size": 128, "n_iterations": 20000,
        "learning_rate": 0.0001, "betas": (0.5, 0.9), "batch_norm": False, "patience": None, "block": 1000,
        "checkpoint": None, "device": "auto", "precision": "auto", "report": None, "random_state": None,
    },
}
# fmt: on
