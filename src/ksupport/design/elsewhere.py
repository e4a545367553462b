"""An X that lies in other processes, as what is sent there knows it: its shape, and no entry."""

from __future__ import annotations

from typing import NoReturn

from .stores import Floats, Ints, Store


class NotHereError(Exception):
    """Entries of X were asked for where it is not."""


class Elsewhere(Store):
    """Stands for X where work is done on sums over its rows."""

    near = False

    @classmethod
    def of(cls, store: Store) -> Elsewhere:
        """The outline of a store."""
        return cls(store.shape, store.dtype)

    def rmatmat(self, U: Floats) -> NoReturn:
        raise NotHereError

    def matvec(self, index: Ints, values: Floats) -> NoReturn:
        raise NotHereError

    def columns(self, index: Ints) -> NoReturn:
        raise NotHereError

    def moments(self, weights: Floats) -> NoReturn:
        raise NotHereError

    def _dense(self, rows: slice, columns: slice) -> NoReturn:
        raise NotHereError
