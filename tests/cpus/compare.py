"""Whether the same features are chosen under the BLAS, NumPy and compiled loops of other CPUs.

    python compare.py

Runs `supports.py` in a process for each setting, the host's own twice: the second time in the
opposite order, which must not change a bit.  CPUs without AVX2 take the plain copies of our loops;
for them the package is built once more, with those alone.  Then the tests that depend on rounding
most, under each setting.  Ends with status 1 if anything differs.
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


def build_plain(folder):
    """Build the package without copies of loops for newer CPUs; the settings that import it."""
    scripts = Path(sys.executable).parent
    tools = {
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "CYTHON": str(scripts / "cython"),
    }
    command = [
        sys.executable, "-m", "pip", "install", "-qq", "--no-deps", "--no-build-isolation",
        "--config-settings=setup-args=-Dclones=false", "--target", str(folder), str(TESTS.parent),
    ]  # fmt: skip
    subprocess.run(command, env=os.environ | tools, check=True)
    # An editable installation, whose build the Makefile keeps there, would be found before.
    built = str(Path(sys.prefix, "build"))
    return {"PYTHONPATH": str(folder), "MESONPY_EDITABLE_SKIP": built}


def others(plain):
    """Settings of other CPUs, by name."""
    old = plain | OLD_NUMPY
    return {
        "generic": {"OPENBLAS_CORETYPE": "Prescott", **old},
        "nehalem": {"OPENBLAS_CORETYPE": "Nehalem", **old},
        "sandybridge": {"OPENBLAS_CORETYPE": "Sandybridge", **old},
        "haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    }


def environment(setting):
    """The environment of a process that runs under a setting."""
    return {**os.environ, **setting, "OMP_NUM_THREADS": "1"}


def supports(setting, quick, *options):
    """What `supports.py` answers under a setting."""
    script = str(TESTS / "cpus" / "supports.py")
    command = [sys.executable, script, *["--quick"] * quick, *options]
    done = subprocess.run(
        command, env=environment(setting), check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def differences(host, other):
    """The names of the iterates and fits whose supports differ, and whether there is dust."""
    names = [name for name, S in host["supports"].items() if other["supports"][name] != S]
    return names + ["dust"] * (host["dust"] + other["dust"])


def other_bits(host, other):
    """The names of the walks and fits that differ in any bit."""
    return [f"bits of {name}" for name, bits in host["bits"].items() if other["bits"][name] != bits]


def compare(settings, quick=False, say=lambda line: None):
    """What differs from the host's answers, by setting."""
    host = supports(HOST, quick)
    n_fits = len(host["supports"]) - host["walked"]
    say(f"host: {host['walked']} iterates, {n_fits} fits; {host['dust']} iterates with dust")
    backwards = supports(HOST, quick, "--backwards")
    failures = {"backwards": differences(host, backwards) + other_bits(host, backwards)}
    for name, setting in settings.items():
        failures[name] = differences(host, supports(setting, quick))
    for name, what in failures.items():
        say(f"{name}: {len(what)} differ {what[:10] or ''}")
    return {name: what for name, what in failures.items() if what}


def run_suite(name, setting):
    """The tests under a setting; whether they pass."""
    print(f"{name}: {', '.join(SUITE)}", flush=True)
    files = [str(TESTS / name) for name in SUITE]
    options = ["-q", "-n", "auto", "-k", "not every_check"]  # those of scikit-learn choose nothing
    command = [sys.executable, "-m", "pytest", *options, *files]
    return subprocess.run(command, env=environment(setting)).returncode == 0


def main():
    with tempfile.TemporaryDirectory() as folder:
        settings = others(build_plain(folder))
        same = not compare(settings, say=lambda line: print(line, flush=True))
        passed = [run_suite(name, setting) for name, setting in settings.items()]
    return 0 if same and all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
