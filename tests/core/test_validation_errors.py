"""Messages for errors of pydantic, for a model with the parts that declarations have."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pucli.core.validation_errors import MOST_LINES, explain


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Step(Strict):
    size: Annotated[float, Field(gt=0)] = 1.0


class Part(Strict):
    name: str
    steps: list[Step] | None = None
    step: Step | Literal[False] = False


class Whole(Strict):
    parts: dict[str, Part] = {}
    take: dict[int, int | Literal["all"]] = {}
    title: str = ""

    @model_validator(mode="after")
    def _named(self) -> Whole:
        if self.title == "none":
            raise ValueError("needs a title")
        return self


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"titel": "a"}, "f: titel: unknown key; did you mean 'title'?"),
        ({"x": 1}, "f: x: unknown key; the keys here are parts, take, title."),
        ({"parts": {"a": {}}}, "f: parts.a.name: this key is required."),
        ({"parts": {"a": {"name": "b", "nam": 1}}}, "f: parts.a.nam: unknown key; did you mean 'name'?"),
        (
            {"parts": {"a": {"name": "b", "steps": [{}, {"siz": 1}]}}},
            "f: parts.a.steps.1.siz: unknown key; did you mean 'size'?",
        ),
        ({"parts": {"a": {"name": "b", "step": {"siz": 1}}}}, "f: parts.a.step.siz: unknown key; did you mean 'size'?"),
        (
            {"parts": {"a": {"name": "b", "step": {"size": 0.0}}}},
            "f: parts.a.step.size: input should be greater than 0; found 0.0.",
        ),
        ({"take": {1: "some"}}, "f: take.1: input should be a valid integer; found 'some'."),
        ({"title": "none"}, "f: needs a title."),
        ({"title": 1}, "f: title: input should be a valid string; found 1."),
    ],
)
def test_one_line_for_each_place(content: Any, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Whole.model_validate(content)
    assert explain(caught.value, Whole, content, start="f") == message


def test_lines_are_few_and_short() -> None:
    content = {str(key): "a" for key in range(9)} | {"title": ["long"] * 99}
    with pytest.raises(ValidationError) as caught:
        Whole.model_validate(content)
    lines = explain(caught.value, Whole, content, start="f", prefix=("a", "b")).splitlines()
    assert len(lines) == MOST_LINES + 1 and lines[-1] == "..."
    assert lines[0].startswith("f: a.b.title: ") and max(map(len, lines)) < 130


def test_only_the_shown_mistakes_are_compared_with_the_keys(monkeypatch):
    asked = []
    monkeypatch.setattr("pucli.core.validation_errors.did_you_mean", lambda *words: asked.append(words) or "")
    content = {f"k{i}": 1 for i in range(50)}
    with pytest.raises(ValidationError) as caught:
        Whole.model_validate(content)
    lines = explain(caught.value, Whole, content, start="f.yaml").splitlines()
    assert len(asked) == MOST_LINES and lines[-1] == "..." and len(lines) == MOST_LINES + 1
