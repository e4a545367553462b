"""The command line, as a user meets it: through real processes."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from ksupport import __version__, datasets
from ksupport.datasets._cache import save_arrays

pytest.importorskip("typer")
pytest.importorskip("rich")

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def run(*args, cwd=None, **environment):
    """Run ``ksupport`` with these arguments, and without the settings of whoever runs the tests."""
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    env |= {"COLUMNS": "100", "TERM": "xterm-256color", "PYTHONUTF8": "1"} | environment
    return subprocess.run(
        [sys.executable, "-m", "ksupport_command", *args],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=240,
        env=env,
        cwd=cwd,
    )


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """One run of the demo, in an empty directory and with a proxy that leads nowhere."""
    nowhere = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")
    directory = tmp_path_factory.mktemp("demo")
    return directory, run("demo", cwd=directory, **nowhere)


def test_version_is_the_package_s():
    done = run("--version")
    assert (done.returncode, done.stdout.strip()) == (0, f"ksupport {__version__}")


@pytest.mark.parametrize(
    ("command", "mentions"),
    [
        ((), ("demo", "data", "--version")),
        (("data", "fetch"), ("NAME", "--no-download")),
    ],
    ids=lambda value: " ".join(value) or "no command",
)
def test_help_names_what_there_is_and_the_exit_codes(command, mentions):
    done = run(*command, "--help")
    assert done.returncode == 0
    for word in (*mentions, "Exit codes: 0 done, 1 could not be done", "2 wrong"):
        assert word.casefold() in done.stdout.casefold()


@pytest.mark.parametrize("wrong", [("demo", "--loud"), ("data", "fetch")])
def test_wrong_usage_is_explained_and_exits_with_2(wrong):
    done = run(*wrong)
    assert done.returncode == 2
    assert "Error" in done.stderr
    assert "Traceback" not in done.stderr


def test_demo_recovers_example_1_where_no_lasso_penalty_does(demo):
    _, done = demo
    assert done.returncode == 0, done.stderr
    assert "IRKSN (k=3, alpha=0.05) ends at (1, 1, -4, 0, 0)" in done.stdout
    assert re.search(r"of 300 Lasso\s+penalties,\s+none\s+found\s+the\s+right", done.stdout)


def test_demo_compares_on_correlated_designs_with_nothing_given(demo):
    _, done = demo
    line = r"^(AutoIRKSN|LassoCV) +(\d+)((?: +[01]\.\d\d){4})"
    rows = re.findall(line, done.stdout, re.MULTILINE)
    assert [name for name, *_ in rows] == ["AutoIRKSN", "LassoCV"] * 2
    for _, features, shares in rows:
        precision, recall, f1, error = map(float, shares.split())
        assert int(features) > 0
        assert min(precision, recall) <= f1 <= max(precision, recall)
        assert 0 < error < 1
    assert "Nothing was given" in done.stdout


def test_demo_ends_with_a_report_and_writes_nothing_else_and_no_warning(demo):
    directory, done = demo
    assert [file.name for file in directory.iterdir()] == ["ksupport-demo.html"]
    assert "Open it in a browser: ksupport-demo.html" in done.stdout
    # On a machine that has not compiled the kernels yet, it says that it does.
    assert all(line.startswith("ksupport: compiling") for line in done.stderr.splitlines())


def test_data_list_shows_every_dataset_and_whether_it_is_here(tmp_path):
    here = tmp_path / "rhee2006" / "rhee2006.npz"
    here.parent.mkdir()
    here.touch()
    done = run("data", "list", KSUPPORT_DATA=str(tmp_path))
    assert done.returncode == 0
    rows = dict(re.findall(r"^(\w+) +\d+ +\d+ +(yes|no) ", done.stdout, re.MULTILINE))
    expected = {info.name: "no" for info in datasets.list_datasets()}
    assert rows == expected | {"rhee2006": "yes"}


def test_data_path_prints_the_directory_or_one_file_on_one_line(tmp_path):
    long_name = tmp_path / ("a long [bold] name " * 8).strip()
    directory = run("data", "path", KSUPPORT_DATA=str(long_name))
    file = run("data", "path", "leukemia", KSUPPORT_DATA=str(long_name))
    assert directory.stdout == f"{long_name}\n"
    assert file.stdout == f"{long_name / 'leukemia' / 'leukemia.npz'}\n"
    assert directory.returncode == file.returncode == 0


def test_an_unknown_dataset_is_answered_with_the_known_ones():
    done = run("data", "fetch", "iris")
    assert done.returncode == 2
    assert "'iris'" in done.stderr
    assert "rhee2006" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["rhee2006", "haxby_slice"])  # from an origin, from nowhere
def test_an_absent_dataset_is_answered_with_what_to_do(name, tmp_path):
    done = run("data", "fetch", name, "--no-download", KSUPPORT_DATA=str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"'{name}' is not in {tmp_path}" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_download_that_fails_is_answered_with_the_reason(tmp_path):
    done = run(
        "data", "fetch", "leukemia",
        KSUPPORT_DATA=str(tmp_path), https_proxy="http://127.0.0.1:9", no_proxy="",
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert "leu.bz2" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_dataset_at_hand_is_loaded_and_checked(tmp_path):
    file = tmp_path / "rhee2006" / "rhee2006.npz"
    save_arrays(file, {"X": np.zeros((842, 361)), "y": np.zeros(842)})
    done = run("data", "fetch", "rhee2006", "--no-download", KSUPPORT_DATA=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, f"rhee2006: 842 x 361, in {file}\n")


def test_a_damaged_dataset_is_refused_with_a_message(tmp_path):
    file = tmp_path / "rhee2006" / "rhee2006.npz"
    file.parent.mkdir()
    file.write_bytes(b"not an archive")
    done = run("data", "fetch", "rhee2006", KSUPPORT_DATA=str(tmp_path))
    assert done.returncode == 1
    assert str(file) in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("setting", "styled"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_no_color_leaves_no_escape_codes_even_where_colour_is_forced(setting, styled, tmp_path):
    done = run("data", "list", FORCE_COLOR="1", KSUPPORT_DATA=str(tmp_path), **setting)
    assert bool(COLOUR.search(done.stdout)) is styled


def test_without_the_extra_it_says_what_to_install(tmp_path):
    """An empty ``typer`` that cannot be imported stands in for one that is not installed."""
    hide = "import sys; sys.modules['typer'] = None; from ksupport.cli import app; app()"
    done = subprocess.run(
        [sys.executable, "-c", hide], capture_output=True, text=True, timeout=240, cwd=tmp_path
    )
    assert done.returncode == 2
    assert done.stderr.strip().endswith("pip install 'ksupport[cli]'")
    assert "Traceback" not in done.stderr


INTERRUPT = """
import sys
import ksupport_command

class Pressed:
    def find_spec(self, name, path=None, target=None):
        if name == "numba":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Pressed())
ksupport_command.main()
"""


def test_ctrl_c_during_the_import_is_no_traceback():
    done = subprocess.run([sys.executable, "-c", INTERRUPT], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_the_command_starts_outside_the_package():
    """Or Python would import all of it before anything could wait for Ctrl-C."""
    code = "import sys, ksupport_command; print('ksupport' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n"
