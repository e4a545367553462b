"""Threads: one BLAS thread while they work, and nothing left behind."""

import threading
import time

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from ksupport import IRKSNIC
from ksupport.walking.threads import Workers


def blas_threads(_=None):
    return max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")


@pytest.fixture
def two_blas_threads():
    with threadpool_limits(2, "blas"):
        yield


def test_blas_keeps_to_one_thread_while_several_work(two_blas_threads):
    with Workers(2) as workers:
        assert workers.each(blas_threads, range(5)) == [1] * 5
    assert blas_threads() == 2


def test_whoever_leaves_first_leaves_one_blas_thread_to_the_others(two_blas_threads):
    first, second = Workers(2), Workers(2)
    with second:
        with first:
            pass
        assert blas_threads() == 1
    assert blas_threads() == 2
    first, second = Workers(2).__enter__(), Workers(2).__enter__()
    first.__exit__()
    assert blas_threads() == 1
    second.__exit__()
    assert blas_threads() == 2


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_items_take_turns_until_each_is_done(n_jobs):
    left, order = dict.fromkeys("abcd", 5), []

    def work(item):
        left[item] -= 1
        order.append(item)
        return left[item] > 0

    with Workers(n_jobs) as workers:
        workers.in_turns(work, "abcd")
    assert set(left.values()) == {0}
    assert len(order) == 20
    if n_jobs == 1:
        assert order == list("abcd") * 5


def test_fits_in_many_threads_leave_blas_as_it_was(two_blas_threads, rng):
    X = rng.standard_normal((30, 40))
    y = X[:, 0] + 0.1 * rng.standard_normal(30)

    def fit():
        for _ in range(4):
            IRKSNIC(n_jobs=2, max_iter=30).fit(X, y)

    fits = [threading.Thread(target=fit) for _ in range(3)]
    for each in fits:
        each.start()
    for each in fits:
        each.join()
    assert blas_threads() == 2


@pytest.mark.parametrize("n_jobs", [0, 2.5, "a", [2], True], ids=repr)
def test_what_counts_no_threads_is_refused_by_name(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be None, an integer of at least 1"):
        Workers(n_jobs)


def test_after_an_error_no_thread_takes_another_item():
    taken = []

    def work(item):
        taken.append(item)
        if item == 0:
            raise ZeroDivisionError
        time.sleep(0.005)  # so that the other thread cannot have done all before it is told

    with Workers(2) as workers, pytest.raises(ZeroDivisionError):
        workers.each(work, range(1000))
    assert len(taken) < 1000
    assert not [each for each in threading.enumerate() if each.name.startswith("ksupport-walk")]
