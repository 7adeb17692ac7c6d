"""The declared data sets: published counts, hashes, packagings, and the messages of a faulty catalogue."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

from pucli.core.errors import RunError, UsageError
from pucli.core.seeding import stream
from pucli.data import (
    catalogue_schema,
    content_hash,
    data_sha256,
    dataset_entry,
    dataset_key,
    dataset_names,
    load_catalogue,
    load_dataset,
)
from tests.data.toy import ENTRY, declare
from tests.helpers import ROOT

SHARED = ROOT.parent / "shared" / "data"
THESIS = [
    "acc",
    "ecoli",
    "pen",
    "or1",
    "or2",
    "ssmcr",
    "pb",
    "od",
    "umd",
    "seeds",
    "enb",
    "wifi",
    "avila",
    "rd",
    "ld",
    "hd",
]
TABLE_3_2 = {  # Wang 2024, Table 3.2: positive, negative, features
    "Acc": (100, 100, 4),
    "Ecoli": (116 + 52, 143 + 25, 6),
    "Pen": (400, 400, 16),
    "OR1": (301, 301, 4),
    "OR2": (500, 500, 4),
    "SSMCR": (391, 109, 3),
    "PB": (500, 500, 3),
    "OD": (100, 300, 5),
    "UMD": (83, 63, 5),
    "Seeds": (70, 70, 7),
    "ENB": (144, 144, 7),
    "wifi": (200, 599, 7),
    "Avila": (300, 900, 10),
    "RD": (450, 450, 7),
    "LD": (144, 200, 6),
    "HD": (150, 119, 13),
}
# Declared after the local mirror was made.
NOT_MIRRORED = (
    *("spambase", "magic", "car", "banknote", "rice", "credit-default", "abalone", "letter-u-c", "iranian-churn"),
    *("wine-quality", "connect-4", "disdat-swi", "disdat-swi-sites", "disdat-swi-survey"),
    *("magic-gamma", "electrical-grid", "letter-a-f", "wilt", "mice-protein", "cdc-diabetes", "anurans", "dry-beans"),
    "room-occupancy",
)
SKLEARN = [
    *(("breast-cancer", 2), ("wine", 3), ("iris", 3), ("digits", 10), ("pulsnar-scar", 2)),
    pytest.param("pulsnar-snar", 6, marks=pytest.mark.slow),
]
DOWNLOADED = [name for name, entry in load_catalogue().items() if entry.files]

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the local mirror of the data sets is not here")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("name", DOWNLOADED)
def test_counts_and_content_of_every_downloaded_set(name, cache):
    entry = dataset_entry(name)
    try:
        data = load_dataset(name, cache=cache, mirror=SHARED, offline=True)
    except RunError as error:
        if name not in NOT_MIRRORED:
            raise
        pytest.skip(f"the local mirror of the data sets lacks it: {error}")
    assert data.content_sha256 == entry.content_sha256 == content_hash(data.X, data.y)
    sizes = [(cache / name / file.name).stat().st_size for file in entry.files]
    assert sizes == [file.bytes for file in entry.files]
    assert np.isfinite(data.X).all()
    assert set(np.unique(data.y)) == ({-1, 1} if entry.target.positive or entry.target.above else set(data.classes))
    assert len(data.feature_names) == data.X.shape[1]
    published = entry.published
    assert published.features in (None, data.X.shape[1])
    assert published.rows in (None, len(data.y))
    assert published.positive in (None, int((data.y == 1).sum()))
    assert published.negative in (None, int((data.y == -1).sum()))
    said = [note for note in data.notes if note.startswith(f"rows or columns {entry.selection}: ")]
    assert len(said) == (entry.selection != "known")
    if name in {"or1", "skin", "adult", "mnist-t10k"}:  # the largest files
        shutil.rmtree(cache / name)


@needs_shared
@pytest.mark.parametrize("display", TABLE_3_2)
@pytest.mark.slow
def test_counts_of_table_3_2_hold_under_the_display_names(display, cache):
    data = load_dataset(display, cache=cache, mirror=SHARED / "uci", offline=True)
    assert (int((data.y == 1).sum()), int((data.y == -1).sum()), data.X.shape[1]) == TABLE_3_2[display]


def test_display_names_are_those_of_the_published_table():
    with (ROOT / "experiments" / "published" / "table-3.3.csv").open() as stream:
        published = {row["dataset"] for row in csv.DictReader(stream)}
    assert {dataset_entry(name).name for name in THESIS} == published == set(TABLE_3_2)
    assert [dataset_key(display) for display in TABLE_3_2] == THESIS


@needs_shared
@pytest.mark.parametrize("name", ["rd", "enb", "umd"])
def test_spreadsheet_and_text_copy_give_the_same_bits(name, tmp_path):
    for kind, suffixes in {"text": {".csv"}, "sheet": {".xlsx", ".xls"}}.items():
        (tmp_path / kind).mkdir()
        for file in (SHARED / "uci" / name).iterdir():
            if file.suffix in suffixes:
                shutil.copy(file, tmp_path / kind)
    loaded = [
        load_dataset(name, cache=tmp_path / "cache" / kind, mirror=tmp_path / kind, offline=True)
        for kind in ("text", "sheet")
    ]
    assert np.array_equal(loaded[0].X, loaded[1].X)
    assert np.array_equal(loaded[0].y, loaded[1].y)
    assert loaded[0].feature_names == loaded[1].feature_names


@needs_shared
def test_doubled_tabs_of_the_original_seeds_file_change_nothing(tmp_path):
    lines = (SHARED / "uci" / "seeds" / "seeds_dataset.txt").read_text().splitlines()
    lines[5] = lines[5].replace("\t", "\t\t")
    (tmp_path / "seeds_dataset_uci.txt").write_text("\n".join(lines))
    data = load_dataset("seeds", cache=tmp_path / "cache", mirror=tmp_path, offline=True)
    assert data.content_sha256 == dataset_entry("seeds").content_sha256


@needs_shared
@pytest.mark.slow
def test_online_retail_as_spreadsheet_with_true_dates_gives_the_declared_content(tmp_path):
    """The original workbook is not at hand; one of the chosen rows shows that dates and blanks are read alike."""
    import pandas as pd
    import yaml

    with gzip.open(SHARED / "uci" / "or1" / "Online Retail.csv.gz", "rt") as stream:
        frame = pd.read_csv(stream, keep_default_na=False, na_values=[""])
    order = frame.sort_values("Country", ascending=False, kind="stable").index
    rows = np.r_[order[188340:188641], order[512707:513008]]
    small = frame.loc[rows].reset_index(drop=True)
    small["InvoiceDate"] = pd.to_datetime(small["InvoiceDate"])
    folder = tmp_path / "mirror"
    folder.mkdir()
    small.to_excel(folder / "Online Retail.xlsx", index=False)
    entry = yaml.safe_load((ROOT / "datasets.yaml").read_text())["or1"]
    entry["rows"] = {"sort": {"column": "Country", "order": "descending"}}
    (tmp_path / "catalogue.yaml").write_text(yaml.safe_dump({"or1": entry}))
    data = load_dataset("or1", cache=tmp_path / "c", mirror=folder, offline=True, catalogue=tmp_path / "catalogue.yaml")
    assert data.content_sha256 == dataset_entry("or1").content_sha256


@pytest.mark.parametrize(("name", "classes"), SKLEARN)
def test_sets_of_scikit_learn_need_no_files_and_keep_their_classes(name, classes, tmp_path):
    data = load_dataset(name, cache=tmp_path, offline=True)
    assert set(np.unique(data.y)) == {-1, 1}
    multi = load_dataset(name, cache=tmp_path, offline=True, multiclass=True)
    assert len(np.unique(multi.y)) == classes
    assert multi.content_sha256 == content_hash(multi.X, multi.y)
    assert data.content_sha256 == dataset_entry(name).content_sha256
    positive = {str(value) for value in dataset_entry(name).target.positive}
    assert np.array_equal(data.y == 1, [str(value) in positive for value in multi.y])


@needs_shared
def test_two_copies_of_one_source_agree(cache):
    """scikit-learn's breast cancer data are UCI's wdbc.data."""
    toolkit = load_dataset("breast-cancer", cache=cache)
    file = load_dataset("wdbc", cache=cache, mirror=SHARED, offline=True)
    assert np.array_equal(toolkit.X, file.X)
    assert np.array_equal(toolkit.y, file.y)


@needs_shared
def test_the_second_load_reads_the_parsed_copy_and_a_damaged_copy_is_rebuilt(tmp_path):
    first = load_dataset("wifi", cache=tmp_path, mirror=SHARED, offline=True)
    raw = tmp_path / "wifi" / "wifi_localization.txt"
    raw.unlink()
    again = load_dataset("wifi", cache=tmp_path, offline=True)
    assert np.array_equal(first.X, again.X)
    assert first.notes == again.notes
    (parsed,) = (tmp_path / "wifi").glob("parsed-*.npz")
    content = bytearray(parsed.read_bytes())
    content[2000:2040] = bytes(40)
    parsed.write_bytes(content)
    with pytest.raises(RunError, match="not in the cache"):
        load_dataset("wifi", cache=tmp_path, offline=True)
    assert load_dataset("wifi", cache=tmp_path, mirror=SHARED, offline=True).content_sha256 == first.content_sha256


def test_loaded_arrays_cannot_be_written():
    data = load_dataset("iris")
    with pytest.raises(ValueError, match="read-only"):
        data.X[0, 0] = 1.0


def test_generated_set_is_the_one_of_section_3_4_1():
    data = load_dataset("wang-two-gaussians", rng=np.random.default_rng(0), parameters={"mean_p2": 500})
    X, y = data.X, data.y
    assert X.shape == (800, 2)
    positive, negative = X[y == 1], X[y == -1]
    assert len(positive) == len(negative) == 400
    far = positive[:, 0] > 250
    assert far.sum() == 200
    for group, mean in ((positive[far], 500.0), (positive[~far], 15.0), (negative, 0.0)):
        # five standard errors of a mean, and of a variance, of 200 or more draws with variance 50
        assert np.abs(group.mean(axis=0) - mean).max() < 5 * np.sqrt(50 / len(group))
        assert np.abs(np.cov(group.T)[np.diag_indices(2)] - 50).max() < 5 * 50 * np.sqrt(2 / len(group))


def test_generated_set_depends_on_the_stream_alone():
    first, second, other = (
        load_dataset("wang-two-gaussians", rng=stream(3, "cell", repeat)).content_sha256 for repeat in (0, 0, 1)
    )
    assert first == second != other
    assert load_dataset("wang-two-gaussians").content_sha256 == load_dataset("wang-two-gaussians").content_sha256


def test_other_readings_of_the_two_gaussians():
    def drawn(**parameters):
        return load_dataset("wang-two-gaussians", rng=np.random.default_rng(1), parameters=parameters).X

    assert np.array_equal(drawn(angle=0), drawn())
    turned = drawn(mean_p2=500, angle=90)
    assert turned[200:400].mean(axis=0) == pytest.approx([-500.0, 500.0], abs=5.0)
    assert np.array_equal(np.delete(turned, np.s_[200:400], axis=0), np.delete(drawn(), np.s_[200:400], axis=0))
    raw = drawn(irrelevant=2, scaled=0)
    assert raw.shape == (800, 6) and np.array_equal(raw[:, :2], drawn())
    assert np.array_equal(raw[:, 2:], drawn(irrelevant=2)[:, 2:])


def test_irrelevant_features_follow_the_standardized_features():
    plain = load_dataset("wang-two-gaussians", rng=np.random.default_rng(1))
    more = load_dataset("wang-two-gaussians", rng=np.random.default_rng(1), parameters={"irrelevant": 2})
    assert more.X.shape == (800, 6)
    expected = (plain.X - plain.X.mean(axis=0)) / plain.X.std(axis=0)
    np.testing.assert_allclose(more.X[:, :2], expected, atol=1e-12)
    assert np.abs(more.X[:, 2:].mean(axis=0)).max() < 5 / np.sqrt(800)
    assert np.abs(np.corrcoef(more.X.T) - np.eye(6))[2:].max() < 0.25


def test_wrong_parameters_of_a_generator():
    with pytest.raises(UsageError, match="mean_p2"):
        load_dataset("wang-two-gaussians", parameters={"mean_p": 3})
    with pytest.raises(UsageError, match="must be a number"):
        load_dataset("wang-two-gaussians", parameters={"mean_p2": "far"})
    with pytest.raises(UsageError, match="takes no parameters"):
        load_dataset("iris", parameters={"mean_p2": 3})


def test_wrong_parameters_of_make_classification(tmp_path):
    path = tmp_path / "mine.yaml"
    for parameters, message in (("n_sample: 30", "n_sample"), ("n_classes: 0", "n_classes")):
        path.write_text(f"toy: {{title: Toy, sklearn: make_classification, parameters: {{{parameters}}}}}\n")
        with pytest.raises(UsageError, match=f"data set 'toy': parameters: .*{message}"):
            load_dataset("toy", catalogue=path)


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(UsageError, match=r"unknown data set 'wfi'; did you mean .*'wifi'.*pucli list datasets"):
        load_dataset("wfi")


def test_every_guess_has_its_note_and_every_hash_is_declared():
    for name, entry in load_catalogue().items():
        if entry.origin != "generated":
            assert entry.content_sha256, name
            assert entry.license, name
        if entry.selection != "known":
            assert len(entry.note) > 40, name
    assert len({data_sha256(name) for name in THESIS}) == len(THESIS)
    assert dataset_names()[: len(THESIS)] == THESIS


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("target:", "tagret:", r"toy\.tagret: unknown key; did you mean 'target'"),
        ("positive:", "positve:", r"toy\.target\.positve: unknown key; did you mean 'positive'"),
        ("sha256:", "sha265:", r"toy\.files\.0\.sha265: unknown key; did you mean 'sha256'"),
        ("title: Toy", "titel: Toy", r"toy\.(titel: unknown key; did you mean 'title'|title: this key is required)"),
        ("  title: Toy\n", "", r"toy\.title: this key is required"),
        ("positive: [1]", "positive: 1", r"toy\.target\.positive: .*list; found 1"),
        ("positive: [1]", "positive: [yes]", r"toy\.target\.positive\.0: .*found True"),
        ("title: Toy", "title: Toy\n  reader: {kind: cvs}", r"toy\.reader\.kind: .*'table', .*found 'cvs'"),
        ("title: Toy", "title: Toy\n  rows: {take: {1: some}}", r"toy\.rows\.take\.1: .*found 'some'"),
        ("title: Toy", "title: Toy\n  sklearn: iris", r"toy: needs exactly one of"),
        ("title: Toy", "title: Toy\n  parameters: {rows: 5}", r"toy: 'parameters' needs a 'generator'"),
        ("title: Toy", "title: Toy\n  selection: guessed", r"toy: a guessed or chosen selection needs a 'note'"),
        ("title: Toy", "title: Toy\n  title: Again", r"line 4, column 3: the key 'title' is given twice"),
        ("title: Toy", "title: [Toy", r"line \d+, column \d+: a "),
        ("name: toy.csv", "name: ../toy.csv", r"toy\.files\.0\.name: .*found '\.\./toy\.csv'"),
        ("name: toy.csv", "name: ..", r"toy\.files\.0\.name: "),
        ("title: Toy", "title: Toy\n  folder: ../..", r"toy\.folder: .*found '\.\./\.\.'"),
        ("toy:", "../toy:", r"name '../toy' may only have letters, digits"),
        ("toy:", "5:", r"name 5 is not text"),
    ],
)
def test_errors_in_a_catalogue_name_file_key_and_way_out(old, new, message, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(ENTRY.format(sha="ab" * 32).replace(old, new, 1))
    with pytest.raises(UsageError, match=message) as caught:
        load_catalogue(path)
    assert str(path) in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_catalogue_is_read_as_an_experiment_is(tmp_path):
    path = tmp_path / "mine.yaml"
    entry = ENTRY.format(sha="ab" * 32)
    path.write_text(entry.replace("toy:", "toy: &toy", 1) + "  prior: 1e-4\nother: {<<: *toy, title: Other}\n")
    toy, other = load_catalogue(path).values()
    assert (toy.prior, other.prior, other.title, other.files) == (1e-4, 1e-4, "Other", toy.files)
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 8)]
    path.write_text("\n".join(lines))
    with pytest.raises(UsageError, match="expand to more than"):
        load_catalogue(path)


def test_schema_knows_every_key_that_is_used():
    schema = catalogue_schema()

    def keys(reference):
        return set(schema["$defs"][reference]["properties"])

    used = load_catalogue().values()
    assert {key for entry in used for key in entry.model_fields_set} <= keys("Entry")
    assert {key for entry in used for file in entry.files for key in file.model_fields_set} <= keys("File")
    assert schema["additionalProperties"] == {"$ref": "#/$defs/Entry"}
    json.dumps(schema)


def test_missing_and_empty_catalogue(tmp_path):
    with pytest.raises(UsageError, match="cannot read the catalogue"):
        load_catalogue(tmp_path / "none.yaml")
    (tmp_path / "empty.yaml").write_text("")
    with pytest.raises(UsageError, match="expected a mapping"):
        load_catalogue(tmp_path / "empty.yaml")


def test_cell_key_follows_everything_that_determines_the_data(tmp_path):
    catalogue = declare(tmp_path, "a,class\n1,1\n2,0\n")
    before = data_sha256("toy", catalogue=catalogue)
    catalogue.write_text(catalogue.read_text().replace("title: Toy", "title: Another title"))
    assert data_sha256("toy", catalogue=catalogue) == before
    catalogue.write_text(catalogue.read_text() + "  rows: {first: 2}\n")
    assert data_sha256("toy", catalogue=catalogue) != before


def test_content_hash_is_over_shape_and_values():
    X = np.arange(6.0).reshape(2, 3)
    y = np.array([1, -1])
    assert content_hash(X, y) == content_hash(np.asfortranarray(X), y.astype(np.int32))
    assert content_hash(X, y) != content_hash(X.reshape(3, 2), y)
    assert content_hash(X, y) != content_hash(X, -y)
    assert content_hash(X, np.array(["b", "a"])) == content_hash(X, np.array([1, 0]))


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import pucli.data", "numpy pandas sklearn scipy pooch pydantic yaml"),
        ("from pucli.data import dataset_names; dataset_names()", "numpy pandas sklearn scipy pooch"),
        ("from pucli.data import load_dataset; load_dataset('wang-two-gaussians')", "pandas sklearn scipy pooch"),
    ],
)
@pytest.mark.slow
def test_only_needed_modules_are_imported(code, absent):
    check = f"{code}; import sys; print(*[name for name in '{absent}'.split() if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


LIKE = """
one:
  name: One
  title: Rows
  files: [{name: a.csv, sha256: "%s"}]
  target: {column: class, positive: [1]}
  note: all rows
  content_sha256: "%s"
  published: {positive: 3}
two: {like: %s, note: the first rows, rows: {first: 3}}
"""


def test_an_entry_like_another_has_its_keys_but_not_its_counts_and_content(tmp_path):
    (tmp_path / "mine.yaml").write_text(LIKE % ("0" * 63 + "a", "0" * 63 + "b", "one"))
    one, two = (load_catalogue(tmp_path / "mine.yaml")[name] for name in ("one", "two"))
    assert (two.files, two.target, two.title, two.folder) == (one.files, one.target, one.title, "uci/one")
    assert (two.note, two.rows.first, two.name, two.content_sha256) == ("the first rows", 3, None, None)
    assert two.published.positive is None


@pytest.mark.parametrize("other", ["nine", "two", "5"])
def test_an_entry_like_one_that_is_not_there_names_those_that_are(tmp_path, other):
    (tmp_path / "mine.yaml").write_text(LIKE % ("0" * 63 + "a", "0" * 63 + "b", other))
    with pytest.raises(UsageError, match=r"two\.like.*one"):
        load_catalogue(tmp_path / "mine.yaml")


def test_an_entry_may_be_like_a_shipped_data_set(tmp_path):
    (tmp_path / "mine.yaml").write_text("first: {like: ssmcr, note: the first rows, rows: {first: 30}}\n")
    first, ssmcr = load_catalogue(tmp_path / "mine.yaml")["first"], load_catalogue()["ssmcr"]
    assert (first.files, first.target, first.folder) == (ssmcr.files, ssmcr.target, "uci/ssmcr")
    assert (first.rows.first, first.content_sha256) == (30, None) and first.published.positive is None


def test_groups_are_declared(tmp_path):
    rows = [f"{k % 3},{k // 2},{k},{int(k % 4 < 2)}" for k in range(40)]
    text = "\n".join(["site,person,a,class", *rows]) + "\n"
    toy = {"catalogue": declare(tmp_path, text, "  groups: person\n"), "cache": tmp_path / "cache"}
    for _ in range(2):  # parsed, and from the parsed copy
        found = load_dataset("toy", mirror=tmp_path, offline=True, **toy)
        assert found.feature_names == ("site", "a")
        assert found.groups.tolist() == [k // 2 for k in range(40)]
    with pytest.raises(UsageError, match="one group"):
        catalogue = declare(tmp_path, "\n".join(["p,a,class", *(f"1,{k},{k % 2}" for k in range(9))]), "  groups: p\n")
        load_dataset("toy", mirror=tmp_path, offline=True, catalogue=catalogue, cache=tmp_path / "other")
