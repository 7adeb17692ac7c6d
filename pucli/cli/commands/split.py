"""``pucli split``: write repeated splits of a data set to a file for ``train``, ``tune`` and ``evaluate``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from pucli.cli import completion
from pucli.cli.options import Scenario, Seed, TrueLabelFrequency, choice
from pucli.cli.output import Output, output_file
from pucli.cli.row_options import EXAMPLE, announce_example
from pucli.core.errors import shell_word

EXAMPLES = """
pucli split wifi
pucli split wifi --scenario single-training-set --label-frequency 0.25 --repeats 10 --seed 7 --out wifi.json
pucli train --method glpual --dataset wifi --split wifi.json --repeat 3
"""

LABELINGS = ("scar", "sar-feature", "sar-score", "sar-lbe-a", "sar-lbe-b", "sar-pusb")


@dataclass(frozen=True)
class Part:
    """Numbers of rows of one split."""

    repeat: int
    labeled: int
    unlabeled: int
    test: int


@dataclass(frozen=True)
class Splits:
    """Splits of a data set, written to a file."""

    file: Path
    dataset: str
    scenario: str
    label_frequency: float
    seed: int
    labeling: str
    groups: int | None
    splits: list[Part]


def command(
    out: Output,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="Data set; `pucli list datasets` shows all.",
            autocompletion=completion.datasets,
            show_default=EXAMPLE,
        ),
    ] = None,
    scenario: Scenario = "case-control",
    label_frequency: TrueLabelFrequency = 0.5,
    labeling: Annotated[
        str,
        typer.Option(
            "--labeling",
            help="Which positives are labeled: scar (at random), sar-feature, sar-score, or sar-lbe-a, sar-lbe-b or "
            "sar-pusb of PU-Bench.",
            autocompletion=completion.completer(*LABELINGS),
        ),
    ] = "scar",
    repeats: Annotated[int, typer.Option("--repeats", help="Number of splits.", min=1)] = 10,
    seed: Seed = 0,
    destination: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write.", show_default="NAME-splits.json")
    ] = None,
) -> None:
    """Split a data set into labeled, unlabeled and test rows.

    case-control: the labeled positives are one sample and the unlabeled rows another; the test set is drawn from the
    unlabeled rows. single-training-set: all rows are one sample, and some positives of its training part are labeled.
    In both, the label frequency is the share of the training positives that are labeled. With --labeling sar-feature
    or sar-score, labeled positives are not a random sample: a positive's chance of being labeled grows with a random
    combination of its features, or with how clearly it is positive. The other three are the mechanisms S2 to S4 of
    PU-Bench: clear positives first, doubtful positives first, and clear ones accepted more often.
    """
    from pucli.data import dataset_key, load_dataset, repeated_splits, save_splits

    choice("labeling", labeling, LABELINGS)
    if name is None:
        announce_example(out, "pucli split NAME (`pucli list datasets`)")
        name = EXAMPLE
    path = destination or Path(f"{dataset_key(name)}-splits.json")
    output_file("--out", path)
    dataset = load_dataset(name)
    biased = {} if labeling == "scar" else {"labeling": labeling, "X": dataset.X}
    together = {} if dataset.groups is None else {"groups": dataset.groups}
    splits = repeated_splits(
        scenario, dataset.y, label_frequency, repeats=repeats, seed=seed, name=dataset.name, **biased, **together
    )
    settings: dict[str, Any] = {
        "scenario": scenario,
        "label_frequency": label_frequency,
        "seed": seed,
        "labeling": labeling,
    }
    if dataset.groups is not None:
        settings["groups"] = int(dataset.groups.max()) + 1
    save_splits(
        path, splits, dataset=dataset.name, content_sha256=dataset.content_sha256, rows=len(dataset.y), **settings
    )
    parts = [
        Part(repeat, int(split.s.sum()), len(split.train) - int(split.s.sum()), len(split.test))
        for repeat, split in enumerate(splits)
    ]
    out.document(Splits(path, dataset.name, **{"groups": None, **settings}, splits=parts))
    out.table([one.name for one in fields(Part)], [list(vars(part).values()) for part in parts])
    out.text(f"written to {path}")
    out.remark(f"Next: pucli train --method glpual --dataset {dataset.name} --split {shell_word(path)}")
