"""A metric: its name, its function, and how tables show it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from pucli.core.errors import UsageError

_PLACE = re.compile(r"[1-9]\d*|(100|\d{1,2}(\.\d+)?)%")


def is_position(place: str) -> bool:
    """Return whether a text is a number of rows above zero, or a share of them above 0 % and up to 100 %."""
    return _PLACE.fullmatch(place) is not None and float(place.rstrip("%")) > 0.0


@dataclass(frozen=True)
class Metric:
    """One metric.

    Parameters
    ----------
    name : str
        Its name in experiments, tables and on the command line. The part behind "@" is a value of the user: of
        ``precision@10%``, any number of rows (``precision@100``) or share of them (``precision@2.5%``).
    description : str
        One line for help texts and legends.
    function : callable, optional
        Takes the inputs in `needs`, by position, then the part of the name behind "@", and returns a number. If
        missing, the protocol measures the metric.
    needs : tuple of str
        Inputs of the function:

        - ``truth``, ``predictions``: true and predicted classes, (n,);
        - ``positive``: the positive class, where there are two classes;
        - ``decision``: scores that rank the rows, (n,);
        - ``probability``: probabilities of the positive class, (n,);
        - ``labeled``: which rows are labeled positives, (n,);
        - ``prior``: share of positives in the rows of `denominator`;
        - ``reference``: scores of all models together, (n,);
        - ``counts``, ``denominator``: the four counts of `pucli.metrics.pu`, and which rows PUF divides by;
        - ``clusters``: predicted clusters, (n,);
        - ``log_density``: log-densities of test rows, (n,);
        - ``generated``, ``centers``, ``sd``, ``mode_counts``: generated rows and the modes of the true density;
        - ``unlabeled_truth``, ``unlabeled_signs``, ``signs``: classes and predicted signs of the USMO protocol.
    unit : str
        Unit in tables; "" if there is none, or if it is part of the name.
    scale : float
        Factor from stored values to that unit: 100 for fractions that tables show in per cent.
    better : {"higher", "lower"} or None
        The better side; None if there is none.
    margin : float
        Differences up to this have no practical meaning; in the unit of tables.
    relative : bool
        Whether `margin` is a share of the published figure instead.
    """

    name: str
    description: str
    function: Callable[..., Any] | None = None
    needs: tuple[str, ...] = ()
    unit: str = ""
    scale: float = 1.0
    better: Literal["higher", "lower"] | None = None
    margin: float = 0.05
    relative: bool = True

    @property
    def heading(self) -> str:
        """Name and unit, as table headings show them."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    @property
    def stem(self) -> str:
        """The name without the part behind "@"."""
        return self.name.partition("@")[0]

    @property
    def place(self) -> str:
        """The part of the name behind "@", or "" if there is none."""
        return self.name.partition("@")[2]

    @property
    def digits(self) -> int:
        """Decimals in tables: three where differences below 1 matter, else two."""
        return 3 if not self.relative and self.margin < 1 else 2

    def gain(self, difference: float) -> float:
        """Return a difference a - b with the sign of a's advantage: positive where a is better.

        Without a better side the difference is returned unchanged.
        """
        return -difference if self.better == "lower" else difference

    def at(self, place: str) -> Metric:
        """Return the metric with another part behind "@"; raise UsageError if it is not of the same kind."""
        shares = self.place.endswith("%")
        if shares and not is_position(place):
            raise UsageError(
                f"metric {self.stem}@{place}: give a number of rows or a share of them, e.g. {self.stem}@100 or "
                f"{self.stem}@2.5%"
            )
        if not shares and not (place.replace(".", "", 1).isdigit() and float(place) > 0.0):
            raise UsageError(f"metric {self.stem}@{place}: give a number above 0, e.g. {self.name}")
        return replace(self, name=f"{self.stem}@{place}")

    def of(self, given: Mapping[str, Any]) -> float:
        """Return the metric of inputs, by the names in `needs`."""
        assert self.function is not None
        return float(self.function(*(given[need] for need in self.needs), *([self.place] if self.place else [])))

    def margin_at(self, published: float) -> float:
        """Return the margin around a published figure, in the unit of tables."""
        return self.margin * abs(published) if self.relative else self.margin
