"""Name of the label column where the file has none (MAT, IDX, LIBSVM, scikit-learn)."""

LABEL = "label"
