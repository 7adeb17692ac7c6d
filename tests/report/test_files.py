"""Writing of report files."""

import json

from pucli.report.files import PROVENANCE, read_provenance, write
from tests.helpers import ROOT

DRAWING = b'<svg><g clip-path="url(#p%s)"/><clipPath id="p%s"/><use href="#m%s" x="%d"/></svg>'


def drawn(first, mark, x=3):
    return DRAWING % (first, first, mark, x)


def test_a_drawing_that_differs_in_made_up_names_alone_is_kept(tmp_path):
    path = tmp_path / "a.svg"
    one = drawn(b"a1d3633e68", b"0123456789")
    write(path, one)
    write(path, drawn(b"5d6d4af491", b"abcdef0123"))
    assert path.read_bytes() == one
    other = drawn(b"5d6d4af491", b"abcdef0123", x=4)
    write(path, other)
    assert path.read_bytes() == other
    swapped = other.replace(b"url(#p5d6d4af491)", b"url(#p0000000000)")  # another structure, not another name
    write(path, swapped)
    assert path.read_bytes() == swapped
    write(tmp_path / "a.md", "p5d6d4af491")
    write(tmp_path / "a.md", "p0000000000")
    assert (tmp_path / "a.md").read_text() == "p0000000000"


def test_a_provenance_of_another_shape_is_as_good_as_none(tmp_path):
    content = json.loads((ROOT / "results" / "table-3.1" / PROVENANCE).read_text(encoding="utf-8"))
    path = tmp_path / PROVENANCE
    path.write_text(json.dumps(content))
    assert read_provenance(tmp_path) == content
    for name in ("data", "made_with", "cells", "fits", "figures"):
        for wrong in ({**content, name: "x"}, {key: value for key, value in content.items() if key != name}):
            path.write_text(json.dumps(wrong))
            assert read_provenance(tmp_path) == {}, name
