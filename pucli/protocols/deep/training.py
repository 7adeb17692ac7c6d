"""Training of a cell in stages, with a checkpoint: an interrupted cell resumes where it stopped."""

from __future__ import annotations

import json
import math
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pucli.core.arrays import Floats
from pucli.core.atomic_files import replacing
from pucli.core.errors import RunError
from pucli.protocols.common import make
from pucli.runner.cells import Cell, Context


@contextmanager
def position_of(cell: Cell, context: Context) -> Iterator[Path]:
    """Folder for the training of a cell: it stays if the process is interrupted or killed, and is removed otherwise."""
    if context.unfinished is None:
        with tempfile.TemporaryDirectory(prefix="pucli-") as folder:
            yield Path(folder)
        return
    place = Path(context.unfinished) / cell.key
    try:
        place.mkdir(parents=True, exist_ok=True)
        yield place
    except Exception:  # tried again from the start
        shutil.rmtree(place, ignore_errors=True)
        raise
    shutil.rmtree(place, ignore_errors=True)


@dataclass
class TrainingState:
    """State of an unfinished training, stored beside its checkpoint."""

    folder: Path  # folder of the checkpoint; a training that was interrupted there is continued
    # wall-clock seconds of training ("fit") and of the looks ("predict")
    seconds: dict[str, float] = field(default_factory=lambda: {"fit": 0.0, "predict": 0.0})
    iterations_per_second: float = math.nan  # rate of the last stage, see `Speed`; NaN before two blocks
    curve: list[dict[str, float]] = field(default_factory=list)  # the looks taken: their "iterations" and what was seen

    @classmethod
    def of(cls, folder: Path) -> TrainingState:
        """Return the training of a folder: a new one, or the one that was interrupted there."""
        path = folder / "training.json"
        return cls(folder, **json.loads(path.read_text(encoding="utf-8"))) if path.exists() else cls(folder)

    def keep(self) -> None:
        """Write the state beside the checkpoint."""
        known = {name: value for name, value in asdict(self).items() if name != "folder"}
        with replacing(self.folder / "training.json") as partial:
            partial.write_text(json.dumps(known), encoding="utf-8")

    def run(
        self,
        method: Mapping[str, Any],
        X: Floats,
        seed: int,
        iterations: int,
        looks: list[int],
        look: Callable[[Any], dict[str, float]],
    ) -> Any:
        """Train in stages that end at each look, and record in `curve` what `look` measures there.

        Each stage continues from the checkpoint of the previous one, with the same result as an uninterrupted run.
        """
        taken = {int(seen["iterations"]) for seen in self.curve}
        stages = [n for n in sorted(set(looks)) if n < iterations and n not in taken]
        for n in [*stages, iterations]:
            model = self.stage(method, X, seed, n, block=max(1, min(1000, iterations // 10)))
            if n < iterations:
                started = time.perf_counter()
                self.curve.append({"iterations": n, **look(model)})
                self.seconds["predict"] += time.perf_counter() - started
                self.keep()
        return model

    def stage(self, method: Mapping[str, Any], X: Floats, seed: int, n: int, block: int) -> Any:
        """Train up to `n` iterations, from the checkpoint if there is one."""
        speed = Speed()
        before, started = self.seconds["fit"], time.perf_counter()

        def after_block(iteration: int, objective: float) -> None:
            speed.look(iteration, objective)
            self.seconds["fit"] = before + time.perf_counter() - started
            if len(speed.seen) > 1:
                self.iterations_per_second = speed.iterations_per_second()
            self.keep()

        fixed: dict[str, Any] = {"random_state": seed, "block": block, "checkpoint": str(self.folder / "model.pt")}
        model = make(method, report=after_block, **fixed, n_iterations=n)
        try:
            model.fit(X)
        except ImportError as error:
            raise RunError(str(error)) from error
        return model


class Speed:
    """Timer that records the time after every block of iterations."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, float]] = []

    def look(self, iteration: int, objective: float) -> None:
        """Record the time; to be passed as `report` to a deep model."""
        from pucli.solvers.deep import require_torch

        on_gpu = require_torch().cuda.is_available()
        self.seen.append((iteration, time.perf_counter() if on_gpu else time.process_time()))

    def iterations_per_second(self) -> float:
        """Return the rate between the first and the last of at least two records."""
        (first, began), (last, ended) = self.seen[0], self.seen[-1]
        return (last - first) / max(ended - began, 1e-9)
