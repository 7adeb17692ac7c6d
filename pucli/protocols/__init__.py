"""Protocols: what happens in one cell of an experiment.

A protocol is a module here, chosen by the key `protocol` of a declared experiment. It has

    cells(experiment, scope) -> list[Cell]
    run_cell(cell, experiment, context) -> CellResult

and may have `warm_up(cell)`, called before the first cell of its method in a process and not timed, and

    report_extras(experiment, cells, stored) -> list of (file name, title, text or matplotlib Figure)

for what a report has beside the table; a figure's file name has no ending. An exception in `run_cell` makes a failed
cell; the runner takes care of processes, threads, the store and the table.
"""
