"""The encoder of a column of text: tf-idf of its frequent words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pucli.core.saved_state import AT_LEAST_ZERO, Each, Flag, Names, State, Word
from pucli.data.encode.drift import Tally
from pucli.data.encode.filled_cells import IS_EMPTY, filled_words
from pucli.data.frames import coded

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Text:
    """The tf-idf of the most frequent words, each cell scaled to unit length.

    It is computed as by scikit-learn's TfidfVectorizer, of which only the vocabulary and the weights are kept.
    """

    name: str
    kind: str
    words: list[str]
    weights: list[float]  # inverse document frequency of each word
    indicator: bool  # whether training had empty cells, so that there is a feature "NAME is empty"
    reads_text: ClassVar[bool] = True
    saved_state: ClassVar[State] = {
        "name": Word(),
        "kind": Word(),
        "words": Names("words"),
        "weights": Each(AT_LEAST_ZERO),
        "indicator": Flag(),
    }

    @property
    def features(self) -> list[str]:
        """Return the names of the features."""
        return [f"{self.name}: {word}" for word in self.words] + [f"{self.name} {IS_EMPTY}"] * self.indicator

    def how(self) -> str:
        """Describe the encoding."""
        return f"{len(self.words)} frequent words, rare ones weigh more{filled_words(None, self.indicator)}"

    def encode(self, cells: pd.Series, out: np.ndarray, tally: Tally) -> None:
        """Write the features of n cells into `out`.

        Parameters
        ----------
        cells : Series of length n
            Cells of the column.
        out : array of shape (n, len(features))
            Filled with the features.
        tally : Tally
            Counts unusual cells.
        """
        from sklearn.feature_extraction.text import TfidfVectorizer

        codes, texts = coded(cells)
        vectorizer = TfidfVectorizer(vocabulary=self.words)
        vectorizer.idf_ = np.array(self.weights)
        found = np.zeros((len(texts) + 1, len(self.words)))
        if texts:
            found[:-1] = vectorizer.transform(texts).toarray()
        out[:, : len(self.words)] = found[codes]
        without = np.abs(out[:, : len(self.words)]).sum(axis=1) == 0.0
        tally.add_lost(self.name, "have no word known from the training rows", without)
        if self.indicator:
            out[:, -1] = codes < 0
        else:
            tally.add(self.name, "empty, although none was in training", codes < 0)
