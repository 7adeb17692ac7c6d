"""The labeled points of the worked examples in Bertazzi 2018, Example 3.7 and section 4.3."""

from __future__ import annotations

import numpy as np

from pucli.core.arrays import Floats, Ints
from pucli.core.errors import unknown

# One list of values per class, for each example. Figure 4.3 of the thesis shows the third class of example 2 without
# the value of its point; here it is 3. Nor does it state the values of Figure 3.1 (example 4): here
# both points, with labels 0 and 1, lie on a line through the origin, whose squared error is 0 as in the text.
EXAMPLES = {1: [[-1.0], [1.0]], 2: [[-1.0], [1.0], [3.0]], 3: [[-2.0, 1.0], [-0.5, 3.0]], 4: [[0.0], [2.0]]}


def labeled_points(rng: np.random.Generator, *, example: int = 1) -> tuple[Floats, Ints]:
    """Return the points of an example."""
    if example not in EXAMPLES:
        raise unknown("example", str(example), map(str, EXAMPLES))
    values = EXAMPLES[example]
    y = np.repeat(np.arange(len(values)), [len(own) for own in values])
    return np.concatenate(values)[:, None].astype(np.float64), y.astype(np.int64)
