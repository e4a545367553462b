"""Try work in a forked process first, where it might not end or might exhaust memory."""

from __future__ import annotations

import os
import signal
import sys
import time
import warnings
from collections.abc import Callable

SECONDS = 10  # of CPU time
MEGABYTES = 1000  # beyond what this process has
PAUSE = 0.005


def ends_when_forked(work: Callable[[], object]) -> bool:
    """Whether work ends, with a result or an error, within limits on time and memory.

    True without a trial where processes cannot be forked (Windows).
    """
    if not hasattr(os, "fork"):
        return True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about other threads: the child needs none of them
        pid = os.fork()
    if pid == 0:
        _try(work)
    # A child that waits for a lock of a thread it does not have takes no CPU time.
    end = time.monotonic() + 10 * SECONDS
    while (status := os.waitpid(pid, os.WNOHANG))[0] == 0:
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
        time.sleep(PAUSE)
    return os.waitstatus_to_exitcode(status[1]) in (0, -signal.SIGKILL)


def _try(work: Callable[[], object]) -> None:
    code = 0
    try:
        _set_limits()
        work()
    except Exception as error:  # the work will raise it again, unless it is for want of memory
        code = int(isinstance(error, MemoryError) or "alloc" in str(error))
    finally:
        os._exit(code)


def _set_limits() -> None:
    import faulthandler
    import resource

    faulthandler.disable()  # a crash of the child is expected

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    if sys.platform == "linux":
        with open("/proc/self/statm", encoding="ascii") as stream:
            pages = int(stream.read().split()[0])
        most = pages * resource.getpagesize() + MEGABYTES * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
