"""What was measured along a path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


class History(Mapping[str, NDArray[Any]]):
    """What was measured along a path: arrays of equal length, by name.

    Always has ``t`` (the step), ``n_nonzero`` and ``residual`` (‖X̃w - y‖).

    Parameters
    ----------
    columns : mapping of str to array-like
        What was measured, one entry a record.

    Examples
    --------
    >>> from ksupport.walking import History
    >>> h = History({"t": [0, 5], "residual": [2.0, 1.0]})
    >>> h["residual"]
    array([2., 1.])
    >>> len(h.head(1)["t"])
    1
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = {name: np.asarray(values) for name, values in columns.items()}

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"History({', '.join(self)}; {self.n_records} records)"

    @property
    def n_records(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def head(self, count: int) -> History:
        """The first ``count`` records."""
        return History({name: values[:count] for name, values in self.items()})

    def extended(self, more: Mapping[str, Any]) -> History:
        """This history followed by more records."""
        return History({name: np.concatenate([self[name], more[name]]) for name in self})
