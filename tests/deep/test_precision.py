"""Deep models in bfloat16 and compiled, as they are trained on a GPU; here on the processor."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import torch
import torch._dynamo.utils

from pucli.deep.models import MODELS, Settings
from pucli.estimators.plummer import PlummerAutoencoder, deep_models
from tests.deep.helpers import rows, small

NAMES = sorted(deep_models())
SETTINGS = Settings(3, 2, (16,), "linear", 1.0, 1e-4, False, 1e-3, (0.5, 0.9))


def weights(model):
    return np.concatenate([np.ravel(w) for w in model._decoder[0]])


@pytest.mark.parametrize("name", NAMES)
def test_bfloat16_rounds_the_hidden_layers_and_little_changes(name):
    X = rows()
    exact, low, again = (
        small(deep_models()[name], precision=precision).fit(X) for precision in ("float32", "bfloat16", "bfloat16")
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


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_compiled_networks_take_the_same_steps(name, monkeypatch):
    compiling = []
    compile_network = torch.nn.Module.compile

    def without_a_compiler(self, **options):
        compiling.append(self)
        compile_network(self, backend="aot_eager", **options)

    monkeypatch.setattr(torch.nn.Module, "compile", without_a_compiler)
    X = rows()
    plain = small(deep_models()[name], precision="bfloat16").fit(X)
    assert not compiling
    monkeypatch.setitem(MODELS, name, functools.partial(_compiled, MODELS[name]))
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    compiled = small(deep_models()[name], precision="bfloat16").fit(X)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] >= len(compiling) > 0
    np.testing.assert_allclose(compiled.history_, plain.history_, rtol=2e-3, atol=2e-3)


def _compiled(model, settings, device, precision, *, compiled):
    assert not compiled  # the device is not a GPU
    return model(settings, device, precision, compiled=True)


def test_an_unknown_precision_is_named():
    with pytest.raises(ValueError, match="precision"):
        PlummerAutoencoder(precision="float8").fit(rows())
