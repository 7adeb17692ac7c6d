"""``pucli merge``: combine results from several machines and build the table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pucli.cli import options as opt
from pucli.cli.output import Output, output_folder
from pucli.cli.terminal import many
from pucli.core.errors import UsageError

EXAMPLES = """
pucli merge table-3.3 part1 part2
pucli merge table-3.3 part1 part2 --results all --json
"""


def command(
    out: Output,
    experiment: opt.ExperimentName,
    folders: Annotated[
        list[Path], typer.Argument(metavar="FOLDER...", help="The --results folders of the parts (--shard).")
    ],
    profile: opt.Profile = "full",
    catalogue: opt.Catalogue = None,
    allow_changes: opt.AllowChanges = False,
    results: opt.Results = Path("results"),
) -> int:
    """Combine results from several machines.

    The finished cells of other results folders are imported and the table is built. Nothing is run, and cells that are
    here already are kept. Exit code 1 means that some cell failed.
    """
    from pucli.cli.text.report import print_report
    from pucli.report import collect
    from pucli.runner import check_committed, load_experiment, merge_stores, results_folder
    from pucli.runner.run import cells_of_other_profiles

    declared = load_experiment(experiment, datasets=catalogue)
    output_folder("--results", results)
    out.if_interrupted = f"Imported cells are kept in {results_folder(declared, results)}."
    check_committed(results_folder(declared, results), allow_changes=allow_changes)
    taken = merge_stores(declared, folders, profile=profile, results_dir=results)
    out.remark(f"{many(taken, 'cell')} imported from {', '.join(map(str, folders))}")
    left_out = cells_of_other_profiles(declared, folders, profile)
    if left_out and not taken and not collect(declared, profile=profile, results_dir=results).counts["done"]:
        raise UsageError(
            f"no cell of profile {profile} in {', '.join(map(str, folders))}: {many(left_out, 'finished cell')} there "
            "of another profile; give --profile as for the parts."
        )
    if left_out:
        out.warn(
            f"not imported, because of another profile than {profile}: {many(left_out, 'finished cell')}; give "
            "--profile as for the parts."
        )
    report = collect(declared, profile=profile, results_dir=results)
    out.document({"imported": taken, "verdicts": report.verdicts, "report": report.to_json()})
    print_report(out, report)
    return 1 if report.counts["failed"] else 0
