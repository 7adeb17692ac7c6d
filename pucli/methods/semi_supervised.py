"""Declarations of the methods that learn from some labels of every class."""

from __future__ import annotations

from pucli.methods.entry import Method

DECLARED = [
    Method(
        name="least-squares",
        estimator="pucli.estimators.safe.least_squares:LeastSquares",
        kind="semi-supervised",
        source="Bertazzi 2018, eq. 3.6",
        version=3,
        tried="1,000, safe-learning-curves",
        when="As the supervised baseline that the safe methods start from.",
        when_not="Unlabeled rows should help.",
    ),
    Method(
        name="icls",
        estimator="pucli.estimators.safe.least_squares:ICLS",
        kind="semi-supervised",
        source="Krijthe & Loog 2017; Bertazzi 2018, section 3.2",
        version=3,
        tried="1,000, safe-learning-curves",
        colour="orange",
        when="Two classes, least squares, and unlabeled rows that may help but should seldom do harm.",
        when_not="You need a guarantee for these very rows (take cpls).",
    ),
    Method(
        name="cpls",
        estimator="pucli.estimators.safe.least_squares:CPLS",
        kind="semi-supervised",
        source="Bertazzi 2018, Proposition 3.12",
        version=3,
        tried="10,000, bench semi_supervised",
        colour="blue",
        when=(
            "You need a least squares classifier that is never worse, in its own loss on all rows, than the "
            "supervised one."
        ),
        when_not="The gain matters more than the guarantee; it is small by design.",
    ),
    Method(
        name="iclda",
        estimator="pucli.estimators.safe.implicit_lda:ICLDA",
        kind="semi-supervised",
        source="Krijthe & Loog 2014; Bertazzi 2018, section 4.2.6",
        colour="sky",
        when="Linear discriminant analysis, and unlabeled rows that may help but should seldom do harm.",
        when_not="You need a guarantee for these very rows (take mcpl-lda).",
    ),
    Method(
        name="mcpl-lda",
        estimator="pucli.estimators.safe.mcpl:MCPLLDA",
        kind="semi-supervised",
        source="Loog 2016; Bertazzi 2018, section 5.2.2",
        tried="10,000, bench semi_supervised",
        when="Linear discriminant analysis is the right model and unlabeled rows must do no harm to its likelihood.",
        when_not="The classes have different covariances (take mcpl-qda).",
    ),
    Method(
        name="mcpl-qda",
        estimator="pucli.estimators.safe.mcpl:MCPLQDA",
        kind="semi-supervised",
        source="Bertazzi 2018, eq. 5.4-5.5",
        when="Each class has a covariance of its own and unlabeled rows must do no harm to the likelihood.",
        when_not="There are few labelled rows of some class; its covariance cannot be estimated.",
    ),
    Method(
        name="mcpl",
        estimator="pucli.estimators.safe.mcpl:MCPL",
        kind="semi-supervised",
        source="Bertazzi 2018, chapter 4",
        needs={
            "covariance": ({"family": ("gaussian-fixed",)},),
            "pseudo_rows": ({"family": ("bernoulli", "poisson")},),
        },
        colour="green",
        when=(
            "The classes follow another exponential family (counts, waiting times, ...), and unlabeled rows must do "
            "no harm."
        ),
        when_not="The features are Gaussian; mcpl-lda and mcpl-qda are made for that.",
    ),
    Method(
        name="em-lda",
        estimator="pucli.estimators.safe.lda_baselines:EMLDA",
        kind="semi-supervised",
        source="baseline: expectation maximisation for LDA",
        version=2,
        tried="1,000, safe-learning-curves",
        colour="red",
        when="As the peer without a guarantee; it gains where the model is right.",
        when_not="The model may be wrong; then unlabeled rows can do harm.",
    ),
    Method(
        name="self-training-lda",
        estimator="pucli.estimators.safe.lda_baselines:SelfTrainingLDA",
        kind="semi-supervised",
        source="baseline: scikit-learn's SelfTrainingClassifier on LDA",
        tried="1,000, safe-learning-curves",
        colour="purple",
        when="As the plain peer of the safe methods.",
        when_not="The first labels that it gives itself may be wrong; it never takes them back.",
    ),
    Method(
        name="classtering",
        estimator="pucli.estimators.semi_supervised.classtering:Classtering",
        kind="semi-supervised",
        source="Sansone 2018, chapter 2",
        version=2,
        tried="10,000, bench generative",
        needs=dict.fromkeys(("max_components", "starts"), ({"n_components": ("auto",)},)),
        colour="blue",
        when="Few labels of several classes, each of which may fall into several clusters whose number is not known.",
        when_not=(
            "There are many features and rows; each component is a mixture of factor analysers, and fits take long."
        ),
    ),
    Method(
        name="laplacian-svm",
        estimator="pucli.estimators.semi_supervised.laplacian_svm:LaplacianSVM",
        kind="semi-supervised",
        source="baseline: Belkin, Niyogi, Sindhwani 2006; Melacci and Belkin 2011",
        version=2,
        grid={"gamma_a": [0.005, 0.045, 0.5], "gamma_i": [0.005, 0.045, 0.5], "width": [0.1, 1.0, 10.0]},
        needs={"width": ({"kernel": ("rbf",)},)},
        kernel_copies=5,
        colour="purple",
        when="Rows of a class are connected through close neighbours, labelled or not.",
        when_not="Distances between rows mean nothing, or there are too many rows for a graph.",
    ),
    Method(
        name="lds",
        estimator="pucli.estimators.semi_supervised.low_density:LowDensitySeparation",
        kind="semi-supervised",
        source="baseline: Chapelle and Zien 2005",
        grid={"rho": [1.0, 2.0, 4.0, 8.0], "C": [0.1, 1.0, 10.0, 100.0], "sigma": [0.1, 1.0, 10.0]},
        kernel_copies=8,
        colour="sky",
        when="Classes lie in regions that paths of short steps connect, with gaps between them.",
        when_not="Classes overlap without a gap, or there are more than some thousand rows.",
    ),
    Method(
        name="label-spreading",
        estimator="sklearn.semi_supervised:LabelSpreading",
        kind="semi-supervised",
        source="baseline: scikit-learn's LabelSpreading",
        kernel_copies=3,
        colour="green",
        when="As the plain graph baseline.",
        when_not="New rows come later in great number; it is made for the rows at hand.",
    ),
]
