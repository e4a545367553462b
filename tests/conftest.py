"""What the tests of the engine share: a seed, and the paper's algorithm written out plainly."""

import shutil
import signal
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from ksupport import ksupport_norm
from ksupport._common.phases import Phase, current_phase
from ksupport._kernels import objectives

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as in a shell's background: tests press Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

# `make test-quick`: some of every layer, chosen by the seconds that they take.
QUICK = {
    "_common/test_files.py",
    "_common/test_levels.py",
    "_common/test_progress.py",
    "algorithms/test_iht.py",
    "choosing/test_choice.py",
    "choosing/test_noise.py",
    "reading/test_cells.py",
    "reading/test_formats.py",
    "commands/terminal/test_options.py",
    "datasets/test_paper_examples.py",
    "datasets/test_synthetic.py",
    "losses/test_losses.py",
    "design/test_rows.py",
    "estimators/test_base.py",
    "explain/test_notebook.py",
    "fmri/test_simulate.py",
    "stopping/test_rules.py",
    "test_api.py",
    "test_metrics.py",
    "test_packaging.py",
    "theory/test_bounds.py",
    "theory/test_checks.py",
    "walking/test_loop.py",
}


def is_quick(path):
    here = Path(__file__).parent
    return path.is_relative_to(here) and path.relative_to(here).as_posix() in QUICK


def pytest_ignore_collect(collection_path, config):
    """With ``-m quick`` the other files are not even imported."""
    if config.option.markexpr == "quick" and collection_path.suffix == ".py":
        return not is_quick(collection_path)
    return None


# A minute each; `make test-long` runs them.
LONG = ("test_many_genotypes.py", "test_cpus.py", "test_full_disk.py", "test_killed.py")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.name in LONG:
            item.add_marker("long")
        if is_quick(item.path):
            item.add_marker("quick")


class Heard:
    """Remembers the phases that are over; its clock goes on whenever it is read."""

    def __init__(self):
        self.over = []
        self.seconds = 0.0

    def now(self):
        self.seconds += 1.0
        return self.seconds

    def closed(self, phase):
        self.over.append(phase)

    def shares(self, name):
        """How far each phase whose name begins so had come."""
        return [phase.share for phase in self.over if phase.name.startswith(name)]


@pytest.fixture
def heard():
    """Somebody who listens to all that the test does."""
    listener = Heard()
    token = current_phase.set(Phase("", listener))
    yield listener
    current_phase.reset(token)


@pytest.fixture(scope="session", autouse=True)
def one_blas_thread():
    """The matrices are small: threads would cost more than they give, and fight under xdist."""
    with threadpool_limits(1, "blas"):
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def prox_by_sorting(w, lam, k):
    """Prox of (lam/2)(‖·‖_k^sp)², as in the paper's appendix: sort, binary search, interpolate."""
    a = np.abs(w)
    if np.count_nonzero(a) <= k:
        return w / (1 + lam)

    def total(s):
        return np.clip(s * a - lam, 0, 1).sum()

    points = np.sort(np.concatenate([lam / a[a > 0], (1 + lam) / a[a > 0]]))
    low, high = 0, len(points) - 1  # total(points[low]) <= k <= total(points[high])
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if total(points[middle]) <= k else (low, middle)
    left, right = total(points[low]), total(points[high])
    s = points[low]
    if right > left:
        s += (points[high] - points[low]) * (k - left) / (right - left)
    theta = np.clip(s * a - lam, 0, 1)
    return theta * w / (theta + lam)


def walk_algorithm_1(X, y, k, alpha, steps, norm):
    """w_0, ..., w_steps of Algorithm 1, a line here for each line there."""
    n, d = X.shape
    lam, gamma = (1 - alpha) / alpha, alpha / norm**2
    z, z_before, v, theta = np.zeros(n), np.zeros(n), np.zeros(n), 1.0
    iterates = [np.zeros(d)]
    for _ in range(steps):
        r = prox_by_sorting(-X.T @ v / alpha, lam, k)
        z_before, z = z, v + gamma * (X @ r - y)
        theta_next = (1 + np.sqrt(1 + 4 * theta**2)) / 2
        v = z + (theta - 1) / theta_next * (z - z_before)
        theta = theta_next
        iterates.append(prox_by_sorting(-X.T @ z / alpha, lam, k))
    return np.array(iterates)


@pytest.fixture(scope="session")
def algorithm_1():
    """Remembers its walks: there are many ways that should lead to the same iterates."""
    walked: dict[tuple[object, ...], sp.csr_array] = {}

    def walk(X, y, *settings):
        key = (X.shape, X.tobytes(), y.tobytes(), *settings)
        if key not in walked:
            walked[key] = sp.csr_array(walk_algorithm_1(X, y, *settings))
        return walked[key].toarray()

    return walk


def walk_with_backtracking(X, y, k, alpha, steps):
    """Iterates, steps gamma_t and theta_t, a line for each line of the method, values from R*."""
    lam = (1 - alpha) / alpha

    def primal(v):
        return prox_by_sorting(-X.T @ v / alpha, lam, k)

    def dual(v):
        """R*(-Xᵀv) + ⟨y, v⟩, by the definition of R*."""
        u, w = -X.T @ v, primal(v)
        return u @ w - (1 - alpha) / 2 * ksupport_norm(w, k) ** 2 - alpha / 2 * w @ w + y @ v

    w = prox_by_sorting(X.T @ y / alpha, lam, k)
    gamma, theta, refused = objectives.FIRST_SHARE * (y @ y) / (y @ X @ w), 0.0, False
    z = z_before = np.zeros(len(y))
    iterates, gammas, thetas = [np.zeros(X.shape[1])], [], []
    for _ in range(steps):
        growth = objectives.LATE_GROWTH if refused else objectives.GROWTH
        trial = gamma * growth if theta else gamma
        while True:
            new = (1 + np.sqrt(1 + 4 * gamma / trial * theta**2)) / 2 if theta else 1.0
            v = z + ((theta - 1) / new if theta else 0.0) * (z - z_before)
            gradient = y - X @ primal(v)
            ahead = v - trial * gradient
            change = y - X @ primal(ahead) - gradient
            agree = trial * change @ change <= change @ (ahead - v)
            if agree and dual(ahead) <= dual(v) - trial / 2 * gradient @ gradient:
                break
            trial, refused = trial / 2, True
        z_before, z, gamma, theta = z, ahead, trial, new
        iterates.append(primal(z))
        gammas.append(gamma)
        thetas.append(theta)
    return np.array(iterates), np.array(gammas), np.array(thetas)


@pytest.fixture
def backtracked():
    return walk_with_backtracking


# -- a browser, for reports and for the page of the app ------------------------------------


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    for name, there in (
        ("chromium", chromium), ("chromedriver", driver), ("selenium", find_spec("selenium"))
    ):  # fmt: skip
        if not there:
            pytest.skip(f"not installed: {name}")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(chromium)
    for flag in (
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--disable-dev-shm-usage", "--window-size=1280,900", "--force-prefers-reduced-motion",
        f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):  # fmt: skip
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    opened = webdriver.Chrome(options=options, service=Service(driver))
    yield opened
    opened.quit()
