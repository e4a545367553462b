"""What is done with the blocks of a Dask array, where they are: plain functions on one block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp
from dask.delayed import delayed

from .. import limits
from .scatter import Scatter, add_rows
from .stores import Floats, Ints

T = TypeVar("T")

FAN_IN = 8  # answers merged in one task


Part = tuple[int, int]  # from, up to


class BlockError(ValueError):
    """What is wrong with a block, found by the task that looked at it."""


class Place(NamedTuple):
    """Where a block lies in X."""

    block: tuple[int, int]
    rows: Part
    columns: Part

    def __str__(self) -> str:
        rows, columns = (f"{start}..{stop - 1}" for start, stop in (self.rows, self.columns))
        return f"block {self.block} (rows {rows}, columns {columns})"


class View(NamedTuple):
    """How columns of a `Design` come from columns of X; slices go with the columns."""

    mean: Floats | None
    scale: Floats | None
    share: Floats | None = None  # of a projection
    norms: Floats | None = None

    def part(self, start: int, stop: int) -> View:
        return View(*(None if each is None else each[..., start:stop] for each in self))

    def __call__(self, block: Floats, basis: Floats | None) -> Floats:
        """Some rows, which have these rows of the projection's basis."""
        block = block if self.mean is None else block - self.mean
        if basis is not None and self.share is not None:
            block = block - basis @ self.share
        return block if self.scale is None else block / self.scale


def dense(block: Any) -> Floats:
    return np.asarray(block.toarray() if sp.issparse(block) else block, np.float64)


def check_block(block: Any, place: Place) -> None:
    """Raise if the block is not what the array says, or contains what no method can use."""
    shape = (place.rows[1] - place.rows[0], place.columns[1] - place.columns[0])
    found = block if sp.issparse(block) else np.asarray(block)
    if found.shape != shape:
        raise BlockError(
            f"X: {place} has shape {found.shape}, but the array says {shape}; correct the shape "
            "given where the array is made"
        )
    if found.dtype.kind not in "fiub":
        raise BlockError(
            f"X: {place} has dtype {found.dtype}, which is not one of real numbers; convert it "
            "where the array is made, for instance with X.map_blocks"
        )
    values = found.data if sp.issparse(found) else found
    if not np.isfinite(values).all():
        raise BlockError(f"X contains NaN or infinity in {place}; remove or impute such entries")


def product(block: Any, U: Floats) -> Floats:
    return np.asarray(dense(block).T @ U)


def dot(block: Any, index: Ints, values: Floats) -> Floats:
    return np.asarray(dense(block[:, index]) @ values)


def take(block: Any, index: Ints) -> Floats:
    return dense(block[:, index])


def moments(block: Any, weights: Floats) -> tuple[float, Floats, Floats]:
    """Sum of weights, weighted mean and sum of squares about it: shifted, so accurate."""
    counts = np.flatnonzero(weights)
    if counts.size == 0:
        return 0.0, np.zeros(block.shape[1]), np.zeros(block.shape[1])
    rows, weights = dense(block)[counts], weights[counts]
    total, shift = float(weights.sum()), rows[0]
    away = weights @ (rows - shift) / total
    mean = shift + away
    return total, mean, weights @ (rows - mean) ** 2


def pooled(parts: Sequence[tuple[float, Floats, Floats]]) -> tuple[float, Floats, Floats]:
    """The moments of all rows from those of parts (Chan, Golub and LeVeque 1979)."""
    total, mean, squares = parts[0]
    for more, other, others in parts[1:]:
        if more == 0.0:
            continue
        both = total + more
        away = other - mean
        mean = mean + away * (more / both)
        squares = squares + others + away**2 * (total * more / both)
        total = both
    return total, mean, squares


def squares(block: Any, weights: Floats, basis: Floats | None, view: View) -> Floats:
    return np.asarray(weights @ view(dense(block), basis) ** 2)


def row_gram(
    block: Any, view: View, basis: Floats | None, rows: Ints | None, sqrt_weights: Floats | None
) -> Floats:
    """Z Zᵀ for columns Z of the design, all rows of which are in the block."""
    Z = view(dense(block), basis)
    Z = Z if rows is None else Z[rows]
    Z = Z if sqrt_weights is None else Z * sqrt_weights[:, None]
    return Z @ Z.T


def column_gram(block: Any, view: View, basis: Floats | None, weights: Floats, V: Floats) -> Floats:
    """Zᵀ[WZ V] for some rows Z of the design before weighting."""
    Z = view(dense(block), basis)
    return Z.T @ np.hstack([Z * weights[:, None], V])


def scatters(
    block: Any, labels: Ints, count: int, Y: Floats, weights: Floats | None
) -> list[Scatter]:
    """The scatter of the rows of [X Y] with each label, where the block has all columns."""
    found = [Scatter.empty(block.shape[1] + Y.shape[1]) for _ in range(count)]
    height = max(1, limits.CHUNK // block.shape[1])
    for start in range(0, block.shape[0], height):
        part = slice(start, start + height)
        of_rows = None if weights is None else weights[part]
        add_rows(found, dense(block[part]), Y[part], labels[part], of_rows)
    return found


def finished(product: Floats, sums: Floats, view: View) -> Floats:
    """X̃ᵀU from XᵀU."""
    if view.mean is not None:
        product = product - view.mean[:, None] * sums[0]
    if view.share is not None:
        product = product - view.share.T @ sums[1:]
    return product if view.scale is None else product / view.scale[:, None]


def answer(
    each: Callable[..., T], first: int, product: Floats, sums: Floats, view: View
) -> T:  # fmt: skip
    return each(first, finished(product, sums, view), view.norms)


def total_of(parts: Sequence[Floats]) -> Floats:
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


def tree(merge: Callable[[list[T]], T], parts: Iterable[Any]) -> Any:
    """One task from many, a few at a time; parts that are next to each other stay so."""
    parts = list(parts)
    while len(parts) > 1:
        groups = [parts[at : at + FAN_IN] for at in range(0, len(parts), FAN_IN)]
        parts = [task(merge, group) if len(group) > 1 else group[0] for group in groups]
    return parts[0]


def task(function: Callable[..., Any], *arguments: Any) -> Any:
    return delayed(function, pure=False, traverse=False)(*arguments)


def value_of(thing: Any) -> Any:
    """Something to send once, for several tasks."""
    return delayed(thing, pure=False, traverse=False)


def spans(chunks: Sequence[int]) -> list[Part]:
    stops = np.cumsum(chunks).tolist()
    return list(zip([0, *stops[:-1]], stops, strict=True))
