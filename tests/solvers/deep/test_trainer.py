"""Deep models in bfloat16 and compiled, as they are trained on a GPU; here on the processor."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from pucli.estimators.density.plummer import PlummerAutoencoder
from pucli.solvers.deep.models import MODELS, Settings
from pucli.solvers.deep.trainer import Trainer
from tests.helpers import by_night
from tests.solvers.deep.helpers import DEEP_MODELS, rows, small

torch = pytest.importorskip("torch", reason="the extra [deep] is not installed: no torch")

pytestmark = pytest.mark.slow

NAMES = sorted(DEEP_MODELS)
SETTINGS = Settings(3, 2, (16,), "linear", 1.0, 1e-4, False, 1e-3, (0.5, 0.9))


def weights(model):
    return np.concatenate([np.ravel(w) for w in model._decoder[0]])


@pytest.mark.parametrize("name", by_night(NAMES, ["pae", "wgan-gp"]))
def test_bfloat16_rounds_the_hidden_layers_and_little_changes(name):
    X = rows()
    exact, low, again = (
        small(DEEP_MODELS[name], precision=precision).fit(X) for precision in ("float32", "bfloat16", "bfloat16")
    )
    change = np.abs(low.history_ - exact.history_).max()
    assert 0.0 < change < 0.02 * max(1.0, np.abs(exact.history_).max())
    np.testing.assert_array_equal(low.history_, again.history_)
    np.testing.assert_array_equal(weights(low), weights(again))
    assert 0.0 < np.abs(weights(low) - weights(exact)).max() < 0.02


def test_on_the_processor_auto_is_float32():
    auto, exact = (small(precision=precision, device="cpu").fit(rows()) for precision in ("auto", "float32"))
    np.testing.assert_array_equal(auto.history_, exact.history_)


def test_codes_that_bfloat16_does_not_tell_apart_stay_apart():
    torch.manual_seed(0)
    model = MODELS["pae"](SETTINGS, torch.device("cpu"), "bfloat16")
    codes = model.f(torch.randn(500, 3)).detach()
    assert codes.dtype == torch.float32
    assert len(torch.unique(codes[:, 0])) > 490
    assert len(torch.unique(codes[:, 0].bfloat16())) < 400
    assert {p.dtype for p in model.f.parameters()} == {torch.float32}


def test_a_checkpoint_of_another_precision_is_not_resumed(tmp_path):
    file = tmp_path / "run.pt"
    small(checkpoint=file, precision="bfloat16").fit(rows())
    with pytest.raises(ValueError, match="other settings"):
        small(checkpoint=file, precision="float32", n_iterations=80).fit(rows())
    resumed = small(checkpoint=file, precision="bfloat16", n_iterations=80).fit(rows())
    whole = small(precision="bfloat16", n_iterations=80).fit(rows())
    np.testing.assert_array_equal(resumed.history_, whole.history_)


@pytest.mark.parametrize("name", ["aae", "bigan"])
def test_normalized_layers_in_bfloat16_have_float32_statistics(name):
    model = small(DEEP_MODELS[name], precision="bfloat16", batch_norm=True).fit(rows())
    assert model.precision_ == "bfloat16"
    assert np.isfinite(model.transform(rows())).all()
    assert weights(model).dtype == np.float64


def test_the_fingerprint_names_the_precision_that_is_used():
    made = {
        precision: Trainer(
            "pae", SETTINGS, np.ones((4, 3)), batch_size=2, seed=0, device="cpu", block=10, precision=precision
        ).fingerprint
        for precision in ("auto", "float32", "bfloat16")
    }
    assert made["auto"] == made["float32"] != made["bfloat16"]


@pytest.mark.parametrize("name", by_night(NAMES, ["pae"]))
def test_compiled_networks_take_the_same_steps(name, monkeypatch):
    from torch._dynamo.backends.debugging import aot_eager  # takes seconds

    compiling, graphs = [], []
    compile_network = torch.nn.Module.compile

    def without_a_compiler(self, **options):
        def noted(graph, inputs):
            graphs.append(self)
            return aot_eager(graph, inputs)

        compiling.append(self)
        compile_network(self, backend=noted, **options)

    monkeypatch.setattr(torch.nn.Module, "compile", without_a_compiler)
    X = rows()
    plain = small(DEEP_MODELS[name], precision="bfloat16").fit(X)
    assert not compiling
    monkeypatch.setitem(MODELS, name, functools.partial(_compiled, MODELS[name]))
    compiled = small(DEEP_MODELS[name], precision="bfloat16").fit(X)
    assert compiling
    assert all(any(network is seen for seen in graphs) for network in compiling)
    np.testing.assert_allclose(compiled.history_, plain.history_, rtol=2e-3, atol=2e-3)


def _compiled(model, settings, device, precision, *, compiled):
    assert not compiled  # the device is not a GPU
    return model(settings, device, precision, compiled=True)


def test_an_unknown_precision_is_named():
    with pytest.raises(ValueError, match="precision"):
        PlummerAutoencoder(precision="float8").fit(rows())
