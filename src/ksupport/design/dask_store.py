"""A Dask array as X: every sweep is one graph, and only what is small comes back.

The chunks stay with the workers; the client has the dual state and the few columns of the working
set.  What is of size d (correlations, scores of exchanges) is reduced next to the chunks, Gram
matrices become eigenvalues there.  Nothing here asks which scheduler runs the graphs.
"""

from __future__ import annotations

import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from cloudpickle import dumps
from dask.base import persist

from .. import limits
from .dask_tasks import (
    BlockError,
    Part,
    Place,
    T,
    View,
    answer,
    check_block,
    column_gram,
    dense,
    dot,
    moments,
    pooled,
    product,
    row_gram,
    scatters,
    spans,
    squares,
    take,
    task,
    total_of,
    tree,
    value_of,
)
from .dask_wait import NoWorkersError, client_of, compute_all, follow_progress
from .matrices import bordered
from .scatter import Scatter, pool_each
from .stores import COMPLEX, Floats, Ints, Multiply, Spectrum, Store, Survey

if TYPE_CHECKING:
    from .view import Design

# -- the store -----------------------------------------------------------------------------


class DaskStore(Store):
    """A Dask array, chunked along rows, columns or both.

    Columns that were fetched are remembered, up to a limit, so the paths, folds and refits of
    a selection fetch each of them about once.
    """

    near = False

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
        self.rows, self.spans = spans(X.chunks[0]), spans(X.chunks[1])
        self.blocks = X.to_delayed()  # a grid of tasks
        self.checked = False  # whether every block has been looked at
        self.gathered = 0  # bytes that came back to the client
        self._cache: OrderedDict[int, Floats] = OrderedDict()
        self._lock = threading.Lock()
        self._client = client_of()

    # -- running graphs ------------------------------------------------------------------------

    def _compute(self, *tasks: Any) -> tuple[Any, ...]:
        """Run one graph."""
        client = self._client
        if client is not None and client.status in ("closing", "closed"):
            # Dask would go on with threads of this process, and draw all of X into it.
            raise _lost(f"the Client is {client.status}")
        try:
            results = compute_all(*tasks)
        except Exception as error:
            explained = self._explain_error(error)
            if explained is error:
                raise
            raise explained from error
        self.gathered += sum(_nbytes(result) for result in results)
        return results

    def _sweep(self, *tasks: Any) -> tuple[Any, ...]:
        """Run one graph that reads all of X; the first one looks at every block, too."""
        self.passes += 1
        checks = [] if self.checked else [task(check_block, *each) for each in self._placed()]
        with follow_progress():
            results = self._compute(*tasks, *checks)
        self.checked = True
        return results[: len(tasks)]

    def _placed(self) -> Iterable[tuple[Any, Place]]:
        for i, rows in enumerate(self.rows):
            for j, columns in enumerate(self.spans):
                yield self.blocks[i, j], Place((i, j), rows, columns)

    def _explain_error(self, error: Exception) -> Exception:
        """The error to raise instead: says which block, or that the cluster is gone."""
        if isinstance(error, NoWorkersError):
            return error
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
                compute_all(task(check_block, block, place))
            except BlockError as found:
                return ValueError(str(found))
            except Exception as found:
                if isinstance(found, NoWorkersError) or _is_lost(found):
                    return self._explain_error(found)
                return RuntimeError(
                    f"X: {place} cannot be read: {type(found).__name__}: {found}; correct its "
                    "source, or leave the block out"
                )
        return error

    # -- products ------------------------------------------------------------------------------

    def _products(self, U: Floats) -> list[Any]:
        """A task for XᵀU on each chunk of columns."""
        parts = [value_of(U[start:stop]) for start, stop in self.rows]
        return [
            tree(total_of, [task(product, *each) for each in zip(column, parts, strict=True)])
            for column in self.blocks.T
        ]

    def rmatmat(self, U: Floats) -> Floats:
        return np.concatenate(self._sweep(*self._products(U)))

    def survey(self, surveys: Sequence[Survey], multiply: Multiply) -> list[Any]:
        return list(self._sweep(*map(self._survey_task, surveys)))

    def _survey_task(self, asked: Survey) -> Any:
        """A task for what a survey finds: nothing of size d comes back."""
        sent = asked.view.once("sent", partial(self._send, asked.view))
        V = asked.view.on_all_rows(asked.U)
        sums = asked.view.sums(V)
        tasks = [
            task(answer, asked.each, start, product, sums, part)
            for (start, _), product, part in zip(self.spans, self._products(V), sent, strict=True)
        ]
        return tree(asked.merge, tasks)

    def _send(self, view: Design) -> list[Any]:
        """Send means, scales, shares and norms of a design to where the chunks are."""
        whole = _columns_of(view)._replace(norms=view.column_norms)
        parts = [value_of(whole.part(*span)) for span in self.spans]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # meant to be, once
            return list(persist(*parts))

    def matvec(self, index: Ints, values: Floats) -> Floats:
        return self.matmat(index, values[:, None])[:, 0]

    def matmat(self, index: Ints, values: Floats) -> Floats:
        with self._lock:
            at_hand = all(j in self._cache for j in index.tolist())
        if at_hand:
            return self.columns(index) @ values
        whole = 4 * index.size > self.shape[1]
        parts = list(self._by_chunk(index))
        tasks = [
            tree(total_of, [task(dot, row[j], local, values[at]) for j, at, local in parts])
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
        tasks = [task(take, row[j], local) for row in self.blocks for j, _, local in parts]
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

    @property
    def fetches(self) -> bool:
        return True

    def expect(self, index: Ints) -> None:
        if index.size * self.shape[0] <= limits.FETCHED_COLUMNS:
            self.columns(index)

    def _remember(self, index: Ints, columns: Floats) -> None:
        with self._lock:
            for j, column in zip(index.tolist(), columns.T, strict=True):
                self._cache[j] = column.copy()
            while len(self._cache) * self.shape[0] > limits.FETCHED_COLUMNS:
                self._cache.popitem(last=False)

    # -- moments, norms, Gram matrices ---------------------------------------------------------

    def _moment_tasks(self, weights: Floats) -> list[Any]:
        """A task for the moments on each chunk of columns."""
        parts = [value_of(weights[start:stop]) for start, stop in self.rows]
        return [
            tree(pooled, [task(moments, *each) for each in zip(column, parts, strict=True)])
            for column in self.blocks.T
        ]

    def moments(self, weights: Floats) -> tuple[Floats, Floats]:
        return self.all_moments([weights])[0]

    def all_moments(self, weights: Sequence[Floats]) -> list[tuple[Floats, Floats]]:
        return self.moments_and_products(weights, np.empty((self.shape[0], 0)))[0]

    def moments_and_products(
        self, weights: Sequence[Floats], U: Floats
    ) -> tuple[list[tuple[Floats, Floats]], Floats]:
        width = len(self.spans)
        tasks = [each for w in weights for each in self._moment_tasks(w)]
        *found, products = _in_parts(self._sweep(*tasks, *self._products(U)), width)
        moments = []
        for w, parts in zip(weights, found, strict=True):
            _, means, squares = zip(*parts, strict=True)
            moments.append((np.concatenate(means), np.concatenate(squares) / w.sum()))
        return moments, np.concatenate(products)

    def means(self, weights: Floats) -> Floats:
        tasks = (task(itemgetter(1), moments) for moments in self._moment_tasks(weights))
        return np.concatenate(self._sweep(*tasks))

    def _norm_tasks(self, view: Design) -> list[Any]:
        """A task for the squared norms on each chunk of columns."""
        weights, whole = view.row_weights, _columns_of(view)
        parts = [value_of(weights[start:stop]) for start, stop in self.rows]
        bases = [value_of(_basis_of(view, each)) for each in self.rows]
        tasks = []
        for column, span in zip(self.blocks.T, self.spans, strict=True):
            here = value_of(whole.part(*span))
            blocks = zip(column, parts, bases, strict=True)
            tasks.append(tree(total_of, [task(squares, *each, here) for each in blocks]))
        return tasks

    def column_norms(self, view: Design) -> Floats:
        return np.sqrt(np.concatenate(self._sweep(*self._norm_tasks(view))))

    def spectrum(self, view: Design) -> Spectrum:
        gram = self._row_gram(view) if view.n <= view.d else self._column_gram(view)
        values, *squares = self._sweep(task(np.linalg.eigvalsh, gram), *self._norm_tasks(view))
        return Spectrum(np.sqrt(np.concatenate(squares)), partial(np.asarray, values))

    def _row_gram(self, view: Design) -> Any:
        """A task for X̃X̃ᵀ: blocks of all rows, and at least as many columns as rows if cut."""
        n = self.shape[0]
        X = self.X.rechunk(
            {0: -1, 1: _cut(self.X.chunks[1], max(limits.CHUNK // n, n))}, method="tasks"
        )
        rows, weights = value_of(view.rows), value_of(view.sqrt_weights)
        whole, basis = _columns_of(view), value_of(_basis_of(view, (0, n)))
        return tree(
            total_of,
            [
                task(row_gram, block, value_of(whole.part(*span)), basis, rows, weights)
                for block, span in zip(X.to_delayed()[0], spans(X.chunks[1]), strict=True)
            ],
        )

    def _column_gram(self, view: Design, Y: Floats | None = None) -> Any:
        """A task for X̃ᵀ[X̃ Y]: blocks of all columns."""
        d = self.shape[1]
        X = self.X.rechunk(
            {1: -1, 0: _cut(self.X.chunks[0], max(limits.CHUNK // d, d))}, method="tasks"
        )
        V = view.on_all_rows(np.empty((view.n, 0)) if Y is None else Y)
        weights, whole = view.row_weights, value_of(_columns_of(view))
        blocks = zip(X.to_delayed()[:, 0], spans(X.chunks[0]), strict=True)
        return tree(
            total_of,
            [
                task(
                    column_gram, block, whole, _basis_of(view, (start, stop)),
                    weights[start:stop], V[start:stop],
                )
                for block, (start, stop) in blocks
            ],
        )  # fmt: skip

    def grams(self, views: Sequence[Design], Ys: Sequence[Floats]) -> list[Floats]:
        return [self._gram(view, Y) for view, Y in zip(views, Ys, strict=True)]

    def _gram(self, view: Design, Y: Floats) -> Floats:
        (gram,) = self._sweep(self._column_gram(view, Y))
        XtX, XtY = np.hsplit(np.asarray(gram), [view.d])
        return bordered(XtX, XtY, Y)

    def scatters(
        self, labels: Ints, count: int, Y: Floats, weights: Floats | None
    ) -> list[Scatter]:
        (found,) = self._sweep(self._scatters(labels, count, Y, weights))
        return list(found)

    def on_scatters(self, work: Callable[[list[Scatter]], T], *rows: Any) -> T:
        (found,) = self._sweep(task(work, self._scatters(*rows)))
        return found

    def takes(self, work: Callable[..., Any]) -> bool:
        try:
            return self._client is not None and bool(dumps(work))
        except Exception:  # whatever it says that cannot be sent: folds as a generator, say
            return False

    def _scatters(self, labels: Ints, count: int, Y: Floats, weights: Floats | None) -> Any:
        """A task for the scatter of the rows of each label."""
        d = self.shape[1]
        # Of blocks at least as large as what is made of them.
        X = self.X.rechunk({1: -1, 0: _merge_chunks(self.X.chunks[0], count * d)}, method="tasks")
        tasks = [
            task(
                scatters, block, labels[start:stop], count, Y[start:stop],
                None if weights is None else weights[start:stop],
            )
            for block, (start, stop) in zip(X.to_delayed()[:, 0], spans(X.chunks[0]), strict=True)
        ]  # fmt: skip
        return tree(pool_each, tasks)

    def _dense(self, rows: slice, columns: slice) -> Floats:
        (block,) = self._compute(task(dense, self.X[rows, columns]))
        return np.asarray(block)


def _in_parts(results: Sequence[Any], width: int) -> list[Sequence[Any]]:
    return [results[at : at + width] for at in range(0, len(results), width)]


def _columns_of(view: Design) -> View:
    """How the columns of a design come from those of X."""
    return View(view.mean, view.scale, None if view.off is None else view.off.share)


def _basis_of(view: Design, rows: Part) -> Floats | None:
    """What these rows of X have of the basis off which a design is projected."""
    return None if view.off is None else view.off.basis[slice(*rows)]


def _cut(chunks: Sequence[int], most: int) -> tuple[int, ...]:
    """Chunks, those longer than ``most`` cut into pieces."""
    pieces = [np.diff(np.linspace(0, c, -(-c // most) + 1).astype(int)).tolist() for c in chunks]
    return tuple(piece for part in pieces for piece in part)


def _merge_chunks(chunks: Sequence[int], least: int) -> tuple[int, ...]:
    """Chunks, neighbours joined until they have at least so many rows."""
    joined: list[int] = []
    for chunk in chunks:
        if joined and joined[-1] < least:
            joined[-1] += chunk
        else:
            joined.append(chunk)
    return tuple(joined)


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
