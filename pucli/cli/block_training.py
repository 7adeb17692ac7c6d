"""``pucli train --backend dask``: training on blocks of Parquet files with the workers of a cluster."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pucli.cli.options import Rows
from pucli.cli.output import Output, number
from pucli.errors import UsageError

if TYPE_CHECKING:
    from pucli.backends.blocks import Block
    from pucli.backends.dask_runner import DaskRunner
    from pucli.backends.training import BlockModel
    from pucli.methods import Method

BACKENDS = ("local", "dask")


def check_backend(backend: str, scheduler: str | None, predictions: Path | None) -> bool:
    """Return whether to train in blocks; raise UsageError for an unknown backend or options of the other one."""
    from pucli.cli.options import choice

    if choice("backend", backend, BACKENDS) == "dask":
        return True
    if scheduler is not None:
        raise UsageError("--scheduler is the address of a Dask scheduler; add --backend dask.")
    if predictions is not None:
        raise UsageError("--predictions needs --backend dask; use `pucli predict` for a single file.")
    return False


def train_in_blocks(
    out: Output,
    entry: Method,
    where: Rows,
    params: Mapping[str, Any],
    *,
    scheduler: str | None,
    tune: bool,
    folds: int,
    standardise: bool,
    model: Path | None,
    predictions: Path | None,
) -> None:
    """Train on the files that match --data, save the model, and write predictions beside the blocks."""
    from pucli.backends.blocks import Columns, find_blocks, numeric_columns
    from pucli.backends.dask_runner import dask_runner
    from pucli.backends.training import METHOD, train_on_blocks
    from pucli.persistence import save_model

    if entry.name != METHOD:
        raise UsageError(
            f"--backend dask trains {METHOD}, whose fit is a sum over rows; {entry.name} needs all rows at once."
        )
    if where.data is None or where.label is None:
        raise UsageError("--backend dask needs --data 'folder/*.parquet' and --label COLUMN.")
    if where.kinds or where.ids or where.rows or where.split:
        raise UsageError(
            "--as, --id, --rows and --split cannot be used with --backend dask, which reads numeric files."
        )
    blocks = find_blocks(str(where.data))
    columns = Columns(
        numeric_columns(blocks[0], where.label, where.drop or (), where.only or ()), where.label, where.positive or ""
    )
    if predictions is not None:
        if any(Path(block.path).parent.resolve() == predictions.resolve() for block in blocks):
            raise UsageError(f"--predictions {predictions} is the folder of the data; give another one.")
        predictions.mkdir(parents=True, exist_ok=True)
    grid = {key: values for key, values in entry.grid.items() if key not in params} if tune else None
    started = time.perf_counter()
    with dask_runner(scheduler) as runner:
        fitted = train_on_blocks(runner, blocks, columns, params, standardise=standardise, grid=grid, folds=folds)
        seconds = time.perf_counter() - started
        if model is not None:
            save_model(model, fitted.to_save(str(where.data)))
        files = [] if predictions is None else _predict(runner, blocks, fitted, predictions)
    _report(out, fitted, blocks, seconds, model, files)


def _predict(runner: DaskRunner, blocks: list[Block], fitted: BlockModel, folder: Path) -> list[str]:
    """Write one file of predictions per data file, on the workers, and return their paths."""
    from pucli.backends.blocks import write_predictions

    of_file: dict[str, list[Block]] = {}
    for block in blocks:
        of_file.setdefault(block.path, []).append(block)
    write = partial(
        _write_file,
        write_predictions,
        columns=fitted.columns,
        features=fitted.features,
        coef=fitted.coef,
        folder=str(folder.resolve()),
        words=fitted.words,
    )
    return runner.each(write, list(of_file.items()))


def _write_file(write: Any, item: tuple[str, list[Block]], **settings: Any) -> str:
    path, blocks = item
    return str(write(path, blocks, **settings))


def _report(
    out: Output, fitted: BlockModel, blocks: list[Block], seconds: float, model: Path | None, files: list[str]
) -> None:
    estimator, n = fitted.estimator, sum(block.rows for block in blocks)
    n_p = fitted.labels[fitted.columns.positive]
    params = {key: value for key, value in estimator.get_params().items() if value is not None}
    document = {
        "method": "blssvm",
        "rows": n,
        "labelled": n_p,
        "unlabeled": n - n_p,
        "blocks": len(blocks),
        "features": len(fitted.columns.features),
        "params": params,
        "lam": estimator.lam_,
        "c_u": estimator.c_u_,
        "objective": estimator.objective_,
        "dual_gap": estimator.dual_gap_,
        "positive_share": estimator.positive_share_,
        "labelled_recall": estimator.labelled_recall_,
        "prior": fitted.prior,
        "cut": fitted.cut,
        "seconds": seconds,
        "model": model,
        "predictions": files,
    }
    out.document(document)
    out.text(f"blssvm on {len(blocks)} blocks")
    share, recall = estimator.positive_share_, estimator.labelled_recall_
    out.fields(
        [
            ("rows", f"{n}: {n_p} labelled, {n - n_p} unlabeled"),
            ("features", len(fitted.columns.features)),
            ("parameters", ", ".join(f"{key}={number(value)}" for key, value in params.items())),
            (
                "called positive",
                f"{100 * share:.3g} % of the unlabeled rows, {100 * recall:.3g} % of the labelled ones",
            ),
            ("objective", estimator.objective_),
            ("certificate", f"proven to be within {estimator.dual_gap_:.2g} of the optimum"),
            ("prior by the scores", f"{fitted.prior:.3g}: the score threshold is {fitted.cut:.3g}"),
            ("training time", f"{seconds:.3f} s"),
            ("model", model),
            ("predictions", f"{len(files)} files in {Path(files[0]).parent}" if files else None),
        ]
    )
