"""Groups of rows that belong together, such as the visits of one person, which no split divides."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.core.arrays import Bools, Floats, Ints
from pucli.core.errors import UsageError, by_interface

if TYPE_CHECKING:
    import pandas as pd

# Square blocks of two coordinates, such as x,y,75000 or lon,lat,75km.
_BLOCKS = re.compile(r"(.+),(.+),(\d+|\d*\.\d+)(km)?")
_KM_OF_DEGREE = 111.195


def group_columns(names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that groups are made of: each named one, and both coordinates of blocks X,Y,WIDTH."""
    blocks = [(name, _BLOCKS.fullmatch(name)) for name in names]
    return tuple(column for name, found in blocks for column in (found.group(1, 2) if found else [name]))


def square_blocks(places: Floats, width: float) -> Ints:
    """Return the number of the square block (n,), from 0, of each place in the plane (n, 2).

    Corners of blocks are multiples of their width.

    Examples
    --------
    >>> square_blocks(np.array([[1.0, 1.0], [9.0, 2.0], [11.0, 2.0], [-1.0, 2.0]]), 10.0)
    array([1, 1, 2, 0])
    """
    return np.unique(np.floor(places / width), axis=0, return_inverse=True)[1].ravel()


def _block_of(frame: pd.DataFrame, named: re.Match[str]) -> pd.Series:
    """Return the block of each row, NaN where a coordinate is empty.

    Of a longitude and a latitude, a row of blocks has the width at its middle latitude.
    """
    import pandas as pd

    places = np.column_stack([pd.to_numeric(frame[name], errors="coerce") for name in named.group(1, 2)]).astype(float)
    width, on_globe = float(named[3]), named[4] is not None
    if width == 0.0 or np.isnan(places).all() or (on_globe and np.nanmax(np.abs(places) - [180.0, 90.0]) > 0.0):
        raise UsageError(
            f"{by_interface('groups', '--groups')} {named[0]}: blocks need two columns of numbers and a width above 0, "
            "in km a longitude and a latitude in degrees, in this order; give the width in the unit of the columns, "
            f"such as {named[1]},{named[2]},75000."
        )
    if on_globe:
        width /= _KM_OF_DEGREE
        middle = width * (np.floor(places[:, 1] / width) + 0.5)
        places[:, 0] *= np.cos(np.radians(middle))
    return pd.Series(square_blocks(places, width), frame.index).where(np.isfinite(places).all(axis=1))


def group_numbers(groups: Any, n: int) -> Ints:
    """Return the group of each of n rows, from 0; a row whose group is missing is a group of its own.

    Examples
    --------
    >>> group_numbers(["a", None, "a", None], 4)
    array([0, 1, 0, 2])
    """
    import pandas as pd

    given = np.asarray(groups)
    if given.shape != (n,):
        raise ValueError(f"groups has the shape {given.shape}; give one group for each of the {n} rows.")
    there = ~np.asarray(pd.isna(given))
    known = given[there]
    try:
        codes = np.unique(known, return_inverse=True)[1]
    except TypeError:  # of several types, which have no order
        codes = pd.factorize(known)[0]
    found = np.empty(n, dtype=np.int64)
    found[there] = codes
    found[~there] = codes.max(initial=-1) + 1 + np.arange(n - len(known))
    return found


def row_groups(frame: pd.DataFrame, names: Sequence[str | int], labeled: Bools | None = None) -> Ints:
    """Return the group of each row (n,), from 0: rows with the same cell in any of the columns are one group.

    Empty cells join nothing. A name X,Y,WIDTH stands for square blocks of two columns of coordinates (`_BLOCKS`).

    Examples
    --------
    >>> import pandas as pd
    >>> row_groups(pd.DataFrame({"person": ["a", "b", "b", None], "house": [1, 1, 2, 3]}), ["person", "house"])
    array([0, 0, 0, 1])
    """
    import pandas as pd
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, rows, nodes, used = len(frame), [], [], 0
    for name in names:
        blocks = _BLOCKS.fullmatch(str(name))
        cells = _block_of(frame, blocks) if blocks else frame[name]
        codes = pd.factorize(cells.mask(cells.astype(str) == ""))[0]
        there = np.flatnonzero(codes >= 0)
        rows.append(there)
        nodes.append(n + used + codes[there])
        used += int(codes.max(initial=-1)) + 1
    ends = np.concatenate(rows), np.concatenate(nodes)
    links = coo_array((np.ones(len(ends[0])), ends), shape=(n + used, n + used))
    found = connected_components(links, directed=False)[1][:n]
    groups = np.asarray(pd.factorize(found)[0], dtype=np.int64)
    kinds = {"": np.ones(n, dtype=bool)}
    if labeled is not None:
        kinds |= {"labeled ": labeled, "unlabeled ": ~labeled}
    for kind, of in kinds.items():
        if np.count_nonzero(of) > 1 and len(np.unique(groups[of])) == 1:
            shown = ", ".join(map(repr, names))
            joined = "; rows with the same cell in any of them are one group" if len(names) > 1 else ""
            raise UsageError(
                f"groups {shown}: all {kind}rows are one group, which cannot be divided{joined}. Choose another "
                f"column, or leave out {by_interface('groups', '--groups')}."
            )
    return groups


def alone(groups: Ints) -> list[str]:
    """Return a warning if every row is a group of its own."""
    single = len(groups) > 1 and int(groups.max()) + 1 == len(groups)
    return ["--groups: every row is a group of its own, so that no rows are kept together"] * single


def one_of_each(groups: Ints, labeled: Bools) -> Ints:
    """Return the number of one row of each group, ascending: the first labeled one, or the first."""
    order = np.argsort(~labeled, kind="stable")
    first = np.unique(groups[order], return_index=True)[1]
    return np.sort(order[first])


def held_out_groups(groups: Ints, share: float, rng: np.random.Generator, kinds: Sequence[Bools] = ()) -> Bools:
    """Return which rows (n,) are held out: whole groups, drawn at random.

    In random order, a group is held out if this brings the number of held-out rows of each kind nearer to `share`.

    Examples
    --------
    >>> held_out_groups(np.repeat([0, 1, 2, 3], 5), 0.5, np.random.default_rng(0)).sum()
    np.int64(10)
    """
    kinds = kinds or [np.ones(len(groups), dtype=bool)]
    counts = np.column_stack([np.bincount(groups, weights=kind) for kind in kinds])
    shares = counts / np.maximum(counts.sum(axis=0), 1.0)
    held, missing = np.zeros(len(counts), dtype=bool), np.full(len(kinds), share)
    for group in rng.permutation(len(counts)):
        after = missing - shares[group]
        if after @ after < missing @ missing:
            held[group], missing = True, after
    found: Bools = held[groups]
    if any(len(np.unique(found[kind])) < 2 for kind in kinds):
        raise UsageError("groups: they are too few or too large for rows of each kind on both sides of a split.")
    return found
