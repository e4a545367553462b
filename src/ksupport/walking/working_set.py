"""The exact lazy working set.

A step of IRKSN, KSN, IRCR, SRDI or IHT needs, of all d features, only those whose correlation
|x_iᵀu| exceeds an entry level.  So take one full product at a reference vector, let the m
features with the largest correlations be the *working set*, and walk in compiled code on their
columns alone.  For any later u, a feature left out obeys

    |x_iᵀu| <= |c| edge + reach ‖u - c ref‖,     c = ⟨u, ref⟩/‖ref‖²,

with ``edge`` the largest |x_iᵀref| and ``reach`` the largest norm among those left out; groups of
features have the norms ‖X_gᵀref‖ and ‖X_g‖_F in their place (`walking.structure`).  While that
stays below the entry level, the walk on the working set *is* the full iteration.  When it fails,
the set is chosen anew for u: by a product that the path takes itself where the data are so
small that all columns are copied; by what products of any path on these rows say of u
(`walking.recall`); or by fresh ones in a pass that paths share, in the loop (`walking.loop`).  Such
a pass takes products with the vectors that a walk on the working set alone would meet next, too,
and columns are chosen for several of these: where that is about where the path goes, the next
steps need no pass and no other columns, and elsewhere they stay exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .. import limits
from .._kernels.working_set import Clock, Status, carry_rows, choose_for
from ..design import Design, Floats, Ints, Leading, Query
from .iterates import Block, recorded_steps, room_for, together
from .lockstep import PlainSteps, Step
from .paths import Answer, Request
from .recall import SLACK, Look, Recall, leading
from .structure import NO_LABELS, PLAIN, Structure

FIXED = 2e5  # price of a refresh besides its full product, in entries that steps read
SAME = 1e-9  # vectors that differ by this share of their size are one
FIRST_CHOSEN, MOST_CHOSEN = 2, 8  # steps for whose vectors columns are chosen
FIRST_AHEAD, MOST_AHEAD = 8, 32  # steps for which a pass takes products in advance
FAR = 0.1  # share of a vector that is not known of, with which nothing can be said of products
FOLLOWED = 8  # answers about an X elsewhere that are kept at once
FOREVER = np.iinfo(np.int64).max
Chosen = tuple[Ints, Floats, Floats, float]  # features, and the bound on others: see `WorkingSet`


@dataclass
class WorkingSet:
    """The features a walk goes on, and the bound on those left out."""

    features: Ints  # ascending
    columns: Floats  # their columns as rows, m x n
    refs: Floats  # the vectors for which it was chosen, as rows
    edges: Floats  # for each, the largest |x_iᵀref| among columns left out; and that of -ref
    reach: float = 0.0  # largest ‖x_i‖ among columns left out; 0: none left out

    def chosen_for(self, u: Floats) -> bool:
        """Whether u is a reference, up to rounding."""
        return bool((np.linalg.norm(self.refs - u, axis=1) <= SAME * np.linalg.norm(u)).any())


class State(ABC):
    """The state of one method, the part of a path that knows its mathematics.

    ``F`` has the method's feature vectors on the working set, one a row; a feature left out has
    zeros there.  Everything else lives in sample space and is small.
    """

    strides: bool = False  # steps are few and long: a small working set does for few
    structure = PLAIN  # of the models
    shares_passes: bool = True  # products taken together cost one pass; those of an operator do not

    def __init__(self, y: Floats, n_vectors: int, size: int) -> None:
        self.y = y
        self.F = np.zeros((n_vectors, 0))
        self.size = size  # about how many features are active at once
        self.clock = Clock()

    @property
    def t(self) -> int:
        return int(self.clock.now)

    @abstractmethod
    def query(self) -> Floats:
        """The vector u whose correlations Xᵀu decide the next step."""

    def directions(self) -> Floats:
        """Vectors, as rows, near whose span those of the next steps lie; first the newest one."""
        return self.query()[None]

    def looked_at(self) -> Floats:
        """The vectors, as rows, whose correlations the next step looks at first."""
        return self.query()[None]

    @abstractmethod
    def walk(
        self, working: WorkingSet, end: int, every: int, rows: Floats
    ) -> tuple[int, int, Floats | None]:
        """Walk on the working set, compiled: rows recorded, status, vector to refresh at."""

    def look_ahead(self, working: WorkingSet, seen: Floats) -> int:
        """Leave the vectors that later steps look at in ``seen``, steps x vectors x n.

        The state stays where it is.  Returns how many steps that went well.
        """
        state, rows = deepcopy(self), np.empty((2, self.structure.targets * working.features.size))
        for at, vectors in enumerate(seen):
            if state.walk(working, state.t + 1, FOREVER, rows)[1] != Status.DONE:
                return at
            vectors[:] = state.looked_at()[: len(vectors)]
        return len(seen)

    def iterate(self) -> Floats:
        """The current w on all features, in plain steps."""
        return self.F[0]

    def fitted_iterate(self) -> Floats | None:
        """X̃w of the current w, if the last plain step has computed it."""
        return None

    @abstractmethod
    def step(self) -> Step:
        """One plain step, which yields the full products that it needs."""

    @abstractmethod
    def remedy(self) -> str:
        """What to do about divergence: names the largest stable step."""

    def residual(self, fitted: Floats) -> Floats:
        """How far off each row of fitted values is: the root of the deviance."""
        return np.asarray(np.linalg.norm(fitted - self.y, axis=1))

    def gain(self, t: Ints) -> Floats | None:
        """How far noise can have been amplified after each of these steps; None: not known."""
        return None

    def in_use(self) -> NDArray[np.bool_]:
        """Which of the features on which F lives must stay in the working set."""
        return np.asarray(self.F.any(axis=0))

    def enter(self, columns: Floats, before: Ints, now: Ints) -> None:
        """Carry F over from the features it lived on before to a new working set."""
        _, old, new = np.intersect1d(before, now, assume_unique=True, return_indices=True)
        F = np.zeros((len(self.F), now.size))
        F[:, new] = self.F[:, old]
        self.F = F

    def spread(self, design: Design, features: Ints, recall: Recall | None) -> None:
        """Carry F over to all features, for plain steps."""
        F = np.zeros((len(self.F), design.d))
        F[:, features] = self.F
        self.F = F


class DualState(State):
    """A state whose feature vectors are correlations: F = Xᵀ of the sample vectors Z.

    Nothing is lost when a feature is let go, as F follows from Z.  Several responses stand side by
    side, in y, in each row of Z, and in each row of F.
    """

    labels: Ints = NO_LABELS  # the groups of the features on which F lives

    def __init__(self, y: Floats, n_vectors: int, k: int, structure: Structure = PLAIN) -> None:
        self.structure = structure
        super().__init__(y, n_vectors, self.structure.largest(k))
        self.Z = np.zeros((n_vectors, y.size))

    def directions(self) -> Floats:
        return self.Z.copy()

    def looked_at(self) -> Floats:
        return np.vstack([self.Z[:1], self.query()])

    def in_use(self) -> NDArray[np.bool_]:
        return np.zeros(self.F.shape[1] // self.structure.targets, bool)

    def enter(self, columns: Floats, before: Ints, now: Ints) -> None:
        Z = self.Z.reshape(-1, columns.shape[1])
        self.F = (Z @ columns.T).reshape(len(self.Z), -1)
        self.labels = self.structure.on(now)

    def spread(self, design: Design, features: Ints, recall: Recall | None) -> None:
        self.labels = self.structure.on(np.arange(design.d))
        count = len(self.Z)
        if recall is not None and recall.double and all(recall.knows(z) for z in self.Z):
            self.F, _ = recall(self.Z)
        elif self.Z.any():
            products = design.rmatmat(self.Z.reshape(-1, design.n).T)
            self.F = np.ascontiguousarray(products.T).reshape(count, -1)
        else:
            self.F = np.zeros((count, self.structure.targets * design.d))


class WorkingSetPath(PlainSteps):
    """A `Path` whose method walks on a lazily chosen working set.

    Small problems walk on all columns; where a smaller set would not pay (an operator without
    columns, dense iterates, correlations that move too fast) it takes plain steps for a while.
    """

    exhausted = False

    def __init__(self, design: Design, state: State) -> None:
        self.state = state
        self.features = np.empty(0, np.intp)  # the features on which state.F lives
        self.least = min(design.d, max(4 * state.size, 32))  # never walk on fewer
        self.attach(design)

    def attach(self, design: Design | None) -> None:
        """Go on with this design; None lets go of the data, so that the path can be stored."""
        self.stretch = None
        self.wanted: Floats | None = None  # the vector to choose columns for
        self.asked: Look | None = None  # what a pass is needed for
        self.recall: Recall | None = None  # what is known of products with X̃
        self.chosen: Chosen | None = None  # what to go on with, columns not yet read
        self.room = np.empty((0, 0 if design is None else design.n))  # for columns to walk on
        self.product = np.empty(0)  # that with the last vector wanted, where columns are copied
        self.working: WorkingSet | None = None  # None: plain steps, on all features
        self.asked_at = self.chosen_at = self.t
        self.plain_until = -1
        self.plain_span = 32
        self.m = self.least
        if design is None:
            del self.design
            return
        self.design = design
        self.enough = max(limits.WORKING // design.n, 4 * self.least)  # to walk on, mostly
        self.copied = design.copy_columns()  # then nothing need be waited for
        plain = self.state.structure.plain
        if not self.copied and (design.recalls or (design.has_columns and not plain)):
            self.recall = Recall.of(design)  # else too much would have to be sent
        whole = limits.ALL_AT_ONCE // (4 if self.copied else 1)  # refreshes cost less there
        if self.copied and self.state.strides:
            whole = limits.ALL_AT_ONCE
        self.state.shares_passes = design.has_columns
        if not design.has_columns:
            self._go_plain(FOREVER)
        elif design.copyable(limits.ALL_COLUMNS if 2 * self.m >= design.d else whole):
            self._work_on_all()
        elif 2 * self.m >= design.d:
            self._go_plain(FOREVER)
        elif self.copied:
            self._want(self.state.query())
        else:
            self._ask(self.state.query())

    @property
    def y(self) -> Floats:
        return self.state.y

    @property
    def width(self) -> int:
        """How many coefficients a model has."""
        return self.state.structure.targets * self.design.d

    def _across(self, working: WorkingSet) -> int:
        """How many of them are those of a working set."""
        return self.state.structure.targets * working.features.size

    @property
    def t(self) -> int:
        return int(self.state.clock.now)

    def remedy(self) -> str:
        return self.state.remedy()

    def residual(self, fitted: Floats) -> Floats:
        return self.state.residual(fitted)

    # -- choosing columns --------------------------------------------------------------------

    @property
    def pending(self) -> Request | None:
        if self.asked is None:
            return super().pending
        if self.recall is not None:
            return self.asked
        assert self.wanted is not None
        return Query(self.wanted, self.m, self.features[self.state.in_use()])

    def supply(self, answer: Answer) -> Ints:
        """Go on with plain steps, or on the features that lead, and all in use."""
        nothing = np.empty(0, np.intp)
        if self.asked is None:
            return super().supply(answer)
        self.asked = None
        if self.working is not None:
            self._adapt()
        self.asked_at = self.t
        if self.wanted is None:
            return nothing
        if isinstance(answer, Leading):
            self._follow(answer)
            return nothing
        self.chosen = self._chosen()
        new = np.zeros(self.design.d, bool)
        new[self.chosen[0]] = True
        new[self.features if self.working else nothing] = False
        return np.flatnonzero(new)

    def _follow(self, answer: Leading) -> None:
        """Go on with the features that lead where X lies, and a few answers' worth before."""
        assert self.wanted is not None
        refs, features = self.wanted[None], answer.features
        edge = answer.edge + self._rounding * answer.reach * float(np.linalg.norm(refs))
        edges, before = np.full((1, 2), edge), self.working
        if before is not None and 0 < len(before.refs) < FOLLOWED:
            refs, edges = np.vstack([refs, before.refs]), np.vstack([edges, before.edges])
            features = np.union1d(features, before.features)
        self._work_on(features, refs, edges, answer.reach)

    @property
    def _rounding(self) -> float:
        return SLACK[self.design.store.products_in.itemsize]

    def _want(self, u: Floats) -> None:
        """Choose columns for u, by what is known or can be had at once, or ask for a pass."""
        if not self.copied:
            if self.recall is not None and self._recalls(self.recall, u):
                self.wanted = u
                self.chosen = self._chosen()
            else:
                self._ask(u)
            return
        self.wanted = u
        if self.working is not None:
            self._adapt()
        self.asked_at = self.t
        if self.wanted is not None:
            self._work_on(*self._chosen())

    def _ask(self, u: Floats) -> None:
        """Wait for what can be said of u in a pass that paths share."""
        self.wanted = u
        ahead = np.vstack([u, *self._forecast()])
        self.asked = Look(u[None], leading(ahead, self.design.n))

    def _recalls(self, recall: Recall, u: Floats) -> bool:
        """Whether columns may be chosen for u by what is known."""
        if self.working is None or not self.working.chosen_for(u):
            return recall.missed(u) <= FAR
        # They were, and did not do: more of them, unless too little is known.
        known = recall.knows(u)
        self.m *= 2 if known else 1
        return known and 4 * self.m <= self.design.d

    def _chosen(self) -> Chosen:
        """The features that lead for the vector wanted, and for those met next; the bound."""
        refs = self._references()
        lengths = np.sqrt(np.einsum("ij,ij->i", refs, refs))
        products, wrong = self._products(refs, lengths)
        structure = self.state.structure
        chosen = np.zeros(self.design.d, bool)
        chosen[self.features[self.state.in_use()]] = True
        edges = np.empty((len(refs), 2))
        reach = choose_for(
            *structure.sides(products), lengths, wrong, structure.norms(self.design.column_norms),
            self.m, chosen, edges,
        )  # fmt: skip
        return np.flatnonzero(chosen), refs, edges, reach

    def _references(self) -> Floats:
        """The vector wanted, those of the next steps as far as they are foreseen, and the last."""
        assert self.wanted is not None
        refs, walked = [self.wanted[None]], self.t - self.chosen_at
        self.chosen_at = self.t
        if self.working is not None and self.working.reach > 0:
            room = limits.CHOSEN_FOR // self.width - 2
            steps = min(max(2 * walked, FIRST_CHOSEN), MOST_CHOSEN, room // 2 - 1)
            if self.recall is not None and steps > 0:
                now = self.state.looked_at()
                refs += [now, *self._ahead(steps, len(now))]
            refs.append(self.working.refs[:1])
        return np.vstack(refs)

    def _products(self, refs: Floats, lengths: Floats) -> tuple[Floats, Floats]:
        """X̃ᵀu of each row u, as far as known, and by how many times ‖x_i‖ it may be wrong."""
        if self.recall is not None:
            return self.recall(refs)
        responses = refs[0].reshape(-1, self.design.n)
        columns = self.design.all_columns
        products = np.concatenate([columns @ u for u in responses])
        before, self.product = self.product, products
        both = np.stack([products, before][: len(refs)])
        return both, self._rounding * lengths

    def _work_on_all(self) -> None:
        nothing = np.zeros((1, self.y.size)), np.zeros((1, 2))
        self._work_on(np.arange(self.design.d), *nothing, 0.0)

    def _work_on(self, chosen: Ints, refs: Floats, edges: Floats, reach: float) -> None:
        """Go on with these features; the bound on the others is from these vectors."""
        columns = self._columns(chosen)
        self.state.enter(columns, self.features, chosen)
        self.features, self.wanted, self.chosen = chosen, None, None
        self.working = WorkingSet(chosen, columns, refs, edges, reach)

    def _columns(self, chosen: Ints) -> Floats:
        """Columns as rows; those at hand are moved to their places, and not read again."""
        if chosen.size == self.design.d:
            return self.design.all_columns
        if self.design.copied:
            return self.design.columns(chosen)
        here = self.working is not None and self.working.columns.base is self.room
        at_hand = self.features if here else self.features[:0]
        if len(self.room) < chosen.size:
            most = max(chosen.size, min(2 * len(self.room), self.enough))
            larger = np.empty((most, self.design.n))
            larger[: at_hand.size] = self.room[: at_hand.size]
            self.room = larger
        missing = carry_rows(self.room, at_hand, chosen)
        self.room[: chosen.size][missing] = self.design.columns(chosen[missing])
        return self.room[: chosen.size]

    def _forecast(self) -> list[Floats]:
        """Vectors near whose span those of the next steps lie, one pass for all of them."""
        if self.working is None or not self.design.recalls:
            return []
        walked = self.t - self.asked_at
        steps = min(max(2 * walked, FIRST_AHEAD), MOST_AHEAD)
        return [*self.state.directions(), *self._ahead(steps, 1)[:, 0]]

    def _ahead(self, steps: int, vectors: int) -> Floats:
        """What the next steps look at first, if no feature joins the working set."""
        assert self.working is not None
        seen = np.empty((steps, vectors, self.y.size))
        return seen[: self.state.look_ahead(replace(self.working, reach=0.0), seen)]

    def _adapt(self) -> None:
        """After a failed bound: balance the work of steps with that of a refresh.

        A refresh reads d columns, and has its price besides; a step reads those of the working
        set.  So a larger one if refreshes come too often, a smaller one if they are rare.
        """
        if (
            not (self.design.recalls or self.copied)
            and self.working
            and len(self.working.refs) < FOLLOWED
        ):
            return  # another answer beside those before does more than a longer one
        if self._work() < 0.25 and self.m < self.enough:
            self.m *= 2
        elif self._work() > 4:
            self.m = max(self.m // 2, self.least)
        if (2 if self.copied else 4) * self.m > self.design.d:  # where a refresh costs little
            if self.design.copyable(limits.ALL_COLUMNS):
                self._work_on_all()
            else:
                self._go_plain(self.t + self.plain_span)

    def _work(self) -> float:
        """Columns read by steps since the last refresh, in units of what a refresh costs."""
        refresh = self.design.d + FIXED / self.design.n
        return (self.t - self.asked_at) * self.features.size / refresh

    def _go_plain(self, until: int) -> None:
        """Plain steps for a while, longer each time: later on the dual moves less."""
        self.state.spread(self.design, self.features, self.recall)
        self.features = np.arange(self.design.d)
        self.working = self.wanted = None
        self.m = min(self.m // 2, self.design.d // 8)
        self.plain_until = until if self.m >= self.least else FOREVER
        self.plain_span *= 4

    # -- walking -------------------------------------------------------------------------------

    def advance(self, end: int, every: int, most_numbers: int) -> Block:
        """Walk to ``end``, or until a product is needed or the block of rows is full."""
        block = self._advance(end, every, most_numbers)
        targets = self.state.structure.targets
        return replace(block, gain=self.state.gain(block.t), targets=targets)

    def _advance(self, end: int, every: int, most_numbers: int) -> Block:
        if self.chosen is not None:
            self._work_on(*self.chosen)
        if self.copied:
            return self._advance_copied(end, every, most_numbers)
        if self.working is None:
            return self._plain(end, every, most_numbers)
        working, before = self.working, int(self.state.clock.recorded)
        count = room_for(end - self.t, every, self._across(working), most_numbers)
        rows, status = self._walk(working, end, every, count)
        t = recorded_steps(before, self.state.clock, every, len(rows))
        features = working.features if len(working.features) < self.design.d else None  # None: all
        return Block(t, rows, self.design, features, working.columns, status == Status.NONFINITE)

    def _advance_copied(self, end: int, every: int, most_numbers: int) -> Block:
        """Walk where all columns are copied, on one working set after the other."""
        design, before = self.design, int(self.state.clock.recorded)
        if self.working is None:
            return self._plain(end, every, most_numbers)
        left = room_for(end - self.t, every, self.width, most_numbers)
        parts, status = [], Status.REFRESH
        while status == Status.REFRESH and self.working is not None:
            working = self.working
            rows, status = self._walk(working, end, every, left)
            parts.append((working.features, rows))
            left -= len(rows)
        features, rows = together(parts, design.d, self.state.structure.targets)
        t = recorded_steps(before, self.state.clock, every, len(rows))
        return Block(t, rows, design, features, diverged=status == Status.NONFINITE)

    def _walk(self, working: WorkingSet, end: int, every: int, most: int) -> tuple[Floats, int]:
        """Walk as far as the working set allows: at most so many rows recorded, and status."""
        rows = np.empty((most, self._across(working)))
        n_rows, status, wanted = self.state.walk(working, end, every, rows)
        if wanted is not None:
            self._want(wanted)
        elif (
            status == Status.DONE and self.m > self.least and working.reach > 0 and self._work() > 8
        ):
            # Far too large by now: choose again, and fewer.
            self.m = max(self.m // 4, self.least)
            self._want(self.state.query())
        return rows[:n_rows], status

    def _plain(self, end: int, every: int, most_numbers: int) -> Block:
        """Plain steps for as long as was decided; then back to a working set."""
        here = min(end, -(-self.plain_until // every) * every)  # on the grid, as ``end`` is
        block = self.walk_plainly(self.state, here, every, most_numbers)
        over = self.stretch is None and not block.diverged
        if over and self.plain_until <= self.t < end:
            self._want(self.state.query())
        return block
