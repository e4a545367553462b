"""Many at once: threads, processes and signals."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import pytest

from ksupport import IHT, IRKSN, IRKSNIC, KSN, AutoIRKSN, IRKSNClassifier
from ksupport.datasets import make_correlated_data

thorough = pytest.mark.skipif(
    int(os.environ.get("FAULT_POINTS", "0")) < 100, reason="`make test-faults` asks for it"
)
ESTIMATORS = [
    IRKSN(k=3), KSN(k=3, max_iter=100), IHT(k=3, max_iter=100), IRKSNIC(n_jobs=2),
    AutoIRKSN(cv=3, n_jobs=2),
]  # fmt: skip


def data(seed):
    return make_correlated_data(40, 30, rho=0.5, density=0.1, snr=4.0, random_state=seed)[:2]


def fitted(seed):
    """The bits of a few models."""
    X, y = data(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [type(each)(**each.get_params()).fit(X, y) for each in ESTIMATORS]
        models.append(IRKSNClassifier(k=3, max_iter=30).fit(X, y > 0))
    return [model.coef_.tobytes() for model in models]


@pytest.mark.parametrize("seeds", [[0] * 16, range(16)], ids=["same data", "different data"])
@pytest.mark.filterwarnings("ignore")  # catch_warnings is not for threads
def test_sixteen_threads_give_what_one_gives(seeds):
    expected = {seed: fitted(seed) for seed in set(seeds)}
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(fitted, seeds)) == [expected[seed] for seed in seeds]


CHILD = """
import json, multiprocessing, sys
sys.path.insert(0, sys.argv[2])
import test_concurrency as here

if __name__ == "__main__":
    before = here.fitted(0)
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(json.dumps([before == each for each in pool.map(here.fitted, [0, 0])]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="forks as Linux does")
@pytest.mark.parametrize("how", ["fork", pytest.param("spawn", marks=thorough)])
def test_processes_give_what_one_gives(how, tmp_path):
    """Forked after BLAS and compiled code have run in threads, or begun anew."""
    (tmp_path / "child.py").write_text(CHILD)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", tmp_path / "child.py", how, os.path.dirname(__file__)],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [True, True]


LONG = """
import numpy as np
from ksupport import IRKSNCV
rng = np.random.default_rng(0)
X, y = rng.standard_normal((300, 3000)), rng.standard_normal(300)
IRKSNCV(n_jobs=2, cv=2, max_iter=3).fit(X[:, :50], y)
print("begun", flush=True)
IRKSNCV(n_jobs=2, max_iter=10**6, patience=10**6).fit(X, y)
"""


def nobody_left(group, seconds=30.0):
    """Whether a group of processes is gone before so many seconds have passed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@contextmanager
def started(*command):
    """A process that hears Ctrl-C also where this one was told not to, and is gone afterwards."""
    process = subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=thorough), signal.SIGTERM])
def test_signals_end_long_fits_and_their_threads(number):
    with started("-c", LONG) as process:
        assert process.stdout.readline() == b"begun\n"
        time.sleep(1.0)
        process.send_signal(number)
        assert process.wait(120) != 0
        assert nobody_left(process.pid)


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=thorough)])
def test_signals_end_the_workers_of_an_experiment(number, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("typer")
    command = ["-m", "ksupport_command", "reproduce", "fig-f1-n", "--out", str(tmp_path)]
    with started(*command, "--jobs", "2") as process:
        end = time.monotonic() + 240
        while not (tmp_path / "results.sqlite").exists():
            assert time.monotonic() < end
            assert process.poll() is None
            time.sleep(0.1)
        time.sleep(2.0)  # workers are on their way
        process.send_signal(number)
        assert process.wait(120) != 0
        assert nobody_left(process.pid)
