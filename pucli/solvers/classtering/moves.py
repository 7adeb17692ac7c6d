"""Classtering: sweeps to convergence, births and deaths of components (Sansone 2018, section 2.3).

The lower bound selects the number of components. A birth splits the rows of one component in two, along its longest
axis or, if it has labeled rows of two classes, along the line between them. A death gives the rows of one component to
the others. A move is kept only if the bound after some sweeps is above the bound before it, so the bound never
decreases.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pucli.core.arrays import Bools, Floats, Ints
from pucli.solvers.classtering.bound import lower_bound
from pucli.solvers.classtering.state import ClassteringRows, Globals, State
from pucli.solvers.classtering.updates import principal_axes, sweep, update_local
from pucli.solvers.result import Certificate

# Number of sweeps after a birth in which the rows stay in their halves, so that each half gets its own factors first.
HELD_SWEEPS = 3
# A birth or death is abandoned if F rises by less than this many tolerances per sweep: few succeed later.
PATIENCE = 10.0


@dataclass(frozen=True, kw_only=True)
class Fit(Certificate):
    """A fitted model.

    `objective` is F, which is maximized, in the units of the solver. `residual` is its increase in the last sweep.
    `n_iter` counts all sweeps, including those of rejected moves.
    """

    state: State  # the fitted model
    bounds: Floats  # F after every kept sweep
    # moves that were kept
    births: int
    deaths: int


class Sweeps(NamedTuple):
    """A series of sweeps: the last state, F after each sweep, and whether they converged."""

    state: State
    bounds: list[float]
    converged: bool


def _climb(
    data: ClassteringRows, state: State, bound: float, tol: float, max_iter: int, stop_above: float = np.inf
) -> Sweeps:
    """Sweep until F, `bound` at first, rises by less than `tol` nats in a sweep or exceeds `stop_above`."""
    bounds: list[float] = []
    for _ in range(max_iter):
        state = sweep(data, state)
        bounds.append(lower_bound(data, state))
        rise, bound = bounds[-1] - bound, bounds[-1]
        if rise < tol or bound > stop_above:
            return Sweeps(state, bounds, rise < tol)
    return Sweeps(state, bounds, False)


def _split_sides(data: ClassteringRows, state: State, s: int) -> Iterator[Bools]:
    """Yield divisions of the rows of component `s` in two, each as a mask (n,) of the rows that leave."""
    R = state.local.R[:, s]
    mass = max(R.sum(), 1e-12)
    classes = np.unique(data.labels[(R > 0.5) & (data.labels >= 0)])
    if len(classes) > 1:
        first, second = (data.X[(R > 0.5) & (data.labels == c)].mean(axis=0) for c in _most_frequent(data, R, classes))
        direction = first - second
        yield data.X @ direction > 0.5 * (first + second) @ direction
    center = R @ data.X / mass
    axis = principal_axes(data.X, R, center, 1)[0][:, 0]
    yield (data.X - center) @ axis > 0.0


def _most_frequent(data: ClassteringRows, R: Floats, classes: Ints) -> list[int]:
    """Return the two classes with the most labeled rows in a component of responsibilities R (n,).

    Ties are broken by the order of the rows, so that the numbering of the classes does not matter.
    """
    members = {int(c): np.flatnonzero((R > 0.5) & (data.labels == c)) for c in classes}
    return sorted(members, key=lambda c: (-len(members[c]), members[c][0]))[:2]


def _with_birth(data: ClassteringRows, state: State, s: int, leaves: Bools) -> State:
    """Return the state with component `s` split in two, after a few sweeps with the new responsibilities held fixed.

    The rows `leaves` (n,) go to the new component, which is the last.
    """
    hyper, q, local = state
    # priors learned from the old components would force their shape on the new ones
    hyper = hyper._replace(a=1.0, b=1.0, gamma=np.full(len(hyper.gamma), 1.0 / len(hyper.gamma)))
    R = np.column_stack([local.R, np.where(leaves, local.R[:, s], 0.0)])
    R[leaves, s] = 0.0
    child = (np.append(part, part[s : s + 1], axis=0) for part in (q.omega, q.phi, q.mean, q.cov, q.rate))
    omega, phi, mean, cov, rate = child
    for number in (s, len(omega) - 1):
        weight = R[:, number]
        mean[number, :, -1] = weight @ data.X / max(weight.sum(), 1e-12)
    state = State(hyper, Globals(omega, phi, mean, cov, q.shape, rate), local)
    for _ in range(HELD_SWEEPS):
        state = sweep(data, state, R)
    return state


def _with_death(data: ClassteringRows, state: State, s: int) -> State:
    """Return the state without component `s`, whose rows the others take over."""
    hyper, q, _ = state
    omega, phi, mean, cov, rate = (np.delete(part, s, axis=0) for part in (q.omega, q.phi, q.mean, q.cov, q.rate))
    q = Globals(omega, phi, mean, cov, q.shape, rate)
    return State(hyper, q, update_local(data, hyper, q))


class Ascent:
    """The maximization of F with births and deaths: the current state and its history."""

    def __init__(self, data: ClassteringRows, state: State, tol: float, max_iter: int) -> None:
        self.data, self.state, self.tol, self.max_iter = data, state, tol, max_iter
        self.bounds = [lower_bound(data, state)]
        self.n_iter = 0
        self.residual = np.inf
        self.converged = False

    @property
    def n_components(self) -> int:
        """Number of components of the current state."""
        return len(self.state.q.omega)

    def settle(self) -> None:
        """Sweep the current state to convergence."""
        run = _climb(self.data, self.state, self.bounds[-1], self.tol, self.max_iter)
        self.n_iter += len(run.bounds)
        self.bounds.extend(run.bounds)
        self.state, self.converged = run.state, run.converged
        self.residual = self.bounds[-1] - self.bounds[-2] if len(self.bounds) > 1 else np.inf

    def attempt(self, candidate: State) -> bool:
        """Sweep `candidate` to convergence, and keep it if F is then higher by more than the tolerance."""
        target = self.bounds[-1] + self.tol
        start = lower_bound(self.data, candidate)
        run = _climb(self.data, candidate, start, PATIENCE * self.tol, self.max_iter, stop_above=target)
        self.n_iter += len(run.bounds)
        if not run.bounds or run.bounds[-1] <= target:
            return False
        self.bounds.append(run.bounds[-1])
        self.state = run.state
        self.settle()
        return True

    def births(self, max_components: int) -> int:
        """Try to split every component, the heaviest first and new ones last; return the number of births kept."""
        kept = 0
        tried: set[int] = set()
        while self.n_components < max_components:
            waiting = [int(s) for s in np.argsort(-self.state.local.mass) if s not in tried]
            if not waiting:
                break
            s = waiting[0]
            if any(self.attempt(_with_birth(self.data, self.state, s, side)) for side in self.sides(s)):
                kept += 1
            else:
                tried.add(s)
        return kept

    def sides(self, s: int) -> Iterator[Bools]:
        """Yield the divisions of component `s` that leave at least two rows on either side."""
        mass = self.state.local.mass[s]
        for side in _split_sides(self.data, self.state, s):
            inside = self.state.local.R[side, s].sum()
            if min(inside, mass - inside) >= 2.0:
                yield side

    def deaths(self) -> int:
        """Try to remove each component, the lightest first; return the number of deaths kept."""
        kept = 0
        survivors = 0
        while survivors < self.n_components > 1:
            s = int(np.argsort(self.state.local.mass)[survivors])
            if self.attempt(_with_death(self.data, self.state, s)):
                kept += 1
            else:
                survivors += 1
        return kept


def fit(
    data: ClassteringRows, state: State, *, max_components: int, tol: float, max_iter: int, moves: bool = True
) -> Fit:
    """Maximize F from `state`; with `moves`, also over the number of components."""
    ascent = Ascent(data, state, tol, max_iter)
    ascent.settle()
    births = 0
    deaths = ascent.deaths() if moves else 0
    while moves:
        born = ascent.births(max_components)
        died = ascent.deaths()
        births, deaths = births + born, deaths + died
        if not born and not died:
            break
    return Fit(
        objective=ascent.bounds[-1],
        residual=ascent.residual,
        n_iter=ascent.n_iter,
        converged=ascent.converged,
        state=ascent.state,
        bounds=np.array(ascent.bounds),
        births=births,
        deaths=deaths,
    )
