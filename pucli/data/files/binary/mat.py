"""Arrays of MATLAB and NumPy files from anyone: what is declared is checked before memory is taken for it.

SciPy reads every variable, however deeply cells are nested, and does not check the positions of a sparse matrix, which
compiled code then trusts. So only matrices of numbers and text are read, and sparse ones are checked.
"""

from __future__ import annotations

import math
import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pucli.core.errors import UsageError
from pucli.data.files.archives import FREE, RATIO
from pucli.data.files.packed import check_unpacked
from pucli.data.files.table import Table
from pucli.data.files.table_size import MOST_COLUMNS, check_filled, check_fits

_BYTES = {
    **dict.fromkeys(("double", "int64", "uint64"), 8),
    **dict.fromkeys(("single", "int32", "uint32"), 4),
    **dict.fromkeys(("int16", "uint16", "char"), 2),
    **dict.fromkeys(("int8", "uint8", "logical"), 1),
}
_SPARSE = "save the features as a full matrix, or the rows as a LIBSVM file"


def read_mat(path: Path, label: str | None = None) -> dict[str, np.ndarray]:
    """Return the matrices of numbers, and the text called `label`, of a MATLAB file by name."""
    from scipy.io import loadmat, whosmat

    _check_elements(path)
    try:
        with _strictly(path):
            there = whosmat(path)
    except NotImplementedError as error:
        raise UsageError(
            f"{path}: MATLAB 7.3 files are not supported; save the file in MATLAB with the option -v7"
        ) from error
    names = [name for name, *_ in there]
    if twice := next((name for place, name in enumerate(names) if name in names[:place]), None):
        raise UsageError(f"{path} has the variable {twice!r} twice; save it again with one of them")
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
    if not wanted:
        return {}
    with _strictly(path):
        content = loadmat(path, variable_names=wanted, spmatrix=False)
    return {name: _dense(path, name, content[name]) for name in wanted if name in content}


@contextmanager
def _strictly(path: Path) -> Iterator[None]:
    """Raise UsageError where SciPy only warns: a name that is there twice, numbers of an unknown order of bytes."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        try:
            yield
        except UserWarning as error:
            detail = re.split(r" - |[;,(]", " ".join(str(error).split()))[0].strip()
            raise UsageError(f"{path} cannot be read without doubt ({detail:.200}); save it again") from error


# Types of data elements of the format (MAT-File Format, table 1-1), with the bytes of a number.
_NUMBERS = {1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8}
_TEXT = {16, 17, 18}
_INT8, _INT32, _UINT32, _MATRIX, _COMPRESSED = 1, 5, 6, 14, 15
_CELL_TO_OBJECT, _CHAR, _SPARSE_CLASS, _NUMERIC = range(1, 4), 4, 5, range(6, 16)
_FUNCTION, _OPAQUE, _HEADER = 16, 17, 128
_BYTES_4 = {0: 8, 1: 4, 2: 4, 3: 2, 4: 2, 5: 1}  # bytes of a number by the tens of the type, in files of MATLAB 4
MOST_VARIABLES = 10_000


def _check_elements(path: Path) -> None:
    """Raise UsageError unless the types and sizes of the data elements are right: SciPy's compiled reader trusts them.

    Files of MATLAB 7.3, which are of another format, are left to SciPy.
    """
    content = path.read_bytes()
    if len(content) >= 4 and 0 in content[:4]:
        _check_version_4(path, content)
        return
    if len(content) < _HEADER or content[126:128] not in (b"IM", b"MI"):
        return
    if content[125 if content[126:128] == b"IM" else 124] != 1:
        return
    order, position = "<" if content[126:128] == b"IM" else ">", _HEADER
    most, number = max(RATIO * len(content), FREE), 0  # bytes to which all variables may unpack
    try:
        while position + 8 <= len(content):
            kind, size = struct.unpack_from(f"{order}II", content, position)
            data = memoryview(content)[position + 8 : position + 8 + size]
            _require(len(data) == size, "a variable is cut short")
            if kind == _COMPRESSED:
                unpacked = zlib.decompressobj().decompress(data, most + 1)
                _require(8 <= len(unpacked) <= most, "a variable unpacks to more than it can have")
                most -= len(unpacked)
                kind, size = struct.unpack_from(f"{order}II", unpacked)
                data = memoryview(unpacked)[8 : 8 + size]
                _require(len(data) == size, "a variable is cut short")
            _require(kind == _MATRIX, f"a variable is of the type {kind}")
            _check_matrix(data, order)
            number += 1
            _require(number <= MOST_VARIABLES, f"it has more than {MOST_VARIABLES} variables")
            position += 8 + struct.unpack_from(f"{order}II", content, position)[1]
    except (ValueError, struct.error, zlib.error) as error:
        detail = str(error) if type(error) is ValueError else "a variable is cut short"
        raise UsageError(f"{path} is damaged ({detail}); save it again") from error


def _check_version_4(path: Path, content: bytes) -> None:
    """Raise UsageError unless the variables of a file of MATLAB 4 have as many numbers as they state."""
    position = number = 0
    order = "<" if struct.unpack_from("<i", content)[0] in range(5000) else ">"
    try:
        while position < len(content):
            kind, rows, columns, imaginary, length = struct.unpack_from(f"{order}5i", content, position)
            _require(0 <= kind < 5000 and kind % 1000 // 10 in _BYTES_4, f"a variable is of the type {kind}")
            _require(min(rows, columns, length) >= 0, f"a variable has the shape {(rows, columns)}")
            size = rows * columns * _BYTES_4[kind % 1000 // 10] * (1 + (imaginary != 0))
            position += 20 + length + size
            _require(position <= len(content), "a variable is cut short")
            number += 1
            _require(number <= MOST_VARIABLES, f"it has more than {MOST_VARIABLES} variables")
    except (ValueError, struct.error) as error:
        detail = str(error) if type(error) is ValueError else "a variable is cut short"
        raise UsageError(f"{path} is damaged ({detail}); save it again") from error


def _require(right: bool, what: str) -> None:
    if not right:
        raise ValueError(what)


def _check_matrix(data: memoryview, order: str) -> None:
    """Raise ValueError unless the parts of a matrix have the types and sizes that its class and dimensions need."""
    parts = _parts(data, order)
    kind, flags = next(parts, (0, memoryview(b"")))
    _require(kind == _UINT32 and len(flags) == 8, "a variable has no flags")
    (word,) = struct.unpack_from(f"{order}I", flags)
    what, has_imaginary = word & 0xFF, bool(word & 0x800)
    if what == _OPAQUE:  # an object of MATLAB, which has neither dimensions nor a name, and is not read
        return
    kind, sizes = next(parts, (0, memoryview(b"")))
    _require(kind == _INT32 and len(sizes) >= 8 and len(sizes) % 4 == 0, "a variable has no dimensions")
    shape = struct.unpack(f"{order}{len(sizes) // 4}i", sizes)
    _require(min(shape) >= 0, f"a variable has the shape {shape}")
    kind, _ = next(parts, (0, memoryview(b"")))
    _require(kind == _INT8, "a variable has no name")
    if what in _NUMERIC:
        for _ in range(1 + has_imaginary):
            kind, numbers = next(parts, (0, memoryview(b"")))
            right = kind in _NUMBERS and len(numbers) == math.prod(shape) * _NUMBERS[kind]
            _require(right, f"a variable of the shape {shape} has other numbers")
    elif what == _SPARSE_CLASS:
        _require(len(shape) == 2, "a sparse matrix has not two dimensions")
        (kind, rows), (starts_kind, starts) = next(parts, (0, memoryview(b""))), next(parts, (0, memoryview(b"")))
        right = kind == starts_kind == _INT32 and len(starts) == 4 * (shape[1] + 1) and len(rows) % 4 == 0
        _require(right, "a sparse matrix has other positions than its columns need")
        for _ in range(1 + has_imaginary):
            kind, numbers = next(parts, (0, memoryview(b"")))
            _require(kind in _NUMBERS and len(numbers) % _NUMBERS[kind] == 0, "a sparse matrix has no numbers")
    elif what == _CHAR:
        kind, _ = next(parts, (0, memoryview(b"")))
        _require(kind in _NUMBERS or kind in _TEXT, "a text is of another type")
    else:  # not read; SciPy reads the parts above of every variable
        _require(what in _CELL_TO_OBJECT or what == _FUNCTION, f"a variable is of the class {what}")


def _parts(data: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Yield the type and the bytes of each part of a matrix."""
    position = 0
    while position + 8 <= len(data):
        word, size = struct.unpack_from(f"{order}II", data, position)
        if word >> 16:  # a small element: type and size share four bytes
            kind, size, begin, step = word & 0xFFFF, word >> 16, position + 4, 8
            _require(size <= 4, "a part is longer than its place")
        else:
            kind, begin, step = word, position + 8, 8 + -(-size // 8) * 8
        found = data[begin : begin + size]
        _require(len(found) == size, "a part is cut short")
        yield kind, found
        position += step


def _dense(path: Path, name: str, value: Any) -> np.ndarray:
    import scipy.sparse

    if not scipy.sparse.issparse(value):
        return np.asarray(value)
    if value.format == "coo":  # of MATLAB 4, checked by SciPy; columns take memory as well
        check_filled(path, value.shape[0], value.shape[1], value.nnz, _SPARSE)
        value = value.tocsc()
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


def mat_table(path: Path, label: str | None) -> Table:
    """Return the features and labels of a MATLAB file as a table; `label` names a variable or a column."""
    return _from_arrays(path, read_mat(path, label), label)


def npz_table(path: Path, label: str | None) -> Table:
    """Return the features and labels of a NumPy archive as a table; `label` names a variable or a column."""
    check_unpacked(path)
    check_npz(path)
    with path.open("rb") as stream:
        saved = np.load(stream, allow_pickle=False)
        if isinstance(saved, np.ndarray):
            raise UsageError(f"{path} holds a single array; save features X and labels y with numpy.savez")
        return _from_arrays(path, {name: saved[name] for name in saved.files}, label)


def _from_arrays(path: Path, arrays: dict[str, np.ndarray], label: str | None) -> Table:
    """Return the table of the feature matrix (n, m) and the label vector (n,) among named arrays.

    The features are the variable "X", or the only numeric matrix. `label` names a variable or a column.
    """
    import pandas as pd

    labels = arrays.get(label) if label is not None else None
    if labels is not None and labels.size != max(labels.shape):
        raise UsageError(f"{path}: label {label!r} has shape {labels.shape}; it must be a vector")
    matrices = [
        name
        for name, value in arrays.items()
        if name != label and value.ndim == 2 and value.dtype.kind in "iufb" and (labels is None or min(value.shape) > 1)
    ]
    name = "X" if "X" in matrices else matrices[0] if len(matrices) == 1 else None
    if name is None:
        there = [
            f"{key} {value.shape}{' of complex numbers' * (value.dtype.kind == 'c')}"
            for key, value in sorted(arrays.items())
        ]
        raise UsageError(
            f"{path}: the features must be a matrix of real numbers called 'X'; variables: "
            + (
                ", ".join(there)
                or "none but cells and structs; save the matrix and the labels as variables of their own"
            )
        )
    if arrays[name].shape[1] > MOST_COLUMNS:
        raise UsageError(f"{path}: {name!r} has {arrays[name].shape[1]} columns; at most {MOST_COLUMNS} are read")
    frame = pd.DataFrame(np.asarray(arrays[name], dtype=np.float64))
    frame.columns = [str(i) for i in range(1, frame.shape[1] + 1)]
    if labels is not None:
        if labels.size != len(frame):
            turned = f"; save its transpose, {name}'" if labels.size == frame.shape[1] else ""
            raise UsageError(f"{path}: {labels.size} labels in {label!r} for {len(frame)} rows of {name!r}{turned}")
        frame[label] = labels.ravel()
    others = ", ".join(sorted(set(arrays) - {name}))
    naming = f"; the columns of {name!r} are numbered 1 to {arrays[name].shape[1]}" + (
        f", other variables: {others}" if others else ""
    )
    return Table(frame, lambda row: f"row {row + 1}", naming)
