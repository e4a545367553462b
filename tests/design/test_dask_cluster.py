"""Fits on a real cluster of two processes, also while parts of it fail."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ksupport import IRKSN, IRKSNCV, IRKSNIC, AutoIRKSN, NoSignalWarning, path

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

from ksupport.design import dask_wait  # noqa: E402

CHUNKS = {"rows": (150, -1), "columns": (-1, 1500), "both": (250, 2000)}
CALM = {"k": 10, "alpha": 1e-3, "max_iter": 200}
RESTLESS = {"k": 10, "alpha": 1e-1, "max_iter": 200}  # on noise: passes until the end


@cache
def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 6000)) + 0.5 * rng.standard_normal((500, 1))
    y = X[:, ::600] @ rng.choice([-2.0, 2.0], 10) + rng.standard_normal(500)
    return X, y


@cache
def noise():
    return np.random.default_rng(1).standard_normal(500)


def assert_same(result, y, params):
    expected = path("irksn", problem()[0], y, **params).iterates.toarray()
    size = np.abs(expected).max()
    np.testing.assert_allclose(
        result.iterates.toarray(), expected, rtol=0, atol=1e-6 * size
    )  # rounding, times 1/alpha


# Functions of these tests reach workers by the name of their module, where another distribution may
# have installed a package of the name of its folder.
PRELOAD = f"""
import sys, types
sys.modules["tests"] = types.ModuleType("tests")
sys.modules["tests"].__path__ = [{str(Path(__file__).parents[1])!r}]
"""


@pytest.fixture(scope="module")
def client():
    with (
        # On a busy machine a new worker may take long; the cluster must not give it up.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "300s"}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            host="127.0.0.1",
            preload=PRELOAD,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def received(client, monkeypatch):
    """The sizes of all that the client receives as results."""
    sizes, gather = [], client._gather_remote

    async def counted(*args, **kwargs):
        response = await gather(*args, **kwargs)
        sizes.append(len(pickle.dumps(response)))
        return response

    monkeypatch.setattr(client, "_gather_remote", counted)
    return sizes


def load(rows, columns):
    return problem()[0][rows, columns]


def lazy(chunks, loader=load):
    """X as blocks that workers load when they need them."""
    form = da.core.normalize_chunks(chunks, (500, 6000), dtype=float)
    rows, columns = (np.cumsum((0, *each)) for each in form)

    def block(block_info=None):
        (i, j) = block_info[None]["chunk-location"]
        return loader(slice(rows[i], rows[i + 1]), slice(columns[j], columns[j + 1]))

    return da.map_blocks(block, chunks=form, dtype=float, meta=np.empty((0, 0)))


@pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)
def test_a_cluster_walks_the_same_path_and_sends_little(chunks, client, received):
    X = lazy(chunks).persist()
    y = problem()[1]
    assert_same(path("irksn", X, y, **CALM), y, CALM)
    assert 0 < sum(received) < 0.2 * X.nbytes  # of all passes together


def test_what_the_client_counts_is_what_it_receives(client, received):
    from ksupport.design.view import Design

    design = Design.of(lazy(CHUNKS["both"]).persist())
    path("irksn", design, problem()[1], **CALM)
    assert sum(received) == pytest.approx(design.store.gathered, rel=0.05)  # type: ignore[attr-defined]


def kill_once(marker, rows, columns):
    """Load a block; but the process that is to do so after the marker appears dies once."""
    with suppress(FileNotFoundError):  # not there, or another worker was first
        os.remove(marker)
        os.kill(os.getpid(), signal.SIGKILL)
    return load(rows, columns)


def test_a_worker_that_dies_while_loading_is_replaced(client, tmp_path):
    marker = tmp_path / "armed"

    def arm(block):
        if block.t[0] == 0:
            marker.touch()
        return np.zeros(len(block.t))

    X = lazy(CHUNKS["both"], partial(kill_once, str(marker)))
    result = path("irksn", X, noise(), metrics={"arm": arm}, **RESTLESS)
    assert not marker.exists()  # somebody died
    assert_same(result, noise(), RESTLESS)


def test_chunks_that_die_with_a_worker_are_made_again(client):
    X = lazy(CHUNKS["both"]).persist()
    distributed.wait(X)
    victim = min(client.run(os.getpid).values())

    def kill(block):
        if block.t[0] == 0:
            os.kill(victim, signal.SIGKILL)
        return np.zeros(len(block.t))

    result = path("irksn", X, noise(), metrics={"kill": kill}, **RESTLESS)
    assert_same(result, noise(), RESTLESS)
    assert victim not in client.run(os.getpid, on_error="ignore").values()


def test_an_unreadable_block_is_placed(client):
    def broken(rows, columns):
        if rows.start and columns.start == 2000:
            raise OSError("no such file")
        return load(rows, columns)

    place = r"block \(1, 1\) \(rows 250..499, columns 2000..3999\)"
    with pytest.raises(RuntimeError, match=f"{place} cannot be read: OSError: no such file"):
        IRKSN().fit(lazy(CHUNKS["both"], broken), problem()[1])


@pytest.fixture
def lone_scheduler(tmp_path):
    """A cluster in processes of its own, so that its scheduler can be killed."""
    address = tmp_path / "scheduler.json"
    common = ["--scheduler-file", str(address), "--no-dashboard", "--preload", PRELOAD]
    command = [sys.executable, "-W", "ignore", "-m"]
    with (tmp_path / "log").open("w") as log:
        start = partial(subprocess.Popen, stdout=log, stderr=log)
        scheduler = start(
            [
                *command,
                "distributed.cli.dask_scheduler",
                "--host",
                "127.0.0.1",
                "--port",
                "0",
                *common,
            ]
        )
        while not address.exists():
            assert scheduler.poll() is None
            time.sleep(0.05)
        worker = start(
            [*command, "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny", *common]
        )
        yield address, scheduler, worker
        for process in (worker, scheduler):
            process.kill()
            process.wait()


def test_a_lost_scheduler_is_an_error_not_a_wait(lone_scheduler):
    address, scheduler, _ = lone_scheduler
    with distributed.Client(scheduler_file=str(address), timeout="20s") as client:
        client.wait_for_workers(1, timeout=60)

        def kill(block):
            scheduler.kill()
            scheduler.wait()
            return np.zeros(len(block.t))

        X = lazy(CHUNKS["both"])
        client._timeout = 2  # seconds in which to find it again
        with pytest.raises(ConnectionError, match=r"(?s)scheduler was lost.*start a new cluster"):
            path("irksn", X, noise(), metrics={"kill": kill}, **RESTLESS)


def test_workers_that_are_all_gone_are_an_error_not_a_wait(lone_scheduler, monkeypatch):
    """Those that are only busy are waited for."""
    address, _, worker = lone_scheduler
    monkeypatch.setattr(dask_wait, "PATIENCE", 0.5)
    X, y = (each[:200] for each in problem())
    busy = da.from_array(X[:, :1500], chunks=-1).map_blocks(slow, dtype=float)
    with distributed.Client(scheduler_file=str(address), timeout="20s") as client:
        client.wait_for_workers(1, timeout=60)
        assert IRKSN(k=3, max_iter=1).fit(busy, da.from_array(y)).coef_.any()
        worker.kill()
        worker.wait()
        with pytest.raises(ConnectionError, match=r"no worker for 0\.5 seconds.*start workers"):
            AutoIRKSN(cv=3, max_iter=20).fit(busy, y)
        with (
            dask.config.set({dask_wait.SETTING: "1 s"}),
            pytest.raises(ConnectionError, match="no worker for 1 seconds"),
        ):
            AutoIRKSN(cv=3, max_iter=20).fit(X[:, :20], da.from_array(y))


def slow(block):
    time.sleep(1.5)
    return block


KILLS = max(1, int(os.environ.get("FAULT_POINTS", "5")) // 5)  # `make test-faults` takes 20


@pytest.fixture(scope="module")
def near(client):
    """A choice without a cluster, the same X in chunks, and about how long a cluster takes."""
    X, y = (each[:200] for each in problem())
    y = y / np.std(y) + X[:, [10, 700, 1400]].sum(axis=1)  # y's own features are others
    model, chunks = AutoIRKSN(cv=3, max_iter=10), da.from_array(X[:, :1500], chunks=(100, 750))
    expected = clone(model).fit(X[:, :1500], y)
    started = time.monotonic()
    clone(model).fit(chunks, y)
    return model, chunks, y, expected, time.monotonic() - started


def both(client):
    """The processes of two workers, once a killed one has its successor."""
    end, found = time.monotonic() + 300, []
    while len(found) < 2 and time.monotonic() < end:
        found = list(client.run(os.getpid, on_error="ignore").values())
        time.sleep(0.1)
    return found


@pytest.mark.parametrize("point", range(KILLS))
def test_the_choice_is_the_same_where_a_worker_is_killed_on_the_way(point, client, near):
    model, X, y, expected, seconds = near
    victim = sorted(both(client))[point % 2]
    share = np.random.default_rng(point).random()
    killer = threading.Timer(share * seconds, os.kill, (victim, signal.SIGKILL))
    killer.start()
    found = clone(model).fit(X, y)
    killer.join()
    np.testing.assert_array_equal(found.support_, expected.support_)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-8)


# -- tall data: the choice is made where the sums of squares are ------------------------------


@cache
def tall():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((3000, 100))
    return X, X[:, :4].sum(axis=1) + 2 * rng.standard_normal(3000)


TALL = {
    "auto": AutoIRKSN,
    "criterion": IRKSNIC,
    "folds": partial(IRKSNCV, random_state=0),
    "unpenalised": partial(AutoIRKSN, unpenalized=[7, 9]),
    "a splitter that cannot be sent": lambda: IRKSNCV(cv=iter(halves(3000))),
}


def halves(n):
    return [(np.arange(at, n, 2), np.arange(1 - at, n, 2)) for at in (0, 1)]


@pytest.mark.parametrize("name", TALL)
def test_of_tall_data_the_client_receives_what_was_chosen_alone(name, client, received):
    X, y = tall()
    expected = TALL[name]().fit(X, y)
    given = da.from_array(X, chunks=(500, -1))
    model = TALL[name]().fit(given, y)
    np.testing.assert_array_equal(model.support_, expected.support_)
    np.testing.assert_allclose(model.predict(X), expected.predict(X), rtol=1e-8, atol=1e-8)
    if hasattr(expected, "probability_"):
        np.testing.assert_allclose(model.probability_, expected.probability_, atol=1e-8)
    assert model.n_passes_ <= expected.n_passes_ + (name == "unpenalised")  # to read those columns
    if "sent" not in name:
        columns = 2 * 2 if name == "unpenalised" else 0  # as they are, and projected off
        # Sums would be a sixth; a posterior has thousands of sampled models, however many rows.
        most = 0.15 if hasattr(expected, "posterior_") else 0.03
        assert 0 < sum(received) < (most + columns / 100) * X.nbytes


def test_rows_that_only_x_tells_apart_are_told_apart_by_the_client(client):
    """Few values of y recur: then sums of squares do not say how many rows differ."""
    X, y = tall()
    expected, model = (AutoIRKSN().fit(each, np.sign(y)) for each in (X, da.from_array(X)))
    np.testing.assert_array_equal(model.support_, expected.support_)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-8)


def test_what_was_warned_of_where_x_lies_is_heard(client):
    X, _ = tall()
    noise = np.random.default_rng(5).standard_normal(3000)
    with pytest.warns(NoSignalWarning):
        model = AutoIRKSN().fit(da.from_array(X, chunks=(500, -1)), noise)
    assert not model.signal_
    with pytest.warns(ConvergenceWarning, match="diverged"):
        IRKSNIC(step=1e3).fit(da.from_array(X, chunks=(500, -1)), noise)


def test_a_mistake_in_a_parameter_is_named_as_ever(client):
    X, y = tall()
    with pytest.raises(ValueError, match="alpha must lie strictly between 0 and 1"):
        IRKSNIC(alpha=2.0).fit(da.from_array(X, chunks=(500, -1)), y)
