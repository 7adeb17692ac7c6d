"""The one list of methods: command-line name, estimator, default grid, source.

An installed package adds entries by the entry-point group ``pucli.methods``; each entry point is a `Method` or a list
of them. Where an experiment names ``module:Class``, that class is the method.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pucli.core.errors import UsageError, unknown
from pucli.core.plug_ins import load_class, named, source_sha256
from pucli.former_defaults import FORMER_DEFAULTS
from pucli.method_entry import Method as Method

_ALL = [
    Method(
        name="auto",
        estimator="pucli.estimators.auto.auto_pu:AutoPU",
        kind="pu",
        source="ensemble of kernel ridge regressions and trees, chosen by PU-AUC; see pucli.auto",
        version=7,
    ),
    Method(
        name="glpual",
        estimator="pucli.estimators.global_local.glpual:GLPUAL",
        kind="pu",
        source="Wang 2024, eq. 3.2 (linear), 3.17-3.26 (kernel)",
        grid={"lam": "decades", "sigma": "decades", "c_u": [0.5, 0.3, 0.1, 0.05, 0.01]},
        regularisation={"lam": -1, "width": -1, "c_p": 1, "c_u": 1, "sigma": -1, "n_neighbors": -1},
        refine=("lam", "sigma", "width", "c_p", "c_u"),
        path="pucli.tuning.paths.glpual:GLPUALPath",
    ),
    Method(
        name="gllc",
        estimator="pucli.estimators.global_local.glpual:GLLC",
        kind="pu",
        source="Ke et al. 2018; Wang 2024, eq. 2.5",
        grid={"lam": "decades", "sigma": "decades", "c_u": [0.5, 0.3, 0.1, 0.05, 0.01]},
        regularisation={"lam": -1, "width": -1, "c_p": 1, "c_u": 1, "sigma": -1, "n_neighbors": -1},
        refine=("lam", "sigma", "width", "c_p", "c_u"),
        path="pucli.tuning.paths.glpual:GLLCPath",
        tried="1,000, bench glpual",
    ),
    Method(
        name="bsvm",
        estimator="pucli.estimators.global_local.svm:BSVM",
        kind="pu",
        source="Liu et al. 2003; Wang 2024, eq. 2.2",
        grid={"lam": "decades", "c_u": [0.5, 0.3, 0.1, 0.05, 0.01]},
        regularisation={"lam": -1, "width": -1, "c_p": 1, "c_u": 1},
        refine=("lam", "width", "c_p", "c_u"),
        version=5,
    ),
    Method(
        name="blssvm",
        estimator="pucli.estimators.global_local.svm:BLSSVM",
        kind="pu",
        source="Ke et al. 2018; Wang 2024, section 2.3.2",
        grid={"lam": "decades", "c_u": [0.5, 0.3, 0.1, 0.05, 0.01]},
        regularisation={"lam": -1, "width": -1, "c_p": 1, "c_u": 1},
        refine=("lam", "width", "c_p", "c_u"),
    ),
    Method(
        name="svc-naive",
        estimator="pucli.estimators.unbiased.naive_svc:NaiveSVC",
        kind="pu",
        prior="optional",
        source="baseline: unlabeled rows as negatives, class-balanced SVC",
        grid={"C": [0.01, 0.1, 1.0, 10.0, 100.0]},
        regularisation={"width": -1, "C": 1},
        refine=("C", "width"),
    ),
    Method(
        name="e-glpual",
        estimator="pucli.estimators.global_local.elastic:ElasticGLPUAL",
        kind="pu",
        source="Wang 2024, eq. 4.1",
        grid={"lam1": [0.1, 1.0, 10.0, 100.0], "lam2": [0.1, 1.0, 10.0], "sigma": [1.0], "c_u": [0.5, 0.1, 0.01]},
        regularisation={"lam1": -1, "lam2": -1, "c_p": 1, "c_u": 1, "sigma": -1, "n_neighbors": -1},
        ridge="lam2",
        refine=("lam1", "lam2", "sigma", "c_p", "c_u"),
        path="pucli.tuning.paths.elastic:ElasticPath",
    ),
    Method(
        name="ekf-glpual",
        estimator="pucli.estimators.global_local.elastic:EKFGLPUAL",
        kind="pu",
        source="Wang 2024, eq. 4.22-4.43",
        grid={"lam1": [0.1, 1.0, 10.0, 100.0], "lam2": [1e-4, 1e-2], "sigma": [1.0], "c_u": [0.3, 0.05]},
        regularisation={"lam1": -1, "lam2": -1, "c_p": 1, "c_u": 1, "sigma": -1, "n_neighbors": -1},
        ridge="lam2",
        refine=("lam1", "lam2", "sigma", "c_p", "c_u"),
        path="pucli.tuning.paths.surface:SurfacePath",
        version=2,
        tried="600, bench glpual_family",
    ),
    Method(
        name="cpb-glpual",
        estimator="pucli.estimators.global_local.cpb:CPBGLPUAL",
        kind="pu",
        prior="estimated if not given",
        source="Wang 2024, eq. 5.8",
        grid={"lam": [1e-4, 1e-3, 1e-2, 1e-1, 1.0], "sigma": [1.0]},
        regularisation={"lam": -1, "width": -1, "sigma": -1, "n_neighbors": -1},
        refine=("lam", "sigma", "width", "mu"),
        path="pucli.tuning.paths.cpb:CPBPath",
    ),
    Method(
        name="upu",
        estimator="pucli.estimators.unbiased.upu:UPU",
        kind="pu",
        prior="estimated if not given",
        source="du Plessis, Niu, Sugiyama 2014, 2015; Kiryo et al. 2017",
        regularisation={"lam": -1, "width": -1},
        refine=("lam", "width", "learning_rate", "weight_decay"),
    ),
    Method(
        name="nnpu",
        estimator="pucli.estimators.unbiased.upu:NNPU",
        kind="pu",
        prior="estimated if not given",
        source="Kiryo, Niu, du Plessis, Sugiyama 2017",
        regularisation={"weight_decay": -1, "gamma": 1},
        refine=("learning_rate", "weight_decay", "beta", "gamma"),
    ),
    Method(
        name="usmo",
        estimator="pucli.estimators.unbiased.usmo:USMO",
        kind="pu",
        prior="estimated if not given",
        source="Sansone, De Natale, Zhou 2018, sections 3-4",
        grid={"lam": [0.0001, 0.001, 0.01, 0.1]},
        regularisation={"lam": -1, "width": -1},
        refine=("lam", "width"),
        version=2,
    ),
    Method(
        name="ramp-pu",
        estimator="pucli.estimators.unbiased.ramp:RampPU",
        kind="pu",
        prior="estimated if not given",
        source="du Plessis, Niu, Sugiyama 2014; Sansone, De Natale, Zhou 2018, section 6 (a peer there)",
        grid={"lam": [0.0001, 0.001, 0.01, 0.1]},
        regularisation={"lam": -1, "width": -1},
        refine=("lam", "width"),
        version=2,
        tried="16,000, usmo-figures-4-7",
    ),
    Method(
        name="least-squares",
        estimator="pucli.estimators.safe.least_squares:LeastSquares",
        kind="semi-supervised",
        source="Bertazzi 2018, eq. 3.6",
        version=2,
        tried="1,000, safe-learning-curves",
    ),
    Method(
        name="icls",
        estimator="pucli.estimators.safe.least_squares:ICLS",
        kind="semi-supervised",
        source="Krijthe & Loog 2017; Bertazzi 2018, section 3.2",
        version=2,
        tried="1,000, safe-learning-curves",
    ),
    Method(
        name="cpls",
        estimator="pucli.estimators.safe.least_squares:CPLS",
        kind="semi-supervised",
        source="Bertazzi 2018, Proposition 3.12",
        version=2,
        tried="10,000, bench semi_supervised",
    ),
    Method(
        name="mcpl-lda",
        estimator="pucli.estimators.safe.mcpl:MCPLLDA",
        kind="semi-supervised",
        source="Loog 2016; Bertazzi 2018, section 5.2.2",
        tried="10,000, bench semi_supervised",
    ),
    Method(
        name="mcpl-qda",
        estimator="pucli.estimators.safe.mcpl:MCPLQDA",
        kind="semi-supervised",
        source="Bertazzi 2018, eq. 5.4-5.5",
    ),
    Method(
        name="mcpl",
        estimator="pucli.estimators.safe.mcpl:MCPL",
        kind="semi-supervised",
        source="Bertazzi 2018, chapter 4",
    ),
    Method(
        name="em-lda",
        estimator="pucli.estimators.safe.lda_baselines:EMLDA",
        kind="semi-supervised",
        source="baseline: expectation maximisation for LDA",
        version=2,
        tried="1,000, safe-learning-curves",
    ),
    Method(
        name="self-training-lda",
        estimator="pucli.estimators.safe.lda_baselines:SelfTrainingLDA",
        kind="semi-supervised",
        source="baseline: scikit-learn's SelfTrainingClassifier on LDA",
        tried="1,000, safe-learning-curves",
    ),
    Method(
        name="gaussian-mcpl",
        estimator="pucli.estimators.safe.gaussian_mcpl:GaussianMCPL",
        kind="density",
        source="Bertazzi 2018, eq. 6.7-6.9, 6.19",
        version=4,
    ),
    Method(
        name="classtering",
        estimator="pucli.estimators.semi_supervised.classtering:Classtering",
        kind="semi-supervised",
        source="Sansone 2018, chapter 2",
        tried="10,000, bench generative",
    ),
    Method(
        name="laplacian-svm",
        estimator="pucli.estimators.semi_supervised.laplacian_svm:LaplacianSVM",
        kind="semi-supervised",
        source="baseline: Belkin, Niyogi, Sindhwani 2006; Melacci and Belkin 2011",
        version=2,
        grid={"gamma_a": [0.005, 0.045, 0.5], "gamma_i": [0.005, 0.045, 0.5], "width": [0.1, 1.0, 10.0]},
    ),
    Method(
        name="lds",
        estimator="pucli.estimators.semi_supervised.low_density:LowDensitySeparation",
        kind="semi-supervised",
        source="baseline: Chapelle and Zien 2005",
        grid={"rho": [1.0, 2.0, 4.0, 8.0], "C": [0.1, 1.0, 10.0, 100.0], "sigma": [0.1, 1.0, 10.0]},
    ),
    Method(
        name="label-spreading",
        estimator="sklearn.semi_supervised:LabelSpreading",
        kind="semi-supervised",
        source="baseline: scikit-learn's LabelSpreading",
    ),
    Method(
        name="gaussian-mixture",
        estimator="sklearn.mixture:GaussianMixture",
        kind="density",
        source="baseline: scikit-learn's GaussianMixture",
    ),
    Method(
        name="constrained-kmeans",
        estimator="pucli.estimators.semi_supervised.constrained_kmeans:ConstrainedKMeans",
        kind="clustering",
        source="baseline: Basu, Banerjee, Mooney 2004",
    ),
    Method(
        name="pae",
        estimator="pucli.estimators.density.plummer:PlummerAutoencoder",
        kind="density",
        source="Sansone 2018, eq. 4.2",
        extra="deep",
    ),
    Method(
        name="vae",
        estimator="pucli.estimators.density.plummer:VariationalAutoencoder",
        kind="density",
        source="baseline: Kingma and Welling 2014",
        extra="deep",
    ),
    Method(
        name="aae",
        estimator="pucli.estimators.density.plummer:AdversarialAutoencoder",
        kind="density",
        source="baseline: Makhzani et al. 2016",
        extra="deep",
    ),
    Method(
        name="wgan-gp",
        estimator="pucli.estimators.density.plummer:WassersteinGAN",
        kind="density",
        source="baseline: Gulrajani et al. 2017",
        extra="deep",
    ),
    Method(
        name="coulomb-gan",
        estimator="pucli.estimators.density.plummer:CoulombGAN",
        kind="density",
        source="baseline: Unterthiner et al. 2018",
        extra="deep",
    ),
    Method(
        name="bigan",
        estimator="pucli.estimators.density.adversarial_pairs:BidirectionalGAN",
        kind="density",
        source="baseline: Donahue et al. 2017",
        extra="deep",
    ),
    Method(
        name="veegan",
        estimator="pucli.estimators.density.adversarial_pairs:VEEGAN",
        kind="density",
        source="baseline: Srivastava et al. 2017",
        extra="deep",
    ),
    Method(
        name="avb-ac",
        estimator="pucli.estimators.density.adversarial_pairs:AdversarialVariationalBayes",
        kind="density",
        source="baseline: Mescheder et al. 2017",
        extra="deep",
    ),
]

METHODS: dict[str, Method] = {
    method.name: replace(method, former_defaults=FORMER_DEFAULTS.get(method.name, {})) for method in _ALL
}


def all_methods() -> dict[str, Method]:
    """Return our own methods and those of installed packages, by name."""
    offered = named("pucli.methods", Method, frozenset(METHODS))
    return METHODS | {
        method.name: replace(method, package=offer.package, package_version=offer.version) for offer, method in offered
    }


def get_method(name: str) -> Method:
    """Return the method called `name`, or that of a class ``module:Class``; the error suggests the nearest names."""
    if name in METHODS:
        return METHODS[name]
    if ":" in name:
        file = source_sha256(load_class(name))
        return Method(name, name, "pu", f"the class {name}", package=name.partition(":")[0], package_version=file)
    methods = all_methods()
    if name not in methods:
        raise unknown("method", name, methods, listing="pucli list methods")
    return methods[name]


def estimator_class(method: Method) -> type[Any]:
    """Import and return the estimator class of `method`."""
    if method.package:
        try:
            return load_class(method.estimator)
        except UsageError as error:
            raise UsageError(f"the method {method.name!r} of {method.package} cannot be used: {error}") from error
    module, _, name = method.estimator.partition(":")
    found: type[Any] = getattr(importlib.import_module(module), name)
    return found


def make_estimator(name: str, **params: Any) -> Any:
    """Return an unfitted estimator of the method `name`, with `params` over the fixed ones."""
    method = get_method(name)
    return estimator_class(method)(**{**method.params, **params})


def constructor_defaults(method: Method) -> dict[str, Any]:
    """Return constructor parameter -> present default of the method's estimator."""
    parameters = inspect.signature(estimator_class(method)).parameters.values()
    return {p.name: p.default for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


def identity(method: Method) -> dict[str, str]:
    """Return what tells a method of another package apart in a cell's key; nothing for our own.

    The name of the package, whose author raises `Method.version`; of a ``module:Class`` the hash of its file.
    """
    if ":" in method.name:
        return {"source_sha256": method.package_version}
    return {"package": method.package} if method.package else {}


def complete_params(name: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return constructor parameters with those that `params`, of a cell's key, leaves out."""
    method = get_method(name)
    known = constructor_defaults(method)
    return {**{key: value for key, value in method.former_defaults.items() if key in known}, **params}


def check_value(name: str, parameter: str, value: Any) -> None:
    """Raise UsageError where the method's estimator declares a range for `parameter` that does not hold `value`.

    Estimators that declare none check when they are fitted.
    """
    from sklearn.utils._param_validation import InvalidParameterError, validate_parameter_constraints

    from pucli.core.parameter_ranges import allowed_values

    estimator = estimator_class(get_method(name))
    constraints = getattr(estimator, "_parameter_constraints", {})
    if parameter in constraints:
        try:
            validate_parameter_constraints({parameter: constraints[parameter]}, {parameter: value}, estimator.__name__)
        except InvalidParameterError:
            allowed = allowed_values(constraints[parameter])
            raise UsageError(f"{parameter} of {name} must be {allowed}, not {value!r}") from None
