"""One trainer for all deep models: shuffled batches, blocks of iterations, early stopping, checkpoints.

A run is a function of the model, its settings, the rows and the seed. Batches, codes of the prior and noise come from
one torch generator whose state is part of a checkpoint, so that a resumed run ends with the same bits as an
uninterrupted one on the same machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pucli.core.arrays import AnyArray
from pucli.solvers.deep import require_torch
from pucli.solvers.deep.models import MODELS, DeepModel, Settings

KEYS = {
    "fingerprint", "iteration", "history", "total", "order", "position", "residual", "generator", "modules",
    "optimizers",
}  # fmt: skip


@dataclass
class TrainingProgress:
    """The position of a run."""

    iteration: int = 0  # iterations done so far
    history: list[float] = field(default_factory=list)  # mean objective of each finished block
    total: float = 0.0  # sum of the objective over the unfinished block
    order: Any = None  # shuffled rows of the current epoch
    position: int = 0  # position of the next row in `order`


class Trainer:
    """Trains one model.

    Parameters
    ----------
    name : str
        One of `MODELS`.
    settings : Settings
        The model's settings.
    X : ndarray of shape (n, d)
        Rows, converted to float32.
    batch_size : int
        Rows per batch, from 2 to n.
    seed : int
        Seed of the weights, the batches and the draws.
    device : str
        "auto" (a GPU if there is one), "cpu" or any torch device.
    precision : {"auto", "float32", "bfloat16"}
        Of the hidden layers; "auto" is bfloat16 on a GPU that has it, and float32 elsewhere. Last layers and losses are
        float32. On a GPU, networks in bfloat16 are compiled, except those whose gradient is differentiated.
    block : int
        Iterations per entry of the history; the stopping rules are checked after each block.
    """

    def __init__(
        self,
        name: str,
        settings: Settings,
        X: AnyArray,
        *,
        batch_size: int,
        seed: int,
        device: str,
        block: int,
        precision: str = "auto",
    ) -> None:
        torch = require_torch()
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            self.device = torch.device(device)
            self.generator = torch.Generator(device=self.device).manual_seed(seed)
            torch.zeros(1, device=self.device)
        except (RuntimeError, AssertionError, TypeError) as error:  # unknown, or not on this machine
            raise ValueError(f"device={device!r} cannot be used: {error}") from error
        if precision == "auto":
            precision = "bfloat16" if self.device.type == "cuda" and _has_bfloat16(self.device) else "float32"
        self.precision = precision
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            compiled = precision == "bfloat16" and self.device.type == "cuda"
            self.model: DeepModel = MODELS[name](settings, self.device, precision, compiled=compiled)
        self.X = torch.as_tensor(np.array(X, dtype=np.float32), device=self.device)
        self.batch_size = batch_size
        self.block = block
        self.progress = TrainingProgress()
        self.last_mean = float("nan")
        self.last_residual = float("nan")  # that of the checkpoint, until a step is done
        identity = repr((name, sorted(asdict(settings).items()), batch_size, seed, block, X.shape, precision)).encode()
        self.fingerprint = hashlib.sha256(identity + np.ascontiguousarray(X, dtype=np.float32).tobytes()).hexdigest()

    def next_rows(self) -> Any:
        """Return the next batch (batch_size, d); rows that do not fill a batch at the end of an epoch are left out."""
        torch, at = require_torch(), self.progress
        if at.order is None or at.position + self.batch_size > len(at.order):
            at.order = torch.randperm(len(self.X), generator=self.generator, device=self.device)
            at.position = 0
        rows = self.X[at.order[at.position : at.position + self.batch_size]]
        at.position += self.batch_size
        return rows

    def draw(self, n: int) -> Any:
        """Return codes of the model's prior, (n, latent_dim)."""
        torch = require_torch()
        shape = (n, self.model.settings.latent_dim)
        if self.model.prior == "normal":
            return torch.randn(shape, generator=self.generator, device=self.device)
        return torch.rand(shape, generator=self.generator, device=self.device).mul_(2.0).sub_(1.0)

    def run(
        self,
        n_iterations: int,
        *,
        patience: int | None = None,
        checkpoint: Path | None = None,
        report: Callable[[int, float], object] | None = None,
    ) -> bool:
        """Train until `n_iterations` are done in total; return whether `patience` ended the run.

        A resumed run that had already ended is left unchanged.
        """
        at = self.progress
        if at.iteration > n_iterations:
            raise ValueError(
                f"n_iterations={n_iterations} is below the {at.iteration} iterations that the checkpoint {checkpoint} "
                "has done; raise n_iterations or name another file."
            )
        if self.exhausted(patience):
            return True
        for module in self.model.modules.values():
            module.train()
        with _compiling(require_torch()) if self.model.compiled else nullcontext():
            return self._iterate(n_iterations, patience, checkpoint, report)

    def _iterate(
        self,
        n_iterations: int,
        patience: int | None,
        checkpoint: Path | None,
        report: Callable[[int, float], object] | None,
    ) -> bool:
        """Do the iterations of `run`."""
        at, total = self.progress, None
        while at.iteration < n_iterations:
            value = self.model.step(self.next_rows, self.draw)
            total = value if total is None else total + value
            at.iteration += 1
            if at.iteration % self.block and at.iteration < n_iterations:
                continue
            done = at.iteration % self.block or self.block
            mean = self.last_mean = (at.total + float(total)) / done
            if not np.isfinite(mean):
                raise FloatingPointError(
                    f"training diverged: the objective is {mean} after {at.iteration} iterations; "
                    "lower the learning rate or scale the features."
                )
            if at.iteration % self.block:
                at.total += float(total)  # the run ends inside a block; a longer run continues from here
                total = None
            else:
                at.history.append(mean)
                at.total, total = 0.0, None
            if checkpoint is not None:
                self.save(checkpoint)
            if report is not None and report(at.iteration, mean):
                return False
            if self.exhausted(patience):
                return True
        return False

    def exhausted(self, patience: int | None) -> bool:
        """Return whether the last `patience` blocks or more had no new lowest mean objective; None: never."""
        history = self.progress.history
        return patience is not None and len(history) - int(np.argmin(history or [0.0])) > patience

    def residual(self) -> float:
        """Return the norm of the gradient of the last step; NaN if there was none."""
        gradients = [p.grad for m in self.model.modules.values() for p in m.parameters() if p.grad is not None]
        if not gradients:
            return self.last_residual
        return float(sum(float(g.square().sum()) for g in gradients) ** 0.5)

    def save(self, path: Path) -> None:
        """Write a checkpoint. The file is replaced in one step, so that an interrupted run leaves a complete one."""
        torch, at = require_torch(), self.progress
        content = {
            "fingerprint": self.fingerprint,
            "iteration": at.iteration,
            "history": at.history,
            "total": at.total,
            "order": at.order,
            "position": at.position,
            "residual": self.residual(),
            "generator": self.generator.get_state(),
            "modules": {name: module.state_dict() for name, module in self.model.modules.items()},
            "optimizers": [optimizer.state_dict() for optimizer in self.model.optimizers],
        }
        torch.save(content, _partial(path))
        _partial(path).replace(path)

    def resume(self, path: Path) -> None:
        """Resume from the checkpoint `path` if it exists; raise ValueError if it cannot be read or written."""
        try:
            if path.exists():
                self.load(path)
            _partial(path).touch()
            _partial(path).unlink()
        except OSError as error:
            raise ValueError(f"checkpoint {path} cannot be read and written: {error}; name another file.") from error

    def load(self, path: Path) -> None:
        """Resume from a checkpoint; raise ValueError for other files, and for other settings, rows or seeds."""
        torch = require_torch()
        try:
            content = torch.load(path, map_location=self.device, weights_only=True)
        except OSError:
            raise
        except Exception:
            content = None  # torch raises a different error for every kind of foreign file
        if not isinstance(content, dict) or not content.keys() >= KEYS:
            raise ValueError(f"{path} is not a checkpoint of pucli; name another file.")
        if content["fingerprint"] != self.fingerprint:
            raise ValueError(
                f"the checkpoint {path} was written with other settings, rows, another precision or seed; "
                "delete it or name another file."
            )
        try:
            self._restore(content)
        except Exception as error:  # torch and Python raise anything where an entry has another shape or type
            raise ValueError(f"the checkpoint {path} is damaged; delete it or name another file.") from error

    def _restore(self, content: dict[str, Any]) -> None:
        """Set the state that `save` wrote; raise ValueError for another: the step of the optimizer trusts its sizes."""
        self._check_progress(content)
        self.progress = TrainingProgress(
            *(content[key] for key in ("iteration", "history", "total", "order", "position"))
        )
        at = self.progress
        done = at.iteration % self.block
        self.last_mean = at.total / done if done else at.history[-1]
        self.last_residual = content["residual"]
        self.generator.set_state(content["generator"].cpu())
        for name, module in self.model.modules.items():
            _check_alike(content["modules"][name], module.state_dict())
            module.load_state_dict(content["modules"][name])
        for optimizer, found in zip(self.model.optimizers, content["optimizers"], strict=True):
            own = optimizer.state_dict()["param_groups"]
            parameters = [one for group in optimizer.param_groups for one in group["params"]]
            for number, parameter in enumerate(parameters):
                state = found["state"][number]
                step = state["step"]
                _check_alike(state, {"exp_avg": parameter, "exp_avg_sq": parameter, "step": step.new_zeros(())})
                if (state["exp_avg_sq"] < 0).any() or step < 1:
                    raise ValueError("optimizers")
            if len(found["state"]) != len(parameters):
                raise ValueError("optimizers")
            optimizer.load_state_dict({"state": found["state"], "param_groups": own})

    def _check_progress(self, content: dict[str, Any]) -> None:
        """Raise ValueError unless the numbers and the order of rows are those of a run on these rows."""
        iteration, position, order = content["iteration"], content["position"], content["order"]
        counts = type(iteration) is int and type(position) is int and iteration >= 1 and 0 <= position <= len(self.X)
        if not counts or len(content["history"]) != iteration // self.block or len(order) != len(self.X):
            raise ValueError("iteration")
        if sorted(order.tolist()) != list(range(len(self.X))):
            raise ValueError("order")
        if not np.isfinite([*content["history"], content["total"]]).all():
            raise ValueError("history")


def _check_alike(found: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    """Raise ValueError unless the tensors are finite and have the names, shapes and types of one's own."""
    if found.keys() != own.keys():
        raise ValueError("names")
    for name, tensor in found.items():
        if tensor.shape != own[name].shape or tensor.dtype != own[name].dtype or not tensor.isfinite().all():
            raise ValueError(name)


def _has_bfloat16(device: Any) -> bool:
    """Return whether a GPU multiplies in bfloat16: compute capability 8 or more."""
    return bool(require_torch().cuda.get_device_capability(device)[0] >= 8)


@contextmanager
def _compiling(torch: Any) -> Iterator[None]:
    """Raise torch's limit of compiled networks per process; a network that cannot be compiled runs uncompiled."""
    config = torch._dynamo.config
    limit = "recompile_limit" if hasattr(config, "recompile_limit") else "cache_size_limit"  # its name before 2.6
    with config.patch({"suppress_errors": True, limit: 256}):
        yield


def _partial(path: Path) -> Path:
    """Return the file that a checkpoint is written to before it replaces `path`."""
    return path.with_name(path.name + ".partial")
