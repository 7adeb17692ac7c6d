"""Time of a Classtering sweep by N, and of a Plummer autoencoder's step against a plain autoencoder and BLAS."""

from __future__ import annotations

import itertools
import os
from functools import partial
from typing import Any

import numpy as np

from benchmarks.common.timing import Progress, best_of, reporter

SWEEP_ROWS = (2500, 5000, 10_000)
FEATURES, COMPONENTS, FACTORS = 50, 20, 3
# layers of the network in table B.1: encoder 2, 128, 128, 2, decoder the same
SIZES = (2, 128, 128, 2)
BATCH, STEPS = 128, 200
# iterations per second of PAE and VAE in table 4.3
PUBLISHED_RATIO = 40.4 / 48.4


def run(
    progress: Progress | None = None, *, sweep_rows: tuple[int, ...] = SWEEP_ROWS, steps: int = STEPS
) -> dict[str, Any]:
    """Return the table of benchmark `generative`.

    sweep_rows : numbers of rows of the sweeps. steps : number of training steps that are timed together.
    """
    report = reporter(progress)
    total = len(sweep_rows) + 2
    rows: list[dict[str, Any]] = []
    seconds = []
    for done, n in enumerate(sweep_rows):
        seconds.append(_sweep_seconds(n))
        note = f"d = {FEATURES}, S = {COMPONENTS}, k = {FACTORS}, bound included, {os.cpu_count()} cores"
        row: dict[str, Any] = {"name": f"Classtering, one sweep, N = {n}", "seconds": seconds[-1], "note": note}
        if n == 10_000:
            row["target"] = "below 1 s"
        rows.append(row)
        report(done + 1, total)
    if len(sweep_rows) > 1:
        exponent = float(np.polyfit(np.log(sweep_rows), np.log(seconds), 1)[0])
        rows.append(
            {
                "name": "Classtering, exponent of N",
                "ratio": exponent,
                "target": "1",
                "note": "fitted to the times above",
            }
        )
    rows += _training(steps)
    report(total, total)
    return {"title": "Classtering and the Plummer autoencoder", "rows": rows}


def _sweep_seconds(n: int) -> float:
    from pucli.solvers.classtering import updates as classtering
    from pucli.solvers.classtering.bound import lower_bound
    from pucli.solvers.classtering.state import initial_hyper, rows

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, FEATURES)) + rng.normal(size=(COMPONENTS, FEATURES))[rng.integers(0, COMPONENTS, n)]
    data = rows(X / X.std(), rng.integers(-1, 3, n))
    hyper = initial_hyper(data, 3)
    R = rng.dirichlet(np.ones(COMPONENTS), size=n)
    state = classtering.start(data, hyper, R, FACTORS)
    return best_of(lambda: lower_bound(data, classtering.sweep(data, state)), repeats=5)


def _training(steps: int) -> list[dict[str, Any]]:
    try:
        from pucli.solvers.deep import require_torch

        torch = require_torch()
    except ImportError as error:
        return [{"name": "Plummer autoencoder", "note": str(error)}]
    from pucli.estimators.density.plummer import deep_models

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        # timed in turn, so that other load on the machine affects all of them alike
        names = ["autoencoder", *deep_models()]
        trainers = {name: _trainer(name) for name in names}
        best = dict.fromkeys(names, np.inf)
        floor = np.inf
        for _ in range(6):
            for name, trainer in trainers.items():
                seconds_of_all = best_of(partial(_advance, trainer, steps), repeats=1)
                best[name] = min(best[name], seconds_of_all / steps)
            floor = min(floor, best_of(lambda: _products(torch, steps), repeats=1) / steps)
    finally:
        torch.set_num_threads(threads)
    rows = [
        {
            "name": "matrix products of one autoencoder step alone",
            "seconds": floor,
            "note": f"batch {BATCH}, layers {'-'.join(map(str, SIZES))} and back, one thread",
        }
    ]
    for name in names:
        row = {
            "name": f"one step, {name}",
            "seconds": best[name],
            "ratio": best["autoencoder"] / best[name],
            "note": f"ratio: speed over the plain autoencoder's; time {best[name] / floor:.1f} x that of the products",
        }
        if name == "pae":
            row["target"] = f"at least 0.8 (published, against a VAE: {PUBLISHED_RATIO:.2f})"
        rows.append(row)
    return rows


def _trainer(name: str) -> Any:
    from pucli.solvers.deep.models import Settings
    from pucli.solvers.deep.trainer import Trainer

    settings = Settings(
        n_features=SIZES[0],
        latent_dim=SIZES[-1],
        hidden=SIZES[1:-1],
        output="linear",
        lam=10.0,
        eps=1e-4,
        batch_norm=False,
        learning_rate=1e-4,
        betas=(0.5, 0.9),
    )
    X = np.random.default_rng(0).normal(size=(500, SIZES[0]))
    return Trainer(name, settings, X, batch_size=BATCH, seed=0, device="cpu", block=10**9)


def _advance(trainer: Any, steps: int) -> None:
    for _ in range(steps):
        trainer.model.step(trainer.next_rows, trainer.draw)


def _products(torch: Any, steps: int) -> None:
    """Compute the forward product and the two backward products of every layer of encoder and decoder."""
    layers = list(itertools.pairwise(SIZES)) * 2
    inputs = [(torch.rand(BATCH, a), torch.rand(a, b), torch.rand(BATCH, b)) for a, b in layers]
    for _ in range(steps):
        for x, weight, slope in inputs:
            x @ weight
            slope @ weight.T
            x.T @ slope
