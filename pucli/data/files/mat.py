"""Arrays of MATLAB and NumPy files from anyone: what is declared is checked before memory is taken for it.

SciPy reads every variable, however deeply cells are nested, and does not check the positions of a sparse matrix, which
compiled code then trusts. So only matrices of numbers and text are read, and sparse ones are checked.
"""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from pucli.core.errors import UsageError
from pucli.data.files.archives import FREE, RATIO
from pucli.data.files.table_size import check_filled, check_fits

_BYTES = {
    **dict.fromkeys(("double", "int64", "uint64"), 8),
    **dict.fromkeys(("single", "int32", "uint32"), 4),
    **dict.fromkeys(("int16", "uint16", "char"), 2),
    **dict.fromkeys(("int8", "uint8", "logical"), 1),
}
_SPARSE = "save the features as a full matrix, or the rows as a LIBSVM file"


def read_mat(path: Path, label: str | None = None) -> dict[str, np.ndarray]:
    """Return the matrices of numbers, and the text called `label`, of a MATLAB file by name.

    Raises
    ------
    UsageError
        The file is of MATLAB 7.3, declares more than it can hold, has a sparse matrix with positions outside of it, or
        its labels are cells.
    """
    from scipy.io import loadmat, whosmat

    try:
        there = whosmat(path)
    except NotImplementedError as error:
        raise UsageError(
            f"{path}: MATLAB 7.3 files are not supported; save the file in MATLAB with the option -v7"
        ) from error
    most, total, wanted = max(RATIO * path.stat().st_size, FREE), 0, []
    for name, shape, kind in there:
        if name == label and kind not in (*_BYTES, "sparse"):
            raise UsageError(
                f"{path}: the labels {name!r} are a {kind} array; save them as numbers, for example with "
                f"[~, ~, {name}] = unique({name})"
            )
        if kind in _BYTES and (kind != "char" or name == label):
            total += math.prod(shape) * _BYTES[kind]
        elif kind != "sparse":
            continue
        wanted.append(name)
    if total > most:
        raise UsageError(f"{path} declares {total / 1e9:.3g} GB of numbers, which it cannot hold; save it again")
    content = loadmat(path, variable_names=wanted) if wanted else {}
    return {name: _dense(path, name, content[name]) for name in wanted if name in content}


def _dense(path: Path, name: str, value: Any) -> np.ndarray:
    import scipy.sparse

    if not scipy.sparse.issparse(value):
        return np.asarray(value)
    value = value.tocsc() if value.format == "coo" else value
    try:
        if value.format not in ("csc", "csr"):
            raise ValueError(value.format)
        value.check_format(full_check=True)
        if len(value.indices) < value.indptr[-1] or len(value.data) < value.indptr[-1]:
            raise ValueError("too few values")
    except ValueError as error:
        raise UsageError(
            f"{path} is damaged: the sparse matrix {name!r} has values outside of its {value.shape[0]} rows and "
            f"{value.shape[1]} columns; save it again"
        ) from error
    rows, columns = value.shape
    check_filled(path, rows, columns, value.nnz, _SPARSE)
    check_fits(path, math.prod(value.shape))
    found: np.ndarray = value.toarray()
    return found


def check_npz(path: Path) -> None:
    """Raise UsageError if an array in a file of `numpy.savez` declares more numbers than it has."""
    if not zipfile.is_zipfile(path):
        return  # told by the reader of the file
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if not member.filename.endswith(".npy"):
                continue
            with archive.open(member) as stream:
                version = np.lib.format.read_magic(stream)
                read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                shape, _, dtype = read(stream)
                rest = member.file_size - stream.tell()
            if dtype.hasobject:
                continue  # refused by NumPy
            declared = math.prod(max(size, 1) for size in shape) * max(dtype.itemsize, 1)
            if any(size < 0 for size in shape) or (declared > rest and declared > 2**20):
                raise UsageError(
                    f"{path} is damaged: {member.filename} declares the shape {shape}, but has {rest} bytes; save it "
                    "again"
                )
