"""Work that is tried in a copy of this process."""

import os

import pytest

from ksupport._common import apart


def for_ever():
    while True:
        pass


def take_all():
    return bytearray(apart.MEGABYTES << 21)


def fail_to_allocate():
    raise KeyError("unable to open (memory allocation failed)")  # as h5py tells of it


def end_the_process():
    os.abort()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be copied")
@pytest.mark.parametrize("work", [for_ever, take_all, fail_to_allocate, end_the_process])
def test_what_has_no_end_or_bounds_is_found_out(work, monkeypatch):
    monkeypatch.setattr(apart, "SECONDS", 1)
    assert not apart.is_safe(work)


def fail():
    raise ValueError("as it will again")


@pytest.mark.parametrize("work", [fail, lambda: sum(range(1000)), lambda: os._exit(0)])
def test_what_ends_is_safe(work):
    done = []
    assert apart.is_safe(lambda: (done.append(1), work()))
    assert done == []  # nothing of it happened here


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be copied")
def test_who_waits_for_nothing_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(apart, "SECONDS", 0.05)
    monkeypatch.setattr(apart, "_bound", lambda: None)
    import threading

    lock = threading.Lock()
    lock.acquire()
    assert apart.is_safe(lock.acquire)
