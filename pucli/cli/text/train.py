"""The summary of ``pucli train``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pucli.cli.output import Output
from pucli.cli.terminal import many, number, percent, span

if TYPE_CHECKING:
    from pucli.models.fitting import Fitted
    from pucli.models.trained import Trained
    from pucli.models.validation import HeldOutResults


def print_model(out: Output, answer: Trained, fitted: Fitted) -> None:
    """Print the summary of a fit."""
    out.text(f"{answer.method} on {fitted.rows.title}")
    out.fields(
        [
            ("learned from", _rows(answer)),
            ("flagged", _flagged(answer)),
            ("held out", _held_out(answer.held_out)),
            ("ranking", _ranking(answer.held_out)),
            ("probability", _probability(answer.probability, answer.held_out, fitted.probability)),
            ("converged", None if answer.converged else _converged(answer)),
            ("missing cells", _missing_cells(answer)),
            ("components", answer.n_components),
            *_test(answer.test),
            ("model", answer.model),
        ]
    )


def _converged(answer: Trained) -> str | None:
    """Return the line on convergence, None for a method of another package that does not say."""
    if answer.converged is None:
        return None
    return f"NO, {many(answer.n_iter or 0, 'iteration')}"


def _rows(answer: Trained) -> str:
    if answer.labeled is None:
        return f"{answer.rows:,}"
    known = f", {answer.known_negatives:,} known negative" if answer.known_negatives is not None else ""
    return f"{answer.rows:,} rows, {answer.labeled:,} labeled, {answer.unlabeled:,} unlabeled{known}"


def _flagged(answer: Trained) -> str | None:
    share, recall = answer.positive_share, answer.labeled_recall
    if share is None or recall is None:
        return None
    return f"{number(100 * share)}% of the unlabeled rows, {number(100 * recall)}% of the labeled ones"


def _held_out(checked: HeldOutResults | None) -> str | None:
    if checked is None:
        return None
    share, recall, share_sd, recall_sd = (
        100 * value for value in (checked.share, checked.recall, checked.share_sd, checked.recall_sd)
    )
    return (
        f"flags {number(share)} ± {number(share_sd, 2)}% of the unlabeled rows, {number(recall)} ± "
        f"{number(recall_sd, 2)}% of the labeled ones (± standard deviation over folds)"
    )


def _ranking(checked: HeldOutResults | None) -> str | None:
    if checked is None:
        return None
    return f"PU-AUC {checked.pu_auc:.2f} ± {checked.pu_auc_sd:.2f} on held-out rows; 0.50 is chance"


def _probability(
    priors: dict[str, float] | None, checked: HeldOutResults | None, curve: Mapping[str, Any]
) -> str | None:
    if priors is None:
        return None
    if checked is None:
        return "a logistic curve of the held-out scores of labeled rows"
    value, low, high = (priors[name] for name in ("prior", "prior_low", "prior_high"))
    if low < high and not curve["ranks"]:
        return "from held-out scores; the class prior cannot be told, as labeled rows hardly rank above unlabeled ones"
    known = "as given" if low == high else f"90% interval {span(low, high)}"
    return f"from held-out scores, with a class prior of {percent(value)}% ({known})"


def _missing_cells(answer: Trained) -> str | None:
    if not answer.missing_cells:
        return None
    pattern = "one block" if answer.pattern == "one block" else "a monotone pattern"
    complete = f"{answer.n_complete:,} of {answer.rows:,} rows are complete"
    return f"{answer.missing_cells:,}, in {pattern}; {complete}"


def _test(test: dict[str, Any] | None) -> list[tuple[str, Any]]:
    if test is None:
        return []
    if "log_likelihood" in test:
        return [("test", f"mean log-likelihood {number(test['log_likelihood'])} of {test['rows']:,} rows")]
    scores = [(f"  {name}", value) for name, value in test.items() if isinstance(value, float)]
    return [("test", f"{test['rows']:,} rows with true labels"), *scores]
