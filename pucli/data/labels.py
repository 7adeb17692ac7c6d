"""Words for labels."""

# Name of the label column if the file has no name for it (MAT, IDX, LIBSVM, scikit-learn).
LABEL = "label"
# Words that mean yes and no in the languages of spreadsheets, in lower case.
YES = frozenset(
    {"positive", "pos", "p", "yes", "y", "true", "t", "labelled", "labeled", "1", "on", "present", "ja", "j", "wahr",
     "oui", "o", "vrai", "si", "sí", "sì", "verdadero", "vero", "sim", "verdadeiro", "waar", "jo", "sand", "tak", "ano",
     "да", "истина", "positiv", "positif", "positivo"}
)  # fmt: skip
NO = frozenset(
    {"negative", "neg", "no", "n", "false", "f", "0", "off", "absent", "nein", "falsch", "non", "faux", "falso", "não",
     "nao", "nee", "onwaar", "nej", "falsk", "nie", "ne", "нет", "ложь", "negativ", "négatif", "negatif", "negativo"}
)  # fmt: skip
# Words for a row whose class nobody has looked up, in lower case.
NOT_LABELLED = frozenset(
    {"unlabeled", "unlabelled", "not labeled", "not labelled", "u", "unl", "unk", "unknown", "unchecked", "unverified",
     "undetermined", "undecided", "pending", "?"}
)  # fmt: skip
