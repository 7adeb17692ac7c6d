"""The commands, one module each.

A module has the name of its command, with ``_`` for ``-``. It defines `command(out, ...)`, whose docstring is the help
text, and `EXAMPLES`, which end the help page. `pucli --help` imports all of them, so heavy modules (numpy,
scikit-learn, pandas, numba, rich, the other packages of pucli) are imported inside functions.
"""
