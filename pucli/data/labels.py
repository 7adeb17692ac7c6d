"""Words for labels."""

# Name of the label column if the file has no name for it (MAT, IDX, LIBSVM, scikit-learn).
LABEL = "label"
# Labels that mean yes, in lower case.
YES = frozenset({"positive", "pos", "p", "yes", "y", "true", "t", "labelled", "labeled", "1"})
# Words for a row whose class nobody has looked up, in lower case.
NOT_LABELLED = frozenset(
    {"unlabeled", "unlabelled", "not labeled", "not labelled", "u", "unl", "unk", "unknown", "unchecked", "unverified",
     "undetermined", "undecided", "pending", "?"}
)  # fmt: skip
