"""Words for labels."""

# Name of the label column if the file has no name for it (MAT, IDX, LIBSVM, scikit-learn).
LABEL = "label"
# Labels that mean yes, in lower case.
YES = frozenset({"positive", "pos", "p", "yes", "y", "true", "t", "labelled", "labeled", "1"})
