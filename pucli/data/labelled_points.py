"""The labelled points of the worked examples in Bertazzi 2018, section 4.3."""

from __future__ import annotations

import numpy as np

from pucli.errors import unknown

# example -> one list of values for each class. The thesis draws the third class of example 2 (Figure 4.3) without
# saying where its point is: 3 here.
EXAMPLES = {1: [[-1.0], [1.0]], 2: [[-1.0], [1.0], [3.0]], 3: [[-2.0, 1.0], [-0.5, 3.0]]}


def labelled_points(rng: np.random.Generator, *, example: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of an example: X (N, 1), y (N,) in {0, 1, ...}; nothing is random.

    Parameters
    ----------
    rng : not used.
    example : 1 (Figures 4.1 and 4.2), 2 (Figure 4.3) or 3 (Figures 4.4 to 4.6).
    """
    if example not in EXAMPLES:
        raise unknown("example", str(example), map(str, EXAMPLES))
    values = EXAMPLES[example]
    y = np.repeat(np.arange(len(values)), [len(own) for own in values])
    return np.concatenate(values)[:, None].astype(np.float64), y.astype(np.int64)
