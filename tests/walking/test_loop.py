"""The one loop: why it ends, what it records, and that block sizes are invisible."""

import _thread
import threading
from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from ksupport import IRKSNCV, IRKSNIC, AutoIRKSN, PathCV, PathIC, path
from ksupport._common.phases import Phase
from ksupport.algorithms import make_method
from ksupport.design.view import Design
from ksupport.stopping import Discrepancy, HeldOut
from ksupport.walking import Block, BySquares, History, Verdict, run, whole_walks_only
from ksupport.walking.records import Record


@pytest.fixture
def problem(rng):
    X = rng.standard_normal((20, 30))
    return X, X[:, :3] @ [1.0, -2.0, 3.0] + 0.1 * rng.standard_normal(20)


class Counting(BySquares):
    """A path whose iterate at step t is (t, -t), up to a last step if there is one."""

    pending = None
    design = Design.of(np.array([[1.0, 0.0], [1.0, 1.0]]))
    y = np.array([1.0, 0.0])

    def __init__(self, last=10**9, explode_at=None):
        self.t, self.recorded, self.last, self.explode_at = 0, -1, last, explode_at
        self.buffer = np.empty((0, 2))

    @property
    def exhausted(self):
        return self.t >= self.last

    def advance(self, end, every, most_numbers):
        end = min(end, self.last)
        steps = [
            t for t in range(self.recorded + 1, end + 1) if t % every == 0 or t in (end, self.last)
        ]
        # One buffer for all blocks: the loop must not keep references to it.
        self.buffer = np.resize(self.buffer, (max(len(steps), len(self.buffer)), 2))
        rows = self.buffer[: len(steps)]
        rows[:] = np.outer(steps, [1.0, -1.0])
        if self.explode_at is not None:
            rows[np.array(steps) >= self.explode_at] = np.nan
        self.t, self.recorded = end, end
        return Block(np.array(steps, int), rows, self.design)

    def supply(self, leading):
        raise AssertionError("never asked for")

    def remedy(self):
        return "Take smaller steps."


def walk(counting=None, **params):
    return run([counting or Counting()], **params)[0]


# -- reasons ------------------------------------------------------------------------------


def test_interrupted_before_its_first_record_a_path_is_the_zero_vector():
    record = Record(Counting(), {}, None, keep_all=True)
    record.begin()
    assert record.coef.tolist() == [0.0, 0.0]
    assert {name: column.tolist() for name, column in record.history.items()} == {
        "t": [0], "n_nonzero": [0], "residual": [1.0],
    }  # fmt: skip


def test_reason_max_iter(problem):
    result = path("irksn", *problem, k=3, max_iter=100)
    assert (result.reason, result.n_iter) == ("max_iter", 100)


def test_reason_stopped(problem):
    result = path("irksn", *problem, k=3, alpha=0.1, max_iter=500, stopping=Discrepancy(2.0))
    assert result.reason == "stopped"
    assert 0 < result.n_iter < 500
    assert result.history["residual"][-1] <= 2.0 < result.history["residual"][-2]


def test_reason_exhausted():
    result = walk(Counting(last=13), max_iter=100, every=5)
    assert (result.reason, result.n_iter) == ("exhausted", 13)
    np.testing.assert_array_equal(result.coef, [13, -13])


@pytest.mark.parametrize("shape", [(20, 30), (30, 2000)])
@pytest.mark.parametrize("keep", ["all", "last"])
def test_reason_diverged(shape, keep, rng):
    X = rng.standard_normal(shape)
    y = rng.standard_normal(shape[0])
    stable = 0.1 / np.linalg.norm(X, 2) ** 2
    with pytest.warns(ConvergenceWarning, match=r"diverged.*last finite.*largest stable one is"):
        result = path("irksn", X, y, k=3, alpha=0.1, step=1e4 * stable, max_iter=10_000, keep=keep)
    assert result.reason == "diverged"
    assert np.isfinite(result.coef).all()
    assert result.n_iter == result.history["t"][-1] < 10_000


@pytest.mark.parametrize("explode_at", [0, 1, 7, 200])
@pytest.mark.parametrize("keep", ["all", "last"])
def test_the_last_finite_iterate_is_kept(explode_at, keep):
    with pytest.warns(ConvergenceWarning, match=r"diverged.*Take smaller steps"):
        result = walk(Counting(explode_at=explode_at), max_iter=500, keep=keep)
    last = max(explode_at - 1, 0)
    assert (result.reason, result.n_iter) == ("diverged", last)
    np.testing.assert_array_equal(result.coef, [last, -last])
    np.testing.assert_array_equal(result.history["t"], np.arange(last + 1))
    if keep == "all":
        np.testing.assert_array_equal(result.iterates.toarray()[-1], result.coef)


def interrupting(after):
    """A metric, all zeros, during whose computation Ctrl-C is pressed."""
    calls = []

    def metric(block):
        calls.append(1)
        if len(calls) > after:
            raise KeyboardInterrupt
        return np.zeros(len(block.t))

    return metric


@pytest.mark.parametrize("keep", ["all", "last"])
def test_reason_interrupted(problem, keep):
    metrics = {"zero": interrupting(3)}
    with pytest.warns(ConvergenceWarning, match=r"interrupted.*as far as it was walked"):
        result = path("irksn", *problem, k=3, max_iter=10**9, metrics=metrics, keep=keep)
    assert result.reason == "interrupted"
    t = result.n_iter
    assert result.history["t"][-1] == t > 0
    whole = path("irksn", *problem, k=3, max_iter=t)
    np.testing.assert_allclose(result.coef, whole.coef, atol=1e-12)
    if keep == "all":
        assert result.iterates.shape[0] == result.history.n_records


def test_interrupting_before_the_first_record_of_the_only_path_is_passed_on(problem):
    with pytest.raises(KeyboardInterrupt):
        path("irksn", *problem, k=3, metrics={"zero": interrupting(0)})


def test_interrupting_one_of_several_paths_keeps_the_others():
    paths = Counting(), Counting()
    metrics = {paths[1]: {"zero": interrupting(0)}}
    with pytest.warns(ConvergenceWarning, match=r"interrupted"):
        first, second = run(paths, max_iter=10**6, metrics=metrics, interruptible=True)
    assert first.reason == second.reason == "interrupted"
    assert first.n_iter > 0
    np.testing.assert_array_equal(second.coef, 0)


def test_the_loop_raises_ctrl_c_if_not_told_otherwise():
    counting: Any = Counting()
    with pytest.raises(KeyboardInterrupt):
        run([counting], max_iter=10**6, metrics={counting: {"zero": interrupting(3)}})


def test_where_whole_walks_are_needed_ctrl_c_is_raised(problem):
    with whole_walks_only(), pytest.raises(KeyboardInterrupt):
        path("irksn", *problem, k=3, max_iter=10**9, metrics={"zero": interrupting(3)})
    with pytest.warns(ConvergenceWarning, match=r"interrupted"):
        path("irksn", *problem, k=3, max_iter=10**9, metrics={"zero": interrupting(3)})


@pytest.fixture
def ctrl_c(monkeypatch):
    """Press Ctrl-C, as the main thread feels it, when the tenth block of steps is measured."""
    blocks, take = [], Record.take

    def pressing(record, block):
        blocks.append(block)
        if len(blocks) == 10:
            _thread.interrupt_main()
        return take(record, block)

    monkeypatch.setattr(Record, "take", pressing)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize(
    "model",
    [IRKSNIC(max_iter=1000), IRKSNCV(), PathIC("iht"), PathCV("iht"), AutoIRKSN()],
    ids=lambda model: type(model).__name__,
)
def test_ctrl_c_ends_what_chooses_among_paths(model, n_jobs, rng, ctrl_c):
    X = rng.standard_normal((40, 60))
    y = X[:, :3] @ [1.0, -2.0, 3.0] + rng.standard_normal(40)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(n_jobs=n_jobs).fit(X, y)
    for thread in threading.enumerate():  # one that was being started ends by itself
        if thread.name.startswith("ksupport-walk"):
            thread.join(60)
            assert not thread.is_alive()


# -- records ------------------------------------------------------------------------------


@pytest.mark.parametrize("every", [1, 2, 5, 7, 64, 65, 99, 100, 101, 1000])
@pytest.mark.parametrize("max_iter", [1, 63, 64, 100, 300])
def test_every_so_many_steps_are_recorded_and_the_last(problem, every, max_iter):
    expected = np.unique(np.r_[np.arange(0, max_iter + 1, every), max_iter])
    for result in (
        path("irksn", *problem, k=3, max_iter=max_iter, every=every),
        walk(max_iter=max_iter, every=every),
    ):
        np.testing.assert_array_equal(result.history["t"], expected)
        assert result.iterates.shape[0] == len(expected)
        assert result.n_iter == max_iter


@pytest.mark.parametrize("every", [3, 7])
@pytest.mark.parametrize("small", [0, 1 << 18])
def test_records_of_plain_steps_and_refreshed_blocks_lie_on_the_same_grid(
    every, small, rng, monkeypatch
):
    monkeypatch.setattr("ksupport.limits.ALL_AT_ONCE", 0)
    monkeypatch.setattr("ksupport.limits.COPIED_COLUMNS", small)
    X = rng.standard_normal((30, 400))
    y = X[:, :5].sum(axis=1)
    for alpha, most in product((1e-2, 0.3, 0.9), (0, 1 << 21)):
        monkeypatch.setattr("ksupport.limits.ALL_COLUMNS", most)
        result = path("irksn", X, y, k=5, alpha=alpha, max_iter=400, every=every)
        expected = np.unique(np.r_[np.arange(0, 401, every), 400])
        np.testing.assert_array_equal(result.history["t"], expected)


def test_recording_less_often_records_the_same_iterates(problem):
    all_of_them = path("irksn", *problem, k=3, max_iter=200).iterates.toarray()
    some = path("irksn", *problem, k=3, max_iter=200, every=9)
    np.testing.assert_allclose(some.iterates.toarray(), all_of_them[some.history["t"]], atol=1e-13)


def test_keeping_the_last_gives_the_same_model_without_the_iterates(problem):
    everything = path("irksn", *problem, k=3, max_iter=200)
    last = path("irksn", *problem, k=3, max_iter=200, keep="last")
    assert last.iterates is None
    np.testing.assert_array_equal(last.coef, everything.coef)
    np.testing.assert_array_equal(last.coef, everything.iterates.toarray()[-1])
    np.testing.assert_array_equal(last.support, np.flatnonzero(last.coef))


def test_zeros_have_no_sign(problem):
    result = path("irksn", *problem, k=3, max_iter=50)
    assert (result.coef == 0).any()
    assert not np.signbit(result.coef[result.coef == 0]).any()


def test_iterates_never_alias():
    """Counting writes all its blocks into one buffer; the stored path must not see that."""
    counting = Counting()
    result = walk(counting, max_iter=1000)
    counting.buffer[:] = np.nan
    t = np.arange(1001)
    np.testing.assert_array_equal(result.iterates.toarray(), np.column_stack([t, -t]))
    np.testing.assert_array_equal(result.coef, [1000, -1000])


def test_history_measures_the_iterates(problem):
    X, y = problem
    seen = {"size": lambda block: np.abs(block.dense(30)).sum(axis=1)}
    result = path("irksn", X, y, k=3, max_iter=150, every=4, metrics=seen)
    W = result.iterates.toarray()
    assert set(result.history) == {"t", "n_nonzero", "residual", "gain", "size"}
    np.testing.assert_allclose(result.history["residual"], np.linalg.norm(W @ X.T - y, axis=1))
    np.testing.assert_array_equal(result.history["n_nonzero"], np.count_nonzero(W, axis=1))
    np.testing.assert_allclose(result.history["size"], np.abs(W).sum(axis=1))


def test_residuals_are_those_of_all_rows_even_on_the_gram_route(rng):
    X = rng.standard_normal((5000, 20))
    y = X[:, 0] + rng.standard_normal(5000)
    result = path("irksn", X, y, k=3, alpha=0.1, max_iter=50)
    W = result.iterates.toarray()
    np.testing.assert_allclose(result.history["residual"], np.linalg.norm(W @ X.T - y, axis=1))


# -- stopping -----------------------------------------------------------------------------


@pytest.mark.parametrize("keep", ["all", "last"])
@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("rule", [Discrepancy(1.0), HeldOut(patience=6)], ids=["residual", "held"])
def test_block_sizes_are_invisible(problem, rule, every, keep, monkeypatch):
    X, y = problem
    # An error that falls, then rises: its least is at step 41.
    metrics = {"validation": lambda block: np.abs(block.t - 41.0)}
    results = []
    for first, most in [(1, 1), (2, 7), (64, 8192), (1000, 1000)]:
        monkeypatch.setattr("ksupport.limits.FIRST_STEPS", first)
        monkeypatch.setattr("ksupport.limits.BLOCK_STEPS", most)
        results.append(
            path(
                "irksn", X, y, k=3, alpha=0.1, max_iter=900, every=every, stopping=rule,
                metrics=metrics, keep=keep,
            )
        )  # fmt: skip
    one, *others = results
    assert one.reason == "stopped"
    for other in others:
        assert (other.reason, other.n_iter) == (one.reason, one.n_iter)
        np.testing.assert_array_equal(other.history["t"], one.history["t"])
        np.testing.assert_allclose(other.coef, one.coef, atol=1e-13)
        if keep == "all":
            assert other.iterates.shape == one.iterates.shape == (one.history.n_records, 30)


def test_nothing_beyond_the_stop_is_kept():
    result = walk(max_iter=10**6, stopping=lambda history: Verdict(17, 20) if
                  history.n_records > 20 else Verdict(history.n_records - 1))  # fmt: skip
    assert (result.reason, result.n_iter) == ("stopped", 17)
    np.testing.assert_array_equal(result.history["t"], np.arange(21))
    assert result.iterates.shape == (21, 2)


def test_a_rule_may_look_back_if_all_iterates_are_kept():
    def tenth_from_the_end(history):
        last = history.n_records - 1
        return Verdict(max(last - 100, 0), last if last >= 150 else None)

    stop = {"stopping": tenth_from_the_end, "max_iter": 10**4}
    result = walk(**stop, keep="all")
    assert result.n_iter == result.coef[0] == result.history["t"][-1] - 100
    with pytest.raises(RuntimeError, match=r"keep='all'"):
        walk(**stop, keep="last")


def test_a_watcher_sees_the_iterates_and_can_end_the_walk():
    seen = []

    def watch(history, w):
        t = history["t"][-1]
        seen.append((t, w.copy()))
        return t > 300

    result = walk(max_iter=10**6, watch=watch)
    assert result.reason == "stopped"
    assert result.n_iter == seen[-1][0] > 300 >= seen[-2][0]
    assert all((w == [t, -t]).all() for t, w in seen)


# -- several paths ------------------------------------------------------------------------


@pytest.mark.parametrize("small", [0, 1 << 18])
def test_several_paths_equal_separate_walks_and_share_passes(small, rng, monkeypatch):
    monkeypatch.setattr("ksupport.limits.ALL_AT_ONCE", 0)
    monkeypatch.setattr("ksupport.limits.COPIED_COLUMNS", small)
    X = rng.standard_normal((40, 800))
    targets = [X[:, 5 * j : 5 * j + 3].sum(axis=1) for j in range(4)]
    method = make_method("irksn", k=3, alpha=1e-2)
    together, alone = Design.of(X), Design.of(X)
    together.norm(), alone.norm()
    results = run([method.start(together, y) for y in targets], max_iter=300)
    shared = together.passes
    separate = []
    for y in targets:
        separate += run([method.start(alone, y)], max_iter=300)
    for one, other in zip(results, separate, strict=True):
        difference = abs(one.iterates - other.iterates)
        assert difference.max() <= 1e-10  # rounding, times 1/alpha
        assert one.n_iter == other.n_iter
    assert shared <= alone.passes
    if small == 0:
        assert shared < alone.passes


def test_paths_that_end_at_different_times():
    results = run([Counting(last=5), Counting(), Counting(last=900)], max_iter=600)
    assert [r.reason for r in results] == ["exhausted", "max_iter", "max_iter"]
    assert [r.n_iter for r in results] == [5, 600, 600]


def test_metrics_of_a_path_that_is_not_walked_are_an_error():
    with pytest.raises(ValueError, match="metrics must be a mapping from some of the paths"):
        run([Counting()], max_iter=10, metrics={Counting(): {}})  # type: ignore[dict-item]


def test_each_path_may_have_a_rule_of_its_own():
    paths = [Counting(), Counting(), Counting()]
    rules = {paths[0]: lambda h: Verdict(min(h.n_records - 1, 3), 3 if h.n_records > 3 else None)}
    first, *others = run(paths, max_iter=10, stopping=rules)
    assert first.reason == "stopped"
    assert first.history["t"][-1] == 3
    assert {each.reason for each in others} == {"max_iter"}
    with pytest.raises(ValueError, match="stopping must be a mapping from some of the paths"):
        run([Counting()], max_iter=10, stopping=rules)


# -- input --------------------------------------------------------------------------------


def test_history_is_a_mapping_of_equal_columns():
    h = History({"t": [0, 1], "x": [2.0, 3.0]})
    more = h.extended({"t": [2], "x": [4.0]})
    assert h.n_records == 2
    assert more.n_records == 3
    np.testing.assert_array_equal(more["x"], [2, 3, 4])
    assert "3 records" in repr(more)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.ones(5)}, r"y must have 20 rows to match X, got shape \(5,\)"),
        ({"y": np.full(20, np.nan)}, "y contains NaN or infinity"),
        ({"X": np.full((20, 30), np.nan)}, "X contains NaN or infinity"),
        ({"method": "magic"}, "method must be one of irksn.*got 'magic'"),
        ({"every": 0}, "every must be an integer of at least 1, got 0"),
        ({"every": 1.5}, "every .* got 1.5"),
        ({"max_iter": np.nan}, "max_iter must be an integer of at least 0, got nan"),
        ({"max_iter": 2.5}, "max_iter .* got 2.5"),
    ],
)
def test_bad_input_is_named(problem, change, message):
    X, y = problem
    with pytest.raises(ValueError, match=message):
        path(**{"method": "irksn", "X": X, "y": y, "k": 3} | change)


def test_an_unknown_parameter_is_named(problem):
    with pytest.raises(TypeError, match=r"'irksn' has no parameter 'beta'; it takes k, alpha"):
        path("irksn", *problem, beta=3)


# -- how far it is -------------------------------------------------------------------------


def test_a_walk_tells_the_steps_of_all_its_paths(heard, monkeypatch):
    """A path that ended early has nothing left to do; one that goes on begins where it stands."""
    told = []

    def update(self, done):
        if self.name.startswith("walking"):
            told.append((done, self.total))

    monkeypatch.setattr(Phase, "update", update)
    monkeypatch.setattr("ksupport.limits.FIRST_STEPS", 10)
    ends, goes_on = Counting(last=30), Counting()
    run([goes_on], max_iter=20)
    assert told[-1] == (20, 20)
    told.clear()
    run([ends, goes_on], max_iter=100)
    steps, totals = zip(*told, strict=True)
    assert set(totals) == {180}
    assert steps[:2] == (10, 30)  # blocks grow with the distance walked: ten, and twenty
    assert steps == tuple(sorted(steps))
    assert steps[-1] == 180
