"""JSON documents that hold a table give the table of its rows, or an error that names their form and the way out."""

import json

import pandas as pd
import pytest

from pucli.core.errors import UsageError
from pucli.data.files.tables import open_table

TABLE = pd.DataFrame(
    {"id": ["007", "008", "a"], "big": [9007199254740993, 2, 3], "age": [31.5, None, 20.0], "label": [1, 0, 0]}
)
SHUFFLED = TABLE.set_axis(["x", "y", "z"])


def read(tmp_path, text, name="t.json"):
    path = tmp_path / name
    path.write_text(text)
    return open_table(path, "label").frame


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("orient", ["split", "index", "columns", "table", "list"])
def test_the_forms_of_pandas_are_the_table_of_its_records(tmp_path, orient, indent):
    records = read(tmp_path, TABLE.to_json(orient="records"))
    if orient == "list":
        columns = {name: json.loads(TABLE[name].to_json(orient="values")) for name in TABLE}
        text = json.dumps(columns, indent=indent)
    else:
        text = TABLE.to_json(orient=orient, indent=indent)
    for name in ("t.json", "t.jsonl"):
        pd.testing.assert_frame_equal(read(tmp_path, text, name), records)
    assert records["big"].tolist() == [9007199254740993, 2, 3]


@pytest.mark.parametrize("orient", ["split", "table"])
def test_an_index_that_does_not_count_the_rows_is_a_column(tmp_path, orient):
    found = read(tmp_path, SHUFFLED.to_json(orient=orient))
    assert list(found.columns) == ["index", *TABLE.columns] and found["index"].tolist() == ["x", "y", "z"]


RECORDS = json.loads(TABLE.to_json(orient="records"))


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (SHUFFLED.to_json(orient="index"), '"index" or "columns".*orient="records"'),
        (pd.DataFrame([[1, 2], [3, 4]]).to_json(orient="columns"), '"index" or "columns"'),
        (TABLE.to_json(orient="values"), 'orient "values".*orient="records"'),
        (json.dumps({"data": RECORDS}), "rows in \"data\"; save that list alone .`jq '.data' t.json > rows.json`"),
        (json.dumps({"n": 3, "a": {"b c": RECORDS}}), "\"b c\" of \"a\".*jq '.a\\[\"b c\"\\]'"),
        (json.dumps({"features": [{"properties": {"age": 1}}]}), "write the parts of each as columns"),
        (json.dumps({"a": {"b": 1}, "c": 2}), "one JSON object and no table"),
        (json.dumps({"a": [1, 2], "label": [1]}), "'label' has 1 values where 'a' has 2"),
        (json.dumps({"columns": ["a", "label"], "data": [[1, 0], [2]]}), "row 2 has 1 values for 2 columns"),
        (json.dumps({"columns": [["a", "b"]], "data": [[1]]}), '"columns" is no list of names'),
        (json.dumps({"columns": ["a"], "data": [[1]], "index": [1, 2]}), '"index" is not one value for each row'),
        (json.dumps({"schema": {"fields": []}}), 'no rows in "data"'),
        ("[1, 2]\n[3, 4]\n", "line 1 is a list, not an object"),
        ('{"a": 1}\n\n[3, 4]\n', "line 3 is not an object"),
        ('\n{"a": 1, "label": \n', "is not JSON"),
        ('{"a": "\\ud83d\\ude00"}\n\n{"a": "\\ud83d"}\n', r"line 3: 'a' holds half of a character, \\ud83d"),
        ('[{"a": 1}, {"a": 1, "b\\uDC57": 1}]', r"line 2: 'b\\udc57' holds half of a character"),
        ('{"columns": ["a"], "data": [["x"], ["\\ud800"]]}', "line 2: 'a' holds half of a character"),
    ],
)  # fmt: skip
def test_other_documents_are_named_with_the_way_out(tmp_path, content, named):
    with pytest.raises(UsageError, match=named):
        read(tmp_path, content)
