"""The runner: every cell once, whatever happens in between."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace

import pytest

from ksupport.experiments import EXPERIMENTS, Experiment, reproduce
from ksupport.experiments.files import write_csv
from ksupport.experiments.runner import STORE
from ksupport.experiments.store import Store, StoreError

SLOW = """
import sys, time
from dataclasses import replace
from pathlib import Path
from ksupport.experiments import EXPERIMENTS, fig_f1, reproduce

def slow(**cell):
    time.sleep(0.05)
    return fig_f1.compute(**cell)

experiment = replace(EXPERIMENTS["fig-f1-n"], compute=slow)
out, n_jobs = Path(sys.argv[1]), int(sys.argv[2])
reproduce(experiment, "paper", quick=True, out=out, n_jobs=n_jobs, progress=False)
"""


def squares(computed, values=(1, 2, 3)):
    """An experiment that notes what it computes and draws."""

    def compute(value):
        computed.append(value)
        return [{"value": value, "square": value**2}]

    def plot(rows, folder):
        (folder / "squares.png").write_text(str([row["square"] for row in rows]))

    return Experiment(
        name="squares",
        title="squares",
        version=1,
        protocols=("paper",),
        cells=lambda protocol, quick: [{"value": v} for v in values[: 1 if quick else None]],
        compute=compute,
        table=lambda rows: rows,
        plot=plot,
    )


def run(experiment, out, **options):
    return reproduce(experiment, "paper", out=out, n_jobs=1, progress=False, **options)


def stored(out):
    """Keys and rows of the store."""
    with closing(sqlite3.connect(out / STORE)) as connection:
        lines = connection.execute("select parameters, rows from results").fetchall()
    return sorted((cell, json.dumps(json.loads(rows))) for cell, rows in lines)


def test_results_come_in_the_order_of_the_grid_and_are_computed_once(tmp_path):
    computed = []
    rows = run(squares(computed, (3, 1, 2)), tmp_path)
    assert [row["square"] for row in rows] == [9, 1, 4]
    assert run(squares(computed, (3, 1, 2)), tmp_path) == rows
    assert computed == [3, 1, 2]
    assert (tmp_path / "paper/squares.csv").read_text() == "value,square\n3,9\n1,1\n2,4\n"


def test_a_clock_that_was_set_back_computes_nothing_again(tmp_path):
    computed = []
    rows = run(squares(computed), tmp_path)
    for path in tmp_path.rglob("*"):
        os.utime(path, (4e9, 4e9))  # all that was written is from the future
    assert run(squares(computed), tmp_path) == rows
    run(squares(computed, (1, 2, 3, 4)), tmp_path)
    assert computed == [1, 2, 3, 4]
    assert (tmp_path / "paper/squares.csv").read_text() == "value,square\n1,1\n2,4\n3,9\n4,16\n"


def test_a_larger_grid_computes_what_is_new_and_a_new_version_everything(tmp_path):
    computed = []
    run(squares(computed, (1, 2)), tmp_path)
    run(squares(computed, (1, 2, 3)), tmp_path)
    assert computed == [1, 2, 3]
    run(replace(squares(computed), version=2), tmp_path)
    assert computed == [1, 2, 3, 1, 2, 3]


def test_quick_cells_are_shared_only_if_they_are_the_same(tmp_path):
    computed = []
    assert len(run(squares(computed), tmp_path, quick=True)) == 1
    assert len(run(squares(computed), tmp_path)) == 3
    assert computed == [1, 2, 3]


def test_a_changed_plot_computes_nothing(tmp_path):
    computed = []
    run(squares(computed), tmp_path)
    other = replace(squares(computed), plot=lambda rows, folder: (folder / "new").touch())
    run(other, tmp_path)
    assert computed == [1, 2, 3]
    assert (tmp_path / "paper/new").exists()


def test_a_cell_that_fails_is_named_and_those_before_it_are_kept(tmp_path):
    computed = []
    experiment = squares(computed)

    def fragile(value):
        if value == 3:
            raise ArithmeticError("no")
        return experiment.compute(value)

    with pytest.raises(ArithmeticError) as caught:
        run(replace(experiment, compute=fragile), tmp_path)
    assert "squares, cell {'value': 3}" in caught.value.__notes__[0]
    run(experiment, tmp_path)
    assert computed == [1, 2, 3]


def test_a_protocol_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ValueError, match="protocol of squares must be one of paper, got 'fair'"):
        reproduce(squares([]), "fair", out=tmp_path)


def test_a_table_has_the_columns_of_all_its_rows(tmp_path):
    target = tmp_path / "a.csv"
    write_csv(target, [{"a": 1}, {"a": 2, "b": 3}])
    assert target.read_text() == "a,b\n1,\n2,3\n"


KILLED = """
import os, signal, sys
from pathlib import Path
from ksupport._common.files import replacing

with replacing(Path(sys.argv[1])) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows cannot kill so")
def test_what_a_killed_run_was_writing_is_removed_by_the_next(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, tmp_path / "a.csv"], check=False, timeout=240)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".partial-")
    host, pid = left.name.split("-")[1:3]
    living = left.name.replace(f"-{pid}-", f"-{os.getppid()}-")  # of a run that goes on
    elsewhere = left.name.replace(host, "0" * 8)  # of a machine that shares the folder
    others = [tmp_path / name for name in (living, elsewhere, ".partial-1.csv", "a.7.csv")]
    for other in others:
        other.touch()
    write_csv(tmp_path / "a.csv", [{"a": 1}])
    assert set(tmp_path.iterdir()) == {tmp_path / "a.csv", *others}


def test_a_transaction_that_was_cut_short_is_undone(tmp_path):
    """A killed process leaves a journal, from which SQLite restores the file."""
    computed = []
    run(squares(computed), tmp_path)
    code = (
        "import os, sqlite3, sys\n"
        "connection = sqlite3.connect(sys.argv[1])\n"
        "connection.execute('pragma cache_spill = 1')\n"
        "connection.execute('pragma cache_size = 1')\n"
        "connection.execute('delete from results')\n"
        "many = [('e', 'p', str(i), '', 'x' * 999, 0.0) for i in range(999)]\n"
        "connection.executemany('insert into results values (?, ?, ?, ?, ?, ?)', many)\n"
        "os._exit(1)\n"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path / STORE], check=False, timeout=240)
    assert (tmp_path / f"{STORE}-journal").exists()
    assert len(run(squares(computed), tmp_path)) == 3
    assert computed == [1, 2, 3]
    assert not (tmp_path / f"{STORE}-journal").exists()


def not_a_database(path):
    path.write_text("these are not the results that you are looking for\n" * 99)


def another_database(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table mails (subject text)")


def other_results(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table results (match text, goals int)")


def damaged(path):
    run(squares([], range(200)), path.parent)
    content = bytearray(path.read_bytes())
    content[100:] = b"?" * (len(content) - 100)
    path.write_bytes(content)


def directory(path):
    path.mkdir()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (not_a_database, "does not hold results of experiments (file is not a database)"),
        (another_database, "does not hold results of experiments (it is a database of 'mails')"),
        (other_results, "does not hold results of experiments (it is a database of 'results')"),
        (damaged, "does not hold results of experiments (database disk image is malformed)"),
        (directory, "cannot be used (unable to open database file): check that"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_file_that_is_no_store_is_named_and_left_alone(make, says, tmp_path):
    make(tmp_path / STORE)
    before = None if (tmp_path / STORE).is_dir() else (tmp_path / STORE).read_bytes()
    with pytest.raises(StoreError) as caught:
        run(squares([]), tmp_path)
    assert f"{tmp_path / STORE} {says}" in str(caught.value)
    assert "choose another output folder" in str(caught.value)
    assert before is None or (tmp_path / STORE).read_bytes() == before


def test_a_store_that_may_not_be_written_to_is_read_and_then_named(tmp_path, monkeypatch):
    run(squares([], (1, 2)), tmp_path)
    address = f"{(tmp_path / STORE).as_uri()}?mode=ro"
    monkeypatch.setattr(Store, "_connect", lambda store: sqlite3.connect(address, uri=True))
    assert len(run(squares([], (1, 2)), tmp_path)) == 2
    with pytest.raises(StoreError, match=r"readonly database\): check that .* are writable"):
        run(squares([]), tmp_path)


def test_two_processes_on_one_store_lose_nothing(tmp_path):
    pytest.importorskip("matplotlib")
    script, out = tmp_path / "slow.py", tmp_path / "out"
    script.write_text(SLOW)
    both = [subprocess.Popen([sys.executable, script, out, "1"]) for _ in range(2)]
    assert [process.wait(240) for process in both] == [0, 0]
    assert len(stored(out)) == n_cells(out) == 36
    assert sorted(file.name for file in (out / "paper-quick").iterdir()) == [
        f"fig-f1-n.{suffix}" for suffix in ("csv", "png", "svg")
    ]


def full(*args, **options):
    raise sqlite3.OperationalError("database or disk is full")


def test_a_store_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite3, "connect", full)
    with pytest.raises(OSError, match=r"results\.sqlite cannot be used .* disk is full"):
        run(squares([]), tmp_path)


def test_a_table_that_cannot_be_written_is_known_before_any_cell(tmp_path):
    computed = []
    (tmp_path / "paper" / "squares.csv").mkdir(parents=True)
    with pytest.raises(IsADirectoryError, match=r"squares\.csv"):
        run(squares(computed), tmp_path)
    assert computed == []


def test_killed_twice_a_run_ends_with_every_row_once_and_the_same_figures(tmp_path):
    pytest.importorskip("matplotlib")
    script, killed, whole = tmp_path / "slow.py", tmp_path / "killed", tmp_path / "whole"
    script.write_text(SLOW)
    for enough, n_jobs in ((4, "2"), (14, "1")):
        process = subprocess.Popen([sys.executable, script, killed, n_jobs])
        wait_for(lambda enough=enough: n_cells(killed) >= enough, process)
        process.kill()
        process.wait()
        assert enough <= n_cells(killed) < 36
    for out in (killed, whole):
        run(EXPERIMENTS["fig-f1-n"], out, quick=True)
    assert stored(killed) == stored(whole)
    assert len(stored(whole)) == 36
    for suffix in ("csv", "png", "svg"):
        name = f"paper-quick/fig-f1-n.{suffix}"
        assert (killed / name).read_bytes() == (whole / name).read_bytes()


def wait_for(condition, process, seconds=240.0):
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < end, "the run does not get on"
        time.sleep(0.01)


def n_cells(out):
    if not (out / STORE).exists():
        return 0
    with closing(sqlite3.connect(out / STORE, timeout=60)) as connection:
        try:
            return connection.execute("select count(*) from results").fetchone()[0]
        except sqlite3.OperationalError:  # the table is about to be made
            return 0
