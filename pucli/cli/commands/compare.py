"""``pucli compare``: compare methods on the same splits, with statistical tests."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pucli.cli import completion
from pucli.cli import options as opt
from pucli.cli.output import Output, output_file
from pucli.cli.progress import show_event
from pucli.cli.row_options import UsualReading, column_choice, is_table
from pucli.cli.terminal import plus_minus
from pucli.core.errors import UsageError

if TYPE_CHECKING:
    from pucli.models.compare import ComparisonScores, ComparisonVerdict, Task

EXAMPLES = """
pucli compare customers.csv glpual svc-naive --label bought --positive yes
pucli compare gllc glpual svc-naive --dataset wifi --dataset seeds --dataset wine --out compared.html
pucli compare blssvm --experiment table-3.3 --dataset seeds
pucli compare gllc svc-naive --dataset breast-cancer --tune --repeats 20 --metric auc --out compared.tex
"""


def command(  # noqa: PLR0913
    out: Output,
    reading: UsualReading,
    methods: Annotated[
        list[str],
        typer.Argument(
            metavar="[FILE] METHOD METHOD...",
            help="Methods to compare; before them, a file as --data FILE.",
            autocompletion=completion.methods,
        ),
    ],
    dataset: Annotated[
        list[str] | None,
        typer.Option("--dataset", "-d", help="Declared data set; repeatable.", autocompletion=completion.datasets),
    ] = None,
    experiment: Annotated[
        str | None,
        typer.Option(
            "--experiment",
            "-e",
            help="Run on the splits of this experiment, and join its committed runs.",
            autocompletion=completion.experiments,
        ),
    ] = None,
    data: opt.DataFiles = None,
    label: opt.LabelColumn = None,
    positive: opt.PositiveValue = None,
    positives_from: opt.PositivesFrom = None,
    labels: Annotated[
        str,
        typer.Option(
            "--labels",
            help="With --data: pu (some positives are marked) or true (all are; some labels are then hidden).",
            autocompletion=completion.completer("pu", "true"),
        ),
    ] = "pu",
    metric: Annotated[
        str, typer.Option("--metric", help="Metric to compare; by default f1, or puf with --labels pu.")
    ] = "",
    repeats: Annotated[int, typer.Option("--repeats", help="Number of splits of each data set.", min=2)] = 10,
    label_frequency: opt.TrueLabelFrequency = 0.5,
    scenario: opt.Scenario = "case-control",
    tune: Annotated[
        bool, typer.Option("--tune", help="Choose parameters on each training set, as `pucli tune` does.")
    ] = False,
    seed: opt.Seed = 0,
    n_jobs: opt.Jobs = 1,
    destination: Annotated[
        list[Path] | None,
        typer.Option("--out", "-o", help="Write a web page, or with .tex a LaTeX table, to this file; repeatable."),
    ] = None,
    kinds: opt.ColumnKinds = None,
    drop: opt.Drop = None,
    only: opt.Only = None,
    ids: opt.Ids = None,
    groups: opt.Groups = None,
    by_time: Annotated[
        str | None,
        typer.Option(
            "--time",
            metavar="COLUMN",
            help="With --data: column with the time; test rows are then newer than training rows.",
            callback=opt.normal_name,
        ),
    ] = None,
) -> None:
    """Compare methods on the same splits, with statistical tests.

    On one table, the corrected resampled t-test compares the methods over the splits. Over several data sets, the
    Wilcoxon test compares two methods, the Friedman and Nemenyi tests three or more.
    """
    from pucli.data import dataset_key
    from pucli.methods import get_method
    from pucli.metrics import get_metric

    opt.choice("value of --labels", labels, ("pu", "true"))
    if is_table(methods[0]):
        data, methods = [Path(methods[0]), *(data or ())], methods[1:]
    for name in methods if experiment is None else ():
        get_method(name)
    if metric:
        get_metric(metric)
    names = dict.fromkeys(map(dataset_key, dataset or ()))
    from pucli.core.processes import number_of_jobs
    from pucli.data.rows.training_rows import check_one_source
    from pucli.data.rows.user_file import ColumnChoice
    from pucli.models.compare import compare, declared_task, judge, own_task
    from pucli.report.joined import joined

    for path in destination or ():
        output_file("--out", path, *(data or ()))
    choice = column_choice(kinds, drop, only, ids, groups, by_time)
    how = reading.reading(data or ())
    ways = "--dataset NAME, once or more, --experiment NAME, or --data FILE --label COLUMN"
    check_one_source(bool(dataset or experiment), bool(data), ways)
    if data:
        if labels == "pu" and label_frequency != 0.5:
            raise UsageError(
                "--label-frequency hides labels of known classes: it needs --dataset, or --data with --labels true."
            )
        classes = labels == "true"
        more = {"positives_from": positives_from, "choice": choice, "scenario": scenario, "reading": how}
        tasks = [own_task(data, label, positive, known=classes, **more)]  # type: ignore[arg-type]
    else:
        if label or positive or positives_from or labels != "pu" or choice != ColumnChoice() or how.words:
            raise UsageError(
                "--label, --positive, --positives-from, --labels and the options of columns and of reading need --data."
            )
        if experiment and (tune or seed or scenario != "case-control"):
            raise UsageError(
                f"{experiment} declares tuning, seed and scenario; leave out --tune, --seed and --scenario."
            )
        tasks = [] if experiment else [declared_task(name, scenario=scenario) for name in names]
    _remark(out, tasks)
    out.together()
    out.if_interrupted = "Nothing was compared; fewer --repeats are faster."
    n_jobs = number_of_jobs(n_jobs)
    with out.progress("compare", "fits") as bar:
        if experiment:
            scores, made = joined(
                experiment,
                methods,
                datasets=list(names),
                metric=metric,
                repeats=repeats,
                label_frequency=label_frequency,
                n_jobs=n_jobs,
                on_event=partial(show_event, bar),
            )
        else:
            scores = compare(
                methods,
                tasks,
                metric=metric,
                repeats=repeats,
                seed=seed,
                label_frequency=label_frequency,
                tune=tune,
                n_jobs=n_jobs,
                progress=bar,
            )
            made = [
                _splits(tasks, scores, label_frequency, seed),
                "parameters chosen on each training set from the default grid of the method"
                if tune
                else "parameters are the defaults",
            ]
    judgment = judge(scores)
    _print(out, scores, judgment, made)
    for path in destination or ():
        _write(out, scores, judgment, made, path)


def _remark(out: Output, tasks: list[Task]) -> None:
    for task in tasks:
        for note in task.notes:
            out.remark(f"note: {note}" if note.startswith(task.name) else f"note: {task.name}: {note}")


def _splits(tasks: list[Task], scores: ComparisonScores, label_frequency: float, seed: int) -> str:
    repeats = scores.values.shape[2]
    together = "" if tasks[0].groups is None else ", no group on both sides"
    if tasks[0].times is not None:
        hidden = f", label frequency {label_frequency:g}, seed {seed}" if tasks[0].known else ""
        return f"{repeats} splits by time, each trained on all rows older than its test rows{hidden}{together}"
    if tasks[0].known:
        kind = f"{repeats} {tasks[0].scenario} splits"
        return f"{kind} of each data set with label frequency {label_frequency:g}, seed {seed}{together}"
    return f"{repeats} splits of the labeled and of the unlabeled rows, 70% for training, seed {seed}{together}"


def _print(out: Output, scores: ComparisonScores, judgment: ComparisonVerdict, made: list[str]) -> None:
    from pucli.metrics import get_metric
    from pucli.models.compare.verdict import CompareAnswer, Values, p_text
    from pucli.report.comparison_page import lines_of

    table = lines_of(scores, plus_minus)
    values = [
        Values(
            name,
            dict(zip(scores.methods, found.tolist(), strict=True)),
            {method: scores.printed.get((name, method), math.nan) for method in scores.methods},
        )
        for (name, _), found in zip(table, scores.values, strict=True)
    ]
    about: dict[str, Any] = {"metric": scores.metric, "methods": scores.methods, "scores": values, "made": made}
    out.document(CompareAnswer(**vars(judgment), **about))
    out.text(f"{get_metric(scores.metric).heading}, mean ± standard deviation over {scores.values.shape[2]} splits")
    out.table(["data", *scores.methods], [[name, *(text for _, text in cells)] for name, cells in table])
    metric = get_metric(scores.metric)
    better = f"; {metric.better} is better" if metric.better else ""
    out.remark(f"{metric.name}: {metric.description}{better}")
    out.text()
    for line in judgment.verdict:
        out.text(line)
    out.text()
    pairs = [
        [f"{pair.a} - {pair.b}", f"{pair.wins}/{pair.ties}/{pair.losses}", f"{pair.difference:+.2f}", p_text(pair.p)]
        for pair in judgment.pairs
    ]
    out.table(["pair", "better/equal/worse", "difference", "p"], pairs)
    out.text(f"better/equal/worse: number of {judgment.blocks}")
    adjusted = ", adjusted for the pairs (Holm)" if len(pairs) > 1 else ""
    out.text(f"{judgment.test}{adjusted}; {'; '.join(made)}")
    for remark in scores.remarks:
        out.warn(remark)


def _write(out: Output, scores: ComparisonScores, judgment: ComparisonVerdict, made: list[str], path: Path) -> None:
    from pucli.core.atomic_files import replacing
    from pucli.report.comparison_page import comparison_latex, comparison_page

    if path.suffix.lower() == ".tex":
        text = comparison_latex(scores, judgment, made, path.stem)
    else:
        text = comparison_page(scores, judgment, made)
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8", errors="backslashreplace")
    out.remark(f"written: {path}")
