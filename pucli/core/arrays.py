"""Type aliases for arrays."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Strings: TypeAlias = NDArray[np.str_]
# any dtype: labels, columns of a table
AnyArray: TypeAlias = NDArray[Any]
