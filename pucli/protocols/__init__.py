"""Protocols, which define the work of a cell of an experiment.

A protocol is a module here, chosen by the key `protocol` of a declared experiment. Its `PROTOCOL` is a
`pucli.protocols.steps.ProtocolSteps`, which plans the cells, warms up, untimed, before the first cell of a method in a
process, and runs a cell. A module `report` in the same folder has

    extras(experiment, cells, rows) -> list[pucli.report.protocol_parts.Extra]

for the additional texts and figures of a report. An exception in a step gives a failed cell; the runner handles
processes, threads, the store and the table.
"""
