"""Whatever becomes of standard output, the files of a fit are written; through real processes."""

import os
import subprocess
import sys
from importlib.util import find_spec

import pandas as pd
import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a shell")


@pytest.fixture
def odd_csv(small_csv):
    """A feature that matters has a name outside ASCII."""
    pd.read_csv(small_csv).rename(columns={"g0": "gé"}).to_csv(small_csv, index=False)
    return small_csv


def shell(redirected, csv, *options, **environment):
    """The command with its output led elsewhere; code, output, errors, and files written."""
    command = f'set -o pipefail; "$0" -m ksupport_command "$@" {redirected}'
    arguments = ["fit", csv.name, "--target", "y", "--no-compare", *options]
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONUTF8", "FORCE_COLOR")}
    done = subprocess.run(
        ["bash", "-c", command, sys.executable, *arguments, "--output", "m.json"],
        capture_output=True, timeout=240, cwd=csv.parent, env=env | environment,
    )  # fmt: skip
    assert (csv.parent / "m.json").stat().st_size > 0
    out, err = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in out + err
    assert "Exception ignored" not in out + err
    return done.returncode, out, err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_behind_the_output_is_told_in_one_line(odd_csv):
    code, _, err = shell(">/dev/full", odd_csv)
    assert code == 1
    last = err.splitlines()[-1]
    assert last == "Error: standard output cannot be written: No space left on device"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_words_on_progress_that_nobody_can_read_end_nothing(odd_csv):
    code, out, _ = shell("2>/dev/full", odd_csv)
    assert code == 0
    assert out.startswith("All 3 features selected to explain y")


def test_a_reader_who_leaves_is_no_news(odd_csv):
    code, out, err = shell("| true", odd_csv)
    assert (code, out) == (1, "")
    assert "Error" not in err


def test_an_output_that_is_closed_takes_everything(odd_csv):
    code, out, _ = shell(">&-", odd_csv)
    assert (code, out) == (0, "")


@pytest.mark.skipif(
    find_spec("_ksupport_editable_loader") is not None,
    reason="before ours, the loader of an editable installation writes a log where the error was",
)
def test_errors_that_are_closed_take_everything(odd_csv):
    code, out, err = shell("2>&-", odd_csv, "--json")
    assert (code, err) == (0, "")
    assert out.startswith("{")


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["words", "json"])
def test_what_an_encoding_lacks_is_written_as_an_escape(options, odd_csv):
    code, out, _ = shell("", odd_csv, *options, PYTHONIOENCODING="ascii")
    assert code == 0
    assert out.isascii()
    assert ("g\\u00e9" if options else "g\\xe9") in out


def test_the_c_locale_is_no_obstacle(odd_csv):
    code, out, _ = shell("", odd_csv, LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    assert code == 0
    assert "g\\xe9" in out
