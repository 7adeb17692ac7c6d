"""The entry of the list of methods; the estimator is imported when it is used."""

from pucli.methods import Method

CENTROID = Method(
    name="centroid",
    estimator="pucli_example.centroid:Centroid",
    kind="pu",
    source="half way between two means",
    grid={"shift": [-0.5, 0.0, 0.5]},
    regularization={"shift": 1},
    refine=("shift",),
)
