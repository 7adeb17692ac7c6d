"""Hashes to recognize training rows: of a whole table, and of single rows."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pucli.core.arrays import AnyArray, Bools, Floats

if TYPE_CHECKING:
    import pandas as pd

FINGERPRINT_ROWS = 10_000
# Hashes of rows that a model file keeps, of four bytes each: the smallest ones, which are a sample of the rows.
MOST_HASHES = 20_000
# Fewer known rows than this number and this share are no news; nor are as many as chance brings, see `RowCounter`.
FEWEST, LEAST_SHARE, DEVIATIONS = 3, 0.01, 4.0
# From this share on, labeled rows with an unlabeled twin are no accident.
TWINS = 0.05
# The same for labeled rows with a labeled twin, and the share of labeled ones among rows equal to labeled ones.
COPIES, ALIKE = 0.35, 0.8
_ODD, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


def fingerprints(X: Floats, y: AnyArray) -> dict[str, str]:
    """Return hashes of encoded rows X (n, m), of which at most 10,000 are looked at, and of their labels y (n,)."""
    n = X.shape[0]
    part = X if n <= FINGERPRINT_ROWS else X[np.linspace(0, n - 1, FINGERPRINT_ROWS).astype(int)]
    cells = part if isinstance(part, np.ndarray) else np.concatenate([part.data, part.indices])
    shape = repr((X.shape, len(y))).encode()
    return {
        "rows_sha256": hashlib.sha256(shape + np.ascontiguousarray(cells, dtype=np.float64).tobytes()).hexdigest(),
        "labels_sha256": hashlib.sha256(np.ascontiguousarray(y, dtype=np.int64).tobytes()).hexdigest(),
    }


def row_hashes(X: Any, labeled: Bools) -> AnyArray:
    """Return a hash (n,) of each row of X (n, m), dense or sparse; its lowest bit tells whether the row is labeled."""
    total = np.zeros(X.shape[0], dtype=np.uint64)
    weights = _mixed(np.arange(1, X.shape[1] + 1, dtype=np.uint64) * _ODD) | np.uint64(1)
    if isinstance(X, np.ndarray):
        for column, weight in zip(X.T, weights, strict=True):
            total += _bits(column) * weight
    else:
        rows = X.tocsr()
        numbers = np.repeat(np.arange(X.shape[0]), np.diff(rows.indptr))
        np.add.at(total, numbers, _bits(rows.data) * weights[rows.indices])
    found = (_mixed(total) >> np.uint64(32)).astype(np.uint32)
    return (found & ~np.uint32(1)) | labeled.astype(np.uint32)


def _bits(values: AnyArray) -> AnyArray:
    """Return numbers (n,) as integers that differ in their lower bits; 0 for both zeros."""
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)
    return bits ^ (bits >> np.uint64(32))


def _mixed(values: AnyArray) -> AnyArray:
    values = (values ^ (values >> np.uint64(30))) * _MIX
    mixed: AnyArray = values ^ (values >> np.uint64(27)) ^ (values << np.uint64(31))
    return mixed


def labeled_twins(X: Any, labeled: Bools) -> list[str]:
    """Return a warning if many labeled rows of X (n, m) occur again without a label, where rows seldom repeat."""
    hashes = row_hashes(X, labeled) >> np.uint32(1)
    marked, others = hashes[labeled], hashes[~labeled]
    twins, alike = np.isin(marked, others), len(others) - len(np.unique(others))
    count = int(twins.sum())
    if count < max(FEWEST, TWINS * len(marked)) or alike > LEAST_SHARE * len(others):
        return []
    return [
        f"{count} of {len(marked)} labeled rows occur again without a label. If these are the same cases, entered "
        "twice, leave one of each out: now they count as unlabeled too."
    ]


def repeated_labels(X: Any, labeled: Bools) -> str:
    """Return a warning if labeled rows of X (n, m) seem to be the same cases several times, else "".

    By chance equal rows may be labeled or not; copies of a case have one label. Held-out rows then have copies among
    the training rows, so that all estimates are too good.
    """
    _, group = np.unique(row_hashes(X, labeled) >> np.uint32(1), return_inverse=True)
    size, marked = np.bincount(group), np.bincount(group, weights=labeled)
    again = labeled & (marked[group] > 1)
    count, n_p = int(again.sum()), int(labeled.sum())
    if count < max(FEWEST, COPIES * n_p):
        return ""
    twins = labeled & (size[group] > 1)
    if ((marked[group] - 1) / (size[group] - 1).clip(1))[twins].mean() < ALIKE:
        return ""
    return (
        f"{count} of {n_p} labeled rows are equal to another labeled row, and few of the other rows equal to them "
        "are unlabeled, as if cases were entered several times. Then all estimates and all results on held-out rows "
        "are far too good: keep one row of each case"
    )


def repeated_ids(ids: pd.DataFrame, labeled: Bools) -> list[str]:
    """Return a warning if labeled rows (n,) have the same identifiers, the columns of `ids`, as other rows.

    Rows of one case are alike, though not equal. Empty identifiers are not compared.
    """
    known = (ids.notna() & (ids != "")).any(axis=1).to_numpy() if len(ids.columns) else np.zeros(len(ids), dtype=bool)
    if not (labeled & known).any():
        return []
    case = ids[known].groupby(list(ids.columns), dropna=False, sort=False).ngroup().to_numpy()
    marked = labeled[known]
    size, of_labeled = np.bincount(case), np.bincount(case, weights=marked)
    several, mixed = marked & (of_labeled[case] > 1), marked & (size > of_labeled)[case]
    named = f"{'column' if len(ids.columns) == 1 else 'columns'} {', '.join(map(repr, ids.columns))} (--id)"
    found, of = [], f"{labeled.sum()} labeled rows"
    if several.any():
        cases = len(np.unique(case[several]))
        found.append(
            f"{several.sum()} of {of} belong to only {cases} case{'s' * (cases > 1)}. Held-out rows then have rows of "
            "the same case among the training rows, so that all estimates and all results on held-out rows are too good"
        )
    if mixed.any():
        found.append(f"the cases of {mixed.sum()} of {of} have rows without a label too, which count as unlabeled")
    return [f"{named}: {'; '.join(found)}: keep one row of each case."] if found else []


def row_fingerprints(hashes: AnyArray, *, complete: bool = True) -> dict[str, Any]:
    """Return what a model file keeps of the hashes (n,) of its training rows, as JSON values.

    The smallest `MOST_HASHES` different ones, and the share of the rows, of all or of the unlabeled ones, that occur
    more than once: by it, new rows that are alike by chance are told from training rows. Not `complete`: the hashes are
    the smallest of more rows.
    """
    _, which, counts = np.unique(hashes >> np.uint32(1), return_inverse=True, return_counts=True)
    again = counts[which] > 1
    unlabeled = hashes % 2 == 0  # new rows are more like these
    repeated = float(max(part.mean() if len(part) else 0.0 for part in (again, again[unlabeled])))
    different = np.unique(hashes)
    kept = different[:MOST_HASHES].astype("<u4")
    return {
        "row_hashes": base64.b64encode(kept.tobytes()).decode(),
        "hashes_complete": complete and len(kept) == len(different),
        "repeated_rows": repeated,
    }


class KnownRows(NamedTuple):
    """Rows of a table that a model was trained on.

    known, total : their number and that of all rows.
    exact : whether the number is not an estimate.
    same_labels : whether their labels are also those of the training rows.
    """

    known: int
    total: int
    exact: bool
    same_labels: bool

    @property
    def all(self) -> bool:
        """Whether the model was trained on every row."""
        return self.known == self.total

    def __str__(self) -> str:
        """Say how many of the rows are meant, up to "that the model was trained on"."""
        if self.all:
            return "these are the rows"
        return f"{'' if self.exact else 'about '}{self.known:,} of {self.total:,} rows are rows"


class RowCounter:
    """Counter of rows on which a model was trained, over any number of blocks of rows.

    Parameters
    ----------
    marks : mapping
        From `row_fingerprints`; of a model without them, nothing is known.
    """

    def __init__(self, marks: Mapping[str, Any]) -> None:
        self._kept: AnyArray | None = None
        try:
            kept = np.frombuffer(base64.b64decode(marks["row_hashes"], validate=True), dtype="<u4")
            self._chance = min(max(float(marks["repeated_rows"]), 0.0), 1.0)
            self._kept = kept.astype(np.uint32)
        except (KeyError, TypeError, ValueError):
            pass
        self._exact = marks.get("hashes_complete") is True
        self._total = self._looked = self._here = 0
        self._agree = True

    def add(self, hashes: AnyArray) -> None:
        """Count the rows with these hashes (n,), from `row_hashes`."""
        kept = self._kept
        if kept is None:
            return
        looked = hashes if self._exact or not len(kept) else hashes[hashes <= kept.max() | np.uint32(1)]
        here = np.isin(looked >> np.uint32(1), kept >> np.uint32(1))
        self._total += len(hashes)
        self._looked += len(looked)
        self._here += int(here.sum())
        self._agree = self._agree and bool(np.isin(looked[here], kept).all())

    def found(self) -> KnownRows | None:
        """Return the training rows found; None if they are no more than chance or mere accidents would bring."""
        n, count = self._looked, self._here
        if self._kept is None or not n or count < max(min(FEWEST, self._total), LEAST_SHARE * n):
            return None
        usual = n * self._chance + DEVIATIONS * np.sqrt(n * self._chance * (1.0 - self._chance))
        if self._chance > 0.0 and count <= usual:
            return None
        return KnownRows(round(self._total * count / max(n, 1)), self._total, self._exact, self._agree)


def known_rows(hashes: AnyArray, marks: Mapping[str, Any]) -> KnownRows | None:
    """Find rows with hashes (n,) on which a model was trained, see `RowCounter`."""
    counter = RowCounter(marks)
    counter.add(hashes)
    return counter.found()
