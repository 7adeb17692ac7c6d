"""Saving and loading of fitted models without running code from the file.

A model file is an uncompressed zip with ``model.json`` and one ``.npy`` member per array. It may contain plain values,
lists, tuples, dicts, arrays of numbers or text, the encoder, the standardizer, the estimator of the method named in the
file, and the classes that this estimator declares in ``saved_types``. There is no pickle, and names in the file are not
looked up anywhere else, so no other class can be created. (skops has the same aim, but importing it takes seconds,
because it imports all of scikit-learn, and torch if installed.)
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import json
import re
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.pipeline import Pipeline

from pucli.core.arrays import AnyArray, Floats
from pucli.core.atomic_files import replacing
from pucli.core.errors import UsageError, check_model_file
from pucli.core.saved_state import StateError, check_state
from pucli.core.version import __version__
from pucli.data.columns.cells import TableError
from pucli.data.columns.encoder import TableEncoder
from pucli.data.features import Standardizer
from pucli.data.reading import Reading
from pucli.estimators.base.certificate import log_of
from pucli.estimators.base.pu import has_own_probabilities
from pucli.methods import all_methods, estimator_class
from pucli.models.relabeling import RelabeledClassifier
from pucli.models.stored_values import ValueReader, ValueWriter, not_a_model

FORMAT, FORMAT_VERSION = "pucli model, version ", 1
# Packages whose versions a model file records; any other name is the package of its method.
OWN_VERSIONS = ("pucli", "scikit-learn", "numpy")
ABOUT = "model.json"
DIGEST = "sha256"  # entry of the description: the digest of everything else


@dataclass(frozen=True)
class SavedModel:
    """A fitted model with everything needed to apply it."""

    pipeline: Pipeline  # fitted, see `make_pipeline`
    method: str  # its name on the command line
    feature_names: list[str]  # columns of X, in order
    # any JSON values: label column, names of the labels, data set, ...
    metadata: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)  # of the packages that wrote the file
    encoder: TableEncoder | None = None  # encodes a table with columns of any kind as X; None if X is read directly
    origin: str = ""  # the file that the model was loaded from, for the error about a missing column

    @property
    def estimator(self) -> Any:
        """Return the fitted estimator without its preprocessing."""
        return self.pipeline[-1]

    @property
    def reading(self) -> Reading:
        """Return the reading options of the training file, which apply to new files, too."""
        return Reading.of_record(self.metadata.get("reading", {}))

    @property
    def table_encoder(self) -> TableEncoder:
        """Return the encoder of the model, or that of a numeric table if it has none."""
        if self.encoder is not None:
            return self.encoder
        encoder = TableEncoder.of_numbers(self.feature_names)
        encoder.origin = self.origin
        return encoder

    @property
    def whole(self) -> Pipeline:
        """Return a pipeline for tables like the training file; it predicts the words of the label column."""
        *steps, (name, model) = self.pipeline.steps
        words, curve = self.metadata.get("words", {}), self.metadata.get("probability")
        if words or curve:
            model = RelabeledClassifier(model, words, curve)
        return Pipeline([("encode", self.table_encoder), *steps, (name, model)])

    def predict(self, X: Any) -> AnyArray:
        """Return the label of each row of a table X like the training rows, shape (n,), as `pucli predict` does."""
        labels: AnyArray = self.whole.predict(X)
        return labels

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row of a table X, shape (n,); above zero for rows that are predicted positive."""
        scores: Floats = self.whole.decision_function(X)
        return scores

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of both labels of each row of a table X, shape (n, 2)."""
        shares: Floats = self.whole.predict_proba(X)
        return shares

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithms of `predict_proba`, shape (n, 2)."""
        return log_of(self.predict_proba(X))


def make_pipeline(estimator: Any, *, standardize: bool) -> Pipeline:
    """Return an unfitted pipeline of optional standardization and `estimator`."""
    steps: list[tuple[str, Any]] = [("standardize", Standardizer())] if standardize else []
    return Pipeline([*steps, ("model", estimator)])


def save_model(path: str | Path, model: Any) -> Path:
    """Write a fitted model to a file, from which `load_model` and `pucli predict` read it.

    Parameters
    ----------
    path : str or Path
        The file. It is written as a whole or not at all.
    model : estimator, Pipeline or SavedModel
        A fitted method of pucli, alone or after `TableEncoder` and `Standardizer`, or a `CalibratedPU` of one.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    UsageError
        If nothing can be written there.
    RunError
        If the disk is full.
    TypeError
        If it is not such a model, or an attribute is of a type that a model file cannot hold.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import make_blobs
    >>> from sklearn.pipeline import make_pipeline
    >>> from pucli import BLSSVM, Standardizer
    >>> X, y = make_blobs(60, centers=[[-2, -2], [2, 2]], random_state=0)
    >>> model = make_pipeline(Standardizer(), BLSSVM()).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     saved = load_model(save_model(f"{folder}/my.model", model))
    >>> bool((saved.predict(X) == model.predict(X)).all())
    True
    """
    model = saved_form(model)
    content = model_bytes(model)
    with replacing(path) as partial:
        partial.write_bytes(content)
    return Path(path)


def saved_form(model: Any) -> SavedModel:
    """Return a fitted estimator or pipeline with what a model file holds of it."""
    if isinstance(model, SavedModel):
        return model
    curve = model.curve_.record() if hasattr(model, "curve_") else None
    model = getattr(model, "estimator_", model)
    steps = list(model.steps) if isinstance(model, Pipeline) else [("model", model)]
    names = getattr(steps[0][1], "feature_names_in_", None)
    encoder = steps.pop(0)[1] if isinstance(steps[0][1], TableEncoder) else None
    if not steps or not hasattr(steps[-1][1], "n_features_in_"):
        raise TypeError("save_model takes a fitted method, a fitted pipeline that ends with one, or a SavedModel.")
    name, last = steps[-1]
    if getattr(last, "encoder_", None) is not None:
        encoder, last = last.encoder_, last.of_encoded_rows()
    if encoder is not None:
        names = encoder.get_feature_names_out()
    kind = f"{type(last).__module__}:{type(last).__name__}"
    methods = [method.name for method in all_methods().values() if method.estimator == kind]
    if not methods:
        raise TypeError(
            f"{type(last).__name__} is no method of `pucli list methods`, and only those are saved: save_model takes a "
            "fitted method, a fitted pipeline of TableEncoder, Standardizer and a method, or a SavedModel."
        )
    if curve is None and getattr(last, "_by_training_scores", False) and hasattr(last, "labeled_scores_"):
        curve = _curve_of_training(last)
    metadata: dict[str, Any] = {} if curve is None else {"probability": curve}
    if leaks := getattr(last, "_leaks", ()):
        metadata["leaks"] = list(leaks)
    shown = [f"x{i}" for i in range(last.n_features_in_)] if names is None else [str(one) for one in names]
    return SavedModel(Pipeline([*steps[:-1], (name, last)]), methods[0], shown, metadata, encoder=encoder)


def _curve_of_training(model: Any) -> dict[str, Any]:
    """Return the probabilities by score that a method estimates from the scores of training rows, as JSON values."""
    curve = model._training_curve()
    prior, p = float(curve.of(model.unlabeled_scores_).mean()), curve.probabilities.tolist()
    ends = dict.fromkeys(("prior", "prior_low", "prior_high"), prior)
    return {"scores": (curve.scores - model._threshold).tolist(), "probability": p, "low": p, "high": p, **ends}


def model_bytes(model: SavedModel) -> bytes:
    """Return the content of a model file; raise TypeError for an attribute of a type that it cannot hold."""
    versions = {"pucli": __version__, "scikit-learn": sklearn.__version__, "numpy": np.__version__}
    method = all_methods()[model.method]
    if method.package:
        versions[method.package] = method.package_version
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        writer = ValueWriter(archive, _known_classes(model.method))
        about = {
            "format": f"{FORMAT}{FORMAT_VERSION}",
            "method": model.method,
            "feature_names": list(model.feature_names),
            "metadata": model.metadata,
            "versions": versions,
            "encoder": writer.encode(model.encoder, "encoder"),
            "steps": [[name, writer.encode(step, name)] for name, step in model.pipeline.steps],
        }
        try:
            _check_parts(model)
        except StateError as error:
            raise TypeError(f"{error}.") from error
        about[DIGEST] = _digest(about, {name: archive.read(name) for name in archive.namelist()})
        text = json.dumps(about, ensure_ascii=False, allow_nan=False)
        archive.writestr(
            zipfile.ZipInfo(ABOUT), text.encode("utf-8", "backslashreplace")
        )  # a name of a file may be no text
    return buffer.getvalue()


def _check_parts(model: SavedModel) -> None:
    """Raise StateError unless every part of a model is as its class declares it, see `pucli.core.saved_state`."""
    sizes = {"m": len(model.feature_names)}
    for name, step in model.pipeline.steps:
        check_state(step, name, sizes)
    if model.encoder is not None:
        check_state(model.encoder, "encoder")


def _digest(about: Mapping[str, Any], members: Mapping[str, bytes]) -> str:
    """Return the SHA-256 of a model file's content; a part that was changed or exchanged gives another one."""
    plain = {name: value for name, value in about.items() if name != DIGEST}
    found = hashlib.sha256(json.dumps(plain, sort_keys=True, allow_nan=False).encode())
    for name in sorted(members):
        found.update(f"{name}:".encode() + hashlib.sha256(members[name]).digest())
    return found.hexdigest()


def load_model(path: str | Path) -> SavedModel:
    """Read a model written by `save_model`; no code in the file is run.

    Raises UsageError for a file that is missing, damaged, not a model, or has content that is not allowed.
    """
    path = Path(path)
    members = _members(path, _content(path))
    with _damage(path, "its description cannot be read"):
        about = json.loads(members.pop(ABOUT))
    if not isinstance(about, dict) or not str(about.get("format")).startswith(FORMAT):
        raise not_a_model(path)
    if about["format"] != f"{FORMAT}{FORMAT_VERSION}":
        raise UsageError(
            f"{path}: was written by a later version of pucli; this one ({__version__}) cannot read it. Update pucli, "
            "or train the model again."
        )
    method, versions = about.get("method"), about.get("versions")
    if not isinstance(method, str) or not isinstance(versions, dict):
        raise _damaged(path, "its description does not name the method and the versions")
    if method not in (methods := all_methods()):
        if any(name not in OWN_VERSIONS for name in versions):  # a name from the file is no safe advice
            raise UsageError(
                f"{path}: holds a model of {method!r}, a method of another package, which is not installed; ask who "
                "gave you the file."
            )
        raise UsageError(
            f"{path}: was written by pucli {versions.get('pucli')} with the method {method!r}, which this version "
            f"({__version__}) does not have."
        )
    _warn_if_later(path, versions.get("pucli"))
    reader = ValueReader(path, members, _known_classes(method))
    with _damage(path, "its content is not a model", passes=UsageError):
        pipeline = Pipeline([(str(name), reader.decode(step)) for name, step in about["steps"]])
        encoder = reader.decode(about.get("encoder"))
        names, metadata = list(about["feature_names"]), dict(about["metadata"])
        if about.get(DIGEST) != _digest(about, members):
            raise _damaged(path, "a part of it was changed after it was written")
        _check_names(path, names)
        origin = f" (model {path})"
        if encoder is not None:
            encoder.origin = origin
        model = SavedModel(pipeline, method, names, metadata, dict(versions), encoder, origin)
        try:
            _check_parts(model)
        except StateError as error:
            raise _damaged(path, str(error)) from error
        fits = isinstance(model.estimator, estimator_class(methods[method]))
        fits &= model.estimator.n_features_in_ == len(model.feature_names)
        fits &= encoder is None or len(encoder.get_feature_names_out()) == len(model.feature_names)
        if not fits:
            raise not_a_model(path)
    with _damage(path, "its description of the training is incomplete or wrong"):
        _check_metadata(metadata, methods[method].kind)
    with _damage(path, "its model cannot predict"), warnings.catch_warnings(action="ignore"):
        _try_out(model)
    return model


# Rows that a network draws when it is tried out.
TRIAL_DRAWS = 10
# Metadata that commands read, by their types.
_METADATA: dict[Any, tuple[str, ...]] = {
    str: ("kind", "doubt", "denominator", "preprocessing"),
    str | None: ("label_column",),
    int: ("labeled", "unlabeled"),
    list: ("id_columns", "found_ids", "leaks"),
    dict: ("words", "data", "probability", "reading", "known"),
}


def _warn_if_later(path: Path, version: object) -> None:
    """Warn of a model that a later version has written."""
    here, other = (list(map(int, re.findall(r"\d{1,9}", str(one))[:3])) for one in (__version__, version))
    if other > here:
        warnings.warn(
            f"{path}: was written by pucli {version}, later than this version ({__version__}), and may mean something "
            "else here; update pucli",
            stacklevel=3,
        )


def _check_names(path: Path, names: list[Any]) -> None:
    """Raise UsageError unless the features have different names."""
    if not names or not all(isinstance(name, str) for name in names):
        raise _damaged(path, "its features have no names")
    if len(set(names)) < len(names):
        raise _damaged(path, "two of its features have one name")


def _check_metadata(metadata: dict[str, Any], kind: str) -> None:
    """Raise ValueError for metadata of a type that `Fitted.to_save` does not write; `kind` is that of the method."""
    if metadata.get("kind", "" if "data" in metadata else kind) != kind:
        raise ValueError("kind")
    for type_, names in _METADATA.items():
        for name in names:
            if name in metadata and not isinstance(metadata[name], type_):
                raise ValueError(name)
    texts = [*metadata.get("words", {}).values()]
    texts += [text for name in ("id_columns", "found_ids", "leaks") for text in metadata.get(name, [])]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("words")
    if metadata.get("denominator", "all") not in ("all", "unlabeled"):
        raise ValueError("denominator")
    Reading.of_record(metadata.get("reading", {}))
    if curves := metadata.get("probability"):
        _check_curves(curves)
    if known := metadata.get("known"):
        changes = np.array(known["changes"], dtype=float)
        if changes.shape[:1] != (len(known["names"]),) or changes.ndim != 2 or not np.isfinite(changes).all():
            raise ValueError("known")


def _check_curves(curves: dict[str, Any]) -> None:
    """Raise ValueError unless these are probabilities by ascending score and a prior with its interval."""
    scores = np.array(curves["scores"], dtype=float)
    found = np.array([curves[name] for name in ("probability", "low", "high")], dtype=float)
    priors = np.array([curves[name] for name in ("prior_low", "prior", "prior_high")], dtype=float)
    if scores.ndim != 1 or found.shape != (3, len(scores)) or not len(scores) or not np.isfinite(scores).all():
        raise ValueError("probability")
    every = np.concatenate([found.ravel(), priors])
    if not ((every >= 0.0) & (every <= 1.0)).all() or (np.diff(scores) < 0.0).any() or (np.diff(priors) < 0.0).any():
        raise ValueError("probability")


def _try_out(model: SavedModel) -> None:
    """Encode an empty row and a row of text, and predict a row of zeros; a score that is no number is a ValueError."""
    encoder = model.table_encoder
    if not encoder.sparse_:
        import pandas as pd

        with contextlib.suppress(TableError):
            encoder.transform(pd.DataFrame({name: [None, "1"] for name in encoder.needed}, dtype=object))
    rows = np.zeros((3, len(model.feature_names)))
    if len(model.pipeline) > 1:
        rows = model.pipeline[:-1].transform(rows)
    if all_methods()[model.method].extra:  # a network takes a second for its densities, but not from few draws
        found = np.asarray(model.estimator.score_samples(rows, n_samples=TRIAL_DRAWS))
        if found.shape != (len(rows),) or np.isnan(found).any():
            raise ValueError("score_samples")
        return
    shapes = {}
    for name in ("predict", "decision_function", "predict_proba", "predict_cluster", "score_samples"):
        known = has_own_probabilities(model.estimator) if name == "predict_proba" else hasattr(model.estimator, name)
        if known:
            found = np.asarray(getattr(model.estimator, name)(rows))
            shapes[name] = found.shape
            if len(found) != len(rows) or (name != "predict" and not np.isfinite(found).all()):
                raise ValueError(name)
    classes = getattr(model.estimator, "classes_", None)
    if "predict" in shapes and shapes["predict"] != (len(rows),):
        raise ValueError("predict")
    if classes is not None and np.shape(classes) != (2 if shapes.get("decision_function") == (3,) else len(classes),):
        raise ValueError("classes_")
    if classes is not None and shapes.get("predict_proba", (3, len(classes))) != (3, len(classes)):
        raise ValueError("classes_")


def _known_classes(method: str) -> dict[str, type]:
    """Return the classes, by name, that a model of `method` may contain besides plain values and arrays."""
    kind = estimator_class(all_methods()[method])
    known: dict[str, type] = {"TableEncoder": TableEncoder, "Standardizer": Standardizer, method: kind}
    for dotted in getattr(kind, "saved_types", ()):
        module, _, name = dotted.rpartition(".")
        known[dotted] = getattr(importlib.import_module(module), name)
    return known


def _content(path: Path) -> bytes:
    """Return the bytes of an archive, or raise UsageError if the file cannot be an archive."""
    check_model_file(path)
    content = path.read_bytes()
    if content[:1] == b"\x80":
        raise UsageError(
            f"{path}: is a pickle, which can run any code when it is opened, and is refused; "
            "`pucli train --model FILE` writes models that are safe to open."
        )
    if content[:2] != b"PK":
        raise not_a_model(path)
    return content


def _members(path: Path, content: bytes) -> dict[str, bytes]:
    """Return the members of the archive, none of them larger than the file itself."""
    with (
        _damage(path, "it is truncated, or bytes have changed", passes=UsageError),
        zipfile.ZipFile(io.BytesIO(content)) as archive,
    ):
        listed = archive.infolist()
        if any(member.compress_type != zipfile.ZIP_STORED for member in listed):
            raise not_a_model(path, "its members are compressed, unlike those of a model")
        if sum(member.file_size for member in listed) > len(content):
            raise not_a_model(path, "its members claim to be larger than the file")
        if ABOUT not in archive.namelist():
            raise not_a_model(path)
        return {member.filename: archive.read(member) for member in listed}  # checks each member's CRC-32


@contextlib.contextmanager
def _damage(path: Path, detail: str, *, passes: type[Exception] | tuple[()] = ()) -> Iterator[None]:
    """Take every error for damage of the file, but those that may pass: it may cause any of numpy or scikit-learn."""
    try:
        yield
    except passes:
        raise
    except Exception as error:
        raise _damaged(path, detail) from error


def _damaged(path: Path, detail: str) -> UsageError:
    return UsageError(f"{path}: the model file is damaged ({detail}); train it again or take it from a backup.")
