"""Model files: what was saved comes back; whatever else is in a file is refused, and nothing in it is run."""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from pucli.core import saved_state
from pucli.core.errors import RunError, UsageError
from pucli.core.saved_state import Nested
from pucli.methods import METHODS, make_estimator
from pucli.models.saved import (
    ABOUT,
    DIGEST,
    SavedModel,
    _digest,
    _warn_if_later,
    load_model,
    make_pipeline,
    save_model,
)


def rows():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3))
    return X, (X[:, 0] + 0.3 * random.normal(size=60) > 0.6).astype(int)


def trained(standardize=True, **params):
    X, s = rows()
    pipeline = make_pipeline(make_estimator("glpual", **params), standardize=standardize).fit(X, s)
    return SavedModel(pipeline, "glpual", ["a", "b", "c"], {"label_column": "bought", "words": {"1": "yes"}})


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize(
    "params", [{}, {"kernel": "rbf", "width": 2.0}, {"kernel": "rbf", "form": "thesis"}, {"solver": "admm"}]
)
def test_a_loaded_model_equals_the_saved_one(tmp_path, params, standardize):
    model = trained(standardize, **params)
    path = save_model(tmp_path / "model.model", model)
    found = load_model(path)
    X = rows()[0]
    assert np.array_equal(found.pipeline.decision_function(X), model.pipeline.decision_function(X))
    assert np.array_equal(found.pipeline.predict(X), model.pipeline.predict(X))
    assert found.estimator.get_params() == model.estimator.get_params()
    assert (found.method, found.feature_names, found.metadata) == (model.method, model.feature_names, model.metadata)
    assert {"pucli", "scikit-learn", "numpy"} <= set(found.versions)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", list(METHODS))
@pytest.mark.slow
def test_every_method_can_be_saved(tmp_path, name):
    method = METHODS[name]
    if method.kind == "density":
        pytest.skip("no labels, no predictions")
    X, s = rows()
    y = s if method.kind == "pu" else np.where(np.arange(60) % 2 == 0, X[:, 1] > 0, -1)
    try:
        pipeline = make_pipeline(make_estimator(name), standardize=True).fit(X, y)
    except ImportError as error:
        pytest.skip(f"{name} needs {error.name}")
    found = load_model(save_model(tmp_path / "model.model", SavedModel(pipeline, name, ["a", "b", "c"])))
    assert np.array_equal(found.pipeline.predict(X), pipeline.predict(X))


def unlike_scales():
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(1, 1, (40, 3)), random.normal(-1, 1, (40, 3))]) * [1.0, 1e5, 1e-3]
    return X, np.where(random.random(80) < 0.3, np.repeat([0, 1], 40), -1)


def few_wide_rows():
    random = np.random.default_rng(0)
    return random.normal(size=(30, 5200)), np.arange(30) < 10


def shifted_rows():
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(2, 1, (30, 3)), random.normal(-2, 1, (90, 3))]) * 1e4 + 1e6
    return X, np.arange(120) < 15


@pytest.mark.parametrize(
    ("name", "rows_of", "params"),
    [
        pytest.param("classtering", unlike_scales, {}, marks=pytest.mark.slow),
        ("glpual", few_wide_rows, {}),
        ("upu", few_wide_rows, {"loss": "squared", "prior": 0.3}),
        ("nnpu", shifted_rows, {"prior": 0.2, "hidden": 10}),
    ],
)
def test_fits_that_transform_their_rows_can_be_saved(tmp_path, name, rows_of, params):
    """Features scaled one by one, coordinates of few wide rows, and features far from zero."""
    X, y = rows_of()
    pipeline = make_pipeline(make_estimator(name, **params), standardize=False).fit(X, y)
    names = [f"x{i}" for i in range(X.shape[1])]
    found = load_model(save_model(tmp_path / "model.model", SavedModel(pipeline, name, names)))
    assert np.array_equal(found.pipeline.predict(X), pipeline.predict(X))


def refuse(path, *words):
    with pytest.raises(UsageError) as caught:
        load_model(path)
    message = str(caught.value)
    assert str(path) in message
    for word in words:
        assert word in message
    return message


def test_a_missing_file(tmp_path):
    refuse(tmp_path / "none.model", "no such model file", "pucli train")


class Touch:
    """A pickle of this creates a file when it is opened."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_a_pickle_is_refused_unopened(tmp_path):
    marker = tmp_path / "marker"
    path = tmp_path / "model.model"
    path.write_bytes(pickle.dumps(Touch(marker)))
    refuse(path, "pickle", "refused")
    assert not marker.exists()


@pytest.mark.parametrize("content", [b"", b"PK", b"hello", b"\x89PNG\r\n", b"PK\x03\x04" + b"\0" * 200])
def test_a_file_of_another_kind(tmp_path, content):
    path = tmp_path / "model.model"
    path.write_bytes(content)
    refuse(path)


def archive(path, members, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as target:
        for name, content in members.items():
            target.writestr(name, content)
    return path


def test_compressed_members_are_refused_before_they_are_unpacked(tmp_path):
    path = archive(tmp_path / "bomb.model", {ABOUT: b"0" * 50_000_000}, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 100_000
    refuse(path, "compressed")


def test_members_that_claim_more_than_the_file_holds(tmp_path):
    path = archive(tmp_path / "model.model", {"a.npy": b"x" * 1000, ABOUT: b"{}"})
    buffer = io.BytesIO(path.read_bytes())
    with zipfile.ZipFile(buffer, "a") as target:  # twenty entries for the same bytes: an overlapping bomb
        target.filelist.extend([target.getinfo("a.npy")] * 20)
        target._didModify = True
    path.write_bytes(buffer.getvalue())
    refuse(path, "larger than the file")


def test_an_archive_without_a_description(tmp_path):
    refuse(archive(tmp_path / "model.model", {"other.txt": b"x"}), "not a model")


@pytest.mark.parametrize("about", [b"[1, 2", b"[]", b"{}", b"null", b'{"a": ' * 5000 + b"1" + b"}" * 5000])
def test_an_archive_that_describes_no_model(tmp_path, about):
    refuse(archive(tmp_path / "m.model", {ABOUT: about}))


def test_every_truncation_is_noticed(tmp_path):
    whole = save_model(tmp_path / "whole.model", trained()).read_bytes()
    path = tmp_path / "cut.model"
    for length in np.linspace(0, len(whole) - 1, 40).astype(int):
        path.write_bytes(whole[:length])
        refuse(path)


def test_a_changed_byte_never_gives_a_different_model(tmp_path):
    model = trained(kernel="rbf")
    whole = save_model(tmp_path / "whole.model", model).read_bytes()
    expected = model.pipeline.decision_function(rows()[0])
    path = tmp_path / "changed.model"
    refused = 0
    for position in np.random.default_rng(1).integers(0, len(whole), 150):
        content = bytearray(whole)
        content[position] ^= 0xFF
        path.write_bytes(bytes(content))
        try:
            found = load_model(path)
        except UsageError as error:
            assert str(path) in str(error)
            refused += 1
        else:  # a byte that nothing depends on, such as a date in a zip header
            assert np.array_equal(found.pipeline.decision_function(rows()[0]), expected)
    assert refused > 100


def changed(path, change):
    """Save a model to `path` and apply `change` to its description."""
    save_model(path, trained())
    with zipfile.ZipFile(path) as source:
        members = {name: source.read(name) for name in source.namelist()}
    about = json.loads(members[ABOUT])
    change(about, members)
    return archive(path, {**members, ABOUT: json.dumps(about)})


def attributes(about):
    """The encoded attributes of the estimator."""
    return about["steps"][-1][1]["state"]


@pytest.mark.parametrize(
    "name",
    ["os.system", "subprocess.Popen", "builtins.eval", "sklearn.linear_model._logistic.LogisticRegression", "gllc", 7],
)
def test_an_object_of_another_class_is_refused(tmp_path, name):
    def plant(about, members):
        attributes(about)["_coef"] = {"object": name, "state": {}}

    refuse(changed(tmp_path / "m.model", plant), "not a model of pucli", str(name), "refused")


@pytest.mark.parametrize("kind", ["pickle", "function", "call", "set"])
def test_a_value_of_another_kind_is_refused(tmp_path, kind):
    def plant(about, members):
        attributes(about)["_coef"] = {kind: "os.system"}

    refuse(changed(tmp_path / "m.model", plant), kind, "refused")


def test_an_array_of_objects_is_not_unpickled(tmp_path):
    marker = tmp_path / "marker"

    def plant(about, members):
        buffer = io.BytesIO()
        np.save(buffer, np.array([Touch(marker)], dtype=object), allow_pickle=True)
        members[attributes(about)["_coef"]["array"]] = buffer.getvalue()

    refuse(changed(tmp_path / "m.model", plant), "damaged")
    assert not marker.exists()


def test_an_array_that_claims_to_be_huge(tmp_path):
    def plant(about, members):
        buffer = io.BytesIO()
        np.lib.format.write_array_header_1_0(buffer, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)})
        members[attributes(about)["_coef"]["array"]] = buffer.getvalue() + b"0" * 100

    refuse(changed(tmp_path / "m.model", plant), "damaged")


@pytest.mark.parametrize(
    "change",
    [
        lambda about, members: about.update(format="other"),
        lambda about, members: about.update(steps=[]),
        lambda about, members: about.update(steps=[["model", 1]]),
        lambda about, members: about.update(feature_names=["a"]),
        lambda about, members: about.update(metadata=3),
        lambda about, members: about.update(method="gllc"),
        lambda about, members: about["steps"].reverse(),
        lambda about, members: about["steps"].pop(),
        lambda about, members: attributes(about).clear(),
        lambda about, members: members.clear(),
    ],
)
def test_a_description_that_does_not_fit(tmp_path, change):
    refuse(changed(tmp_path / "m.model", change))


def test_a_method_of_a_later_version(tmp_path):
    def rename(about, members):
        about.update(method="glpual-2", versions={"pucli": "9.9"})

    refuse(changed(tmp_path / "m.model", rename), "9.9", "'glpual-2'")


def test_writing_is_atomic(tmp_path, monkeypatch):
    path = save_model(tmp_path / "model.model", trained())
    before = path.read_bytes()

    def no_space(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", no_space)
    with pytest.raises(RunError, match="No space"):
        save_model(path, trained(kernel="rbf"))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_an_attribute_that_could_not_be_opened_again_is_not_saved(tmp_path):
    model = trained()
    model.estimator.helper_ = LogisticRegression()
    with pytest.raises(TypeError, match="LogisticRegression"):
        save_model(tmp_path / "model.model", model)
    assert not list(tmp_path.iterdir())


def test_an_estimator_may_declare_what_it_holds(tmp_path, monkeypatch):
    model = trained()
    monkeypatch.setattr(
        type(model.estimator), "saved_types", ("sklearn.linear_model._logistic.LogisticRegression",), raising=False
    )
    with pytest.raises(TypeError, match="helper_ is not declared"):
        model.estimator.helper_ = LogisticRegression(C=3.0)
        save_model(tmp_path / "model.model", model)
    monkeypatch.setattr(type(model.estimator), "saved_state", {"helper_": Nested("LogisticRegression")}, raising=False)
    monkeypatch.setitem(saved_state._OF_SKLEARN, "sklearn.linear_model._logistic.LogisticRegression", {})
    assert load_model(save_model(tmp_path / "model.model", model)).estimator.helper_.C == 3.0


@pytest.mark.parametrize("where", ["", "file/model.model"])
def test_a_path_that_cannot_be_written(tmp_path, where):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=str(tmp_path)):
        save_model(tmp_path / where, trained())


def test_a_model_of_a_later_version_is_told(tmp_path):
    path = save_model(tmp_path / "m.model", trained())
    load_model(path)  # silent, as warnings are errors here
    _warn_if_later(path, None)
    with pytest.warns(UserWarning, match=r"m\.model: was written by pucli 99\.0, later than this version"):
        _warn_if_later(path, "99.0")


def test_features_of_one_name_are_damage(tmp_path):
    def repeat(about, members):
        about["feature_names"] = [about["feature_names"][0]] * len(about["feature_names"])
        about[DIGEST] = _digest(about, {name: part for name, part in members.items() if name != ABOUT})

    refuse(changed(tmp_path / "m.model", repeat), "two of its features have one name")
