"""``--backend dask`` of `pucli train` and `pucli auto`: training on blocks of Parquet files."""

from __future__ import annotations

import glob
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pucli.cli import completion
from pucli.cli.options import choice
from pucli.cli.output import Output, output_file, output_folder
from pucli.cli.row_options import FileRows
from pucli.cli.terminal import duration, number
from pucli.core.errors import UsageError
from pucli.core.processes import dask_client

if TYPE_CHECKING:
    from pucli.distributed.auto import BlockAuto
    from pucli.distributed.blocks import Block, ColumnNames
    from pucli.distributed.dask_runner import DaskRunner
    from pucli.distributed.training import BlockModel
    from pucli.methods import Method
    from pucli.models.auto.summary import Findings

BACKENDS = ("local", "dask")
Engine = Annotated[
    str,
    typer.Option(
        "--backend",
        help="local, or dask for many Parquet files ('folder/*.parquet'), on this machine or the scheduler at "
        "DASK_SCHEDULER_ADDRESS.",
        autocompletion=completion.completer(*BACKENDS),
    ),
]
Predictions = Annotated[
    Path | None, typer.Option("--predictions", metavar="DIR", help="With --backend dask: folder for predictions.")
]


@dataclass(frozen=True)
class TrainedInBlocks:
    """A model of `pucli train --backend dask`."""

    method: str
    rows: int
    labeled: int
    unlabeled: int
    blocks: int
    features: int
    params: dict[str, Any]
    lam: float
    c_u: float
    objective: float
    dual_gap: float
    positive_share: float
    labeled_recall: float
    prior: float
    threshold: float
    seconds: float
    model: Path | None
    predictions: list[str]


@dataclass(frozen=True)
class Backend:
    """Options that say where a model is trained."""

    backend: Engine = "local"
    predictions: Predictions = None

    @property
    def in_blocks(self) -> bool:
        """Whether to train in blocks; raise UsageError for an unknown backend or options of the other one."""
        if choice("backend", self.backend, BACKENDS) == "dask":
            return True
        if self.predictions is not None:
            raise UsageError("--predictions needs --backend dask; use `pucli predict` for a single file.")
        return False

    def blocks(self, where: FileRows) -> tuple[list[Block], ColumnNames]:
        """Return the blocks and the columns of --data, after checking the options that blocks do not support."""
        from pucli.distributed.blocks import ColumnNames, find_blocks, numeric_columns

        if where.positives_from is not None:
            raise UsageError("--backend dask needs --label, a column of the files; leave out --positives-from.")
        if where.file is None or where.label is None:
            raise UsageError("--backend dask needs --data 'folder/*.parquet' and --label COLUMN.")
        if len(where.files) > 1:
            raise UsageError("--backend dask takes one --data; name several files as 'folder/*.parquet'.")
        if words := where.reading(()).words:
            raise UsageError(f"{words} cannot be used with --backend dask, which reads Parquet files.")
        if where.kinds or where.ids or where.groups or where.negative or where.rows:
            raise UsageError(
                "--as, --id, --groups, --negative and --rows cannot be used with --backend dask, which reads "
                "numeric files."
            )
        if len(where.positive or ()) > 1:
            raise UsageError("--backend dask takes one --positive, a value of the label column.")
        found = find_blocks(str(where.file))
        names = numeric_columns(found[0], where.label, where.drop or (), where.only or ())
        for block in first_blocks(found)[1:]:
            numeric_columns(block, where.label, (), names)
        if self.predictions is not None:
            seen: dict[str, str] = {}
            for block in first_blocks(found):
                other = seen.setdefault(Path(block.path).name, block.path)
                if other != block.path:
                    raise UsageError(
                        f"--predictions {self.predictions}: {other} and {block.path} have one name, and "
                        "the predictions of one would replace those of the other; rename one of them."
                    )
            if any(Path(block.path).parent.resolve() == self.predictions.resolve() for block in found):
                raise UsageError(f"--predictions {self.predictions} is the folder of the data; give another one.")
            output_folder("--predictions", self.predictions)
            self.predictions.mkdir(parents=True, exist_ok=True)
        return found, ColumnNames(names, where.label, "".join(where.positive or ()))

    def predict(self, out: Output, runner: DaskRunner, blocks: list[Block], model: BlockModel | BlockAuto) -> list[str]:
        """Write one file of predictions per data file, on the workers, and return their paths.

        Without `--predictions`, nothing is written.
        """
        from pucli.distributed.blocks import write_predictions
        from pucli.distributed.training import class_names_of

        if self.predictions is None:
            return []
        out.if_interrupted = (
            f"Finished files in {self.predictions} stay, and nothing else was written; run the same command again."
        )
        of_file: dict[str, list[Block]] = {}
        for block in blocks:
            of_file.setdefault(block.path, []).append(block)
        words = class_names_of(model.labels, model.columns)
        folder = str(self.predictions.resolve())
        write = partial(write_predictions, model=model, columns=model.columns, folder=folder, words=words)
        try:
            return runner.each(write, list(of_file.items()))
        finally:
            for path in of_file:  # of workers that were killed while they wrote
                for file in self.predictions.glob(f".{glob.escape(Path(path).name)}.*"):
                    if re.fullmatch("[0-9a-f]+", file.suffix[1:]):
                        file.unlink(missing_ok=True)


def first_blocks(blocks: list[Block]) -> list[Block]:
    """Return the first block of each file."""
    return list({block.path: block for block in reversed(blocks)}.values())[::-1]


def train_in_blocks(
    out: Output,
    entry: Method,
    where: FileRows,
    params: Mapping[str, Any],
    backend: Backend,
    *,
    folds: int | None,
    standardize: bool,
    model: Path | None,
) -> None:
    """Train on the files that match --data, save the model and write predictions."""
    from pucli.distributed.dask_runner import DaskRunner
    from pucli.distributed.training import METHOD, train_on_blocks
    from pucli.models.saved import save_model

    if entry.name != METHOD:
        raise UsageError(
            f"--backend dask trains {METHOD}, whose fit is a sum over rows; {entry.name} needs all rows at once."
        )
    blocks, columns = backend.blocks(where)
    output_file("--model", model, *(Path(block.path) for block in first_blocks(blocks)))
    grid = {key: values for key, values in entry.grid.items() if key not in params} if folds else None
    started = time.perf_counter()
    with dask_client() as client:
        runner = DaskRunner(client)
        fitted = train_on_blocks(runner, blocks, columns, params, standardize=standardize, grid=grid, folds=folds or 0)
        seconds = time.perf_counter() - started
        files = backend.predict(out, runner, blocks, fitted)
        if model is not None:
            save_model(model, fitted.to_save(str(where.file)))
    _say_of_columns(out, where, fitted)
    _report(out, fitted, blocks, seconds, model, files)


def _say_of_columns(out: Output, where: FileRows, fitted: BlockModel | BlockAuto) -> None:
    """Warn about suspicious columns; say which class was taken for the labeled positives if none is named."""
    from pucli.cli.text.columns import say_which_class
    from pucli.distributed.training import class_names_of

    for line in fitted.checked.warnings:
        out.warn(line)
    if where.positive is None:
        rest, marked = class_names_of(fitted.labels, fitted.columns)
        say_which_class(out, marked, rest, fitted.columns.label, fitted.labels[marked])


def auto_in_blocks(
    out: Output, where: FileRows, params: dict[str, Any], backend: Backend, boosting: bool, model: Path | None
) -> tuple[Findings, Sequence[str], dict[str, Any]]:
    """Train `AutoPU` on the files that match --data, save it and write predictions."""
    from pucli.distributed.auto import auto_on_blocks
    from pucli.distributed.dask_runner import DaskRunner
    from pucli.models.auto.summary import Findings
    from pucli.models.saved import save_model

    blocks, columns = backend.blocks(where)
    output_file("--model", model, *(Path(block.path) for block in first_blocks(blocks)))
    started = time.perf_counter()
    with dask_client() as client:
        runner = DaskRunner(client)
        fitted = auto_on_blocks(runner, blocks, columns, params, runner.client if boosting else None)
        seconds = time.perf_counter() - started
        files = backend.predict(out, runner, blocks, fitted)
        if model is not None:
            save_model(model, fitted.to_save(str(where.file)))
    n, n_p = sum(block.rows for block in blocks), fitted.labels[fitted.columns.positive]
    _say_of_columns(out, where, fitted)
    found = Findings(
        fitted.estimator, n_p, n - n_p, fitted.called_positive, fitted.random_labeling, fitted.checked.leaks
    )
    members = "and boosted trees, without forests" if boosting else "alone, without trees"
    notes = [f"trained on blocks: kernel ridge regressions {members}"]
    about = {"data": {"file": str(where.file)}, "notes": notes, "seconds": seconds, "blocks": len(blocks)}
    return found, columns.features, about | {"predictions": files}


def _report(
    out: Output, fitted: BlockModel, blocks: list[Block], seconds: float, model: Path | None, files: list[str]
) -> None:
    estimator, n = fitted.estimator, sum(block.rows for block in blocks)
    n_p = fitted.labels[fitted.columns.positive]
    params = {key: value for key, value in estimator.get_params().items() if value is not None}
    out.document(
        TrainedInBlocks(
            method="blssvm",
            rows=n,
            labeled=n_p,
            unlabeled=n - n_p,
            blocks=len(blocks),
            features=len(fitted.columns.features),
            params=params,
            lam=estimator.lam_,
            c_u=estimator.c_u_,
            objective=estimator.objective_,
            dual_gap=estimator.dual_gap_,
            positive_share=estimator.positive_share_,
            labeled_recall=estimator.labeled_recall_,
            prior=fitted.prior,
            threshold=fitted.threshold,
            seconds=seconds,
            model=model,
            predictions=files,
        )
    )
    out.text(f"blssvm on {len(blocks)} blocks")
    share, recall = estimator.positive_share_, estimator.labeled_recall_
    out.fields(
        [
            ("rows", f"{n}: {n_p} labeled, {n - n_p} unlabeled"),
            ("features", len(fitted.columns.features)),
            ("parameters", ", ".join(f"{key}={number(value)}" for key, value in params.items())),
            (
                "flagged",
                f"{100 * share:.3g}% of the unlabeled rows, {100 * recall:.3g}% of the labeled ones",
            ),
            ("objective", estimator.objective_),
            ("certificate", f"proven: less than {estimator.dual_gap_:.2g} from the optimum"),
            ("class prior by the scores", f"{fitted.prior:.3g}: the score threshold is {fitted.threshold:.3g}"),
            ("training time", duration(seconds)),
            ("model", model),
            ("predictions", f"{len(files)} files in {Path(files[0]).parent}" if files else None),
        ]
    )
