"""The raw X, one small class per kind: all that touches the data, and it counts how often."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from .. import limits
from .._common.phases import track_pass
from .scatter import Scatter, add_rows

if TYPE_CHECKING:
    from .view import Design

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
T = TypeVar("T")

COMPLEX = "X must be real, got dtype {}; stack its real and imaginary parts as rows"


class Survey(NamedTuple):
    """Something to be found among all features from X̃ᵀU and the column norms, where X lies.

    ``each(first, products, norms)`` is told the rows of X̃ᵀU and the norms of consecutive features
    from number ``first`` on: of all at once if X is at hand.  What it answers for different
    parts, in order, goes to ``merge``.
    """

    view: Design
    U: Floats
    each: Callable[..., Any]
    merge: Callable[[list[Any]], Any]


# X̃ᵀU for views of one store, each with its U, in one pass: consecutive features after each other.
Multiply = Callable[[Sequence["Design"], Sequence[Floats]], Iterator[tuple[slice, list[Floats]]]]


class Spectrum(NamedTuple):
    """The sizes of a view of X, from one pass."""

    norms: Floats  # ‖x̃_j‖
    eigenvalues: Callable[[], Floats]  # of the smaller of X̃X̃ᵀ and X̃ᵀX̃, ascending

    @classmethod
    def of_columns(cls, gram: Floats, n: int) -> Spectrum:
        """From X̃ᵀX̃, where X̃ has n rows."""
        return cls(np.sqrt(np.diag(gram)), partial(_largest_eigenvalues, gram, n))


# Does some work on each of these parts, perhaps in threads.
OnEach = Callable[[Callable[[slice], None], Sequence[slice]], Any]


def _largest_eigenvalues(gram: Floats, count: int) -> Floats:
    """Return the largest eigenvalues in ascending order; all if there are fewer."""
    return np.asarray(np.linalg.eigvalsh(gram)[-count:])


def _at_hand(asked: Survey) -> Any:
    """Return the result of a survey where all columns are copied."""
    products = (asked.U.T @ asked.view.all_columns.T).T
    return asked.each(0, products, asked.view.column_norms)


class Store(ABC):
    """The raw X: full products, columns and moments; ``passes`` counts the sweeps over it.

    A new kind of X is a subclass with `rmatmat`, `matvec`, `columns`, `moments` and `_dense`.  What
    a view of X asks for besides follows from these; a store that can do better overrides it.
    """

    has_columns = True  # whether a block of columns costs less than a sweep
    near = True  # whether X lies in this process; else what is of size d is found and reduced there
    is_sparse = False  # whether `csc` gives X
    by_rows = False  # whether blocks of whole rows are read as fast as any
    fill: Floats | None = None  # what stands where entries of each column are missing
    fixed = True  # whether entries are the same whatever rows are learned from

    def __init__(self, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        if 0 in shape:
            raise ValueError(f"X must have at least one row and one column, got shape {shape}")
        self.shape = shape
        self.dtype = dtype
        single = dtype.kind == "f" and dtype.itemsize <= 4
        self.products_in = np.dtype(np.float32 if single else np.float64)  # how precise they are
        self.passes = 0
        self.columns_read = 0

    @property
    def entries(self) -> int:
        """How many numbers a pass reads."""
        return self.shape[0] * self.shape[1]

    @abstractmethod
    def rmatmat(self, U: Floats) -> Floats:
        """Xᵀ U, one pass for all columns of U."""

    def rmatmat_parts(self, U: Floats) -> Iterator[tuple[slice, Floats]]:
        """Xᵀ U in blocks of consecutive rows, where columns of X are read in blocks."""
        yield slice(0, self.shape[1]), self.rmatmat(U)

    def rmatmat_each(self, U: Floats, use: Callable[[slice, Floats], None], each: OnEach) -> None:
        """Use these parts; ``each`` may do so in threads where X lies in memory."""
        for columns, product in self.rmatmat_parts(U):
            use(columns, product)

    @abstractmethod
    def matvec(self, index: Ints, values: Floats) -> Floats:
        """X w for the w that has ``values`` at ``index`` and zeros elsewhere."""

    @abstractmethod
    def columns(self, index: Ints) -> Floats:
        """The columns at ``index`` as a dense n x m block."""

    def matmat(self, index: Ints, values: Floats) -> Floats:
        """X W for the W that has rows ``values`` at ``index`` and zeros elsewhere."""
        return np.column_stack([self.matvec(index, column) for column in values.T])

    @abstractmethod
    def moments(self, weights: Floats) -> tuple[Floats, Floats]:
        """Weighted mean and variance of every column, one pass."""

    def means(self, weights: Floats) -> Floats:
        """Weighted mean of every column, one pass."""
        return self.moments(weights)[0]

    def all_moments(self, weights: Sequence[Floats]) -> list[tuple[Floats, Floats]]:
        """The moments for each of several weights: in one pass where the store can."""
        return [self.moments(each) for each in weights]

    def all_means(self, weights: Sequence[Floats]) -> list[Floats]:
        """The means for each of several weights: in one pass where the store can."""
        return [self.means(each) for each in weights]

    def moments_and_products(
        self, weights: Sequence[Floats], U: Floats
    ) -> tuple[list[tuple[Floats, Floats]], Floats]:
        """The moments for each of several weights, and XᵀU in double precision."""
        return self.all_moments(weights), self.rmatmat(U)

    def column_chunks(self) -> Iterator[tuple[slice, Floats]]:
        """The whole of X as dense blocks of columns, one pass."""
        n, d = self.shape
        self.passes += 1
        width = max(1, limits.CHUNK // max(n, 1))
        starts = range(0, d, width)
        for start in track_pass(starts, len(starts)):
            part = slice(start, min(d, start + width))
            yield part, self._dense(slice(0, n), part)

    def row_chunks(self) -> Iterator[tuple[slice, Floats]]:
        """The whole of X as dense blocks of rows, one pass."""
        n, d = self.shape
        self.passes += 1
        height = max(1, limits.CHUNK // max(d, 1))
        starts = range(0, n, height)
        for start in track_pass(starts, len(starts)):
            part = slice(start, min(n, start + height))
            yield part, self._dense(part, slice(0, d))

    @abstractmethod
    def _dense(self, rows: slice, columns: slice) -> Floats:
        """A dense float64 copy of a rectangle of X."""

    @property
    def csc(self) -> Any:
        """X as a sparse matrix by columns, of a store that `is_sparse`."""
        raise TypeError(f"X is not stored as a sparse matrix, but by {type(self).__name__}")

    def learned_from(self, weights: Floats) -> Store:
        """Return the store with missing entries filled by the weighted means of the rows."""
        return self

    # -- what a view asks for (the `Design`: its rows, weights, centring and scaling) ------------

    def survey(self, surveys: Sequence[Survey], multiply: Multiply) -> list[Any]:
        """Return the results of surveys on views of this store, in one pass by ``multiply``."""
        far = [asked for asked in surveys if not asked.view.copied]
        found: list[list[Any]] = [[] for _ in far]
        for part, products in multiply([each.view for each in far], [each.U for each in far]):
            for asked, answers, product in zip(far, found, products, strict=True):
                answers.append(asked.each(part.start, product, asked.view.column_norms[part]))
        merged = iter(
            answers[0] if len(answers) == 1 else asked.merge(answers)
            for asked, answers in zip(far, found, strict=True)
        )
        return [_at_hand(asked) if asked.view.copied else next(merged) for asked in surveys]

    @property
    def fetches(self) -> bool:
        """Whether columns are not at hand, and better read together: see `expect`."""
        return False

    def expect(self, index: Ints) -> None:  # noqa: B027 (columns at hand need no more)
        """Announce the columns that several paths will ask for next, to fetch them together."""

    def column_norms(self, view: Design) -> Floats:
        """‖x̃_j‖ of every column, one pass."""
        norms2 = np.empty(view.d)
        for part, block in self.column_chunks():
            norms2[part] = (view.shown(block, part) ** 2).sum(axis=0)
        return np.sqrt(norms2)

    def spectrum(self, view: Design) -> Spectrum:
        """Column norms and eigenvalues from the smaller Gram matrix, one pass for a family."""
        if view.n > view.d:
            return Spectrum.of_columns(view.column_gram, view.n)
        gram, norms = view.row_gram
        return Spectrum(norms, partial(_largest_eigenvalues, gram, view.n))

    def row_grams(self, views: Sequence[Design]) -> list[tuple[Floats, Floats]]:
        """X̃X̃ᵀ and the column norms of each view, in one pass by columns."""
        grams = [np.zeros((view.n, view.n)) for view in views]
        norms2 = [np.empty(view.d) for view in views]
        for part, raw in self.column_chunks():
            for view, gram, squares in zip(views, grams, norms2, strict=True):
                block = view.shown(raw, part)
                gram += block @ block.T
                squares[part] = np.einsum("ij,ij->j", block, block)
        return [(gram, np.sqrt(squares)) for gram, squares in zip(grams, norms2, strict=True)]

    def column_grams(self, views: Sequence[Design]) -> list[Floats]:
        """X̃ᵀX̃ of each view, in one pass by rows."""
        return self.grams(views, [np.empty((view.n, 0)) for view in views])

    def grams(self, views: Sequence[Design], Ys: Sequence[Floats]) -> list[Floats]:
        """[X̃ Y]ᵀ[X̃ Y] of each view and its Y, in one pass by rows."""
        grams = [np.zeros((view.d + Y.shape[1],) * 2) for view, Y in zip(views, Ys, strict=True)]
        for part, raw in self.row_chunks():
            for view, Y, gram in zip(views, Ys, grams, strict=True):
                here, mine = view.within(part)
                both = np.hstack([here.shown(raw, slice(None)), Y[mine]])
                gram += both.T @ both
        return grams

    def scatters(
        self, labels: Ints, count: int, Y: Floats, weights: Floats | None
    ) -> list[Scatter]:
        """The scatter of the rows of [X Y] with each of so many labels, in one pass by rows."""
        found = [Scatter.empty(self.shape[1] + Y.shape[1]) for _ in range(count)]
        for part, raw in self.row_chunks():
            add_rows(found, raw, Y[part], labels[part], None if weights is None else weights[part])
        return found

    def on_scatters(self, work: Callable[[list[Scatter]], T], *rows: Any) -> T:
        """Return the result of work on the `scatters` of these rows, computed where they are."""
        return work(self.scatters(*rows))

    def takes(self, work: Callable[..., Any]) -> bool:
        """Whether workers that hold X can do this work there."""
        return False


def unwrapped(X: Any, name: str = "X") -> Any:
    """Return X, or the array inside an xarray one, or SciPy's form of a PyLops operator.

    Masked entries are refused: the values behind a mask would be used.
    """
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        instead = ", or ksupport.design.Incomplete(X.filled(numpy.nan))" if name == "X" else ""
        count = np.ma.count_masked(X)
        raise ValueError(
            f"{name} has masked entries, {count} of {X.size}: leave their rows out, or give "
            f"{name}.filled(value){instead}"
        )
    xarray = sys.modules.get("xarray")  # if X is of it, somebody has imported it
    if xarray is not None and isinstance(X, xarray.DataArray):
        X = X.data
    elif xarray is not None and isinstance(X, xarray.Dataset):
        raise TypeError(
            f"X is an xarray Dataset of {len(X)} variables, but must be one array or data frame: "
            "give X.to_dataframe()"
        )
    if hasattr(X, "matvec") and hasattr(X, "rmatvec") and not is_dask(X):
        return aslinearoperator(X)
    return X


def names_of(X: Any) -> list[str] | None:
    """Return the column names of a data frame or table; None if X has none."""
    X = unwrapped(X)
    names = getattr(X, "column_names", getattr(X, "columns", None))  # the former is pyarrow's
    return None if names is None else [str(name) for name in names]


def is_dask(X: Any) -> bool:
    """Whether X is an array, data frame or other collection of Dask, which need not be there."""
    return hasattr(X, "__dask_graph__")


def as_dask_array(X: Any) -> Any:
    """Return a Dask array, or that of a Dask data frame, with known chunks."""
    if hasattr(type(X), "to_dask_array"):  # of the type: a Delayed claims to have everything
        return X.to_dask_array(lengths=True)
    if hasattr(type(X), "chunks"):
        return X
    raise TypeError(
        f"X is a Dask {type(X).__name__}, but must be a Dask array or data frame; "
        "dask.array.from_delayed makes an array of delayed blocks"
    )


def store_of(X: Any) -> Store:
    """Return the store of an X of any kind."""
    from .matrices import OperatorStore, SparseStore  # which build on this module

    X = unwrapped(X)
    if is_dask(X):
        from .dask_store import DaskStore  # needs Dask, which other kinds of X do without

        return DaskStore(as_dask_array(X))
    if isinstance(X, LinearOperator):
        return OperatorStore(X)
    if sp.issparse(X):
        if X.dtype.kind == "c":
            raise ValueError(COMPLEX.format(X.dtype))
        return SparseStore(X if X.format in ("csr", "csc") else X.tocsr())
    from .blocks import array_store  # which builds on this module

    return array_store(X)
