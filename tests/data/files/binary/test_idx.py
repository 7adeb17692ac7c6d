"""Images in IDX files: their content, where they come from, and the errors for damaged files."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest

from pucli.core.errors import RunError
from pucli.data import load_dataset
from pucli.data.files.binary.idx import read_idx
from tests.helpers import SHARED

IMAGES = (np.arange(5 * 2 * 3) * 8).astype(np.uint8).reshape(5, 2, 3)
LABELS = np.array([3, 0, 1, 1, 9], dtype=np.uint8)


def idx_bytes(values: np.ndarray, *, kind: int = 8) -> bytes:
    """Write an array in IDX, from the words of the format's description."""
    sizes = b"".join(size.to_bytes(4, "big") for size in values.shape)
    return bytes([0, 0, kind, values.ndim]) + sizes + values.tobytes()


def declare(folder: Path, files: dict[str, bytes]) -> Path:
    """Write files as .gz in a mirror folder, and a catalogue that declares them in this order."""
    (folder / "mirror").mkdir()
    lines = ["toy:", "  title: Toy", "  license: none", "  reader: {kind: idx}", "  files:"]
    for name, content in files.items():
        (folder / "mirror" / f"{name}.gz").write_bytes(gzip.compress(content))
        lines.append(f"    - {{name: {name}, sha256: {hashlib.sha256(content).hexdigest()}}}")
    (folder / "mine.yaml").write_text("\n".join(lines) + "\n")
    return folder / "mine.yaml"


def load(folder: Path, files: dict[str, bytes]):
    catalogue = declare(folder, files)
    return load_dataset("toy", catalogue=catalogue, cache=folder / "cache", mirror=folder / "mirror", offline=True)


@pytest.mark.parametrize("order", [1, -1])
def test_images_become_rows_and_labels_their_classes(order, tmp_path):
    files = {"images": idx_bytes(IMAGES), "labels": idx_bytes(LABELS)}
    data = load(tmp_path, dict(list(files.items())[::order]))
    np.testing.assert_array_equal(data.X, IMAGES.reshape(5, 6))
    np.testing.assert_array_equal(data.y, LABELS)
    assert data.X.dtype == np.float64
    assert data.y.dtype == np.int64


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (idx_bytes(IMAGES)[:-1], "declares 5 x 2 x 3 = 30 values, the file has 29"),
        (idx_bytes(IMAGES) + b"\0", "declares 5 x 2 x 3 = 30 values, the file has 31"),
        (idx_bytes(IMAGES)[:10], "header ends before the sizes of its 3 dimensions"),
        (bytes([0, 0, 8, 0]), "header ends before the sizes of its 0 dimensions"),
        (idx_bytes(IMAGES, kind=0x0D), "type 0x0d; only unsigned bytes"),
        (b"\x1f\x8b" + idx_bytes(IMAGES), "does not begin with an IDX header"),
        (b"", "does not begin with an IDX header"),
        (idx_bytes(IMAGES[:4]), "differ in number: .*images has 4 and .*labels has 5 rows"),
        (idx_bytes(LABELS), "one file of images and one of labels; 2 of 2 have labels"),
    ],
)
def test_broken_files_are_named_with_what_is_wrong(content, message, tmp_path):
    declare(tmp_path, {"images": content, "labels": idx_bytes(LABELS)})
    cache = tmp_path / "cache" / "toy"
    cache.mkdir(parents=True)
    (cache / "images").write_bytes(content)
    (cache / "labels").write_bytes(idx_bytes(LABELS))
    with pytest.raises(RunError, match=message) as caught:
        load_dataset("toy", catalogue=tmp_path / "mine.yaml", cache=tmp_path / "cache", offline=True)
    assert str(cache / "images") in str(caught.value)


def test_labels_alone_are_not_a_data_set(tmp_path):
    with pytest.raises(RunError, match="one file of images and one of labels; 1 of 1 have labels"):
        load(tmp_path, {"labels": idx_bytes(LABELS)})


def test_sizes_beyond_a_byte(tmp_path):
    values = np.arange(70_000, dtype=np.uint32).astype(np.uint8).reshape(700, 100)
    (tmp_path / "wide").write_bytes(idx_bytes(values))
    np.testing.assert_array_equal(read_idx(tmp_path / "wide"), values)


@pytest.mark.slow
def test_the_ten_thousand_test_images_of_mnist(tmp_path):
    shared = SHARED / "data"
    if not (shared / "mnist").is_dir():
        pytest.skip("the local mirror of the data sets is not here")
    data = load_dataset("mnist-t10k", cache=tmp_path, mirror=shared, offline=True)
    assert data.X.shape == (10_000, 784)
    # the counts of the digits 0 to 9 among the test images
    assert np.bincount(data.y).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert (data.X.min(), data.X.max()) == (0.0, 255.0)
    # ink lies in the middle of an image and not on its border
    mean = data.X.mean(axis=0).reshape(28, 28)
    assert mean[10:18, 10:18].mean() > 50 > 1 > mean[0].mean()
