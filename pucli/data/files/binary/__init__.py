"""Binary formats: workbooks, Parquet and Arrow, MATLAB and NumPy arrays, IDX."""
