"""The command line, as a user meets it."""

import platform
import re
import subprocess
import sys

import numpy as np
import pytest

from ksupport import __version__
from ksupport._common.commit import commit

pytest.importorskip("typer")
pytest.importorskip("rich")

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
HEADINGS = (
    "Arguments",
    "What the columns are",
    "How features are found",
    "How the file is read",
    "What comes out",
)


def test_version_names_the_package_s_its_commit_and_what_it_runs_on():
    done = subprocess.run(
        [sys.executable, "-m", "ksupport_command", "--version"],
        capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    first, system, *rest = done.stdout.splitlines()
    known = commit()
    assert (done.returncode, done.stderr) == (0, "")
    assert first == f"ksupport {__version__}" + (f" (commit {known[:12]})" if known else "")
    assert system == f"{platform.system()} {platform.machine()}"
    assert {f"python {platform.python_version()}", f"numpy {np.__version__}"} <= set(rest)
    assert any(line.startswith("typer ") for line in rest)


@pytest.mark.parametrize(
    ("command", "mentions"),
    [
        ((), ("demo", "data", "--version")),
        (("data", "fetch"), ("NAME", "--no-download")),
    ],
    ids=lambda value: " ".join(value) or "no command",
)
def test_help_names_what_there_is_and_the_exit_codes(command, mentions, run, tmp_path):
    done = run(*command, "--help", cwd=tmp_path)
    assert done.returncode == 0
    for word in (*mentions, "Exit codes: 0 done, 1 could not be done", "2 wrong"):
        assert word.casefold() in done.stdout.casefold()


def test_help_has_options_under_headings_and_says_what_to_write_after_each(run, tmp_path):
    told = run("fit", "--help", cwd=tmp_path).stdout
    places = [told.index(f"\n{heading}:\n") for heading in HEADINGS]
    assert places == sorted(places)
    for written, place in (("--target COLUMN", 1), ("--sheet NAME", 3), ("--report FILE", 4)):
        assert places[place] < told.index(f"  {written} ") < [*places, len(told)][place + 1]
    assert not re.search(r"<\w+|\{", told)  # no types of Python


def test_every_command_is_summed_up_in_one_line(run, tmp_path):
    told = run("--help", cwd=tmp_path).stdout
    assert "..." not in told.partition("Commands:")[2]


def test_the_lines_of_the_help_are_those_of_the_commands():
    from ksupport.cli import COMMANDS, program

    told = {each.name: each.callback.__doc__ for each in program().registered_commands}
    assert {name: doc.partition("\n")[0] for name, doc in told.items()} == {
        name: line for name, line in COMMANDS.items() if name != "data"
    }


def test_help_imports_nothing_that_computes():
    """Which takes seconds: NumPy's alone is a third of one on a busy machine."""
    code = (
        "import sys; sys.argv = ['ksupport', '--help']\n"
        "import ksupport_command\n"
        "try: ksupport_command.main()\n"
        "finally: print({'numpy', 'scipy', 'sklearn', 'numba', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.endswith("set()\n")


@pytest.mark.parametrize("wrong", [("demo", "--loud"), ("data", "fetch")])
def test_wrong_usage_is_explained_and_exits_with_2(wrong, run, tmp_path):
    done = run(*wrong, cwd=tmp_path)
    assert done.returncode == 2
    assert "Error" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("setting", "styled"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_no_color_leaves_no_escape_codes_even_where_colour_is_forced(
    setting, styled, run, tmp_path
):
    forced = {"FORCE_COLOR": "1", "KSUPPORT_DATA": str(tmp_path)}
    done = run("data", "list", cwd=tmp_path, **forced, **setting)
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
        if name == "sklearn":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Pressed())
sys.argv = ["ksupport", "fit"]
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
