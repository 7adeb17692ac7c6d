"""The scikit-learn estimators, one family per file, each imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # so that types and parameters are known to type checkers and editors
    from sklearn.mixture import GaussianMixture as GaussianMixture

    from pucli.estimators.auto.auto_pu import AutoPU as AutoPU
    from pucli.estimators.density.adversarial_pairs import (
        VEEGAN as VEEGAN,
    )
    from pucli.estimators.density.adversarial_pairs import (
        AdversarialVariationalBayes as AdversarialVariationalBayes,
    )
    from pucli.estimators.density.adversarial_pairs import (
        BidirectionalGAN as BidirectionalGAN,
    )
    from pucli.estimators.density.plummer import (
        AdversarialAutoencoder as AdversarialAutoencoder,
    )
    from pucli.estimators.density.plummer import (
        CoulombGAN as CoulombGAN,
    )
    from pucli.estimators.density.plummer import (
        PlummerAutoencoder as PlummerAutoencoder,
    )
    from pucli.estimators.density.plummer import (
        VariationalAutoencoder as VariationalAutoencoder,
    )
    from pucli.estimators.density.plummer import (
        WassersteinGAN as WassersteinGAN,
    )
    from pucli.estimators.global_local.cpb import CPBGLPUAL as CPBGLPUAL
    from pucli.estimators.global_local.elastic import EKFGLPUAL as EKFGLPUAL
    from pucli.estimators.global_local.elastic import ElasticGLPUAL as ElasticGLPUAL
    from pucli.estimators.global_local.glpual import GLLC as GLLC
    from pucli.estimators.global_local.glpual import GLPUAL as GLPUAL
    from pucli.estimators.global_local.svm import BLSSVM as BLSSVM
    from pucli.estimators.global_local.svm import BSVM as BSVM
    from pucli.estimators.safe.dress import DRESS as DRESS
    from pucli.estimators.safe.gaussian_mcpl import GaussianMCPL as GaussianMCPL
    from pucli.estimators.safe.implicit_lda import ICLDA as ICLDA
    from pucli.estimators.safe.lda_baselines import EMLDA as EMLDA
    from pucli.estimators.safe.lda_baselines import SelfTrainingLDA as SelfTrainingLDA
    from pucli.estimators.safe.least_squares import CPLS as CPLS
    from pucli.estimators.safe.least_squares import ICLS as ICLS
    from pucli.estimators.safe.least_squares import LeastSquares as LeastSquares
    from pucli.estimators.safe.mcpl import MCPL as MCPL
    from pucli.estimators.safe.mcpl import MCPLLDA as MCPLLDA
    from pucli.estimators.safe.mcpl import MCPLQDA as MCPLQDA
    from pucli.estimators.semi_supervised.classtering import Classtering as Classtering
    from pucli.estimators.semi_supervised.constrained_kmeans import ConstrainedKMeans as ConstrainedKMeans
    from pucli.estimators.semi_supervised.label_spreading import LabelSpreading as LabelSpreading
    from pucli.estimators.semi_supervised.laplacian_svm import LaplacianSVM as LaplacianSVM
    from pucli.estimators.semi_supervised.low_density import LowDensitySeparation as LowDensitySeparation
    from pucli.estimators.unbiased.naive_svc import NaiveSVC as NaiveSVC
    from pucli.estimators.unbiased.ramp import RampPU as RampPU
    from pucli.estimators.unbiased.upu import NNPU as NNPU
    from pucli.estimators.unbiased.upu import UPU as UPU
    from pucli.estimators.unbiased.usmo import USMO as USMO


def __getattr__(name: str) -> Any:
    from pucli.methods import METHODS, estimator_class

    if name == "__all__":  # for `import *`
        return __dir__()
    for method in METHODS.values():
        if method.estimator.endswith(f":{name}"):
            return estimator_class(method)
    raise AttributeError(f"module 'pucli.estimators' has no attribute {name!r}")


def __dir__() -> list[str]:
    from pucli.methods import METHODS

    return sorted({method.estimator.split(":")[1] for method in METHODS.values()})
