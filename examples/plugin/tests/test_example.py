"""What pucli sees of the package once it is installed."""

import pytest

from pucli.core.plug_ins import plug_ins
from pucli.methods import get_method, make_estimator

installed = any(offer.package == "pucli-example" for offer in plug_ins("pucli.methods"))
pytestmark = pytest.mark.skipif(not installed, reason="the package is not installed: pip install ./examples/plugin")


def test_the_method_is_in_the_list():
    assert get_method("centroid").package == "pucli-example"


def test_it_finds_the_side_of_the_labeled_rows():
    model = make_estimator("centroid").fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    assert model.predict([[0.2], [4.8]]).tolist() == [0, 1]
