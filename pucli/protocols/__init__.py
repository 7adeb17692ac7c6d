"""Protocols, which define the work of a cell of an experiment.

A protocol is a module here, chosen by the key `protocol` of a declared experiment. It has

    cells(experiment, scope) -> list[Cell]
    run_cell(cell, context) -> CellResult

and optionally `warm_up(cell)`, which is called, untimed, before the first cell of a method in a process. A module
`report` in the same folder has

    extras(experiment, cells, rows) -> list[pucli.report.protocol_parts.Extra]

for the additional texts and figures of a report. An exception in `run_cell` gives a failed cell; the
runner handles processes, threads, the store and the table.
"""
