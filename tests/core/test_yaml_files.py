"""YAML from anywhere: plain values, bounded, mistakes in own words."""

from __future__ import annotations

import pytest

from pucli.core import yaml_files
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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: &x {b: 1}\nc:\n  <<: *x\n  <<: *x", "line 4, column 3: the key '<<' is given twice"),
        ("a:\n  <<: {b: 1, b: 2}", "the key 'b' is given twice"),
        ("a:\n  <<: 1", "`<<` takes a mapping"),
        ("? [1]\n: a", "a key must be a word or number"),
        ("a: 1\n1: a\n1.0: b", "line 3, column 1: the key 1.0 is given twice"),
    ],
)
def test_keys_are_given_once(text, words, tmp_path):
    file = tmp_path / "e.yaml"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_yaml(file)
    assert words in str(caught.value)


def test_numbers_are_those_of_a_reader(tmp_path):
    file = tmp_path / "e.yaml"
    file.write_text("[0, -5, +7, 0.5, .5, 2., 1e-4, 1.5E+3, -.inf]")
    assert [(type(one), one) for one in read_yaml(file)] == [
        *((int, one) for one in (0, -5, 7)),
        *((float, one) for one in (0.5, 0.5, 2.0, 1e-4, 1500.0, float("-inf"))),
    ]
    words = ["010", "-08", "00", "1:30", "1:30.5", "0x1F", "1_000", "0b1", "."]
    file.write_text("\n".join(f"- {word}" for word in words))
    assert read_yaml(file) == words


def test_own_keys_precede_merged_ones(tmp_path):
    file = tmp_path / "e.yaml"
    file.write_text("b: &b {c: 1, d: 2}\ne:\n  <<: *b\n  d: 3\n")
    assert read_yaml(file) == {"b": {"c": 1, "d": 2}, "e": {"c": 1, "d": 3}}


def test_messages_and_values_are_the_same_without_libyaml(tmp_path, monkeypatch):
    file, told = tmp_path / "e.yaml", []
    for loader in (yaml_files._Parser, yaml_files.yaml.SafeLoader):
        monkeypatch.setattr(yaml_files, "_Parser", loader)
        file.write_text("a: &x {b: 1e-4}\nc: {<<: *x, d: [.5, 010, 1:30, yes]}\n")
        told.append([read_yaml(file)])
        for text in ("a: b: c", "a: *b", "a: 'b", "a: \0", "- " * 2000, "a: 1\na: 2"):
            file.write_text(text)
            with pytest.raises(UsageError) as caught:
                read_yaml(file)
            told[-1].append(str(caught.value))
    assert told[0] == told[1]
