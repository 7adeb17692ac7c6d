"""Values of a model file: as JSON, and arrays as members of its archive. No other class can be created."""

from __future__ import annotations

import io
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from pucli.core.errors import UsageError
from pucli.core.saved_state import Unsaved, declared_state

# Bytes that an array without numbers may seem to have: (0, 5), say, but not (0, 10**15).
MOST_EMPTY = 2**20


class ValueWriter:
    """Encoder of values as JSON and of arrays as members of the archive."""

    def __init__(self, archive: zipfile.ZipFile, classes: dict[str, type]) -> None:
        self.archive = archive
        self.names = {kind: name for name, kind in classes.items()}
        self.count = 0

    def encode(self, value: Any, where: str) -> Any:
        """Return `value` as JSON; `where` names the attribute in errors."""
        if value is None or isinstance(value, (bool, str)) or type(value) is int:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, np.ndarray) and value.dtype != object:
            return {"array": self._store(value)}
        if isinstance(value, np.ndarray) and value.ndim == 1:
            return {"objects": [self.encode(item, where) for item in value]}
        if isinstance(value, np.generic):
            return {"scalar": self._store(np.asarray(value))}
        if type(value) in (list, tuple):
            return {type(value).__name__: [self.encode(item, where) for item in value]}
        if type(value) is dict:
            return {"dict": [[self.encode(k, where), self.encode(v, f"{where}.{k}")] for k, v in value.items()]}
        if type(value) in self.names:
            declared = declared_state(type(value)) or {}
            state = {
                key: self.encode(item, f"{where}.{key}")
                for key, item in value.__getstate__().items()
                if not isinstance(declared.get(key), Unsaved)
            }
            return {"object": self.names[type(value)], "state": state}
        raise TypeError(f"{where} is a {type(value).__name__}, which a model file cannot hold; see `saved_types`.")

    def _store(self, array: np.ndarray) -> str:
        name = f"{self.count}.npy"
        self.count += 1
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=False)
        self.archive.writestr(zipfile.ZipInfo(name), buffer.getvalue())  # without the time of writing
        return name


class ValueReader:
    """Decoder of values from JSON."""

    def __init__(self, path: Path, members: dict[str, bytes], classes: dict[str, type]) -> None:
        self.path, self.members, self.classes = path, dict(members), classes

    def decode(self, code: Any) -> Any:
        """Return the value that `ValueWriter.encode` encoded as `code`."""
        if not isinstance(code, dict):
            return code
        if "object" in code:
            return self._object(code["object"], code["state"])
        [(kind, content)] = code.items()
        match kind:
            case "array":
                return self._array(content)
            case "scalar":
                return self._array(content)[()]
            case "float":
                return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[content]
            case "objects":
                result = np.empty(len(content), dtype=object)
                result[:] = [self.decode(item) for item in content]
                return result
            case "list":
                return [self.decode(item) for item in content]
            case "tuple":
                return tuple(self.decode(item) for item in content)
            case "dict":
                return {self.decode(key): self.decode(item) for key, item in content}
        raise not_a_model(self.path, f"it holds {kind!r}, which is refused")

    def _array(self, name: str) -> np.ndarray:
        # each array is named once, so that a small file cannot unpack to a large model
        return array_of(self.members.pop(name))

    def _object(self, name: Any, state: dict[str, Any]) -> Any:
        kind = self.classes.get(name)
        if kind is None:
            raise not_a_model(self.path, f"it holds {name}, which is refused")
        instance: Any = object.__new__(kind)
        attributes = {key: self.decode(item) for key, item in state.items()}
        if hasattr(instance, "__setstate__"):
            instance.__setstate__(attributes)
        else:
            vars(instance).update(attributes)
        return instance


def array_of(content: bytes) -> np.ndarray:
    """Return the array in the bytes of a .npy file; its size is checked before memory is taken."""
    stream = io.BytesIO(content)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape, fortran_order, dtype = read[np.lib.format.read_magic(stream)](stream)
    rest = len(content) - stream.tell()
    if dtype.kind not in "biufU" or not dtype.itemsize or not dtype.isnative:
        raise ValueError(f"an array of {dtype}")
    if any(size < 0 for size in shape) or math.prod(shape) * dtype.itemsize != rest:
        raise ValueError(f"{rest} bytes for an array of the shape {shape}")
    if math.prod(max(size, 1) for size in shape) * dtype.itemsize > max(rest, MOST_EMPTY):
        raise ValueError(f"an empty array of the shape {shape}")
    flat = np.frombuffer(content, dtype=dtype, offset=len(content) - rest).copy()
    if dtype.kind == "b" and (flat.view(np.uint8) > 1).any():
        raise ValueError("a boolean that is neither true nor false")
    return flat.reshape(shape, order="F" if fortran_order else "C")


def not_a_model(path: Path, detail: str = "") -> UsageError:
    """Return the error for a file that is no model of pucli."""
    detail = f": {detail}" if detail else ""
    return UsageError(f"{path} is not a model of pucli{detail}. --model of `pucli auto` or `train` writes one.")
