"""Write ``customers.csv``, an invented table to try pucli on, and its hidden truth, ``customers_truth.csv``.

Of 2,000 customers 600 bought; a random 200 of these are marked ``yes``, and all other label cells are empty. The
columns are of every kind: an identifier, numbers with empty cells, categories, yes/no, a date, a text and a constant.

Run ``python examples/make_customers.py [FOLDER]``. The same seed gives the same bytes.
"""

from __future__ import annotations

import csv
import sys
from datetime import date, timedelta
from pathlib import Path

import numpy as np

ROWS, POSITIVES, LABELED, SEED = 2000, 600, 200, 20
TODAY = date(2026, 6, 30)
HEADER = ["customer", "age", "income", "visits", "zip", "member", "channel", "last_visit", "notes", "country", "bought"]
ZIPS, CHANNELS = ["1010", "2020", "3030", "4040"], ["shop", "web", "phone"]
NOTES = ["asked for an offer", "wrote a letter", "called twice", "moved house", "did not answer", "sent goods back"]
TOPICS = ["kitchen", "garden", "carpets", "lamps", "sofas", "shelves", "desks", "curtains", "beds", "tools"]
DAYS = ["on Monday", "on Tuesday", "on Wednesday", "on Thursday", "on Friday", "last week", "in spring"]
# Chances of each word for customers who bought and for those who did not.
CHANCES = {
    "zip": ([0.4, 0.3, 0.2, 0.1], [0.2, 0.25, 0.25, 0.3]),
    "channel": ([0.3, 0.6, 0.1], [0.5, 0.25, 0.25]),
    "notes": ([0.5, 0.1, 0.1, 0.05, 0.05, 0.2], [0.08, 0.17, 0.2, 0.15, 0.2, 0.2]),
}


def write_customers(folder: Path) -> list[Path]:
    """Write both files into a folder and return their paths."""
    rng = np.random.default_rng(SEED)
    bought = rng.permutation(np.arange(ROWS) < POSITIVES)
    labeled = np.zeros(ROWS, dtype=bool)
    labeled[rng.choice(np.flatnonzero(bought), LABELED, replace=False)] = True

    def words(name: str, of: list[str]) -> list[str]:
        return [of[int(rng.choice(len(of), p=CHANCES[name][0 if one else 1]))] for one in bought]

    def notes() -> list[str]:
        topics, days = (rng.choice(of, ROWS) for of in (TOPICS, DAYS))
        return [f"{text} about {a} {b}" for text, a, b in zip(words("notes", NOTES), topics, days, strict=True)]

    def numbers(yes: float, no: float, spread: float) -> np.ndarray:
        return np.where(bought, yes, no) + spread * rng.standard_normal(ROWS)

    age = np.clip(numbers(38, 47, 11), 18, 95).round().astype(int)
    income = np.exp(numbers(7.9, 7.6, 0.35)).round(-1).astype(int)
    visits = rng.poisson(np.where(bought, 9.0, 3.0))
    days = rng.exponential(np.where(bought, 25.0, 120.0)).astype(int)
    member = rng.random(ROWS) < np.where(bought, 0.8, 0.3)
    unknown = rng.random(ROWS) < 0.1
    columns = [
        [f"C{number:05d}" for number in rng.permutation(ROWS) + 10000],
        age,
        ["" if empty else value for empty, value in zip(unknown, income, strict=True)],
        visits,
        words("zip", ZIPS),
        np.where(member, "yes", "no"),
        words("channel", CHANNELS),
        [(TODAY - timedelta(days=int(number))).isoformat() for number in days],
        notes(),
        ["AT"] * ROWS,
        np.where(labeled, "yes", ""),
    ]
    paths = [folder / "customers.csv", folder / "customers_truth.csv"]
    _write(paths[0], HEADER, zip(*columns, strict=True))
    _write(paths[1], ["customer", "bought"], zip(columns[0], np.where(bought, "yes", "no"), strict=True))
    return paths


def _write(path: Path, header: list[str], rows: object) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)  # type: ignore[arg-type]


if __name__ == "__main__":
    for written in write_customers(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent):
        print(written)
