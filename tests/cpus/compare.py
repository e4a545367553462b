"""Whether the same features are chosen under other BLAS kernels, numba targets and caches.

    python compare.py

Runs `supports.py` in a process for each setting, each with a compile cache of its own, the host's
own three times: once compiling, then loading what was compiled, in the same order and in the
opposite one, which must not change a bit.  Then the
tests that depend on rounding most, under each setting.  Ends with status 1 if anything differs.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

TESTS = Path(__file__).parents[1]
SUITE = [
    "test_norms.py",
    "algorithms",
    "walking/test_working_set.py",
    "estimators/test_cv.py",
    "estimators/test_ic.py",
    "estimators/test_auto.py",
]
HOST: dict[str, str] = {}
# NumPy has kernels of its own for sums and products; older CPUs do without those chosen here.
CHOSEN: list[str] = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
OLD_NUMPY = {"NPY_DISABLE_CPU_FEATURES": " ".join(CHOSEN)}
OTHERS = {
    "generic": {"NUMBA_CPU_NAME": "generic", "OPENBLAS_CORETYPE": "Prescott", **OLD_NUMPY},
    "nehalem": {"NUMBA_CPU_NAME": "nehalem", "OPENBLAS_CORETYPE": "Nehalem", **OLD_NUMPY},
    "sandybridge": {
        "NUMBA_CPU_NAME": "sandybridge",
        "OPENBLAS_CORETYPE": "Sandybridge",
        **OLD_NUMPY,
    },
    "haswell": {"NUMBA_CPU_NAME": "haswell", "OPENBLAS_CORETYPE": "Haswell"},
}


def environment(setting, cache):
    """The environment of a process that runs under a setting."""
    return {**os.environ, **setting, "NUMBA_CACHE_DIR": str(cache), "OMP_NUM_THREADS": "1"}


def supports(setting, cache, quick, *options):
    """What `supports.py` answers under a setting."""
    script = str(TESTS / "cpus" / "supports.py")
    command = [sys.executable, script, *["--quick"] * quick, *options]
    done = subprocess.run(
        command, env=environment(setting, cache), check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def differences(host, other):
    """The names of the iterates and fits whose supports differ, and whether there is dust."""
    names = [name for name, S in host["supports"].items() if other["supports"][name] != S]
    return names + ["dust"] * (host["dust"] + other["dust"])


def other_bits(host, other):
    """The names of the walks and fits that differ in any bit."""
    return [f"bits of {name}" for name, bits in host["bits"].items() if other["bits"][name] != bits]


def compare(others, place, quick=False, say=lambda line: None):
    """What differs from the host's answers, by setting; compile caches go to ``place``."""
    host = supports(HOST, place / "host", quick)
    n_fits = len(host["supports"]) - host["walked"]
    say(f"host: {host['walked']} iterates, {n_fits} fits; {host['dust']} iterates with dust")
    failures = {}
    for name, options in {"loaded": [], "loaded backwards": ["--backwards"]}.items():
        loaded = supports(HOST, place / "host", quick, *options)
        failures[name] = differences(host, loaded) + other_bits(host, loaded)
    for name, setting in others.items():
        failures[name] = differences(host, supports(setting, place / name, quick))
    for name, what in failures.items():
        say(f"{name}: {len(what)} differ {what[:10] or ''}")
    return {name: what for name, what in failures.items() if what}


def run_suite(name, setting, place):
    """The tests under a setting; whether they pass."""
    print(f"{name}: {', '.join(SUITE)}", flush=True)
    files = [str(TESTS / name) for name in SUITE]
    options = ["-q", "-n", "auto", "-k", "not every_check"]  # those of scikit-learn choose nothing
    command = [sys.executable, "-m", "pytest", *options, *files]
    return subprocess.run(command, env=environment(setting, place / name)).returncode == 0


def main():
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        same = not compare(OTHERS, place, say=lambda line: print(line, flush=True))
        passed = [run_suite(name, setting, place) for name, setting in OTHERS.items()]
    return 0 if same and all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
