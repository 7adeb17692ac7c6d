"""One module per command: `command(out, ...)`, its docstring is the help text, `EXAMPLES` close its --help.

A module here is a command; its name is the command's name (``_`` is written ``-``). `pucli --help` imports all of
them, so anything heavy (numpy, scikit-learn, pandas, numba, rich, the other rooms of pucli) is imported inside
functions.
"""
