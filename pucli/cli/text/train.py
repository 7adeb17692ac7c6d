"""The report of ``pucli train`` on a fitted model: a JSON document and a summary."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pucli.cli.output import Output
from pucli.cli.terminal import duration, many, number, percent, percents

if TYPE_CHECKING:
    from pucli.models.fitting import Fitted

COUNTS = ("tp", "fn", "fp", "tn")  # the confusion matrix, row by row

# Number of constant features that are named.
NAMED = 10

# A kernel is exact up to rounding if no more of its diagonal is left out.
NEARLY_EXACT = 1e-6


def document_of(fitted: Fitted) -> dict[str, Any]:
    """Return everything known about a fit as one JSON document."""
    import numpy as np

    from pucli.cli.text.columns import column_records
    from pucli.data.features import shape

    rows, statements = fitted.rows, fitted.statements
    known = 0 if rows.negative is None else int(rows.negative.sum())
    labels = {} if rows.y is None else {"labelled": rows.n_labelled, "unlabeled": len(rows.y) - rows.n_labelled - known}
    if known:
        labels["known_negatives"] = known
    return {
        "method": fitted.method,
        "params": fitted.params,
        "data": rows.about,
        "rows": rows.X.shape[0],
        **labels,
        "features": rows.X.shape[1],
        "columns": None if rows.encoder is None else column_records(rows.encoder),
        "missing_cells": int(np.isnan(rows.X).sum()) if isinstance(rows.X, np.ndarray) else 0,
        **shape(rows.X, rows.feature_names)._asdict(),
        "standardised": fitted.standardised,
        **statements,
        "seconds": fitted.seconds,
        "test": _test_scores(fitted),
    }


def _test_scores(fitted: Fitted) -> dict[str, Any] | None:
    """Return the scores on the held-out rows, or None if there are none."""
    rows = fitted.rows
    if rows.X_test is None:
        return None
    from pucli.models.scores import log_density, true_label_scores

    if rows.y_test is None:
        return {"rows": len(rows.X_test), "log_likelihood": float(log_density(fitted.pipeline, rows.X_test).mean())}
    scores = true_label_scores(fitted.pipeline, rows.X_test, rows.y_test)
    return {"rows": len(rows.y_test), **whole_counts(scores)}


def whole_counts(scores: dict[str, float]) -> dict[str, Any]:
    """Return scores with the confusion counts as integers."""
    return {name: int(value) if name in COUNTS else value for name, value in scores.items()}


def print_model(out: Output, document: dict[str, Any], fitted: Fitted, *, verbose: bool) -> None:
    """Print the summary of a fit.

    Parameters
    ----------
    out : Output
        Output of the command.
    document : dict
        The JSON document of the fit.
    fitted : Fitted
        The fitted model with its training rows.
    verbose : bool
        Whether to print the parameters and what is proven of the solution as well.
    """
    details, test = _details(document, fitted), _test(document["test"])
    out.text(f"{document['method']} on {fitted.rows.title}")
    out.fields(
        [
            ("learned from", _rows(document)),
            ("called", _called_positive(document)),
            ("held out", _held_out(document["held_out"])),
            ("ranking", _ranking(document["held_out"])),
            ("probability", _probability(document["probability"], document["held_out"], fitted.probability)),
            *([] if verbose or document["converged"] in (True, None) else [("converged", _converged(document))]),
            ("missing cells", None if verbose else _missing_cells(document)),
            ("components", document["n_components"]),
            *test,
            *(details if verbose else []),
            ("model", document["model"]),
        ]
    )


def _details(document: dict[str, Any], fitted: Fitted) -> list[tuple[str, Any]]:
    """Return what --verbose adds: the features, the parameters and what is proven of the solution."""
    return [
        ("features", f"{document['features']}, {'standardised' if document['standardised'] else 'not standardised'}"),
        ("constant features", _few(document["constant_features"]) or None),
        ("duplicate rows", document["duplicate_rows"] or None),
        ("missing cells", _missing_cells(document)),
        ("parameters", ", ".join(f"{key}={number(value)}" for key, value in document["params"].items())),
        ("approximated", _approximated(document, fitted)),
        ("class prior estimated", None if "prior" in document["params"] else document["prior"]),
        ("objective", finite(document["objective"])),
        ("certificate", None if fitted.rows.y is None else certificate_text(document)),
        ("guarantee", document["guarantee"]),
        ("converged", _converged(document)),
        ("training time", duration(document["seconds"])),
    ]


def _converged(document: dict[str, Any]) -> str | None:
    """Return the line on convergence, None for a method of another package that does not say."""
    if document["converged"] is None:
        return None
    return f"{'yes' if document['converged'] else 'NO'}, {many(document['n_iter'], 'iteration')}"


def _rows(document: dict[str, Any]) -> str:
    if "labelled" not in document:
        return f"{document['rows']:,}"
    known = f", {document['known_negatives']:,} known negative" if "known_negatives" in document else ""
    return f"{document['rows']:,} rows, {document['labelled']:,} labelled, {document['unlabeled']:,} unlabeled{known}"


def _approximated(document: dict[str, Any], fitted: Fitted) -> str | None:
    parts = []
    recall, residual = document["graph_recall"], document["kernel_residual"]
    if recall is not None and recall < 1.0:
        parts.append(f"the graph has {100 * recall:.1f} % of the true neighbours")
    if residual is not None and residual > NEARLY_EXACT:
        rank = len(fitted.estimator.landmarks_)
        parts.append(f"{rank} features; the diagonal of the kernel, which is 1, is too small by up to {residual:.2g}")
    return "; ".join(parts) or None


def _called_positive(document: dict[str, Any]) -> str | None:
    share, recall = document["positive_share"], document["labelled_recall"]
    if share is None:
        return None
    return f"{number(100 * share)} % of the unlabeled rows, {number(100 * recall)} % of the labelled ones"


def _held_out(checked: dict[str, Any] | None) -> str | None:
    if checked is None:
        return None
    share, recall, share_sd, recall_sd = (100 * checked[name] for name in ("share", "recall", "share_sd", "recall_sd"))
    return (
        f"calls {number(share)} ± {number(share_sd, 2)} % of the unlabeled rows, {number(recall)} ± "
        f"{number(recall_sd, 2)} % of the labelled ones (± standard deviation over folds)"
    )


def _ranking(checked: dict[str, Any] | None) -> str | None:
    if checked is None:
        return None
    return f"PU-AUC {checked['pu_auc']:.2f} ± {checked['pu_auc_sd']:.2f} on held-out rows; 0.50 is chance"


def _probability(
    priors: dict[str, float] | None, checked: dict[str, Any] | None, curve: Mapping[str, Any]
) -> str | None:
    if priors is None:
        return None
    if checked is None:
        return "a logistic curve of the held-out scores of labelled rows"
    value, low, high = (priors[name] for name in ("prior", "prior_low", "prior_high"))
    if low < high and not curve["ranks"]:
        return "from held-out scores; the class prior cannot be told, as labelled rows hardly rank above unlabeled ones"
    known = "as given" if low == high else f"90 % interval {percents(low, high)}"
    return f"from held-out scores, with a class prior of {percent(value)} % ({known})"


def _missing_cells(document: dict[str, Any]) -> str | None:
    if not document["missing_cells"]:
        return None
    pattern = "one block" if document["pattern"] == "one block" else "a monotone pattern"
    complete = f"{document['n_complete']:,} of {document['rows']:,} rows are complete"
    return f"{document['missing_cells']:,}, in {pattern}; {complete}"


def _test(test: dict[str, Any] | None) -> list[tuple[str, Any]]:
    if test is None:
        return []
    if "log_likelihood" in test:
        return [("test", f"mean log-likelihood {number(test['log_likelihood'])} of {test['rows']:,} rows")]
    scores = [(f"  {name}", value) for name, value in test.items() if isinstance(value, float)]
    return [("test", f"{test['rows']:,} rows with true labels"), *scores]


def certificate_text(document: dict[str, Any]) -> str:
    """Return the certificate of a fit as text."""
    gap, residual = finite(document["dual_gap"]), finite(document["residual"])
    if gap is not None:
        return f"proven: less than {number(gap).removeprefix('under ')} from the optimum"
    if residual is not None:
        return f"none (not convex, or no fixed objective); residual {number(residual)}"
    return "none"


def finite(value: Any) -> Any:
    """Return the number if it is finite, otherwise None."""
    return value if isinstance(value, (int, float)) and math.isfinite(value) else None


def _few(names: Sequence[str]) -> str:
    """Return the first of the names, and the number of the others."""
    more = [f"and {len(names) - NAMED} more (--json has all)"] if len(names) > NAMED else []
    return ", ".join([*names[:NAMED], *more])
