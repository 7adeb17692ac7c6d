"""LIBSVM files: a label and the non-zero features of a row in each line, `1 qid:3 2:0.5 7:1 # remark`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pucli.core.errors import UsageError
from pucli.data.files.packed import plain_text
from pucli.data.files.text.records import note
from pucli.data.reading import Reading

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from pucli.core.arrays import Floats

MOST_FEATURES = 50_000_000
FEW_FEATURES, FEATURES_PER_VALUE = 1_000_000, 100  # with more features, so many are believed of each value


def read_libsvm(path: Path, how: Reading) -> tuple[csr_array, Floats, int]:
    """Return the features, numbered from 0, the labels, and the number of the first feature in the file, 0 or 1."""
    from scipy.sparse import csr_array
    from sklearn.datasets import load_svmlight_file

    try:
        with plain_text(path, how) as text:
            X, y, queries = load_svmlight_file(text, zero_based=True, query_id=True)
    except (ValueError, OverflowError) as error:
        with plain_text(path, how) as text:
            wrong = wrong_line(text)
        if not wrong:
            raise
        raise UsageError(f"{path}: {wrong}") from error
    if len(queries):
        note(
            f"{path}: qid: is left out; to keep rows of one query in one fold, write the rows as CSV with a column qid "
            "and add --groups qid"
        )
    if X.shape[1] > min(MOST_FEATURES, max(FEW_FEATURES, FEATURES_PER_VALUE * X.nnz)):
        raise UsageError(
            f"{path} has a feature of number {X.shape[1]}, but only {X.nnz} values in {X.shape[0]} rows; correct that "
            "number, or renumber the features"
        )
    least = int(X.indices.min()) if X.nnz else 1
    first = min(least, 1) if how.first_feature is None else how.first_feature
    if least < first:
        raise UsageError(
            f"{path} has a feature 0, but the features of the training file are numbered from 1; count alike"
        )
    return csr_array(X[:, first:]), y, first


def wrong_line(lines: Iterable[bytes]) -> str:
    """Return what is wrong with the first line that is no row of a LIBSVM file, and what to do, "" if all are.

    Examples
    --------
    >>> wrong_line([b"1 1:2 3:4", b"0 3:1 2:5"])
    'line 2: feature 2 follows feature 3; number the features of a row in ascending order, each once'
    """
    for number, line in enumerate(lines, start=1):
        words = line.partition(b"#")[0].split()
        if not words:
            continue
        if not _is_number(words[0]):
            what = "several labels; keep one" if b"," in words[0] else "no number as its label"
            return f"line {number} begins with {_shown(words[0])}, {what}"
        last = -1
        for word in words[1:]:
            feature, colon, value = word.partition(b":")
            if feature == b"qid":
                continue
            if not colon or not feature.isdigit() or not _is_number(value):
                return f"line {number} has {_shown(word)} where a feature belongs, such as 3:0.5"
            if int(feature[:20]) > MOST_FEATURES:
                return f"line {number}: feature {_shown(feature)} is beyond the {MOST_FEATURES} that are read"
            if int(feature) <= last:
                return (
                    f"line {number}: feature {int(feature)} follows feature {last}; number the features of a row in "
                    "ascending order, each once"
                )
            last = int(feature)
    return ""


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return b"_" not in word


def _shown(word: bytes) -> str:
    return ascii(word[:40].decode(errors="replace"))
