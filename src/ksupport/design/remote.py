"""Stands for X in work that is sent to other processes: it has a shape, and no entries."""

from __future__ import annotations

from typing import NoReturn

from .stores import Floats, Ints, Store


class RemoteDataError(Exception):
    """Entries of X were needed in a process that does not hold them."""


class RemoteStore(Store):
    """X without its entries, for work that needs only sums over rows."""

    near = False

    @classmethod
    def of(cls, store: Store) -> RemoteStore:
        """The shape and type of a store."""
        return cls(store.shape, store.dtype)

    def rmatmat(self, U: Floats) -> NoReturn:
        raise RemoteDataError

    def matvec(self, index: Ints, values: Floats) -> NoReturn:
        raise RemoteDataError

    def columns(self, index: Ints) -> NoReturn:
        raise RemoteDataError

    def moments(self, weights: Floats) -> NoReturn:
        raise RemoteDataError

    def _dense(self, rows: slice, columns: slice) -> NoReturn:
        raise RemoteDataError
