"""``pucli advise``: which method of the GLPUAL family suits a data set, and why (Wang 2024, Figure 6.1)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pucli.cli import options as opt
from pucli.cli.output import Output
from pucli.errors import UsageError

if TYPE_CHECKING:
    from pucli.cli.training_rows import TrainingRows

EXAMPLES = """
pucli advise --data customers.csv --label bought --positive yes
pucli advise --dataset wifi --label-frequency 0.25 --plot wifi.png
pucli advise --dataset hd --prior 0.4
"""


def command(
    out: Output,
    dataset: opt.DatasetName = None,
    data: opt.DataFile = None,
    label: opt.LabelColumn = None,
    positive: opt.PositiveValue = None,
    prior: Annotated[
        float | None,
        typer.Option("--prior", help="Share of positives among unlabeled rows, if you know it.", show_default=False),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", help="Write a t-SNE picture of the rows to this file (png, svg, pdf).", show_default=False
        ),
    ] = None,
    scenario: opt.Scenario = "case-control",
    label_frequency: opt.LabelFrequency = 0.5,
    seed: opt.Seed = 0,
    split: opt.SplitFile = None,
    repeat: opt.Repeat = 0,
    mirror: opt.Mirror = None,
    offline: opt.Offline = False,
) -> None:
    """Say which method to try first.

    Asks what the flowchart of the GLPUAL thesis asks: are the positives in two parts around the negatives, are there
    many irrelevant features, is the class prior known. The answers come from labelled and unlabeled rows alone.
    """
    from pucli.cli.training_rows import DataOptions, training_rows
    from pucli.estimators.advise import advise
    from pucli.methods import get_method

    if prior is not None and not 0 < prior < 1:
        raise UsageError(f"--prior must be above 0 and below 1, not {prior}; `pucli prior` estimates it.")
    if plot is not None and plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise UsageError(f"--plot {plot}: the file's ending must be .png, .svg or .pdf.")
    where = DataOptions(dataset, data, label, positive, scenario, label_frequency, seed, split, repeat, mirror, offline)
    rows = training_rows(get_method("glpual"), where)
    found = advise(rows.X, rows.y == 1, prior, seed)
    source = f"--dataset {dataset}" if dataset else f"--data {data} --label {label}"
    source += f" --positive {positive}" if positive else ""
    words = "".join(f" --param {key}={value}" for key, value in found.params.items())
    next_command = f"pucli tune --method {found.method} {source}{words}"
    irrelevant = [name for name, out_of_use in zip(rows.feature_names, found.irrelevant, strict=True) if out_of_use]
    out.document(
        {
            "data": rows.about,
            "trifurcated": found.trifurcated,
            "silhouette": found.silhouette,
            "between": found.between,
            "irrelevant": irrelevant,
            "prior": prior,
            "method": found.method,
            "params": found.params,
            "reasons": found.reasons,
            "command": next_command,
            "plot": plot,
        }
    )
    out.text(f"{rows.title}: try {found.method}")
    for reason in found.reasons:
        out.text(f"- {reason}")
    if irrelevant:
        out.text(f"features like noise: {', '.join(irrelevant[:12])}{' ...' if len(irrelevant) > 12 else ''}")
    out.text(next_command)
    if plot is not None:
        _picture(rows, plot, seed)
        out.remark(f"written to {plot}")


def _picture(rows: TrainingRows, path: Path, seed: int) -> None:
    """Write the t-SNE map of the rows, labelled ones as triangles."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np
    from sklearn.manifold import TSNE
    from sklearn.preprocessing import StandardScaler

    perplexity = float(np.clip(len(rows.X) / 8, 5, 50))
    scaled = StandardScaler().fit_transform(rows.X)
    points = TSNE(perplexity=perplexity, init="pca", random_state=seed).fit_transform(scaled)
    labelled = rows.y == 1
    figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
    axes.scatter(points[~labelled, 0], points[~labelled, 1], s=10, c="tab:gray", label="unlabeled")
    axes.scatter(points[labelled, 0], points[labelled, 1], s=22, c="tab:red", marker="^", label="labelled positive")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(rows.title, fontsize=9)
    axes.legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)
