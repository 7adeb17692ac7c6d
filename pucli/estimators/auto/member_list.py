"""The members of the ensemble: the list of `pucli.solvers.ensemble.members`, and what installed packages add to it.

An entry point of the group ``pucli.members`` is a `Member` or an `OfferedMember`. Every `AutoPU` without a list of its
own then has the member too, and the leaderboard shows it.
"""

from __future__ import annotations

from dataclasses import dataclass

from pucli.core.plug_ins import named
from pucli.solvers.ensemble.members import MEMBERS, Member

GROUP = "pucli.members"


@dataclass(frozen=True)
class OfferedMember(Member):
    """A member of another package.

    Attributes
    ----------
    saved_types : tuple of str
        Classes in its fitted model, as "package.module.Class".
    """

    saved_types: tuple[str, ...] = ()


def all_members() -> tuple[Member, ...]:
    """Return the members of `pucli.solvers.ensemble.members.MEMBERS` and those of installed packages."""
    return (*MEMBERS, *_offered())


def _offered() -> list[Member]:
    taken = frozenset(member.name for member in MEMBERS)
    return [member for _, member in named(GROUP, Member, taken)]


class SavedTypes:
    """The class attribute `saved_types` of `AutoPU`: its own types and those of the offered members."""

    def __init__(self, *own: str) -> None:
        self.own = own

    def __get__(self, instance: object, owner: type | None = None) -> tuple[str, ...]:
        """Return the dotted names of the classes that a model file may hold."""
        offered = [name for member in _offered() for name in getattr(member, "saved_types", ())]
        return (*self.own, *offered)
