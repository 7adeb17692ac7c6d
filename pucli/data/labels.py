"""Words for labels: those for yes, for no, and for rows that nobody has labeled."""

from __future__ import annotations

import re

# Name of the label column if the file has no name for it (MAT, IDX, LIBSVM, scikit-learn).
LABEL = "label"
# Words that mean yes and no in the languages of spreadsheets, in lower case.
YES = frozenset(
    {"positive", "pos", "p", "yes", "y", "true", "t", "labelled", "labeled", "1", "on", "present", "ja", "j", "wahr",
     "oui", "o", "vrai", "si", "sí", "sì", "verdadero", "vero", "sim", "verdadeiro", "waar", "jo", "sand", "tak", "ano",
     "да", "истина", "positiv", "positif", "positivo", "evet", "kyllä", "igen", "ναι", "是", "はい", "예", "✓", "✔",
     ".t."}
)  # fmt: skip
NO = frozenset(
    {"negative", "neg", "no", "n", "false", "f", "0", "off", "absent", "nein", "falsch", "non", "faux", "falso", "não",
     "nao", "nee", "onwaar", "nej", "falsk", "nie", "ne", "нет", "ложь", "negativ", "négatif", "negatif", "negativo",
     "hayır", "ei", "nem", "όχι", "否", "いいえ", "아니요", "✗", "✘", ".f."}
)  # fmt: skip
# Words that can only mean that nobody has labeled the row, in lower case.
PLAINLY_NOT_LABELED = frozenset({"unlabeled", "unlabelled", "not labeled", "not labelled", "unl"})
# Words for a row whose class nobody has looked up, in lower case.
NOT_LABELED = PLAINLY_NOT_LABELED | {
    "u", "unk", "unknown", "unchecked", "unverified", "undetermined", "undecided", "pending", "?", "not known",
    "not checked", "not reviewed", "unreviewed", "unseen", "untested", "missing", "na", "n/a", "nan", "null", "<na>",
    "nat", "unclassified", "unassigned", "unspecified", "unannotated", "not annotated", "no label",
}  # fmt: skip
# Labels that mean no beside one other value, in lower case.
_NEGATIVE = NO | {"", "-", "--", "-1", "none", "nil", "other", "rest"}
_NEGATIONS = ("no ", "not ", "non ", "non-", "no_", "not_", "non_", "no-", "not-", "without ", "never ")

_OPPOSITES = {"1": "0", "yes": "no", "y": "n", "true": "false", "t": "f", "ja": "nein", "oui": "non"}


def negation(word: str) -> str:
    """Return the word that means no beside one that means yes, in the same letters, "" for other words.

    Examples
    --------
    >>> negation("1"), negation("Yes"), negation("TRUE"), negation("fraud")
    ('0', 'No', 'FALSE', '')
    """
    opposite = _OPPOSITES.get(word.casefold(), "")
    return opposite.upper() if word.isupper() else opposite.capitalize() if word.istitle() else opposite


def says_not_labeled(label: object) -> bool:
    """Return whether a label is a word for a row that nobody has labeled, or empty."""
    return isinstance(label, str) and (label.strip() == "" or _plain(label) in NOT_LABELED)


def says_plainly_not_labeled(label: object) -> bool:
    """Return whether a label can mean nothing else than that nobody has labeled the row."""
    return isinstance(label, str) and _plain(label) in PLAINLY_NOT_LABELED


def is_negative(label: str, other: str) -> bool:
    """Return whether one of two labels cannot be the positive one: it is a negation or means "not labeled".

    Examples
    --------
    >>> is_negative("not churned", "churned"), is_negative("nonfraud", "fraud"), is_negative("spam", "ham")
    (True, True, False)
    """
    word, beside = _plain(label), _plain(other)
    if says_not_labeled(label) or word in _NEGATIVE or word.startswith(_NEGATIONS):
        return True
    return bool(beside) and word in {prefix + beside for prefix in ("non", "not", "no")}


def positive_of_two(first: str, second: str) -> str | None:
    """Return which of two words marks positives, None if neither or both could.

    The positive word means yes (`YES`), or the other is negative (`is_negative`); it is never itself negative. A single
    letter means yes or no beside its opposite alone: M and F, or I and O, are no answers.

    Examples
    --------
    >>> positive_of_two("fraud", "unlabeled"), positive_of_two("P", "U"), positive_of_two("legit", "fraud")
    ('fraud', 'P', None)
    >>> positive_of_two("Y", "N"), positive_of_two("M", "F")
    ('Y', None)
    """
    known = [_plain(word) in YES or is_negative(word, other) for word, other in ((first, second), (second, first))]
    if known.count(True) == 1 and re.fullmatch(r"[^\W\d_]", _plain((first, second)[known.index(True)])):
        return None
    found = []
    for word, other in ((first, second), (second, first)):
        if is_negative(word, other):
            continue
        if _plain(word) in YES or is_negative(other, word):
            found.append(word)
    return found[0] if len(found) == 1 else None


def _plain(label: str) -> str:
    return " ".join(label.split()).casefold()
