"""Declarations of the methods that learn from labeled positives and unlabeled rows."""

from __future__ import annotations

from pucli.methods.entry import Conditions, Method

_RBF: Conditions = {"width": ({"kernel": ("rbf",)},)}
_MAPPED: Conditions = {**_RBF, "max_rank": ({"kernel": ("rbf",), "form": ("rkhs",)},)}
_WITHOUT_PRIOR: Conditions = {"prior_estimator": ({"prior": (None,)},)}
_GLOBAL_LOCAL: Conditions = {
    **_MAPPED,
    **dict.fromkeys(("lam", "sigma", "solver", "tol"), ({"form": ("rkhs",)},)),
    "mu": ({"solver": ("admm",)}, {"form": ("thesis",)}),
}
_ADMM: Conditions = {"mu": ({"solver": ("admm",)},)}
_SUPPORT: Conditions = {
    **_RBF,
    **_WITHOUT_PRIOR,
    "degree": ({"kernel": ("polynomial",)},),
    "coef0": ({"kernel": ("polynomial",)},),
}
_CONVEX = ("squared", "double-hinge")

DECLARED = [
    Method(
        name="auto",
        estimator="pucli.estimators.auto.auto_pu:AutoPU",
        kind="pu",
        source="ensemble of kernel ridge regressions and trees, chosen by PU-AUC; see pucli.solvers.ensemble",
        version=17,  # exact copies of columns are left out
        needs={"wanted": ({"goal": ("recall", "precision", "share", "top")},)},
        without_negatives="",
        when=(
            "You have a table with some known positives and want an answer with its uncertainty, without choosing "
            "anything."
        ),
        when_not="You need one model that can be written down, or the published form of a method.",
    ),
    Method(
        name="glpual",
        estimator="pucli.estimators.global_local.glpual:GLPUAL",
        kind="pu",
        source="Wang 2024, eq. 3.2 (linear), 3.17-3.26 (kernel)",
        version=2,
        grid={"lam": "decades", "sigma": "decades", "c_u": [0.5, 0.3, 0.1, 0.05, 0.01]},
        regularization={"lam": -1, "width": -1, "c_p": 1, "c_u": 1, "sigma": -1, "n_neighbors": -1},
        refine=("lam", "sigma", "width", "c_p", "c_u"),
        path="pucli.tuning.paths.glpual:GLPUALPath",
        on_features=True,
        needs=_GLOBAL_LOCAL,
        color="blue",
        when=(
            "The positives fall into parts on both sides of the unlabeled negatives, or you want a proven bound on "
            "the distance to the optimum."
        ),
        when_not=(
            "The positives are one compact group and a plain SVC already separates it; many features are irrelevant "
            "(take e-glpual)."
        ),
    ),
    Method(
        name="gllc",
        estimator="pucli.estimators.global_local.glpual:GLLC",
        kind="pu",
        source="Ke et al. 2018; Wang 2024, eq. 2.5",
        version=2,
        grid={"lam": "decades", "sigma": "decades", "c_u": [0.5, 0.3, 0.1, 0.05, 0.01]},
        regularization={"lam": -1, "width": -1, "c_p": 1, "c_u": 1, "sigma": -1, "n_neighbors": -1},
        refine=("lam", "sigma", "width", "c_p", "c_u"),
        path="pucli.tuning.paths.glpual:GLLCPath",
        tried="1,000, bench glpual",
        on_features=True,
        needs={name: _GLOBAL_LOCAL[name] for name in ("width", "max_rank", "lam", "sigma")},
        color="orange",
        when="As glpual, where the squared loss on the labeled rows is fine; it is the cheaper of the two.",
        when_not="Labeled rows lie far from the boundary, where the squared loss pulls it toward them.",
    ),
    Method(
        name="bsvm",
        estimator="pucli.estimators.global_local.svm:BSVM",
        kind="pu",
        source="Liu et al. 2003; Wang 2024, eq. 2.2",
        grid={"lam": "decades", "c_u": [0.5, 0.3, 0.1, 0.05, 0.01]},
        regularization={"lam": -1, "width": -1, "c_p": 1, "c_u": 1},
        refine=("lam", "width", "c_p", "c_u"),
        version=6,
        on_features=True,
        features_path="pucli.tuning.paths.hinges:BSVMPath",
        cubic=True,
        needs=_RBF,
        sparse={},
        when=(
            "Unlabeled rows are mostly negative, and you want a support vector machine with a weight of its own for "
            "them."
        ),
        when_not="Most unlabeled rows are positive, or there are very many rows.",
    ),
    Method(
        name="blssvm",
        estimator="pucli.estimators.global_local.svm:BLSSVM",
        kind="pu",
        source="Ke et al. 2018; Wang 2024, section 2.3.2",
        grid={"lam": "decades", "c_u": [0.5, 0.3, 0.1, 0.05, 0.01]},
        regularization={"lam": -1, "width": -1, "c_p": 1, "c_u": 1},
        refine=("lam", "width", "c_p", "c_u"),
        on_features=True,
        features_path="pucli.tuning.paths.landmarks:NoGraphPath",
        needs={**_RBF, "max_rank": ({"kernel": ("rbf",)},)},
        sparse={},
        when=(
            "The table is large or sparse and a model in closed form is wanted; it takes wide sparse rows as they are."
        ),
        when_not="A few far outliers must not move the boundary.",
    ),
    Method(
        name="svc-naive",
        estimator="pucli.estimators.unbiased.naive_svc:NaiveSVC",
        kind="pu",
        prior="optional",
        source="baseline: unlabeled rows as negatives, class-balanced SVC",
        grid={"C": [0.01, 0.1, 1.0, 10.0, 100.0]},
        regularization={"width": -1, "C": 1},
        refine=("C", "width"),
        needs={**_RBF, "prior_estimator": ({"prior": ("estimate",)},)},
        sparse={"kernel": "linear"},
        color="gray",
        when="Always, beside whatever else you try. It is the baseline, and hard to beat.",
        when_not=("The class prior is large and you need the threshold to be right without knowing it."),
    ),
    Method(
        name="e-glpual",
        estimator="pucli.estimators.global_local.elastic:ElasticGLPUAL",
        kind="pu",
        source="Wang 2024, eq. 4.1",
        grid={"lam1": [0.1, 1.0, 10.0, 100.0], "lam2": [0.1, 1.0, 10.0], "sigma": [1.0], "c_u": [0.5, 0.1, 0.01]},
        regularization={"lam1": -1, "lam2": -1, "c_p": 1, "c_u": 1, "sigma": -1, "n_neighbors": -1},
        ridge="lam2",
        refine=("lam1", "lam2", "sigma", "c_p", "c_u"),
        path="pucli.tuning.paths.elastic:ElasticPath",
        needs=_ADMM,
        color="green",
        when=(
            "Many features are irrelevant and a linear boundary is enough; the features that are left are the "
            "explanation."
        ),
        when_not="The boundary is curved (take ekf-glpual), or all features matter.",
    ),
    Method(
        name="ekf-glpual",
        estimator="pucli.estimators.global_local.elastic:EKFGLPUAL",
        kind="pu",
        source="Wang 2024, eq. 4.22-4.43",
        grid={"lam1": [0.1, 1.0, 10.0, 100.0], "lam2": [1e-4, 1e-2], "sigma": [1.0], "c_u": [0.3, 0.05]},
        regularization={"lam1": -1, "lam2": -1, "c_p": 1, "c_u": 1, "sigma": -1, "n_neighbors": -1},
        ridge="lam2",
        refine=("lam1", "lam2", "sigma", "c_p", "c_u"),
        path="pucli.tuning.paths.surface:SurfacePath",
        version=2,
        tried="600, bench glpual_family",
        needs={"mu": ({"solver": ("admm", "author")},)},
        color="red",
        when="Many features are irrelevant and the boundary is a quadratic surface.",
        when_not="There are many features that matter; the surface has their square in coefficients.",
    ),
    Method(
        name="cpb-glpual",
        estimator="pucli.estimators.global_local.cpb:CPBGLPUAL",
        kind="pu",
        prior="estimated if not given",
        source="Wang 2024, eq. 5.8",
        version=2,
        grid={"lam": [1e-4, 1e-3, 1e-2, 1e-1, 1.0], "sigma": [1.0]},
        regularization={"lam": -1, "width": -1, "sigma": -1, "n_neighbors": -1},
        refine=("lam", "sigma", "width", "mu"),
        path="pucli.tuning.paths.cpb:CPBPath",
        needs={**_GLOBAL_LOCAL, **_WITHOUT_PRIOR},
        color="wine",
        when="The class prior is known, or can be estimated well, and glpual's neighborhood term suits the data.",
        when_not="The class prior is a guess; an error in it moves the boundary.",
    ),
    Method(
        name="upu",
        estimator="pucli.estimators.unbiased.upu:UPU",
        kind="pu",
        prior="estimated if not given",
        source="du Plessis, Niu, Sugiyama 2014, 2015; Kiryo et al. 2017",
        version=2,
        regularization={"lam": -1, "width": -1},
        refine=("lam", "width", "learning_rate", "weight_decay"),
        needs={
            **_WITHOUT_PRIOR,
            **dict.fromkeys(("lam", "kernel"), ({"loss": _CONVEX},)),
            **dict.fromkeys(("width", "max_rank"), ({"loss": _CONVEX, "kernel": ("rbf",)},)),
            **dict.fromkeys(("tol", "max_iter"), ({"loss": ("double-hinge",)},)),
            **dict.fromkeys(
                ("hidden", "n_epochs", "learning_rate", "weight_decay", "batch_size"), ({"loss": ("sigmoid",)},)
            ),
        },
        sparse={"loss": "double-hinge", "prior": "SHARE"},
        color="purple",
        when=(
            "The class prior is known and a linear or kernel model is enough; the risk is unbiased and convex for the "
            "double hinge and the squared loss."
        ),
        when_not="The model is flexible; then its empirical risk goes below zero (take nnpu).",
    ),
    Method(
        name="nnpu",
        estimator="pucli.estimators.unbiased.upu:NNPU",
        kind="pu",
        prior="estimated if not given",
        source="Kiryo, Niu, du Plessis, Sugiyama 2017",
        version=2,
        regularization={"weight_decay": -1, "gamma": 1},
        refine=("learning_rate", "weight_decay", "beta", "gamma"),
        needs=_WITHOUT_PRIOR,
        color="sky",
        when="The class prior is known, there are many rows, and a network is wanted.",
        when_not="There are a few hundred rows, or the class prior is unknown.",
    ),
    Method(
        name="usmo",
        estimator="pucli.estimators.unbiased.usmo:USMO",
        kind="pu",
        prior="estimated if not given",
        source="Sansone, De Natale, Zhou 2019, sections 3-4",
        grid={"lam": [0.0001, 0.001, 0.01, 0.1]},
        regularization={"lam": -1, "width": -1},
        refine=("lam", "width"),
        version=3,
        on_features=True,
        cubic=True,
        needs=_SUPPORT,
        sparse={"kernel": "linear", "prior": "SHARE"},
        color="blue",
        when=(
            "The class prior is known, the double hinge loss and a kernel are wanted, and memory must stay linear in "
            "the rows."
        ),
        when_not="The class prior is a guess, or the rows are so many that any kernel is too slow.",
    ),
    Method(
        name="ramp-pu",
        estimator="pucli.estimators.unbiased.ramp:RampPU",
        kind="pu",
        prior="estimated if not given",
        source="du Plessis, Niu, Sugiyama 2014; Sansone, De Natale, Zhou 2019, section 6 (a peer there)",
        grid={"lam": [0.0001, 0.001, 0.01, 0.1]},
        regularization={"lam": -1, "width": -1},
        refine=("lam", "width"),
        version=3,
        tried="16,000, usmo-figures-4-7",
        on_features=True,
        cubic=True,
        needs=_SUPPORT,
        color="red",
        when="The class prior is known and outliers must not count for more than one.",
        when_not="You need a proven optimum; the ramp loss is not convex.",
    ),
]
