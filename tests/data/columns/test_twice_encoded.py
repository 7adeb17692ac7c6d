"""Text that was encoded as UTF-8 twice is told with its column, its place and what it means."""

from __future__ import annotations

import pytest

from pucli.data.columns.doubts import twice_encoded
from pucli.data.files.tables import open_table
from pucli.data.rows.user_file import fit_file


def _again(text, encoding="cp1252"):
    return text.encode().decode(encoding)


@pytest.mark.parametrize(
    "text", ["café", "Größe", "3 €", "it’s", "Łódź", "Москва", "Ελλάδα", "25 °C", "à", "là, voilà"]
)
@pytest.mark.parametrize("cut", [False, True])
def test_text_encoded_twice_is_decoded(text, cut):
    try:
        garbled = _again(text)
    except UnicodeDecodeError:  # a byte that Windows does not know
        garbled = _again(text, "latin-1")
    garbled = garbled.strip() if cut and len(text) > 1 else garbled
    assert twice_encoded(["plain", text, garbled]) == (garbled, text)


@pytest.mark.parametrize(
    "texts",
    [
        ["café", "Größe", "São Paulo", "«AMANHÃ, ÀS 7»", "NESTLÉ®", "CAFÉ™", "„HÄ“", "Îles", "â", "Ã", "IRMÃ", "PÃO"],
        ["IRMÃ", "Москва", "Ñandú", "ÑU»", "3 °", "Â"],
        [_again("café"), "Ã©\x9c\x9c"],  # one of them cannot be decoded
        [],
    ],
)
def test_text_in_many_languages_is_left_alone(texts):
    assert twice_encoded(texts) is None


def test_column_and_place_of_garbled_cells_are_told(tmp_path):
    rows = [
        f"{i % 7},{('oui', 'déjà')[i % 2]},{'é' if i == 3 else 'plain'},{('non', 'sûr')[i % 3 == 0]}" for i in range(30)
    ]
    text = "\n".join(["n,mot,x,étiquette", *rows]) + "\n"
    path = tmp_path / "t.csv"
    path.write_text(_again(text))
    with pytest.warns(UserWarning, match="UTF-8 twice: 'Ã©tiquette' .*'étiquette'"):
        found = fit_file(path, "Ã©tiquette").warnings
    said = [text for text in found if "twice" in text]
    assert [text.partition(" has text")[0] for text in said] == ["column 'mot'", "column 'x'", "column 'Ã©tiquette'"]
    assert "'Ã©' (line 5) is probably 'é'; export the file again" in said[1]
    path.write_text(text)
    assert not [text for text in fit_file(path, "étiquette").warnings if "twice" in text]
    assert list(open_table(path, "étiquette").frame.columns) == ["n", "mot", "x", "étiquette"]


def test_characters_that_were_lost_are_told_with_their_place(tmp_path):
    path = tmp_path / "t.csv"
    towns = ("Lyon", "Orl\ufffdans")
    path.write_text("\n".join(["town,y", *(f"{towns[i % 2]},{i % 3}" for i in range(30))]) + "\n")
    (said,) = fit_file(path, "y").warnings
    assert "'Orl\ufffdans' (line 3)" in said


def test_characters_written_for_html_are_told(tmp_path):
    path = tmp_path / "t.csv"
    parts = ("R&amp;D", "Sales", "A&B; C")
    path.write_text("\n".join(["part,y", *(f"{parts[i % 3]},{i % 2}" for i in range(30))]) + "\n")
    (said,) = fit_file(path, "y").warnings
    assert "written for HTML: 'R&amp;D' (line 2) is probably 'R&D'" in said
