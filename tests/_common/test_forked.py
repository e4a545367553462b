"""Work that is tried in a forked process."""

import os

import pytest

from ksupport._common import forked


def for_ever():
    while True:
        pass


def take_all():
    return bytearray(forked.MEGABYTES << 21)


def fail_to_allocate():
    raise KeyError("unable to open (memory allocation failed)")  # as h5py says


def end_the_process():
    os.abort()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be copied")
@pytest.mark.parametrize("work", [for_ever, take_all, fail_to_allocate, end_the_process])
def test_endless_or_unbounded_work_is_detected(work, monkeypatch):
    monkeypatch.setattr(forked, "SECONDS", 1)
    assert not forked.ends_when_forked(work)


def fail():
    raise ValueError("as it will again")


@pytest.mark.parametrize("work", [fail, lambda: sum(range(1000)), lambda: os._exit(0)])
def test_work_that_ends_passes(work):
    done = []
    assert forked.ends_when_forked(lambda: (done.append(1), work()))
    assert done == []  # nothing of it happened here


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be copied")
def test_a_deadlock_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(forked, "SECONDS", 0.05)
    monkeypatch.setattr(forked, "_set_limits", lambda: None)
    import threading

    lock = threading.Lock()
    lock.acquire()
    assert forked.ends_when_forked(lock.acquire)
