"""Protocols: what happens in one cell of an experiment.

A protocol is a module here, chosen by the key `protocol` of a declared experiment. It has

    cells(experiment, scope) -> list[Cell]
    run_cell(cell, context) -> CellResult

and may have `warm_up(cell)`, called before the first cell of its method in a process and not timed. A module `report`
in the same folder has

    extras(experiment, cells, rows) -> list[pucli.report.extras.Extra]

for the texts and figures that a report shows beside the table. An exception in `run_cell` makes a failed
cell; the runner takes care of processes, threads, the store and the table.
"""
