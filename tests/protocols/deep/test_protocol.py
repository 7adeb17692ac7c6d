"""The protocol deep: what is drawn, counted and kept."""

from __future__ import annotations

import importlib
from copy import deepcopy
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from pucli.core.errors import RunError, UsageError
from pucli.data.catalogue.mixtures import embedding, grid_centers, stacked
from pucli.metrics.density import nearest_centers, share_near
from pucli.protocols.deep import protocol as deep
from pucli.protocols.deep import training
from pucli.report.protocol_parts import extras_of
from pucli.runner import Context, parse_experiment, plan, run
from pucli.solvers.deep import models, require_torch

torch = pytest.importorskip("torch", reason="the extra [deep] is not installed: no torch")
torch.set_num_threads(1)

pytestmark = pytest.mark.slow

DECLARED = {
    "title": "stacked",
    "protocol": "deep",
    "data": {"names": ["digits"], "standardize": "none"},
    "split": {"scenario": "drawn", "repeats": 2, "seed": 1},
    "options": {"iterations": 3, "rows": 60, "test_rows": 20, "generated": 40, "stack": True, "likelihood": False},
    "methods": {"PAE": {"method": "pae", "hidden": [8], "output": "sigmoid", "latent_dim": 3}},
    "metrics": ["iterations_per_second"],
}


def experiment(**changes):
    options = {**DECLARED["options"], **changes.pop("options", {})}
    made = parse_experiment({**DECLARED, "options": options, **changes}, file="stacked.yaml")
    made._name = "stacked"
    return made


def test_stacked_digits_are_trained_counted_and_drawn():
    made = experiment(options={"likelihood": True, "iterations": 4})
    cells = plan(made)
    assert len(cells) == 2
    result = deep.PROTOCOL.run_cell(cells[0], Context())
    assert result.metrics["iterations_per_second"] > 0
    assert 1 <= result.metrics["modes"] <= 40
    assert np.isfinite(result.metrics["log_likelihood"])
    assert result.params["n_iterations"] == 4
    assert np.shape(result.details["images"]) == (5, 8, 192)
    assert np.shape(result.details["neighbors"]) == (6, 8, 192)
    figures = extras_of("deep")(made, cells, {cells[0].key: vars(result)})
    assert [extra.path for extra in figures] == ["figures/images-digits", "figures/neighbors-digits"]


def test_a_profile_can_shrink_networks_and_skip_the_generation():
    made = experiment(options={"hidden": [4, 3], "generate": False})
    cell = plan(made)[0]
    result = deep.PROTOCOL.run_cell(cell, Context())
    assert result.params["hidden"] == [4, 3]
    assert set(result.metrics) == {"iterations_per_second"}
    assert result.details == {}


def test_intermediate_looks_equal_those_of_shorter_runs():
    options = {"likelihood": True, "iterations": 30, "looks": [10, 20, 30, 40]}
    made = experiment(options=options)
    cell = plan(made)[0]
    result = deep.PROTOCOL.run_cell(cell, Context())
    assert [look["iterations"] for look in result.details["curve"]] == [10, 20, 30]
    for look in result.details["curve"]:
        shorter = experiment(options={"likelihood": True, "iterations": look["iterations"]})
        alone = deep.PROTOCOL.run_cell(plan(shorter)[0], Context())
        assert alone.metrics["log_likelihood"] == look["log_likelihood"]
        assert "curve" not in alone.details
    other = deepcopy(vars(result))
    for look in other["details"]["curve"]:
        look["log_likelihood"] += 1.0
    second = next(one for one in plan(made) if one.repeat == 1)
    found = extras_of("deep")(made, [cell, second], {cell.key: vars(result), second.key: other})
    assert [extra.path for extra in found][:1] == ["curves.csv"] and found[-1].path == "figures/curve-digits"
    lines = pd.read_csv(StringIO(found[0].content))
    assert list(lines["iterations"]) == [10, 20, 30] * 2 and list(lines["repeat"]) == [0] * 3 + [1] * 3
    (line,) = found[-1].content.axes[0].get_lines()[:1]
    np.testing.assert_allclose(line.get_ydata(), lines.groupby("iterations")["log_likelihood"].mean())


def test_looks_need_a_likelihood():
    with pytest.raises(UsageError, match=r"options\.looks measures the likelihood"):
        plan(experiment(options={"looks": [1], "likelihood": False}))


LONG = {"likelihood": True, "iterations": 30, "looks": [10, 20]}
BLOCK = 3  # iterations, a tenth of them


@pytest.mark.parametrize("blocks", [1, 5, 10])
def test_an_interrupted_cell_goes_on_from_its_last_block_with_the_same_bits(tmp_path, monkeypatch, blocks):
    cell = plan(experiment(options=LONG))[0]
    whole = deep.PROTOCOL.run_cell(cell, Context())
    context = Context(unfinished=str(tmp_path))
    done: list[int] = []
    look = training.Speed.look

    def interrupt(self, iteration, objective):
        look(self, iteration, objective)
        done.append(iteration)
        if len(done) == blocks:
            raise KeyboardInterrupt

    monkeypatch.setattr(training.Speed, "look", interrupt)
    with pytest.raises(KeyboardInterrupt):
        deep.PROTOCOL.run_cell(cell, context)
    stopped = done[-1]
    assert [kept.name for kept in tmp_path.iterdir()] == [cell.key]
    result = deep.PROTOCOL.run_cell(cell, context)
    assert all(iteration > stopped for iteration in done[blocks:])
    assert len(done[blocks:]) <= (30 - stopped) / BLOCK + 2  # a stage may end inside a block
    assert result.details["curve"] == whole.details["curve"]
    for metric in ("log_likelihood", "modes"):
        assert result.metrics[metric] == whole.metrics[metric]
    assert result.certificate == whole.certificate
    assert not list(tmp_path.iterdir())


def test_a_cell_interrupted_after_its_training_has_the_speed_and_the_time_of_it(tmp_path, monkeypatch):
    cell = plan(experiment(options=LONG))[0]
    judge = deep._judge

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(deep, "_judge", interrupt)
    with pytest.raises(KeyboardInterrupt):
        deep.PROTOCOL.run_cell(cell, Context(unfinished=str(tmp_path)))
    known = training.TrainingState.of(tmp_path / cell.key)
    monkeypatch.setattr(deep, "_judge", judge)
    result = deep.PROTOCOL.run_cell(cell, Context(unfinished=str(tmp_path)))
    assert result.metrics["iterations_per_second"] == known.iterations_per_second > 0
    assert result.seconds["fit"] == known.seconds["fit"] > 0
    assert result.details["curve"] == deep.PROTOCOL.run_cell(cell, Context()).details["curve"]


def test_a_failed_cell_keeps_nothing_and_is_tried_from_the_start(tmp_path, monkeypatch):
    cell = plan(experiment(options=LONG))[0]
    monkeypatch.setattr(deep, "_judge", lambda *args, **kwargs: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        deep.PROTOCOL.run_cell(cell, Context(unfinished=str(tmp_path)))
    assert not list(tmp_path.iterdir())


def test_a_run_leaves_no_folder_of_unfinished_cells(tmp_path):
    summary = run(experiment(options={"generate": False}), results_dir=tmp_path)
    assert summary.ran == 2 and not summary.failed
    assert not (summary.folder / "unfinished").exists()


def test_speed_leaves_the_first_look_out(monkeypatch):
    clock = iter([5.0, 6.0, 9.0])
    monkeypatch.setattr(training.time, "process_time", lambda: next(clock))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    speed = training.Speed()
    for iteration in (10, 20, 30):
        speed.look(iteration, 0.0)
    assert speed.iterations_per_second() == 20 / 4


def test_training_and_test_images_are_apart():
    drawn = deep.PROTOCOL.prepare(plan(experiment())[0], Context())
    X, X_test = drawn.X_train, drawn.X_test
    assert X.shape == (60, 192) and X_test.shape == (20, 192) and drawn.centers is None
    assert X.min() >= 0.0 and X.max() <= 1.0
    sources = {image.tobytes() for image in drawn.images}
    assert all(image.tobytes() in sources for row in X for image in row.reshape(3, 64))
    assert not any(image.tobytes() in sources for row in X_test for image in row.reshape(3, 64))


def test_stacked_class_reads_its_channels_in_order():
    images, digits = np.arange(10.0)[:, None] / 10.0, np.arange(10)
    X, y = stacked(images, digits, np.random.default_rng(0), 50)
    np.testing.assert_array_equal(y, np.round(X @ [1000.0, 100.0, 10.0]))
    counts = deep._stacked_counts(X, deep.DrawnRows(X, X_test=X, images=images, digits=digits))
    np.testing.assert_array_equal(counts, np.bincount(y, minlength=1000))


def test_generated_rows_of_the_grid_are_counted_and_scored():
    made = experiment(
        data={"generate": "gaussian-grid", "standardize": "none"},
        options={"stack": False, "likelihood": True},
        methods={"PAE": {"method": "pae", "hidden": [8]}},
    )
    cells = plan(made)
    result = deep.PROTOCOL.run_cell(cells[0], Context())
    assert sum(result.details["counts"]) == 40
    assert 0.0 <= result.metrics["near"] <= 1.0
    figures = extras_of("deep")(made, cells, {cells[0].key: vars(result)})
    assert [extra.path for extra in figures] == ["figures/generated-gaussian-grid", "figures/counts-gaussian-grid"]


def test_modes_and_nearness_of_the_true_density():
    rng = np.random.default_rng(0)
    centers = grid_centers(10.5)
    rows = centers[np.arange(500) % 25] + 0.316 * rng.normal(size=(500, 2))
    nearest, _ = nearest_centers(rows, centers)
    np.testing.assert_array_equal(np.bincount(nearest), 20)
    assert share_near(rows, centers, 0.316) == 1.0
    assert share_near(rows + 5.0, centers, 0.316) < 0.05
    means, basis = embedding(5.0)
    inside = (means[np.arange(200) % 10] + rng.normal(size=(200, 10))) @ basis
    assert share_near(inside, means @ basis, 1.0) > 0.99


def test_bandwidth_is_chosen_on_training_rows():
    generated = np.linspace(0.0, 20.0, 41)[:, None]
    far, near = generated[:20] + 30.0, generated + 1e-3  # they want the broadest kernel and the narrowest
    value, bandwidth = deep._likelihood(generated, deep.DrawnRows(X_train=far, X_test=near))
    assert bandwidth == pytest.approx(10.0**1.5)
    assert value == pytest.approx(np.log(norm.pdf(near, generated.T, bandwidth).mean(axis=1)).mean())
    assert deep._likelihood(generated, deep.DrawnRows(X_train=near, X_test=far))[1] < 0.1


def test_without_torch_one_error_names_what_to_install(monkeypatch, tmp_path):
    find = importlib.import_module

    def absent(name, *package):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
        return find(name, *package)

    made = experiment()
    cells = plan(made)
    require_torch.cache_clear()
    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(RunError, match=r"pip install 'pucli\[deep\]'"):
        deep.PROTOCOL.run_cell(cells[0], Context())
    with pytest.raises(UsageError, match=r"pae: .*pip install 'pucli\[deep\]'"):
        run(made, results_dir=tmp_path)
    assert not list(tmp_path.rglob("table.md"))


def test_wrong_options_are_named():
    with pytest.raises(UsageError, match=r"options\.iterations"):
        plan(experiment(options={"iterations": 0}))
    with pytest.raises(UsageError, match="digits is not a generated set"):
        plan(experiment(options={"stack": False}))


def test_the_critic_descends_on_its_penalized_distance(monkeypatch):
    torch.manual_seed(0)
    drawn, seen, descend = torch.Generator().manual_seed(0), [], models.descend
    settings = models.Settings(2, 2, (5,), "linear", 0.0, 0.0, False, 1e-3, (0.5, 0.9))
    model = models.WassersteinModel(settings, "cpu")
    critic, generator = model.d.double(), model.g.double()
    X, codes = 3.0 * torch.rand(6, 2, generator=drawn).double(), 2.0 * torch.rand(2, 6, 2, generator=drawn).double() - 1
    model.critic_steps = 1

    def loss() -> float:
        """10 (|slope| - 1)^2 - distance, slopes by central differences of the critic."""
        with torch.no_grad():
            fake, share = generator(codes[0]), 0.5 * (codes[1][:, :1] + 1.0)
            between, step = share * X + (1.0 - share) * fake, 1e-6 * torch.eye(2).double()
            slope = torch.cat([critic(between + e) - critic(between - e) for e in step], dim=1) / 2e-6
            penalty = (slope.norm(dim=1) - 1.0).square().mean()
            return float(10.0 * penalty - critic(X).mean() + critic(fake).mean())

    def numerical(entry) -> float:
        """The slope of `loss` in one weight."""
        values = []
        for change in (1e-5, -2e-5):
            entry += change
            values.append(loss())
        entry += 1e-5
        return (values[0] - values[1]) / 2e-5

    def spy(optimizer, value):
        if not seen:
            first, *_, last = [p for p in critic.parameters() if p.ndim == 2]
            seen.extend([float(value.detach()), loss()])
            optimizer.zero_grad()
            value.backward(retain_graph=True)
            for weight in (first, last):
                seen.extend([float(weight.grad[0, 1]), numerical(weight.data[0, 1])])
        return descend(optimizer, value)

    monkeypatch.setattr(models, "descend", spy)
    batches = iter([codes[0], codes[1], codes[0]])
    model.step(lambda: X, lambda n: next(batches))
    np.testing.assert_allclose(seen[::2], seen[1::2], rtol=1e-4, atol=1e-6)
