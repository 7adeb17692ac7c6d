"""Predictions of a saved model for the rows of a file, in blocks.

A file of any length needs the memory of one block. Blocks do not depend on the format of the file (see
`pucli.data.rows.blocks`), so neither do the predictions, to the last bit.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pucli.core.arrays import AnyArray, Floats
from pucli.core.errors import UsageError
from pucli.data.columns.cells import TableError
from pucli.data.columns.drift import DriftCounter
from pucli.data.columns.encoder import TableEncoder
from pucli.data.files.table import Table
from pucli.data.files.tables import files_of, title_of
from pucli.data.reading import Reading
from pucli.data.rows.blocks import BLOCK, read_blocks
from pucli.data.rows.row_hashes import RowCounter, row_hashes
from pucli.data.rows.tables import MissingColumn
from pucli.data.rows.user_file import FLAGGED, OWN_COLUMNS, fitted_width, only_wide
from pucli.estimators.base.pu import has_own_probabilities
from pucli.models.reasons import WHY, Explainer, in_columns
from pucli.models.scores import checked_scores, clusters, decision_values

if TYPE_CHECKING:
    from pucli.models.saved import SavedModel


def predicted_blocks(
    saved: SavedModel,
    path: Path | Sequence[Path],
    *,
    how: Reading | None = None,
    ids: Sequence[str] = (),
    optional: Collection[str] = (),
    tally: DriftCounter | None = None,
    trained: RowCounter | None = None,
    why: Why | None = None,
) -> Iterator[pd.DataFrame]:
    """Predict the labels of the rows of a file."""
    check_ids(ids, OWN_COLUMNS if why is None else (*OWN_COLUMNS, *WHY))
    how = saved.reading if how is None else how
    encoder = saved.table_encoder.written_with(how.decimal)
    how = replace(how, formed=encoder.formed)
    counted = DriftCounter() if tally is None else tally
    if encoder.sparse_:
        yield from _sparse_blocks(saved, files_of(path), how, ids, trained)
        return
    unused = sorted(encoder.empty_in_training.difference(ids))
    needed = list(dict.fromkeys([*encoder.needed, *ids, *unused]))
    start = 0
    as_text = {*encoder.read_as_text, *ids}
    lackable = {*optional, *unused}.difference(encoder.needed)
    blocks = read_blocks(files_of(path), needed, as_text=as_text, rows=BLOCK, how=how, keep=ids, optional=lackable)
    for table in _naming_model(blocks, encoder):
        counted.place, counted.offset = table.place, start
        frame = table.frame
        if len(frame) == 0:
            continue
        try:
            X = encoder.transform(frame, counted)
        except TableError as error:
            raise UsageError(f"{title_of(files_of(path))}: {error}") from error
        _count(trained, X)
        found: dict[str, Any] = {"row": np.arange(start + 1, start + len(frame) + 1)}
        found |= {name: frame[name].array for name in ids}
        found |= _predicted(saved, X, start)
        if why is not None:
            found |= why.of(X, found)
        yield pd.DataFrame(found)
        start += len(frame)
    if not start:
        empty = _no_predictions(saved, ids)
        yield empty if why is None else empty.assign(**dict.fromkeys(WHY, ""))


def _naming_model(blocks: Iterable[Table], encoder: TableEncoder) -> Iterator[Table]:
    """Yield the blocks; the error about a missing feature column names the model file."""
    try:
        yield from blocks
    except MissingColumn as error:
        if error.column not in encoder.needed:
            raise
        raise MissingColumn(f"{error}{encoder.origin}", error.path, error.column) from error


@dataclass(frozen=True)
class Why:
    """Reasons for the scores of rows, or of the `most` likeliest of each block, as texts or as values."""

    explainer: Explainer
    most: int | None = None
    as_values: bool = False

    def of(self, X: Floats, found: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
        """Return the columns why and most_like of n encoded rows, empty where none are asked for."""
        if "score" not in found:
            raise UsageError("--why needs scores, but this model predicts only labels")
        chosen = np.argsort(-np.asarray(found["score"]), kind="stable")[: self.most]
        return in_columns(self.explainer.of(X[chosen]), chosen, len(X), as_values=self.as_values)


def _no_predictions(saved: SavedModel, ids: Sequence[str]) -> pd.DataFrame:
    row = np.zeros((1, len(saved.table_encoder.get_feature_names_out())))
    found: dict[str, Any] = {"row": np.ones(1, dtype=np.int64)}
    found |= {name: pd.Series([None], dtype="str") for name in ids}
    return pd.DataFrame(found | _predicted(saved, row, 0)).iloc[:0]


def with_threshold_at_share(
    saved: SavedModel, path: Path | Sequence[Path], share: float, how: Reading | None = None
) -> SavedModel:
    """Return a model of `pucli auto` that predicts a share of the rows of a file positive; reads the file once."""
    from sklearn.pipeline import Pipeline

    scores = np.sort(np.concatenate([block["score"].to_numpy() for block in predicted_blocks(saved, path, how=how)]))[
        ::-1
    ]
    if not len(scores):
        return saved
    name, model = saved.pipeline.steps[-1]
    k = round(share * len(scores))
    # beyond the first or the last score by more than the rounding of scores
    apart = 8.0 * float(np.spacing(max(abs(model.threshold_), *np.abs(scores[[0, -1]]))))
    if 0 < k < len(scores):
        middle = float(0.5 * (scores[k - 1] + scores[k]))
    else:
        middle = float(scores[-1] - apart if k else scores[0] + apart)
    moved = copy.copy(model)
    moved.threshold_ = model.threshold_ + middle
    return replace(saved, pipeline=Pipeline([*saved.pipeline.steps[:-1], (name, moved)]))


def _count(trained: RowCounter | None, X: Any) -> None:
    if trained is not None:
        trained.add(row_hashes(X, np.zeros(X.shape[0], dtype=bool)))


def _sparse_blocks(
    saved: SavedModel, files: Sequence[Path], how: Reading, ids: Sequence[str], trained: RowCounter | None
) -> Iterator[pd.DataFrame]:
    """Predict the rows of a LIBSVM file, which is read at once as a sparse matrix."""
    if ids:
        raise UsageError("--id needs a table; a LIBSVM file has no identifier columns")
    X = fitted_width(only_wide(files, how).X, saved.table_encoder.n_features_in_)
    for start in range(0, X.shape[0], BLOCK):
        block = X[start : start + BLOCK]
        _count(trained, block)
        numbered = {"row": np.arange(start + 1, start + block.shape[0] + 1)}
        yield pd.DataFrame(numbered | _predicted(saved, block, start))


def check_ids(ids: Sequence[str], taken: Sequence[str] = OWN_COLUMNS) -> None:
    """Raise UsageError if an identifier has the name of a column of predictions."""
    for name in ids:
        if name in taken:
            raise UsageError(f"--id {name}: the predictions have a column of that name; rename it in the file")


def _predicted(saved: SavedModel, X: Floats, start: int) -> dict[str, AnyArray]:
    """Return the columns of predictions for encoded rows; `start` rows come before them."""
    pipeline, words = saved.pipeline, saved.metadata.get("words", {})
    if hasattr(model := pipeline[-1], "score_rows"):  # label, score and probability of `auto` follow from one score
        raw = model.score_rows(pipeline[:-1].transform(X) if len(pipeline) > 1 else X)
        scores, probability = raw - model.threshold_, model.probability_of(raw)
        predicted = model.classes_[(scores > 0).astype(int)]
    else:
        predicted, scores = pipeline.predict(X), decision_values(pipeline, X)
        probability = probabilities(saved, X, scores)
    labels, place = np.unique(predicted, return_inverse=True)
    named = np.array([words.get(str(label), str(label)) for label in labels.tolist()], dtype=object)
    found: dict[str, AnyArray] = {"prediction": named[place]}
    if words.get("0") == "":
        found[FLAGGED] = named[place] != ""
    groups = clusters(pipeline, X)
    if scores is not None:
        found["score"] = scores
    if probability is not None:
        found["probability"] = probability
    if has_own_probabilities(pipeline):
        if hasattr(pipeline[-1], "probability_range"):
            found |= _range(saved, *pipeline[-1].probability_range(found["probability"]))
    elif scores is not None and (curves := saved.metadata.get("probability")) and curves["low"] != curves["high"]:
        found |= _range(saved, *(np.interp(scores, curves["scores"], curves[end]) for end in ("low", "high")))
    if groups is not None:
        found["cluster"] = groups
    for name in found:
        if name == "score" or name.startswith("probability"):
            found[name] = checked_scores(found[name], name.replace("_", " "), start, share=name != "score")
    return found


def probabilities(saved: SavedModel, X: Floats, scores: Floats | None) -> Floats | None:
    """Return the probabilities (n,) that predictions have: of the last of two classes, else of the predicted class."""
    if has_own_probabilities(saved.pipeline):
        shares = np.asarray(saved.pipeline.predict_proba(X), dtype=np.float64)
        return shares[:, -1] if shares.shape[1] == 2 else np.asarray(shares.max(axis=1))
    curves = saved.metadata.get("probability")
    return np.interp(scores, curves["scores"], curves["probability"]) if curves and scores is not None else None


def _range(saved: SavedModel, low: Floats, high: Floats) -> dict[str, AnyArray]:
    """Return the range of the probabilities; if a column gave the label away in training, nothing is known of them."""
    leaky = bool(saved.metadata.get("leaks"))
    return {
        "probability_low": np.zeros(len(low)) if leaky else low,
        "probability_high": np.ones(len(high)) if leaky else high,
    }


def top_rows(blocks: Iterable[pd.DataFrame], count: int) -> pd.DataFrame:
    """Return the rows with the highest scores in descending order; ties are in the order of the file."""
    best: pd.DataFrame | None = None
    for block in blocks:
        if "score" not in block and "probability" not in block:
            raise UsageError("--top needs scores, but this model predicts only labels")
        by = "score" if "score" in block else "probability"
        joined = block if best is None else pd.concat([best, block], ignore_index=True)
        best = joined.iloc[np.argsort(-joined[by].to_numpy(), kind="stable")[:count]]
    assert best is not None  # a file without rows is refused by its reader
    return best.reset_index(drop=True)
