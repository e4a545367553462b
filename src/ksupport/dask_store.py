"""A Dask array as X: every sweep is one graph, and only what is small comes back.

The workers hold the chunks; the client holds the dual state and the few columns of the working
set.  What is of size d (correlations, scores of exchanges) is reduced next to the chunks, Gram
matrices become eigenvalues there.  Nothing here asks which scheduler runs the graphs.
"""

from __future__ import annotations

import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from dask.base import compute, get_scheduler, persist
from dask.delayed import delayed

from .stores import CHUNK, COMPLEX, Floats, Ints, RemoteStore, T

FAN_IN = 8  # answers merged in one task
CACHE = 1 << 23  # numbers in columns that are kept for later (64 MB)

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
    norms: Floats | None = None

    def part(self, start: int, stop: int) -> View:
        return View(*(None if each is None else each[start:stop] for each in self))

    def __call__(self, block: Floats) -> Floats:
        block = block if self.mean is None else block - self.mean
        return block if self.scale is None else block / self.scale


# -- what tasks do with a block ------------------------------------------------------------


def _dense(block: Any) -> Floats:
    return np.asarray(block.toarray() if sp.issparse(block) else block, np.float64)


def _check(block: Any, place: Place) -> None:
    """Raise if the block is not what the array says, or holds what no method can use."""
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


def _product(block: Any, U: Floats) -> Floats:
    return np.asarray(_dense(block).T @ U)


def _dot(block: Any, index: Ints, values: Floats) -> Floats:
    return np.asarray(_dense(block[:, index]) @ values)


def _take(block: Any, index: Ints) -> Floats:
    return _dense(block[:, index])


def _moments(block: Any, weights: Floats) -> tuple[float, Floats, Floats]:
    """Sum of weights, weighted mean and sum of squares about it: shifted, so accurate."""
    counts = np.flatnonzero(weights)
    if counts.size == 0:
        return 0.0, np.zeros(block.shape[1]), np.zeros(block.shape[1])
    dense, weights = _dense(block)[counts], weights[counts]
    total, shift = float(weights.sum()), dense[0]
    away = weights @ (dense - shift) / total
    mean = shift + away
    return total, mean, weights @ (dense - mean) ** 2


def _pooled(parts: Sequence[tuple[float, Floats, Floats]]) -> tuple[float, Floats, Floats]:
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


def _squares(block: Any, weights: Floats, view: View) -> Floats:
    return np.asarray(weights @ view(_dense(block)) ** 2)


def _row_gram(block: Any, view: View, rows: Ints | None, sqrt_weights: Floats | None) -> Floats:
    """Z Zᵀ for columns Z of the design, all rows of which are in the block."""
    Z = view(_dense(block))
    Z = Z if rows is None else Z[rows]
    Z = Z if sqrt_weights is None else Z * sqrt_weights[:, None]
    return Z @ Z.T


def _column_gram(block: Any, view: View, weights: Floats, V: Floats) -> Floats:
    """Zᵀ[WZ V] for some rows Z of the design before weighting."""
    Z = view(_dense(block))
    return Z.T @ np.hstack([Z * weights[:, None], V])


def _finished(product: Floats, sums: Floats, view: View) -> Floats:
    """X̃ᵀU from XᵀU."""
    if view.mean is not None:
        product = product - view.mean[:, None] * sums
    return product if view.scale is None else product / view.scale[:, None]


def _answer(
    each: Callable[..., T], first: int, product: Floats, sums: Floats, view: View
) -> T:  # fmt: skip
    return each(first, _finished(product, sums, view), view.norms)


def _sum(parts: Sequence[Floats]) -> Floats:
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


def _tree(merge: Callable[[list[T]], T], parts: Iterable[Any]) -> Any:
    """One task from many, a few at a time; parts that are next to each other stay so."""
    parts = list(parts)
    while len(parts) > 1:
        groups = [parts[at : at + FAN_IN] for at in range(0, len(parts), FAN_IN)]
        parts = [_task(merge, group) if len(group) > 1 else group[0] for group in groups]
    return parts[0]


def _task(function: Callable[..., Any], *arguments: Any) -> Any:
    return delayed(function, pure=False, traverse=False)(*arguments)


def _value(thing: Any) -> Any:
    """Something to send once, for several tasks."""
    return delayed(thing, pure=False, traverse=False)


def _spans(chunks: Sequence[int]) -> list[Part]:
    stops = np.cumsum(chunks).tolist()
    return list(zip([0, *stops[:-1]], stops, strict=True))


# -- the store -----------------------------------------------------------------------------


class DaskStore(RemoteStore):
    """A Dask array, chunked along rows, columns or both.

    Columns that were fetched are kept (up to `CACHE` numbers), so the paths, folds and refits of
    a selection fetch each of them about once.
    """

    def __init__(self, X: Any) -> None:
        if X.ndim != 2:
            raise ValueError(f"X must be two-dimensional, got a Dask array of shape {X.shape}")
        if np.isnan(X.shape).any():
            raise ValueError(
                f"X is a Dask array with chunks of unknown size, {X.chunks}; find them out "
                "first: X = X.compute_chunk_sizes()"
            )
        if X.dtype.kind == "c":
            raise ValueError(COMPLEX.format(X.dtype))
        if X.dtype.kind not in "fiub":
            raise ValueError(f"X must hold real numbers, got dtype {X.dtype}; try X.astype(float)")
        super().__init__(X.shape, X.dtype)
        self.X = X
        self.rows, self.spans = _spans(X.chunks[0]), _spans(X.chunks[1])
        self.blocks = X.to_delayed()  # a grid of tasks
        self.checked = False  # whether every block has been looked at
        self.gathered = 0  # bytes that came back to the client
        self._cache: OrderedDict[int, Floats] = OrderedDict()
        self._lock = threading.Lock()
        self._client = getattr(get_scheduler(), "__self__", None)  # None: no distributed one

    # -- running graphs ------------------------------------------------------------------------

    def _compute(self, *tasks: Any) -> tuple[Any, ...]:
        """Run one graph."""
        client = self._client
        if client is not None and client.status in ("closing", "closed"):
            # Dask would go on with threads of this process, and draw all of X into it.
            raise _lost(f"the Client is {client.status}")
        try:
            results: tuple[Any, ...] = compute(*tasks)
        except Exception as error:
            explained = self._explained(error)
            if explained is error:
                raise
            raise explained from error
        self.gathered += sum(_nbytes(result) for result in results)
        return results

    def _sweep(self, *tasks: Any) -> tuple[Any, ...]:
        """Run one graph that reads all of X; the first one looks at every block, too."""
        self.passes += 1
        checks = [] if self.checked else [_task(_check, *each) for each in self._placed()]
        results = self._compute(*tasks, *checks)
        self.checked = True
        return results[: len(tasks)]

    def _placed(self) -> Iterable[tuple[Any, Place]]:
        for i, rows in enumerate(self.rows):
            for j, columns in enumerate(self.spans):
                yield self.blocks[i, j], Place((i, j), rows, columns)

    def _explained(self, error: Exception) -> Exception:
        """The error to raise instead: says which block, or that the cluster is gone."""
        if isinstance(error, BlockError):
            return ValueError(str(error))
        if _is_lost(error):
            return _lost(f"{type(error).__name__}: {error}")
        if type(error).__name__ == "KilledWorker":
            return RuntimeError(
                "Dask workers died again and again on the same chunk of X, most likely for want "
                f"of memory ({error}); use smaller chunks (X.rechunk) or workers with more memory"
            )
        for block, place in self._placed():
            try:
                compute(_task(_check, block, place))
            except BlockError as found:
                return ValueError(str(found))
            except Exception as found:
                if _is_lost(found):
                    return self._explained(found)
                return RuntimeError(
                    f"X: {place} cannot be read: {type(found).__name__}: {found}; correct its "
                    "source, or leave the block out"
                )
        return error

    # -- products ------------------------------------------------------------------------------

    def _products(self, U: Floats) -> list[Any]:
        """A task for XᵀU on each chunk of columns."""
        parts = [_value(U[start:stop]) for start, stop in self.rows]
        return [
            _tree(_sum, [_task(_product, *each) for each in zip(column, parts, strict=True)])
            for column in self.blocks.T
        ]

    def rmatmat(self, U: Floats) -> Floats:
        return np.concatenate(self._sweep(*self._products(U)))

    def over_features(
        self, view: Any, U: Floats, each: Callable[..., T], merge: Callable[[list[T]], T]
    ) -> T:
        sent = self._sent(view)
        V = view.on_all_rows(U)
        sums = V.sum(axis=0)
        answers = [
            _task(_answer, each, start, product, sums, part)
            for (start, _), product, part in zip(self.spans, self._products(V), sent, strict=True)
        ]
        (answer,) = self._sweep(_tree(merge, answers))
        return answer

    def _sent(self, view: Any) -> list[Any]:
        """Means, scales and norms of a design, sent to where the chunks are, once."""
        if "sent" not in view._cache:
            whole = View(view.mean, view.scale, view.column_norms)
            parts = [_value(whole.part(*span)) for span in self.spans]
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Sending large graph")  # meant to be, once
                view._cache["sent"] = list(persist(*parts))
        return view._cache["sent"]

    def matvec(self, index: Ints, values: Floats) -> Floats:
        with self._lock:
            at_hand = all(j in self._cache for j in index.tolist())
        if at_hand:
            return self.columns(index) @ values
        whole = 4 * index.size > self.shape[1]
        parts = list(self._by_chunk(index))
        tasks = [
            _tree(_sum, [_task(_dot, row[j], local, values[at]) for j, at, local in parts])
            for row in self.blocks
        ]
        if not whole:
            self.columns_read += index.size
        return np.concatenate(self._sweep(*tasks) if whole else self._compute(*tasks))

    # -- columns -------------------------------------------------------------------------------

    def _by_chunk(self, index: Ints) -> Iterable[tuple[int, Ints, Ints]]:
        """For each chunk of columns that is met: which, positions in index, columns in it."""
        chunk = np.searchsorted([stop for _, stop in self.spans], index, side="right")
        for j in np.unique(chunk).tolist():
            at = np.flatnonzero(chunk == j)
            yield j, at, index[at] - self.spans[j][0]

    def _fetch(self, index: Ints) -> Floats:
        """These columns from the workers."""
        self.columns_read += index.size
        run = self._compute if self.checked else self._sweep
        parts = list(self._by_chunk(index))
        tasks = [_task(_take, row[j], local) for row in self.blocks for j, _, local in parts]
        blocks = iter(run(*tasks))
        out = np.empty((self.shape[0], index.size))
        for start, stop in self.rows:
            for _, at, _ in parts:
                out[start:stop, at] = next(blocks)
        return out

    def columns(self, index: Ints) -> Floats:
        out = np.empty((self.shape[0], index.size))
        missing = []
        with self._lock:
            for at, j in enumerate(index.tolist()):
                if j in self._cache:
                    self._cache.move_to_end(j)
                    out[:, at] = self._cache[j]
                else:
                    missing.append(at)
        if missing:
            out[:, missing] = self._fetch(index[missing])
            self._remember(index[missing], out[:, missing])
        return out

    def expect(self, index: Ints) -> None:
        if index.size * self.shape[0] <= CACHE:
            self.columns(index)

    def _remember(self, index: Ints, columns: Floats) -> None:
        with self._lock:
            for j, column in zip(index.tolist(), columns.T, strict=True):
                self._cache[j] = column.copy()
            while len(self._cache) * self.shape[0] > CACHE:
                self._cache.popitem(last=False)

    # -- moments, norms, Gram matrices ---------------------------------------------------------

    def _moment_tasks(self, weights: Floats) -> list[Any]:
        """A task for the moments on each chunk of columns."""
        parts = [_value(weights[start:stop]) for start, stop in self.rows]
        return [
            _tree(_pooled, [_task(_moments, *each) for each in zip(column, parts, strict=True)])
            for column in self.blocks.T
        ]

    def moments(self, weights: Floats) -> tuple[Floats, Floats]:
        _, means, squares = zip(*self._sweep(*self._moment_tasks(weights)), strict=True)
        return np.concatenate(means), np.concatenate(squares) / weights.sum()

    def means(self, weights: Floats) -> Floats:
        tasks = (_task(itemgetter(1), moments) for moments in self._moment_tasks(weights))
        return np.concatenate(self._sweep(*tasks))

    def _norm_tasks(self, view: Any) -> list[Any]:
        """A task for the squared norms on each chunk of columns."""
        weights, whole = view.row_weights, View(view.mean, view.scale)
        parts = [_value(weights[start:stop]) for start, stop in self.rows]
        tasks = []
        for column, span in zip(self.blocks.T, self.spans, strict=True):
            here = _value(whole.part(*span))
            squares = [
                _task(_squares, block, part, here)
                for block, part in zip(column, parts, strict=True)
            ]
            tasks.append(_tree(_sum, squares))
        return tasks

    def column_norms(self, view: Any) -> Floats:
        return np.sqrt(np.concatenate(self._sweep(*self._norm_tasks(view))))

    def spectrum(self, view: Any) -> tuple[Floats, Floats]:
        gram = self._row_gram(view) if view.n <= view.d else self._column_gram(view)
        values, *squares = self._sweep(_task(np.linalg.eigvalsh, gram), *self._norm_tasks(view))
        return values, np.sqrt(np.concatenate(squares))

    def _row_gram(self, view: Any) -> Any:
        """A task for X̃X̃ᵀ: blocks of all rows, and at least as many columns as rows if cut."""
        n = self.shape[0]
        X = self.X.rechunk({0: -1, 1: _cut(self.X.chunks[1], max(CHUNK // n, n))}, method="tasks")
        rows, weights = _value(view.rows), _value(view.sqrt_weights)
        whole = View(view.mean, view.scale)
        return _tree(
            _sum,
            [
                _task(_row_gram, block, _value(whole.part(*span)), rows, weights)
                for block, span in zip(X.to_delayed()[0], _spans(X.chunks[1]), strict=True)
            ],
        )

    def _column_gram(self, view: Any, Y: Floats | None = None) -> Any:
        """A task for X̃ᵀ[X̃ Y]: blocks of all columns."""
        d = self.shape[1]
        X = self.X.rechunk({1: -1, 0: _cut(self.X.chunks[0], max(CHUNK // d, d))}, method="tasks")
        V = view.on_all_rows(np.empty((view.n, 0)) if Y is None else Y)
        weights, whole = view.row_weights, _value(View(view.mean, view.scale))
        return _tree(
            _sum,
            [
                _task(_column_gram, block, whole, weights[start:stop], V[start:stop])
                for block, (start, stop) in zip(
                    X.to_delayed()[:, 0], _spans(X.chunks[0]), strict=True
                )
            ],
        )

    def gram(self, view: Any, Y: Floats) -> Floats:
        (gram,) = self._sweep(self._column_gram(view, Y))
        return np.asarray(gram)

    def _dense(self, rows: slice, columns: slice) -> Floats:
        (block,) = self._compute(_task(_dense, self.X[rows, columns]))
        return np.asarray(block)


def _cut(chunks: Sequence[int], most: int) -> tuple[int, ...]:
    """The same chunks, those longer than ``most`` cut into pieces."""
    pieces = [np.diff(np.linspace(0, c, -(-c // most) + 1).astype(int)).tolist() for c in chunks]
    return tuple(piece for part in pieces for piece in part)


def _nbytes(result: Any) -> int:
    """About how large a result is."""
    if isinstance(result, np.ndarray):
        return int(result.nbytes)
    if isinstance(result, list | tuple):
        return sum(_nbytes(part) for part in result)
    return (
        sum(_nbytes(part) for part in vars(result).values()) if hasattr(result, "__dict__") else 8
    )


def _lost(what: str) -> ConnectionError:
    return ConnectionError(
        f"the connection to the Dask scheduler was lost during a computation over X ({what}); "
        "start a new cluster and Client, make X again (what was persisted is gone) and fit again"
    )


def _is_lost(error: BaseException) -> bool:
    """Whether an error says that the scheduler, not a task, failed."""
    from_dask = type(error).__module__.startswith("distributed")
    names = ("CommClosedError", "FutureCancelledError", "CancelledError")
    return from_dask and type(error).__name__ in names
