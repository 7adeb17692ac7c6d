"""What the solution of (6.19) shows about the thesis: (6.20), Conjecture 6.6, and figures of the notes on it."""

import numpy as np
import pytest

from pucli.estimators.safe.gaussian_mcpl import GaussianMCPL
from pucli.solvers.safe.gaussian import conditional, monotone_pattern, sample_moments
from tests.report.page_numbers import RESULTS
from tests.solvers.safe.patterns import gain, rows_with_gaps
from tests.solvers.safe.test_minimax import worst_gain

SAME = 1e-5  # relative difference of guaranteed gains below which two estimates are the same one


def room_for_the_reference(partial):
    """The least eigenvalue of the spread that entries of the middle of three blocks need to follow the complete rows.

    Hidden entries can be such that the regression of the middle block on the first, over all rows, is that of the
    complete rows, if and only if it is not negative.
    """
    pattern = monotone_pattern(np.isnan(partial))
    first, middle, _ = pattern.blocks
    complete = sample_moments(partial[pattern.rows[-1]])
    offset, B, S = conditional(complete, first, middle)
    root = np.linalg.inv(np.linalg.cholesky(S))
    z = np.column_stack([np.ones(len(partial)), partial[:, first]])
    known = ~np.isnan(partial[:, middle]).any(axis=1)
    residual = (partial[known][:, middle] - offset - partial[known][:, first] @ B.T) @ root.T
    slopes = -residual.T @ z[known] @ np.linalg.inv(z[~known].T @ z[~known])
    explained = slopes @ (z[~known].T @ z[~known]) @ slopes.T
    spread = len(partial) * np.eye(len(middle)) - residual.T @ residual - explained
    return float(np.linalg.eigvalsh(spread)[0])


@pytest.mark.slow
def test_the_one_block_estimate_is_the_minimax_estimate_if_hidden_entries_can_follow_the_complete_rows():
    """Conjecture 6.6 does not hold: the likelihoods of (6.20) are then equal, whatever is hidden."""
    same, tried = 0, 0
    for seed in range(60):
        X, partial = rows_with_gaps(seed, n_blocks=3, D=3 + seed % 3, complete=12 + seed % 7, incomplete=60)
        if min(np.isnan(partial).sum(axis=0)[np.isnan(partial).any(axis=0)]) < 10:
            continue
        one, best = (GaussianMCPL(blocks=blocks).fit(partial) for blocks in ("one", "minimax"))
        room = room_for_the_reference(partial)
        equal = best.improvement_ <= one.improvement_ * (1 + SAME)
        if abs(room) > 1e-3 * len(X):
            tried += 1
            assert equal == (room > 0), seed
        if equal:
            same += 1
            assert best.dual_gap_ <= 1e-5 and best.used_blocks_ == "one"
    assert tried >= 30 and 5 <= same <= tried - 5


@pytest.mark.parametrize("seed", range(5))
def test_the_minimax_estimate_is_not_worse_than_one_block_whatever_is_hidden(seed):
    """(6.20): what one block gains over the complete rows does not depend on what is hidden."""
    _, partial = rows_with_gaps(seed, D=7)
    one, best = (GaussianMCPL(blocks=blocks).fit(partial) for blocks in ("one", "minimax"))
    found = worst_gain(best, partial, reference=one)
    assert found >= best.improvement_ - one.improvement_ - 1e-6 >= -1e-6
    assert found == pytest.approx(best.improvement_ - one.improvement_, rel=2e-2, abs=2e-2)


def claims():
    found = []
    for seed in range(200):
        X, partial = rows_with_gaps(seed)
        one, likely, best = (GaussianMCPL(blocks=blocks).fit(partial) for blocks in ("one", "all", "minimax"))
        guaranteed = [fit.improvement_ for fit in (one, likely, best)]
        found.append([*guaranteed, *(gain(fit, X)[0] for fit in (one, likely, best)), best.dual_gap_])
    table = np.array(found)
    ratio = table[:, 2] / table[:, 0]
    low, middle, high = np.quantile(ratio, [0.25, 0.5, 0.75])
    yield f"{middle:.1f} times that of one block in the median (quartiles {low:.1f} and {high:.1f})"
    yield f"in {np.mean(ratio <= 1 + SAME):.0%} of the patterns they are the same"
    yield f"Maximum likelihood has a bound in {np.mean(np.isfinite(table[:, 1])):.0%} of them"
    yield f"a larger one than one block in {np.mean(table[:, 1] > table[:, 0]):.0%}"
    one, likely, best = np.median(table[:, 3:6], axis=0)
    yield f"gains {likely:.0f} nats in the median, minimax {best:.0f} and one block {one:.0f}"
    yield f"it is worse than the complete rows alone in {np.mean(table[:, 4] < 0):.1%}"
    assert np.all(table[:, 6] <= 1e-3 * (1 + table[:, 2]))
    few, many = (share_of_one_block(complete) for complete in (8, 600))
    yield f"in {few:.0%} of 60 such patterns with 8 complete rows, and in {many:.0%} with 600"


def share_of_one_block(complete):
    """The share of patterns of 6 columns in 4 blocks in which the minimax estimate is the one-block estimate."""
    same = []
    for seed in range(60):
        _, partial = rows_with_gaps(seed, n_blocks=4, D=6, complete=complete, incomplete=60)
        one, best = (GaussianMCPL(blocks=blocks).fit(partial) for blocks in ("one", "minimax"))
        same.append(best.improvement_ <= one.improvement_ * (1 + SAME))
    return np.mean(same)


@pytest.mark.nightly
def test_the_notes_state_what_random_patterns_show():
    text = " ".join((RESULTS / "safe-learning-curves" / "notes.md").read_text(encoding="utf-8").split())
    missing = [claim for claim in claims() if claim.replace("%", " %") not in text]
    assert not missing, "\n".join(missing)
