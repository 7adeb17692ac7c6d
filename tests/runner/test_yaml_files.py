"""YAML from anywhere: plain values, bounded, mistakes in own words."""

from __future__ import annotations

import pytest

from pucli.core.errors import UsageError
from pucli.core.yaml_files import MOST_VALUES, read_yaml


def laughs(depth: int) -> str:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, depth)]
    return "\n".join(lines)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: !!python/object/apply:os.system ['true']", "line 1, column 4: tags"),
        ("a: !other 1", "tags"),
        ("a: *b", "anchor"),
        ("a: [1, 2", "not closed"),
        ("a: 'b", "not closed"),
        ("a: b: c", "a colon"),
        ("a:\n\t- b", "tabs cannot indent"),
        ("a: 1\na: 2", "the key 'a' is given twice"),
        ("[" * 20_000, "nested too deeply"),
        ("&a [*a]", "more than"),
        (laughs(8), f"more than {MOST_VALUES:,} values"),
        ("a: \0", "line 1 has a control character"),
        ("a: 1\n---\nb: 2", "a second document"),
    ],
)
def test_mistakes_in_own_words(text, words, tmp_path):
    file = tmp_path / "e.yaml"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_yaml(file)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_plain_values_come_through(tmp_path):
    file = tmp_path / "e.yaml"
    file.write_text("\ufeffa: &x [1e-4, 2]\nb: *x\nc: {<<: {d: 1}}\n", encoding="utf-8")
    assert read_yaml(file) == {"a": [1e-4, 2], "b": [1e-4, 2], "c": {"d": 1}}
    file.write_bytes(b"a: \xff")
    with pytest.raises(UsageError, match="not UTF-8"):
        read_yaml(file)


def test_a_timestamp_that_is_none_is_refused(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("title: !!timestamp x\n")
    with pytest.raises(UsageError, match=r"a\.yaml"):
        read_yaml(path)
