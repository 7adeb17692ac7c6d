"""Provenance of a report: the plan, the data and the versions."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pucli.report.cells_csv import way_text
from pucli.report.formats.markdown import grid, literal
from pucli.runner.cells import Cell, canonical_json
from pucli.runner.experiment import Experiment

if TYPE_CHECKING:
    from pucli.report.gathering import Gathered
    from pucli.report.model import Report


def made_with(report: Report, found: Gathered, before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of provenance.json, which has no paths and no names of machines."""
    experiment, cells, stored = found.experiment, found.cells, found.rows
    rows = [stored[cell.key] for cell in cells if cell.key in stored]
    ways = Counter(way_text(row["provenance"]) for row in rows if row["provenance"])
    earlier = [] if all(row["provenance"] for row in rows) else before.get("made_with", [])
    ways -= Counter({way_text(way): way["cells"] for way in earlier})
    times = [row["finished"] for row in rows if row["finished"]]
    times += [before[name] for name in ("first_finished", "last_finished") if before.get(name)]
    done = [row for row in rows if row["status"] == "done"]
    return {
        "experiment": report.experiment,
        "title": report.title,
        "source": report.source,
        "profile": report.profile,
        "reductions": report.reductions,
        "cells": report.cells,
        "flags": report.flags,
        # hash of all planned cells: reports with the same hash have the same plan
        "plan_sha256": hashlib.sha256(canonical_json(sorted(cell.key for cell in cells)).encode()).hexdigest(),
        "first_finished": min(times, default=None),
        "last_finished": max(times, default=None),
        "process_seconds": round(sum(sum(row["seconds"].values()) for row in done), 1),
        "fits": sum(row["n_fits"] for row in done),
        "data": _data(cells),
        "methods": _methods(experiment, cells),
        "figures": report.figures,
        "texts": report.texts,
        "made_with": [*earlier, *({**json.loads(text), "cells": count} for text, count in ways.most_common())],
    }


def as_declared(data: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the recorded data sets with what datasets.yaml says today of the choice of their rows."""
    from pucli.data.catalogue.entries import load_catalogue

    known = load_catalogue()
    return [{**one, **({"selection": known[one["name"]].selection} if one["name"] in known else {})} for one in data]


def to_text(content: Mapping[str, Any]) -> str:
    """Return the content as the text of provenance.json."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def made_with_page(content: Mapping[str, Any]) -> str:
    """Return the content as the text of provenance.md."""
    counts = content["cells"]
    parts = [
        f"# {content['experiment']}: provenance",
        f"{content['title']}. Profile `{content['profile']}`"
        + (f", reduced to {'; '.join(content['reductions'])}." if content["reductions"] else ", the whole experiment."),
        f"{counts['done']} of {counts['total']} cells done, {counts['failed']} failed, {counts['missing']} missing. "
        f"{content['fits']} fits of the tuning in {content['process_seconds']:.0f} process-seconds, finished between "
        f"{content['first_finished']} and {content['last_finished']}. Plan `{content['plan_sha256'][:16]}`.",
    ]
    for way in content["made_with"]:
        versions = [[name, version] for name, version in way.get("versions", {}).items()]
        instructions = f", NumPy for {way['instructions']}" if "instructions" in way else ""
        parts += [
            f"## {way['cells']} cells",
            f"{way.get('cpu')}, {way.get('system')}, {way.get('blas')}{instructions}. Source "
            f"`{way.get('source_sha256', '')[:16]}`, experiment `{way.get('experiment_sha256', '')[:16]}`. Commit "
            f"{way.get('commit')}, seed {way.get('seed')}; {way.get('processes')} process(es), {way.get('backend')}, "
            f"{way.get('threads_per_process')} thread each.",
            grid(["Package", "Version"], versions, "ll"),
        ]
    data = [[literal(d["name"]), literal(d["title"]), d["selection"], f"`{d['sha256'][:16]}`"] for d in content["data"]]
    methods = [[literal(m["label"]), m["method"], str(m["version"]), m["source"]] for m in content["methods"]]
    parts += [
        "## Data",
        grid(["Data set", "Title", "Rows and columns", "SHA-256"], data, "llll"),
        "## Methods",
        grid(["Label", "Method", "Version", "Source"], methods, "llrl"),
    ]
    return "\n\n".join(parts) + "\n"


def _data(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    from pucli.data import data_sha256, dataset_entry

    entries = {cell.dataset: dataset_entry(cell.dataset) for cell in cells}
    return [
        {"name": name, "title": entry.title, "selection": entry.selection, "sha256": data_sha256(name)}
        for name, entry in entries.items()
    ]


def _methods(experiment: Experiment, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    from pucli.methods import get_method

    found = []
    for label in dict.fromkeys(cell.method for cell in cells):
        method = get_method(experiment.methods[label].method)
        source = f"{method.source} [{method.origin}]" if method.origin else method.source
        found.append({"label": label, "method": method.name, "version": method.version, "source": source})
    return found
