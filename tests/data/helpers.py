"""What tests of files share."""

from __future__ import annotations

import pytest

from pucli.core.errors import UsageError
from pucli.data.files.tables import open_table


def refused(path, *words, label="y"):
    with pytest.raises(UsageError) as caught:
        open_table(path, label)
    message = str(caught.value)
    assert str(path) in message and "\n" not in message
    for word in words:
        assert word in message
    return message
